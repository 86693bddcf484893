"""Files that are nested, cut off, endless or of another encoding: one line, exit code 2."""

from __future__ import annotations

import io
import json
import os
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_line
import h5py
import numpy as np
import pytest

from testsgd.certification.search.checkpoint import read_checkpoint
from testsgd.data import bundled_folder, generate_demo
from testsgd.errors import ModelError, ResultError
from testsgd.models.files import read_card

folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Fails = Callable[..., str]
Runs = Callable[..., command_line.Finished]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SHIELD = EXAMPLES / "shields" / "loans-demographic-parity.toml"
MONITOR = EXAMPLES / "monitors" / "loans-demographic-parity.toml"
DECISIONS = EXAMPLES / "monitors" / "loans-decisions.csv"
DEMO = bundled_folder("datasets") / "demo.toml"
REPORT = bundled_folder("reports") / "compas" / "result.json"
NETWORK = bundled_folder("models") / "compas"

DEEP_JSON = "[" * 100_000 + "]" * 100_000
DEEP_TOML = f"a = {'[' * 1_000}{']' * 1_000}\n"
LONG_NUMBER = "9" * 400


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """A folder for what a command is given, outside of the one it works in."""
    path = tmp_path / "inputs"
    path.mkdir()
    return path


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


DESCRIPTIONS: list[list[str | Path]] = [
    ["audit", "FILE"],
    ["mitigate", "FILE"],
    ["shield", "synthesize", "FILE"],
    ["monitor", "run", "FILE", "--events", DECISIONS],
    ["generative", "assess", "outputs.jsonl", "--spec", "FILE"],
    ["certify", "compas", "--protected", "race", "--domain", "FILE"],
]


@pytest.mark.parametrize("words", DESCRIPTIONS, ids=lambda words: " ".join(map(str, words[:2])))
@pytest.mark.parametrize(
    "content",
    [DEEP_TOML, f"{'a.' * 2_000}b = 1\n", f"bound = {LONG_NUMBER}\n", b"\xff\xfe\x00", b""],
    ids=["nested", "dotted", "number", "bytes", "empty"],
)
def test_descriptions(
    words: list[str | Path], content: str | bytes, inputs: Path, folder: Path, fails: Fails
) -> None:
    path = written(inputs / "file.toml", content)
    fails(*(path if word == "FILE" else word for word in words))


@pytest.mark.parametrize("words", DESCRIPTIONS, ids=lambda words: " ".join(map(str, words[:2])))
def test_what_has_no_end_is_not_read(
    words: list[str | Path], inputs: Path, folder: Path, fails: Fails
) -> None:
    pipe = inputs / "pipe.toml"
    os.mkfifo(pipe)
    endless = inputs / "zero.toml"
    endless.symlink_to("/dev/zero")
    for path in (pipe, endless):
        fails(*(path if word == "FILE" else word for word in words))


def test_rows_that_have_no_end_are_not_read(inputs: Path, fails: Fails) -> None:
    for name in ("rows.csv", "rows.parquet", "rows.jsonl"):
        pipe = inputs / name
        os.mkfifo(pipe)
        fails("audit", "demo", "--data", pipe)
        fails("audit", pipe, "--predictions", "granted", "--sensitive", "gender")
    endless = inputs / "zero.csv"
    endless.symlink_to("/dev/zero")
    fails("audit", "demo", "--data", endless)
    fails("monitor", "run", MONITOR, "--events", endless)
    specification = SHIELD.read_text() + f'\n[inputs]\nlog = "{endless}"\n'
    fails("shield", "synthesize", written(inputs / "shield.toml", specification))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "idna", "hex"])
def test_another_encoding_than_described(encoding: str, inputs: Path, fails: Fails) -> None:
    rows = inputs / "rows.csv"
    generate_demo(rows=60, seed=0).to_csv(rows, index=False)
    described = DEMO.read_text() + f'\n[parse]\nencoding = "{encoding}"\n'
    fails("audit", written(inputs / "mine.toml", described), "--data", rows)


# They turn the direction of what stands behind them.
MARKS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def test_marks_of_direction_are_not_printed(inputs: Path, testsgd: Runs) -> None:
    rows = generate_demo(rows=600, seed=0).rename(columns={"gender": f"gender{MARKS}"})
    rows[f"gender{MARKS}"] = rows[f"gender{MARKS}"].astype(str) + MARKS
    path = inputs / "rows.csv"
    rows.to_csv(path, index=False)
    words = ("audit", path, "--predictions", "granted", "--sensitive")
    event = json.dumps({"id": MARKS, "group": MARKS, "decision": MARKS}, ensure_ascii=False)
    events = written(inputs / "events.jsonl", f"{event}\n")
    commands: list[tuple[int, tuple[str | Path, ...]]] = [
        (0, (*words, f"gender{MARKS},race", "--out", "reports")),
        (2, (*words, f"none{MARKS}")),
        (2, (*words, "race", f"--none{MARKS}")),
        (2, ("audit", "demo", "--data", f"none{MARKS}.csv")),
        (2, ("monitor", "run", MONITOR, "--events", events)),
    ]
    for code, command in commands:
        finished = testsgd(*command)
        assert finished.code == code, finished
        assert not {*MARKS} & {*finished.out, *finished.err}, command


RESULTS = {
    "nested": DEEP_JSON,
    "nested keys": '{"schema": "testsgd.audit/2", "groups": ' + '{"a":' * 5_000,
    "number": f'{{"schema": {LONG_NUMBER}}}',
    "long number": f'{{"schema": {"9" * 10_000}}}',
    "list": "[]",
    "text": "no JSON",
    "bytes": b"\xff\xfe{}",
}


@pytest.mark.parametrize("content", RESULTS.values(), ids=RESULTS)
def test_results(content: str | bytes, inputs: Path, fails: Fails) -> None:
    path = written(inputs / "result.json", content)
    fails("report", path)
    fails("mitigate", "demo", "--method", "samples", "--audit", path)
    fails("shield", "run", path)
    fails("monitor", "run", MONITOR, "--events", DECISIONS, "--state", path)


@pytest.mark.parametrize(
    ("key", "value"),
    [("rate_in", 1e308), ("rate_out", -5), ("ci", [0.1]), ("score", "high"), ("rules", [[]])],
)
def test_results_with_values_that_cannot_be(
    key: str, value: object, inputs: Path, folder: Path, testsgd: Runs
) -> None:
    document = json.loads(REPORT.read_text())
    group = document["groups"][0]
    assert key in group or key == "ci"
    group[key] = value
    path = written(inputs / "result.json", json.dumps(document))
    finished = testsgd("report", path, "--out", "rendered")
    assert finished.code in (0, 2), finished
    assert finished.err.count("\n") == (finished.code == 2)


@pytest.mark.parametrize(
    "line",
    [DEEP_JSON, '{"group": ' * 5_000, f'{{"group": "female", "recommendation": {LONG_NUMBER}}}'],
    ids=["nested", "nested keys", "number"],
)
def test_lines_of_streams(line: str, inputs: Path, folder: Path, testsgd: Runs) -> None:
    events = written(inputs / "events.jsonl", line + "\n")
    finished = testsgd("monitor", "run", MONITOR, "--events", events)
    assert "internal error" not in finished.err
    assert finished.code in (2, 3), finished


def network(inputs: Path) -> Path:
    """A copy of a committed network, with the files that belong to it."""
    return Path(shutil.copytree(NETWORK, inputs / "network"))


@pytest.mark.parametrize("content", RESULTS.values(), ids=RESULTS)
def test_files_beside_a_network(content: str | bytes, inputs: Path, fails: Fails) -> None:
    copy = network(inputs)
    written(copy / "preprocessing.json", content)
    fails("certify", copy / "model.keras", "--domain", "compas", "--protected", "race")
    written(copy / "card.json", content)
    if content == "[]":
        assert read_card(copy) == {}
        return
    with pytest.raises(ModelError):
        read_card(copy)


def large_weights(path: Path, *, rows: int) -> bytes:
    """Write weights that are small as a file and large in memory: zeros, compressed."""
    with h5py.File(path, "w") as file:
        group = file.create_group("layers/dense/vars")
        group.create_dataset("0", shape=(rows, 64), dtype="f4", compression="gzip", chunks=True)
        group.create_dataset("1", shape=(64,), dtype="f4")
    return path.read_bytes()


def test_a_network_that_unpacks_to_too_much(inputs: Path, fails: Fails) -> None:
    copy = network(inputs)
    weights = large_weights(inputs / "weights.h5", rows=2**34)
    assert len(weights) < 2**22
    model = copy / "model.keras"
    with zipfile.ZipFile(model) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(model, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (members | {"model.weights.h5": weights}).items():
            archive.writestr(name, content)
    fails("certify", model, "--domain", "compas", "--protected", "race")


def test_arrays_that_unpack_to_too_much(inputs: Path, folder: Path, fails: Fails) -> None:
    header = io.BytesIO()
    described = {"descr": "<f8", "fortran_order": False, "shape": (10**11,)}
    np.lib.format.write_array_header_1_0(header, described)
    path = inputs / "shield.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.npy", header.getvalue())
    fails("shield", "run", path)
    search: Any = None  # It is not reached.
    with pytest.raises(ResultError):
        read_checkpoint(path, search, "about")


def test_an_archive_of_texts_with_a_long_number(inputs: Path, fails: Fails) -> None:
    path = inputs / "texts.tar"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        member = tarfile.TarInfo("aclImdb/train/pos/1_9.txt")
        member.pax_headers = {"mtime": "9" * 5_000, "size": "9" * 5_000}
        archive.addfile(member)
    fails("audit", "imdb", "--data", path)


FILES: list[list[str | Path]] = [
    ["audit", "demo", "--model", "FILE.skops"],
    ["audit", "demo", "--model", "FILE.keras"],
    ["audit", "imdb", "--data", "FILE.tar"],
    ["audit", "imdb", "--terms", "FILE.toml"],
    ["init", "FILE.csv"],
    ["init", "FILE.parquet"],
    ["audit", "FILE.csv", "--predictions", "a", "--sensitive", "b", "--metrics", "selection_rate"],
    ["certify", "FILE.keras", "--domain", "compas", "--protected", "race"],
    ["report", "FILE.json"],
    ["monitor", "run", MONITOR, "--events", "FILE.jsonl"],
    ["monitor", "run", MONITOR, "--events", DECISIONS, "--state", "FILE.json"],
    ["shield", "run", "FILE.npz"],
]


@pytest.mark.parametrize("words", FILES, ids=lambda words: " ".join(map(str, words[:4:3])))
def test_no_file_without_an_end_is_read(
    words: list[str | Path], inputs: Path, folder: Path, fails: Fails
) -> None:
    [name] = [str(word) for word in words if str(word).startswith("FILE")]
    pipe = inputs / f"pipe{name}"
    os.mkfifo(pipe)
    endless = inputs / f"zero{name}"
    endless.symlink_to("/dev/zero")
    for path in (pipe, endless):
        fails(*(path if word == name else word for word in words))

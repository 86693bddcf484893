"""Small files, and streams, that would take much memory or time: one line, in little of both."""

from __future__ import annotations

import json
import os
import shutil
import time
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import command_line
import forked_commands
import pandas as pd
import pytest
from forked_commands import Commands, Order

from testsgd import audit_predictions
from testsgd.data import bundled_folder, generate_demo
from testsgd.data.cells import read_cells
from testsgd.data.schema import CellParsing
from testsgd.io import loads_json, loads_toml

folder, testsgd = command_line.folder, command_line.testsgd
commands = forked_commands.commands

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SHIELD = EXAMPLES / "shields" / "loans-demographic-parity.toml"
MONITOR = EXAMPLES / "monitors" / "loans-demographic-parity.toml"

# Beyond what the libraries take, which are mapped already. The files unpack to twice as much.
MEMORY = 2**29

Refused = Callable[..., str]


@pytest.fixture
def refused(commands: Commands, tmp_path: Path) -> Refused:
    """Run a command that must fail by the book, with little memory; give its one line."""

    def run(*words: str | Path, stdin: str = os.devnull) -> str:
        order = Order(list(map(str, words)), str(tmp_path), stdin=stdin, memory=MEMORY)
        finished = commands(order)
        assert finished.code == 2, finished
        assert finished.err.count("\n") == 1, finished
        assert finished.err.startswith("testsgd: ")
        assert "internal error" not in finished.err
        return finished.err

    return run


@pytest.fixture(scope="module")
def shield(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a small shield."""
    from testsgd.shielding import synthesize_shield

    path = tmp_path_factory.mktemp("shields") / "shield.npz"
    synthesize_shield(SHIELD, length=20).save(path)
    return path


def test_a_line_without_an_end_for_a_shield(shield: Path, tmp_path: Path, refused: Refused) -> None:
    assert "line" in refused("shield", "run", shield, stdin="/dev/zero")


def test_a_line_without_an_end_for_a_monitor(tmp_path: Path, refused: Refused) -> None:
    # The outcome of what was read before is another line.
    words = ("monitor", "run", MONITOR)
    assert "line" in refused(*words, stdin="/dev/zero")


def test_a_line_without_an_end_in_a_file_of_events(tmp_path: Path, refused: Refused) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(bytes(2**25))
    assert "line" in refused("monitor", "run", MONITOR, "--events", path)


LONG_ROWS = {
    "commas": b"," * 10_000_000 + b"\n",
    "commas behind a stray mark": b'5" tall,1,yes\n' + b"," * 10_000_000 + b"\n",
    "commas with other line ends": b"," * 10_000_000 + b"\r",
}


@pytest.mark.parametrize("row", LONG_ROWS.values(), ids=LONG_ROWS)
def test_a_row_of_ten_million_cells_behind_three_columns(
    row: bytes, tmp_path: Path, refused: Refused
) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,b,p\n1,2,yes\n" + row)
    words = ("audit", path, "--predictions", "p", "--sensitive", "a,b")
    assert "cells" in refused(*words)


def test_quoted_cells_over_many_lines_and_with_many_commas_are_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    texts = ["one, two\r\nthree", "a, " * 60_000, 'so "he" said,\n' * 20_000, "plain"]
    pd.DataFrame({"text": texts, "size": ["1", "2", "3", "4"]}).to_csv(path, index=False)
    cells = read_cells(path, CellParsing())
    assert [text.replace("\r\n", "\n") for text in cells["text"]] == [
        text.replace("\r\n", "\n") for text in texts
    ]
    assert list(cells["size"]) == ["1", "2", "3", "4"]


def test_a_mark_within_a_cell_and_many_quoted_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    lines = ["text,size", '5" tall,1', *['"a, b",2'] * 20_000, f'"{"long " * 5_000}",3']
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert len(read_cells(path, CellParsing())) == 20_002


PART = 'x . \'y.z\'."a.\\"".'
DEEP_KEYS = {
    "key": "x." * 80_000 + "x = 1\n",
    "blanks": "x . " * 80_000 + "x = 1\n",
    "quoted": PART * 20_000 + "x = 1\n",
    "table": f"[{'x.' * 80_000}x]\n",
    "tables": f"[[{'x.' * 80_000}x]]\n",
    "inner table": f"a = {{{'x.' * 80_000}x = 1}}\n",
}


@pytest.mark.parametrize("text", DEEP_KEYS.values(), ids=DEEP_KEYS)
def test_a_key_of_eighty_thousand_parts(text: str) -> None:
    started = time.process_time()
    with pytest.raises(ValueError, match="deep"):
        loads_toml(text)
    assert time.process_time() - started < 2


def test_points_that_are_in_no_key_are_read() -> None:
    text = (
        f"numbers = [{'0.5, ' * 300}] # {'a.' * 300}\n"
        f'text = \'{"a." * 300}\'\n"{"b." * 300}".c = "{"." * 300}"\n'
    )
    document = loads_toml(text)
    assert document == {
        "numbers": [0.5] * 300,
        "text": "a." * 300,
        "b." * 300: {"c": "." * 300},
    }


def test_a_description_of_one_deep_key(tmp_path: Path, refused: Refused) -> None:
    path = tmp_path / "deep.toml"
    path.write_text(DEEP_KEYS["key"], encoding="utf-8")
    for words in (("audit", path), ("shield", "synthesize", path), ("monitor", "run", path)):
        assert "deep" in refused(*words)


@pytest.mark.parametrize("reader", [loads_json, loads_toml])
def test_a_document_for_which_there_is_no_memory(
    reader: Callable[[str], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def raise_error(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(json, "loads", raise_error)
    monkeypatch.setattr(tomllib, "loads", raise_error)
    with pytest.raises(ValueError, match="memory"):
        reader("")


HUGE = 2**30
REASONS = ("unpacks to", "larger than", "too long", "wrong size", "there are more than")


def replace_member(path: Path, name: str, *, content: bytes | None = None) -> None:
    """Replace one member of an archive, by default by very many zeros, compressed."""
    with zipfile.ZipFile(path) as archive:
        members = {old: archive.read(old) for old in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for old in (*members, *({name} - set(members))):
            if old != name or content is not None:
                archive.writestr(old, members[old] if old != name else content or b"")
                continue
            with archive.open(old, "w") as stream:
                for _ in range(HUGE >> 20):
                    stream.write(bytes(2**20))
    assert path.stat().st_size < 2**24


@pytest.mark.parametrize("member", ["config.json", "model.weights.h5"])
def test_a_network_of_little_that_unpacks_to_much(
    member: str, tmp_path: Path, refused: Refused
) -> None:
    network = Path(shutil.copytree(bundled_folder("models") / "demo", tmp_path / "network"))
    (network / "card.json").unlink()
    model = network / "model.keras"
    replace_member(model, member)
    for words in (
        ("audit", "demo", "--model", model),
        ("certify", model, "--domain", "demo", "--protected", "race"),
    ):
        message = refused(*words)
        assert any(reason in message for reason in REASONS), message


@pytest.mark.parametrize("member", ["header.npy", "layer.3.npy", "layer.999.npy"])
def test_a_shield_with_a_layer_of_little_that_unpacks_to_much(
    member: str, shield: Path, tmp_path: Path, refused: Refused
) -> None:
    path = Path(shutil.copy(shield, tmp_path / "shield.npz"))
    replace_member(path, member)
    message = refused("shield", "run", path)
    assert any(reason in message for reason in REASONS), message


@pytest.mark.skops
def test_an_estimator_that_unpacks_to_much(tmp_path: Path, refused: Refused) -> None:
    pytest.importorskip("skops")
    path = tmp_path / "tree.skops"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", "{}")
    replace_member(path, "schema.json")
    message = refused("audit", "demo", "--model", path)
    assert any(reason in message for reason in REASONS), message


def test_control_characters_of_the_data_are_in_no_report(tmp_path: Path) -> None:
    controls = "\x1b]0;x\x07\x9b31m\u202e"
    people = generate_demo(seed=1, rows=600)
    people[f"sex{controls}"] = people["gender"].astype(str) + controls
    result = audit_predictions(
        people["granted"], sensitive_features=people[[f"sex{controls}", "race"]]
    )
    for path in result.write(tmp_path, ["html", "md", "csv"]):
        text = path.read_text(encoding="utf-8")
        assert "sex" in text
        assert not {*"\x1b\x07\x9b\u202e"} & {*text}, path


@pytest.mark.parametrize(
    ("kind", "package"),
    [(".skops", "skops"), (".keras", "zipfile"), (".joblib", "joblib"), (".ubj", "xgboost")],
)
def test_a_pipe_given_as_a_model_is_no_missing_file(
    kind: str, package: str, folder: Path, testsgd: Callable[..., command_line.Finished]
) -> None:
    pytest.importorskip(package)
    pipe = folder / f"pipe{kind}"
    os.mkfifo(pipe)
    finished = testsgd("audit", "demo", "--model", pipe)
    assert finished.code == 2
    assert "regular file" in finished.err
    missing = testsgd("audit", "demo", "--model", f"missing{kind}")
    assert missing.code == 2
    assert "regular file" not in missing.err

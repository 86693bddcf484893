"""A pipe, a device, a folder, a closed stream and a name too long, as each file of a command."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from testsgd.cli.main import COMMANDS, load_command
from testsgd.data import bundled_folder
from testsgd.shielding import synthesize_shield

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SHIELD = str(EXAMPLES / "shields" / "loans-demographic-parity.toml")
MONITOR = str(EXAMPLES / "monitors" / "loans-demographic-parity.toml")
DECISIONS = str(EXAMPLES / "monitors" / "loans-decisions.csv")
IMAGES = str(EXAMPLES / "generative" / "people.toml")
OUTPUTS = str(EXAMPLES / "generative" / "outputs.jsonl")
GATEWAY = str(EXAMPLES / "generative" / "gateway.toml")
NETWORK = str(bundled_folder("models") / "compas" / "model.keras")
RESULT = str(bundled_folder("reports") / "compas" / "result.json")
NOWHERE = "http://127.0.0.1:9"

# Words of commands; FILE.KIND is what cannot be read, MADE a shield's file, texts.csv a few texts.
WORDS = [
    "audit FILE.csv --predictions p --sensitive a",
    "audit FILE.jsonl --predictions p --sensitive a",
    "audit FILE.parquet --predictions p --sensitive a",
    "audit FILE.xlsx --predictions p --sensitive a",
    "audit FILE.csv --cells --predictions p --sensitive a",
    "audit FILE.toml",
    "audit FILE",
    "audit demo --data FILE.csv",
    "audit demo --data FILE",
    *(
        f"audit demo --model FILE.{kind}"
        for kind in ("keras", "onnx", "skops", "json", "ubj", "txt", "joblib", "pt2", "py")
    ),
    f"audit demo --model {NOWHERE} --answers FILE.sqlite",
    "audit imdb --data FILE.tar.gz",
    "audit imdb --data texts.csv --terms FILE.toml",
    "audit demo --out FILE",
    "init FILE.csv",
    "init FILE",
    "cells-sql FILE.toml",
    "mitigate FILE.csv --label p --sensitive a",
    "mitigate FILE.toml",
    "mitigate demo --data FILE.csv",
    "mitigate demo --model FILE.skops",
    "mitigate demo --method samples --audit FILE.json",
    "mitigate imdb --data texts.csv --terms FILE.toml",
    "mitigate demo --method samples --export FILE.csv",
    "mitigate demo --out FILE",
    "mitigate demo --model-out FILE",
    "compare FILE.toml",
    "compare demo --data FILE.csv",
    "compare demo --model FILE.keras",
    "compare demo --out FILE",
    "certify FILE.keras --protected race --domain compas",
    "certify FILE.h5 --protected race --domain compas",
    "certify FILE.onnx --protected race --domain compas",
    "certify FILE.skops --protected race --domain compas",
    "certify FILE.json --protected race --domain compas",
    "certify FILE --protected race --domain compas",
    "certify compas --protected race --domain FILE.toml",
    "certify compas --protected race --domain FILE.json:KEY",
    "certify compas --protected race --domain FILE",
    "certify compas --protected race --weight data --data FILE.csv",
    "certify compas --protected race --checkpoint FILE.npz",
    "certify compas --protected race --export-regions FILE.csv",
    "certify compas --protected race --out FILE",
    "certify-ask FILE.keras --protected race --domain compas a=1",
    "certify-ask compas --protected race --rows FILE.csv",
    "certify-ask compas --protected race --rows FILE.jsonl",
    "certify-ask compas --protected race --rows FILE.parquet",
    "certify-ask compas --protected race --domain FILE.toml a=1",
    "certify-ask compas --protected race --result FILE.json a=1",
    "certify-ask compas --protected race --rows MADE --out FILE.csv",
    "train FILE.toml",
    "train demo --data FILE.csv",
    "train demo --out FILE",
    "report FILE.json",
    "report FILE",
    f"report {RESULT} --out FILE",
    "shield init --from FILE.json",
    f"shield init --from {RESULT} --out FILE",
    "shield synthesize FILE.toml",
    f"shield synthesize {SHIELD} --groups FILE.json",
    f"shield synthesize {SHIELD} --shield FILE.npz",
    f"shield synthesize {SHIELD} --length 8 --out FILE",
    "shield advise FILE.toml",
    "shield run FILE.npz",
    "shield run FILE",
    "shield run MADE --journal FILE.jsonl",
    "shield run MADE --spec FILE.toml",
    "shield simulate FILE.npz",
    "shield simulate FILE.toml",
    "shield simulate MADE --log FILE.csv",
    "shield simulate MADE --out FILE",
    "shield serve FILE.npz --port 0",
    "shield serve MADE --port 0 --token-file FILE",
    "shield serve MADE --port 0 --journal FILE.jsonl",
    "shield serve MADE --port 0 --spec FILE.toml",
    "monitor run FILE.toml",
    f"monitor run {MONITOR} --events FILE.jsonl",
    f"monitor run {MONITOR} --events FILE.csv",
    f"monitor run {MONITOR} --groups FILE.json",
    f"monitor run {MONITOR} --events {DECISIONS} --state FILE.json",
    f"monitor run {MONITOR} --events {DECISIONS} --dead-letters FILE.jsonl",
    f"monitor run {MONITOR} --events {DECISIONS} --out FILE",
    "monitor simulate FILE.toml",
    f"monitor simulate {MONITOR} --events FILE.csv",
    f"monitor simulate {MONITOR} --events FILE.jsonl",
    f"monitor simulate {MONITOR} --out FILE",
    "monitor init --from FILE.json",
    f"monitor init --from {RESULT} --out FILE",
    "monitor export FILE.toml",
    f"monitor export {MONITOR} --out FILE",
    f"generative assess FILE.jsonl --spec {IMAGES}",
    f"generative assess FILE.json --spec {IMAGES}",
    f"generative assess FILE.csv --spec {IMAGES}",
    f"generative assess {OUTPUTS} --spec FILE.toml",
    f"generative assess {OUTPUTS} --spec {IMAGES} --before FILE.json",
    f"generative assess {OUTPUTS} --spec {IMAGES} --out FILE",
    f"generative ask --upstream {NOWHERE}/v1 --spec FILE.toml",
    f"generative ask --upstream {NOWHERE}/v1 --spec {GATEWAY} --before FILE.json",
    f"generative ask --upstream {NOWHERE}/v1 --spec {GATEWAY} --out FILE",
    f"generative calibrate --upstream {NOWHERE}/v1 --spec FILE.toml",
    f"generative calibrate --upstream {NOWHERE}/v1 --spec {GATEWAY} --out FILE.json",
    "generative neutral --spec FILE.toml prompt",
    "generative journal --spec FILE.toml",
    f"generative serve --upstream {NOWHERE}/v1 --spec FILE.toml --port 0",
    f"generative serve --upstream {NOWHERE}/v1 --spec {GATEWAY} --port 0 --calibration FILE.json",
    f"generative serve --upstream {NOWHERE}/v1 --spec {GATEWAY} --port 0 --token-file FILE",
    "data describe FILE.toml",
    "data terms --terms FILE.toml",
    "data fetch FILE.toml",
    "bench truth --out FILE",
    "bench theta FILE.toml",
    "bench theta FILE.csv --predictions p --sensitive a",
    "bench theta demo --data FILE.csv --model demo",
    "bench theta demo --model FILE.keras",
    "bench theta demo --out FILE",
]
# The last one is a name that is too long for a file.
KINDS = ("pipe", "zero", "stdin", "folder", "long")
# Options for what is written; most of them for a folder.
WRITTEN = {"--out", "--model-out", "--export", "--export-regions", "--checkpoint", "--shield"}


def files_of(command: Any, *names: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the words of a command, or of those of a group, with each option for a file."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from files_of(inner, *names, name)
    if hasattr(command, "commands"):
        return
    hints = get_type_hints(inspect.unwrap(command.callback))
    for option in command.params:
        is_option = option.opts[0].startswith("-")
        if "Path" in str(hints.get(option.name)) or option.name in {"dataset", "domain", "model"}:
            yield names, option.opts[0] if is_option else ""


def given(words: str) -> tuple[tuple[str, ...], str]:
    """Return the names of a command, and the option that its file is given as."""
    parts = words.split()
    place = next(number for number, part in enumerate(parts) if part.startswith("FILE"))
    before = parts[place - 1]
    names = parts[:2] if hasattr(load_command(parts[0]), "commands") else parts[:1]
    return tuple(names), before if before.startswith("--") else ""


def test_every_option_for_a_file_is_tried() -> None:
    wanted = {found for name in COMMANDS for found in files_of(load_command(name), name)}
    assert wanted - set(map(given, WORDS)) == set()


def kinds_of(words: str) -> tuple[str, ...]:
    """Return which files a command is to refuse."""
    option = given(words)[1]
    if option == "--dead-letters":
        # They may be thrown away.
        return ("pipe", "long")
    return ("pipe", "zero", "long") if option in WRITTEN else KINDS


def outcomes(folder: Path) -> dict[tuple[str, str], Any]:
    """Return what becomes of each command with each kind of file."""
    synthesize_shield(SHIELD, length=8).save(folder / "made.npz")
    (folder / "printed").mkdir()
    reviews = "A fine film,positive\nA dull film,negative\n" * 50
    (folder / "texts.csv").write_text(f"review,sentiment\n{reviews}")
    cases = []
    for words in WORDS:
        for kind in kinds_of(words):
            parts = [part.replace("MADE", "made.npz") for part in words.split()]
            [place] = [number for number, part in enumerate(parts) if part.startswith("FILE")]
            name = parts[place].replace("FILE", "long" * 75 if kind == "long" else kind)
            path = folder / name.partition(":")[0]
            if kind == "stdin":
                name = "/dev/stdin"
            elif kind == "long":
                pass
            elif not os.path.lexists(path):
                if kind == "pipe":
                    os.mkfifo(path)
                elif kind == "zero":
                    path.symlink_to("/dev/zero")
                else:
                    path.mkdir()
            cases.append((words, kind, [*parts[:place], name, *parts[place + 1 :]]))
    commands: dict[str, list[list[str]]] = {}
    for words, _, command in cases:
        commands.setdefault(words, []).append(command)
    finished = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("unsuitable_files.py")), "printed"],
        # Those of the same command are run by the same child.
        input="".join(f"{json.dumps(alike)}\n" for alike in commands.values()),
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )
    lines = finished.stdout.splitlines()
    assert len(lines) == len(cases), finished.stderr
    return {
        (words, kind): json.loads(line) for (words, kind, _), line in zip(cases, lines, strict=True)
    }


# All in one test: a process that has everything imported forks for the commands.
@pytest.mark.slow
def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    accepted = {
        case: outcome
        for case, outcome in outcomes(tmp_path).items()
        if outcome["code"] != 2
        or outcome["err"].count("\n") != 1
        or not outcome["err"].startswith("testsgd: ")
        or len(outcome["err"]) > 1_000
        or "texts.csv" in outcome["err"]
    }
    assert accepted == {}

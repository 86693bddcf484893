"""``testsgd shield``: what the commands print and write, and their exit codes."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from testsgd.cli.main import _run
from testsgd.cli.options import byte_count
from testsgd.errors import ParameterError

SPECIFICATION = """
name = "loans"
[fairness]
property = "demographic_parity"
bound = 0.25
[groups]
names = ["a", "b"]
[horizon]
length = 10
"""
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Run a command of a shield in an empty folder with a specification and perhaps some input."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.toml").write_text(SPECIFICATION, encoding="utf-8")

    def run(*arguments: str, lines: str = "") -> tuple[int, str, str]:
        stream = SimpleNamespace(buffer=io.BytesIO(lines.encode()))
        monkeypatch.setattr(sys, "stdin", stream)
        code = _run(["shield", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_a_synthesis_says_the_memory_first_and_writes_shield_and_report(
    command: Run, tmp_path: Path
) -> None:
    code, out, _ = command("synthesize", "spec.toml", "--out", "made")
    assert code == 0
    lines = out.splitlines()
    assert re.fullmatch(r"Memory that is needed: about [\d.]+ (bytes|kB|MB|GB)", lines[0])
    assert lines[1].startswith("The shield keeps demographic parity of a and b within 0.25 after")
    assert (tmp_path / "spec.npz").is_file()
    document = json.loads((tmp_path / "made" / "result.json").read_text(encoding="utf-8"))
    assert document["schema"] == "testsgd.shield/2"
    assert document["synthesis"]["stored_bytes"] == (tmp_path / "spec.npz").stat().st_size


def test_without_a_shield_the_smallest_bound_is_named(command: Run, tmp_path: Path) -> None:
    # Which decisions are right depends on labels that come later: no shield can balance that.
    text = SPECIFICATION.replace(
        '"demographic_parity"',
        '"custom"\nnumerator = ["accept:1", "reject:0"]\ndenominator = ["accept", "reject"]',
    )
    (tmp_path / "spec.toml").write_text(text, encoding="utf-8")
    code, out, err = command("synthesize", "spec.toml", "--quiet")
    assert (code, out, err.count("\n")) == (2, "", 1)
    smallest = re.search(r"smallest bound for which one exists is (\d+(/\d+)?)", err)
    assert smallest is not None
    assert not (tmp_path / "spec.npz").exists()
    assert command("synthesize", "spec.toml", "--bound", smallest[1])[0] == 0


def test_too_much_memory_is_refused_before_the_work(command: Run, tmp_path: Path) -> None:
    code, out, err = command("synthesize", "spec.toml", "--memory-limit", "100 B")
    assert code == 2
    assert "100 bytes are allowed" in err
    assert out.startswith("Memory that is needed")
    assert not (tmp_path / "spec.npz").exists()


def test_run_answers_every_line_and_goes_on_from_its_journal(command: Run) -> None:
    command("synthesize", "spec.toml", "--quiet")
    events = [{"group": "a", "recommendation": 1, "id": str(place)} for place in range(4)]
    lines = [json.dumps(event) for event in events]
    code, out, err = command("run", "spec.npz", "--journal", "j", lines="\n".join(lines[:3]))
    assert (code, err) == (0, "")
    first = [json.loads(line) for line in out.splitlines()]
    assert [one["step"] for one in first] == [1, 2, 3]

    wrong = "nope\n\n" + '{"group": "c", "recommendation": 1}\n{"label": 1}\n'
    again = wrong + "\n".join(lines[2:])
    code, out, _ = command("run", "spec.npz", "--journal", "j", lines=again)
    found = [json.loads(line) for line in out.splitlines()]
    assert code == 2
    assert [one.get("kind") for one in found[:3]] == [
        "ParameterError",
        "UnknownGroupError",
        "LabelError",
    ]
    # The third event is known; the fourth is new.
    assert [one["step"] for one in found[3:]] == [3, 4]
    assert found[3]["decision"] == first[2]["decision"]


def test_what_run_says_of_a_person_is_whole(command: Run, tmp_path: Path) -> None:
    text = SPECIFICATION.replace("demographic_parity", "equal_opportunity").replace("0.25", "0.5")
    (tmp_path / "spec.toml").write_text(text, encoding="utf-8")
    command("synthesize", "spec.toml", "--quiet")
    lines = [
        '{"group": "a", "recommendation": 1, "id": "x"}',
        '{"label": 1}',
        '{"group": "b", "recommendation": 0}',
        '{"label": 0}',
    ]
    code, out, _ = command("run", "spec.npz", lines="\n".join(lines))
    found = [json.loads(line) for line in out.splitlines()]
    told = [{key: one[key] for key in ("group", "label", "id") if key in one} for one in found]
    assert code == 0
    assert told == [
        {"group": "a", "id": "x"},
        {"label": 1, "id": "x"},
        {"group": "b"},
        {"label": 0},
    ]
    assert [one.get("decision") in (0, 1) for one in found] == [True, False, True, False]


def test_a_shield_of_another_specification_is_refused(command: Run, tmp_path: Path) -> None:
    command("synthesize", "spec.toml", "--quiet")
    (tmp_path / "other.toml").write_text(SPECIFICATION.replace("0.25", "0.3"), encoding="utf-8")
    assert command("run", "spec.npz", "--spec", "spec.toml")[0] == 0
    code, out, err = command("run", "spec.npz", "--spec", "other.toml")
    assert (code, out, err.count("\n")) == (2, "", 1)


def test_a_simulation_writes_its_report_and_judges(command: Run, tmp_path: Path) -> None:
    command("synthesize", "spec.toml", "--quiet")
    code, out, _ = command("simulate", "spec.npz", "--runs", "50")
    assert code == 0
    assert "With the shield none of 50 runs exceeded a bias of 0.25 at the end" in out
    folder = tmp_path / "reports" / "spec-shield"
    assert {path.name for path in folder.iterdir()} == {"report.html", "report.md", "result.json"}
    kept = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert kept["shielded"]["above"] == 0 < kept["unshielded"]["above"]


def test_a_gate_on_what_is_not_guaranteed(command: Run, tmp_path: Path) -> None:
    text = SPECIFICATION + 'shield = "static-fair"\nperiods = 3\n'
    (tmp_path / "spec.toml").write_text(text, encoding="utf-8")
    code, out, _ = command("simulate", "spec.toml", "--runs", "300", "--fail-above", "0")
    kept = json.loads((tmp_path / "reports/spec-shield/result.json").read_text(encoding="utf-8"))
    assert kept["shielded"]["above"] > 0
    assert (code, kept["verdict"]["status"]) == (1, "gate_failed")
    assert "The gate failed" in out
    assert [one["period"] for one in kept["periods"]] == [1, 2, 3]


def test_people_of_a_log_bring_their_labels(command: Run, tmp_path: Path) -> None:
    rows = ["group,recommendation,label"]
    rows += [f"{'ab'[place % 2]},{place % 2},{place % 2}" for place in range(40)]
    (tmp_path / "log.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    code, _, _ = command("simulate", "spec.toml", "--log", "log.csv", "--runs", "20", "--quiet")
    kept = json.loads((tmp_path / "reports/spec-shield/result.json").read_text(encoding="utf-8"))
    # All recommendations are right, so each change is one wrong decision.
    assert code == 0
    assert kept["utility"]["accuracy_unshielded"] == 1
    assert kept["utility"]["loss"]["mean"] == pytest.approx(kept["changed"])
    assert kept["logged"] == 40


@pytest.mark.parametrize(
    "arguments",
    [
        ["synthesize", "none.toml"],
        ["synthesize", "spec.toml", "--memory-limit", "much"],
        ["synthesize", "spec.toml", "--storage", "cloud"],
        ["synthesize", "spec.toml", "--length", "0"],
        ["synthesize", "spec.toml", "--format", "pdf"],
        ["run", "none.npz"],
        ["run", "spec.toml"],
        ["serve", "spec.toml"],
        ["simulate", "spec.toml", "--runs", "0"],
        ["simulate", "spec.toml", "--periods", "2"],
        ["simulate", "spec.toml", "--jobs", "0"],
        ["simulate", "spec.toml", "--fail-above", "2"],
        ["simulate", "spec.toml", "--log", "none.csv"],
    ],
    ids=" ".join,
)
def test_bad_input_is_one_line_and_writes_nothing(
    arguments: list[str], command: Run, tmp_path: Path
) -> None:
    code, _, err = command(*arguments)
    assert (code, err.count("\n")) == (2, 1), err
    assert [path.name for path in tmp_path.iterdir()] == ["spec.toml"]


def test_amounts_of_memory() -> None:
    sizes = {"8GB": 8 * 10**9, "512 MiB": 2**29, "0.5k": 500, "7": 7, "1tb": 10**12}
    assert {text: byte_count(text, "here") for text in sizes} == sizes
    for wrong in ("", "GB", "8 gigs", "-1GB"):
        with pytest.raises(ParameterError):
            byte_count(wrong, "here")

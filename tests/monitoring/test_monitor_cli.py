"""``testsgd monitor run``: what it prints and writes, its exit codes, and how it is ended."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from testsgd.cli.main import _run

SPECIFICATION = """
name = "loans"
[[properties]]
property = "demographic_parity"
bound = 0.25
rule = "estimate"
"""
EVIDENCE = SPECIFICATION.replace('rule = "estimate"', 'rule = "evidence"')
Run = Callable[..., tuple[int, str, str]]


def lines(*decisions: str) -> str:
    """Write events: "a1" is a favourable decision on somebody of group a."""
    events = [{"group": one[0], "decision": int(one[1])} for one in decisions]
    return "".join(f"{json.dumps(event)}\n" for event in events)


FAIR, UNFAIR = lines("a1", "b1"), lines("a1", "b0")


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Run the command in a folder with a specification, with some input."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.toml").write_text(SPECIFICATION, encoding="utf-8")

    def run(*arguments: str, given: str = "") -> tuple[int, str, str]:
        stream = SimpleNamespace(buffer=io.BytesIO(given.encode()))
        monkeypatch.setattr(sys, "stdin", stream)
        code = _run(["monitor", "run", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_alerts_are_lines_and_the_outcome_is_said_beside_them(command: Run) -> None:
    code, out, err = command("spec.toml", given=UNFAIR + FAIR * 3)
    found = [json.loads(line) for line in out.splitlines()]
    assert code == 1
    assert [one["alert"] for one in found] == ["raised", "cleared"]
    # First one of one against none of one, then 4 of 4 against 3 of 4, which is not above.
    assert [(one["bias_exact"], one["trials"]) for one in found] == [("1", 2), ("1/4", 8)]
    assert err.splitlines()[0].startswith("Alert raised")
    assert command("spec.toml", "--quiet", given=UNFAIR)[2] == ""


@pytest.mark.parametrize(
    ("text", "given", "code"),
    [
        (SPECIFICATION, FAIR, 0),
        (SPECIFICATION, UNFAIR, 1),
        (SPECIFICATION, UNFAIR + "nope\n", 1),
        (SPECIFICATION, FAIR + "nope\n", 2),
        (SPECIFICATION, "", 3),
        (SPECIFICATION, lines("a1"), 3),
        (EVIDENCE, FAIR, 3),
        (EVIDENCE, UNFAIR * 100, 1),
        (EVIDENCE, FAIR * 1000, 0),
    ],
)
def test_exit_codes(text: str, given: str, code: int, command: Run, tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text(text, encoding="utf-8")
    assert command("spec.toml", "--quiet", given=given)[0] == code


def test_a_wrong_line_is_answered_and_changes_nothing(command: Run) -> None:
    wrong = '{"group": "a", "decision": 5}\n[]\n\n{"unknown": 1}\n'
    code, out, err = command("spec.toml", given=wrong + FAIR)
    found = [json.loads(line) for line in out.splitlines()]
    assert code == 2
    assert [(one["kind"], one["line"]) for one in found] == [
        ("EventError", 1),
        ("ParameterError", 2),
        ("EventError", 4),
    ]
    assert all("error" in one for one in found)
    assert "Wrong events: 3;" in err


def test_it_goes_on_from_its_state(command: Run, tmp_path: Path) -> None:
    assert command("spec.toml", "--state", "state.json", given=lines("a1"))[:2] == (3, "")
    code, out, _ = command("spec.toml", "--state", "state.json", given=lines("b0"))
    assert (code, json.loads(out)["alert"]) == (1, "raised")
    # An alert was raised once: the exit code stays.
    code, out, err = command("spec.toml", "--state", "state.json", "--out", "r", given=FAIR * 5)
    assert code == 1
    assert json.loads(out)["alert"] == "cleared"
    kept = json.loads((tmp_path / "r" / "result.json").read_text(encoding="utf-8"))
    assert (kept["stream"]["resumed"], kept["stream"]["decided"]) == (True, 12)
    (tmp_path / "spec.toml").write_text(EVIDENCE, encoding="utf-8")
    code, out, err = command("spec.toml", "--state", "state.json", given=FAIR)
    assert (code, out, err.count("\n")) == (2, "", 1)


def test_reports_are_written_where_they_are_asked_for(command: Run, tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("group,decision\na,1\nb,0\n", encoding="utf-8")
    code, out, err = command("spec.toml", "--events", "events.csv", "--out", "reports/x")
    assert (code, len(out.splitlines())) == (1, 1)
    folder = tmp_path / "reports" / "x"
    assert {path.name for path in folder.iterdir()} == {"report.html", "report.md", "result.json"}
    assert "report.html" in err
    assert json.loads((folder / "result.json").read_text(encoding="utf-8"))["schema"] == (
        "testsgd.monitoring/2"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["none.toml"],
        ["spec.toml", "--events", "none.jsonl"],
        ["spec.toml", "--events", "spec.toml"],
        ["spec.toml", "--format", "pdf"],
        ["spec.toml", "--out", "spec.toml"],
        ["spec.toml", "--state", "spec.toml"],
        ["spec.toml", "--dead-letters", "."],
        ["spec.toml", "--dead-letters", "spec.toml/letters.jsonl"],
    ],
    ids=" ".join,
)
def test_bad_input_is_one_line_and_writes_nothing(
    arguments: list[str], command: Run, tmp_path: Path
) -> None:
    code, out, err = command(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert [path.name for path in tmp_path.iterdir()] == ["spec.toml"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_the_stream_and_keeps_the_state(number: int, tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text(SPECIFICATION, encoding="utf-8")
    command = [sys.executable, "-m", "testsgd", "monitor", "run", "spec.toml", "--state", "s.json"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(UNFAIR)
        running.stdin.flush()
        # The alert comes at once, and not only when the stream has ended.
        assert json.loads(running.stdout.readline())["alert"] == "raised"
        running.send_signal(number)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (1, "")
    assert "2 events made 2 decided trials." in err
    assert (tmp_path / "s.json").is_file()


DEADLINE = SPECIFICATION.replace("demographic_parity", "equal_opportunity")
DEADLINE += '[trials]\ndeadline = "3 d"\n'
START = 1_700_000_000


def dated(*times: object) -> str:
    """Write events: one person each, of a and b in turn, with a label at once."""
    events = [
        {"id": place, "group": "ab"[place % 2], "decision": 1, "label": 1, "time": time}
        for place, time in enumerate(times)
    ]
    return "".join(f"{json.dumps(event)}\n" for event in events)


DEAD = ("Events in another unit of time", "Events too far ahead", "Events too late")


def test_dead_letters_are_answered_counted_and_added_to_a_file(
    command: Run, tmp_path: Path
) -> None:
    (tmp_path / "spec.toml").write_text(DEADLINE, encoding="utf-8")
    times = [1000 * START, START, START + 1, START + 2, "2062-01-01", START + 3, START - 9]
    arguments = ["spec.toml", "--dead-letters", "dead.jsonl", "--out", "r", "--state", "s.json"]
    code, out, err = command(*arguments, given="\n" + dated(*times))
    answers = [json.loads(line) for line in out.splitlines()]
    # The first one is refuted by the fourth that is after it, and not before.
    wanted = [("ahead", 6), ("unit", 2), ("late", 8)]
    assert [(one["dead_letter"], one["line"]) for one in answers] == wanted
    assert [f"{name}: 1; dead letters" in err for name in DEAD] == [True, True, True]
    kept = json.loads((tmp_path / "r" / "result.json").read_text(encoding="utf-8"))["stream"]
    assert [kept[f"dead_letters_{reason}"] for reason in ("unit", "ahead", "late", "wrong")] == [
        1,
        1,
        1,
        0,
    ]
    assert (kept["decided"], kept["dead_letters_this_run"], kept["unit"]) == (4, 3, "s")
    # The next run adds to the file. Dead letters are wrong input, of the run in which they came.
    more = ("2062-01-01", START + 9)
    codes = [code, *(command(*arguments, "--quiet", given=dated(time))[0] for time in more)]
    letters = [json.loads(line) for line in (tmp_path / "dead.jsonl").read_text().splitlines()]
    assert [one["event"]["time"] for one in letters] == [times[4], times[0], times[6], "2062-01-01"]
    assert codes == [2, 2, 3]


def test_the_reports_say_that_the_clock_was_set_again(command: Run, tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text(DEADLINE, encoding="utf-8")
    live, old = range(START + 200 * 86_400, START + 200 * 86_400 + 30), range(START, START + 30)
    arguments = ["spec.toml", "--out", "r", "--state", "s.json"]
    code, out, err = command(*arguments, given=dated(*live, *old))
    kept = json.loads((tmp_path / "r" / "result.json").read_text(encoding="utf-8"))
    stream = kept["stream"]
    assert (stream["clock_set"], stream["clock_dropped"], stream["decided"]) == (1, 10, 50)
    assert (stream["clock_before"], stream["time"]) == (live[-1], old[-1])
    assert START <= stream["clock_to"] <= START + 10
    # Events were lost, so that this is no all-clear; and each view says why.
    assert (code, len(out.splitlines())) == (2, 10)
    (said,) = (line for line in kept["verdict"]["sentences"] if "2024-06-01" in line)
    assert "2023-11-14" in said
    assert "10 events" in said
    assert said in err
    for name in ("report.md", "report.html"):
        assert "Clock set again" in (tmp_path / "r" / name).read_text(encoding="utf-8")
    # The next run knows of it.
    more = dated(*old, old[-1] + 1).splitlines()[-1]
    command(*arguments, given=more)
    kept = json.loads((tmp_path / "r" / "result.json").read_text(encoding="utf-8"))["stream"]
    assert (kept["clock_set"], kept["dead_letters_this_run"]) == (1, 0)


def test_the_reports_say_in_which_unit_time_is(command: Run, tmp_path: Path) -> None:
    for unit, words in (("", "milliseconds, as most events show"), ("ms", "as declared")):
        declared = f'[time]\nunit = "{unit}"\n' if unit else ""
        (tmp_path / "spec.toml").write_text(DEADLINE + declared, encoding="utf-8")
        times = [1000 * (START + second) for second in range(4)]
        _, _, err = command("spec.toml", "--out", "r", given=dated(*times))
        assert words in (tmp_path / "r" / "report.md").read_text(encoding="utf-8")
        assert words in (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
        assert (words in err) == (not unit)


def test_a_state_is_used_by_one_process(command: Run, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "testsgd", "monitor", "run", "spec.toml", "--state", "s.json"]
    (tmp_path / "spec.toml").write_text(SPECIFICATION, encoding="utf-8")
    with subprocess.Popen(
        words, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as first:
        assert first.stdin is not None
        assert first.stdout is not None
        first.stdin.write(UNFAIR.encode())
        first.stdin.flush()
        first.stdout.readline()
        for _ in range(2):
            code, out, err = command("spec.toml", "--state", "s.json", given=FAIR)
            assert (code, out, err.count("\n")) == (2, "", 1)
            assert "s.json: another monitor uses this state" in err
        first.send_signal(signal.SIGKILL)
    # Whoever was killed has nothing locked any more, and leaves nothing behind for good.
    for _ in range(2):
        assert command("spec.toml", "--state", "s.json", given=FAIR)[0] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.json", "spec.toml"]
    kept = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    assert kept["state"]["book"]["counters"]["decided"] == 4

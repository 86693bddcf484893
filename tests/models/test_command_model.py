"""Models that are a command: programs are really started, answer or fail."""

from __future__ import annotations

import os
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.errors import ModelError, ParameterError, TestSGDError
from testsgd.models import CommandModel, load_text_model

ROWS = 300
QUICK: dict[str, Any] = {"replicates": 99, "stability": 0}

SCORE = """
import csv, sys

for row in csv.DictReader(sys.stdin):
    print("yes" if float(row["income"]) > 50 - 8 * (row["sex"] == "m") else "no")
"""


def people() -> pd.DataFrame:
    source = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], ROWS),
            "income": source.normal(50, 10, ROWS).round(1),
        }
    )


def decide(frame: pd.DataFrame) -> list[str]:
    limit = 50 - 8 * (frame["sex"] == "m")
    return ["yes" if above else "no" for above in frame["income"] > limit]


def program(text: str, **options: Any) -> CommandModel:
    return CommandModel([sys.executable, "-c", text], **options)


def one_line(error: TestSGDError) -> str:
    text = str(error)
    assert "\n" not in text
    assert error.remedy
    return text


def test_its_answers_are_those_of_the_function() -> None:
    assert program(SCORE).predict(people()).tolist() == decide(people())


def test_it_gets_csv_with_a_header_and_empty_cells_where_values_are_missing(
    tmp_path: Path,
) -> None:
    seen = tmp_path / "seen.csv"
    frame = pd.DataFrame(
        {
            "word": ['a, "b"', None],
            "age": pd.array([1, pd.NA], dtype="Int64"),
            "since": [pd.Timestamp("2024-05-01"), pd.NaT],
        }
    )
    copy = f"import sys; open({str(seen)!r}, 'w').write(sys.stdin.read()); print('no\\nyes')"
    assert program(copy).predict(frame).tolist() == ["no", "yes"]
    assert seen.read_text("utf-8") == 'word,age,since\n"a, ""b""",1,2024-05-01\n,,\n'


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["0", "1"], [0, 1]),
        (["0.25", "1"], [0.25, 1.0]),
        (["1e-3", " 0.5 "], [0.001, 0.5]),
        (["007", "1"], ["007", "1"]),
        (["yes", "0.5"], ["yes", "0.5"]),
        (["True", "False"], ["True", "False"]),
        (["süß", "yes"], ["süß", "yes"]),
    ],
)
def test_lines_are_numbers_if_all_of_them_are(lines: list[str], expected: list[Any]) -> None:
    written = "\n".join(lines) + "\n"
    text = f"import sys; sys.stdout.buffer.write({written.encode()!r})"
    said = program(text).predict(pd.DataFrame({"age": [1, 2]})).tolist()
    assert said == expected
    assert [type(value) for value in said] == [type(value) for value in expected]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("import sys; print('first', file=sys.stderr); sys.exit('no file model.bin')", "model.bin"),
        ("import sys; sys.exit(3)", "3"),
        ("1 / 0", "ZeroDivisionError"),
        ("import os; os.kill(os.getpid(), 9)", "-9"),
        ("print('yes')", "1 lines for 300 rows"),
        (SCORE + "print('done')", "301 lines for 300 rows"),
        (SCORE.replace('"no"', '""'), "empty line"),
    ],
)
def test_a_program_that_fails_is_one_line(text: str, named: str) -> None:
    with pytest.raises(ModelError) as caught:
        program(text).predict(people())
    assert named in one_line(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "while True: print('yes')",
        "import sys\nwhile True: sys.stdout.write('yes' * 9999)",
        "import time\nprint('yes\\n' * 400, flush=True)\ntime.sleep(60)",
    ],
)
def test_a_program_that_writes_without_end_is_ended(text: str, tmp_path: Path) -> None:
    started = tmp_path / "started"
    began = time.monotonic()
    with pytest.raises(ModelError) as caught:
        program(f"import os; open({str(started)!r}, 'w').write(str(os.getpid()))\n{text}").predict(
            people()
        )
    assert time.monotonic() - began < 50
    assert "300 rows" in one_line(caught.value)
    assert not runs(Path("/proc") / started.read_text("utf-8") / "stat")


def test_a_program_that_writes_too_much_and_fails_says_why() -> None:
    with pytest.raises(ModelError) as caught:
        program("import sys; print('usage\\n' * 400); sys.exit('no file model.bin')").predict(
            people()
        )
    assert "model.bin" in one_line(caught.value)


def test_a_program_need_not_read_the_rows() -> None:
    frame = pd.DataFrame({"word": ["long " * 999] * ROWS})
    assert program(f"print('yes\\n' * {ROWS}, end='')").predict(frame).tolist() == ["yes"] * ROWS


def test_a_program_that_is_not_found_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "no_program").write_text("", encoding="utf-8")
    for name in ("no-such-program-here", str(tmp_path / "no_program"), str(tmp_path), "a\0b"):
        with pytest.raises(ModelError) as caught:
            CommandModel([name]).predict(people())
        one_line(caught.value)


def test_a_program_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    started = tmp_path / "started"
    child = f"import os, time; open({str(started)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    text = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    model = program(text, timeout=3)
    began = time.monotonic()
    with pytest.raises(ModelError) as caught:
        model.predict(people())
    assert time.monotonic() - began < 50
    assert "3 s" in one_line(caught.value)
    if started.exists() and Path("/proc").is_dir():
        while runs(Path("/proc") / started.read_text("utf-8") / "stat"):
            assert time.monotonic() - began < 50
            time.sleep(0.05)


def runs(status: Path) -> bool:
    """Return whether a process is there, and not only not yet collected."""
    try:
        return status.read_text("utf-8").rsplit(")")[1].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize("command", [[], [""], "python score.py"])
def test_what_is_no_command_is_refused(command: Any) -> None:
    with pytest.raises(ParameterError):
        CommandModel(command)
    with pytest.raises(ParameterError):
        CommandModel(["python"], timeout=0)


@pytest.mark.parametrize("labelled", [False, True])
def test_an_audit_of_a_command_as_text(labelled: bool, tmp_path: Path) -> None:
    # In its name: blanks, and the end of a file of a model.
    script = tmp_path / "my score.txt"
    script.write_text(SCORE, encoding="utf-8")
    frame = people()
    labels = (pd.Series(decide(frame), name="granted"),) if labelled else ()
    command = f"cmd:{shlex.join([sys.executable, str(script)])}"
    found = testsgd.audit(command, frame, *labels, sensitive_features=["sex"], **QUICK)
    expected = testsgd.audit(decide, frame, *labels, sensitive_features=["sex"], **QUICK)
    pd.testing.assert_frame_equal(found.groups, expected.groups)
    assert found.summary.model.name == command
    assert found.summary.model.kind == CommandModel.kind


@pytest.mark.parametrize("text", ["cmd:", "cmd: ", "cmd:python 'score.py"])
def test_a_text_that_is_no_command_is_one_line(text: str) -> None:
    with pytest.raises(TestSGDError) as caught:
        testsgd.audit(text, people(), sensitive_features=["sex"])
    one_line(caught.value)


def test_no_shell_reads_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError):
        testsgd.audit("cmd:true; touch made", people(), sensitive_features=["sex"])
    assert os.listdir(tmp_path) == []


def test_texts_are_rows_of_one_column() -> None:
    specification = testsgd.TextSpecification.model_validate(
        {
            "dataset": {"name": "comments"},
            "text": {},
            "label": {"column": "toxic", "favourable": "yes", "values": ["no", "yes"]},
        }
    )
    text = (
        "import csv, sys\n"
        "for row in csv.DictReader(sys.stdin):\n"
        "    print('yes' if row['text'].isupper() else 'no')"
    )
    model = load_text_model(program(text), specification).model
    assert model.decisions(["Hello,\nyou", "HELLO"]).tolist() == [False, True]

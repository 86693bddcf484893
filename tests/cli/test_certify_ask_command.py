"""``testsgd certify ask``: what it prints and writes of given people, and its exit codes."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import certifiable_networks
import command_line
import pytest

# The fixtures of this area.
folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Run = Callable[..., command_line.Finished]
Fails = Callable[..., str]

ASK = ("certify", "ask", "lender.nnet", "--domain", "ranges.toml")


@pytest.fixture(autouse=True)
def lender(folder: Path) -> Path:
    """The lender and its ranges, in the working folder."""
    return certifiable_networks.write_lender(folder)


def _person(income: int, debts: int = 0, woman: int = 0) -> str:
    return json.dumps({"income": income, "debts": debts, "woman": woman})


def _decisions_differ(income: int, debts: int) -> bool:
    worth = income - 5 * debts
    return (worth > 20) != (worth - 12 > 20)


def test_the_exit_code_says_how_the_people_are_treated(testsgd: Run) -> None:
    fair = testsgd(*ASK, "--row", _person(10))
    assert (fair.code, "1 fair" in fair.out) == (0, True)
    unfair = testsgd(*ASK, "--row", _person(10), "--row", _person(30, woman=1))
    assert unfair.code == 1
    assert "woman = 0" in unfair.out
    # A man with a worth of just 20, or a woman with 32, is at the turning point.
    tie = testsgd(*ASK, "--row", _person(20))
    assert tie.code == 3


def test_one_word_is_the_same_command(testsgd: Run) -> None:
    two = testsgd(*ASK, "--row", _person(30))
    one = testsgd("certify-ask", *ASK[2:], "--row", _person(30))
    assert (two.code, two.out) == (one.code, one.out)


@pytest.mark.parametrize("name", ["people.csv", "people.jsonl"])
def test_a_file_of_people_is_answered_in_a_file(testsgd: Run, folder: Path, name: str) -> None:
    people = [(income, debts) for income in range(0, 100, 7) for debts in range(0, 10, 3)]
    # Nobody at the turning point.
    people = [(a, b) for a, b in people if a - 5 * b not in (20, 32)]
    if name.endswith("csv"):
        lines = ["income,debts,woman", *(f"{a},{b},1" for a, b in people)]
    else:
        lines = [_person(a, b, 1) for a, b in people]
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    finished = testsgd(*ASK, "--rows", name, "--out", "answers.csv")
    with (folder / "answers.csv").open(encoding="utf-8", newline="") as file:
        answers = list(csv.DictReader(file))
    expected = ["unfair" if _decisions_differ(a, b) else "fair" for a, b in people]
    assert [answer["verdict"] for answer in answers] == expected
    counterparts = [answer["counterpart"] for answer in answers if answer["verdict"] == "unfair"]
    assert [json.loads(counterpart) for counterpart in counterparts] == [
        {"woman": 0} for _ in counterparts
    ]
    assert finished.code == 1
    assert f"{expected.count('unfair')} unfair" in finished.out


def test_a_file_may_have_other_columns_but_lacks_none(
    testsgd: Run, fails: Fails, folder: Path
) -> None:
    text = "case,woman,granted,debts,income\nx7,1,yes,0,30\nx8,0,no,0,10\n"
    (folder / "cases.csv").write_text(text, encoding="utf-8")
    plain = testsgd(*ASK, "--row", _person(30, woman=1), "--row", _person(10))
    wide = testsgd(*ASK, "--rows", "cases.csv")
    assert (wide.code, wide.out) == (plain.code, plain.out)
    (folder / "cases.csv").write_text(text.replace("income", "incom"), encoding="utf-8")
    message = fails(*ASK, "--rows", "cases.csv")
    assert all(part in message for part in ["cases.csv", "'income'", "incom?"])


def test_a_result_tells_the_region(testsgd: Run, folder: Path) -> None:
    assert testsgd("certify", *ASK[2:], "--out", "proof", "--quiet").code == 0
    finished = testsgd(
        *ASK, "--row", _person(99), "--row", _person(30), "--result", "proof/result.json",
        "--out", "answers.csv", "--quiet",
    )  # fmt: skip
    with (folder / "answers.csv").open(encoding="utf-8", newline="") as file:
        rich, poor = csv.DictReader(file)
    assert (finished.code, finished.out) == (1, "")
    assert (rich["verdict"], poor["verdict"]) == ("fair", "unfair")
    assert poor["region_proof"] in {"falsified", "mixed"}
    assert "income" in poor["region"]


@pytest.mark.parametrize(
    ("arguments", "seen"),
    [
        (["--row", _person(100)], ["'income'", "100", "0", "99"]),
        (["--row", '{"income": 1, "debts": 1}'], ["'woman'", "0", "1"]),
        (["--row", _person(1)[:-1] + ', "age": 3}'], ["'age'", "3"]),
        (["--row", '{"incme": 1, "debts": 1, "woman": 0}'], ["'incme'", "income?"]),
        (["--row", "{income"], ["--row"]),
        (["--row", "[1]"], ["--row"]),
        (["--row", '{"income": 1, "debts": 1, "woman": 0, "income": 50}'], ["--row", "'income'"]),
        ([], ["--row"]),
        (["--row", _person(1), "--rows", "people.csv"], ["--row"]),
        (["--rows", "nobody.csv"], ["nobody.csv"]),
        (["--row", _person(1), "--out", "answers.txt"], ["answers.txt"]),
        (["--row", _person(1), "--result", "no.json"], ["no.json"]),
        (["--rows"], ["certify-ask --help"]),
    ],
)
def test_bad_input_is_one_line(fails: Fails, arguments: list[str], seen: list[str]) -> None:
    message = fails(*ASK, *arguments)
    assert all(part in message for part in seen)


def test_a_key_that_stands_twice_in_a_file_is_refused(folder: Path, fails: Fails) -> None:
    twice = _person(1)[:-1] + ', "income": 50}'
    (folder / "people.jsonl").write_text(f"{_person(30)}\n{twice}\n")
    message = fails(*ASK, "--rows", "people.jsonl")
    assert all(part in message for part in ("people.jsonl, line 2", "'income'"))

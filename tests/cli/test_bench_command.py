"""``testsgd bench``: prints tables, writes them, and refuses what it cannot run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import command_line
import pytest
from command_line import Finished

from testsgd.errors import DownloadError

# The fixtures of this area.
folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

QUICK = ("bench", "truth", "--populations", "null,proxy", "--sizes", "1000", "--runs", "2")


def test_it_prints_and_writes_the_tables(
    testsgd: Callable[..., Finished], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("testsgd.truth.bench._SAMPLED", ())
    finished = testsgd(
        *QUICK, "--baseline-runs", "2", "--methods", "gerryfair", "--seed", "3", "--out", "truth"
    )
    assert finished.code == 0, finished.err
    assert "Is the planted group found?" in finished.out
    assert "False discoveries where there is no difference" in finished.out
    assert "Written: truth" in finished.out
    document = json.loads((folder / "truth" / "truth.json").read_text(encoding="utf-8"))
    assert document["settings"]["seed"] == 3
    found = {(m["population"], m["method"], m["name"]): m for m in document["measures"]}
    assert found["null", "audit", "false discoveries: simultaneous"]["runs"] == 2
    assert ("proxy", "gerryfair", "first") in found
    text = (folder / "truth" / "truth.md").read_text(encoding="utf-8")
    assert "--populations null,proxy --sizes 1000 --runs 2" in text
    assert "### Coverage of the confidence intervals" in text


def test_quiet_prints_nothing(
    testsgd: Callable[..., Finished], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("testsgd.truth.bench._SAMPLED", ())
    finished = testsgd(*QUICK, "--populations", "null", "--baseline-runs", "0", "--quiet")
    assert (finished.code, finished.out) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--populations", "nil"), "the population 'nil' is unknown"),
        (("--sizes", "1000,many"), "'many' is no whole number"),
        (("--sizes", "10"), "10 is not at least 500"),
        (("--runs", "1"), "1 is not at least 2"),
        (("--methods", "guess"), "the method 'guess' is unknown"),
        (("--jobs", "0"), "0 is not between 1 and"),
        (("--populations", ""), "populations: nothing is named"),
        (("--sizes", ","), "sizes: nothing is named"),
        (("--methods", ""), "methods: nothing is named"),
        (("--time-limit", "0"), "0.0 is not a positive number of seconds"),
        (("--time-limit", "nan"), "nan is no finite number"),
        (("--worlds", "flat"), "the world 'flat' is unknown"),
        (("--worlds", "all", "--runs", "0"), "0 is not at least 2"),
    ],
)
def test_bad_options_are_named(
    fails: Callable[..., str], arguments: tuple[str, ...], message: str
) -> None:
    assert message in fails("bench", "truth", *arguments)


def test_worlds_are_judged_in_place_of_populations(
    testsgd: Callable[..., Finished], folder: Path
) -> None:
    finished = testsgd(
        *("bench", "truth", "--worlds", "binary-proxy,no-difference", "--sizes", "1000"),
        *("--runs", "2", "--out", "truth"),
    )
    assert finished.code == 0, finished.err
    assert "Is the verdict right?" in finished.out
    assert "Do the intervals hold" not in finished.out
    document = json.loads((folder / "truth" / "truth.json").read_text(encoding="utf-8"))
    found = {(m["population"], m["name"]): m["value"] for m in document["measures"]}
    assert found["binary-proxy", "gate_all_clear"] == 0
    assert ("no-difference", "gate_alarm") in found
    text = (folder / "truth" / "truth.md").read_text(encoding="utf-8")
    assert "bench truth --worlds binary-proxy,no-difference --sizes 1000 --runs 2 --seed 0" in text


def test_theta_prints_and_writes_a_table(testsgd: Callable[..., Finished], folder: Path) -> None:
    finished = testsgd("bench", "theta", "demo", "--thetas", "0.05,0.5", "--out", "theta")
    assert finished.code == 0, finished.err
    assert "demo" in finished.out
    document = json.loads((folder / "theta" / "theta.json").read_text(encoding="utf-8"))
    assert [row["theta"] for row in document["rows"]] == [0.05, 0.5]


def test_a_data_set_without_its_files_is_passed_over_in_one_line(
    testsgd: Callable[..., Finished], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object) -> None:
        raise DownloadError("a file is missing", remedy="fetch it")

    monkeypatch.setattr("testsgd.truth.theta.load_model", missing)
    finished = testsgd("bench", "theta", "law", "--quiet")
    assert finished.code == 2
    assert finished.err.count("\n") == 1
    assert "law is passed over: a file is missing" in finished.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere",), "nowhere"),
        (("demo", "--thetas", "0.05,half"), "'half' is no number"),
        (("demo", "--thetas", "2"), "theta: 2.0 is not between 0 and 1"),
        (("demo", "--thetas", ","), "nothing is named"),
    ],
)
def test_bad_thetas_are_named(
    fails: Callable[..., str], arguments: tuple[str, ...], message: str
) -> None:
    assert message in fails("bench", "theta", *arguments)

"""``testsgd bench truth``: prints tables, writes them, and refuses what it cannot run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import command_line
import pytest
from command_line import Finished

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
    assert "False findings where there is nothing to find" in finished.out
    assert "Written: truth" in finished.out
    document = json.loads((folder / "truth" / "truth.json").read_text(encoding="utf-8"))
    assert document["settings"]["seed"] == 3
    found = {(m["population"], m["method"], m["name"]): m for m in document["measures"]}
    assert found["null", "audit", "false findings: simultaneous"]["runs"] == 2
    assert ("proxy", "gerryfair", "first") in found
    text = (folder / "truth" / "truth.md").read_text(encoding="utf-8")
    assert "--populations null,proxy --sizes 1000 --runs 2" in text
    assert "### Do the intervals hold the truth?" in text


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
        (("--jobs", "0"), "0 is not at least 1"),
        (("--populations", ""), "populations: nothing is named"),
        (("--sizes", ","), "sizes: nothing is named"),
        (("--methods", ""), "methods: nothing is named"),
        (("--time-limit", "0"), "0.0 is not a positive number of seconds"),
        (("--time-limit", "nan"), "nan is not a positive number of seconds"),
    ],
)
def test_bad_options_are_named(
    fails: Callable[..., str], arguments: tuple[str, ...], message: str
) -> None:
    assert message in fails("bench", "truth", *arguments)

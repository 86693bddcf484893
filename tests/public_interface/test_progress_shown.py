"""Progress of an audit: who sees it, and how often, however slow the model is."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd import progress as module


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_INTERVAL", 0.05)


PEOPLE = pd.DataFrame({"sex": ["f", "m"] * 100, "income": range(200)})


def audit(progress: Any, *, seconds: float = 0.3) -> testsgd.AuditResult:
    asked = []

    def slow(frame: pd.DataFrame) -> Any:
        if not asked:
            asked.append(True)
            time.sleep(seconds)
        return np.where(frame["income"] > 100, "yes", "no")

    return testsgd.audit(slow, PEOPLE, sensitive_features=["sex"], replicates=20, progress=progress)


def test_a_model_that_has_answered_nothing_yet_shows_a_sign_of_life(
    capsys: pytest.CaptureFixture[str],
) -> None:
    audit(True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.splitlines()) >= 3


@pytest.mark.parametrize("progress", [None, False])
def test_nothing_is_shown_where_nobody_watches(
    progress: bool | None, capsys: pytest.CaptureFixture[str]
) -> None:
    audit(progress)
    shown = capsys.readouterr()
    assert shown.out == shown.err == ""


def test_a_terminal_shows_one_line_that_goes_away(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_is_watched", lambda: True)
    audit(None)
    shown = capsys.readouterr().err
    assert "\n" not in shown
    assert shown.rsplit("\r", 2)[1].strip() == ""
    audit(False)
    assert capsys.readouterr().err == ""


def test_a_callable_is_called_and_the_result_is_the_same() -> None:
    calls = []
    told = audit(lambda *call: calls.append(call), seconds=0)
    assert calls
    assert all(isinstance(phase, str) and done <= total for phase, done, total in calls)
    pd.testing.assert_frame_equal(told.groups, audit(False, seconds=0).groups)


def test_it_stops_when_a_model_fails(capsys: pytest.CaptureFixture[str]) -> None:
    def broken(frame: pd.DataFrame) -> Any:
        raise ValueError("no")

    with pytest.raises(testsgd.errors.ModelError):
        testsgd.audit(broken, PEOPLE, sensitive_features=["sex"], progress=True)
    capsys.readouterr()
    time.sleep(0.15)
    assert capsys.readouterr().err == ""

"""Trials of a library on a file end, whatever the library does."""

from __future__ import annotations

import sys
import time

import pytest

from testsgd.io import check_by_trial
from testsgd.io.trials import TrialError


def test_a_script_that_ends_is_fine_whatever_it_raises() -> None:
    assert check_by_trial("assert sys.argv[1:] == ['a']", ["a"], processor_seconds=5) == 0
    assert check_by_trial("raise ValueError", [], processor_seconds=5) != 0


def test_a_process_that_is_ended_is_refused() -> None:
    with pytest.raises(TrialError):
        check_by_trial("import os; os.abort()", [])


@pytest.mark.skipif(sys.platform == "win32", reason="Windows knows no limit of this kind")
def test_a_loop_is_ended_by_the_time_it_computes() -> None:
    began = time.monotonic()
    with pytest.raises(TrialError):
        check_by_trial("while True: pass", [], seconds=500, processor_seconds=1)
    assert time.monotonic() - began < 250


def test_waiting_is_not_computing() -> None:
    check_by_trial("import time; time.sleep(1.5)", [], processor_seconds=1)

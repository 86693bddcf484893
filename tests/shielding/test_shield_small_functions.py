"""Costs, sizes, lines of a journal and changes of a specification, by examples."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import testsgd
from testsgd.errors import TestSGDError
from testsgd.fairness.property import bias_at_most
from testsgd.fairness.wording import bias_text, events_text, exact_number
from testsgd.report.formatting import MINUS, bytes_text
from testsgd.shielding import InputDistribution, PeriodReport
from testsgd.shielding.report.wording import cost_text, loss_text
from testsgd.shielding.running.journal import decision_line, label_line
from testsgd.shielding.running.state import moved
from testsgd.shielding.specification import bounded_bias, changed


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (120, "120 bytes"),
        (2_300_000, "2.3 MB"),
        (4_000_000_000, "4 GB"),
        (10**15, "1,000,000 GB"),
    ],
)
def test_amounts_of_memory(size: int, text: str) -> None:
    assert bytes_text(size) == text


def test_numbers_of_a_report() -> None:
    assert (cost_text(1.00233), cost_text(0.0), cost_text(22.1107)) == ("1.002", "0", "22.11")
    assert (loss_text(0.0123), loss_text(-0.004)) == ("1.2", f"{MINUS}0.4")
    assert loss_text(-0.0001) == "0.0"
    assert (exact_number("1/10"), exact_number("1/3"), exact_number("0")) == ("0.1", "1/3", "0")
    assert (bias_text(0.09999), bias_text(0.0)) == ("0.100", "0.000")
    told = "an acceptance with true label 1 or a rejection with true label 1"
    assert events_text(["accept:1", "reject:1"]) == told


def test_lines_of_a_journal() -> None:
    line = b'{"group":"a","recommendation":1,"cost":0.5,"decision":0,"id":"7"}\n'
    assert decision_line("a", 1, 0.5, 0, "7") == line
    assert label_line(1, None) == b'{"label":1}\n'


def test_a_report_of_a_period_as_json_has_it() -> None:
    one, tenth = Fraction(1), Fraction(1, 10)
    report = PeriodReport(0, 2, ((0, 1), (1, 0)), one, one, False, None, True, tenth, 0, 0.0)
    told = report.to_dict()
    assert (told["bias"], told["bound"], told["counts"]) == ("1", "1/10", [[0, 1], [1, 0]])


def test_counters_and_bounds() -> None:
    assert moved((2, 0), 0, 1) == (1, 1)
    welfare = (Fraction(2, 5), Fraction(1, 2))
    assert bounded_bias(welfare, "difference") == Fraction(1, 10)
    assert bounded_bias(welfare, "ratio") == Fraction(1, 5)
    tops, bottoms = np.array([[1, 0]]), np.array([[10, 5]])
    for bound, expected in ((Fraction(1, 10), True), (Fraction(1, 11), False)):
        kept = bias_at_most(tops, bottoms, bound, measure="difference", empty_group="vacuous")
        assert kept.tolist() == [expected]
    inputs = InputDistribution.uniform(["a", "b"], costs=[1, 2])
    assert inputs.cost_places([0, 1.5, 9]).tolist() == [0, 1, 1]


def test_changes_by_name_and_by_path() -> None:
    made = changed({"horizon": {"length": 5}}, {"length": 6, "horizon.periods": 2})
    assert made == {"horizon": {"length": 6, "periods": 2}}


@pytest.mark.parametrize("digits", [400, 5000])
def test_numbers_that_no_float_holds_are_refused(digits: int) -> None:
    too_large = 10**digits
    example = "examples/shields/loans-demographic-parity.toml"
    path = Path(__file__).resolve().parents[2] / example
    shield = testsgd.synthesize_shield(path, length=4)
    with pytest.raises(TestSGDError):
        shield.decide("female", 1, cost=too_large)
    assert shield.decide("female", 1) in (0, 1)
    for call in (testsgd.synthesize_shield, testsgd.simulate_shield):
        with pytest.raises(TestSGDError):
            call(path, length=too_large)
    with pytest.raises(TestSGDError):
        testsgd.simulate_shield(path, runs=5, length=10**11)

"""Lengths of time, moments, values and names: read and written, by examples."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from testsgd.monitoring import Alert, AlertedGroup, DeadLetter
from testsgd.monitoring.judging.evidence import part_of
from testsgd.monitoring.judging.rates import Prior, extremes
from testsgd.monitoring.report.wording import ends_text, property_title, time_text
from testsgd.monitoring.specification.parts import duration_text, event_value, seconds_in, shown
from testsgd.monitoring.trials.event import iso_text, text_of
from testsgd.monitoring.trials.timeline import plain
from testsgd.report.formatting import NOTHING


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(730 * 86_400.0, "730 d"), (5400.0, "90 min"), (90.0, "90 s"), (0.25, "0.25 s")],
)
def test_lengths_of_time(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text
    assert seconds_in(text) == seconds_in(seconds) == seconds


def test_moments_are_dates_if_they_can_be() -> None:
    assert iso_text(1767225600.25) == "2026-01-01T00:00:00.250000Z"
    assert iso_text(90.0) is iso_text(None) is None
    assert time_text(1767225600.0) == "2026-01-01 00:00 UTC"
    assert (time_text(90.0), time_text(None)) == ("90 s", "")


@pytest.mark.parametrize(
    ("value", "text"), [("7", "7"), (7.0, "7"), (True, "true"), (float("nan"), None), ("", None)]
)
def test_values_as_texts(value: Any, text: str | None) -> None:
    assert text_of(value, "id") == text


def test_values_as_json_has_them() -> None:
    assert (event_value(np.int64(3)), event_value(True), event_value("yes")) == (3, True, "yes")
    assert (shown(True), shown("1")) == ("true", '"1"')
    event = {"id": 1, "time": float("nan"), 2: (3,)}
    assert plain(event) == {"id": 1, "time": "nan", "2": [3]}  # type: ignore[arg-type]


def test_names_and_intervals_in_a_report() -> None:
    name = "demographic_parity given department"
    assert property_title(name) == "demographic parity given department"
    assert (ends_text(0.1236, 0.4), ends_text(0.0, 1.0)) == ("0.123 to 0.400", "0 to 1")
    assert ends_text(None, None) == NOTHING


def test_error_is_shared_among_endlessly_many() -> None:
    assert [part_of(1.0, number) for number in range(3)] == [1 / 2, 1 / 6, 1 / 12]


def test_rates_with_a_prior_belief() -> None:
    belief = Prior(Fraction(1, 2), Fraction(24))
    assert belief.smoothed([1, 0], [1, 0], "vacuous") == ([13, 0], [25, 0])
    assert belief.smoothed([1, 0], [1, 0], "zero") == ([13, 12], [25, 24])
    apart = extremes([1, 2], [10, 10], "vacuous")
    assert apart is not None
    assert apart.bias("difference") == Fraction(1, 10)


def test_alerts_and_dead_letters_as_json_has_them() -> None:
    group = AlertedGroup("a", 1, 4, Fraction(1, 3)).to_dict()
    assert group["estimate"] == pytest.approx(1 / 3)
    counts = {"group": "a", "numerator": 1, "denominator": 4, "rate": 0.25}
    assert group | counts == group
    assert group["estimate_exact"] == "1/3"
    bias, bound = Fraction(1, 5), Fraction(1, 10)
    parts = ("raised", "demographic_parity", "estimate", (), None, 20, None)
    alert = Alert(*parts, bias, None, bound, "a", "b")  # type: ignore[arg-type]
    told = alert.to_dict()
    assert (told["alert"], told["bias"], told["bias_exact"]) == ("raised", 0.2, "1/5")
    letter = DeadLetter("late", "it is late", {"id": 1, "time": 5}, 17)
    assert letter.to_dict() == {
        "dead_letter": "late",
        "said": "it is late",
        "line": 17,
        "event": {"id": 1, "time": 5},
    }

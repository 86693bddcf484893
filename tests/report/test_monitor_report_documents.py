"""The document of a monitor: its numbers, its outcome, and that it is read back as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import jsonschema
import pytest
from monitor_documents import (
    MONITORINGS,
    PARITY,
    alarmed,
    alert,
    comparison,
    estimated,
    group,
    nothing,
    specification,
    strata,
    undecided,
    windows,
    within,
)
from monitor_documents import status as stands

from testsgd.errors import ResultError
from testsgd.monitoring import GroupStatus, MonitoringSummary, MonitorResult
from testsgd.monitoring.report.summarise import summarise_monitoring
from testsgd.report.kinds import read_result


@pytest.mark.parametrize("name", MONITORINGS)
def test_a_document_fits_its_schema_and_is_read_back_as_it_was(name: str) -> None:
    summary = MONITORINGS[name]()
    text = MonitorResult.document.render(summary)
    jsonschema.validate(json.loads(text), MonitorResult.document.schema())
    assert MonitorResult.document.read(text) == summary
    result = read_result(text)
    assert isinstance(result, MonitorResult)
    assert (result.summary, result.monitor) == (summary, None)


def test_another_document_is_refused() -> None:
    document = json.loads(MonitorResult.document.render(alarmed()))
    for change in ({"schema": "testsgd.shield/2"}, {"comparisons": None}, {"more": 1}):
        with pytest.raises(ResultError):
            MonitorResult.document.read(json.dumps(document | change))


@pytest.mark.parametrize(
    ("make", "status", "code"),
    [
        (alarmed, "alert_raised", 1),
        (windows, "alert_raised", 1),
        (strata, "alert_raised", 1),
        (undecided, "not_enough_evidence", 3),
        (nothing, "not_enough_evidence", 3),
        (within, "within", 0),
        (lambda: within(refused=1), "within", 2),
        (lambda: within(dead_letters=1), "within", 2),
        (lambda: undecided(refused=1), "not_enough_evidence", 2),
    ],
)
def test_the_outcome_and_its_exit_code(
    make: Callable[[], MonitoringSummary], status: str, code: int
) -> None:
    verdict = make().verdict
    assert (verdict.status, verdict.exit_code) == (status, code)
    assert verdict.headline.endswith(".")


def test_trials_that_are_counted_are_needed_to_say_that_all_is_well() -> None:
    specified = specification()
    found = comparison(
        specified, standing="within", trials=0, alerts=0, in_alert=False, first_alert=None
    )
    assert summarise_monitoring(stands(found), specified).verdict.exit_code == 3


def test_the_numbers_of_a_comparison() -> None:
    (one,) = alarmed().comparisons
    assert (one.bias, one.bias_exact, one.low, one.high) == (0.5, "1/2", 0.25, 0.75)
    assert (one.highest, one.lowest) == ("a", "b")
    assert [(known.rate, known.estimate) for known in one.groups] == [(0.8, 0.8), (0.3, 0.3)]
    # The group that came later has no rate before.
    assert one.course[0].estimates == [1.0, None]
    assert [point.trials for point in one.course] == [1, 20, 60, 100]
    assert one.first_alert is not None
    assert (one.first_alert.trials, one.first_alert.id) == (40, "00000040" * 4)
    assert [(known.name, known.numerator, known.rate) for known in one.first_alert.groups] == [
        ("a", 16, 0.8),
        ("b", 6, 0.3),
    ]


def test_the_course_ends_with_the_present() -> None:
    specified = specification()
    summary = summarise_monitoring(stands(comparison(specified, trials=130)), specified)
    last = summary.comparisons[0].course[-1]
    assert (last.trials, last.estimates, last.bias) == (130, [0.8, 0.3], 0.5)


def test_the_most_alarming_comparison_comes_first() -> None:
    found = strata(6).comparisons
    assert [one.conditions[0].value for one in found] == ["d5", "d4", "d3", "d1", "d2", "d0"]


def test_a_thousand_alerts_are_listed_and_all_are_counted() -> None:
    specified = specification()
    alerts = [alert(trials=place) for place in range(1003)]
    found = comparison(specified, alerts=1010)
    summary = summarise_monitoring(stands(found), specified, alerts=alerts, alerts_left_out=7)
    assert (len(summary.alerts), summary.alerts_left_out, summary.alerts_raised) == (1000, 10, 1010)


def test_what_was_not_counted_is_said() -> None:
    told = strata().verdict.sentences
    for name, number in (
        *(("Wrong events", 8), ("Ignored events", 5), ("Repeated events", 6)),
        *(("Unknown groups", 3), ("Late labels", 1), ("Dropped trials", 2), ("Open trials", 4)),
        *(("Trials not compared", 7), ("Events that wait", 13)),
        *(("Events in another unit of time", 9), ("Events too far ahead", 1)),
        *(("Events too late", 11), ("Events that did not fit", 12)),
    ):
        assert any(sentence.startswith(f"{name}: {number};") for sentence in told)
    seen = strata().stream.model_dump()
    expected: dict[str, Any] = {"refused": 8, "ignored": 5, "repeated": 6, "uncompared": 7}
    assert {key: seen[key] for key in expected} == expected


def placed(headline: str, *told: str) -> list[int]:
    """Return where a headline says these, each of which it must say."""
    return [headline.index(part) for part in told]


def test_the_headline_names_the_group_with_the_lowest_and_with_the_highest_rate() -> None:
    first, second, third, fourth = placed(
        alarmed().verdict.headline, "“b”", "30.0%", "“a”", "80.0%"
    )
    assert first < second < third < fourth
    # Rates are those that the bias is of: estimates with a belief, if there is one.
    placed(estimated().verdict.headline, "33.3%", "75.0%")


def test_the_headline_names_two_of_many_groups_with_trials() -> None:
    specified = specification()
    rates = {"c": (30, 60), "a": (40, 50), "b": (15, 50), "empty": (0, 0)}
    groups = tuple(group(name, *counts) for name, counts in rates.items())
    told = summarise_monitoring(stands(comparison(specified, groups=groups)), specified)
    headline = told.verdict.headline
    placed(headline, "“b”", "30.0%", "“a”", "80.0%")
    assert "“c”" not in headline
    assert "“empty”" not in headline


def test_a_group_without_trials_that_the_bias_is_of_is_named_as_such() -> None:
    specified = specification()
    empty = GroupStatus("nobody", 0, 0, Fraction(0), None)
    groups = (group("a", 40, 50), group("b", 15, 50), empty)
    told = summarise_monitoring(stands(comparison(specified, groups=groups)), specified)
    placed(told.verdict.headline, "“b”", "30.0%", "“a”", "80.0%", "“nobody”", "0.0%")


@pytest.mark.parametrize("others", [(), (group("b", 0, 0),)])
def test_the_headline_compares_no_single_group(others: tuple[Any, ...]) -> None:
    specified = specification()
    alone = comparison(specified, groups=(group("a", 40, 50), *others))
    assert "“a”" not in summarise_monitoring(stands(alone), specified).verdict.headline


def test_the_headline_says_if_all_rates_are_the_same() -> None:
    specified = specification()
    groups = tuple(group(name, 20, 50) for name in "ab")
    headline = summarise_monitoring(
        stands(comparison(specified, groups=groups)), specified
    ).verdict.headline
    assert headline.count("40.0%") == 1
    assert "“a”" not in headline


def test_of_many_conditions_the_groups_are_those_of_the_largest_bias() -> None:
    specified = specification(properties=[PARITY | {"condition_on": ["department"]}])
    found = []
    for place, top in enumerate([10, 35, 20]):
        found.append(
            comparison(
                specified,
                conditions=(("department", f"d{place}"),),
                groups=(group("a", 40, 50), group("b", 40 - top, 50)),
                estimate=Fraction(top, 50),
            )
        )
    headline = summarise_monitoring(stands(*found), specified).verdict.headline
    placed(headline, "d1", "“b”", "10.0%", "“a”", "80.0%")

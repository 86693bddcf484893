"""The verdict: its status and exit code, and that its words carry the right numbers."""

from __future__ import annotations

from typing import Any

import pytest

from testsgd.reporting import GroupSummary, Verdict
from testsgd.reporting.summary import Counts, Parameters
from testsgd.reporting.verdict import verdict


def group(difference: float, **changes: Any) -> GroupSummary:
    """A group of 300 among 1,000 rows, half of whose other side is favoured."""
    fields = {
        "rank": 1,
        "rules": [{"feature": "gender", "values": ["female"], "text": "gender = female"}],
        "text": "gender = female",
        "support": 0.3,
        "n_in": 300,
        "n_out": 700,
        "rate_in": 0.5 + difference,
        "rate_out": 0.5,
        "difference": difference,
        "score": abs(difference),
        "margin": 0.0,
        "margin_method": "none",
        "interval": (difference - 0.07, difference + 0.06),
        "exact": True,
        "samples_in": 3000,
        "samples_out": 7000,
        "decided": True,
        "distinct": True,
    }
    return GroupSummary.model_validate(fields | changes)


def judge(
    groups: list[GroupSummary],
    *,
    fail_above: float | None = None,
    theta: float = 0.05,
    undecided: int = 0,
    small: int = 0,
    found: int | None = None,
) -> Verdict:
    decided = [item.score for item in groups if item.decided]
    return verdict(
        groups,
        top_score=max(decided, default=None),
        counts=Counts(
            candidates=50,
            frequent=20,
            groups=len(groups) if found is None else found,
            decided=len(decided),
            undecided_frequent=undecided,
            undecided_small=small,
        ),
        label="yes",
        parameters=Parameters(
            theta=theta,
            error_margin=0.05,
            min_samples=1000,
            confidence=0.95,
            mode="auto",
            sampling="pooled",
            max_queries=5000,
            max_features=3,
            bins=None,
            top=100,
            seed=0,
            overlap=0.8,
            fail_above=fail_above,
        ),
        rows=1000,
    )


def words(judged: Verdict) -> str:
    return " ".join([judged.headline, *judged.sentences])


@pytest.mark.parametrize(
    ("difference", "direction"), [(-0.234, "23.4 points less"), (0.107, "10.7 points more")]
)
def test_the_headline_names_label_group_difference_and_rates(
    difference: float, direction: str
) -> None:
    headline = judge([group(difference)]).headline
    for part in ("“yes”", "gender = female", direction, f"{50 + 100 * difference:.1f}%", "50.0%"):
        assert part in headline


def test_without_a_gate_the_difference_is_reported() -> None:
    judged = judge([group(0.9, interval=(0.8, 0.95), rate_in=1.0, rate_out=0.1)])
    assert (judged.status, judged.exit_code) == ("reported", 0)
    assert "gate" not in words(judged)


@pytest.mark.parametrize(
    ("score", "gate", "status", "code"),
    [
        (0.2, 0.1, "gate_failed", 1),
        (0.2, 0.2, "gate_passed", 0),
        (0.2, 0.3, "gate_passed", 0),
        (0.0, 0.0, "gate_passed", 0),
        (1e-9, 0.0, "gate_failed", 1),
    ],
)
def test_the_gate_fails_above_it_only(score: float, gate: float, status: str, code: int) -> None:
    judged = judge([group(-score)], fail_above=gate)
    assert (judged.status, judged.exit_code) == (status, code)
    assert f"{gate:g}" in judged.sentences[0]


def test_an_undecided_group_does_not_fail_the_gate() -> None:
    groups = [group(-0.1), group(-0.4, rank=2, decided=False, exact=False, margin=0.2)]
    judged = judge(groups, fail_above=0.2, undecided=1)
    assert (judged.status, judged.exit_code) == ("gate_passed", 0)
    assert "1 frequent group" in words(judged)


def test_no_decided_group_is_not_enough_evidence_whatever_the_gate() -> None:
    for gate in (None, 0.0, 1.0):
        judged = judge([group(0.4, decided=False, margin=0.3, exact=False)], fail_above=gate)
        assert (judged.status, judged.exit_code) == ("not_enough_evidence", 3)
        assert "5,000 queries" in words(judged)
        assert "1,000" in words(judged)


def test_no_group_at_all_says_what_would_help() -> None:
    judged = judge([], theta=0.25)
    assert (judged.status, judged.exit_code) == ("not_enough_evidence", 3)
    assert "25" in words(judged)
    assert "theta" in words(judged)


def test_the_population_interval_is_told_with_its_numbers() -> None:
    judged = judge([group(-0.234, interval=(-0.301, -0.167))])
    for number in ("300", "700", "30.1", "16.7"):
        assert number in words(judged)
    assert "No difference at all" not in words(judged)


@pytest.mark.parametrize("interval", [(-0.1, 0.02), (0.0, 0.1), (-0.1, 0.0)])
def test_an_interval_that_holds_zero_says_so(interval: tuple[float, float]) -> None:
    assert "No difference at all" in words(judge([group(0.01, interval=interval)]))


def test_few_rows_outside_are_pointed_out_with_a_balanced_group() -> None:
    lopsided = group(0.3, n_in=980, n_out=20, support=0.98, text="age >= 20")
    balanced = group(-0.12, rank=2)
    told = words(judge([lopsided, balanced]))
    assert "20 rows" in told
    assert "12.0 points less" in told
    assert "gender = female" in told
    assert "20 rows" not in words(judge([group(0.3, n_in=950, n_out=50)]))


def test_groups_that_could_not_be_judged_are_counted() -> None:
    told = words(judge([group(0.1)], undecided=1234, small=27))
    assert "1,234 frequent groups" in told
    assert "27 combinations" in told
    assert "does not make them fair" in told


@pytest.mark.parametrize(("rate", "who"), [(0.0, "nobody"), (1.0, "everybody")])
def test_a_model_that_always_answers_the_same_is_pointed_out(rate: float, who: str) -> None:
    constant = group(0.0, rate_in=rate, rate_out=rate)
    assert f"“yes” to {who}" in words(judge([constant]))
    assert "check that this is the label" not in words(judge([group(0.0)]))

"""The verdict: its status and exit code, and that its words carry the right numbers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from testsgd.auditing import AuditParameters, GroupSummary, Verdict
from testsgd.auditing.report.gate import GateMeasure, gate_outcome
from testsgd.auditing.report.summary import (
    AuditSummary,
    Charts,
    Counts,
    DataSummary,
    GuaranteeSummary,
    LabelSummary,
    ModelSummary,
    UnjudgedSummary,
)
from testsgd.auditing.report.verdict import verdict
from testsgd.auditing.report.wording import disagree
from testsgd.report.formatting import MINUS

UNJUDGED = UnjudgedSummary(fewest=50, combinations=40, unjudged=0, rows=0, share=0)
EACH = GuaranteeSummary(
    kind="per-group",
    confidence=0.95,
    method="each",
    groups=1,
    replicates=0,
    significant=1,
    significant_complete=True,
    largest_bound_rank=None,
)


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
        "confidence_interval": (difference - 0.07, difference + 0.06),
        "exact": True,
        "samples_in": 3000,
        "samples_out": 7000,
        "decided": True,
        "distinct": True,
    }
    return GroupSummary.model_validate(fields | changes)


def verdict_of(
    *,
    measures: Sequence[GateMeasure] = (),
    kind: str = "rows",
    accuracy: float | None = None,
    outcome: str = "benefit",
    **parts: Any,
) -> Verdict:
    """The verdict on an audit of which no more is known than these parts."""
    label = LabelSummary(column="", favourable="yes", meaning="", outcome=outcome)
    data = DataSummary.model_construct(kind=kind, label=label, features=[])
    model = ModelSummary.model_construct(output="labels", threshold=None, accuracy=accuracy)
    charts = Charts(scatter=[], scatter_binned=False, features=[], heat_maps=[])
    known: dict[str, Any] = {
        "terms": None,
        "overall_rate": 0.5,
        "mode": "sampled",
        "model": model,
        "charts": charts,
        **parts,
    }
    known["parameters"] = replace(known["parameters"], max_features=3)
    return verdict(AuditSummary.model_construct(data=data, **known), measures)


def judge(
    groups: list[GroupSummary],
    *,
    fail_above: float | None = None,
    undecided: int = 0,
    found: int | None = None,
    unjudged: UnjudgedSummary | None = None,
    measures: list[GateMeasure] | None = None,
    outcome: str = "benefit",
    **asked: Any,
) -> Verdict:
    decided = [item.score for item in groups if item.decided]
    largest = max(decided, default=None)
    return verdict_of(
        groups=groups,
        counts=Counts(
            candidates=50,
            frequent=20,
            groups=len(groups) if found is None else found,
            decided=len(decided),
            undecided_frequent=undecided,
            undecided_small=0,
        ),
        parameters=AuditParameters(
            theta=0.05,
            sampling="pooled",
            max_queries=5000,
            fail_above=fail_above,
            **asked,
        ),
        measures=[GateMeasure("difference", largest, None)] if measures is None else measures,
        guarantee=EACH,
        unjudged=unjudged or UNJUDGED,
        outcome=outcome,
    )


def unknown(rows: int, *, fewest: int = 50, of: int = 1000) -> UnjudgedSummary:
    """Some of 1,000 people are only in 3 of 40 combinations, which could not be judged."""
    return UnjudgedSummary(
        fewest=fewest, combinations=40, unjudged=3, rows=rows, share=rows / of, max_dilution=10
    )


def words(judged: Verdict) -> str:
    return " ".join([judged.headline, *judged.sentences])


def test_the_headline_says_of_how_many_rows_and_within_which_margin_rates_are_estimated() -> None:
    drawn = {"exact": False, "samples_in": 123, "samples_out": 234, "margin": 0.0785}
    headline = judge([group(-0.3, **drawn)], estimand="observed").headline
    assert {"357", "1,000", "7.8"} <= set(re.findall(r"[\d,.]+\d", headline))
    # All rows were asked about, and samples of neighbours are none of the rows.
    complete = judge([group(-0.3, margin=0.0785)], estimand="observed").headline
    neighbours = judge([group(-0.3, **drawn)], estimand="neighbourhood").headline
    for other in (complete, neighbours):
        assert "7.8" not in other


# More than 100 samples a side and a margin of at most 0.05 are asked for.
@pytest.mark.parametrize(
    ("samples", "margin", "advised"),
    [
        (101, 0.06, {"--error-margin"}),
        (100, 0.04, {"--min-samples"}),
        (100, 0.06, {"--min-samples", "--error-margin"}),
    ],
)
def test_what_keeps_groups_from_being_judged_is_advised_to_be_changed(
    samples: int, margin: float, advised: set[str]
) -> None:
    undecided = group(-0.3, decided=False, exact=False, samples_in=samples, margin=margin)
    judged = judge([undecided], min_samples=100, error_margin=0.05)
    assert set(re.findall(r"--[a-z-]+", judged.sentences[1])) == advised


# Expected by the rule: 10 points lie outside of the interval and may not be by chance.
@pytest.mark.parametrize(
    ("margin", "other_margin", "differ"),
    [
        (0.0, 0.0, True),
        (0.0, None, True),
        (0.0, 0.099, True),
        (0.06, 0.03, True),
        (0.06, 0.05, False),
        (0.0, 0.11, False),
        (0.11, 0.0, False),
    ],
)
def test_estimands_disagree_only_beyond_their_sampling_margins(
    margin: float, other_margin: float | None, differ: bool
) -> None:
    other = {
        "estimand": "neighbourhood",
        "rate_in": 0.3,
        "rate_out": 0.5,
        "difference": -0.2,
        "confidence_interval": (-0.3, -0.1),
        "margin": other_margin,
        "decided": True,
        "lower_confidence_bound": 0.1,
    }
    assert disagree(group(-0.3, margin=margin, other=other)) is differ


@pytest.mark.parametrize("outcome", ["benefit", "harm", "neither"])
@pytest.mark.parametrize("difference", [-0.234, 0.107])
def test_the_headline_begins_with_those_who_are_worse_off(difference: float, outcome: str) -> None:
    headline = judge([group(difference)], outcome=outcome).headline
    for part in ("“yes”", f"{50 + 100 * difference:.1f}%", "50.0%"):
        assert part in headline
    women_lose = {"benefit": difference < 0, "harm": difference > 0, "neither": True}[outcome]
    assert headline.lower().startswith("women") == women_lose
    first_rate = difference if women_lose else -difference
    assert f"{abs(100 * difference):.1f} points {'more' if first_rate > 0 else 'less'}" in headline


@pytest.mark.parametrize("difference", [-0.3, 0.3])
def test_the_headline_has_base_rates_in_the_order_of_the_rates(difference: float) -> None:
    rule = {"feature": "gender", "values": ["female"], "text": "gender = female"}
    based = {"base_rate_in": 0.431, "base_rate_out": 0.282}
    headline = judge([group(difference, **based)]).headline
    places = [headline.index(f"{rate}%") for rate in (f"{50 + 100 * difference:.1f}", "43.1")]
    other = [headline.index(f"{rate}%") for rate in ("50.0", "28.2")]
    assert (places < other) == (difference < 0)
    assert max(places[0], other[0]) < min(places[1], other[1])
    town = {"feature": "town", "values": ["x" * 60, "y" * 60], "text": "town"}
    long = judge([group(difference, rules=[rule, town], **based)]).headline
    assert "43.1" not in long
    assert "43.1" not in judge([group(difference)]).headline


def test_without_a_gate_the_difference_is_reported() -> None:
    judged = judge([group(0.9, confidence_interval=(0.8, 0.95), rate_in=1.0, rate_out=0.1)])
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
    assert "1 group has too few rows" in words(judged)


def test_no_decided_group_is_not_enough_evidence_whatever_the_gate() -> None:
    for gate in (None, 0.0, 1.0):
        judged = judge([group(0.4, decided=False, margin=0.3, exact=False)], fail_above=gate)
        assert (judged.status, judged.exit_code) == ("not_enough_evidence", 3)
        assert "5,000 queries" in words(judged)
        assert "1,000" in words(judged)


def test_no_group_at_all_says_what_would_help() -> None:
    judged = judge([], unjudged=unknown(1000, fewest=250))
    assert (judged.status, judged.exit_code) == ("not_enough_evidence", 3)
    assert "250 rows" in words(judged)
    # What is to be lowered is what says how many rows a group has at least.
    assert "theta" in words(judged)
    assert "min_rows" not in words(judged)
    judged = judge([], unjudged=unknown(1000, fewest=250), min_rows=250)
    assert "min_rows" in words(judged)
    assert "theta" not in words(judged)


def test_the_confidence_interval_is_told_with_its_numbers() -> None:
    judged = judge([group(-0.234, confidence_interval=(-0.301, -0.167))])
    for number in ("300", "700", "30.1", "16.7"):
        assert number in words(judged)
    assert "includes zero" not in words(judged)


@pytest.mark.parametrize(
    ("difference", "outcome", "ends", "size"),
    [
        (-0.3, "benefit", ("-34.0", "-27.0"), "30.0 points less"),
        (0.3, "benefit", ("+26.0", "+33.0"), "30.0 points less"),
        (-0.3, "harm", ("-34.0", "-27.0"), "30.0 points more"),
        (0.3, "harm", ("+26.0", "+33.0"), "30.0 points more"),
        (-0.3, "neither", ("-34.0", "-27.0"), "30.0 points less"),
    ],
)
def test_the_interval_has_the_sign_of_the_group(
    difference: float, outcome: str, ends: tuple[str, str], size: str
) -> None:
    known = (difference - 0.04, difference + 0.03)
    judged = judge([group(difference, confidence_interval=known)], outcome=outcome)
    assert size in judged.headline
    [sentence] = [text for text in judged.sentences if "confidence interval" in text]
    assert re.findall(r"[-+][0-9.]+", sentence.replace(MINUS, "-")) == list(ends)


@pytest.mark.parametrize("interval", [(-0.1, 0.02), (0.0, 0.1), (-0.1, 0.0)])
def test_an_interval_that_holds_zero_says_so(interval: tuple[float, float]) -> None:
    assert "includes zero" in words(judge([group(0.01, confidence_interval=interval)]))


def test_who_could_not_be_judged_is_counted() -> None:
    told = words(judge([group(0.1)], undecided=1234, unjudged=unknown(27)))
    for part in ("1,234 groups", "Of 40 combinations", "10 times", "27 rows (2.7%)"):
        assert part in told
    assert "does not make the model fair" in told
    all_known = UnjudgedSummary(fewest=50, combinations=40, unjudged=0, rows=0, share=0)
    assert "could not be judged" not in words(judge([group(0.1)], unjudged=all_known))


def test_a_gate_that_passes_says_for_whom() -> None:
    judged = judge([group(0.1)], fail_above=0.2, unjudged=unknown(27, fewest=73))
    assert judged.status == "gate_passed"
    assert "every group of at least 73 rows" in judged.sentences[0]


@pytest.mark.parametrize("rows", [0, 10, 11, 500])
@pytest.mark.parametrize("limit", [0.0, 0.01, 0.6])
@pytest.mark.parametrize(("gate", "score"), [(None, 0.1), (0.2, 0.1), (0.2, 0.3)])
@pytest.mark.parametrize("strict", [False, True])
def test_strictness(
    rows: int, limit: float, gate: float | None, score: float, strict: bool
) -> None:
    judged = judge(
        [group(score)],
        fail_above=gate,
        unjudged=unknown(rows),
        strict=strict,
        max_unjudged=limit,
    )
    failed = gate is not None and score > gate
    too_many = strict and rows > 1000 * limit
    expected = 1 if failed else 3 if too_many else 0
    assert judged.exit_code == expected
    status = {
        1: "gate_failed",
        3: "not_enough_evidence",
        0: "reported" if gate is None else "gate_passed",
    }
    assert judged.status == status[expected]
    assert ("Not enough evidence" in words(judged)) == too_many


def test_without_a_judged_group_the_other_estimand_can_still_fail_the_gate() -> None:
    undecided = [group(0.4, decided=False, margin=0.3, exact=False)]
    for size, code in ((0.3, 1), (0.1, 3)):
        measures = [GateMeasure("one", None, 0.0), GateMeasure("other", 0.35, size)]
        judged = judge(undecided, fail_above=0.2, measures=measures)
        assert judged.exit_code == code
    assert judge(undecided, measures=measures).exit_code == 3


def test_the_gate_over_two_measures_against_its_definition() -> None:
    gate = 0.2
    sizes = (None, 0.0, 0.2, 0.21, 0.5)
    options = [
        GateMeasure("size", largest, sure)
        for largest in sizes
        for sure in sizes
        if sure is None or (largest is not None and sure <= largest)
    ]
    seen = set()
    for first, second in itertools.product(options, repeat=2):
        both = [first, second]
        # What each alone comes to: a size that is sure fails, one that is small enough passes.
        alone = []
        for measure in both:
            if measure.largest is None:
                alone.append("unknown")
            elif measure.largest <= gate:
                alone.append("passed")
            elif measure.bound is None or measure.bound > gate:
                alone.append("failed")
            else:
                alone.append("unknown")
        expected = (
            "gate_failed"
            if "failed" in alone
            else "gate_passed"
            if alone == ["passed", "passed"]
            else "not_enough_evidence"
        )
        assert gate_outcome(both, gate) == expected
        judged = judge([group(0.1)], fail_above=gate, measures=both)
        assert judged.status == expected
        assert judged.exit_code == {"gate_failed": 1, "gate_passed": 0}.get(expected, 3)
        seen.add(expected)
    assert len(seen) == 3
    # Nothing to look at is no evidence.
    assert gate_outcome([], gate) == "not_enough_evidence"


@pytest.mark.parametrize(("rate", "who"), [(0.0, "nobody"), (1.0, "everybody")])
def test_a_model_that_always_answers_the_same_is_pointed_out(rate: float, who: str) -> None:
    constant = group(0.0, rate_in=rate, rate_out=rate)
    assert f"“yes” to {who}" in words(judge([constant]))
    assert "check that this is the label" not in words(judge([group(0.0)]))

"""The verdict with a guarantee: what the gate goes by, and what the sentences claim."""

from __future__ import annotations

from typing import Any

import pytest
from test_verdict import group, verdict_of

from testsgd.auditing import AuditParameters, GroupSummary, Verdict
from testsgd.auditing.findings import Holdout
from testsgd.auditing.report.gate import GateMeasure
from testsgd.auditing.report.summary import (
    Counts,
    GuaranteeSummary,
    UnjudgedSummary,
)
from testsgd.auditing.report.vocabulary import words_for

UNJUDGED = UnjudgedSummary(fewest=50, combinations=4, unjudged=0, rows=0, share=0)
METHODS = {"simultaneous": "max-statistic", "fdr": "false-coverage", "per-group": "each"}


COUNTS = Counts(
    candidates=4012,
    frequent=4012,
    groups=4012,
    decided=4012,
    undecided_frequent=0,
    undecided_small=0,
)


def parameters(**chosen: Any) -> AuditParameters:
    asked = {"theta": 0.05, "sampling": "pooled", "max_queries": 5000} | chosen
    return AuditParameters(**asked)


def guarantee(kind: str = "simultaneous", **changes: Any) -> GuaranteeSummary:
    fields: dict[str, Any] = {
        "kind": kind,
        "confidence": 0.95,
        "method": METHODS[kind],
        "groups": 1 if kind == "per-group" else 4012,
        "replicates": 1000,
        "critical_value": 3.7,
        "significant": 1203,
        "significant_complete": True,
        "largest_bound_rank": 1,
    }
    return GuaranteeSummary.model_validate(fields | changes)


def judge(
    groups: list[GroupSummary],
    promised: GuaranteeSummary,
    *,
    bound: float | None = None,
    fail_above: float | None = None,
    rank_by: str = "score",
    estimand: str = "neighbourhood",
    unjudged: UnjudgedSummary = UNJUDGED,
    **more: Any,
) -> Verdict:
    return verdict_of(
        groups=groups,
        counts=COUNTS,
        parameters=parameters(fail_above=fail_above, rank_by=rank_by, estimand=estimand),
        guarantee=promised,
        unjudged=unjudged,
        measures=[GateMeasure("difference", max(item.score for item in groups), bound)],
        **more,
    )


def told(judged: Verdict) -> str:
    return " ".join([judged.headline, *judged.sentences])


# Expected by the rule: a bound above the gate fails, a score not above it passes, else unknown.
@pytest.mark.parametrize(
    ("kind", "score", "bound", "gate", "code"),
    [
        ("simultaneous", 0.3, 0.21, 0.2, 1),
        ("simultaneous", 0.3, 0.2, 0.2, 3),
        ("simultaneous", 0.3, 0.0, 0.2, 3),
        ("simultaneous", 0.2, 0.1, 0.2, 0),
        ("simultaneous", 0.1, 0.0, 0.2, 0),
        ("simultaneous", 0.0, 0.0, 0.0, 0),
        ("fdr", 0.3, 0.3, 0.2, 1),
        ("fdr", 0.3, 0.15, 0.2, 3),
        ("fdr", 0.3, 0.0, 0.2, 3),
        ("fdr", 0.2, 0.2, 0.2, 0),
        ("per-group", 0.3, None, 0.2, 1),
        ("per-group", 0.2, None, 0.2, 0),
    ],
)
def test_the_gate(kind: str, score: float, bound: float | None, gate: float, code: int) -> None:
    judged = judge([group(-score)], guarantee(kind), bound=bound, fail_above=gate)
    assert judged.exit_code == code
    assert judged.status == {0: "gate_passed", 1: "gate_failed", 3: "not_enough_evidence"}[code]
    assert f"{gate:g}" in judged.sentences[0]
    opening = {0: "The gate passed", 1: "The gate failed", 3: "Not enough evidence"}[code]
    assert judged.sentences[0].startswith(opening)


def test_the_gate_names_what_it_went_by() -> None:
    failed = judge([group(-0.3)], guarantee(), bound=0.2468, fail_above=0.2)
    assert "lower confidence bound is 0.247" in failed.sentences[0]
    unknown = judge([group(-0.3)], guarantee(), bound=0.123, fail_above=0.2)
    assert "0.300" in unknown.sentences[0]
    assert "0.123" in unknown.sentences[0]
    nothing = judge([group(-0.3)], guarantee(), bound=0.0, fail_above=0.2)
    assert "no lower confidence bound is above zero" in nothing.sentences[0]
    found = judge([group(-0.3)], guarantee("fdr"), bound=0.25, fail_above=0.2)
    assert "discovery is 0.250" in found.sentences[0]
    none = judge([group(-0.3)], guarantee("fdr"), bound=0.0, fail_above=0.2)
    assert "no discovery" in none.sentences[0]


def test_the_gate_names_the_estimand_that_decided() -> None:
    def gate(*measures: GateMeasure) -> str:
        judged = verdict_of(
            groups=[group(-0.1)],
            counts=COUNTS,
            parameters=parameters(fail_above=0.2),
            guarantee=guarantee(),
            unjudged=UNJUDGED,
            measures=measures,
        )
        return judged.sentences[0]

    near, far = GateMeasure("near", 0.1, 0.05), GateMeasure("far", 0.9, 0.654)
    failed = gate(near, far)
    assert "0.654 (far)" in failed
    assert "near" not in failed
    both = gate(GateMeasure("near", 0.7, 0.5), far)
    assert "0.500 (near)" in both
    assert "0.654 (far)" in both
    unclear = gate(near, GateMeasure("far", 0.9, 0.111))
    for part in ("far", "0.900", "0.111"):
        assert part in unclear
    passed = gate(near, GateMeasure("far", 0.2, 0.1))
    assert "0.100 (near)" in passed
    assert "0.200 (far)" in passed
    assert "far" in gate(near, GateMeasure("far", None, None))


@pytest.mark.parametrize("kind", ["simultaneous", "fdr"])
def test_the_headline_does_not_speak_of_a_difference_where_none_is_significant(kind: str) -> None:
    group_of = {
        "simultaneous": {"lower_confidence_bound": 0.0},
        "fdr": {"lower_confidence_bound": 0.0, "q_value": 0.3},
    }
    least = UnjudgedSummary(fewest=73, combinations=4, unjudged=0, rows=0, share=0)
    none = judge(
        [group(-0.3, **group_of[kind])],
        guarantee(kind, significant=0, largest_bound_rank=None),
        unjudged=least,
    ).headline
    assert "o group of at least 73 rows has a statistically significant" in none
    # The numbers are told as those of the first in the ranking, behind that.
    assert none.index("o group of") < none.index("30.0 points less often")
    some = judge(
        [group(-0.3, **group_of[kind])], guarantee(kind, significant=2, largest_bound_rank=2)
    ).headline
    assert "o group of" not in some
    assert "not statistically significant" in some
    sure = {
        "simultaneous": {"lower_confidence_bound": 0.1},
        "fdr": {"lower_confidence_bound": 0.0, "q_value": 0.01},
    }
    clear = judge([group(-0.3, **sure[kind])], guarantee(kind)).headline
    assert "significant" not in clear


@pytest.mark.parametrize("kind", ["simultaneous", "fdr"])
def test_a_difference_that_may_be_chance_is_of_the_group_and_has_its_sign(kind: str) -> None:
    known = (-0.1, 0.26)
    trusted = {"lower_confidence_bound": 0.0, "q_value": 0.3, "confidence_interval": known}
    promised = guarantee(kind, significant=0, largest_bound_rank=None)
    judged = judge([group(0.08, **trusted)], promised)
    # With a benefit those with the lower rate, the others, would be called worse off.
    assert "chance" in judged.headline
    assert "8.0 points more often" in judged.headline
    assert "less often" not in judged.headline
    [ends] = [text for text in judged.sentences if "includes zero" in text]
    assert "+26.0" in ends


def test_per_group_headlines_take_differences_as_they_are() -> None:
    headline = judge(
        [group(-0.3, lower_confidence_bound=0.0)], guarantee("per-group", significant=0)
    ).headline
    assert "significant" not in headline


@pytest.mark.parametrize("estimand", ["observed", "neighbourhood"])
def test_the_headline_says_which_estimand(estimand: str) -> None:
    judged = judge([group(-0.3)], guarantee("per-group"), estimand=estimand)
    assert words_for("rows").estimands[estimand].lower() in judged.headline


def test_all_intervals_hold_at_once() -> None:
    words = told(judge([group(-0.3)], guarantee()))
    assert "Of 4,012 groups, 1,203 have a statistically significant difference" in words
    assert "simultaneous 95% confidence interval" in words
    assert "family-wise error rate at most 5%" in words
    assert "overestimated" not in words


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        (
            {"significant": 0, "largest_bound_rank": None},
            "Of 4,012 groups, none have a statistically significant difference (",
        ),
        ({"significant": 1}, "Of 4,012 groups, 1 has a statistically"),
        ({"significant": 4012}, "Of 4,012 groups, all have a statistically"),
        ({"significant_complete": False}, "at least 1,203 have a statistically"),
    ],
)
def test_how_many_differ(changes: dict[str, Any], part: str) -> None:
    assert part in told(judge([group(-0.3)], guarantee(**changes)))


def test_one_group_at_a_time_is_called_that() -> None:
    words = told(judge([group(-0.3)], guarantee("per-group"), fail_above=0.2))
    assert "for this group by itself" in words
    assert "first of 4,012" in words
    assert "overestimated" in words
    assert "no correction for multiple comparisons; about 5% would" in words
    assert "simultaneous" not in words


def test_the_false_discovery_rate_is_named() -> None:
    words = told(judge([group(-0.3, q_value=0.01)], guarantee("fdr"), bound=0.3))
    assert "1,203 have a statistically significant difference" in words
    assert "false discovery rate at most 5%" in words
    none = told(judge([group(-0.3)], guarantee("fdr", significant=0), bound=0.0))
    assert "none have a statistically significant difference" in none


def test_the_group_of_the_largest_lower_bound_is_named_if_it_is_not_the_first() -> None:
    first = group(-0.3, confidence_interval=(-0.5, -0.1), lower_confidence_bound=0.1)
    second = group(
        0.28,
        rank=2,
        text="age >= 60",
        confidence_interval=(0.241, 0.31),
        lower_confidence_bound=0.241,
    )
    words = told(judge([first, second], guarantee(largest_bound_rank=2)))
    claim = "largest lower confidence bound"
    assert f"{claim} is that for age >= 60: 24.1 points more often." in words
    assert claim not in told(judge([first, second], guarantee(largest_bound_rank=1)))


def test_a_single_group_needs_no_guarantee() -> None:
    promised = guarantee(groups=1, significant=1)
    judged = verdict_of(
        groups=[group(-0.3)],
        counts=Counts(
            candidates=1, frequent=1, groups=1, decided=1, undecided_frequent=0, undecided_small=0
        ),
        parameters=parameters(),
        guarantee=promised,
        unjudged=UNJUDGED,
    )
    assert "family-wise" not in told(judged)


def test_held_out_rows_are_told_of() -> None:
    searched = {"rank": 4, "score": 0.345, "n_in": 290}
    holdout = Holdout(share=0.5, searched=500, estimated=501, groups=77, missing=0)
    words = told(judge([group(-0.3, in_search=searched)], guarantee(), holdout=holdout))
    for part in ("77 groups", "500 rows", "501 held-out", "rank 4", "34.5 points"):
        assert part in words


@pytest.mark.parametrize(("stability", "remark"), [(0.3, True), (0.5, False), (None, False)])
def test_a_first_group_that_seldom_comes_back(stability: float | None, remark: bool) -> None:
    judged = judge([group(-0.3, stability=stability)], guarantee(), stability_samples=200)
    assert ("60 of 200 samples" in told(judged)) == remark


COMPARED = {
    "seeds": 90,
    "rate_with": 0.2,
    "rate_other": 0.5,
    "difference": -0.3,
    "confidence_interval": (-0.4, -0.2),
}


@pytest.mark.parametrize(
    ("kind", "claim"),
    [
        ("simultaneous", "Bonferroni; family-wise error rate at most 5%"),
        ("fdr", "for this group by itself"),
        ("per-group", "for this group by itself"),
    ],
)
def test_what_the_interval_of_a_counterfactual_effect_holds_for(kind: str, claim: str) -> None:
    first = group(-0.3, counterfactual=COMPARED)
    second = group(0.28, rank=2, confidence_interval=(0.241, 0.31), lower_confidence_bound=0.241)
    promised = guarantee(kind, largest_bound_rank=2, significant_terms=7)
    judged = judge([first, second], promised, rank_by="counterfactual", kind="texts")
    assert claim in told(judged)
    assert "from other texts" in told(judged)
    # Lower bounds are of the difference from other texts, which groups are not ranked by here.
    assert "lower confidence bound" not in told(judged)


@pytest.mark.parametrize(
    ("allowed", "strict", "code"),
    [(0.15, False, 0), (0.15, True, 0), (0.35, False, 0), (0.35, True, 3), (None, True, 0)],
)
def test_a_strict_gate_passes_only_if_no_interval_allows_more(
    allowed: float | None, strict: bool, code: int
) -> None:
    judged = verdict_of(
        groups=[group(-0.1)],
        counts=COUNTS,
        parameters=parameters(fail_above=0.2, strict=strict),
        guarantee=guarantee(),
        unjudged=UNJUDGED,
        measures=[GateMeasure("difference", 0.1, 0.0, allowed)],
    )
    assert judged.exit_code == code
    # What the intervals leave open is said, whatever becomes of the gate.
    assert (f"{allowed}" in judged.sentences[0]) == ((allowed or 0.0) > 0.2)


@pytest.mark.parametrize(("rate", "is_said"), [(0.15, True), (0.5, False), (None, False)])
def test_a_limit_that_a_rare_label_cannot_exceed_is_said(rate: float | None, is_said: bool) -> None:
    judged = verdict_of(
        groups=[group(-0.1)],
        counts=COUNTS,
        parameters=parameters(fail_above=0.2),
        guarantee=guarantee(),
        unjudged=UNJUDGED,
        overall_rate=rate,
        measures=[GateMeasure("difference", 0.1, 0.0)],
    )
    assert ("--fail-below-ratio" in judged.sentences[0]) == is_said


@pytest.mark.parametrize(("accuracy", "is_said"), [(0.02, True), (0.6, False), (None, False)])
def test_a_model_that_says_the_opposite_of_the_labels_is_asked_about(
    accuracy: float | None, is_said: bool
) -> None:
    judged = verdict_of(
        groups=[group(-0.1)],
        counts=COUNTS,
        parameters=parameters(),
        guarantee=guarantee(),
        unjudged=UNJUDGED,
        accuracy=accuracy,
    )
    assert ("2.0%" in told(judged)) == is_said

"""The verdict with a guarantee: what the gate goes by, and what the sentences claim."""

from __future__ import annotations

from typing import Any

import pytest
from test_verdict import group

from testsgd.auditing import GroupSummary, Verdict
from testsgd.auditing.report.summary import (
    Counts,
    GuaranteeSummary,
    HoldoutSummary,
    Parameters,
    UnjudgedSummary,
)
from testsgd.auditing.report.verdict import Evidence, GateMeasure, verdict
from testsgd.auditing.report.vocabulary import words_for

METHODS = {"simultaneous": "max-statistic", "fdr": "false-coverage", "per-group": "each"}


COUNTS = Counts(
    candidates=4012,
    frequent=4012,
    groups=4012,
    decided=4012,
    undecided_frequent=0,
    undecided_small=0,
)


def parameters(**chosen: Any) -> Parameters:
    fields: dict[str, Any] = {
        "theta": 0.05,
        "error_margin": 0.05,
        "min_samples": 1000,
        "confidence": 0.95,
        "mode": "auto",
        "sampling": "pooled",
        "max_queries": 5000,
        "max_features": 3,
        "bins": None,
        "top": 100,
        "seed": 0,
        "overlap": 0.8,
    }
    return Parameters.model_validate(fields | chosen)


def guarantee(kind: str = "simultaneous", **changes: Any) -> GuaranteeSummary:
    fields: dict[str, Any] = {
        "kind": kind,
        "confidence": 0.95,
        "method": METHODS[kind],
        "groups": 1 if kind == "per-group" else 4012,
        "replicates": 1000,
        "critical": 3.7,
        "sure": 1203,
        "sure_complete": True,
        "surest_rank": 1,
    }
    return GuaranteeSummary.model_validate(fields | changes)


def judge(
    groups: list[GroupSummary],
    promised: GuaranteeSummary | None,
    *,
    sure_size: float | None = None,
    fail_above: float | None = None,
    rank_by: str = "score",
    estimand: str = "neighbourhood",
    **more: Any,
) -> Verdict:
    return verdict(
        Evidence(
            groups=groups,
            top_score=max(item.score for item in groups),
            counts=COUNTS,
            label="yes",
            parameters=parameters(fail_above=fail_above, rank_by=rank_by, estimand=estimand),
            guarantee=promised,
            measures=[GateMeasure("difference", max(item.score for item in groups), sure_size)],
            **more,
        )
    )


def told(judged: Verdict) -> str:
    return " ".join([judged.headline, *judged.sentences])


# Expected by the rule: assured above the gate fails, a score not above it passes, else unknown.
@pytest.mark.parametrize(
    ("kind", "score", "sure", "gate", "code"),
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
def test_the_gate(kind: str, score: float, sure: float | None, gate: float, code: int) -> None:
    judged = judge([group(-score)], guarantee(kind), sure_size=sure, fail_above=gate)
    assert judged.exit_code == code
    assert judged.status == {0: "gate_passed", 1: "gate_failed", 3: "not_enough_evidence"}[code]
    assert f"{gate:g}" in judged.sentences[0]
    opening = {0: "The gate passed", 1: "The gate failed", 3: "Not enough evidence"}[code]
    assert judged.sentences[0].startswith(opening)


def test_the_gate_names_what_it_went_by() -> None:
    failed = judge([group(-0.3)], guarantee(), sure_size=0.2468, fail_above=0.2)
    assert "at least 0.247" in failed.sentences[0]
    assert "assured" in failed.sentences[0]
    unknown = judge([group(-0.3)], guarantee(), sure_size=0.123, fail_above=0.2)
    assert "0.300" in unknown.sentences[0]
    assert "0.123" in unknown.sentences[0]
    nothing = judge([group(-0.3)], guarantee(), sure_size=0.0, fail_above=0.2)
    assert "nothing of it is assured" in nothing.sentences[0]
    found = judge([group(-0.3)], guarantee("fdr"), sure_size=0.25, fail_above=0.2)
    assert "among the groups found is 0.250" in found.sentences[0]
    none = judge([group(-0.3)], guarantee("fdr"), sure_size=0.0, fail_above=0.2)
    assert "none is found" in none.sentences[0]


def test_the_gate_names_the_estimand_that_decided() -> None:
    def gate(*measures: GateMeasure) -> str:
        judged = verdict(
            Evidence(
                groups=[group(-0.1)],
                top_score=0.1,
                counts=COUNTS,
                label="yes",
                parameters=parameters(fail_above=0.2),
                guarantee=guarantee(),
                measures=measures,
            )
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
def test_the_headline_does_not_speak_of_a_difference_where_chance_explains_all(kind: str) -> None:
    group_of = {"simultaneous": {"assured": 0.0}, "fdr": {"assured": 0.0, "q_value": 0.3}}
    least = UnjudgedSummary(fewest=73, combinations=4, unjudged=0, rows=0, share=0)
    none = judge(
        [group(-0.3, **group_of[kind])], guarantee(kind, sure=0, surest_rank=None), unjudged=least
    ).headline
    assert "no group of at least 73 rows differs by more than chance explains" in none
    # The numbers are told as those of the first in the ranking, behind that.
    assert none.index("no group") < none.index("30.0 points less often")
    some = judge([group(-0.3, **group_of[kind])], guarantee(kind, sure=2, surest_rank=2)).headline
    assert "no group" not in some
    assert "which chance may explain" in some
    sure = {"simultaneous": {"assured": 0.1}, "fdr": {"assured": 0.0, "q_value": 0.01}}
    clear = judge([group(-0.3, **sure[kind])], guarantee(kind)).headline
    assert "chance" not in clear


def test_per_group_headlines_take_differences_as_they_are() -> None:
    headline = judge([group(-0.3, assured=0.0)], guarantee("per-group", sure=0)).headline
    assert "chance" not in headline


@pytest.mark.parametrize("estimand", ["observed", "neighbourhood"])
def test_the_headline_says_which_estimand(estimand: str) -> None:
    judged = judge([group(-0.3)], guarantee("per-group"), estimand=estimand)
    assert judged.headline.startswith(f"{words_for('rows').estimands[estimand]}, ")


def test_all_intervals_hold_at_once() -> None:
    words = told(judge([group(-0.3)], guarantee()))
    assert "Of 4,012 groups, 1,203 differ by more than chance explains; with a confidence" in words
    assert "confidence of 95%" in words
    assert "4,012 hold at once" in words
    assert "luck" not in words


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        (
            {"sure": 0, "surest_rank": None},
            "Of 4,012 groups, none differs by more than chance explains;",
        ),
        ({"sure": 1}, "Of 4,012 groups, 1 differs by more than chance explains;"),
        ({"sure": 4012}, "All 4,012 groups differ by more than chance explains;"),
        ({"sure_complete": False}, "at least 1,203 differ by more than chance explains;"),
    ],
)
def test_how_many_differ(changes: dict[str, Any], part: str) -> None:
    assert part in told(judge([group(-0.3)], guarantee(**changes)))


def test_one_group_at_a_time_is_called_that() -> None:
    words = told(judge([group(-0.3)], guarantee("per-group"), fail_above=0.2))
    assert "meant for this one group" in words
    assert "4,012" in words
    assert "bad by luck" in words
    assert "if each is taken by itself; if there were no differences, about 5% would" in words
    assert "assured" not in words


def test_false_finds_are_limited() -> None:
    words = told(judge([group(-0.3, q_value=0.01)], guarantee("fdr"), sure_size=0.3))
    assert "1,203 differ; of these finds, and of their intervals, at most 5% are" in words
    assert "chance" not in words
    none = told(judge([group(-0.3)], guarantee("fdr", sure=0), sure_size=0.0))
    assert "none differs clearly enough to count as found" in none


def test_the_group_of_which_most_is_assured_is_named_if_it_is_not_the_first() -> None:
    first = group(-0.3, interval=(-0.5, -0.1), assured=0.1)
    second = group(0.28, rank=2, text="age >= 60", interval=(0.241, 0.31), assured=0.241)
    words = told(judge([first, second], guarantee(surest_rank=2)))
    claim = "largest difference that chance does not explain"
    assert f"{claim} is that for age >= 60: at least 24.1 points more often." in words
    assert claim not in told(judge([first, second], guarantee(surest_rank=1)))


def test_a_single_group_needs_no_guarantee() -> None:
    promised = guarantee(groups=1, sure=1)
    judged = verdict(Evidence(
        groups=[group(-0.3)],
        top_score=0.3,
        counts=Counts(
            candidates=1, frequent=1, groups=1, decided=1, undecided_frequent=0, undecided_small=0
        ),
        label="yes",
        parameters=parameters(),
        guarantee=promised,
    ))  # fmt: skip
    assert "at once" not in told(judged)


def test_held_out_rows_are_told_of() -> None:
    found = {"rank": 4, "score": 0.345, "n_in": 290}
    holdout = HoldoutSummary(share=0.5, searched=500, estimated=501, groups=77, missing=0)
    words = told(judge([group(-0.3, found=found)], guarantee(), holdout=holdout))
    for part in ("77 groups", "500 rows", "501 others", "rank 4", "34.5 points"):
        assert part in words


@pytest.mark.parametrize(("stability", "remark"), [(0.3, True), (0.5, False), (None, False)])
def test_a_first_group_that_seldom_comes_back(stability: float | None, remark: bool) -> None:
    judged = judge([group(-0.3, stability=stability)], guarantee(), stability_samples=200)
    assert ("only 60 of 200 bootstrap samples" in told(judged)) == remark


COMPARED = {
    "seeds": 90,
    "rate_with": 0.2,
    "rate_other": 0.5,
    "difference": -0.3,
    "interval": (-0.4, -0.2),
}


@pytest.mark.parametrize(
    ("kind", "claim"),
    [
        ("simultaneous", "intervals of the terms alone hold for all groups at once."),
        ("fdr", "meant for this one group"),
        ("per-group", "meant for this one group"),
    ],
)
def test_what_the_interval_of_the_terms_alone_holds_for(kind: str, claim: str) -> None:
    first = group(-0.3, counterfactual=COMPARED)
    second = group(0.28, rank=2, interval=(0.241, 0.31), assured=0.241)
    promised = guarantee(kind, surest_rank=2)
    judged = judge([first, second], promised, rank_by="counterfactual", words=words_for("texts"))
    assert claim in told(judged)
    assert "from other texts" in told(judged)
    # What is assured is from other texts, which groups are not ranked by here.
    assert "chance does not explain" not in told(judged)

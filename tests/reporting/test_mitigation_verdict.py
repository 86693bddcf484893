"""The verdict of a mitigation: its status and exit code, and that its words carry the numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from mitigation_documents import (
    MITIGATIONS,
    accuracy_lost_document,
    as_mitigation,
    few_held_out_document,
    no_better_document,
    no_candidate_document,
    one_target_document,
    several_targets_document,
    still_above_document,
    texts_document,
    uncompared_document,
)

from testsgd.reporting.mitigation import MitigationVerdict
from testsgd.reporting.mitigation.answers import answers
from testsgd.reporting.wording import MINUS

Document = dict[str, Any]


def judge(document: Document) -> MitigationVerdict:
    return as_mitigation(document).verdict


def told(document: Document) -> str:
    verdict = judge(document)
    return " ".join([verdict.headline, *verdict.sentences])


@pytest.mark.parametrize(
    ("make", "status", "code"),
    [
        (one_target_document, "mitigated", 0),
        (several_targets_document, "mitigated", 0),
        (texts_document, "mitigated", 0),
        (still_above_document, "above_threshold", 1),
        (accuracy_lost_document, "accuracy_lost", 1),
        (no_better_document, "not_better", 1),
        (no_candidate_document, "no_candidate", 1),
    ],
)
def test_status_and_exit_code(make: Callable[[], Document], status: str, code: int) -> None:
    verdict = judge(make())
    assert (verdict.status, verdict.exit_code) == (status, code)


def test_the_headline_has_group_scores_factor_and_cost() -> None:
    document = one_target_document()
    target, spread = document["targets"][0], document["spreads"][0]
    headline = judge(document).headline
    before, after = target["before"]["score"], spread["score"]["mean"]
    for part in (
        target["text"],
        f"from {100 * before:.1f} to {100 * after:.1f} points",
        f"({before / after:.1f} times smaller)",
        f"{document['accuracy_drop']['mean']:.2f} points of accuracy",
    ):
        assert part in headline


def test_a_gain_of_accuracy_is_no_cost() -> None:
    document = one_target_document()
    document["accuracy_drop"] = {"mean": -0.3, "lowest": -0.5, "highest": 0.1}
    assert "0.30 points of accuracy gained" in judge(document).headline


def test_accuracy_comes_before_the_threshold_and_the_threshold_before_no_better() -> None:
    document = still_above_document()
    document["accuracy_drop"] = {"mean": 0.6, "lowest": 0.4, "highest": 0.8}
    assert judge(document).status == "accuracy_lost"
    document = no_better_document()
    document["settings"]["all_above"] = 0.05
    assert judge(document).status == "above_threshold"
    document["kept_run"] = None
    assert judge(document).status == "not_better"


@pytest.mark.parametrize(
    ("lost", "status"), [(0.5, "mitigated"), (0.5 + 1e-12, "mitigated"), (0.51, "accuracy_lost")]
)
def test_just_the_budget_may_be_lost(lost: float, status: str) -> None:
    document = one_target_document()
    document["accuracy_drop"] = {"mean": lost, "lowest": 0.1, "highest": 0.9}
    verdict = judge(document)
    assert verdict.status == status
    if status == "accuracy_lost":
        assert "fell by 0.51 points, more than the 0.5 allowed" in verdict.headline


@pytest.mark.parametrize(("mean", "status"), [(0.1, "mitigated"), (0.1001, "above_threshold")])
def test_a_target_at_the_threshold_is_not_above_it(mean: float, status: str) -> None:
    document = several_targets_document()
    for spread in document["spreads"]:
        spread["score"] = {"mean": mean, "lowest": mean, "highest": mean}
    assert judge(document).status == status


def test_as_large_as_before_is_not_better() -> None:
    document = one_target_document()
    before = document["targets"][0]["before"]["score"]
    document["spreads"][0]["score"] = {"mean": before, "lowest": before, "highest": before}
    verdict = judge(document)
    assert verdict.status == "not_better"
    assert f"stayed at {100 * before:.1f} points" in verdict.headline


def test_a_score_that_is_not_known_is_not_better() -> None:
    document = one_target_document()
    document["spreads"][0] = {"score": None, "held_out_score": None, "factor": None}
    assert judge(document).status == "not_better"


def test_nothing_allowed_and_nothing_better_are_told_apart() -> None:
    nothing_allowed = no_candidate_document()
    assert "stayed within 0.5 points of accuracy" in judge(nothing_allowed).headline
    nothing_better = no_candidate_document()
    nothing_better["candidates"][3] |= {"allowed": True, "accuracy_drop": 0.2, "scores": [0.31]}
    verdict = judge(nothing_better)
    assert verdict.status == "not_better"
    assert "has a smaller difference" in verdict.headline
    assert "no candidate within 0.5 points" in str(answers(as_mitigation(nothing_better)))
    assert "no candidate lost 0.5 points or less" in str(answers(as_mitigation(nothing_allowed)))
    one_sided = no_candidate_document()
    one_sided["candidates"][3] |= {"accuracy_drop": 0.2}
    verdict = judge(one_sided)
    assert verdict.status == "no_candidate"
    assert "decides one way less than half as often as the original" in verdict.headline
    assert "1 was refused, though within the budget" in told(one_sided)
    assert "was too one-sided" in str(answers(as_mitigation(one_sided)))
    assert "loses 0.20 points" in told(nothing_better)
    assert "31.0 points" in told(nothing_better)


def test_the_cheapest_candidate_is_told_if_none_was_allowed() -> None:
    document = no_candidate_document()
    cheapest = min(document["candidates"], key=lambda one: one["accuracy_drop"])
    assert f"loses {cheapest['accuracy_drop']:.2f} points" in told(document)
    assert f"{len(document['candidates'])} candidates" in told(document)


def test_still_above_counts_them_and_names_the_worst() -> None:
    document = still_above_document()
    means = [spread["score"]["mean"] for spread in document["spreads"]]
    worst = means.index(max(means))
    headline = judge(document).headline
    assert headline.startswith(f"{sum(mean > 0.05 for mean in means)} of 4 groups")
    assert f"{100 * max(means):.1f} points, for {document['targets'][worst]['text']}" in headline


def test_the_runs_are_told_with_their_ends() -> None:
    document = one_target_document()
    scores = [100 * run["scores"][0] for run in document["runs"]]
    assert f"{min(scores):.1f} to {max(scores):.1f} points" in told(document)
    assert f"{MINUS}0.31 to {MINUS}0.18 points" in told(document)
    assert "run 2" in told(document)
    assert "means over" not in told(uncompared_document())


def test_runs_without_a_candidate_are_counted() -> None:
    document = one_target_document()
    document["runs"][0] |= {"samples": None}
    assert "In 1 of 3 runs no candidate within the accuracy budget did better" in told(document)


def test_held_out_rows_tell_their_figure_or_that_they_are_too_few() -> None:
    document = one_target_document()
    before = document["targets"][0]["held_out_before"]["score"]
    after = document["spreads"][0]["held_out_score"]["mean"]
    assert f"fell from {100 * before:.1f} to {100 * after:.1f} points" in told(document)
    few = told(few_held_out_document())
    assert "On the 200 held-out rows nothing can be told: 11 of them are in the group." in few


@pytest.mark.parametrize(("n", "enough"), [(29, False), (30, True)])
def test_thirty_held_out_rows_on_each_side_are_enough(n: int, enough: bool) -> None:
    document = one_target_document()
    document["targets"][0]["held_out_before"] |= {"n_out": n}
    assert ("played no part" in told(document)) is enough
    assert ("nothing can be told" in told(document)) is not enough


def test_other_groups_that_grew_are_counted_and_the_worst_named() -> None:
    change = one_target_document()["all_rows"]
    words = told(one_target_document())
    assert (
        f"the difference of {change['risen_count']} of 1,403 groups grew by more than 2.0 points"
        in words
    )
    most = change["risen"][0]
    scores = f"{100 * most['before']['score']:.1f} to {100 * most['after']['score']:.1f} points"
    assert most["text"] in words
    assert scores in words
    assert f"from 29.4 to {100 * change['worst_after']:.1f} points" in words


def test_a_group_above_the_old_worst_is_pointed_out() -> None:
    words = told(no_better_document())
    assert "is 35.0 points (for gender = Male and 60 <= age < 70)" in words
    assert "above the 29.4 before" in words


def test_a_run_with_a_group_above_the_old_worst_is_pointed_out() -> None:
    document = one_target_document()
    assert "a group is above" not in told(document)
    document["runs"][0]["worst"] = 0.31
    assert "In 1 of 3 runs a group is above the 29.4 before." in told(document)


def test_no_group_that_grew() -> None:
    assert "the difference of none of 1,403 groups grew" in told(few_held_out_document())


@pytest.mark.parametrize(("rows", "few"), [(9, True), (29, True), (30, False)])
def test_a_score_that_hangs_on_few_rows_is_said_to(rows: int, few: bool) -> None:
    document = one_target_document()
    document["targets"][0]["before"] |= {"n_out": rows}
    sentence = f"The target's score hangs on {rows} rows: of all rows, no more are outside."
    assert (sentence in judge(document).sentences) is few
    document["targets"][0]["before"] |= {"n_in": 4}
    assert "hangs on 4 rows: of all rows, no more are in the group." in told(document)
    assert "hangs on" not in told(one_target_document())


def test_of_several_targets_those_with_few_rows_are_counted() -> None:
    document = several_targets_document()
    document["targets"][1]["before"] |= {"n_in": 7}
    assert "1 of 4 targets has fewer than 30 rows on one side in all" in told(document)
    texts = texts_document()
    texts["targets"][0]["before"] |= {"n_in": 12}
    assert "The target's score hangs on 12 texts: of all texts, no more" in told(texts)


def test_an_estimate_of_lost_accuracy_is_called_one() -> None:
    document = no_candidate_document()
    document["split"]["judged_by"] = "probabilities"
    verdict = judge(document)
    assert (
        "stayed within 0.5 points of accuracy by the larger of two estimates," in verdict.headline
    )
    assert "points by the larger of two estimates and" in told(document)
    assert "on the validation rows" not in told(document)


def test_other_methods_are_told_whichever_is_better() -> None:
    document = one_target_document()
    for one in document["comparisons"]:
        score, lost = one["scores"][0]["mean"], one["accuracy_drop"]["mean"]
        name = one["name"].replace("-", " ")
        part = f"{name} leaves {100 * score:.1f} points (accuracy {MINUS}{lost:.2f})"
        assert part in told(document)
    assert "exponentiated gradient" not in told(texts_document())
    assert "same splits" not in told(uncompared_document())


def test_doubts_about_the_split_are_told() -> None:
    document = few_held_out_document()
    assert document["split"]["warning"] in judge(document).sentences


def test_texts_are_called_texts() -> None:
    words = told(texts_document())
    assert "The difference for texts with “gay” and “taoist”" in words
    assert "held-out texts" in words
    assert not re.search(r"\brows?\b|everybody", words)


@pytest.mark.parametrize("name", MITIGATIONS)
def test_sentences_are_sentences(name: str) -> None:
    verdict = judge(MITIGATIONS[name]())
    for sentence in [verdict.headline, *verdict.sentences]:
        assert sentence[0].isupper() or sentence[0].isdigit()
        assert sentence.endswith(".")
        assert "  " not in sentence
        assert not re.search("\N{EM DASH}|None|nan|-\\d", sentence)

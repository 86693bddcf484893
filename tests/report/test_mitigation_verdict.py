"""The verdict of a mitigation: its status and exit code, and that its words carry the numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from mitigation_documents import (
    BUDGET,
    MITIGATIONS,
    accuracy_lost_document,
    as_mitigation,
    between,
    few_held_out_document,
    no_better_document,
    no_candidate_document,
    one_target_document,
    rates,
    several_targets_document,
    still_above_document,
    text_of,
    texts_document,
    uncompared_document,
    value,
)
from written_parts import compared, effect, effects, part, written_target

from testsgd.mitigation import MitigationVerdict
from testsgd.mitigation.report.layout import mitigation_layout
from testsgd.report.formatting import MINUS

Document = dict[str, Any]
# The first target of the documents: 40 <= age < 60, two races, gender = Male.
WHITE_MEN_IN_WORDS = "men of 40 to 59 with race White or Asian-Pac-Islander"


def judge(document: Document) -> MitigationVerdict:
    return as_mitigation(document).verdict


def answers(document: Document) -> str:
    """What stands below the headline."""
    return str(mitigation_layout(as_mitigation(document)).figures)


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
        (few_held_out_document, "too_few", 3),
    ],
)
def test_status_and_exit_code(make: Callable[[], Document], status: str, code: int) -> None:
    verdict = judge(make())
    assert (verdict.status, verdict.exit_code) == (status, code)


def held_out(document: Document) -> Document:
    found: Document = document["written"]["held_out"]
    return found


def test_the_headline_has_group_held_out_scores_factor_and_cost() -> None:
    document = one_target_document()
    target, headline = document["targets"][0], judge(document).headline
    before, after = target["held_out_before"]["score"], target["held_out_after"]["score"]
    assert before != pytest.approx(target["before"]["score"], abs=1e-3)
    for said in (
        WHITE_MEN_IN_WORDS,
        f"from {100 * before:.1f} to {100 * after:.1f} points",
        f"({before / after:.1f} times smaller)",
        f"{-100 * held_out(document)['accuracy']['change']:.2f} points of accuracy",
        "9,769 held-out rows",
    ):
        assert said in headline


def test_the_runs_mean_is_not_the_written_model() -> None:
    """Crime: 0.08 points on average, 1.25 of an allowed 0.5 by the model that is written."""
    document = one_target_document()
    document["accuracy_drop"] = {"mean": 0.08, "lowest": -0.6, "highest": 1.25}
    document["written"]["held_out"] = part(399, 0.8271, 1.25)
    verdict = judge(document)
    assert (verdict.status, verdict.exit_code) == ("accuracy_lost", 1)
    assert "1.25 points" in verdict.headline
    assert "0.08" not in verdict.headline
    # And the other way round: what the other runs lost does not count.
    document = one_target_document()
    document["accuracy_drop"] = {"mean": 0.9, "lowest": 0.18, "highest": 2.0}
    assert judge(document).exit_code == 0


def test_all_rows_are_not_held_out_rows() -> None:
    """Compas: 5.6 times smaller on all rows; what counts is those held out."""
    document = one_target_document()
    target = document["targets"][0]
    target["after"] = rates(7_529, 41_313, 0.23, 0.18)
    target["held_out_after"] = rates(1_506, 8_263, 0.47, 0.18)
    document["written"]["targets"][0] = written_target(target, texts=False)
    assert judge(document).status == "not_better"


@pytest.mark.parametrize("name", ["training", "validation", "held_out"])
@pytest.mark.parametrize("key", ["accuracy_drop", "balanced_drop"])
def test_the_guard_holds_on_every_part(name: str, key: str) -> None:
    document = one_target_document()
    limit = document["settings"].setdefault("max_balanced_drop", 2.0)
    limit = BUDGET if key == "accuracy_drop" else limit
    document["written"][name][key] = limit + 1e-12
    assert judge(document).status == "mitigated"
    document["written"][name][key] = limit + 0.01
    verdict = judge(document)
    assert (verdict.status, verdict.exit_code) == ("accuracy_lost", 1)
    assert f"more than the {limit:g} allowed" in verdict.headline
    assert ("balanced accuracy" in verdict.headline) is (key == "balanced_drop")


def law_document() -> Document:
    """95% pass; the new model passes next to everybody."""
    document = one_target_document()
    document["written"] |= {"constant_label": "pass", "held_out": part(4_482, 0.9465, -0.15)}
    held_out(document).update(
        positives=4_248, constant=0.9478, above_constant=compared(0.9478, 0.9480, 0.002),
        true_positives=(4_220, 4_242), true_negatives=(24, 7),
    )  # fmt: skip
    return document


@pytest.mark.parametrize("name", ["training", "validation", "held_out"])
def test_true_refusals_that_go_wholesale_are_no_mitigation(name: str) -> None:
    document = law_document()
    document["written"][name] = {**held_out(document), "one_sided": True}
    if name != "held_out":
        document["written"]["held_out"] = part(4_482, 0.95, -0.15)
    verdict = judge(document)
    assert (verdict.status, verdict.exit_code) == ("one_sided", 1)
    assert "of 234" in verdict.headline
    assert "about 7, the original about 24" in verdict.headline


def test_what_is_no_better_than_a_constant_is_no_mitigation() -> None:
    document = law_document()
    verdict = judge(document)
    assert (verdict.status, verdict.exit_code) == ("no_better_than_constant", 1)
    assert "94.80% in place of 94.78%" in verdict.headline
    held_out(document)["above_constant"] = compared(0.9478, 0.9480, 0.0001)
    assert judge(document).status == "mitigated"
    assert "94.78%" in told(document)


@pytest.mark.parametrize(("share", "said"), [(0.49, False), (0.5, True), (1.0, True)])
def test_levelling_down_is_in_the_headline(share: float, said: bool) -> None:
    """Census: the group from 42.0 to 25.9, everybody else from 12.6 to 12.4."""
    document = one_target_document()
    target = document["targets"][0]
    target["held_out_before"] = rates(1_508, 5_005, 0.420, 0.126)
    target["held_out_after"] = rates(1_508, 5_005, 0.259, 0.124)
    document["written"]["targets"][0] = written_target(target, texts=False)
    document["written"]["targets"][0]["levelled_down"] = share
    headline = judge(document).headline
    assert ("levelling down" in headline.lower()) is said
    if said:
        assert "the group went from 42.0% to 25.9%" in headline
        assert "everybody else from 12.6% to 12.4%" in headline


def test_who_pays_is_told_of_both_sides() -> None:
    document = one_target_document()
    words = told(document)
    assert words.count("241 lose and 3 gain “>50K”") == 2
    assert words.count("true-positive rate 68.0% to 53.3%") == 2
    assert "false-positive rate 12.0% to 9.0%" in words


@pytest.mark.parametrize(
    ("before", "after"), [(0.037, -0.187), (0.048, -0.078), (0.085, -0.055), (0.05, -0.015)]
)
def test_terms_that_are_turned_round_are_no_mitigation(before: float, after: float) -> None:
    document = texts_document()
    document["written"]["targets"][0] |= effects(before, after)
    verdict = judge(document)
    assert (verdict.status, verdict.exit_code) == ("reversed", 1)
    assert f"from +{100 * before:.1f} to {MINUS}{-100 * after:.1f} points" in verdict.headline


@pytest.mark.parametrize(
    ("before", "after", "status"),
    [(0.12, 0.02, "mitigated"), (0.12, -0.005, "mitigated"), (0.05, 0.09, "not_better"),
     (0.05, 0.045, "not_certain"), (-0.12, -0.02, "mitigated")],
)  # fmt: skip
def test_of_texts_the_terms_own_effect_decides(before: float, after: float, status: str) -> None:
    document = texts_document()
    document["written"]["targets"][0] |= effects(before, after)
    assert judge(document).status == status
    # The difference of the texts stands beside it, whatever became of it.
    assert "terms and topic together" in told(document)
    assert "counterfactual effect" in judge(document).headline


def test_terms_without_a_known_effect_are_not_judged() -> None:
    document = texts_document()
    document["written"]["targets"][0]["effect"] = None
    assert (judge(document).status, judge(document).exit_code) == ("too_few", 3)


def test_what_chance_may_explain_is_not_called_mitigated() -> None:
    document = one_target_document()
    found = document["written"]["targets"][0]["neighbourhood"]
    found["confidence_interval"] = (found["change"] - 0.3, 0.01)
    verdict = judge(document)
    assert (verdict.status, verdict.exit_code) == ("not_certain", 3)
    found["confidence_interval"] = (found["change"] - 0.3, -0.001)
    assert judge(document).exit_code == 0


def test_the_estimand_decides_which_difference_is_spoken_of() -> None:
    document = one_target_document()
    one, target = document["written"]["targets"][0], document["targets"][0]
    one["observed_before"] = rates(1_506, 8_263, 0.61, 0.20)
    one["observed_after"] = rates(1_506, 8_263, 0.52, 0.20)
    one["observed"] = compared(0.41, 0.32)
    assert "41.0" not in judge(document).headline
    assert "+41.0" in told(document)
    document["written"]["estimand"] = "observed"
    for when in ("before", "after"):
        target[f"held_out_{when}"] = one[f"observed_{when}"]
    assert "from 41.0 to 32.0 points" in judge(document).headline
    assert "neighbours" in told(document)
    target["held_out_after"], one["observed"] = one["observed_before"], compared(0.41, 0.41)
    assert judge(document).status == "not_better"


@pytest.mark.parametrize(
    ("unseen", "words"), [(True, "no part in finding"), (False, "was of all rows")]
)
def test_what_part_the_held_out_rows_had_is_true(unseen: bool, words: str) -> None:
    document = one_target_document()
    document["split"]["unseen"] = unseen
    assert words in told(document)


def test_a_gain_of_accuracy_is_no_cost() -> None:
    document = one_target_document()
    held_out(document)["accuracy"] = compared(0.85, 0.853)
    assert "0.30 points of accuracy gained" in judge(document).headline


def test_accuracy_comes_before_the_threshold() -> None:
    document = still_above_document()
    held_out(document)["accuracy_drop"] = 0.6
    assert judge(document).status == "accuracy_lost"
    document["chosen_run"] = None
    assert judge(document).status == "not_better"


@pytest.mark.parametrize(("n", "enough"), [(29, False), (30, True)])
def test_thirty_held_out_rows_on_each_side_are_enough(n: int, enough: bool) -> None:
    document = one_target_document()
    document["targets"][0]["held_out_before"] |= {"n_out": n}
    verdict = judge(document)
    assert (verdict.exit_code == 0) is enough
    assert ("is not known" in verdict.headline) is not enough


def test_nothing_allowed_and_nothing_better_are_told_apart() -> None:
    nothing_allowed = no_candidate_document()
    assert "stayed within 0.5 points of accuracy" in judge(nothing_allowed).headline
    nothing_better = no_candidate_document()
    nothing_better["candidates"][3] |= {"allowed": True, "accuracy_drop": 0.2, "scores": [0.31]}
    verdict = judge(nothing_better)
    assert verdict.status == "not_better"
    assert "has a smaller difference" in verdict.headline
    assert "no candidate within 0.5 points" in answers(nothing_better)
    assert "no candidate lost 0.5 points or less" in answers(nothing_allowed)
    one_sided = no_candidate_document()
    one_sided["candidates"][3] |= {"accuracy_drop": 0.2}
    verdict = judge(one_sided)
    assert verdict.status == "no_candidate"
    assert "one way less than half as often as the original" in verdict.headline
    assert "1 was refused, though within the budget" in told(one_sided)
    assert "was refused" in answers(one_sided)
    assert "loses 0.20 points" in told(nothing_better)
    assert "31.0 points" in told(nothing_better)


def test_the_cheapest_candidate_is_told_if_none_was_allowed() -> None:
    document = no_candidate_document()
    cheapest = min(document["candidates"], key=lambda one: one["accuracy_drop"])
    assert f"loses {cheapest['accuracy_drop']:.2f} points" in told(document)
    assert f"{len(document['candidates'])} candidates" in told(document)


def test_still_above_counts_them_and_names_the_worst() -> None:
    document = still_above_document()
    scores = [target["held_out_after"]["score"] for target in document["targets"]]
    worst = scores.index(max(scores))
    headline = judge(document).headline
    assert headline.startswith(f"{sum(score > 0.05 for score in scores)} of 4 groups")
    assert worst == 0
    assert f"{100 * max(scores):.1f} points, for {WHITE_MEN_IN_WORDS}" in headline


def test_the_runs_are_told_with_their_ends() -> None:
    document = one_target_document()
    scores = [100 * run["held_out_scores"][0] for run in document["runs"]]
    assert f"{min(scores):.1f} to {max(scores):.1f} points" in told(document)
    assert f"{MINUS}0.31 to {MINUS}0.18 points" in told(document)
    assert "the recipe" not in told(uncompared_document())


def test_runs_without_a_candidate_are_counted() -> None:
    document = one_target_document()
    document["runs"][0] |= {"samples": None}
    assert "In 1 of 3 runs no candidate within the accuracy budget did better" in told(document)


def test_other_groups_that_grew_are_counted_and_the_worst_named() -> None:
    change = one_target_document()["all_rows"]
    words = told(one_target_document())
    assert (
        f"the difference of {change['increased_count']} of 1,403 groups grew by more than 2.0"
        in words
    )
    most = change["increased"][0]
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
    document["split"]["evaluated_by"] = "probabilities"
    verdict = judge(document)
    assert (
        "stayed within 0.5 points of accuracy by the larger of two estimates," in verdict.headline
    )
    assert "points by the larger of two estimates and" in told(document)
    assert "on the validation rows" not in told(document)


def test_other_methods_are_told_at_equal_accuracy() -> None:
    document = one_target_document()
    one, other = document["comparisons"]
    point = {
        "budget": 0.5, "accuracy_change": -0.9, "accuracy_confidence_interval": (-1.2, -0.6),
        "difference": 0.02, "confidence_interval": (0.0, 0.04),
    }  # fmt: skip
    one["equal_accuracy"] = {"score": 0.151, "confidence_interval": (0.12, 0.18), "mixed": True}
    other["curve"] = [point]
    words = told(document)
    assert "reweighing leaves 15.1 points (+12.0 to +18.0)" in words
    assert "so accurate: exponentiated gradient." in words
    assert "same accuracy" not in told(uncompared_document())


def test_doubts_about_the_split_are_told() -> None:
    document = few_held_out_document()
    assert document["split"]["warning"] in judge(document).sentences


def test_texts_are_called_texts() -> None:
    words = told(texts_document())
    assert "the counterfactual effect of “gay” and “taoist”" in words
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


def gap(before: float, after: float, low: float) -> Document:
    """A gap in a rate, of women, whose rate moves while that of the others stays."""
    rules = [value("gender", "Female")]
    return {
        "rules": rules, "text": text_of(rules), "target": False, "rate": "false_positive_rate",
        "cases": (310, 640), "inside": (0.1 + before, 0.1 + after), "outside": (0.1, 0.1),
        "before": before, "after": after, "low": low,
    }  # fmt: skip


def with_side_effects(document: Document, **changes: Any) -> Document:
    """Give what became of all groups: nothing that matters, if it is not said otherwise."""
    worst = {
        "before": 0.295, "after": 0.196, "confidence_interval": (-0.13, -0.07),
        "group_before": "gender = Male", "group_after": "race = Black",
    }  # fmt: skip
    effects = {
        "groups": 812, "gaps": 2_011, "exceeded": [], "exceeded_count": 0, "unclear_count": 4,
        "largest": gap(0.02, 0.09, -0.03), "worst": worst,
    }  # fmt: skip
    document["written"]["side_effects"] = effects | changes
    return document


def test_a_gap_that_grew_is_a_failure_that_the_headline_names() -> None:
    large = gap(0.13, 0.271, 0.04)
    grown = {"exceeded": [large], "exceeded_count": 1, "largest": large}
    verdict = judge(with_side_effects(one_target_document(), **grown))
    assert (verdict.status, verdict.exit_code) == ("side_effect", 1)
    for said in ("between women and", "false-positive rate", "13.0", "27.1", "5.0 points"):
        assert said in verdict.headline
    assert large["text"] not in verdict.headline
    # What else is wrong does not hide it.
    verdict = judge(with_side_effects(accuracy_lost_document(), **grown))
    assert (verdict.status, verdict.exit_code) == ("accuracy_lost", 1)
    assert "27.1" in verdict.headline


def test_a_gap_that_may_have_grown_by_chance_is_told_and_no_failure() -> None:
    verdict = judge(with_side_effects(one_target_document()))
    assert (verdict.status, verdict.exit_code) == ("mitigated", 0)
    assert any("9.0" in sentence for sentence in verdict.sentences)


def test_the_worst_difference_of_all_groups_is_the_first_sentence() -> None:
    document = with_side_effects(one_target_document())
    verdict = judge(document)
    for said in ("29.5", "19.6", "gender = Male", "race = Black"):
        assert said in verdict.sentences[0]
    assert "19.6" in answers(document)


@pytest.mark.parametrize(("low", "code"), [(0.01, 1), (-0.01, 0)])
def test_a_worst_difference_that_rose_is_no_success(low: float, code: int) -> None:
    worst = {
        "before": 0.173, "after": 0.209, "confidence_interval": (low, 0.06),
        "group_before": "gender = Male", "group_after": "race = Black",
    }  # fmt: skip
    verdict = judge(with_side_effects(one_target_document(), worst=worst))
    assert verdict.exit_code == code
    assert ("20.9" in verdict.headline) == bool(code)


def test_groups_whose_rules_are_known_are_named_in_words() -> None:
    men = [value("gender", "Male")]
    women = [value("gender", "Female")]
    worst = {
        "before": 0.173, "after": 0.209, "confidence_interval": (0.01, 0.06),
        "group_before": text_of(women), "group_after": text_of(men),
        "rules_before": women, "rules_after": men,
    }  # fmt: skip
    verdict = judge(with_side_effects(one_target_document(), worst=worst))
    assert verdict.headline.endswith("for men.")
    assert "for women before and for men after" in verdict.sentences[0]
    loss = {"rules": women, "text": text_of(women), "rows": 310, "before": 0.9, "after": 0.8,
            "low": 0.05}  # fmt: skip
    lost = {"lossy": [loss], "lossy_count": 1, "largest_loss": loss}
    verdict = judge(with_side_effects(one_target_document(), **lost))
    assert "accuracy for women fell" in verdict.headline


def test_without_a_gap_that_can_be_judged_the_verdict_says_so() -> None:
    few = {"gaps": 0, "largest": None, "unclear_count": 0}
    verdict = judge(with_side_effects(one_target_document(), **few))
    assert verdict.exit_code == 0
    assert "at least 30 held-out rows" in verdict.sentences[1]


def test_the_headline_names_the_target_in_words() -> None:
    document = one_target_document()
    document["targets"][0]["rules"] = [
        value("gender", "Female"),
        value("race", "A", "B", "C", "D", "E"),
        between("age", 18, 25),
    ]
    document["data"]["features"] = [
        feature | {"type": "integer"} if feature["name"] == "age" else feature
        for feature in document["data"]["features"]
    ]
    headline = judge(document).headline
    assert "women of 18 to 24 with race " in headline
    assert " = " not in headline
    assert "{" not in headline
    assert "<" not in headline


def fitted_anew(document: Document, *, given: float, left: float) -> Document:
    """Add that accuracies before are of the original fitted anew, and what difference it has."""
    target = document["targets"][0]["held_out_before"]
    n_in, n_out = target["n_in"], target["n_out"]
    others = [dict(one["held_out_before"]) for one in document["targets"][1:]]
    document["fitted_anew"] = {
        "accuracy_given": given,
        "balanced_given": given,
        "held_out": [rates(n_in, n_out, 0.3 + left, 0.3), *others],
    }
    return document


@pytest.mark.parametrize(
    "make",
    [one_target_document, several_targets_document, accuracy_lost_document, no_candidate_document],
)
def test_accuracies_of_the_original_fitted_anew_are_not_called_the_originals(
    make: Callable[[], Document],
) -> None:
    document = make()
    before = f"{100 * document['accuracy_before']:.2f}%"
    assert "fitted anew" not in told(document) + answers(document)
    fitted_anew(document, given=0.7123, left=0.05)
    for text in (told(document), answers(document)):
        assert "71.23%" in text
    assert f"the original model is about {before}" not in told(document)
    kept = document["chosen_run"] is not None
    assert ("fitted anew" in judge(document).headline) == kept
    assert (before in answers(document)) == kept


@pytest.mark.parametrize(("by", "changed"), [(0.01, False), (0.1, True)])
def test_what_fitting_anew_leaves_is_in_the_headline_if_it_changes_clearly(
    by: float, changed: bool
) -> None:
    document = one_target_document()
    left = document["targets"][0]["held_out_before"]["difference"] - by
    verdict = judge(fitted_anew(document, given=document["accuracy_before"], left=left))
    assert (f"leaves {100 * abs(left):.1f} points" in verdict.headline) == changed
    assert (verdict.status, verdict.exit_code) == ("mitigated", 0)


def test_of_texts_the_terms_effect_by_the_original_fitted_anew_is_in_the_headline() -> None:
    document = texts_document()
    fitted_anew(document, given=0.9, left=0.2)
    document["fitted_anew"]["effects"] = [effect(0.0123)]
    assert "leaves 1.2 points" in judge(document).headline

"""What is said of counterfactual effects, of ambiguous and of unknown terms."""

from __future__ import annotations

from typing import Any

import pytest
from text_documents import comments_document, text_summary

from testsgd.auditing import GroupSummary
from testsgd.auditing.report.summary import AuditSummary, UnjudgedSummary
from testsgd.auditing.report.term_summary import TermsSummary
from testsgd.auditing.report.vocabulary import (
    ambiguity,
    effect_of_terms,
    unknown_words,
    vocabulary,
    words_for,
)
from testsgd.auditing.report.wording import unjudged_sentences
from testsgd.report.formatting import MINUS

WORDS = words_for("texts")


def group(
    *,
    rate_in: float = 0.13,
    rate_out: float = 0.065,
    rate_other: float | None = 0.10,
    interval: tuple[float, float] = (0.02, 0.04),
    terms: tuple[tuple[str, str], ...] = (("gender", "gay"), ("religion", "taoist")),
    **changes: Any,
) -> GroupSummary:
    """A group of 1,200 texts among 50,000."""
    rules = [
        {"feature": category, "values": [term], "text": f"“{term}”"} for category, term in terms
    ]
    compared = None
    if rate_other is not None:
        compared = {
            "seeds": 1200,
            "rate_with": rate_in,
            "rate_other": rate_other,
            "difference": rate_in - rate_other,
            "confidence_interval": interval,
        }
    fields = {
        "rank": 1,
        "rules": rules,
        "text": " and ".join(str(rule["text"]) for rule in rules),
        "support": 0.024,
        "n_in": 1200,
        "n_out": 49_990,
        "rate_in": rate_in,
        "rate_out": rate_out,
        "difference": rate_in - rate_out,
        "score": abs(rate_in - rate_out),
        "margin": 0.0,
        "margin_method": "none",
        "confidence_interval": (0.05, 0.08),
        "exact": True,
        "samples_in": 1200,
        "samples_out": 49_990,
        "decided": True,
        "distinct": True,
        "counterfactual": compared,
    }
    return GroupSummary.model_validate(fields | changes)


def terms() -> TermsSummary:
    found = text_summary(comments_document()).terms
    assert found is not None
    return found


def test_a_part_of_the_difference_is_the_terms_own() -> None:
    said = effect_of_terms(group(), "toxic")
    for part in ("gender and religion", "10.0% of the same 1,200 texts", "+3.0 points", "of +6.5"):
        assert part in said
    assert "interval +2.0 to +4.0" in said
    assert "The other 3.5 points come with texts of this kind" in said


@pytest.mark.parametrize(("rate_in", "rate_out"), [(0.1304, 0.0653), (0.0653, 0.1304)])
@pytest.mark.parametrize("own", [0.0101, 0.0149, 0.0251, 0.0333])
def test_the_parts_add_up_as_they_are_written(rate_in: float, rate_out: float, own: float) -> None:
    own = own if rate_in > rate_out else -own
    said = effect_of_terms(
        group(rate_in=rate_in, rate_out=rate_out, rate_other=rate_in - own, interval=(own, own)),
        "toxic",
    )
    numbers = said.replace(MINUS, "-")
    mine = abs(float(numbers.partition("effect is ")[2].split(" points")[0]))
    whole = abs(float(numbers.partition(") of ")[2].split(". ")[0]))
    rest = float(numbers.partition("The other ")[2].split(" points")[0])
    assert mine + rest == pytest.approx(whole)
    assert whole == pytest.approx(6.5)
    assert mine == pytest.approx(100 * abs(own), abs=0.05)


def test_an_effect_that_is_not_significant() -> None:
    said = effect_of_terms(group(rate_other=0.128, interval=(-0.003, 0.007)), "toxic")
    assert f"+0.2 points (confidence interval {MINUS}0.3 to +0.7), not statistically" in said
    assert "As far as the data show, the difference comes with texts of this kind" in said


def test_no_difference_at_all_is_not_explained() -> None:
    nothing = group(rate_in=0.1, rate_out=0.1, rate_other=0.1, interval=(-0.01, 0.01))
    assert "As far as the data show" not in effect_of_terms(nothing, "toxic")


def test_all_of_the_difference_is_the_terms_own() -> None:
    said = effect_of_terms(group(rate_other=0.06, interval=(0.05, 0.09)), "toxic")
    assert "+7.0 points (confidence interval +5.0 to +9.0)" in said
    assert "does not explain it" in said
    assert "texts of this kind" not in said


def test_terms_that_work_against_the_difference() -> None:
    said = effect_of_terms(group(rate_other=0.14, interval=(-0.015, -0.005)), "toxic")
    assert f"{MINUS}1.0 points (confidence interval {MINUS}1.5 to {MINUS}0.5)" in said
    assert "against the difference from other texts" in said
    less = effect_of_terms(
        group(rate_in=0.05, rate_out=0.08, rate_other=0.03, interval=(0.01, 0.03)), "toxic"
    )
    assert "+2.0 points (confidence interval +1.0 to +3.0)" in less


def test_one_term_is_spoken_of_as_one() -> None:
    said = effect_of_terms(group(terms=(("gender", "gay"),), interval=(-0.01, 0.07)), "toxic")
    assert said.startswith("With other terms of gender in place of “gay”, ")
    assert "not statistically significant" in said


def test_drawn_pairs_give_both_of_their_rates() -> None:
    drawn = group().model_dump()
    drawn["counterfactual"] |= {"rate_with": 0.122, "difference": 0.022, "seeds": 640}
    said = effect_of_terms(GroupSummary.model_validate(drawn), "toxic")
    assert "10.0% (against 12.2% with “gay” and “taoist”) of the same 640 texts" in said
    assert "+2.2 points" in said


def generated(rate_in: float, rate_out: float, *, decided: bool = True) -> dict[str, Any]:
    """What a group is by the texts that its terms are put into."""
    return {
        "estimand": "neighbourhood",
        "rate_in": rate_in,
        "rate_out": rate_out,
        "difference": rate_in - rate_out,
        "confidence_interval": (rate_in - rate_out - 0.01, rate_in - rate_out + 0.01),
        "margin": 0.0,
        "decided": decided,
        "lower_confidence_bound": None,
    }


def as_they_are(
    *,
    rate_other: float,
    interval: tuple[float, float],
    other: dict[str, Any] | None,
) -> str:
    """What is said of the effect where 13.0% against 6.5% are rates of the texts as they are."""
    found = group(rate_other=rate_other, interval=interval, other=other).model_dump()
    found["counterfactual"] |= {"rate_with": 0.15, "difference": 0.15 - rate_other}
    return effect_of_terms(GroupSummary.model_validate(found), "toxic", "observed")


def test_beside_texts_as_they_are_the_parts_are_those_of_the_generated_texts() -> None:
    said = as_they_are(rate_other=0.10, interval=(0.04, 0.06), other=generated(0.15, 0.065))
    # 15.0% less 10.0%, and 15.0% less 6.5%; the difference of the texts as they are is 6.5.
    assert "effect is +5.0 points" in said
    assert "of the difference of +8.5 points between texts with" in said
    assert "The other 3.5 points come with texts of this kind" in said
    assert "+6.5" not in said


@pytest.mark.parametrize("other", [None, generated(0.15, 0.065, decided=False)])
def test_no_part_is_given_where_that_of_the_generated_texts_is_not_known(
    other: dict[str, Any] | None,
) -> None:
    said = as_they_are(rate_other=0.10, interval=(0.04, 0.06), other=other)
    assert said.endswith("effect is +5.0 points (confidence interval +4.0 to +6.0).")
    chance = as_they_are(rate_other=0.14, interval=(-0.01, 0.03), other=other)
    assert chance.endswith("+3.0), not statistically significant.")


@pytest.mark.parametrize(
    ("rate_other", "interval", "rate_out", "end"),
    [
        (
            0.14,
            (-0.01, 0.03),
            0.12,
            "+3.0 points between texts with “gay” and “taoist” put in and ",
        ),
        (0.16, (-0.02, -0.005), 0.12, "against the difference of +3.0 points between texts with "),
        (0.10, (0.04, 0.06), 0.11, "does not explain the difference of +4.0 points between texts "),
    ],
)
def test_each_conclusion_beside_texts_as_they_are_names_its_difference(
    rate_other: float, interval: tuple[float, float], rate_out: float, end: str
) -> None:
    said = as_they_are(rate_other=rate_other, interval=interval, other=generated(0.15, rate_out))
    assert end in said
    assert "6.5" not in said


def observed_summary() -> AuditSummary:
    """An audit of the texts as they are, ranked by score."""
    document = comments_document()
    document["parameters"]["estimand"] = "observed"
    return text_summary(document)


def test_groups_of_texts_as_they_are_are_not_called_generated() -> None:
    words = vocabulary(observed_summary())
    assert words.sides(group()) == "1,200 texts in the group, 49,990 in its complement"
    assert "enerated" not in words.size(group())
    generated_words = vocabulary(text_summary(comments_document()))
    assert generated_words.sides(group()).startswith("generated from 1,200 texts")


def test_rules_explain_what_groups_are_ranked_by() -> None:
    assert vocabulary(observed_summary()).variation.endswith("differ in their rates")
    document = comments_document()
    document["parameters"]["rank_by"] = "counterfactual"
    assert vocabulary(text_summary(document)).variation.endswith("differ in their effects")


def test_what_was_not_compared_is_said_to_be_unknown() -> None:
    said = effect_of_terms(group(rate_other=None), "toxic")
    assert "not known" in said


def test_ambiguous_terms_of_the_group_and_of_its_texts_are_named() -> None:
    said = ambiguity(group(), terms())
    assert said.startswith("“gay” is ambiguous: also a first name.")
    # 2,300 of 2,600 mentions of gender and none of 1,100 of religion.
    assert "Of the mentions of gender and religion terms in the texts, 62.2% are" in said
    assert "above all “straight” and “gay”: texts of the group need not be about persons." in said


def test_ambiguity_of_other_terms_counts_too() -> None:
    said = ambiguity(group(terms=(("age", "middle aged"),)), terms())
    assert said == (
        "Of the mentions of age terms in the texts, 98.8% are of ambiguous terms, namely “old”: "
        "texts of the group need not be about persons."
    )


def test_plain_terms_are_not_doubted() -> None:
    assert ambiguity(group(terms=(("religion", "sikh"),)), terms()) == ""
    assert unknown_words(group(terms=(("religion", "sikh"),)), terms()) == ""


def test_words_that_the_model_does_not_know() -> None:
    assert "does not have every word of “taoist”" in unknown_words(group(), terms())
    silent = terms().model_dump()
    for category in silent["categories"]:
        for term in category["terms"]:
            term["known_to_model"] = None
    assert unknown_words(group(), TermsSummary.model_validate(silent)) == ""


@pytest.mark.parametrize(
    ("combinations", "unjudged", "texts", "parts"),
    [
        (9, 3, 40, ["Of 9 ", "3 have", "fewer than 50 texts", "40 texts (4.0%) are only"]),
        (9, 1, 1, ["1 has", "1 text (0.1%) is only"]),
        (1, 1, 0, ["Of 1 ", "in another that could"]),
    ],
)
def test_categories_that_are_too_small(
    combinations: int, unjudged: int, texts: int, parts: list[str]
) -> None:
    counted = UnjudgedSummary(
        fewest=50, combinations=combinations, unjudged=unjudged, rows=texts, share=texts / 1000
    )
    [told] = unjudged_sentences(counted, WORDS)
    for part in parts:
        assert part in told
    assert ("does not make the model fair" in told) == (texts > 0)


def test_size_of_a_group_in_good_grammar() -> None:
    assert WORDS.size(group(n_in=1, n_out=1, support=0.0001, terms=(("age", "old"),))) == (
        "Generated from the 1 text that has a term of age, <0.1% of all. Its complement is the "
        "text that does not contain the term."
    )
    three = (("gender", "gay"), ("race", "latino"), ("age", "old"))
    assert WORDS.size(group(terms=three)) == (
        "Generated from the 1,200 texts that have terms of gender, race and age, 2.4% of all. "
        "Its complement are the 49,990 texts that do not contain all of these terms."
    )

"""Who is worse off, in everyday words."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd.auditing.report.worse_off import (
    Comparison,
    Features,
    complement_in_words,
    group_in_words,
    worse_off_clause,
)
from testsgd.report.summaries import RuleSummary

FEATURES = Features(
    whole_numbers=frozenset({"age", "hours"}),
    values={"sex": ["Female", "Male"], "race": ["A", "B", "C"], "town": list("abcdefgh")},
)


def rule(feature: str, **parts: object) -> RuleSummary:
    return RuleSummary.model_validate({"feature": feature, "text": "a rule", **parts})


@pytest.mark.parametrize(
    ("rules", "phrase"),
    [
        ([rule("sex", values=["Female"])], "women"),
        ([rule("gender", values=["M"])], "men"),
        ([rule("sex", values=["Female", "Male"])], "those with sex Female or Male"),
        ([rule("age", low=18, high=25)], "those of 18 to 24"),
        ([rule("age", low=18, high=19)], "those of 18"),
        ([rule("age", high=30)], "those under 30"),
        ([rule("age", low=64.5)], "those of 64.5 or older"),
        ([rule("age", low=38.9, high=60.8)], "those of 39 to 60"),
        ([rule("income", low=1.5, high=2)], "those with income from 1.5 to below 2"),
        ([rule("hours", low=20, high=40)], "those with hours 20 to 39"),
        (
            [rule("sex", values=["Female"]), rule("age", low=30), rule("race", values=["A", "B"])],
            "women of 30 or older with race A or B",
        ),
        (
            [rule("town", values=list("abcdef")), rule("race", values=["C"])],
            "those with town a, b, c or 3 others and race C",
        ),
    ],
)
def test_groups_are_written_in_words(rules: list[RuleSummary], phrase: str) -> None:
    assert group_in_words(rules, FEATURES) == phrase


LONG = [f"A very long value of a region that goes on and on, number {k} of them" for k in range(9)]


@pytest.mark.parametrize("number", [3, 4, 7])
def test_long_values_are_each_named_or_counted(number: int) -> None:
    chosen = [*LONG[: number - 1], "x" * 144]
    phrase = group_in_words([rule("region", values=chosen)], Features(values={"region": LONG}))

    assert len(phrase) <= 200
    named = re.split(", | or ", phrase.removeprefix("those with region "))
    assert len(named) == len(set(named))
    [others] = [int(part.split()[0]) for part in named if re.fullmatch(r"\d+ others?", part)] or [0]
    assert len([part for part in named if "…" in part]) + others == number


def test_groups_of_other_long_values_read_differently() -> None:
    pairs = [LONG[k : k + 4] for k in range(5)]
    phrases = {group_in_words([rule("region", values=pair)], Features()) for pair in pairs}
    assert len(phrases) == len(pairs)


@pytest.mark.parametrize(
    ("rules", "phrase"),
    [
        ([rule("sex", values=["Female"])], "men"),
        ([rule("age", low=30)], "those under 30"),
        ([rule("age", high=30)], "those of 30 or older"),
        ([rule("race", values=["A"])], "those with race B or C"),
        # Two ages, too many values, or several rules: the others have no short name.
        ([rule("age", low=18, high=25)], "everybody else"),
        ([rule("town", values=["a"])], "everybody else"),
        ([rule("sex", values=["Female"]), rule("age", low=30)], "everybody else"),
        # A feature whose values are not known.
        ([rule("faith", values=["x"])], "everybody else"),
    ],
)
def test_complements_are_named_where_that_is_short(rules: list[RuleSummary], phrase: str) -> None:
    assert complement_in_words(rules, FEATURES) == phrase


SPELLINGS = Features(
    values={
        "sex": ["Female", "female", " F", "Male"],
        "gender": ["man", "M", "female", "other"],
    },
    sexes={"Sex": ["f", "Woman", "m"]},
)


@pytest.mark.parametrize(
    ("feature", "values", "phrase"),
    [
        ("sex", ["Female"], "those with sex Female"),
        ("sex", ["Female", "female"], "those with sex Female or female"),
        ("sex", ["Female", "female", " F"], "women"),
        ("sex", ["Male"], "men"),
        ("gender", ["M"], "those with gender M"),
        ("gender", ["M", "man"], "men"),
        ("gender", ["M", "man", "other"], "those with gender M, man or other"),
        ("gender", ["female"], "women"),
        # Where the values of rows are not known, those that are declared count.
        ("Sex", ["Woman"], "those with Sex Woman"),
        ("Sex", ["m"], "men"),
    ],
)
def test_people_are_named_only_if_no_other_value_stands_for_them(
    feature: str, values: list[str], phrase: str
) -> None:
    assert group_in_words([rule(feature, values=values)], SPELLINGS) == phrase


def test_the_complement_is_named_only_if_it_has_all_who_are_called_so() -> None:
    assert complement_in_words([rule("sex", values=["Male"])], SPELLINGS) == "women"
    others = complement_in_words([rule("sex", values=["Female"])], SPELLINGS)
    assert "women" not in others
    assert "men" not in others


@given(
    rate_in=st.floats(0, 1), rate_out=st.floats(0, 1), outcome=st.sampled_from(["benefit", "harm"])
)
def test_who_comes_first_is_never_better_off(rate_in: float, rate_out: float, outcome: str) -> None:
    comparison = Comparison([rule("sex", values=["Female"])], rate_in, rate_out)
    clause = worse_off_clause(comparison, "yes", FEATURES, outcome=outcome)  # type: ignore[arg-type]
    first, second = (rate_in, rate_out) if clause.startswith("women") else (rate_out, rate_in)
    assert first >= second if outcome == "harm" else first <= second

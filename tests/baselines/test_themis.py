"""Themis on cases that can be worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from loans_by_hand import people, subject
from scipy.stats import binom

from testsgd.baselines import BaselineResult, Themis, subject_of
from testsgd.data import check_table, specification_from_mapping
from testsgd.models import load_model

GROUP = "group discrimination score"
CAUSAL = "causal discrimination score"
PEOPLE = ", people of the data"


def figures(result: BaselineResult) -> dict[str, Any]:
    return {figure.name: figure.value for figure in result.figures}


def binomial_bounds(rows: int, share: float) -> tuple[float, float]:
    """Shares that an honest count leaves once in a million."""
    low, high = binom.ppf([5e-7, 1 - 5e-7], rows, share) / rows
    return float(low), float(high)


def test_loans_to_women_only_score_one():
    result = Themis(fewest=50, most=50).run(subject(lambda rows: rows["gender"] == "female"))
    found = figures(result)
    assert [found[GROUP], found[CAUSAL], found[GROUP + PEOPLE], found[CAUSAL + PEOPLE]] == [1] * 4
    first = result.findings[0]
    assert first.text == "[gender = female] - [gender = male]"
    assert first.value == 1.0
    women = (people()["gender"] == "female").to_numpy()
    assert np.array_equal(first.rows, women)
    assert np.array_equal(first.rows_other, ~women)
    # By age alone women and men are mixed alike.
    assert all("gender" in finding.text for finding in result.findings)


def test_a_model_without_sensitive_features_scores_exactly_zero():
    result = Themis(fewest=500, most=500).run(
        subject(lambda rows: (rows["income"] >= 2) & (rows["debt"] < 0.5))
    )
    found = figures(result)
    assert [found[GROUP], found[CAUSAL], found[GROUP + PEOPLE], found[CAUSAL + PEOPLE]] == [0] * 4
    assert result.findings == ()


def test_other_features_are_uniform_over_their_domain():
    # Women always, men with an income of 2 or 3 of 0 to 3: half of them; so is every other score.
    result = Themis(fewest=4000, most=4000).run(
        subject(lambda rows: (rows["gender"] == "female") | (rows["income"] >= 2))
    )
    found = figures(result)
    low, high = binomial_bounds(4000, 0.5)
    assert low <= found[GROUP] <= high
    # The very men who are refused are those whose gender decides.
    assert found[CAUSAL] == pytest.approx(found[GROUP])
    assert found[GROUP + PEOPLE] == pytest.approx((people()["income"] < 2).mean())


def test_equal_rates_can_hide_that_gender_always_decides():
    result = Themis(fewest=4000, most=4000).run(
        subject(lambda rows: (rows["gender"] == "female") == (rows["income"] >= 2))
    )
    found = figures(result)
    low, high = binomial_bounds(4000, 0.5)
    assert found[CAUSAL] == 1.0
    # A woman's rate plus a man's is 1, so their difference is twice the distance from one half.
    assert found[GROUP] <= 2 * max(high - 0.5, 0.5 - low)


def test_an_intersection_is_the_widest_pair_and_its_features_come_after():
    result = Themis(fewest=100, most=100).run(
        subject(lambda rows: (rows["gender"] == "female") & (rows["age"] >= 40))
    )
    assert [finding.value for finding in result.findings] == pytest.approx([1.0, 0.5, 0.5])
    texts = [finding.text for finding in result.findings]
    assert texts[0].startswith("[gender = female and age >= 40] - [")
    assert texts[1:] == ["[gender = female] - [gender = male]", "[age >= 40] - [age < 40]"]
    assert result.groups == 4
    # 200 people are looked at, but no more than the rows that are generated.
    assert result.queries == 4 * (100 + 100)


def test_what_is_observed_takes_in_the_other_features():
    # All women have an income of 3, all men one of 0; the model knows the income only.
    frame = people().assign(
        income=lambda rows: np.where(rows["gender"] == "female", 3, 0), age=[20] * 199 + [60]
    )
    result = Themis(fewest=50, most=50).run(subject(lambda rows: rows["income"] >= 2, frame))
    found = figures(result)
    assert found[GROUP] == found[GROUP + PEOPLE] == 0.0
    assert found[GROUP + ", as observed"] == 1.0
    few = Themis(fewest=50, most=50).run(subject(lambda rows: rows["income"] >= 2, frame[-40:]))
    assert "fewer than two" in str(figures(few)[GROUP + ", as observed"])


def test_missing_is_a_category_but_no_age():
    frame = people().astype({"age": float})
    frame.loc[:9, "gender"] = None
    frame.loc[5:19, "age"] = np.nan
    result = Themis(fewest=50, most=50).run(subject(lambda rows: rows["gender"].isna(), frame))
    assert result.groups == 3 * 2
    assert result.findings[0].text.startswith("[gender = missing] - [")


@pytest.mark.parametrize(
    "types",
    [
        {},
        {"income": "int8", "debt": "float32", "gender": "category"},
        {"income": "Int64", "debt": "Float64", "home": "string"},
        {"income": "float64", "gender": "object", "home": "object"},
    ],
)
def test_generated_rows_have_the_types_and_domains_of_the_table(types: dict[str, Any]):
    frame = people().astype(types)
    seen = []

    def decide(rows: pd.DataFrame) -> Any:
        assert rows.dtypes.equals(frame.dtypes)
        seen.append(rows)
        return rows["gender"] == "female"

    result = Themis(fewest=200, most=200).run(subject(decide, frame))
    asked = pd.concat(seen[1:])
    assert len(asked) == result.queries
    assert set(asked["income"]) == {0, 1, 2, 3}
    assert set(asked["home"]) == {"none", "rent", "own"}
    assert asked["age"].between(0, 99).all()
    assert asked["age"].nunique() > 90
    assert asked["debt"].between(0, 1).all()


def test_too_many_combinations_are_those_that_occur():
    features = {
        f"share_{place}": {"type": "decimal", "range": [0, 1], "sensitive": True}
        for place in range(4)
    }
    specification = specification_from_mapping(
        {
            "dataset": {"name": "shares"},
            "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
            "features": features,
        }
    )
    frame = pd.DataFrame(np.random.default_rng(0).random((60, 4)), columns=list(features))
    model = load_model(lambda rows: rows["share_0"], specification).model
    table = check_table(frame, specification)
    result = Themis(fewest=20, most=20).run(subject_of(table, model, theta=0.05))
    occurring = len({tuple(row) for row in (frame.to_numpy() * 10).astype(int)})
    assert result.groups == occurring
    assert "of 10,000 possible combinations" in result.note
    assert [finding.value for finding in result.findings] == [1.0]


def test_the_time_limit_is_kept_after_a_first_block():
    result = Themis(fewest=10**9, most=10**9).run(
        subject(lambda rows: rows["gender"] == "female"), time_limit=0.0
    )
    assert "stopped after 0 s" in result.note
    assert result.findings[0].value == 1.0


def test_same_seed_same_figures():
    def run(seed: int) -> BaselineResult:
        return Themis(fewest=300, most=300).run(
            subject(lambda rows: (rows["age"] >= 40) | (rows["debt"] < 0.3), seed=seed)
        )

    assert figures(run(1)) == figures(run(1))
    assert figures(run(1))[GROUP] != figures(run(2))[GROUP]

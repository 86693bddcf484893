"""What an audit of rows says that ranks groups by the own effects of the sensitive features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.auditing.report.own_effects import OwnEffectSummary, own_effect_sentence
from testsgd.errors import ParameterError
from testsgd.report.formatting import size_points

QUICK: dict[str, Any] = {
    "sensitive_features": ["sex", "race"],
    "rank_by": "counterfactual",
    "replicates": 199,
    "stability": 0,
}
NO_OWN_EFFECT = "no group has a statistically significant own effect of the sensitive features"


def people(number: int = 4000, *, engineers: str, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Return people of whom nine in ten of a sex are engineers, and labels of chance."""
    generator = np.random.default_rng(seed)
    sex = generator.choice(["f", "m"], number)
    usual = np.where(sex == engineers, "eng", "care")
    other = np.where(sex == engineers, "care", "eng")
    frame = pd.DataFrame(
        {
            "sex": sex,
            "race": generator.choice(["A", "B", "C"], number, p=[0.6, 0.3, 0.1]),
            "job": np.where(generator.random(number) < 0.9, usual, other),
            "income": generator.integers(10, 60, number),
        }
    )
    return frame, pd.Series(generator.integers(0, 2, number), name="granted")


def by_job(frame: pd.DataFrame) -> Any:
    return ((frame["job"] == "eng") & (frame["income"] > 15)).to_numpy()


def by_sex_that_jobs_hide(frame: pd.DataFrame) -> Any:
    points = frame["income"] + 25 * (frame["sex"] == "m") + 30 * (frame["job"] == "eng")
    return (points > 55).to_numpy()


def by_sex_and_more_by_job(frame: pd.DataFrame) -> Any:
    """Women have less by their sex, and men far less by their jobs."""
    points = frame["income"] + 7 * (frame["sex"] == "m") + 40 * (frame["job"] == "eng")
    return (points > 55).to_numpy()


def own_effect_of_women(model: Any, frame: pd.DataFrame) -> float:
    """Return the rate of all rows as women less that of all rows as men."""
    return float(model(frame.assign(sex="f")).mean() - model(frame.assign(sex="m")).mean())


@pytest.mark.parametrize("chosen", [{}, {"holdout": 0.5}, {"guarantee": "fdr"}])
def test_groups_without_own_effects_are_ranked_by_their_differences(chosen: Any) -> None:
    """The model is given all columns and goes by the job, which goes with the sex."""
    frame, labels = people(engineers="m")
    summary = testsgd.audit(by_job, frame, labels, **QUICK, **chosen).summary
    assert summary.groups[0].text == "sex = f"
    assert summary.groups[0].own_effect is not None
    assert summary.groups[0].own_effect.difference == 0
    assert summary.verdict.headline.startswith("Women are predicted “1” ")
    assert NO_OWN_EFFECT in summary.verdict.headline
    assert "not statistically significant" not in summary.verdict.headline


def test_a_hair_of_an_own_effect_that_may_be_chance_ranks_no_group_first() -> None:
    frame, labels = people(engineers="m")

    def model(rows: pd.DataFrame) -> Any:
        # A single income at which the race counts.
        return by_job(rows) | ((rows["race"] == "C") & (rows["income"] == 10)).to_numpy() & (
            rows.index.to_numpy() % 40 == 0
        )

    summary = testsgd.audit(model, frame, labels, **QUICK).summary
    assert summary.groups[0].text == "sex = f"
    assert summary.verdict.headline.startswith("Women are predicted “1” ")


def test_the_headline_names_what_the_gate_fails_by() -> None:
    frame, labels = people(engineers="m")
    verdict = testsgd.audit(by_job, frame, labels, fail_above=0.05, **QUICK).summary.verdict
    assert verdict.exit_code == 1
    women = frame["sex"] == "f"
    difference = by_job(frame)[~women].mean() - by_job(frame)[women].mean()
    assert f"{size_points(difference)} less often than men" in verdict.headline


@pytest.mark.parametrize("guarantee", ["simultaneous", "fdr", "per-group"])
def test_an_effect_that_another_feature_makes_up_for_is_the_headline(guarantee: Any) -> None:
    frame, labels = people(engineers="f")
    model = by_sex_that_jobs_hide
    result = testsgd.audit(model, frame, labels, guarantee=guarantee, fail_above=0.1, **QUICK)
    verdict = result.summary.verdict
    effect = own_effect_of_women(model, frame)
    assert effect < -0.3
    assert verdict.exit_code == 1
    beginning = f"Women are predicted “1” {size_points(-effect)} less often than men by the "
    assert verdict.headline.startswith(f"{beginning}sensitive features themselves (confidence ")
    assert "may be chance" not in verdict.headline
    women = frame["sex"] == "f"
    rates = [100 * model(frame)[which].mean() for which in (women, ~women)]
    assert f"({rates[0]:.1f}% against {rates[1]:.1f}%" in verdict.headline
    figures = result.to_markdown()
    assert "First group's own effect" in figures


def test_who_is_worse_off_by_the_sensitive_features_comes_first() -> None:
    """In all men have less, by other features; by their sex women have less."""
    frame, labels = people(engineers="f")
    model = by_sex_and_more_by_job
    headline = testsgd.audit(model, frame, labels, **QUICK).summary.verdict.headline
    effect = own_effect_of_women(model, frame)
    women = frame["sex"] == "f"
    difference = model(frame)[women].mean() - model(frame)[~women].mean()
    assert effect < 0 < difference
    assert headline.startswith(f"Women are predicted “1” {size_points(-effect)} less often ")
    assert f"In all it is {size_points(difference)} more often (" in headline
    assert "another" not in headline


def test_a_larger_difference_of_another_group_stands_in_the_headline_too() -> None:
    """The race has a small effect of its own, and the sex a large one through the job."""
    frame, labels = people(engineers="m")

    def model(rows: pd.DataFrame) -> Any:
        return by_job(rows) & ~((rows["race"] == "B") & (rows["income"] < 30)).to_numpy()

    summary = testsgd.audit(model, frame, labels, fail_above=0.3, **QUICK).summary
    assert summary.verdict.exit_code == 1
    headline = summary.verdict.headline
    assert headline.startswith("Those with race B are predicted ")
    another = headline.partition("The surest difference in all is another: ")[2]
    assert another.startswith("women ")
    assert "less often" in another


def test_most_of_a_difference_that_is_made_up_for_reads_well() -> None:
    effect = OwnEffectSummary(
        difference=-0.489,
        confidence_interval=(-0.514, -0.464),
        observed_difference=-0.02,
        not_given=False,
    )
    assert own_effect_sentence(effect).replace("\N{MINUS SIGN}", "-") == (
        "Of the difference of -2.0 points, the sensitive features themselves account for -48.9 "
        "(confidence interval -51.4 to -46.4), and other features, which make up for most of that, "
        "for +46.9."
    )


def test_the_reason_why_there_is_no_own_effect_of_accuracy_is_the_metric() -> None:
    frame, labels = people(engineers="m")
    with pytest.raises(ParameterError, match="the metric is accuracy, and own effects are of"):
        testsgd.audit(by_job, frame, labels, metric="accuracy", **QUICK)


def test_the_accuracy_of_several_classes_is_described_as_what_it_counts() -> None:
    labels = np.array(["low", "middle", "high"])[np.arange(600) % 3]
    predicted = np.where(labels == "middle", "low", labels)
    sexes = pd.DataFrame({"sex": np.where(np.arange(600) % 2, "f", "m")})
    result = testsgd.audit_predictions(
        predicted, labels, sensitive_features=sexes, favourable="high", replicates=19, stability=0
    )
    # The middle ones that are predicted to be low agree in not being high.
    assert result.summary.model.accuracy == 1
    described = type(result.summary.model).model_fields["accuracy"].description
    assert described is not None
    assert "the favourable label, or another" in described

"""Intervals of metrics: they hold as often as they say, whatever the metric and its scale."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm

import testsgd
from testsgd.metrics.comparison import of_the_whole

RUNS = 80
ROWS = 600


def people_of(source: np.random.Generator) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], ROWS),
            "town": source.choice(["A", "B", "C"], ROWS, p=[0.6, 0.3, 0.1]),
        }
    )


def of_classes(source: np.random.Generator) -> dict[str, Any]:
    truth = source.random(ROWS) < 0.4
    said = np.where(truth, source.random(ROWS) < 0.8, source.random(ROWS) < 0.1)
    return {
        "y_pred": said.astype(int),
        "y_true": truth.astype(int),
        "metrics": ["selection_rate", "equalized_odds", "precision", "accuracy"],
    }


def of_weighted_classes(source: np.random.Generator) -> dict[str, Any]:
    return {**of_classes(source), "sample_weight": source.exponential(size=ROWS)}


def of_scores(source: np.random.Generator) -> dict[str, Any]:
    said = source.beta(0.5, 2.0, ROWS)
    return {
        "y_pred": said,
        "y_true": (source.random(ROWS) < said).astype(int),
        "metrics": ["mean_score", "calibration_error"],
    }


def of_numbers(source: np.random.Generator) -> dict[str, Any]:
    truth = source.gamma(4.0, 10.0, ROWS)
    return {
        "y_pred": truth + source.normal(0, 5, ROWS),
        "y_true": truth,
        "metrics": ["mean", "mean_error"],
    }


WORLDS = {
    "classes": of_classes,
    "weighted classes": of_weighted_classes,
    "scores": of_scores,
    "numbers": of_numbers,
}


@pytest.mark.parametrize(
    ("world", "reference"),
    [*((world, "rest") for world in WORLDS), ("weighted classes", "sex = m"), ("scores", "best")],
)
def test_where_groups_are_alike_few_audits_find_a_difference(world: str, reference: str) -> None:
    """No group differs in any metric: an interval without 0 is an error."""
    wrong = 0
    for run in range(RUNS):
        source = np.random.default_rng(7000 + run)
        people = people_of(source)
        data = WORLDS[world](source)
        if reference == "best":
            data["metrics"] = "mean_score"
        result = testsgd.audit_metrics(
            sensitive_features=people,
            reference=reference,
            replicates=199,
            min_rows=20,
            stability=0,
            **data,
        )
        wrong += any(metric.significant for metric in result.summary.metrics)
    assert wrong <= binom.ppf(1 - 1e-4, RUNS, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["difference", "ratio"])
@pytest.mark.parametrize("reference", ["rest", "overall", "sex = m"])
def test_intervals_of_one_group_cover_the_truth(measure: str, reference: str) -> None:
    """Women are selected at 30%, men at 50%, and half of the people are women."""
    truth = {
        ("rest", "difference"): -0.2,
        ("rest", "ratio"): 0.6,
        ("overall", "difference"): -0.1,
        ("overall", "ratio"): 0.75,
        ("sex = m", "difference"): -0.2,
        ("sex = m", "ratio"): 0.6,
    }[reference, measure]
    missed = 0
    runs = 300
    for run in range(runs):
        source = np.random.default_rng(run)
        woman = np.arange(200) % 2 == 0
        said = source.random(200) < np.where(woman, 0.3, 0.5)
        result = testsgd.audit_metrics(
            said.astype(int),
            sensitive_features={"sex": np.where(woman, "f", "m")},
            metrics="selection_rate",
            measure=measure,
            reference=reference,
            guarantee="per-group",
            # The ranking found again in other samples is not asked for here.
            stability=0,
        )
        # The summary's, as the table of all groups takes as long as the audit.
        (women,) = (one for one in result.summary.metrics[0].groups if one.text == "sex = f")
        low, high = women.confidence_interval
        missed += not low <= truth <= high
    assert missed <= binom.ppf(1 - 1e-4, runs, 0.05)
    # They are not uselessly wide either.
    assert missed >= 1


def test_a_selection_rate_has_the_interval_of_an_audit_of_it() -> None:
    source = np.random.default_rng(3)
    people = people_of(source)
    said = (source.random(ROWS) < 0.3 + 0.2 * (people["sex"] == "m")).astype(int)
    audit = testsgd.audit_predictions(
        said, sensitive_features=people, guarantee="per-group", stability=0
    )
    metrics = testsgd.audit_metrics(
        said, sensitive_features=people, metrics="selection_rate", guarantee="per-group"
    )
    ends = ["ci_low", "ci_high"]
    expected = audit.groups.set_index("text")[ends]
    found = metrics.groups.set_index("text")[ends].loc[expected.index]
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_several_metrics_share_the_error_rate() -> None:
    source = np.random.default_rng(4)
    people, data = people_of(source), of_classes(source)
    one = testsgd.audit_metrics(data["y_pred"], sensitive_features=people, metrics="selection_rate")
    several = testsgd.audit_metrics(sensitive_features=people, **data)
    alone, among = one.summary.metrics[0].error, several.summary.metrics[0].error
    assert among < alone
    # No smaller than by Bonferroni's inequality over everything.
    groups = several.summary.groups_compared * len(several.summary.metrics)
    assert among >= 0.05 / groups * (1 - 1e-9)


@pytest.mark.parametrize("measure", ["difference", "ratio"])
@pytest.mark.parametrize("reference", ["rest", "overall", "best", "sex = m"])
def test_bounds_are_the_ends_of_the_intervals(measure: str, reference: str) -> None:
    """Bounds are computed for all groups without their intervals, and yet are what these say."""
    source = np.random.default_rng(8)
    people = people_of(source)
    said = source.random(ROWS) < 0.1 + 0.5 * (people["sex"] == "m") * (people["town"] != "C")
    # A group in which nobody is selected has no logarithm.
    said &= ~((people["sex"] == "f") & (people["town"] == "B"))
    groups = testsgd.audit_metrics(
        said.astype(int),
        source.random(ROWS) < 0.5,
        sensitive_features=people,
        metrics=["selection_rate", "accuracy"],
        measure=measure,
        reference=reference,
        min_rows=20,
    ).groups
    none = 0.0 if measure == "difference" else 1.0
    nearest = np.clip(none, groups["ci_low"], groups["ci_high"])
    with np.errstate(divide="ignore"):
        ratios = 1 - np.minimum(nearest, 1 / nearest)
    expected = np.abs(nearest) if measure == "difference" else ratios
    np.testing.assert_allclose(groups["lower_bound"], expected, atol=1e-12)
    assert (groups["lower_bound"] > 0).any()
    assert (groups["lower_bound"] == 0).any()
    assert (groups["significant"] == (groups["lower_bound"] > 0)).all()


def test_all_metrics_share_one_bootstrap() -> None:
    """The largest deviation is that of weights drawn for every row, over groups and metrics."""
    source = np.random.default_rng(9)
    people, data = people_of(source), of_classes(source)
    said, true = data["y_pred"], data["y_true"]
    error = (
        testsgd.audit_metrics(sensitive_features=people, replicates=1999, min_rows=30, **data)
        .summary.metrics[0]
        .error
    )
    sexes = [people["sex"] == value for value in ("f", "m")]
    towns = [people["town"].isin(list(some)) for some in ("A", "B", "C", "AB", "AC", "BC")]
    groups = [*sexes, *towns, *(sex & town for sex in sexes for town in towns)]
    masses = {
        "selection": (said, np.ones(ROWS)),
        "true positives": (said * true, true),
        "false positives": (said * (1 - true), 1 - true),
        "precision": (said * true, said),
        "accuracy": (said == true, np.ones(ROWS)),
    }
    influences = []
    for numerator, denominator in masses.values():
        for group in map(np.asarray, groups):
            parts = []
            for side, sign in ((group, 1), (~group, -1)):
                bottom = denominator[side].sum()
                if (denominator[side] > 0).sum() < 30:
                    break
                value = numerator[side].sum() / bottom
                parts.append(sign * side * (numerator - value * denominator) / bottom)
            else:
                influence = sum(parts)
                influences.append(influence / np.sqrt((influence**2).sum()))
    weights = source.standard_normal((2000, ROWS))
    largest = np.abs(weights @ np.array(influences).T).max(axis=1)
    # The share of the samples beyond the audit's quantile is 5%, but for two bootstraps' chance.
    beyond = (largest > norm.ppf(1 - error / 2)).mean()
    assert 0.03 < beyond < 0.07


def test_many_groups_are_summed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    source = np.random.default_rng(6)
    people, data = people_of(source), of_classes(source)
    whole = testsgd.audit_metrics(sensitive_features=people, replicates=99, **data)
    monkeypatch.setattr("testsgd.metrics.bootstrap._MOST_GROUPS", 3)
    parts = testsgd.audit_metrics(sensitive_features=people, replicates=99, **data)
    assert parts.summary.metrics == whole.summary.metrics


def test_a_mean_has_the_interval_of_students_t() -> None:
    """Of one group alone, far from the others, the half-width is that of Welch's by and large."""
    source = np.random.default_rng(5)
    woman = np.arange(2000) % 2 == 0
    values = np.where(woman, 10.0, 20.0) + source.normal(0, 3.0, 2000)
    result = testsgd.audit_metrics(
        values,
        sensitive_features={"sex": np.where(woman, "f", "m")},
        metrics="mean",
        guarantee="per-group",
    )
    group = result.groups.set_index("text").loc["sex = f"]
    spread = np.sqrt(values[woman].var(ddof=1) / 1000 + values[~woman].var(ddof=1) / 1000)
    half = (group["ci_high"] - group["ci_low"]) / 2
    # The largest sum over the angles is between those that are looked at.
    assert half == pytest.approx(norm.ppf(0.975) * spread, rel=0.02)


def test_rounding_is_no_difference() -> None:
    """The same error for everybody, but for the last digits."""
    source = np.random.default_rng(13)
    people = people_of(source)
    said = source.normal(50, 10, ROWS)
    result = testsgd.audit_metrics(
        said, said + 0.01, sensitive_features=people, metrics="mean_error"
    )
    assert result.summary.metrics[0].significant == 0


@pytest.mark.parametrize("measure", ["difference", "ratio"])
@pytest.mark.parametrize("weighted", [False, True])
def test_intervals_against_all_rows_know_that_shares_are_sampled(
    measure: str, weighted: bool
) -> None:
    """Nearly all of A are selected and few of B; the share of A is another one in every sample."""
    rates, share = np.array([0.95, 0.1]), np.array([0.4, 0.6])
    # Selected people weigh more, so that shares of the weights and rates go together.
    weight = 3.0 if weighted else 1.0
    selected = share * rates * weight
    everything = selected + share * (1 - rates)
    of_all = selected.sum() / everything.sum()
    of_groups = selected / everything
    truth = of_groups - of_all if measure == "difference" else of_groups / of_all
    missed = 0
    for run in range(RUNS):
        source = np.random.default_rng(300 + run)
        group = (source.random(ROWS) >= share[0]).astype(int)
        said = source.random(ROWS) < rates[group]
        findings = testsgd.audit_metrics(
            said.astype(int),
            sensitive_features=pd.DataFrame({"group": np.array(["A", "B"])[group]}),
            sample_weight=np.where(said, weight, 1.0),
            metrics="selection_rate",
            reference="overall",
            measure=measure,
            replicates=199,
            stability=0,
        ).findings
        assert findings.rule_sets.texts(np.arange(2)).tolist() == ["group = A", "group = B"]
        low, high = findings.metrics[0].compared.intervals(np.arange(2))
        missed += not ((low <= truth) & (truth <= high)).all()
    assert missed <= binom.ppf(1 - 1e-4, RUNS, 0.05)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("measure", ["difference", "ratio"])
def test_what_differs_from_the_rest_differs_from_all_rows_and_nothing_else(
    measure: str, seed: int
) -> None:
    source = np.random.default_rng(seed)
    people = people_of(source)
    said = (source.random(ROWS) < 0.3 + 0.3 * ((people["sex"] == "f") & (seed == 2))).astype(int)
    found = []
    for reference in ("rest", "overall"):
        compared = (
            testsgd.audit_metrics(
                said,
                sensitive_features=people,
                metrics="selection_rate",
                reference=reference,
                measure=measure,
                guarantee="per-group",
                min_rows=20,
                stability=0,
            )
            .findings.metrics[0]
            .compared
        )
        found.append(compared)
        groups = np.flatnonzero(compared.judged)
        low, high = compared.intervals(groups)
        none = 0.0 if measure == "difference" else 1.0
        assert ((low <= compared.effect[groups]) & (compared.effect[groups] <= high)).all()
        assert ((low > none) | (high < none)).tolist() == compared.significant[groups].tolist()
    assert found[0].significant.tolist() == found[1].significant.tolist()
    assert found[0].significant.any() or seed < 2


@given(
    share=st.floats(0.01, 0.99),
    first=st.floats(0.01, 1.0),
    second=st.floats(0.01, 1.0),
)
def test_comparisons_with_all_rows_follow_from_those_with_the_rest(
    share: float, first: float, second: float
) -> None:
    overall = share * first + (1 - share) * second
    shares = np.array([share])
    difference = of_the_whole(np.array([first - second]), shares, measure="difference")
    ratio = of_the_whole(np.array([first / second]), shares, measure="ratio")
    assert difference[0] == pytest.approx(first - overall, abs=1e-12)
    assert ratio[0] == pytest.approx(first / overall, rel=1e-9)


def rounded_predictions(kind: str) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return people, true numbers, and predictions of these that are wrong by rounding only."""
    source = np.random.default_rng(4)
    people = pd.DataFrame({"sex": source.choice(["f", "m"], 800)})
    is_f = (people["sex"] == "f").to_numpy()
    if kind == "sums":
        truth = np.where(is_f, 0.3, 0.5)
        return people, truth, np.where(is_f, 0.1 + 0.2, 0.5)
    if kind == "zeros":
        truth = np.where(is_f, 0.0, 40.0)
        return people, truth, np.where(is_f, 3e-15, 40.0)
    truth = source.normal(5e4, 1e4, 800)
    return people, truth, np.where(is_f, np.nextafter(truth, np.inf), truth)


@pytest.mark.parametrize("kind", ["sums", "zeros", "steps"])
@pytest.mark.parametrize("metric", ["mean_error", "mean_absolute_error"])
def test_errors_of_rounding_are_none(kind: str, metric: str) -> None:
    people, truth, said = rounded_predictions(kind)
    assert (truth != said).any()
    found = testsgd.audit_metrics(
        said, truth, sensitive_features=people, metrics=metric, fail_above=0.0
    )
    assert (found.groups["effect"] == 0).all()
    assert not found.findings.metrics[0].compared.significant.any()
    assert found.verdict.exit_code == 0


def test_small_errors_above_rounding_stay() -> None:
    people, truth, _ = rounded_predictions("steps")
    said = truth + np.where(people["sex"] == "f", 1e-5, 0.0)
    found = testsgd.audit_metrics(said, truth, sensitive_features=people, metrics="mean_error")
    assert found.groups["effect"].abs().iloc[0] == pytest.approx(1e-5, rel=1e-4)
    assert found.findings.metrics[0].compared.significant.any()


def test_means_that_differ_by_rounding_do_not_differ() -> None:
    people = pd.DataFrame({"sex": ["f", "m"] * 400})
    said = np.tile([0.1 + 0.2, 0.3], 400) * 100
    found = testsgd.audit_metrics(said, sensitive_features=people, metrics="mean")
    assert (found.groups["effect"] == 0).all()


@pytest.mark.parametrize("metric", ["selection_rate", "true_positive_rate", "accuracy"])
@pytest.mark.parametrize("reference", ["rest", "overall"])
def test_where_all_rows_agree_no_interval_is_narrower_than_one_alone(
    metric: str, reference: str
) -> None:
    # All are selected, or all of them rightly: rates of 100%, whatever the group.
    rows = 240
    people = pd.DataFrame({"sex": ["f", "m"] * (rows // 2), "town": list("AABB") * (rows // 4)})
    truth = np.arange(rows) // 4 % 2
    said = truth if metric == "accuracy" else np.ones(rows, dtype=int)

    def audit(guarantee: Any) -> testsgd.metrics.MetricsResult:
        return testsgd.audit_metrics(
            said,
            truth,
            sensitive_features=people,
            metrics=[metric],
            favourable=1,
            reference=reference,
            guarantee=guarantee,
        )

    alone, together = (audit(guarantee) for guarantee in ("per-group", "simultaneous"))
    (of_alone,), (of_together,) = alone.summary.metrics, together.summary.metrics
    assert 0.05 / len(of_together.groups) <= of_together.error <= 0.05 + 1e-12
    for one, other in zip(of_alone.groups, of_together.groups, strict=True):
        assert one.text == other.text
        assert one.confidence_interval is not None
        assert other.confidence_interval is not None
        assert other.confidence_interval[0] <= one.confidence_interval[0] < -0.005
        assert other.confidence_interval[1] >= one.confidence_interval[1]


def test_a_gate_does_not_pass_on_rows_that_all_agree() -> None:
    people = pd.DataFrame({"sex": ["f", "m"] * 60})
    verdict = testsgd.audit_metrics(
        np.ones(120, dtype=int),
        np.arange(120) % 2,
        sensitive_features=people,
        metrics=["selection_rate"],
        favourable=1,
        strict=True,
        fail_above=0.02,
    ).verdict
    assert verdict.exit_code == 3


@pytest.mark.parametrize("share", [0.97, 0.98])
def test_intervals_cover_where_often_all_rows_agree(share: float) -> None:
    sex = np.repeat(["f", "m"], 60)
    runs = 40
    missed = 0
    for run in range(runs):
        source = np.random.default_rng(run)
        said = np.r_[np.ones(60, dtype=int), (source.random(60) < share).astype(int)]
        # Only the runs in which all are selected are the hard ones.
        said[60:] = 1 if run < runs // 2 else said[60:]
        result = testsgd.audit_metrics(
            said,
            np.arange(120) % 2,
            sensitive_features={"sex": sex},
            metrics=["selection_rate"],
            favourable=1,
            replicates=99,
            stability=0,
        )
        (group, *_) = [
            group for group in result.summary.metrics[0].groups if group.text == "sex = f"
        ] or result.summary.metrics[0].groups
        assert group.confidence_interval is not None
        low, high = group.confidence_interval
        truth = (1 - share) * (1 if group.text == "sex = f" else -1)
        missed += not low <= truth <= high
    assert missed <= binom.ppf(0.999, runs, 0.05)

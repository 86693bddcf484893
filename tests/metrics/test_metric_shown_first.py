"""The groups of a metric that are shown first, and what a verdict says of them, by brute force."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.fairness.audited_groups import audited_groups
from testsgd.metrics import audit_counts
from testsgd.report.formatting import confidence

TPR, FPR = "true_positive_rate", "false_positive_rate"
ROWS = 3000
# So many groups are listed that the rankings are whole.
QUICK: dict[str, Any] = {
    "replicates": 99,
    "min_rows": 20,
    "stability": 0,
    "top": 100_000,
    "bins": 4,
}


@dataclass(frozen=True)
class World:
    """People with predictions, true labels and weights."""

    frame: pd.DataFrame
    said: Any
    true: Any
    weights: Any

    def audit(self, **options: Any) -> Any:
        return testsgd.audit_metrics(
            self.said, self.true, sensitive_features=self.frame, **{**QUICK, **options}
        )


def world(seed: int, *, missing: bool = False) -> World:
    """Women, and people of land c, are treated worse; some ages may be unknown."""
    source = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], ROWS),
            "land": source.choice(["a", "b", "c"], ROWS, p=[0.6, 0.3, 0.1]),
            "age": source.integers(20, 70, ROWS).astype(float),
        }
    )
    true = source.integers(0, 2, ROWS)
    women, land, age = (frame[name].to_numpy() for name in frame)
    less = 0.3 * ((women == "f") & (age > 40)) + 0.25 * (land == "c") + 0.1 * (women == "f")
    said = (source.random(ROWS) < 0.35 + 0.4 * true - less).astype(int)
    if missing:
        frame.loc[source.random(ROWS) < 0.2, "age"] = np.nan
    return World(frame, said, true, source.exponential(size=ROWS))


def counts_for(metric: str, people: World) -> Any:
    """Give 1 to each row that a metric counts, else 0."""
    return {
        "selection_rate": np.ones(ROWS),
        TPR: people.true == 1,
        FPR: people.true == 0,
        "precision": people.said == 1,
    }[metric].astype(float)


def sides(group: Any, frame: pd.DataFrame) -> tuple[Any, Any]:
    """Give the rows of a group and those of its complement."""
    inside, known = np.ones(len(frame), bool), np.ones(len(frame), bool)
    for rule in group.rules:
        values = frame[rule.feature]
        if rule.values:
            named = values.astype(object).where(values.notna(), "missing")
            inside &= named.isin(rule.values).to_numpy()
            continue
        known &= values.notna().to_numpy()
        low = -np.inf if rule.low is None else rule.low
        high = np.inf if rule.high is None else rule.high
        inside &= ((values >= low) & (values < high)).to_numpy()
    return inside, known & ~inside


def walk(
    groups: list[Any], frame: pd.DataFrame, amount: Callable[[Any], float], complements: bool
) -> list[str]:
    """Take the first group and all significant ones that are far from each taken before."""
    taken: list[tuple[str, Any, Any]] = []
    for place, group in enumerate(groups):
        inside, outside = sides(group, frame)
        is_small = amount(inside) <= amount(outside) + 1e-9
        if place and (not group.significant or (complements and not is_small)):
            continue
        apart = True
        for _, other, other_outside in taken:
            both = amount(inside & other)
            here, there = amount(inside & other_outside), amount(outside & other)
            neither = amount(outside & other_outside)
            apart &= both <= 0.5 * (both + min(here, there)) + 1e-9
            spread = (both + here) * (there + neither) * (both + there) * (here + neither)
            if complements and spread:
                apart &= (both * neither - here * there) / np.sqrt(spread) >= -0.5 - 1e-9
        if apart and len(taken) < 6:
            turned = complements and not is_small
            taken.append((group.text, *((outside, inside) if turned else (inside, outside))))
    return [text for text, *_ in taken]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reference", ["rest", "overall", "best", "sex = m"])
@pytest.mark.parametrize("seed", [1, 2])
def test_first_groups_are_a_walk_down_each_ranking(
    reference: str, weighted: bool, seed: int
) -> None:
    people = world(seed, missing=seed == 2)
    weights = people.weights if weighted else None
    metrics = ["selection_rate", TPR, FPR, "precision"]
    result = people.audit(metrics=metrics, reference=reference, sample_weight=weights)
    several = 0
    for metric in result.summary.metrics:
        counted = counts_for(metric.name, people) * (people.weights if weighted else 1)
        expected = walk(
            metric.groups,
            people.frame,
            lambda rows, counted=counted: float(counted[rows].sum()),  # type: ignore[misc]
            complements=reference in ("rest", "overall"),
        )
        assert [group.text for group in metric.groups if group.distinct] == expected
        several += len(expected) > 2
    assert several


def test_all_views_and_monitors_have_the_same_first_groups() -> None:
    people = world(3)
    result = people.audit(metrics=[TPR, "selection_rate"])
    written = json.loads(result.to_json())["metrics"]
    for place, metric in enumerate(result.summary.metrics):
        first = [group.text for group in metric.groups if group.distinct]
        assert len(first) > 1
        assert [item["text"] for item in written[place]["groups"] if item["distinct"]] == first
        across = [group.text for group in result.summary.groups]
        assert set(first) <= set(across)
        watched = audited_groups(result.to_json(), groups=2, preferred=[metric.name])
        assert [group.text for group in watched] == first[:2]


def test_groups_held_out_are_still_all_that_are_no_near_copies() -> None:
    """A gate on held-out rows is not passed because fewer groups are estimated there."""
    result = world(4).audit(metrics="selection_rate", holdout=0.5, top=20)
    [metric] = result.summary.metrics
    assert len(metric.groups) > 6
    assert sum(group.distinct for group in metric.groups) <= 6


@pytest.mark.parametrize("measure", ["difference", "ratio"])
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_equalized_odds_is_the_larger_by_size(seed: int, measure: str) -> None:
    people = world(seed)
    result = people.audit(metrics="equalized_odds", measure=measure)
    [joint] = result.summary.joint
    found = {}
    for metric in result.summary.metrics:
        counted = counts_for(metric.name, people).astype(bool)
        for group in metric.groups:
            inside, outside = (side & counted for side in sides(group, people.frame))
            values = people.said[inside].mean(), people.said[outside].mean()
            size = abs(values[0] - values[1])
            if measure == "ratio":
                size = 1 - min(values) / max(values)
            found[metric.name, group.text] = (size, group)
    largest = max(size for size, _ in found.values())
    size, group = found[joint.metric, joint.group]
    assert size == pytest.approx(largest)
    assert joint.effect == pytest.approx(group.effect)
    assert joint.largest.confidence_interval == pytest.approx(group.confidence_interval)
    assert joint.largest.lower_confidence_bound == pytest.approx(group.lower_confidence_bound)
    # The gate goes by the largest bound; whose that is stands beside it.
    bounds = {key: other.lower_confidence_bound for key, (_, other) in found.items()}
    surest = joint.most_certain
    assert joint.lower_confidence_bound == max(bounds.values())
    assert bounds[surest.metric, surest.text] == max(bounds.values())
    # No first group of a metric, which stands above, has a larger effect than the one printed.
    first = [found[metric.name, metric.groups[0].text][0] for metric in result.summary.metrics]
    assert size >= max(first) - 1e-12


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_gate_goes_by_bounds_and_sizes_of_all_groups(seed: int) -> None:
    people = world(seed)
    free = people.audit(metrics="equalized_odds").summary
    bound = max(metric.largest_bound for metric in free.metrics)
    size = max(metric.largest for metric in free.metrics)
    assert free.joint[0].lower_confidence_bound == bound
    assert abs(free.joint[0].effect) == pytest.approx(size)
    for limit, code in ((bound - 1e-6, 1), ((bound + size) / 2, 3), (size + 1e-6, 0)):
        assert people.audit(metrics="equalized_odds", fail_above=limit).exit_code == code


def two_groups(*, women_selected: float) -> World:
    """Women are selected at one rate, men at 60%; one in four women has a favourable label."""
    sex = np.repeat(["Female", "Male"], 1000)
    said = np.concatenate([np.arange(1000) < 1000 * women_selected, np.arange(1000) < 600])
    true = np.concatenate([np.arange(1000) % 4 == 0, np.arange(1000) % 2 == 0])
    return World(pd.DataFrame({"sex": sex}), said.astype(int), true.astype(int), None)


@pytest.mark.parametrize(
    ("metric", "women_selected", "worse_off", "than"),
    [
        ("selection_rate", 0.3, "women", "men"),
        ("selection_rate", 0.9, "men", "women"),
        (TPR, 0.3, "women", "men"),
        (TPR, 0.9, "men", "women"),
        # A higher one is worse here.
        (FPR, 0.9, "women", "men"),
        (FPR, 0.3, "men", "women"),
    ],
)
@pytest.mark.parametrize("measure", ["difference", "ratio"])
def test_headline_names_who_is_worse_off_first(
    metric: str, women_selected: float, worse_off: str, than: str, measure: str
) -> None:
    people = two_groups(women_selected=women_selected)
    result = people.audit(metrics=metric, measure=measure)
    headline = result.verdict.headline.lower()
    assert headline.startswith(worse_off)
    assert f" {than} (" in headline
    assert "sex =" not in headline
    # The figures are those of the two sides, in this order.
    women = (people.frame["sex"] == "Female").to_numpy()
    everybody = np.ones(len(women), bool)
    counted = {TPR: people.true == 1, FPR: people.true == 0}.get(metric, everybody)
    rates = {
        "women": people.said[women & counted].mean(),
        "men": people.said[~women & counted].mean(),
    }
    assert f"({100 * rates[worse_off]:.1f}% against {100 * rates[than]:.1f}%" in headline
    if measure == "ratio":
        assert f"{rates[worse_off] / rates[than]:.3f}" in headline
    else:
        assert f"{100 * abs(rates[worse_off] - rates[than]):.1f} points" in headline
    # Of a selection rate the true labels of both sides stand beside it.
    in_file = {"women": "25.0%", "men": "50.0%"}
    base_rates = f"{in_file[worse_off]} against {in_file[than]}"
    assert (base_rates in headline) == (metric == "selection_rate")


def test_base_rates_are_of_known_labels_by_weight() -> None:
    people = two_groups(women_selected=0.3)
    true = people.true.astype(float)
    true[::3] = np.nan
    weights = np.linspace(1, 2, len(true))
    result = testsgd.audit_metrics(
        people.said,
        true,
        sensitive_features=people.frame,
        sample_weight=weights,
        metrics="selection_rate",
        **QUICK,
    )
    group = result.summary.metrics[0].groups[0]
    inside = (people.frame["sex"] == group.rules[0].values[0]).to_numpy()
    for side, base_rate in ((inside, group.base_rate), (~inside, group.reference_base_rate)):
        known = side & ~np.isnan(true)
        assert base_rate == pytest.approx(np.average(true[known], weights=weights[known]))
    without = testsgd.audit_metrics(people.said, sensitive_features=people.frame, **QUICK)
    assert without.summary.metrics[0].groups[0].base_rate is None


def test_all_rows_and_metrics_without_a_better_side_are_never_named_first() -> None:
    people = two_groups(women_selected=0.9)
    women_first = people.audit(metrics="selection_rate", reference="overall")
    assert not women_first.verdict.headline.lower().startswith("all rows")
    numbers = testsgd.audit_metrics(
        people.said * 7.5 + np.linspace(0, 1, 2000), sensitive_features=people.frame, **QUICK
    )
    group = numbers.summary.metrics[0].groups[0]
    words = {"Female": "women", "Male": "men"}[group.rules[0].values[0]]
    assert numbers.verdict.headline.lower().startswith(words)


@pytest.mark.parametrize("looks", [1, 2, 3, 7])
def test_a_shared_confidence_has_few_digits(looks: int) -> None:
    level = 1 - 0.005 / looks
    text = confidence(level)
    assert len(text) <= len("99.929%")
    error = 100 - float(text.removesuffix("%"))
    assert error == pytest.approx(100 * (1 - level), rel=0.05)
    assert [confidence(sure) for sure in (0.9, 0.95, 0.999)] == ["90%", "95%", "99.9%"]


def test_the_file_on_disk_is_what_a_monitor_reads(tmp_path: Path) -> None:
    result = world(5).audit(metrics=TPR)
    file = tmp_path / "result.json"
    file.write_text(result.to_json())
    first = [group.text for group in result.summary.metrics[0].groups if group.distinct]
    assert [group.text for group in audited_groups(file, groups=6)] == first


@pytest.mark.parametrize("measure", ["difference", "ratio"])
@pytest.mark.parametrize(
    ("women", "men"), [(1_000, 1_200), (0, 40), (300_000_000, 300_050_000)], ids=str
)
def test_differences_of_rare_events_among_very_many_are_not_written_as_nothing(
    women: int, men: int, measure: str
) -> None:
    size = 10**9
    counts = pd.DataFrame(
        {
            "sex": ["f", "f", "m", "m"],
            "approved": ["yes", "no"] * 2,
            "rows": [women, size - women, men, size - men],
        }
    )
    result = audit_counts(
        counts, predictions="approved", sensitive_features=["sex"], measure=measure
    )
    clause, _, ends = result.verdict.headline.partition("interval")
    [rates] = [part.split(")")[0] for part in clause.split("(")[1:]]
    of_women, of_men = re.findall(r"[\d.]+%", rates)
    assert float(of_women.rstrip("%")) == pytest.approx(100 * women / size, abs=1e-6)
    assert of_women != of_men
    if measure == "difference":
        assert all(float(number) > 0 for number in re.findall(r"\d+\.\d+", ends))

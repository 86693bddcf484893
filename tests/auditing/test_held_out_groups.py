"""Groups found on one part of the rows and estimated on the other."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from null_people import SPECIFICATION, audited, people
from scipy.stats import binom

import testsgd
from testsgd.auditing import AuditParameters, run_audit
from testsgd.auditing.run import part_of_rows, split_rows
from testsgd.data import check_table
from testsgd.errors import ParameterError
from testsgd.models import load_model


def against_women_of_b(frame: pd.DataFrame) -> np.ndarray:
    unlucky = (frame["sex"] == "f") & (frame["land"] == "b")
    return np.where(frame["points"] < np.where(unlucky, 20_000, 50_000), "yes", "no")


@pytest.fixture(scope="module")
def found():
    table = check_table(people(2000, 1), SPECIFICATION)
    model = load_model(against_women_of_b, SPECIFICATION)
    parameters = AuditParameters(holdout=0.4, seed=5, replicates=99)
    return table, run_audit(model, table, parameters)


def test_the_parts_are_the_rows_each_once(found):
    table, _ = found
    searched, kept = split_rows(table, 0.4, 5)
    assert (len(searched), len(kept)) == (1200, 800)
    together = sorted([*searched.frame.index, *kept.frame.index])
    assert together == list(range(2000))
    assert searched.frame.index.is_monotonic_increasing
    assert kept.notes[-1].startswith("groups were found on 1,200 rows and estimated on 800 others")


def test_figures_are_those_of_the_rows_kept(found):
    table, findings = found
    _, kept = split_rows(table, 0.4, 5)
    assert findings.rows == 800
    frame = kept.frame
    for group in range(len(findings.rule_sets)):
        inside = findings.rule_set(group).matches(kept)
        assert findings.estimates.rows_in[group] == inside.sum()
        yes = against_women_of_b(frame) == "yes"
        # A step changes the decision of next to nobody, so the rates are those of the rows.
        expected = yes[inside].mean() - yes[~inside].mean()
        assert findings.estimates.difference[group] == pytest.approx(expected, abs=2e-3)


def test_groups_and_what_they_looked_like_are_those_of_the_rows_searched(found):
    table, findings = found
    searched, _ = split_rows(table, 0.4, 5)
    model = load_model(against_women_of_b, SPECIFICATION)
    there = run_audit(model, searched, AuditParameters(seed=5, guarantee="per-group"))
    texts = [there.rule_set(group).text for group in there.highlights]
    assert [findings.rule_set(group).text for group in range(len(findings.rule_sets))] == texts
    for place, group in enumerate(there.highlights):
        looked = findings.in_search[place]
        assert looked.score == there.estimates.score[group]
        assert looked.n_in == there.estimates.rows_in[group]
        assert there.ranking[looked.rank - 1] == group


def test_every_rule_and_the_first_group_are_explained_by_the_rows_kept(found):
    _, findings = found
    assert len(findings.rules) > 0
    assert set(findings.explanations) == set(range(len(findings.rule_sets)))
    assert set(findings.distinct) <= set(findings.explanations)


def test_the_guarantee_is_for_the_few_groups_found(found):
    _, findings = found
    assert findings.guarantee.groups == len(findings.rule_sets) <= 20
    assert findings.guarantee.method == "bonferroni"
    assert findings.holdout.groups > 20


def test_the_model_is_asked_about_every_row_once_more_than_its_neighbours(found):
    _, findings = found
    # Two neighbours a row that differ in points, the row itself, and 1,000 probed rows a part.
    own = 0 if findings.own_effects is None else findings.own_effects.queries
    assert findings.queries - own <= 2000 * 3 + 2 * 2000


def test_chosen_groups_look_worse_where_they_were_chosen():
    excess = []
    for seed in range(40):
        findings = audited(600, seed, holdout=0.5)
        searched = [one.score for one in findings.in_search.values()]
        excess.append(np.mean(searched) - findings.estimates.score.mean())
    # By chance alone half of them would look worse.
    assert (np.array(excess) > 0).sum() > binom.ppf(1 - 1e-4, len(excess), 0.5)
    assert np.mean(excess) > 0.02


@pytest.mark.parametrize("share", [0.0001, 0.9999])
def test_a_part_without_rows_is_refused(share):
    table = check_table(people(100, 1), SPECIFICATION)
    with pytest.raises(ParameterError, match="leaves one part without rows"):
        split_rows(table, share, 0)


def few_of_c(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return people, of whom few are of C, and decisions that are against these."""
    source = np.random.default_rng(seed)
    race = source.choice(["A", "B", "C"], 2400, p=[0.6, 0.33, 0.07])
    decided = source.random(2400) < 0.5 - 0.15 * (race == "C")
    return pd.DataFrame({"race": race}), decided.astype(int)


def largest_held_out(
    frame: pd.DataFrame, decided: np.ndarray, seed: int, estimated: set[str]
) -> tuple[float, float]:
    """Return the largest difference and the smallest ratio of other groups of the rows held out."""
    table = check_table(frame.assign(decided=decided).astype(str), of_race())
    held_out = part_of_rows(table, 0.5, seed)
    race = frame["race"].to_numpy()[held_out]
    chosen = decided[held_out]
    differences = []
    ratios = []
    for value in "ABC":
        inside = race == value
        others = ", ".join(sorted(set("ABC") - {value}))
        # A group and its complement are one comparison.
        is_estimated = not estimated.isdisjoint({f"race = {value}", f"race in {{{others}}}"})
        if is_estimated or min(inside.sum(), (~inside).sum()) < 50:
            continue
        rates = sorted([chosen[inside].mean(), chosen[~inside].mean()])
        differences.append(rates[1] - rates[0])
        ratios.append(rates[0] / rates[1])
    return max(differences), min(ratios)


def of_race() -> testsgd.DatasetSpecification:
    return testsgd.DatasetSpecification.model_validate(
        {
            "dataset": {"name": "people"},
            "label": {"column": "decided", "values": ["0", "1"], "favourable": "1"},
            "features": {
                "race": {"type": "categorical", "values": ["A", "B", "C"], "sensitive": True}
            },
        }
    )


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("guarantee", ["simultaneous", "per-group", "fdr"])
def test_a_gate_passes_only_if_no_other_group_is_above_it_in_the_rows_held_out(
    seed: int, guarantee: str
) -> None:
    frame, decided = few_of_c(8)

    def audit(**options: Any) -> Any:
        return testsgd.audit_predictions(
            decided,
            sensitive_features=frame,
            holdout=0.5,
            seed=seed,
            guarantee=guarantee,
            replicates=99,
            stability=0,
            **options,
        )

    found = audit(fail_above=0.1, fail_below_ratio=0.8)
    shown = found.summary.groups
    estimated = {group.text for group in shown}
    largest, smallest = largest_held_out(frame, decided, seed, estimated)
    holdout = found.summary.holdout
    assert holdout.largest_unestimated.size == pytest.approx(largest)
    assert holdout.smallest_unestimated_ratio.size == pytest.approx(smallest)
    everything = max(largest, *(group.score for group in shown))
    above = audit(fail_above=everything - 0.01)
    assert above.verdict.exit_code in (1, 3)
    assert audit(fail_below_ratio=smallest + 0.01).verdict.exit_code in (1, 3)
    assert audit(fail_above=everything + 0.01).verdict.exit_code == 0
    ratios = [smallest]
    for group in shown:
        lower, higher = sorted([group.rate_in, group.rate_out])
        ratios.append(lower / higher)
    assert audit(fail_below_ratio=min(ratios) - 0.01).verdict.exit_code == 0


@pytest.mark.parametrize("measure", ["difference", "ratio"])
@pytest.mark.parametrize("seed", [0, 1])
def test_so_does_a_gate_of_metrics(seed: int, measure: str) -> None:
    frame, decided = few_of_c(8)

    def audit(limit: float) -> Any:
        return testsgd.audit_predictions(
            decided,
            sensitive_features=frame,
            metrics=["selection_rate"],
            measure=measure,
            holdout=0.5,
            seed=seed,
            replicates=99,
            stability=0,
            fail_above=limit if measure == "difference" else None,
            fail_below=1 - limit if measure == "ratio" else None,
        )

    [metric] = audit(0.1).summary.metrics
    texts = {group.text for group in metric.groups}
    largest, smallest = largest_held_out(frame, decided, seed, texts)
    expected = largest if measure == "difference" else 1 - smallest
    assert metric.unestimated.size == pytest.approx(expected)
    everything = max(expected, metric.largest)
    assert audit(everything - 0.01).verdict.exit_code in (1, 3)
    assert audit(everything + 0.01).verdict.exit_code == 0


def test_too_few_draws_tell_nothing_of_other_groups() -> None:
    frame, _ = few_of_c(3)
    frame["income"] = np.random.default_rng(4).uniform(size=len(frame))
    found = testsgd.audit(
        lambda rows: (rows["income"] > 0.5).astype(int),
        frame,
        sensitive_features=["race"],
        holdout=0.5,
        mode="sampled",
        max_queries=2_600,
        fail_above=0.3,
        stability=0,
    )
    left = found.summary.holdout.largest_unestimated
    assert left is None or left.size < 0.3
    assert found.verdict.exit_code in (0, 3)

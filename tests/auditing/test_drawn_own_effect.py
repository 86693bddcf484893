"""Own effects that are estimated from draws against those of the full table, and the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import testsgd
from testsgd.auditing.drawn_own_effect import DrawnEffect, Plan, draw_own_effects
from testsgd.auditing.findings import TableFindings
from testsgd.auditing.outcome import RowAudit
from testsgd.auditing.report.own_effects import own_effect_sentence
from testsgd.auditing.result import AuditResult
from testsgd.data import DatasetSpecification, check_table
from testsgd.errors import ParameterError
from testsgd.rules import sensitive_axes
from testsgd.scoring import Clusters

QUICK: dict[str, Any] = {"replicates": 19, "stability": 0, "min_rows": 50}
ROWS = 1_500

PEOPLE: dict[str, Any] = {
    "dataset": {"name": "people"},
    "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
    "features": {
        "gender": {"type": "categorical", "values": ["female", "male"], "sensitive": True},
        "age": {"type": "integer", "range": [20, 59], "sensitive": True},
        "merit": {"type": "integer", "range": [0, 99]},
    },
}


def people(number: int = ROWS, seed: int = 0) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    gender = generator.choice(["female", "male"], number)
    merit = generator.integers(0, 100, number)
    return pd.DataFrame(
        {
            # Men are older, and merit is no proxy.
            "gender": gender,
            "age": np.where(gender == "male", 30, 20) + generator.integers(0, 30, number),
            "merit": merit,
        }
    )


def by_gender_and_merit(frame: pd.DataFrame) -> Any:
    return np.where(frame["merit"] + 20 * (frame["gender"] == "male") >= 50, "yes", "no")


def by_all(frame: pd.DataFrame) -> Any:
    points = frame["merit"] + 20 * (frame["gender"] == "male") + frame["age"]
    return np.where(points >= 90, "yes", "no")


def by_merit(frame: pd.DataFrame) -> Any:
    return np.where(frame["merit"] >= 50, "yes", "no")


def result_of(model: Any, frame: pd.DataFrame, **chosen: Any) -> AuditResult:
    return testsgd.audit(model, frame, PEOPLE, **(QUICK | chosen))


def findings_of(model: Any, frame: pd.DataFrame, **chosen: Any) -> TableFindings:
    found = result_of(model, frame, **chosen).findings
    assert isinstance(found, TableFindings)
    return found


def queries_without(frame: pd.DataFrame) -> int:
    """How many queries an audit takes without own effects."""
    full = findings_of(by_all, frame)
    assert full.own_effects is not None
    return full.queries - full.own_effects.queries


def drawing(findings: TableFindings, *, seed: int) -> RowAudit:
    """The same audit with another seed."""
    return RowAudit(
        model=findings.model,
        parameters=replace(findings.parameters, seed=seed),
        exact=True,
        table=findings.table,
        axes=findings.contingency.axes,
    )


def test_shown_groups_have_the_effects_of_the_full_table() -> None:
    frame = people()
    full = findings_of(by_all, frame)
    assert full.own_effects is not None
    # One query is missing for the full table, so that there are many draws a row.
    short = findings_of(by_all, frame, max_queries=full.queries - 1)
    assert short.own_effects is None
    assert tuple(short.drawn_effects) == short.highlights == full.highlights
    for group, drawn in short.drawn_effects.items():
        assert drawn.rows is None
        # Only the draws differ, which are less than what the interval is about.
        assert abs(drawn.effect - full.own_effects.effects[group]) < 2 * drawn.standard_error
        low, high = drawn.interval(0.05)
        assert low < full.own_effects.effects[group] < high


def true_effects(frame: pd.DataFrame, findings: TableFindings, groups: Sequence[int]) -> Any:
    """Compute the own effects of groups for by_all, over all pairs of people."""
    given = 20 * (frame["gender"] == "male") + frame["age"]
    merit = np.sort(frame["merit"].to_numpy())
    # The share of all people who get it with the gender and the age of each.
    rates = 1 - np.searchsorted(merit, 90 - given.to_numpy()) / len(frame)
    members = findings.rule_sets.members(np.array(groups), findings.contingency)
    inside = members[:, findings.contingency.cell_of_row]
    return np.array([rates[group].mean() - rates[~group].mean() for group in inside])


@pytest.mark.parametrize(("draws", "rows"), [(1, ROWS), (3, ROWS), (1, 1_100)])
def test_draws_are_unbiased(draws: int, rows: int) -> None:
    full = findings_of(by_all, people())
    assert full.own_effects is not None
    groups = full.highlights[:2]
    assert len(groups) == 2
    drawn = []
    for seed in range(60):
        left = 2 * len(groups) * rows * draws
        found = draw_own_effects(drawing(full, seed=seed), full.rule_sets, groups, left=left)
        assert found.queries == left
        drawn.append([found.of_group[group].effect for group in groups])
        assert {effect.draws for effect in found.of_group.values()} == {draws}
    effects = np.array(drawn)
    errors = effects.std(axis=0, ddof=1) / np.sqrt(len(effects))
    assert np.all(errors > 0)
    assert np.all(np.abs(effects.mean(axis=0) - true_effects(people(), full, groups)) < 4 * errors)


def test_intervals_cover_the_effect_in_the_population() -> None:
    """Of merit from 0 to 99 one fifth is from 30 to 49, where gender decides."""
    known = findings_of(by_gender_and_merit, people())
    specification = DatasetSpecification.model_validate(PEOPLE)
    runs, covered, size = 120, 0, 250
    for run in range(runs):
        table = check_table(people(size, seed=run + 1), specification)
        audit = replace(drawing(known, seed=run), table=table, axes=sensitive_axes(table))
        rule_sets = audit.search(audit.contingency.tally()[np.newaxis])
        [male] = [
            group
            for group in range(len(rule_sets))
            if rule_sets.rule_set(group).text == "gender = male"
        ]
        drawn = draw_own_effects(audit, rule_sets, [male], left=2 * size).of_group[male]
        low, high = drawn.interval(0.05)
        covered += low <= 0.2 <= high
    assert binom.cdf(covered, runs, 0.95) > 0.001
    assert binom.sf(covered - 1, runs, 0.99) > 0.001


def test_the_interval_is_about_draws_too() -> None:
    """Rows that differ only by chance have an interval as wide as that chance."""
    generator = np.random.default_rng(1)
    by_chance = generator.integers(0, 2, 10_000) - generator.integers(0, 2, 10_000)
    drawn = DrawnEffect.of(by_chance, draws=1)
    assert drawn.standard_error == pytest.approx(np.sqrt(0.5 / 10_000), rel=0.05)


def test_rows_that_all_answer_alike_still_have_an_interval() -> None:
    low, high = DrawnEffect.of(np.zeros(1_000, dtype=np.int64), draws=5).interval(0.05)
    assert -0.01 < low < 0 < high < 0.01
    # Differences of rates end at 1.
    assert DrawnEffect.of(np.full(1_000, 5), draws=5).interval(0.05)[1] == 1


def test_progress_goes_up_to_its_end() -> None:
    frame = people()
    full = findings_of(by_all, frame)
    calls: list[tuple[int, int]] = []
    audit = replace(
        drawing(full, seed=0), progress=lambda phase, done, total: calls.append((done, total))
    )
    drawn = draw_own_effects(audit, full.rule_sets, full.highlights, left=20_000)
    assert len(drawn.of_group) > 1
    assert calls == sorted(calls)
    assert calls[-1] == (drawn.queries, drawn.queries)


def test_a_model_that_takes_no_sensitive_feature_has_no_own_effect() -> None:
    frame = people()
    short = findings_of(
        by_merit, frame, max_queries=queries_without(frame) + 20_000, rank_by="score"
    )
    assert short.drawn_effects
    assert {drawn.effect for drawn in short.drawn_effects.values()} == {0.0}


@pytest.mark.parametrize("more", [0, 1_999, 2_000, 6_000, 20_000])
@pytest.mark.parametrize("jobs", [1, 2])
def test_no_more_is_asked_than_is_allowed(more: int, jobs: int) -> None:
    frame = people()
    allowed = queries_without(frame) + more
    asked = []

    def model(rows: pd.DataFrame) -> Any:
        asked.append(len(rows))
        return by_all(rows)

    findings = findings_of(model, frame, max_queries=allowed, jobs=jobs)
    assert sum(asked) == findings.queries <= allowed
    assert bool(findings.drawn_effects) == (more >= 2_000)
    assert findings.own_effects is None
    assert findings.own_effects_unknown
    # The first groups come first.
    assert tuple(findings.drawn_effects) == findings.highlights[: len(findings.drawn_effects)]


def test_a_seed_gives_the_same_draws_for_every_number_of_threads() -> None:
    frame = people()
    allowed = queries_without(frame) + 20_000
    first, again, other = (
        findings_of(by_all, frame, max_queries=allowed, **chosen).drawn_effects
        for chosen in ({"jobs": 1}, {"jobs": 2}, {"seed": 1})
    )
    assert first == again
    assert first != other


@pytest.mark.parametrize("groups", [1, 2, 7])
@pytest.mark.parametrize("rows", [10, 1_000, 30_000])
@pytest.mark.parametrize("allowed", [-5, 0, 19, 20, 1_999, 2_000, 100_000, 5_000_000])
def test_plans_keep_to_the_budget(groups: int, rows: int, allowed: int) -> None:
    plan = Plan.of(groups=groups, rows=rows, allowed=allowed)
    assert plan.queries <= max(0, allowed)
    assert plan.groups <= groups
    assert bool(plan.groups) == (allowed >= 2 * min(rows, 1_000))
    if plan.groups:
        assert min(rows, 1_000) <= plan.rows <= rows
        # More than one draw a row only if no row is left out.
        assert plan.draws == 1 or plan.rows == rows


def test_reports_say_that_it_is_estimated() -> None:
    frame = people()
    allowed = queries_without(frame) + 20_000
    result = result_of(by_all, frame, max_queries=allowed)
    first = result.summary.groups[0]
    assert first.own_effect is not None
    assert first.own_effect.draws is not None
    sentence = own_effect_sentence(first.own_effect)
    assert str(first.own_effect.draws) in sentence
    assert sentence in result.to_markdown()
    assert result.summary.own_effects_unknown in result.to_markdown()
    known = [group for group in result.summary.groups if group.own_effect is not None]
    drawn = findings_of(by_all, frame, max_queries=allowed).drawn_effects
    assert len(known) == len(drawn) > 1
    full = result_of(by_all, frame).summary.groups[0].own_effect
    assert full is not None
    assert full.draws is None


def test_copies_of_a_row_do_not_narrow_intervals() -> None:
    generator = np.random.default_rng(2)
    differences = generator.integers(-1, 2, 300)
    order = generator.permutation(600)
    copies, units = np.tile(differences, 2)[order], np.tile(np.arange(300), 2)[order]
    once = DrawnEffect.of(differences, draws=1)
    twice = DrawnEffect.of(copies, draws=1, clusters=Clusters.of(units))
    assert twice.effect == pytest.approx(once.effect)
    assert twice.standard_error == pytest.approx(once.standard_error)


def test_rows_of_one_person_are_one_unit() -> None:
    once = people(600)
    frame = pd.concat([once, once], ignore_index=True).assign(person=[*range(600), *range(600)])
    errors = []
    for described in (PEOPLE, PEOPLE | {"data": {"cluster": "person"}}):
        each = {**QUICK, "equal_rows": "each"}
        found = testsgd.audit(by_gender_and_merit, frame, described, **each).findings
        assert isinstance(found, TableFindings)
        group = found.highlights[0]
        audit = drawing(found, seed=0)
        drawn = draw_own_effects(audit, found.rule_sets, [group], left=20 * 2 * len(frame))
        errors.append(drawn.of_group[group].standard_error)
    assert errors[1] > 1.2 * errors[0]


def test_held_out_rows_have_drawn_effects() -> None:
    frame = people(4_000)
    findings = findings_of(by_all, frame, holdout=0.5)
    assert findings.own_effects is not None
    allowed = findings.queries - 20
    short = findings_of(by_all, frame, holdout=0.5, max_queries=allowed)
    assert short.own_effects is None
    assert short.drawn_effects
    assert short.queries <= allowed


def test_a_ranking_by_own_effects_takes_the_full_table() -> None:
    frame = people()
    with pytest.raises(ParameterError):
        findings_of(
            by_all, frame, max_queries=queries_without(frame) + 20_000, rank_by="counterfactual"
        )

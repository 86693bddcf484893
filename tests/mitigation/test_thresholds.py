"""Thresholds by cell: against all thresholds there are, on tables small enough to try them."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testsgd.errors import DataError, ParameterError
from testsgd.metrics.shared_steps import table_of
from testsgd.mitigation.compared_rates import OBJECTIVES
from testsgd.mitigation.operating_points import operating_points, score_segments
from testsgd.mitigation.thresholds import fair_thresholds
from testsgd.rules import lay_out, mine, sensitive_axes

SIZES = st.tuples(*[st.integers(2, 5)] * 3)


def groups_of(cells: list[int]) -> Any:
    """Lay out rows with one sensitive feature, and mine all groups."""
    frame = pd.DataFrame({"race": [f"r{cell}" for cell in cells]})
    table = table_of(frame, features=None, name="people")
    contingency = lay_out(table, sensitive_axes(table))
    return contingency, mine(
        contingency, contingency.tally()[None], min_count=1, min_outside=1, max_features=1
    )


def world(sizes: tuple[int, ...], seed: int) -> Any:
    source = np.random.default_rng(seed)
    cells = np.repeat(np.arange(len(sizes)), sizes)
    scores = source.permutation(np.linspace(0.01, 0.99, len(cells)))
    contingency, rule_sets = groups_of(cells.tolist())
    return scores, scores > source.random(len(cells)), scores >= 0.5, contingency, rule_sets


def worst_of(
    chosen: Any, contingency: Any, rule_sets: Any, *, rate: str = "selection_rate", chances: Any = 0
) -> float:
    """Return the worst difference by hand, row by row."""
    weights = np.ones(len(chosen))
    hits = chosen.astype(float)
    if rate == "true_positive_rate":
        weights = weights * chances
    elif rate == "false_positive_rate":
        weights = weights * (1 - chances)
    elif rate == "accuracy":
        hits = np.where(chosen, chances, 1 - chances)
    found = 0.0
    for group in range(len(rule_sets)):
        cells = rule_sets.members(np.array([group]), contingency)[0]
        inside = cells[contingency.cell_of_row]
        if min(weights[inside].sum(), weights[~inside].sum()) > 0:
            means = [np.average(hits[side], weights=weights[side]) for side in (inside, ~inside)]
            found = max(found, abs(means[0] - means[1]))
    return found


@settings(deadline=None, max_examples=40)
@given(SIZES, st.integers(0, 1000), st.sampled_from([0.0, 0.1, 0.3]), st.booleans())
def test_no_thresholds_that_keep_the_budget_are_fairer(
    sizes: tuple[int, ...], seed: int, budget: float, no_rate_lowered: bool
) -> None:
    scores, labels, today, contingency, rule_sets = world(sizes, seed)
    found = fair_thresholds(
        scores,
        labels.astype(float),
        today,
        contingency,
        rule_sets,
        budget=budget,
        no_rate_lowered=no_rate_lowered,
    )
    most = (today != labels).mean() + budget
    assert found.errors <= most + 1e-6
    least = np.inf
    cell_of_row = contingency.cell_of_row
    ranks = [np.sort(scores[cell_of_row == cell]) for cell in range(contingency.cells)]
    for limits in itertools.product(*([*own, np.inf] for own in ranks)):
        chosen = scores >= np.array(limits)[cell_of_row]
        lowered = any(
            chosen[cell_of_row == cell].mean() < today[cell_of_row == cell].mean()
            for cell in range(contingency.cells)
        )
        if (chosen != labels).mean() <= most + 1e-9 and not (no_rate_lowered and lowered):
            least = min(least, worst_of(chosen, contingency, rule_sets))
    # Shares of segments may be fairer still, but never less fair.
    assert found.worst <= least + 1e-5


@pytest.mark.parametrize("objective", [each for each in OBJECTIVES if each != "selection_rate"])
@settings(deadline=None, max_examples=25)
@given(
    sizes=SIZES,
    seed=st.integers(0, 1000),
    budget=st.sampled_from([0.0, 0.1, 0.3]),
    known=st.booleans(),
)
def test_no_thresholds_have_other_rates_more_alike(
    objective: str, sizes: tuple[int, ...], seed: int, budget: float, known: bool
) -> None:
    """Labels are known, or expected by chances that the scores do not follow exactly."""
    scores, labels, today, contingency, rule_sets = world(sizes, seed)
    noise = np.random.default_rng(seed).uniform(-0.1, 0.1, len(scores))
    chances = labels.astype(float) if known else np.clip(scores + noise, 0, 1)
    rates = OBJECTIVES[objective]
    found = fair_thresholds(
        scores, chances, today, contingency, dict.fromkeys(rates, rule_sets), budget=budget
    )

    def missed(chosen: Any) -> float:
        return float(np.where(chosen, 1 - chances, chances).mean())

    def worst(chosen: Any) -> float:
        return max(
            worst_of(chosen, contingency, rule_sets, rate=rate, chances=chances) for rate in rates
        )

    cell_of_row = contingency.cell_of_row
    ranks = [np.sort(scores[cell_of_row == cell]) for cell in range(contingency.cells)]
    most = missed(today) + budget
    tried = (
        scores >= np.array(limits)[cell_of_row]
        for limits in itertools.product(*([*own, np.inf] for own in ranks))
    )
    least = min(worst(chosen) for chosen in tried if missed(chosen) <= most + 1e-9)
    assert found.errors <= most + 1e-6
    assert found.worst <= least + 1e-5


@pytest.mark.parametrize("rate", ["selection_rate", "true_positive_rate", "false_positive_rate"])
def test_thresholds_do_for_each_rate_what_was_planned(rate: str) -> None:
    """The plan is counted again, row by row, from the thresholds that come out of it."""
    scores, _, today, contingency, rule_sets = world((400, 300, 500), 7)
    # The score means less in one cell, so that all rates differ.
    chances = np.where(contingency.cell_of_row == 0, scores**2, scores)
    found = fair_thresholds(scores, chances, today, contingency, {rate: rule_sets}, budget=0.02)
    chosen = scores >= found.thresholds[contingency.cell_of_row]
    before, after = (
        worst_of(each, contingency, rule_sets, rate=rate, chances=chances)
        for each in (today, chosen)
    )
    # A segment that is divided, a twentieth of a cell at most, is not alike within.
    assert after == pytest.approx(found.worst, abs=0.01)
    assert after < 0.8 * before


def test_a_group_that_a_rate_counts_no_rows_of_is_left_out() -> None:
    scores, labels, today, contingency, rule_sets = world((40, 30, 50), 2)
    chances = np.where(contingency.cell_of_row == 1, 0.0, labels)
    found = fair_thresholds(
        scores, chances, today, contingency, {"true_positive_rate": rule_sets}, budget=0.1
    )
    chosen = scores >= found.thresholds[contingency.cell_of_row]
    planned = worst_of(chosen, contingency, rule_sets, rate="true_positive_rate", chances=chances)
    assert np.isfinite(found.worst)
    assert planned == pytest.approx(found.worst, abs=0.1)


def test_a_rate_that_is_none_is_refused() -> None:
    scores, labels, today, contingency, rule_sets = world((5, 5, 5), 3)
    with pytest.raises(ParameterError, match="beauty"):
        fair_thresholds(
            scores, labels.astype(float), today, contingency, {"beauty": rule_sets}, budget=0.1
        )


@given(SIZES, st.integers(0, 1000))
@settings(deadline=None, max_examples=20)
def test_with_any_budget_there_is_no_difference_left(sizes: tuple[int, ...], seed: int) -> None:
    scores, labels, today, contingency, rule_sets = world(sizes, seed)
    found = fair_thresholds(scores, labels.astype(float), today, contingency, rule_sets, budget=1.0)
    assert found.worst == pytest.approx(0.0, abs=1e-5)


def test_thresholds_do_on_the_rows_what_was_planned() -> None:
    scores, labels, today, contingency, rule_sets = world((400, 300, 500), 7)
    found = fair_thresholds(
        scores, labels.astype(float), today, contingency, rule_sets, budget=0.02
    )
    chosen = scores >= found.thresholds[contingency.cell_of_row]
    before = worst_of(today, contingency, rule_sets)
    after = worst_of(chosen, contingency, rule_sets)
    # Half a row of each side at most is rounded away.
    assert after == pytest.approx(found.worst, abs=1 / 300 + 1 / 700)
    assert after < before
    # A segment that is divided may be no better than its mean.
    assert (chosen != labels).mean() <= (today != labels).mean() + 0.02 + 3 * 0.05 / 3


def test_a_cell_without_rows_has_no_threshold() -> None:
    scores, labels, today, contingency, _rule_sets = world((4, 4, 4), 1)
    kept = contingency.cell_of_row != 0
    without = dataclasses.replace(contingency, cell_of_row=contingency.cell_of_row[kept])
    few = mine(without, without.tally()[None], min_count=1, min_outside=1, max_features=1)
    found = fair_thresholds(
        scores[kept], labels[kept].astype(float), today[kept], without, few, budget=0.1
    )
    assert np.isnan(found.thresholds).tolist() == [True, False, False]


def test_fewer_errors_than_there_can_be_are_refused() -> None:
    scores, labels, today, contingency, rule_sets = world((5, 5, 5), 3)
    with pytest.raises(DataError, match="budget"):
        fair_thresholds(scores, labels.astype(float), today, contingency, rule_sets, budget=-1.0)


@given(SIZES, st.integers(0, 1000))
def test_segments_hold_all_rows_once(sizes: tuple[int, ...], seed: int) -> None:
    scores, labels, today, contingency, _ = world(sizes, seed)
    scores = scores.round(1)
    cells = contingency.cell_of_row.astype(np.intp)
    segments = score_segments(scores, labels.astype(float), today, cells)
    assert segments.rows.sum() == len(scores)
    assert segments.favourable.sum() == labels.sum()
    # Rows of a cell that score the same are together.
    pairs = set(zip(segments.cell.tolist(), segments.limit.tolist(), strict=True))
    assert len(pairs) == len(segments.cell)
    for cell, limit, rows in zip(segments.cell, segments.limit, segments.rows, strict=True):
        assert ((cells == cell) & (scores == limit)).sum() <= rows


@given(SIZES, st.integers(0, 1000))
def test_points_are_the_corners_of_what_thresholds_choose(
    sizes: tuple[int, ...], seed: int
) -> None:
    """All other thresholds lie between two corners: no line through a corner leaves one outside."""
    scores, labels, today, contingency, _ = world(sizes, seed)
    cells = contingency.cell_of_row.astype(np.intp)
    points = operating_points(score_segments(scores, labels.astype(float), today, cells))
    for cell, size in enumerate(sizes):
        own = cells == cell
        limits = [*scores[own], np.inf]
        counts = np.array([
            [((scores >= limit) & own & kind).sum() for kind in (labels, ~labels)]
            for limit in limits
        ])  # fmt: skip
        corners = np.column_stack([points.favourable, points.others])[points.cell == cell]
        assert {tuple(corner) for corner in corners} <= {tuple(count) for count in counts}
        assert {(0, 0), (labels[own].sum(), size - labels[own].sum())} <= {
            tuple(corner) for corner in corners
        }
        for angle in np.linspace(0, 2 * np.pi, 16):
            direction = np.array([np.cos(angle), np.sin(angle)])
            assert (corners @ direction).max() == pytest.approx((counts @ direction).max())

"""Probabilities are made right in each cell by the labels of other rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from testsgd.mitigation.frontiers.penalising import calibrated_in_cells


def test_what_a_model_missed_in_one_cell_is_seen() -> None:
    source = np.random.default_rng(0)
    cells = np.repeat([0, 1], [8_000, 2_000])
    chances = source.uniform(0.2, 0.8, len(cells))
    true = np.where(cells == 1, chances * 0.5, chances)
    labels = source.random(len(cells)) < true
    folds = source.permutation(len(cells)) % 5
    found = calibrated_in_cells(chances, labels, cells, folds=folds)
    for cell in (0, 1):
        own = cells == cell
        error = np.sqrt((true[own] * (1 - true[own])).sum()) / own.sum()
        assert abs(found[own].mean() - true[own].mean()) < 4 * error
    assert abs(chances[cells == 1].mean() - true[cells == 1].mean()) > 0.2


def test_labels_of_small_cells_are_not_learnt_by_heart() -> None:
    source = np.random.default_rng(1)
    chances = source.uniform(0.2, 0.8, 6_000)
    labels = source.random(6_000) < chances
    cells, folds = np.arange(6_000) // 3, source.permutation(6_000) % 5
    found = calibrated_in_cells(chances, labels, cells, folds=folds)

    def loss(values: np.ndarray) -> float:
        return float(-np.log(np.where(labels, values, 1 - values)).mean())

    # They gain nothing by cells that say nothing; by their own labels they would.
    assert loss(found) > loss(chances)
    assert loss(found) < loss(chances) + 0.05


def test_an_offset_is_the_most_probable_one() -> None:
    source = np.random.default_rng(2)
    chances = source.uniform(0.01, 0.99, 60)
    labels = source.random(60) < 0.3
    folds = np.arange(60) % 3
    found = calibrated_in_cells(chances, labels, np.zeros(60, dtype=np.intp), folds=folds)
    log_odds = np.log(chances / (1 - chances))
    for fold in range(3):
        others = folds != fold
        signs = np.where(labels[others], 1.0, -1.0)

        def against(offset: float, others: np.ndarray = others, signs: np.ndarray = signs) -> float:
            losses = np.logaddexp(0, -signs * (log_odds[others] + offset))
            return float(losses.sum() + offset**2 / 2)

        best = minimize_scalar(against).x
        own = folds == fold
        found_offsets = np.log(found[own] / (1 - found[own])) - log_odds[own]
        assert found_offsets == pytest.approx(best, abs=1e-5)

"""Thresholds for each combination of sensitive values, of a model that gives scores."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.errors import DataError, ModelError
from testsgd.io import write_text
from testsgd.mitigation.cross_fitted_play import Judge
from testsgd.mitigation.frontier import point_of
from testsgd.mitigation.frontiers.candidates import Candidate
from testsgd.mitigation.frontiers.problem import Bools, FairModel, Places, Problem
from testsgd.mitigation.frontiers.scored import Floats, Scored, scores_of
from testsgd.mitigation.thresholds import fair_thresholds
from testsgd.models import THRESHOLDS_FILE, Model
from testsgd.rules import IntervalAxis

# Budgets that are tried, as shares of that of the user.
_BUDGETS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
# Halves of the rows: thresholds are chosen by one and looked at on the other.
_HALVES = 2


class GivesScores(Protocol):
    """What scores rows; more means the favourable label."""

    def scores(self, frame: pd.DataFrame, /) -> Floats:
        """Return the scores of rows, shape (rows,)."""
        ...


@dataclass(frozen=True)
class ThresholdModel:
    """A model whose scores are compared with the threshold of each row's combination."""

    problem: Problem
    base: FairModel
    model: Model | GivesScores
    limits: Floats  # Of each combination of sensitive values, shape (cells,).
    usual: float  # The threshold of all other combinations.
    kind: str = "thresholds for each combination of sensitive values"

    @property
    def black_box(self) -> Model | None:
        """None: the thresholds are of the combinations that rows of the table have."""
        return None

    def decisions(self, places: Places) -> Bools:
        """Return whether each of some rows of the table gets the favourable label."""
        scores = scores_of(self.problem, self.model, places)
        assert scores is not None
        return scores >= self.limits[self.problem.contingency.cell_of_row[places]]

    def write(self, folder: Path, about: Mapping[str, Any]) -> list[Path]:
        """Write the thresholds, and the model that they are of if it was fitted anew."""
        contingency = self.problem.contingency
        # Programs read them: a bin is named by its limits, also one of whole numbers.
        axes = [
            replace(axis, greatest=None) if isinstance(axis, IntervalAxis) else axis
            for axis in contingency.axes
        ]
        cells = [
            {
                "values": {
                    axis.feature: axis.labels[cell]
                    for axis, cell in zip(axes, row.tolist(), strict=True)
                },
                # JSON has no infinity: no row of the combination gets the label.
                "threshold": float(limit) if np.isfinite(limit) else None,
            }
            for row, limit in zip(contingency.coordinates, self.limits, strict=True)
        ]
        content = {
            "rule": "a score of at least the threshold gets the favourable label; null: none does",
            "favourable": self.problem.material.specification.label.favourable,
            "otherwise": self.usual,
            "thresholds": cells,
            "about": dict(about),
        }
        written = self.base.write(folder, about)
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / THRESHOLDS_FILE, json.dumps(content, indent=1) + "\n")
        return [*written, folder / THRESHOLDS_FILE]


def threshold_candidates(
    problem: Problem, base: FairModel, model: Model | GivesScores, scored: Scored
) -> list[Candidate]:
    """Choose thresholds with several budgets; each is looked at on rows that did not choose it.

    `base` writes the model that the scores of new rows are from, `model` gives them. A budget that
    no thresholds keep is left out.
    """
    rates = problem.rates(scored.places)
    if not len(rates):
        return []
    labels = problem.favourable[scored.places]
    shares = np.full(len(labels), 1 / len(labels))
    expected = scored.chances if scored.learnt_by_heart else None
    judge = Judge(rates, labels, shares, expected)
    plain = scored.decisions
    half = np.random.default_rng(problem.parameters.seed).permutation(len(labels)) % _HALVES
    budgets = [part * problem.parameters.budget for part in _BUDGETS]
    parts = [np.flatnonzero(half != index) for index in range(_HALVES)]
    choices = [_Choice(problem, scored, chosen) for chosen in parts]
    everything = _Choice(problem, scored, np.arange(len(labels)))
    cells = problem.contingency.cell_of_row[scored.places]

    def fitted(limits: Floats) -> FairModel:
        return ThresholdModel(problem, base, model, limits, scored.threshold)

    candidates = []
    for budget in budgets:
        found = [limits for each in choices if (limits := each.limits(budget)) is not None]
        of_all = everything.limits(budget)
        if len(found) < _HALVES or of_all is None:
            continue
        decisions = np.zeros(len(labels), dtype=bool)
        for index, limits in enumerate(found):
            others = half == index
            decisions[others] = scored.scores[others] >= limits[cells[others]]
        candidates.append(
            Candidate(
                point_of(budget, plain, decisions[None], judge),
                partial(fitted, of_all),
                places=scored.places,
                decisions=decisions,
                before=plain,
            )
        )
    return candidates


class _Choice:
    """The choice of thresholds by some of the rows."""

    def __init__(self, problem: Problem, scored: Scored, rows: NDArray[np.intp]) -> None:
        places = scored.places[rows]
        self._contingency = problem.contingency_of(places)
        self._groups = {rate.name: rate.groups.rule_sets for rate in problem.rates(places).rates}
        self._scores = scored.scores[rows]
        self._chances = scored.chances[rows]
        self._decisions = scored.decisions[rows]
        self._threshold = scored.threshold
        self._no_rate_lowered = problem.parameters.no_rate_lowered

    def limits(self, budget: float) -> Floats | None:
        """Return the threshold of each combination of sensitive values, shape (cells,).

        None if no thresholds keep the budget.
        """
        try:
            found = fair_thresholds(
                self._scores,
                self._chances,
                self._decisions,
                self._contingency,
                self._groups,
                budget=budget,
                no_rate_lowered=self._no_rate_lowered,
            )
        except DataError:
            return None
        # A score above the usual threshold gets the label where no row said otherwise.
        usual = np.nextafter(self._threshold, np.inf)
        return np.where(np.isnan(found.thresholds), usual, found.thresholds)


def without_scores(problem: Problem) -> ModelError:
    """Return the error that thresholds need scores."""
    return ModelError(
        "it gives labels only, and thresholds need scores",
        where=f"model {problem.loaded.model.name!r}",
        remedy="give a model with scores, or --method play for one that can be fitted again",
    )

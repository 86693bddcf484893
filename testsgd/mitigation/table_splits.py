"""Rows of a table, as a mitigation works on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.auditing import (
    AuditParameters,
    Estimates,
    Findings,
    GroupMeasure,
    TableFindings,
    run_audit,
)
from testsgd.data import Table, category_text
from testsgd.mitigation.data_splits import Material, Places, RowShares
from testsgd.mitigation.parameters import Kind, Side
from testsgd.mitigation.samples import Source
from testsgd.mitigation.side_effects import Counts, GroupSums
from testsgd.models import Examples, LoadedModel, Model
from testsgd.progress import Progress
from testsgd.rules import RuleSet
from testsgd.sampling import Draws, drawn_neighbours, explore_neighbourhood, neighbourhood_size
from testsgd.single_thread import on_one_thread


class TableMaterial(Material):
    """A table with labels, split in three."""

    # The training rows of the group stay beside shifted samples and hold back.
    strength = 2.0

    def __init__(self, table: Table, *arguments: Any) -> None:
        super().__init__(table.specification, *arguments)
        self.table = table
        self._probabilities: NDArray[np.float64] | None = None

    @property
    def audited(self) -> Places:
        """All rows."""
        return np.arange(len(self.table))

    def examples(self, indices: Places) -> Examples:
        """Return some rows with their labels."""
        return Examples(self.table.frame.iloc[indices], self.favourable[indices])

    def decisions(self, model: Model, indices: Places) -> NDArray[np.bool_]:
        """Return for some rows whether a model gives them the favourable label."""
        return model.decisions(self.table.frame.iloc[indices])

    def _matches(self, rule_set: RuleSet) -> NDArray[np.bool_]:
        return rule_set.matches(self.table)

    def _complement(self, rule_set: RuleSet) -> NDArray[np.bool_]:
        return rule_set.complement(self.table)

    def source(self, index: int, side: Side) -> Neighbours:
        """Return the neighbours of one side's training rows."""
        return Neighbours(self.table, self.seeds(self.targets[index], side))

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The paper's kind, and the one that moved most at the same cost wherever it was tried."""
        return ("counter", "shifted")

    def probabilities(self) -> NDArray[np.float64] | None:
        """Return cross-fitted probabilities, found once."""
        if self._probabilities is None:
            parts = self.split.parts
            self._probabilities = cross_fitted(
                self.table,
                self.favourable,
                parts.train,
                parts.validation,
                seed=self.audit_parameters.seed,
            )
        return self._probabilities

    def measure(self, indices: Places, *, max_queries: int) -> Callable[[Model], Estimates]:
        """Return a function from a model to the targets' neighbourhood rates on some rows."""
        return GroupMeasure(
            self.table.take(indices),
            [target.rule_set for target in self.targets],
            max_queries=max_queries,
            seed=self.audit_parameters.seed,
            jobs=self.audit_parameters.jobs,
        )

    def row_shares(self, model: Model, indices: Places, *, max_queries: int) -> RowShares | None:
        """Return the share of favourable neighbours of each row, inside and outside each target."""
        rows = self.table.take(indices)
        if (neighbourhood_size(rows) + 1) * len(rows) > max_queries:
            return None
        neighbourhood = explore_neighbourhood(model, rows)
        shares = neighbourhood.favourable / neighbourhood.size
        sides = [(self.members(target), self.complement(target)) for target in self.targets]
        return [(shares[inside[indices]], shares[outside[indices]]) for inside, outside in sides]

    def group_sums(self, findings: Findings, indices: Places) -> GroupSums:
        """Return a function that sums over each group, by combinations of sensitive values."""
        assert isinstance(findings, TableFindings)
        contingency, rule_sets = findings.contingency, findings.rule_sets

        def sums(quantities: Counts) -> tuple[Counts, Counts]:
            by_cell = np.stack([contingency.tally(quantity) for quantity in quantities])
            inside = np.rint(rule_sets.sums_of(contingency, by_cell)).astype(np.int64)
            return inside, rule_sets.totals(contingency, by_cell)

        return sums

    def _audit(
        self,
        model: LoadedModel[Model],
        indices: Places,
        parameters: AuditParameters,
        progress: Progress | None,
    ) -> TableFindings:
        table = self.table if len(indices) == len(self.table) else self.table.take(indices)
        return run_audit(model, table, parameters, progress=progress, own_effects=False)


class Neighbours(Source):
    """The neighbours of some rows by number: row by row, for each feature down, then up.

    A neighbour is one of these rows with one feature that is not sensitive moved by one step, or
    the row itself where that move would leave the domain. Sensitive features stay, and with them
    the groups that the row is in. The table is never changed; no row is among the seeds twice.
    """

    def __init__(self, table: Table, seeds: NDArray[np.intp]) -> None:
        super().__init__(seeds)
        self._table = table
        # Where nothing may be moved, a row has itself for its neighbours.
        self._ways = 2 * max(1, len(table.specification.insensitive))
        self._itself = np.zeros(len(seeds), dtype=bool)

    @property
    def draws(self) -> int:
        """How many neighbours there are."""
        return len(self._rows) * self._ways

    def _draws_of(self, numbers: NDArray[np.int64]) -> Draws:
        """Return the row, the feature and the direction of some neighbours."""
        row, way = np.divmod(numbers, self._ways)
        return Draws(self._rows[row], way // 2, 2 * (way % 2) - 1)

    def fresh(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], pd.DataFrame]:
        """Build neighbours, each row itself no more than once in all calls."""
        frame, changed = drawn_neighbours(self._table, self._draws_of(numbers))
        still = np.flatnonzero(~changed)
        rows, first = np.unique(numbers[still] // self._ways, return_index=True)
        new = changed.copy()
        new[still[first]] = ~self._itself[rows]
        self._itself[rows] = True
        return (numbers, frame) if new.all() else (numbers[new], frame[new])

    def make(self, numbers: NDArray[np.int64]) -> pd.DataFrame:
        """Build neighbours again."""
        return drawn_neighbours(self._table, self._draws_of(numbers))[0]

    def described(
        self, numbers: NDArray[np.int64]
    ) -> tuple[pd.DataFrame, NDArray[np.int64], NDArray[np.object_]]:
        """Build neighbours again, with their rows and what was done to each."""
        table, draws = self._table, self._draws_of(numbers)
        frame, changed = drawn_neighbours(table, draws)
        changes = np.full(len(draws), "", dtype=object)
        for feature, name in enumerate(table.specification.insensitive):
            here = np.flatnonzero(changed & (draws.features == feature))
            if len(here):
                before = _cell_texts(table.take(draws.rows[here]), name)
                after = _cell_texts(replace(table, frame=frame.iloc[here]), name)
                changes[here] = [
                    f"{name}: {old} to {new}" for old, new in zip(before, after, strict=True)
                ]
        return frame, draws.rows, changes


def _cell_texts(table: Table, name: str) -> list[str]:
    feature = table.specification.features[name]
    if feature.continuous:
        return [
            category_text(number) if number.is_integer() else f"{number:.10g}"
            for number in table.numbers(name).tolist()
        ]
    values = feature.values or []
    return [values[code] for code in table.codes(name).tolist()]


FOLDS = 5

# Fixed and moderate: small trees, small steps, ended by the loss on a tenth of the rows.
_STEPS = 300
_STEP = 0.05
_LEAVES = 15
_PENALTY = 1.0

# No label is certain.
_LEAST = 1e-3

# What scikit-learn's trees take.
_MOST_CATEGORIES = 255


def cross_fitted(
    table: Table,
    favourable: NDArray[np.bool_],
    training: NDArray[np.intp],
    others: NDArray[np.intp],
    *,
    seed: int,
) -> NDArray[np.float64]:
    """Return the probability of the favourable label from models that did not see the row's label.

    By models of the other folds for the rows in `training`, by a model of all these for the rows in
    `others`; NaN for rows that are neither.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import KFold

    inputs, categorical = _inputs(table)
    labels = favourable.astype(np.int64)
    found = np.full(len(table), np.nan)

    def model(steps: int, *, stop: bool) -> HistGradientBoostingClassifier:
        return HistGradientBoostingClassifier(
            learning_rate=_STEP,
            max_iter=steps,
            max_leaf_nodes=_LEAVES,
            l2_regularization=_PENALTY,
            categorical_features=categorical,
            early_stopping=stop,
            random_state=seed,
        )

    def ask(fitted: NDArray[np.intp], asked: NDArray[np.intp]) -> NDArray[np.float64]:
        """Fit to some rows, as long as a tenth of them gains by it, and ask about others."""
        rows, known = inputs[fitted], labels[fitted]
        fewest = min(int(known.sum()), int((1 - known).sum()))
        if fewest == 0:
            return np.full(len(asked), float(known[0]))
        # To set a tenth apart there must be two of each label.
        steps = model(_STEPS, stop=True).fit(rows, known).n_iter_ if fewest > 1 else _STEPS
        chances = model(steps, stop=False).fit(rows, known).predict_proba(inputs[asked])
        return np.asarray(chances[:, 1], dtype=np.float64)

    # One thread: the sums must not depend on how many processors there are.
    with on_one_thread():
        for fitted, left in KFold(FOLDS, shuffle=True, random_state=seed).split(training):
            found[training[left]] = ask(training[fitted], training[left])
        if len(others):
            found[others] = ask(training, others)
    probabilities: NDArray[np.float64] = np.clip(found, _LEAST, 1 - _LEAST)
    return probabilities


def _inputs(table: Table) -> tuple[NDArray[np.float64], list[bool]]:
    """Return the features as numbers, NaN where missing, and which of them are categories."""
    columns, categorical = [], []
    for name, feature in table.specification.features.items():
        if feature.continuous:
            columns.append(table.numbers(name))
            categorical.append(False)
            continue
        codes = table.codes(name).astype(np.float64)
        codes[codes < 0] = np.nan
        columns.append(codes)
        # Of more categories the declared order is used.
        categorical.append(len(feature.values or []) <= _MOST_CATEGORIES)
    return np.column_stack(columns), categorical

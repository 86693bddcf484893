"""What audits share: the clock, the model's answers, rates of rows as they are, and the ranking."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import joblib
import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import (
    Counts,
    Estimates,
    both_sides,
    counted_estimates,
    drawn_estimates,
)
from testsgd.auditing.parameters import AuditParameters
from testsgd.data import Table
from testsgd.models import LoadedModel, Model
from testsgd.rules import Axis, Contingency, FrequentRuleSets
from testsgd.sampling import BATCH_ROWS
from testsgd.scoring import rank_groups


class Clock:
    """Wall-clock seconds by phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time the block under this name; blocks of the same name are added."""
        started = time.perf_counter()
        yield
        seconds = self.seconds.get(name, 0.0) + time.perf_counter() - started
        self.seconds[name] = round(seconds, 4)


# How much of a phase is done, and how much there is.
Progress = Callable[[int, int], None]

# Sums quantities, given by cell with the rows first, over the groups that are wanted: all frequent
# ones, or some that are known already.
Search = Callable[[Counts], FrequentRuleSets]


@dataclass(frozen=True, kw_only=True)
class RowAudit:
    """What is to be audited, and how."""

    model: LoadedModel[Model]  # The black box
    table: Table  # The rows
    axes: tuple[Axis, ...]  # Their sensitive features
    parameters: AuditParameters  # What to do; ``max_queries`` is given
    exact: bool  # Ask about all neighbours
    # Groups to look at instead of searching for frequent ones
    given: FrequentRuleSets | None = None

    @property
    def min_count(self) -> int:
        """Fewest rows on each side of a judged group."""
        return self.parameters.fewest_rows(len(self.table))

    @property
    def jobs(self) -> int:
        """Threads that may ask the model at once."""
        processors = int(joblib.cpu_count()) if self.model.model.thread_safe else 1
        return self.parameters.jobs or processors


@dataclass(frozen=True)
class Answers:
    """What a model answered, for one estimand."""

    estimates: Estimates  # The groups' rates
    # Samples from each cell of the contingency table that all groups share, and how many of them
    # got the favourable label, shape (cells,)
    cell_samples: Counts
    cell_favourable: Counts
    # Answers about each row, if all rows, or all their neighbours, were asked about
    row_samples: int = 1
    # How many of these got the favourable label; None if samples were drawn, shape (rows,)
    row_favourable: NDArray[np.integer] | None = None
    # How many independent rows those of each cell are worth; None if all are independent, shape
    # (cells,)
    cell_independent: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Outcome:
    """Groups and their rates, however they were found."""

    rule_sets: FrequentRuleSets  # The groups
    # What the model answered about the rows' neighbours, and about the rows as they are
    neighbourhood: Answers
    observed: Answers
    queries: int  # Rows the model was asked about
    # For each feature that is not sensitive, how many of the neighbours that differ in it get the
    # favourable label; None if samples were drawn, shape (features, cells)
    by_feature: Counts | None = None


def sides_of(
    rule_sets: FrequentRuleSets, group: int, contingency: Contingency
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows inside a group and those outside."""
    members = rule_sets.members(np.array([group]), contingency)[0]
    inside = members[contingency.cell_of_row]
    return np.flatnonzero(inside), np.flatnonzero(~inside)


def order_groups(
    estimates: Estimates,
    size: NDArray[np.float64],
    rule_counts: NDArray[np.int64],
    *,
    first_by: NDArray[np.float64] | None = None,
) -> NDArray[np.intp]:
    """Rank the groups.

    Shapes: `size`, `rule_counts`, `first_by` (groups,).
    """
    ranking = rank_groups(
        np.nan_to_num(size), estimates.rows_in, rule_counts, estimates.decided, first_by
    )
    return ranking[(estimates.sampled & ~np.isnan(size))[ranking]]


@dataclass(frozen=True)
class ObservedAnswers:
    """A model's answers about rows as they are."""

    # Rows of each cell that were asked about, and those that got the favourable label, shape
    # (cells,)
    cell_samples: Counts
    cell_favourable: Counts
    # 1 where a row got it; None if not all rows were asked about, shape (rows,)
    decisions: Counts | None

    @property
    def queries(self) -> int:
        """How many rows were asked about."""
        return int(self.cell_samples.sum())

    @property
    def quantities(self) -> Counts:
        """What to sum over groups, shape (2, cells)."""
        return np.vstack([self.cell_samples, self.cell_favourable])

    def answers(
        self, rows_in: Counts, sums: Counts, rows: int, parameters: AuditParameters
    ) -> Answers:
        """Return the groups' rates.

        Shapes: `rows_in` (groups,); `sums` (2, groups).
        """
        tallies = both_sides(sums, self.quantities.sum(axis=1))
        if self.decisions is None:
            estimates = drawn_estimates(rows_in, rows - rows_in, tallies, parameters)
        else:
            estimates = counted_estimates(tallies)
        return Answers(estimates, self.cell_samples, self.cell_favourable, 1, self.decisions)


def ask_rows(audit: RowAudit, contingency: Contingency, budget: int) -> ObservedAnswers:
    """Ask a model about rows as they are, all of them if that takes at most half of the budget."""
    model, table = audit.model.model, audit.table
    rows: NDArray[np.intp] = np.arange(len(table))
    if 2 * len(table) > budget:
        generator = np.random.default_rng([audit.parameters.seed, 7])
        rows = np.sort(generator.choice(len(table), budget // 2, replace=False))
    decisions = np.zeros(len(rows), dtype=bool)
    for start in range(0, len(rows), BATCH_ROWS):
        part = rows[start : start + BATCH_ROWS]
        decisions[start : start + len(part)] = model.decisions(table.frame.iloc[part])
    cells = contingency.cell_of_row[rows]
    return ObservedAnswers(
        np.bincount(cells, minlength=contingency.cells),
        np.bincount(cells[decisions], minlength=contingency.cells),
        decisions.astype(np.int64) if len(rows) == len(table) else None,
    )

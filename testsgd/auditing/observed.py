"""The selection rates of the rows as they are, where an audit draws samples of their neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Counts, counted_estimates, drawn_estimates
from testsgd.auditing.outcome import Answers
from testsgd.auditing.parameters import AuditParameters
from testsgd.data import Table
from testsgd.models import Model
from testsgd.rules import Contingency
from testsgd.sampling import BATCH_ROWS


@dataclass(frozen=True)
class ObservedAnswers:
    """A model's answers about rows as they are.

    Attributes
    ----------
    cell_samples, cell_favourable : numpy.ndarray of int64, shape (cells,)
        Rows of each cell that were asked about, and those that got the favourable label.
    decisions : numpy.ndarray of int64, shape (rows,), or None
        1 where a row got it; None if not all rows were asked about.
    """

    cell_samples: Counts
    cell_favourable: Counts
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

        Parameters
        ----------
        rows_in : numpy.ndarray of int64, shape (groups,)
            Rows in each group.
        sums : numpy.ndarray of int64, shape (2, groups)
            The sums of `quantities` over each group.
        rows : int
            All rows.
        parameters : AuditParameters
            The stopping rule, by which groups are decided if not all rows were asked about.
        """
        samples_in, favourable_in = sums
        favourable_out = self.cell_favourable.sum() - favourable_in
        if self.decisions is None:
            samples_out = self.queries - samples_in
            tallies = np.vstack([samples_in, samples_out, favourable_in, favourable_out])
            estimates = drawn_estimates(rows_in, rows - rows_in, tallies, parameters)
        else:
            tallies = np.vstack([rows_in, rows - rows_in, favourable_in, favourable_out])
            estimates = counted_estimates(tallies)
        return Answers(estimates, self.cell_samples, self.cell_favourable, 1, self.decisions)


def ask_rows(
    model: Model, table: Table, contingency: Contingency, *, budget: int, seed: int
) -> ObservedAnswers:
    """Ask a model about rows as they are, all of them if that takes at most half of the budget.

    Parameters
    ----------
    model : Model
        The black box.
    table : Table
        The rows.
    contingency : Contingency
        Their sensitive cells.
    budget : int
        Most rows to ask about in the whole audit. If there are too many rows for half of it, a
        simple random sample of them is asked about.
    seed : int
        Seed of that sample.

    Returns
    -------
    ObservedAnswers
    """
    rows: NDArray[np.intp] = np.arange(len(table))
    if 2 * len(table) > budget:
        generator = np.random.default_rng([seed, 7])
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

"""What every baseline is given: rows, a model, and what the model decides about the rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data import Table
from testsgd.models import Model
from testsgd.rules import Axis, Contingency, lay_out, sensitive_axes
from testsgd.sampling import BATCH_ROWS


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A model and the rows on which the methods are compared.

    Attributes
    ----------
    table : Table
        The rows.
    model : Model
        The black box.
    contingency : Contingency
        The combinations of sensitive cells that occur, with the audit's bins.
    decisions : numpy.ndarray of bool, shape (rows,)
        Who of the rows as they are gets the favourable label.
    theta : float
        Smallest share of the rows that a group must have, for methods that ask for one.
    max_features : int
        Most features that a group is described by, for methods that ask for it.
    seed : int
        Same seed, same result.
    """

    table: Table
    model: Model
    contingency: Contingency
    decisions: NDArray[np.bool_]
    theta: float
    max_features: int
    seed: int

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The cells of each sensitive feature."""
        return self.contingency.axes

    @property
    def min_count(self) -> int:
        """Fewest rows of a frequent group, as the audit counts them."""
        return max(1, math.ceil(self.theta * len(self.table) - 1e-9))


def subject_of(
    table: Table,
    model: Model,
    *,
    theta: float,
    max_features: int = 3,
    bins: int | None = None,
    seed: int = 0,
) -> Subject:
    """Lay out the sensitive features and ask the model about every row once.

    Parameters
    ----------
    table : Table
        The rows.
    model : Model
        The black box.
    theta : float
        Support threshold.
    max_features : int
        Most features that a group is described by.
    bins : int, optional
        Number of bins of every continuous sensitive feature, in place of the description's.
    seed : int
        Same seed, same result.

    Returns
    -------
    Subject

    Raises
    ------
    ModelError
        If the model raises or returns something unusable.
    ParameterError
        If the sensitive features have too many cells.

    Examples
    --------
    >>> from testsgd.data import load_specification, load_table
    >>> from testsgd.models import load_model
    >>> specification = load_specification("demo")
    >>> subject = subject_of(
    ...     load_table(specification), load_model(None, specification).model, theta=0.05
    ... )
    >>> subject.min_count, len(subject.decisions)
    (1000, 20000)
    """
    return Subject(
        table=table,
        model=model,
        contingency=lay_out(table, sensitive_axes(table, bins=bins)),
        decisions=decide_frame(model, table.frame),
        theta=theta,
        max_features=max_features,
        seed=seed,
    )


def decide_frame(model: Model, frame: pd.DataFrame) -> NDArray[np.bool_]:
    """Ask a model about the rows of a data frame, in batches.

    Returns
    -------
    numpy.ndarray of bool, shape (rows,)
        Which of them get the favourable label.
    """
    decisions = np.zeros(len(frame), dtype=bool)
    for start in range(0, len(frame), BATCH_ROWS):
        rows = slice(start, start + BATCH_ROWS)
        decisions[rows] = model.decisions(frame.iloc[rows])
    return decisions

"""Rates of given groups, without a search: what to measure a model by again and again.

The groups' members, and the neighbours to ask about, depend on the rows alone. They are found once;
then every model, such as each snapshot of a retraining, is asked about the same neighbours.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd import sampling
from testsgd.auditing import estimates as rates
from testsgd.auditing.estimates import Counts, Estimates
from testsgd.auditing.outcome import threads
from testsgd.auditing.parameters import AuditParameters
from testsgd.data import Table
from testsgd.errors import ParameterError
from testsgd.models import Model
from testsgd.rules import RuleSet

# Draws on each side of a group, if the neighbours are too many to ask about all: a rate then has a
# standard error of at most 0.35 points.
SAMPLES_A_SIDE = 20_000
# How many draws there are does not depend on what is seen of them.
_DRAWN_ONCE = AuditParameters(interval="wald")


def measure_groups(
    model: Model,
    table: Table,
    rule_sets: Sequence[RuleSet],
    *,
    max_queries: int,
    seed: int,
    jobs: int | None = None,
) -> Estimates:
    """Return one model's selection rates inside and outside given groups of a table.

    No groups are searched for. To measure several models by the same groups, make one
    :class:`GroupMeasure` and call it for each.

    Parameters
    ----------
    model : Model
        The model to ask.
    table : Table
        The rows.
    rule_sets : sequence of RuleSet
        The groups.
    max_queries : int
        The most rows that the model is asked about. If the rows and their neighbours are no more,
        all are asked about; otherwise neighbours are drawn.
    seed : int
        The seed of the draws.
    jobs : int, optional
        Threads that may ask the model at once.

    Returns
    -------
    Estimates
        The rates, in the order of the rule sets.

    Raises
    ------
    ParameterError
        If `max_queries` does not allow one draw on each side of each group.
    """
    return GroupMeasure(table, rule_sets, max_queries=max_queries, seed=seed, jobs=jobs)(model)


@dataclass(frozen=True, eq=False, kw_only=True)
class Measure(ABC):
    """Measures how models treat the same groups of the same rows or texts."""

    max_queries: int
    seed: int
    jobs: int | None = None

    def __post_init__(self) -> None:
        if not self.exact and self._groups and not self.draws_a_side:
            raise ParameterError(
                f"{self._groups:,} groups take at least {2 * self._groups:,} queries, "
                f"{self.max_queries:,} are allowed",
                where="max_queries",
                remedy="allow more queries, or measure fewer groups",
            )

    @property
    @abstractmethod
    def exact(self) -> bool:
        """True if a model is asked about everything that the groups need."""

    @property
    @abstractmethod
    def _groups(self) -> int:
        """The number of groups."""

    @property
    def draws_a_side(self) -> int:
        """The number of draws on each side of each group, if not everything is asked about."""
        return min(SAMPLES_A_SIDE, self.max_queries // (2 * max(1, self._groups)))


@dataclass(frozen=True, eq=False)
class GroupMeasure(Measure):
    """A measure of models: their selection rates in the same groups of the same rows.

    It is called with a model and returns :class:`Estimates`, in the order of the rule sets. If the
    rows and their neighbours are no more than `max_queries`, all of them are asked about, and the
    numbers are those of an exact audit. Otherwise as many neighbours are drawn on each side of each
    group, from the seed alone: the draws are the same for every model, so that chance is not what
    tells two models apart. A group may have no rows on one side; its rates there are NaN.

    Parameters
    ----------
    table : Table
        The rows.
    rule_sets : sequence of RuleSet
        The groups.
    max_queries : int
        The most rows that a model is asked about.
    seed : int
        The seed of the draws.
    jobs : int, optional
        Threads that may ask a model at once.

    Raises
    ------
    ParameterError
        If `max_queries` does not allow one draw on each side of each group.
    """

    table: Table
    rule_sets: Sequence[RuleSet]

    @property
    def _groups(self) -> int:
        return len(self.rule_sets)

    @property
    def exact(self) -> bool:
        """True if a model is asked about all rows and their neighbours."""
        return (sampling.neighbourhood_size(self.table) + 1) * len(self.table) <= self.max_queries

    def __call__(self, model: Model) -> Estimates:
        """Ask a model about the rows or draws, and return its rates in each group."""
        members = self._members
        if self.exact:
            jobs = threads(model, self.jobs)
            neighbourhood = sampling.explore_neighbourhood(model, self.table, jobs=jobs)
            favourable = neighbourhood.favourable.astype(np.int64)
            counted = np.array([np.ones_like(favourable), favourable])
            tallies = np.array(
                [
                    [counted[:, of_group].sum(axis=1) for of_group in side]
                    for side in (members, self._complements)
                ]
            )
            # Rows inside and outside, then favourable answers.
            tallies = tallies.reshape(2, -1, 2).transpose(2, 0, 1).reshape(4, -1)
            return rates.counted_estimates(tallies, draws=neighbourhood.size)
        frame = self._frame
        starts = range(0, len(self._frame), sampling.BATCH_ROWS)
        answers = [
            model.decisions(frame.iloc[start : start + sampling.BATCH_ROWS]) for start in starts
        ]
        tallies = self._drawn.tally(np.concatenate([np.zeros(0, dtype=bool), *answers]))
        rows_in, rows_out = (
            side.sum(axis=1, dtype=np.int64) for side in (members, self._complements)
        )
        return rates.drawn_estimates(rows_in, rows_out, tallies, _DRAWN_ONCE)

    @cached_property
    def _members(self) -> NDArray[np.bool_]:
        members = [rule_set.matches(self.table) for rule_set in self.rule_sets]
        return np.array(members, dtype=bool).reshape(len(members), len(self.table))

    @cached_property
    def _complements(self) -> NDArray[np.bool_]:
        outside = [rule_set.complement(self.table) for rule_set in self.rule_sets]
        return np.array(outside, dtype=bool).reshape(len(outside), len(self.table))

    @cached_property
    def _drawn(self) -> Questions:
        features = len(self.table.specification.insensitive)
        codes = []
        for group, sides in enumerate(zip(self._members, self._complements, strict=True)):
            generator = np.random.default_rng([self.seed, 4, group])
            for side in map(np.flatnonzero, sides):
                drawn = sampling.draw(
                    generator, side, features, self.draws_a_side if len(side) else 0
                )
                way = 2 * drawn.features + (drawn.directions > 0)
                codes.append(drawn.rows * 2 * max(features, 1) + way)
        return Questions.of(codes)

    @cached_property
    def _frame(self) -> pd.DataFrame:
        """The neighbours that were drawn, each once."""
        ways = 2 * max(len(self.table.specification.insensitive), 1)
        rows, way = np.divmod(self._drawn.distinct, ways)
        return sampling.drawn_frame(self.table, sampling.Draws(rows, way // 2, 2 * (way % 2) - 1))


@dataclass(frozen=True)
class Questions:
    """The questions to a model about both sides of some groups, each question once."""

    distinct: Counts  # The different questions, as numbers whose meaning is the caller's
    # For each group the places in `distinct` of what is asked inside, then of that outside
    sides: tuple[NDArray[np.intp], ...]

    @classmethod
    def of(cls, sides: Sequence[Counts]) -> Questions:
        """Join the questions of one side after the other."""
        nothing = np.zeros(0, dtype=np.int64)
        distinct, indices = np.unique(np.concatenate([nothing, *sides]), return_inverse=True)
        ends = np.cumsum([len(side) for side in sides])[:-1]
        return cls(distinct, tuple(np.split(indices, ends)) if len(sides) else ())

    def sizes(self) -> Counts:
        """Count the questions inside and outside each group, shape (2, groups)."""
        return np.array([len(side) for side in self.sides], dtype=np.int64).reshape(-1, 2).T

    def tally(self, answers: NDArray[np.bool_]) -> Counts:
        """Count questions and favourable answers, as :func:`drawn_estimates` takes them."""
        favourable = np.array([answers[side].sum() for side in self.sides], dtype=np.int64)
        return np.vstack([self.sizes(), favourable.reshape(-1, 2).T])

"""The sensitive features' own effect of a few groups, estimated from cells that are drawn.

There may be too many cells to ask a model about every row with the values of each; the module
:mod:`testsgd.auditing.own_effect` says what the own effect of a group is. It is a mean over rows,
over cells drawn from the group's own mixture, less the same mean over cells drawn from the mixture
of its complement. So every row is given the values of a cell of each mixture, by chance, and the
mean of the paired differences of the answers is an unbiased estimate. They differ by rows and by
draws, and both are in the interval.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Floats
from testsgd.auditing.outcome import RowAudit
from testsgd.auditing.own_effect import (
    MOST_QUESTIONS,
    Places,
    Questions,
    ask_pairs,
    sums_by_unit,
    why_never_asked,
)
from testsgd.progress import Counter
from testsgd.rules import FrequentRuleSets
from testsgd.scoring import Clusters

# Fewer rows tell too little of a group; tables with fewer are asked about as a whole.
FEWEST_ROWS = 1_000

# With this many draws a row the rows' own differences are nearly all that an interval is about.
MOST_DRAWS = 20


@dataclass(frozen=True, kw_only=True)
class DrawnEffect:
    """The own effect of one group, estimated from draws.

    Examples
    --------
    >>> drawn = DrawnEffect(effect=0.2, standard_error=0.01, rows=None, draws=3)
    >>> low, high = drawn.interval(0.05)
    >>> print(f"{low:.2f} to {high:.2f}")
    0.18 to 0.22
    """

    effect: float  # The mean paired difference, between -1 and 1.
    standard_error: float
    rows: int | None  # How many rows were drawn to be asked about; None if all were.
    draws: int  # Draws a row from each of the two mixtures.

    @classmethod
    def of(
        cls,
        differences: NDArray[np.integer],
        *,
        draws: int,
        rows: int | None = None,
        clusters: Clusters | None = None,
    ) -> DrawnEffect:
        """Estimate an effect from each row's sum of paired differences.

        As in the full table, the variance is taken with two units more that differ by all that is
        possible: rows that all answer alike may be a sample without the few that do not.

        Examples
        --------
        >>> drawn = DrawnEffect.of(np.array([2, 0, 1, 0]), draws=2)
        >>> drawn.effect
        0.375
        """
        effect = float(differences.sum() / (len(differences) * draws))
        sums, sizes = sums_by_unit(differences / draws, clusters)
        units = len(sums)
        squares = ((sums - effect * sizes) ** 2).sum() + 2 * (len(differences) / units) ** 2
        error = np.sqrt(squares * units / max(1, units - 1)) / len(differences)
        return cls(effect=effect, standard_error=float(error), rows=rows, draws=draws)

    def interval(self, error: float) -> tuple[float, float]:
        """Compute the normal confidence interval with a two-sided error rate."""
        from scipy.special import ndtri

        margin = float(-ndtri(error / 2)) * self.standard_error
        return max(self.effect - margin, -1.0), min(self.effect + margin, 1.0)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How the queries that are left are shared out among groups."""

    groups: int  # How many groups, of those asked for.
    rows: int  # Rows to ask about for each of them.
    draws: int  # Draws a row from each of the two mixtures.

    @property
    def queries(self) -> int:
        """The number of rows that the model is asked about."""
        return 2 * self.groups * self.rows * self.draws

    @classmethod
    def of(cls, *, groups: int, rows: int, allowed: int) -> Plan:
        """Share out queries: first for more groups, then for more rows, then for more draws.

        Examples
        --------
        >>> Plan.of(groups=3, rows=5_000, allowed=70_000)
        Plan(groups=3, rows=5000, draws=2)
        >>> Plan.of(groups=3, rows=5_000, allowed=4_500)
        Plan(groups=2, rows=1125, draws=1)
        """
        groups = max(0, min(groups, allowed // (2 * min(rows, FEWEST_ROWS))))
        if not groups:
            return cls(groups=0, rows=0, draws=0)
        share = allowed // (2 * groups)
        draws = min(MOST_DRAWS, max(1, share // rows))
        return cls(groups=groups, rows=min(rows, share), draws=draws)


@dataclass(frozen=True, kw_only=True)
class DrawnEffects:
    """The own effects of some groups, and what it took to estimate them."""

    of_group: dict[int, DrawnEffect]
    queries: int  # Rows the model was asked about.


def draw_own_effects(
    audit: RowAudit, rule_sets: FrequentRuleSets, groups: Iterable[int], *, left: int
) -> DrawnEffects:
    """Estimate the own effects of the first of the groups, with the queries that are left.

    All of them need rows on both sides.
    """
    wanted = list(groups)
    if why_never_asked(audit):
        return DrawnEffects(of_group={}, queries=0)
    plan = Plan.of(groups=len(wanted), rows=audit.size, allowed=min(left, MOST_QUESTIONS))
    questions = Questions.of(audit)
    counter = audit.counter("asking about own effects of single groups", plan.queries)
    effects = {}
    for group in wanted[: plan.groups]:
        effects[group] = _draw_effect(audit, rule_sets, group, questions, plan, counter)
    return DrawnEffects(of_group=effects, queries=plan.queries)


def _draw_effect(
    audit: RowAudit,
    rule_sets: FrequentRuleSets,
    group: int,
    questions: Questions,
    plan: Plan,
    counter: Counter,
) -> DrawnEffect:
    """Estimate the own effect of one group; `counter` counts the answers about all of them.

    Every row is given the sensitive values of `draws` cells of the group and of as many of its
    complement; each row's sum of paired differences of the answers goes into the estimate.
    """
    generator = np.random.default_rng([audit.parameters.seed, 8, group])
    rows: Places = np.arange(audit.size)
    if plan.rows < audit.size:
        rows = np.sort(generator.choice(audit.size, plan.rows, replace=False))
    tally = audit.contingency.tally()
    members = rule_sets.members(np.array([group]), audit.contingency)[0]
    complement = rule_sets.complement_members(np.array([group]), audit.contingency)[0]
    uniform = _spread_uniforms(generator, plan.rows, plan.draws)
    # Of every row all draws of the one side, then all of the other.
    cells = np.column_stack(
        [_cells_at(uniform, tally * members), _cells_at(uniform, tally * complement)]
    )
    # Donors of both sides are at the same quantiles of their cells' values.
    quantiles = np.tile(generator.random(uniform.shape), 2)
    sources = questions.donors.at(questions.tuple_of_cell[cells], quantiles).ravel()
    questions_a_row = 2 * plan.draws

    def pairs(part: slice) -> tuple[Places, Places]:
        """Return the rows of a part of the questions, and the rows whose values they are given."""
        return rows[np.arange(part.start, part.stop) // questions_a_row], sources[part]

    answers = ask_pairs(
        audit.model.model,
        audit.table,
        questions.features,
        pairs,
        len(sources),
        jobs=audit.jobs,
        counter=counter,
    )
    inside, outside = np.moveaxis(
        answers.reshape(plan.rows, 2, plan.draws).sum(axis=2, dtype=np.int64), 1, 0
    )
    clusters = audit.table.clusters
    return DrawnEffect.of(
        inside - outside,
        draws=plan.draws,
        rows=plan.rows if plan.rows < audit.size else None,
        clusters=None if clusters is None else Clusters.of(clusters[rows]),
    )


def _spread_uniforms(generator: np.random.Generator, rows: int, draws: int) -> Floats:
    """Draw numbers from 0 to 1 for each row, one in each of equal parts; shape (rows, draws).

    So a row's draws are unlike each other, and the mean over them is still unbiased.
    """
    spread: Floats = (np.arange(draws) + generator.random((rows, draws))) / draws
    return spread


def _cells_at(uniform: Floats, tally: NDArray[np.integer]) -> Places:
    """Return the cells at numbers from 0 to 1, with chances in proportion to their rows.

    Shapes: `uniform` and the result (rows, draws); `tally` (cells,).

    Both sides are given the same numbers: cells stand in the order of their features, so that the
    two cells are alike in the other features where they can be, and differences vary less.
    """
    ends = np.cumsum(tally)
    # Rounding may give a 1, which is after the last row.
    places = np.minimum((uniform * ends[-1]).astype(np.int64), ends[-1] - 1)
    cells: Places = np.searchsorted(ends, places, side="right")
    return cells

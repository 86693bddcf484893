"""Sampled mode: rates estimated from random neighbours, with a two-sided stopping rule.

Pooled sampling draws neighbours of all rows once and lets every group use those that fall inside
and outside it; only groups that are then still uncertain get draws of their own. Independent
sampling is the paper's Algorithm 2 to the letter, one group after another, and serves as its
reference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import joblib
import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Counts, Estimates
from testsgd.auditing.parameters import AuditParameters
from testsgd.data import Table
from testsgd.errors import ParameterError
from testsgd.models import Model
from testsgd.rules import Contingency, FrequentRuleSets, mine
from testsgd.sampling import decide_draws, draw
from testsgd.scoring import Margins, enough, score_margins

Progress = Callable[[int, int], None]

# So many groups at most get draws of their own before the pool is doubled for all of them.
_FEW_GROUPS = 200

# Independent draws are predicted in batches; the stopping rule is then looked at draw by draw.
_BATCH = 256


@dataclass(frozen=True)
class Sampled:
    """The outcome of sampling.

    Attributes
    ----------
    rule_sets : FrequentRuleSets
        The groups.
    estimates : Estimates
        Their rates.
    cell_samples, cell_favourable : numpy.ndarray of int64, shape (cells,)
        Draws from each cell of the contingency table, and how many got the favourable label.
    queries : int
        Rows the model was asked about.
    """

    rule_sets: FrequentRuleSets
    estimates: Estimates
    cell_samples: Counts
    cell_favourable: Counts
    queries: int


def sample_pooled(
    model: Model,
    table: Table,
    contingency: Contingency,
    parameters: AuditParameters,
    *,
    min_count: int,
    budget: int,
    progress: Progress | None = None,
) -> Sampled:
    """Estimate all groups from one pool of draws, then the uncertain ones from draws of their own.

    Parameters
    ----------
    model : Model
        The black box.
    table : Table
        The rows.
    contingency : Contingency
        Their sensitive cells.
    parameters : AuditParameters
        The stopping rule and the seed.
    min_count : int
        Fewest rows of a group.
    budget : int
        Most rows to ask the model about.
    progress : callable, optional
        Called with the queries made and the budget.

    Returns
    -------
    Sampled
    """
    generator = np.random.default_rng([parameters.seed, 1])
    features = len(table.specification.insensitive)
    samples = np.zeros(contingency.cells, dtype=np.int64)
    favourable = np.zeros(contingency.cells, dtype=np.int64)
    rows = contingency.tally()
    # The smallest group then gets a fifth more than the fewest samples, on average.
    size = int(1.2 * (parameters.min_samples + 1) * len(table) / max(1, min_count))
    asked = 0
    while True:
        size = min(size, budget - asked)
        draws = draw(generator, len(table), features, size)
        cells = contingency.cell_of_row[draws.rows]
        answers = decide_draws(model, table, draws)
        samples += np.bincount(cells, minlength=contingency.cells)
        favourable += np.bincount(cells[answers], minlength=contingency.cells)
        asked += size
        if progress is not None:
            progress(asked, budget)
        rule_sets = mine(
            contingency,
            np.vstack([rows, samples, favourable]),
            min_count=min_count,
            max_features=parameters.max_features,
        )
        estimates = _estimates(rule_sets, len(table), samples, favourable, parameters)
        open_groups = int((~estimates.decided).sum())
        # Doubling the pool must leave as much again for draws of single groups. A pool that the
        # budget kept empty would stay so for ever.
        if open_groups <= _FEW_GROUPS or asked + 2 * asked > budget or size == 0:
            break
        size = asked
    targeted = _Targeted(model, table, contingency, parameters, budget - asked)
    estimates = targeted.complete(rule_sets, estimates, progress)
    return Sampled(rule_sets, estimates, samples, favourable, asked + targeted.asked)


def _estimates(
    rule_sets: FrequentRuleSets,
    total_rows: int,
    samples: Counts,
    favourable: Counts,
    parameters: AuditParameters,
) -> Estimates:
    rows_in, samples_in, favourable_in = rule_sets.sums
    samples_out = int(samples.sum()) - samples_in
    favourable_out = int(favourable.sum()) - favourable_in
    margins = score_margins(
        favourable_in, samples_in, favourable_out, samples_out, parameters.confidence
    )
    return Estimates(
        rows_in=rows_in,
        rows_out=total_rows - rows_in,
        samples_in=samples_in,
        samples_out=samples_out,
        favourable_in=favourable_in,
        favourable_out=favourable_out,
        squares_in=None,
        squares_out=None,
        answers=1,
        margin=margins.margin,
        wilson=margins.wilson,
        decided=_enough(samples_in, samples_out, margins, parameters),
    )


def _enough(
    samples_in: Counts | int,
    samples_out: Counts | int,
    margins: Margins,
    parameters: AuditParameters,
) -> NDArray[np.bool_]:
    return enough(
        samples_in,
        samples_out,
        margins.margin,
        min_samples=parameters.min_samples,
        error_margin=parameters.error_margin,
    )


class _Targeted:
    """Draws for single groups, until each is certain or the budget is spent."""

    def __init__(
        self,
        model: Model,
        table: Table,
        contingency: Contingency,
        parameters: AuditParameters,
        budget: int,
    ) -> None:
        self._model = model
        self._table = table
        self._contingency = contingency
        self._parameters = parameters
        self._budget = budget
        self.asked = 0

    def complete(
        self, rule_sets: FrequentRuleSets, estimates: Estimates, progress: Progress | None
    ) -> Estimates:
        """Give the estimates with the uncertain groups sampled further, largest groups first."""
        open_groups = np.flatnonzero(~estimates.decided)
        open_groups = open_groups[np.argsort(-estimates.rows_in[open_groups], kind="stable")]
        # Order: samples in, samples out, favourable in, favourable out.
        tallies = np.vstack(
            [
                estimates.samples_in,
                estimates.samples_out,
                estimates.favourable_in,
                estimates.favourable_out,
            ]
        )
        for done, group in enumerate(open_groups):
            if self.asked >= self._budget:
                break
            tallies[:, group] = self._sample(rule_sets, int(group), tallies[:, group].copy())
            if progress is not None:
                progress(done + 1, len(open_groups))
        samples_in, samples_out, favourable_in, favourable_out = tallies
        margins = score_margins(
            favourable_in, samples_in, favourable_out, samples_out, self._parameters.confidence
        )
        return Estimates(
            rows_in=estimates.rows_in,
            rows_out=estimates.rows_out,
            samples_in=samples_in,
            samples_out=samples_out,
            favourable_in=favourable_in,
            favourable_out=favourable_out,
            squares_in=None,
            squares_out=None,
            answers=1,
            margin=margins.margin,
            wilson=margins.wilson,
            decided=_enough(samples_in, samples_out, margins, self._parameters),
        )

    def _sample(self, rule_sets: FrequentRuleSets, group: int, tally: Counts) -> Counts:
        parameters = self._parameters
        members = rule_sets.members(np.array([group]), self._contingency)[0]
        inside = members[self._contingency.cell_of_row]
        sides = (np.flatnonzero(inside), np.flatnonzero(~inside))
        # The group's own stream: its draws do not depend on which other groups are uncertain.
        generator = np.random.default_rng(
            [parameters.seed, 2, int(rule_sets.subset[group]), int(rule_sets.place[group])]
        )
        features = len(self._table.specification.insensitive)
        batch = max(100, parameters.min_samples // 2)
        while True:
            margins = score_margins(tally[2], tally[0], tally[3], tally[1], parameters.confidence)
            if _enough(int(tally[0]), int(tally[1]), margins, parameters):
                return tally
            side = 0 if tally[0] <= tally[1] else 1
            missing = parameters.min_samples + 1 - int(tally[side])
            count = min(missing if missing > 0 else batch, self._budget - self.asked)
            if count <= 0:
                return tally
            draws = draw(generator, sides[side], features, count)
            answers = decide_draws(self._model, self._table, draws)
            tally[side] += count
            tally[2 + side] += int(answers.sum())
            self.asked += count


def sample_independent(
    model: Model,
    table: Table,
    contingency: Contingency,
    parameters: AuditParameters,
    *,
    min_count: int,
    budget: int,
    jobs: int,
    progress: Progress | None = None,
) -> Sampled:
    """Run the paper's Algorithm 2 for one group after another.

    Each step draws one neighbour inside and one outside; from the step after `min_samples` on, the
    margin is looked at after every step. Predictions come in batches, the stopping rule does not:
    draws of a batch behind the stop are thrown away.

    Parameters
    ----------
    model, table, contingency, parameters, min_count, budget, progress
        As for :func:`sample_pooled`; each group gets the same share of the budget.
    jobs : int
        Groups sampled at once. The result does not depend on it.

    Returns
    -------
    Sampled

    Raises
    ------
    ParameterError
        If the budget does not suffice for the fewest samples of every group.

    References
    ----------
    Zhang et al., TestSGD, Algorithm 2.
    """
    rows = contingency.tally()
    rule_sets = mine(
        contingency, rows[None, :], min_count=min_count, max_features=parameters.max_features
    )
    least = 2 * (parameters.min_samples + 1)
    share = budget // max(1, len(rule_sets))
    if len(rule_sets) and share < least:
        raise ParameterError(
            f"independent sampling of {len(rule_sets):,} groups takes at least "
            f"{len(rule_sets) * least:,} queries, {budget:,} are allowed",
            where="max_queries",
            remedy="raise --max-queries, or use --sampling pooled",
        )
    results = joblib.Parallel(n_jobs=jobs, prefer="threads", return_as="generator")(
        joblib.delayed(_sample_one)(model, table, contingency, rule_sets, group, parameters, share)
        for group in range(len(rule_sets))
    )
    tallies = np.zeros((5, len(rule_sets)), dtype=np.int64)
    for group, tally in enumerate(results):
        tallies[:, group] = tally
        if progress is not None:
            progress(group + 1, len(rule_sets))
    samples_in, samples_out, favourable_in, favourable_out, asked = tallies
    margins = score_margins(
        favourable_in, samples_in, favourable_out, samples_out, parameters.confidence
    )
    estimates = Estimates(
        rows_in=rule_sets.sums[0],
        rows_out=len(table) - rule_sets.sums[0],
        samples_in=samples_in,
        samples_out=samples_out,
        favourable_in=favourable_in,
        favourable_out=favourable_out,
        squares_in=None,
        squares_out=None,
        answers=1,
        margin=margins.margin,
        wilson=margins.wilson,
        decided=_enough(samples_in, samples_out, margins, parameters),
    )
    nothing = np.zeros(contingency.cells, dtype=np.int64)
    return Sampled(rule_sets, estimates, nothing, nothing, int(asked.sum()))


def _sample_one(
    model: Model,
    table: Table,
    contingency: Contingency,
    rule_sets: FrequentRuleSets,
    group: int,
    parameters: AuditParameters,
    share: int,
) -> Counts:
    members = rule_sets.members(np.array([group]), contingency)[0]
    inside = members[contingency.cell_of_row]
    sides = (np.flatnonzero(inside), np.flatnonzero(~inside))
    generator = np.random.default_rng(
        [parameters.seed, 3, int(rule_sets.subset[group]), int(rule_sets.place[group])]
    )
    features = len(table.specification.insensitive)
    favourable = [np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)]
    asked = 0
    batch = parameters.min_samples + 1
    while asked + 2 * batch <= share:
        for side in (0, 1):
            answers = decide_draws(model, table, draw(generator, sides[side], features, batch))
            favourable[side] = np.r_[favourable[side], answers]
        asked += 2 * batch
        running = np.cumsum(favourable, axis=1)
        steps = np.arange(1, running.shape[1] + 1)
        looked = steps > max(parameters.min_samples, running.shape[1] - batch)
        margins = score_margins(
            running[0, looked],
            steps[looked],
            running[1, looked],
            steps[looked],
            parameters.confidence,
        )
        stops = np.flatnonzero(_enough(steps[looked], steps[looked], margins, parameters))
        if len(stops):
            stop = int(steps[looked][stops[0]])
            return np.array([stop, stop, *running[:, stop - 1], asked])
        batch = _BATCH
    count = len(favourable[0])
    return np.array([count, count, *(int(side.sum()) for side in favourable), asked])

"""Pooled sampling: one pool of draws for all groups, and draws of their own for the few left.

Draws from the neighbours of all rows are shared: every group uses those that fall inside and
outside it. Only groups that are then still uncertain get draws of their own, which no other group
uses, because they are not drawn from all rows.

The stopping rule is looked at after each doubling of the pool, and after each batch of a group's
own draws. So by default it looks at the margin of a confidence sequence, which holds whenever
sampling stops; a group's side has one sequence, in which the pool's draws come first.
"""

from __future__ import annotations

import math

import numpy as np

from testsgd.auditing.estimates import Counts, Estimates, both_sides, drawn_estimates
from testsgd.auditing.outcome import (
    Answers,
    Outcome,
    Progress,
    RowAudit,
    Search,
    ask_rows,
    sides_of,
)
from testsgd.rules import Contingency, FrequentRuleSets
from testsgd.sampling import decide_draws, draw

# So many groups at most get draws of their own before the pool is doubled for all of them.
_FEW_GROUPS = 200
# The first pool is large enough for the groups that hold this share of the rows.
_SHARE_OF_THE_FIRST_POOL = 0.05


def sample_pooled(
    audit: RowAudit,
    contingency: Contingency,
    search: Search,
    *,
    min_count: int,
    budget: int,
    progress: Progress | None = None,
) -> Outcome:
    """Estimate all groups from one pool of draws, and the uncertain ones from their own."""
    table, parameters = audit.table, audit.parameters
    generator = np.random.default_rng([parameters.seed, 1])
    features = len(table.specification.insensitive)
    samples = np.zeros(contingency.cells, dtype=np.int64)
    favourable = np.zeros(contingency.cells, dtype=np.int64)
    rows = contingency.tally()
    # The smallest group, or one of a twentieth of the rows, then gets a fifth more than the fewest
    # samples, on average. Most groups are larger, and a pool for the rarest ones asks most for
    # those that are certain already; draws of its own cost a rare group far less.
    smallest = max(1, min_count, math.ceil(len(table) * _SHARE_OF_THE_FIRST_POOL))
    size = int(1.2 * (parameters.min_samples + 1) * len(table) / smallest)
    observed = ask_rows(audit, contingency, budget)
    budget -= observed.queries
    asked = 0
    while True:
        size = min(size, budget - asked)
        draws = draw(generator, len(table), features, size)
        cells = contingency.cell_of_row[draws.rows]
        answers = decide_draws(audit.model.model, table, draws)
        samples += np.bincount(cells, minlength=contingency.cells)
        favourable += np.bincount(cells[answers], minlength=contingency.cells)
        asked += size
        if progress is not None:
            progress(asked, budget)
        rule_sets = search(np.vstack([rows, samples, favourable, observed.quantities]))
        rows_in = rule_sets.sums[0]
        tallies = both_sides(rule_sets.sums[1:3], np.array([asked, favourable.sum()]))
        estimates = drawn_estimates(rows_in, len(table) - rows_in, tallies, parameters)
        uncertain = int((~estimates.decided).sum())
        # A pool of double size must leave as much again for draws of single groups.
        if uncertain <= _FEW_GROUPS or 3 * asked >= budget:
            break
        size = asked
    targeted = _Targeted(audit, contingency, budget - asked)
    tallies = targeted.complete(rule_sets, estimates, tallies, progress)
    return Outcome(
        rule_sets,
        Answers(
            drawn_estimates(rows_in, len(table) - rows_in, tallies, parameters),
            samples,
            favourable,
        ),
        observed.answers(rows_in, rule_sets.sums[3:], len(table), parameters),
        observed.queries + asked + targeted.asked,
    )


class _Targeted:
    """Draws for single groups, until each is certain or the budget is spent."""

    def __init__(self, audit: RowAudit, contingency: Contingency, budget: int) -> None:
        self._audit = audit
        self._contingency = contingency
        self._budget = budget
        self.asked = 0

    def complete(
        self,
        rule_sets: FrequentRuleSets,
        estimates: Estimates,
        tallies: Counts,
        progress: Progress | None,
    ) -> Counts:
        """Return the tallies with the uncertain groups sampled further, largest groups first."""
        tallies = tallies.copy()
        uncertain = np.flatnonzero(~estimates.decided)
        uncertain = uncertain[np.argsort(-estimates.rows_in[uncertain], kind="stable")]
        for done, group in enumerate(uncertain, start=1):
            if self.asked >= self._budget:
                break
            tallies[:, group] = self._sample(rule_sets, int(group), tallies[:, group].copy())
            if progress is not None:
                progress(done, len(uncertain))
        return tallies

    def _sample(self, rule_sets: FrequentRuleSets, group: int, tally: Counts) -> Counts:
        """Draw on the side with fewer samples until the stopping rule holds."""
        parameters, table = self._audit.parameters, self._audit.table
        sides = sides_of(rule_sets, group, self._contingency)
        # The group's own stream: its draws do not depend on which other groups are uncertain.
        generator = np.random.default_rng(
            [parameters.seed, 2, int(rule_sets.subset[group]), int(rule_sets.place[group])]
        )
        features = len(table.specification.insensitive)
        batch = max(100, parameters.min_samples // 2)
        while not self._certain(tally):
            side = 0 if tally[0] <= tally[1] else 1
            missing = parameters.min_samples + 1 - int(tally[side])
            count = min(missing if missing > 0 else batch, self._budget - self.asked)
            if count <= 0:
                break
            draws = draw(generator, sides[side], features, count)
            answers = decide_draws(self._audit.model.model, table, draws)
            tally[side] += count
            tally[2 + side] += int(answers.sum())
            self.asked += count
        return tally

    def _certain(self, tally: Counts) -> bool:
        one = np.ones(1, np.int64)
        estimates = drawn_estimates(one, one, tally[:, None], self._audit.parameters)
        return bool(estimates.decided[0])

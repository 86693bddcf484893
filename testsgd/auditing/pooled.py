"""Pooled sampling: one pool of draws for all groups, and draws of their own for the few left.

Every group uses the pool's draws that fall inside and outside it. Only groups that are then still
uncertain get draws of their own, which no other group uses: they are not drawn from all rows. The
stopping rule is looked at again and again, so by default its margin is that of a confidence
sequence; a group's side has one sequence, in which the pool's draws come first.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import estimates as rates
from testsgd.auditing.estimates import Counts, Estimates, drawn_estimates
from testsgd.auditing.outcome import Answers, Outcome, RowAudit, ask_rows
from testsgd.rules import FrequentRuleSets

# The most groups that get draws of their own; with more uncertain ones the pool is doubled.
_FEW_GROUPS = 200
# The first pool is large enough for the groups that hold this share of the rows.
_SHARE_OF_THE_FIRST_POOL = 0.05


def sample_pooled(audit: RowAudit, budget: int, known: NDArray[np.int8]) -> Outcome:
    """Estimate all groups from one pool of draws, and the uncertain ones from draws of their own.

    The pool begins with 1.2 (min_samples + 1) n / m draws, where n are all rows and m the rows
    of the smallest group, at least a twentieth of all. It is doubled while more than 200 groups are
    uncertain and less than a third of the budget is spent. `budget` is the most queries, those
    about the rows as they are included, and `known` what was answered about these before.
    """
    parameters = audit.parameters
    contingency = audit.contingency
    generator = np.random.default_rng([parameters.seed, 1])
    samples = np.zeros(contingency.cells, dtype=np.int64)
    favourable = np.zeros(contingency.cells, dtype=np.int64)
    rows = contingency.tally()
    # The smallest group, or one of a twentieth of the rows, then gets a fifth more than the fewest
    # samples, on average. Most groups are larger, and a pool for the rarest ones asks most for
    # those that are certain already; draws of its own cost a rare group far less.
    fewest = audit.min_count
    if audit.given is not None:
        sizes = audit.search(rows[None]).sums[0]
        fewest = int(sizes.min(initial=audit.size))
    smallest = max(1, fewest, math.ceil(audit.size * _SHARE_OF_THE_FIRST_POOL))
    size = int(1.2 * (parameters.min_samples + 1) * audit.size / smallest)
    observed = ask_rows(audit, budget, known)
    budget -= observed.queries
    asked = 0
    while True:
        size = min(size, budget - asked)
        # How many draws it takes is not known before, so that each pool is a phase.
        phase = f"asking about draws {asked + 1:,} to {asked + size:,}"
        with audit.counter(phase, size).asking(size):
            draws, answers = audit.ask(audit.size, size, generator)
        cells = contingency.cell_of_row[draws.rows]
        samples += np.bincount(cells, minlength=contingency.cells)
        favourable += np.bincount(cells[answers], minlength=contingency.cells)
        asked += size
        quantities = np.vstack([rows, samples, favourable, observed.quantities])
        rule_sets = audit.search(quantities)
        together = rule_sets.totals(contingency, quantities)
        rows_in = rule_sets.sums[0]
        rows_out = together[0] - rows_in
        tallies = rates.both_sides(rule_sets.sums[1:3], together[1:3])
        estimates = drawn_estimates(rows_in, rows_out, tallies, parameters)
        uncertain = int((~estimates.decided).sum())
        # A pool of double size must leave as much again for draws of single groups.
        if uncertain <= _FEW_GROUPS or 3 * asked >= budget:
            break
        size = asked
    tallies, targeted = _sample_uncertain(audit, rule_sets, estimates, tallies, budget - asked)
    return Outcome(
        rule_sets=rule_sets,
        neighbourhood=Answers(
            estimates=drawn_estimates(rows_in, rows_out, tallies, parameters),
            cell_samples=samples,
            cell_favourable=favourable,
        ),
        observed=observed.answers(rule_sets.sums[[0, 3, 4]], together[[0, 3, 4]], parameters),
        queries=observed.queries + asked + targeted,
    )


def _sample_uncertain(
    audit: RowAudit, rule_sets: FrequentRuleSets, estimates: Estimates, tallies: Counts, budget: int
) -> tuple[Counts, int]:
    """Draw for single uncertain groups, the largest first, until all are decided.

    No more than `budget` neighbours are drawn. Returned are the tallies (4, groups) with these
    draws, and how many draws there were. The rows
    of the tallies are: samples inside and outside, favourable ones inside and outside.
    """
    parameters = audit.parameters
    tallies = tallies.copy()
    asked = 0
    batch = max(100, parameters.min_samples // 2)
    uncertain = np.flatnonzero(~estimates.decided)
    uncertain = uncertain[np.argsort(-estimates.rows_in[uncertain], kind="stable")]
    counter = audit.counter("asking about uncertain groups", len(uncertain))
    for group in uncertain.tolist():
        if asked >= budget:
            break
        sides = audit.sides(rule_sets, group)
        tally = tallies[:, group]
        # The group's own stream: its draws do not depend on which other groups are uncertain.
        generator = np.random.default_rng(
            [parameters.seed, 2, int(rule_sets.subset[group]), int(rule_sets.position[group])]
        )
        # The margins of both sides add up; a draw changes that of its own side alone.
        margins = [rates.side_margin(tally[2 + side], tally[side], parameters) for side in (0, 1)]
        while asked < budget and not rates.is_enough(tally[0], tally[1], sum(margins), parameters):
            # On the side with fewer samples.
            side = 0 if tally[0] <= tally[1] else 1
            missing = parameters.min_samples + 1 - int(tally[side])
            count = min(missing if missing > 0 else batch, budget - asked)
            _, answers = audit.ask(sides[side], count, generator)
            tally[side] += count
            tally[2 + side] += int(answers.sum())
            margins[side] = rates.side_margin(tally[2 + side], tally[side], parameters)
            asked += count
        counter.add(1)
    return tallies, asked

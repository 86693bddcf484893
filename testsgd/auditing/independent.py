"""Independent sampling: the paper's Algorithm 2 to the letter, one group after another.

Nothing is shared and nothing remembered, so it takes many times the queries of pooled sampling and
serves as its reference. See Zhang et al., TestSGD, Algorithm 2 and section 4.3.
"""

from __future__ import annotations

from collections.abc import Callable

import joblib
import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Counts, drawn_estimates, stopping_rule
from testsgd.auditing.outcome import Answers, Outcome, RowAudit, ask_rows
from testsgd.auditing.parameters import AuditParameters
from testsgd.errors import ParameterError
from testsgd.single_thread import on_one_thread

# Draws are predicted in batches; the stopping rule is looked at draw by draw all the same.
_BATCH = 256


def check_share(budget: int, groups: int, parameters: AuditParameters) -> int:
    """Return each group's share of the query budget, or refuse if that is too little for any."""
    least = 2 * (parameters.min_samples + 1)
    share = budget // max(1, groups)
    if groups and share < least:
        raise ParameterError(
            f"independent sampling of {groups:,} groups takes at least "
            f"{groups * least:,} queries beside those about the rows as they are, "
            f"{budget:,} are left",
            where="max_queries",
            remedy="raise --max-queries, or use --sampling pooled",
        )
    return share


def sample_until_certain(
    ask: Callable[[int], Counts], parameters: AuditParameters, share: int
) -> Counts:
    """Draw equally many samples on both sides until the stopping rule holds, or `share` is spent.

    `ask` draws a number of samples on each side and returns the answers, shape (2, number).
    Returned are samples inside and outside, favourable ones inside and outside, and the number of
    queries, shape (5,).

    From the step after `min_samples` on, the margin is looked at after every step. Predictions come
    in batches, the stopping rule does not: draws of a batch behind the stop are thrown away. These
    many looks are why the paper's margin, which is made for one, covers the truth less often than
    it says; that of a confidence sequence (``interval="anytime"``) keeps its promise.
    """
    answers = np.zeros((2, 0), dtype=np.int64)
    batch = parameters.min_samples + 1
    while 2 * (answers.shape[1] + batch) <= share:
        before = answers.shape[1]
        answers = np.hstack([answers, ask(batch)])
        favourable = np.cumsum(answers, axis=1)
        # Up to the fewest samples sampling never stops.
        first = max(before, parameters.min_samples)
        steps = np.arange(first + 1, answers.shape[1] + 1)
        _, stops = stopping_rule(np.vstack([steps, steps, favourable[:, first:]]), parameters)
        if stops.any():
            stop = int(steps[np.argmax(stops)])
            return np.array([stop, stop, *favourable[:, stop - 1], answers.size])
        batch = _BATCH
    count = answers.shape[1]
    return np.array([count, count, *answers.sum(axis=1), answers.size])


def sample_independent(audit: RowAudit, budget: int, known: NDArray[np.int8]) -> Outcome:
    """Estimate each group by samples of its own (TestSGD, Algorithm 2), one on each side a step.

    `budget` and `known` are as for :func:`sample_pooled`.
    """
    parameters = audit.parameters
    contingency = audit.contingency
    observed = ask_rows(audit, budget, known)
    quantities = np.vstack([contingency.tally(), observed.quantities])
    rule_sets = audit.search(quantities)
    together = rule_sets.totals(contingency, quantities)
    share = check_share(budget - observed.queries, len(rule_sets), parameters)

    def sample(group: int) -> Counts:
        """Return the tallies of one group, as :func:`sample_until_certain` does."""
        sides = audit.sides(rule_sets, group)
        generator = np.random.default_rng(
            [parameters.seed, 3, int(rule_sets.subset[group]), int(rule_sets.position[group])]
        )

        def ask(count: int) -> Counts:
            """Return the answers about draws on both sides, shape (2, count)."""
            drawn = [audit.ask(side, count, generator)[1] for side in sides]
            return np.array(drawn, dtype=np.int64)

        return sample_until_certain(ask, parameters, share)

    tallies = np.zeros((5, len(rule_sets)), dtype=np.int64)
    counter = audit.counter("asking group by group", len(rule_sets))
    # One thread a group: the libraries' own threads would split sums by the number of processors.
    with on_one_thread():
        results = joblib.Parallel(n_jobs=audit.jobs, prefer="threads", return_as="generator")(
            joblib.delayed(sample)(group) for group in range(len(rule_sets))
        )
        for group, tally in enumerate(results):
            tallies[:, group] = tally
            counter.add(1)
    no_samples = np.zeros(contingency.cells, dtype=np.int64)
    rows_in = rule_sets.sums[0]
    rows_out = together[0] - rows_in
    estimates = drawn_estimates(rows_in, rows_out, tallies[:4], parameters)
    return Outcome(
        rule_sets=rule_sets,
        neighbourhood=Answers(
            estimates=estimates, cell_samples=no_samples, cell_favourable=no_samples
        ),
        observed=observed.answers(rule_sets.sums, together, parameters),
        queries=observed.queries + int(tallies[4].sum()),
    )

"""Independent sampling: the paper's Algorithm 2 to the letter, one group after another.

It is far slower than pooled sampling and serves as its reference.
"""

from __future__ import annotations

import joblib
import numpy as np
from threadpoolctl import threadpool_limits

from testsgd.auditing.estimates import Counts, drawn_estimates
from testsgd.auditing.outcome import Outcome, Progress, sides_of
from testsgd.auditing.parameters import AuditParameters
from testsgd.data import Table
from testsgd.errors import ParameterError
from testsgd.models import Model
from testsgd.rules import Contingency, FrequentRuleSets, mine
from testsgd.sampling import decide_draws, draw
from testsgd.scoring import enough, score_margins

# Draws are predicted in batches; the stopping rule is looked at draw by draw all the same.
_BATCH = 256


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
) -> Outcome:
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
    Outcome

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
    tallies = np.zeros((5, len(rule_sets)), dtype=np.int64)
    # One thread a group: the libraries' own threads would split sums by the number of processors.
    with threadpool_limits(1):
        results = joblib.Parallel(n_jobs=jobs, prefer="threads", return_as="generator")(
            joblib.delayed(_sample_one)(
                model, table, contingency, rule_sets, group, parameters, share
            )
            for group in range(len(rule_sets))
        )
        for group, tally in enumerate(results):
            tallies[:, group] = tally
            if progress is not None:
                progress(group + 1, len(rule_sets))
    nothing = np.zeros(contingency.cells, dtype=np.int64)
    return Outcome(
        rule_sets,
        drawn_estimates(rule_sets.sums[0], len(table), tallies[:4], parameters),
        nothing,
        nothing,
        int(tallies[4].sum()),
    )


def _sample_one(
    model: Model,
    table: Table,
    contingency: Contingency,
    rule_sets: FrequentRuleSets,
    group: int,
    parameters: AuditParameters,
    share: int,
) -> Counts:
    """Give samples and favourable ones on both sides at the stop, and the queries it took."""
    sides = sides_of(rule_sets, group, contingency)
    generator = np.random.default_rng(
        [parameters.seed, 3, int(rule_sets.subset[group]), int(rule_sets.place[group])]
    )
    features = len(table.specification.insensitive)
    answers = np.zeros((2, 0), dtype=np.int64)
    batch = parameters.min_samples + 1
    while 2 * (answers.shape[1] + batch) <= share:
        drawn = [
            decide_draws(model, table, draw(generator, side, features, batch)) for side in sides
        ]
        before = answers.shape[1]
        answers = np.hstack([answers, np.array(drawn, dtype=np.int64)])
        favourable = np.cumsum(answers, axis=1)
        steps = np.arange(before + 1, answers.shape[1] + 1)
        stop = _first_stop(steps, favourable[:, before:], parameters)
        if stop is not None:
            return np.array([stop, stop, *favourable[:, stop - 1], answers.size])
        batch = _BATCH
    count = answers.shape[1]
    return np.array([count, count, *answers.sum(axis=1), answers.size])


def _first_stop(steps: Counts, favourable: Counts, parameters: AuditParameters) -> int | None:
    """Look at the margin after each of some steps; give the first at which sampling stops."""
    inside, outside = favourable
    margins = score_margins(inside, steps, outside, steps, parameters.confidence)
    stops = enough(
        steps,
        steps,
        margins.margin,
        min_samples=parameters.min_samples,
        error_margin=parameters.error_margin,
    )
    return int(steps[np.argmax(stops)]) if stops.any() else None

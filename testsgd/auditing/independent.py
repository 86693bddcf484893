"""Independent sampling: the paper's Algorithm 2 to the letter, one group after another.

It is far slower than pooled sampling and serves as its reference.
"""

from __future__ import annotations

import joblib
import numpy as np
from threadpoolctl import threadpool_limits

from testsgd.auditing.algorithm_two import check_share, sample_until_certain
from testsgd.auditing.estimates import Counts, drawn_estimates
from testsgd.auditing.observed import ask_rows
from testsgd.auditing.outcome import Answers, Outcome, Progress, Search, sides_of
from testsgd.auditing.parameters import AuditParameters
from testsgd.data import Table
from testsgd.models import Model
from testsgd.rules import Contingency, FrequentRuleSets
from testsgd.sampling import decide_draws, draw


def sample_independent(
    model: Model,
    table: Table,
    contingency: Contingency,
    parameters: AuditParameters,
    search: Search,
    *,
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
    model, table, contingency, parameters, search, budget, progress
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
    observed = ask_rows(model, table, contingency, budget=budget, seed=parameters.seed)
    rule_sets = search(np.vstack([rows, observed.quantities]))
    share = check_share(budget - observed.queries, len(rule_sets), parameters)
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
    rows_in = rule_sets.sums[0]
    return Outcome(
        rule_sets,
        Answers(
            drawn_estimates(rows_in, len(table) - rows_in, tallies[:4], parameters),
            nothing,
            nothing,
        ),
        observed.answers(rows_in, rule_sets.sums[1:], len(table), parameters),
        observed.queries + int(tallies[4].sum()),
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

    def ask(count: int) -> Counts:
        """Draw so many neighbours on each side and give the answers."""
        drawn = [
            decide_draws(model, table, draw(generator, side, features, count)) for side in sides
        ]
        return np.array(drawn, dtype=np.int64)

    return sample_until_certain(ask, parameters, share)

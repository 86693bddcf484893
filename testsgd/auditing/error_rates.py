"""The error rates of the groups whose selection rates were compared: alike is not alike right.

A true-positive rate is a selection rate too, of the rows whose true label is the favourable one,
and a false-positive rate one of the others. So the groups are those of the search, and their rates
on these rows have the same intervals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import joblib
import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import estimates as rates
from testsgd.auditing.estimates import Estimates
from testsgd.auditing.guarantee import Guarantee, bonferroni
from testsgd.auditing.max_statistic import simultaneous
from testsgd.auditing.metrics import SELECTION_RATE
from testsgd.auditing.outcome import Answers, RowAudit, with_independent_rows
from testsgd.auditing.parameters import MetricName
from testsgd.rules import FrequentRuleSets
from testsgd.scoring import Clusters

# Of the rows with the favourable label, and of those with another.
_ERROR_RATES: tuple[tuple[MetricName, bool], ...] = (
    ("true_positive_rate", True),
    ("false_positive_rate", False),
)


@dataclass(frozen=True, kw_only=True)
class ErrorRate:
    """One error rate of the groups with enough rows that it counts, inside and outside."""

    metric: MetricName  # Which rate
    groups: NDArray[np.intp]  # Which of the audit's groups these are, shape (judged,)
    estimates: Estimates  # Their rates, in that order
    guarantee: Guarantee  # What the intervals hold for: all these groups, and the other rate too

    @property
    def first(self) -> int | None:
        """The place in `groups` of the largest lower bound, or else of the largest difference."""
        if len(self.groups) == 0:
            return None
        largest = self.guarantee.largest_bound_group
        return int(np.argmax(self.estimates.score)) if largest is None else largest


def find_error_rates(
    audit: RowAudit, rule_sets: FrequentRuleSets, observed: Answers
) -> tuple[ErrorRate, ...]:
    """Return both error rates of the groups, none if they are not known.

    They are known if the selection rates of rows as they are were asked for, all rows have an
    answer, and there are true labels. Rows without a label are left out.
    """
    labels = audit.table.labels
    parameters = audit.parameters
    of_selection = parameters.metric == SELECTION_RATE and parameters.estimand == "observed"
    if labels is None or observed.row_favourable is None or not of_selection:
        return ()
    known = labels.notna().to_numpy(dtype=bool)
    truth = (labels == audit.table.specification.label.favourable).to_numpy(dtype=bool)
    return tuple(
        _error_rate(audit, rule_sets, observed, metric, np.flatnonzero(known & (truth == value)))
        for metric, value in _ERROR_RATES
    )


def _error_rate(
    audit: RowAudit,
    rule_sets: FrequentRuleSets,
    observed: Answers,
    metric: MetricName,
    rows: NDArray[np.intp],
) -> ErrorRate:
    """Compute the rates of all groups on some of the rows, those that a metric counts."""
    assert observed.row_favourable is not None
    contingency = replace(audit.contingency, cell_of_row=audit.contingency.cell_of_row[rows])
    favourable = observed.row_favourable[rows].astype(np.int64)
    draws = observed.row_samples
    by_cell = np.vstack([contingency.tally(), contingency.tally(favourable)])
    inside = np.rint(rule_sets.sums_of(contingency, by_cell)).astype(np.int64)
    together = rule_sets.totals(contingency, by_cell)
    estimates = rates.counted_estimates(rates.both_sides(inside, together), draws=draws)
    if draws > 1:
        estimates = rates.means_over_draws(estimates, audit.parameters.confidence)
    answers = Answers(
        estimates=estimates,
        cell_samples=by_cell[0] * draws,
        cell_favourable=by_cell[1],
        row_samples=draws,
        row_favourable=favourable,
    )
    if audit.table.clusters is not None:
        clusters = Clusters.of(audit.table.clusters[rows])
        answers = with_independent_rows(answers, rule_sets, contingency, clusters)
    fewest = np.minimum(estimates.rows_in, estimates.rows_out)
    groups = np.flatnonzero(fewest >= max(1, audit.min_count))
    judged = answers.estimates.take(groups)
    # Both rates have to hold at once, so each of them gets half of the error rate.
    parameters = replace(audit.parameters, confidence=(1 + audit.parameters.confidence) / 2)
    dependent = audit.given is not None or audit.table.clusters is not None
    if parameters.guarantee != "simultaneous" or dependent or len(groups) == 0:
        guarantee = bonferroni(judged, parameters.confidence)
    else:
        guarantee = simultaneous(
            judged,
            contingency,
            answers.cell_samples,
            answers.cell_favourable,
            np.zeros(len(groups), dtype=bool),
            parameters,
            min_count=audit.min_count,
            # The bootstrap asks no model.
            jobs=parameters.jobs or int(joblib.cpu_count()),
        )
    return ErrorRate(metric=metric, groups=groups, estimates=judged, guarantee=guarantee)

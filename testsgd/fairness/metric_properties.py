"""Which fairness property compares what a metric of an audit compares, for monitors and shields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from testsgd.errors import ParameterError


@dataclass(frozen=True)
class MetricProperty:
    """The fairness property that compares a metric of groups, and whom the metric counts."""

    fairness: Literal["demographic_parity", "equal_opportunity", "predictive_equality"]
    label: Literal[0, 1] | None  # The true label of all whom it counts; None: it is of no matter.
    who: str


BY_METRIC = {
    "selection_rate": MetricProperty("demographic_parity", None, "rows"),
    "true_positive_rate": MetricProperty("equal_opportunity", 1, "rows with the true label 1"),
    "false_positive_rate": MetricProperty("predictive_equality", 0, "rows with the true label 0"),
}
"""The metrics of audits that are rates of which a property compares the groups."""


def property_of_metric(metric: str, *, what_lacks_it: str) -> MetricProperty:
    """Return the fairness property that compares a metric of groups.

    Parameters
    ----------
    metric : str
        The metric that an audit compared.
    what_lacks_it : str
        What the message says of any other metric, such as "which no shield guarantees".

    Returns
    -------
    MetricProperty

    Raises
    ------
    ParameterError
        If no property compares the metric.

    Examples
    --------
    >>> property_of_metric("true_positive_rate", what_lacks_it="which nothing watches").fairness
    'equal_opportunity'
    """
    if metric not in BY_METRIC:
        raise ParameterError(
            f"the audit compared the metric {metric}, {what_lacks_it}",
            where="metric",
            remedy=f"audit one of {', '.join(BY_METRIC)}",
            name=metric,
        )
    return BY_METRIC[metric]

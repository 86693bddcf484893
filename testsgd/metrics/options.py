"""The keywords of an audit of metrics and of predictions, for editors and type checkers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from testsgd.auditing import AuditOptions
from testsgd.metrics.parameters import Measure, MetricGuarantee


# Checkers read no class of parameters as keywords, so that its names and types stand here once
# more; a test compares the two.
class MetricOptions(TypedDict, total=False):
    """The keywords of an audit of metrics: those of :class:`testsgd.metrics.MetricParameters`.

    Examples
    --------
    >>> options: MetricOptions = {"measure": "ratio", "fail_below": 0.8}
    >>> from testsgd.metrics import MetricParameters
    >>> MetricParameters(**options).fail_below
    0.8
    """

    reference: str
    measure: Measure
    min_rows: int
    max_features: int | None
    max_dilution: float
    bins: int | None
    confidence: float
    guarantee: MetricGuarantee
    replicates: int
    overlap: float
    top: int
    seed: int
    holdout: float | None
    stability: int | None
    condition_on: str | Sequence[str]
    rows: str | None
    fail_above: float | None
    fail_below: float | None
    strict: bool
    max_unjudged: float


class PredictionOptions(AuditOptions, total=False):
    """The keywords of an audit of predictions, of one rate or of several metrics.

    A keyword of both has the type of :class:`testsgd.auditing.AuditOptions`, which is the wider.

    Examples
    --------
    >>> options: PredictionOptions = {"reference": "overall", "min_rows": 20}
    >>> import testsgd
    >>> result = testsgd.audit_predictions(
    ...     [0, 1] * 100, sensitive_features={"sex": ["f", "m"] * 100}, **options)
    >>> result.summary.parameters.reference
    'overall'
    """

    reference: str
    measure: Measure
    fail_below: float | None

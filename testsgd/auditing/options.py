"""The keywords of an audit, for editors and type checkers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from testsgd.auditing.parameters import (
    EqualRows,
    Estimand,
    GuaranteeKind,
    IntervalKind,
    MetricName,
    Mode,
    RankBy,
    SamplingScheme,
    ThetaSide,
)


# Checkers read no class of parameters as keywords, so that its names and types stand here once
# more; a test compares the two.
class AuditOptions(TypedDict, total=False):
    """The keywords of an audit: those of :class:`testsgd.auditing.AuditParameters`.

    Examples
    --------
    >>> options: AuditOptions = {"theta": 0.1, "condition_on": "housing, purpose"}
    >>> import testsgd
    >>> result = testsgd.audit(None, None, "demo", **options)
    >>> result.summary.parameters.condition_on
    ('housing', 'purpose')
    """

    estimand: Estimand
    theta: float | None
    min_rows: int | None
    theta_side: ThetaSide
    error_margin: float
    min_samples: int
    confidence: float
    metric: MetricName
    mode: Mode
    sampling: SamplingScheme
    max_queries: int | None
    max_features: int | None
    bins: int | None
    rank_by: RankBy
    top: int
    seed: int
    runs: int
    jobs: int | None
    batch_size: int | None
    overlap: float
    fail_above: float | None
    fail_below_ratio: float | None
    strict: bool
    max_unjudged: float
    max_dilution: float
    guarantee: GuaranteeKind
    interval: IntervalKind
    replicates: int
    holdout: float | None
    stability: int | None
    condition_on: str | Sequence[str]
    within: str | Sequence[str]
    rows: str | None
    groups: str | Sequence[str]
    equal_rows: EqualRows
    as_paper: bool
    nondeterministic: bool | int | None

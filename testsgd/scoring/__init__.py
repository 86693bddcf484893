"""Scoring: rates, margins, intervals, when to stop, and which group comes first."""

from testsgd.scoring.intervals import difference_interval, effective_size, wilson_interval
from testsgd.scoring.margins import (
    WILSON_BELOW,
    Margins,
    enough,
    normal_quantile,
    score_margins,
    wald_margin,
    wilson_margin,
)
from testsgd.scoring.ranking import distinct_groups, rank_groups

__all__ = [
    "WILSON_BELOW",
    "Margins",
    "difference_interval",
    "distinct_groups",
    "effective_size",
    "enough",
    "normal_quantile",
    "rank_groups",
    "score_margins",
    "wald_margin",
    "wilson_interval",
    "wilson_margin",
]

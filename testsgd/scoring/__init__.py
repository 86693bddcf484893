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
from testsgd.scoring.paired import paired_interval
from testsgd.scoring.ranking import (
    Overlaps,
    block_of,
    distinct_groups,
    member_overlaps,
    rank_groups,
)

__all__ = [
    "WILSON_BELOW",
    "Margins",
    "Overlaps",
    "block_of",
    "difference_interval",
    "distinct_groups",
    "effective_size",
    "enough",
    "member_overlaps",
    "normal_quantile",
    "paired_interval",
    "rank_groups",
    "score_margins",
    "wald_margin",
    "wilson_interval",
    "wilson_margin",
]

"""Scoring: rates, margins, intervals, when to stop, and which group comes first."""

from testsgd.scoring.clusters import Clusters, independent_rows
from testsgd.scoring.effective import effective_size
from testsgd.scoring.equality import equality_p_values
from testsgd.scoring.exact_tails import clopper_pearson, exact_difference
from testsgd.scoring.margins import (
    WILSON_BELOW,
    Margins,
    enough,
    normal_quantile,
    rate_margins,
    score_margins,
    wald_margin,
    wilson_margin,
)
from testsgd.scoring.pair_sequences import (
    PairMeasure,
    may_be_evident,
    pair_evidence,
    pair_interval,
)
from testsgd.scoring.paired import (
    combined_interval,
    mcnemar_p_value,
    paired_interval,
    paired_rates_interval,
)
from testsgd.scoring.population import Side, population_interval
from testsgd.scoring.ranking import (
    Overlaps,
    block_of,
    distinct_groups,
    member_overlaps,
    rank_groups,
)
from testsgd.scoring.sequences import confidence_sequence, sequence_margin

__all__ = [
    "WILSON_BELOW",
    "Clusters",
    "Margins",
    "Overlaps",
    "PairMeasure",
    "Side",
    "block_of",
    "clopper_pearson",
    "combined_interval",
    "confidence_sequence",
    "distinct_groups",
    "effective_size",
    "enough",
    "equality_p_values",
    "exact_difference",
    "independent_rows",
    "may_be_evident",
    "mcnemar_p_value",
    "member_overlaps",
    "normal_quantile",
    "pair_evidence",
    "pair_interval",
    "paired_interval",
    "paired_rates_interval",
    "population_interval",
    "rank_groups",
    "rate_margins",
    "score_margins",
    "sequence_margin",
    "wald_margin",
    "wilson_margin",
]

"""What the user of an audit can choose."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from testsgd.parameters import MOST_JOBS, MOST_SAMPLES, Parameters, parameter

Mode = Literal["auto", "exact", "sampled"]
SamplingScheme = Literal["pooled", "independent"]
Estimand = Literal["observed", "neighbourhood"]
MetricName = Literal[
    "selection_rate", "true_positive_rate", "false_positive_rate", "precision", "accuracy"
]
RankBy = Literal["auto", "lower-bound", "score", "counterfactual"]
GuaranteeKind = Literal["per-group", "simultaneous", "fdr"]
IntervalKind = Literal["auto", "anytime", "wald"]
ThetaSide = Literal["both", "inside"]
EqualRows = Literal["one", "each"]
MarginKind = Literal["anytime", "wald"]

# Answers to each question to a model that answers differently when asked twice.
DRAWS = 5

# A text costs a model about a thousand times what a row of a table does.
ROW_QUERIES = 20_000_000
TEXT_QUERIES = 1_000_000

# Most terms of a rule set of texts, if nothing is asked for.
TEXT_DEPTH = 3

# What the TestSGD paper's Table 2 and Algorithm 2 say, where nothing else is asked for.
PAPER_SETTINGS: Mapping[str, Any] = MappingProxyType(
    {
        "estimand": "neighbourhood",
        "theta": 0.05,
        "theta_side": "inside",
        "error_margin": 0.05,
        "min_samples": 1000,
        "confidence": 0.95,
        "mode": "sampled",
        "sampling": "independent",
        "interval": "wald",
        "rank_by": "score",
        "guarantee": "per-group",
    }
)

# Fewest rows on each side of a judged group, if neither `min_rows` nor `theta` is given.
MIN_ROWS = 50


@dataclass(frozen=True, kw_only=True)
class AuditParameters(Parameters):
    """The parameters of an audit; sampling's defaults are the paper's (TestSGD, Table 2).

    Examples
    --------
    >>> AuditParameters(theta=2)
    Traceback (most recent call last):
    ...
    testsgd.errors.ParameterError: theta: 2 is not between 0 and 1; give a share such as 0.05
    """

    estimand: Estimand = parameter(
        "observed",
        "Which selection rates are ranked, and what the headline is about: those of the "
        "rows as they are, or the paper's over their perturbation neighbourhood. The other is "
        "computed too, and the gate looks at both.",
        described=True,
    )
    theta: float | None = parameter(
        None,
        "Support threshold: smallest share of the rows on each side of a judged group.",
        described=True,
        above=0,
        below=1,
        example="a share such as 0.05",
    )
    min_rows: int | None = parameter(
        None,
        "Fewest rows on each side of a judged group; by default 50, or 1 with `theta`. If "
        "both are given both hold.",
        at_least=1,
    )
    theta_side: ThetaSide = parameter(
        "both",
        "For rows: on which sides a judged group needs the rows that `theta` or `min_rows` asks "
        "for: inside and outside (both), or inside, with one outside, as in the paper.",
    )
    error_margin: float = parameter(
        0.05,
        "Sample until the margin of a score is no larger.",
        above=0,
        below=1,
        example="a share such as 0.05",
    )
    min_samples: int = parameter(
        1000, "Draw more samples than this on each side before the margin is looked at.", at_least=1
    )
    confidence: float = parameter(
        0.95,
        "Confidence of the intervals, and of each side's sampling margin; both sides hold "
        "with its square.",
        above=0,
        below=1,
        example="a share such as 0.95",
    )
    metric: MetricName = parameter(
        "selection_rate",
        "The rate that is compared. All but the first need true labels: the model is asked about "
        "the rows as they are only, and rows that a rate does not count are left out.",
    )
    mode: Mode = parameter(
        "auto",
        "Predict every neighbour of every row (exact), or samples of them; auto is exact "
        "if that is at most `max_queries`.",
    )
    sampling: SamplingScheme = parameter(
        "pooled",
        "In sampled mode: one pool of samples for all groups, or the paper's algorithm to "
        "the letter, one group after another.",
    )
    max_queries: int | None = parameter(
        None,
        "Most rows or texts to ask the model about; by default 20 million rows, or one "
        "million texts.",
        at_least=2,  # one to try the model, one to sample
    )
    max_features: int | None = parameter(
        None,
        "Most rules in a rule set; by default as many as there are sensitive features, while no "
        "more than 250,000 rule sets are possible, and at least 3, if these make no more than 25 "
        "million; of texts 3.",
        at_least=1,
    )
    bins: int | None = parameter(
        None,
        "Equal intervals of each continuous sensitive feature, in place of the description's; "
        "those of integers have whole limits.",
        at_least=2,
        at_most=200,
        example="the paper's choice, 10, or another number",
    )
    rank_by: RankBy = parameter(
        "auto",
        "What groups are ranked by: the lower confidence bound of the size of the "
        "difference, the paper's score, or the counterfactual effect: for texts that of the "
        "terms, for rows the own effect of the sensitive features. auto is that for texts, unless "
        "nothing is compared in pairs, and else the lower bound.",
    )
    top: int = parameter(
        100,
        "How many groups of the ranking the reports hold. The distinct groups and those of the "
        "explaining rules are added if they come later.",
        at_least=1,
    )
    seed: int = parameter(0, "Same seed, same result.", at_least=0)
    runs: int = parameter(
        1,
        "In sampled mode: make the audit so often, at most 1,000 times, each time with another "
        "seed (`seed`, the next one, and so on). The result is that of the first; a table says how "
        "far the first groups differ between runs.",
        at_least=1,
        at_most=1000,
    )
    jobs: int | None = parameter(
        None,
        "Threads; changes no result. By default as many as there are processors, if the "
        "model allows it.",
        at_least=1,
        at_most=MOST_JOBS,
        example="a number of threads",
    )
    batch_size: int | None = parameter(
        None,
        "The most rows or texts that the model is asked about in one call; changes no result. "
        "For a model that is slow or needs much memory.",
        at_least=1,
        example="a number of rows",
    )
    overlap: float = parameter(
        0.8,
        "Jaccard overlap from which two groups count as one finding.",
        above=0,
        at_most=1,
        example="a share such as 0.8",
    )
    fail_above: float | None = parameter(
        None,
        "The gate. It fails if the difference of a judged group is larger by more than "
        "chance explains, by either estimand; if chance may explain it, nothing is concluded. "
        'With `guarantee` "per-group" of several groups it fails by the difference alone. '
        "Where rows are ranked by the counterfactual effect that counts as a difference, too.",
        at_least=0,
        at_most=1,
        example="a difference such as 0.2",
    )
    fail_below_ratio: float | None = parameter(
        None,
        "For rows: a gate by ratios, such as 0.8 for four-fifths. It fails if the smaller of the "
        "rates of a judged group and of its complement is a smaller part of the larger one than "
        "this by more than chance explains, by either estimand. With `fail_above` the worse of "
        "both outcomes counts.",
        above=0,
        at_most=1,
        example="a ratio such as 0.8",
    )
    strict: bool = parameter(
        False,
        "Conclude nothing if too many people have combinations of sensitive values that no "
        "judged group isolates (see `max_unjudged` and `max_dilution`), if no group could be "
        "described by one of the sensitive features, or if an interval still allows a difference "
        "above `fail_above` or a ratio below `fail_below_ratio`.",
    )
    max_unjudged: float = parameter(
        0.01,
        "With `strict`: the largest share of the people for whom that may be so.",
        at_least=0,
        at_most=1,
        example="a share such as 0.01",
    )
    max_dilution: float = parameter(
        10.0,
        "How many times as many rows as a combination of all sensitive values has a group may have "
        "that judges it; people whose combination is in larger groups only count as not judged.",
        at_least=1,
        example="a number such as 10",
    )
    guarantee: GuaranteeKind = parameter(
        "simultaneous",
        "What the intervals hold for: one group at a time, as in the paper (per-group), "
        "all groups at once (simultaneous), or the groups that are found, of which no more "
        "than the error rate are expected to be false (fdr).",
    )
    interval: IntervalKind = parameter(
        "auto",
        "The margin that sampling stops at: that of a confidence sequence, which holds "
        "whenever sampling stops (anytime), or the paper's (wald); auto is the paper's with "
        "independent sampling, and else anytime.",
    )
    replicates: int = parameter(
        1000,
        "Bootstrap samples behind a simultaneous guarantee.",
        at_least=19,  # fewer hold no 95%
        at_most=MOST_SAMPLES,
    )
    holdout: float | None = parameter(
        None,
        "Share of the rows to hold out: groups found on the others are estimated anew on these.",
        above=0,
        below=1,
        example="a share such as 0.5",
    )
    stability: int | None = parameter(
        None,
        "Bootstrap samples to look for the explaining rules in; by default 200 if that is "
        "quick, 0 for none.",
        at_least=0,
        at_most=MOST_SAMPLES,
    )
    condition_on: tuple[str, ...] = parameter(
        (),
        "For rows: features that are not sensitive, whose mix is made the same on both "
        "sides for a second comparison.",
        call_type=str | Sequence[str],
        call_help="Names one by one, or one text with commas.",
    )
    within: tuple[str, ...] = parameter(
        (),
        "For rows: features that are not sensitive, or auto for all of them. Each group is also "
        "compared within every value or bin of these, and within pairs of them; headline and gate "
        "look at what is found there.",
        call_type=str | Sequence[str],
        call_help="Names one by one, or one text with commas.",
    )
    rows: str | None = parameter(
        None,
        "For rows: an expression such as 'age >= 40 and sex = female'; only rows that satisfy it "
        "are audited.",
    )
    groups: tuple[str, ...] = parameter(
        (),
        "For rows: a group to compare, as an expression such as 'sex = female and age < 30'; "
        "several may be given. Just these groups are compared, nothing is searched, and the "
        "intervals hold for these.",
        flags=("--group",),
        repeated=True,
        call_type=str | Sequence[str],
        call_help="Expressions one by one; a single one may be a text.",
    )
    equal_rows: EqualRows = parameter(
        "one",
        "For rows: whether copies, rows equal in all columns and more of them than chance makes, "
        "count as one unit in intervals, or each by itself.",
    )
    as_paper: bool = parameter(
        False,
        "Take the settings of the TestSGD paper's Table 2, and its Algorithm 2: rates over the "
        "neighbourhood, theta 0.05 inside, margins of 0.05 at 95% after more than 1000 samples of "
        "each group by itself, ranked by score, each interval for one group. What else is given "
        "wins.",
    )
    nondeterministic: int | None = parameter(
        None,
        "For a model that answers differently when asked twice: how many answers to ask "
        "for to every question; rates are means over these. By default such a model is "
        "refused.",
        at_least=2,
        call_type=bool | int | None,
        call_help="True stands for five.",
    )

    @property
    def draws(self) -> int:
        """How often an exact audit asks each question."""
        return self.nondeterministic or 1

    def margin_kind(self) -> MarginKind:
        """Return the kind of the margin that sampling stops at, with ``auto`` resolved.

        Returns
        -------
        {"wald", "anytime"}
            The paper's margin, or that of a confidence sequence.
        """
        if self.interval != "auto":
            return self.interval
        return "wald" if self.sampling == "independent" else "anytime"

    @property
    def ranked_by(self) -> RankBy:
        """What groups are ranked by, with ``auto`` resolved."""
        return "lower-bound" if self.rank_by == "auto" else self.rank_by

    @property
    def depth(self) -> int:
        """Most rules in a rule set, once it is known how many features there are."""
        assert self.max_features is not None
        return self.max_features

    def fewest_rows(self, rows: int) -> int:
        """Return how many rows a judged group has at least, inside as outside.

        Parameters
        ----------
        rows : int
            All rows; ``theta`` is a share of them.

        Returns
        -------
        int
            The larger of both bounds if ``theta`` and ``min_rows`` are given; 50 if neither is.

        Examples
        --------
        >>> AuditParameters(theta=0.07).fewest_rows(1000), AuditParameters().fewest_rows(1000)
        (70, 50)
        """
        if self.theta is None:
            return MIN_ROWS if self.min_rows is None else self.min_rows
        # A share such as 0.07 of 100 is 7, though it is a little more in floats.
        return max(self.min_rows or 1, math.ceil(self.theta * rows - 1e-9))

    def fewest_outside(self, rows: int) -> int:
        """Return how many rows are outside of a judged group at least.

        Parameters
        ----------
        rows : int
            All rows.

        Returns
        -------
        int
            As many as inside, or 1 if the bound is on the inside only.

        Examples
        --------
        >>> AuditParameters(theta=0.1).fewest_outside(1000)
        100
        >>> AuditParameters(theta=0.1, theta_side="inside").fewest_outside(1000)
        1
        """
        return self.fewest_rows(rows) if self.theta_side == "both" else 1

    def budget(self, default: int) -> int:
        """Return the most rows or texts to ask the model about.

        Parameters
        ----------
        default : int
            What holds where ``max_queries`` is not given.

        Returns
        -------
        int
        """
        return default if self.max_queries is None else self.max_queries

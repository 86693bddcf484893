"""What the user of an audit can choose."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, get_args

from testsgd.errors import ParameterError

Mode = Literal["auto", "exact", "sampled"]
SamplingScheme = Literal["pooled", "independent"]
Estimand = Literal["observed", "neighbourhood"]
RankBy = Literal["auto", "lower-bound", "score", "counterfactual"]
GuaranteeKind = Literal["per-group", "simultaneous", "fdr"]
IntervalKind = Literal["auto", "anytime", "wald"]
MarginKind = Literal["anytime", "wald"]

# Answers to each question to a model that answers differently when asked twice.
DRAWS = 5

# A text costs a model about a thousand times what a row of a table does.
ROW_QUERIES = 20_000_000
TEXT_QUERIES = 1_000_000

# Fewest rows on each side of a judged group, if neither `min_rows` nor `theta` is given.
MIN_ROWS = 50


@dataclass(frozen=True)
class _Bounds:
    """What a number may be."""

    kind: type  # Integral or Real
    allows: Callable[[Any], bool]
    text: str  # The bounds in words
    remedy: str  # What to give instead


def _share(remedy: str, *, ends: bool = False) -> _Bounds:
    """Allow numbers between 0 and 1, perhaps with both ends."""
    if ends:
        return _Bounds(Real, lambda value: 0 <= value <= 1, "between 0 and 1", remedy)
    return _Bounds(Real, lambda value: 0 < value < 1, "between 0 and 1", remedy)


def _at_least(least: int, remedy: str = "give a whole number") -> _Bounds:
    return _Bounds(Integral, lambda value: value >= least, f"at least {least}", remedy)


# A number whose default is None may be None.
_BOUNDS = {
    "theta": _share("give a share such as 0.05"),
    "error_margin": _share("give a share such as 0.05"),
    "confidence": _share("give a share such as 0.95"),
    "overlap": _Bounds(Real, lambda value: 0 < value <= 1, "in (0, 1]", "give a share such as 0.8"),
    "fail_above": _share("give a score such as 0.2", ends=True),
    "max_unjudged": _share("give a share such as 0.01", ends=True),
    "min_rows": _at_least(1),
    "min_samples": _at_least(1),
    "max_queries": _at_least(2),  # One to try the model, one to sample.
    "max_features": _at_least(1),
    "top": _at_least(1),
    "seed": _at_least(0),
    "replicates": _at_least(19),  # Fewer hold no 95%.
    "stability": _at_least(0),
    "nondeterministic": _at_least(2),
    "holdout": _share("give a share such as 0.5"),
    "bins": _Bounds(
        Integral, lambda value: 2 <= value <= 200, "between 2 and 200", "the paper's choice is 10"
    ),
    "jobs": _at_least(1, "give a number of threads"),
}
_CHOICES = {
    "mode": get_args(Mode),
    "sampling": get_args(SamplingScheme),
    "estimand": get_args(Estimand),
    "rank_by": get_args(RankBy),
    "guarantee": get_args(GuaranteeKind),
    "interval": get_args(IntervalKind),
}


@dataclass(frozen=True, kw_only=True)
class AuditParameters:
    """The parameters of an audit; sampling's defaults are the paper's (Table 2).

    Attributes
    ----------
    estimand : {"observed", "neighbourhood"}
        Which rates are ranked, and what the headline is about: the selection rate of the rows as
        they are, or the paper's rate over their perturbation neighbourhood. The other is computed
        too, and the gate looks at both.
    theta : float or None
        Support threshold: smallest share of the rows on each side of a judged group.
    min_rows : int or None
        Fewest rows on each side of a judged group. None: 50, or 1 if `theta` is given, as in the
        paper. If both are given both hold.
    error_margin : float
        Sampling goes on until the margin of a score is no larger.
    min_samples : int
        More samples than this are drawn on each side before the margin is looked at.
    confidence : float
        Confidence level of each side's margin, and of the population interval.
    mode : {"auto", "exact", "sampled"}
        ``exact`` predicts every neighbour of every row; ``auto`` does so if that is at most
        `max_queries` rows.
    sampling : {"pooled", "independent"}
        In sampled mode: one pool of samples for all groups, or the paper's algorithm, one group
        after another.
    max_queries : int or None
        Most rows or texts to ask the model about; None: 20 million rows, or one million texts.
    max_features : int
        Most rules in a rule set.
    bins : int or None
        Number of bins of every continuous sensitive feature, in place of the description's.
    rank_by : {"auto", "lower-bound", "score", "counterfactual"}
        What groups are ranked by: the lower confidence bound of the size of the difference, so
        that groups of few rows come first only if they are known to; the score; or, for texts, the
        counterfactual effect of the terms, first by the lower confidence bound of its size.
        ``auto`` is that for texts, unless nothing is compared in pairs, and else the lower bound.
    top : int
        How many groups the summary holds.
    seed : int
        Same seed, same result.
    jobs : int or None
        Threads; None: as many as there are processors if the model allows it. Changes no result.
    overlap : float
        Jaccard overlap from which two groups count as one finding.
    fail_above : float or None
        The audit's gate: it fails if the difference of a judged group is larger by more than
        chance explains, by either estimand.
    strict : bool
        Judge nothing if too many people are only in combinations that could not be judged.
    max_unjudged : float
        With `strict`: the largest share of the people for whom that may be so.
    guarantee : {"per-group", "simultaneous", "fdr"}
        What the population intervals hold for: one group at a time, as in the paper; all groups at
        once; or the groups that are found, of which no more than the error rate are expected to
        be false.
    interval : {"auto", "anytime", "wald"}
        Where samples are drawn, whose margin it is that sampling stops at: that of a confidence
        sequence, which holds whenever sampling stops, or the paper's. ``auto`` is the paper's with
        independent sampling, and the confidence sequence's otherwise.
    replicates : int
        Bootstrap samples behind a simultaneous guarantee.
    holdout : float or None
        Share of the rows on which the groups found on the others are estimated anew.
    stability : int or None
        Bootstrap samples in which the first groups are looked for; None: as many as are quick, 0:
        none.
    condition_on : tuple of str
        Features that are not sensitive, whose mix a conditional score makes the same on both
        sides.
    nondeterministic : int or None
        For a model that answers differently when asked twice: how many answers to ask for to every
        question. Rates are then means over these. None: such a model is refused.

    Raises
    ------
    ParameterError
        If a value is out of its range.

    Examples
    --------
    >>> AuditParameters(theta=2)
    Traceback (most recent call last):
    ...
    testsgd.errors.ParameterError: theta: 2 is not between 0 and 1; give a share such as 0.05
    """

    estimand: Estimand = "observed"
    theta: float | None = None
    min_rows: int | None = None
    error_margin: float = 0.05
    min_samples: int = 1000
    confidence: float = 0.95
    mode: Mode = "auto"
    sampling: SamplingScheme = "pooled"
    max_queries: int | None = None
    max_features: int = 3
    bins: int | None = None
    rank_by: RankBy = "auto"
    top: int = 100
    seed: int = 0
    jobs: int | None = None
    overlap: float = 0.8
    fail_above: float | None = None
    strict: bool = False
    max_unjudged: float = 0.01
    guarantee: GuaranteeKind = "simultaneous"
    interval: IntervalKind = "auto"
    replicates: int = 1000
    holdout: float | None = None
    stability: int | None = None
    condition_on: tuple[str, ...] = ()
    nondeterministic: int | None = None

    @property
    def draws(self) -> int:
        """How often an exact audit asks each question."""
        return self.nondeterministic or 1

    def margin_kind(self) -> MarginKind:
        """Return whose margin sampling stops at."""
        if self.interval != "auto":
            return self.interval
        return "wald" if self.sampling == "independent" else "anytime"

    @property
    def ranked_by(self) -> RankBy:
        """What groups are ranked by, with ``auto`` resolved."""
        return "lower-bound" if self.rank_by == "auto" else self.rank_by

    def fewest_rows(self, rows: int) -> int:
        """Return how many rows a judged group has at least, inside as outside.

        Examples
        --------
        >>> AuditParameters().fewest_rows(30_000), AuditParameters(theta=0.05).fewest_rows(30_000)
        (50, 1500)
        """
        if self.theta is None:
            return MIN_ROWS if self.min_rows is None else self.min_rows
        # A share such as 0.07 of 100 is 7, though it is a little more in floats.
        return max(self.min_rows or 1, math.ceil(self.theta * rows - 1e-9))

    def budget(self, default: int) -> int:
        """Return the most queries, if the user named none the default."""
        return default if self.max_queries is None else self.max_queries

    def __post_init__(self) -> None:
        given = {
            name: (getattr(self, name), bounds)
            for name, bounds in _BOUNDS.items()
            if getattr(self, name) is not None or getattr(type(self), name) is not None
        }
        for name, (value, bounds) in given.items():
            wanted = "a number" if bounds.kind is Real else "a whole number"
            if isinstance(value, bool) or not isinstance(value, bounds.kind):
                raise _refused(name, f"{value!r} is not {wanted}", f"give {wanted}")
        if not isinstance(self.strict, bool):
            raise _refused("strict", f"{self.strict!r} is not true or false", "give True or False")
        for name, (value, bounds) in given.items():
            if not bounds.allows(value):
                raise _refused(name, f"{value} is not {bounds.text}", bounds.remedy)
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                remedy = f"choose one of {', '.join(choices)}"
                raise _refused(name, f"{value!r} is not known", remedy)


def _refused(name: str, what: str, remedy: str) -> ParameterError:
    return ParameterError(what, where=name, remedy=remedy, name=name)

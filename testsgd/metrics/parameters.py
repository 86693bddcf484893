"""What the user of an audit of metrics can choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from testsgd.parameters import MOST_SAMPLES, Parameters, parameter

Measure = Literal["difference", "ratio"]
MetricGuarantee = Literal["per-group", "simultaneous"]

REST, OVERALL, BEST = "rest", "overall", "best"
"""What groups can be compared with, besides one group that is named by its rules."""


@dataclass(frozen=True, kw_only=True)
class MetricParameters(Parameters):
    """The parameters of an audit of metrics.

    Examples
    --------
    >>> MetricParameters(fail_below=0.8).measure
    Traceback (most recent call last):
    ...
    testsgd.errors.ParameterError: fail_below: it is for ratios, and differences are compared; ...
    """

    reference: str = parameter(
        REST,
        "What each group is compared with: `rest`, its complement; `overall`, all rows; `best`, "
        'the group over the same features with the best value; or one group, such as "sex = Male".',
    )
    measure: Measure = parameter(
        "difference", "Whether values are compared by their difference or by their ratio."
    )
    min_rows: int = parameter(
        50, "Fewest rows that a metric counts, in a judged group and in its reference.", at_least=1
    )
    max_features: int | None = parameter(
        None,
        "Most rules in a rule set; by default as many as there are sensitive features, while no "
        "more than 250,000 rule sets are possible, and at least 3, if these make no more than 25 "
        "million.",
        at_least=1,
    )
    max_dilution: float = parameter(
        10.0,
        "How many times as many rows as a combination of all sensitive values has a group may have "
        "that judges it; people whose combination is in larger groups only count as not judged.",
        at_least=1,
        example="a number such as 10",
    )
    bins: int | None = parameter(
        None,
        "Equal intervals of each continuous sensitive feature, in place of those by quantiles; "
        "those of integers have whole limits.",
        at_least=2,
        at_most=200,
        example="a number such as 10",
    )
    confidence: float = parameter(
        0.95,
        "Confidence of the intervals.",
        above=0,
        below=1,
        example="a share such as 0.95",
    )
    guarantee: MetricGuarantee = parameter(
        "simultaneous",
        "What the intervals hold for: each group and metric by itself, or all of them at once.",
    )
    replicates: int = parameter(
        999, "Bootstrap samples behind the intervals.", at_least=19, at_most=MOST_SAMPLES
    )
    overlap: float = parameter(
        0.8,
        "Jaccard overlap from which two groups count as one finding.",
        above=0,
        at_most=1,
        example="a share such as 0.8",
    )
    top: int = parameter(
        20,
        "How many groups of each metric's ranking the reports hold. Distinct groups are added if "
        "they come later.",
        at_least=1,
    )
    seed: int = parameter(0, "Same seed, same result.", at_least=0)
    holdout: float | None = parameter(
        None,
        "Share of the rows to hold out: groups found on the others are estimated anew on these.",
        above=0,
        below=1,
        example="a share such as 0.5",
    )
    stability: int | None = parameter(
        None,
        "Bootstrap samples to look for the first groups in; by default 200 if that is quick, 0 "
        "for none.",
        at_least=0,
        at_most=MOST_SAMPLES,
    )
    condition_on: tuple[str, ...] = parameter(
        (),
        "Features that are not sensitive, whose mix is made the same on both sides for a second "
        "comparison.",
        call_type=str | Sequence[str],
        call_help="Names one by one, or one text with commas.",
    )
    rows: str | None = parameter(
        None,
        "An expression such as 'age >= 40 and sex = female'; only rows that satisfy it are "
        "audited.",
    )
    fail_above: float | None = parameter(
        None,
        "The gate of differences. It fails if that of a judged group is larger by more than "
        "chance explains; if chance may explain it, nothing is concluded.",
        at_least=0,
    )
    fail_below: float | None = parameter(
        None,
        "The gate of ratios, of the smaller value to the larger. It fails if that of a judged "
        "group is smaller by more than chance explains; 0.8 is the four-fifths rule.",
        above=0,
        at_most=1,
        example="a ratio such as 0.8",
    )
    strict: bool = parameter(
        False,
        "Conclude nothing if too many people have combinations of sensitive values that no "
        "judged group isolates (see `max_unjudged` and `max_dilution`), by one of the metrics, if "
        "no group could be described by one of the sensitive features, or if an interval still "
        "allows a difference above `fail_above` or a ratio below `fail_below`.",
    )
    max_unjudged: float = parameter(
        0.01,
        "With `strict`: the largest share of the people for whom that may be so.",
        at_least=0,
        at_most=1,
        example="a share such as 0.01",
    )

    @property
    def depth(self) -> int:
        """Most rules in a rule set, once it is known how many features there are."""
        assert self.max_features is not None
        return self.max_features

    def __post_init__(self) -> None:
        """Check each value, and that they belong together."""
        super().__post_init__()
        from testsgd.errors import ParameterError

        for name, value, measure in (
            ("fail_above", self.fail_above, "difference"),
            ("fail_below", self.fail_below, "ratio"),
        ):
            if value is not None and self.measure != measure:
                raise ParameterError(
                    f"it is for {measure}s, and {self.measure}s are compared",
                    where=name,
                    remedy=f"compare by {measure} (measure), or use the other gate",
                    name=name,
                )

"""How far a metric of each group is from that of its reference, with intervals.

The ranking needs of all groups only how small the difference may be, so only that end is computed
for all; whole intervals are computed for the groups that are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.metrics.definitions import ROUNDING, Floats
from testsgd.metrics.parameters import BEST, OVERALL, Measure
from testsgd.metrics.sides import LogarithmicInterval, Sides, sides_of
from testsgd.scoring.largest_sum import Differences, least_of_positive
from testsgd.scoring.ratios import ratio_interval


@dataclass(frozen=True, kw_only=True)
class Compared:
    """A metric of groups beside their references; arrays of shape (groups,)."""

    measure: Measure
    inside: Sides  # The groups.
    outside: Sides  # Their references; of all rows, their complements.
    # All rows, shape (1,), where groups are compared with these; else None.
    whole: Sides | None
    # Whether the same rows chose the references, so that all intervals must hold at once.
    chosen: bool
    judged: NDArray[np.bool_]  # Whether there are enough rows on both sides.
    error: float  # Two-sided error rate of each interval.
    effect: Floats  # The difference, or the ratio; NaN where there is none.
    # The lower confidence bound of the size; 0 where the interval holds no effect at all.
    lower_bound: Floats

    @property
    def value(self) -> Floats:
        """The metric of each group."""
        return self.inside.value

    @property
    def reference(self) -> Floats:
        """The metric of what each group is compared with."""
        if self.whole is None:
            return self.outside.value
        return np.repeat(self.whole.value, len(self.judged))

    @property
    def counted(self) -> Floats:
        """Rows that the metric counts in each group."""
        return self.inside.counted

    @property
    def counted_reference(self) -> Floats:
        """Rows that it counts in what each group is compared with."""
        if self.whole is None:
            return self.outside.counted
        return np.repeat(self.whole.counted, len(self.judged))

    @property
    def size(self) -> Floats:
        """The size of each difference; of a ratio 1 minus the smaller value over the larger."""
        return sizes(self.effect, self.measure)

    @property
    def significant(self) -> NDArray[np.bool_]:
        """Where the interval leaves out that there is no effect."""
        return self.lower_bound > 0

    def intervals(self, groups: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Compute the intervals of the effects of some groups; NaN where one is not judged.

        Returns
        -------
        low, high : numpy.ndarray of float64
            A ratio's upper end may be infinite.
        """
        low, high = np.full((2, len(groups)), np.nan)
        judged = np.flatnonzero(self.judged[groups])
        if len(judged) == 0:
            return low, high
        judged_groups = groups[judged]
        inside = self.inside.take(judged_groups)
        outside = self.outside.take(judged_groups)
        compare = compare_with_chosen if self.chosen else compare_independent
        effect, lowest, highest = compare(inside, outside, self.error, measure=self.measure)
        if self.whole is not None:
            shares = SharesOfWhole.of(inside, outside, self.whole, self.error)
            lowest, highest = (
                shares.end(effect, end, measure=self.measure, is_upper=is_upper)
                for end, is_upper in ((lowest, False), (highest, True))
            )
        low[judged] = lowest
        high[judged] = highest
        return low, high


def compare_sides(
    inside: Sides,
    outside: Sides,
    everything: Sides,
    judged: NDArray[np.bool_],
    *,
    error: float,
    measure: Measure,
    reference: str,
) -> Compared:
    """Return the values of groups (groups,) beside those of their references, and the effects.

    `everything`: the metric of all rows, shape (1,). Groups that are not judged have no effect.
    """
    whole = everything if reference == OVERALL else None
    effect = np.full(len(judged), np.nan)
    bound = np.zeros(len(judged))
    groups = np.flatnonzero(judged)
    if len(groups):
        judged_inside = inside.take(groups)
        judged_outside = outside.take(groups)
        effects = _effects(judged_inside, judged_outside, measure)
        nearest = _nearest_to_none(
            judged_inside, judged_outside, error, measure, chosen=reference == BEST
        )
        if whole is not None:
            nearest = _nearest_of_whole(
                effects, nearest, judged_inside, judged_outside, whole, error, measure
            )
            effects = of_the_whole(effects, _shares(judged_inside, whole), measure=measure)
        effect[groups] = effects
        bound[groups] = sizes(nearest, measure)
    return Compared(
        measure=measure,
        inside=inside,
        outside=outside,
        whole=whole,
        chosen=reference == BEST,
        judged=judged,
        error=error,
        effect=effect,
        lower_bound=np.nan_to_num(bound),
    )


def sizes(effect: Floats, measure: Measure) -> Floats:
    """Return the sizes of differences, or of ratios: 1 minus the smaller value over the larger.

    Examples
    --------
    >>> sizes(np.array([-0.2, 0.1]), "difference").tolist()
    [0.2, 0.1]
    >>> sizes(np.array([0.5, 2.0]), "ratio").tolist()
    [0.5, 0.5]
    """
    if measure == "difference":
        return np.abs(effect)
    with np.errstate(divide="ignore"):
        return 1 - np.minimum(effect, 1 / effect)


def _effects(first: Sides, second: Sides, measure: Measure) -> Floats:
    if measure == "difference":
        difference: Floats = first.value - second.value
        # Means of errors that cancel each other are rounded as the errors are.
        size = np.abs(first.value) + np.abs(second.value) + first.deviation + second.deviation
        return np.where(np.abs(difference) < ROUNDING * size, 0.0, difference)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: Floats = first.value / second.value
        return ratio


def _shares(inside: Sides, whole: Sides) -> Floats:
    """Return the groups' shares of the denominators of all rows, shape (groups,)."""
    shares: Floats = inside.denominator / whole.denominator[0]
    return shares


def _nearest_of_whole(
    effects: Floats,
    nearest: Floats,
    inside: Sides,
    outside: Sides,
    whole: Sides,
    error: float,
    measure: Measure,
) -> Floats:
    """Return the points of intervals against all rows that are nearest to no effect, (groups,).

    `effects` and `nearest` are of the comparison with the complements. Where their interval holds
    no effect, that with all rows does too.
    """
    none = 0.0 if measure == "difference" else 1.0
    of_whole = np.full(len(nearest), none)
    groups = np.flatnonzero(nearest != none)
    if len(groups):
        shares = SharesOfWhole.of(inside.take(groups), outside.take(groups), whole, error)
        below = effects[groups] < none
        ends = [
            shares.end(effects[groups], nearest[groups], measure=measure, is_upper=is_upper)
            for is_upper in (False, True)
        ]
        of_whole[groups] = np.where(below, ends[1], ends[0])
    return of_whole


@dataclass(frozen=True, kw_only=True)
class SharesOfWhole:
    """The shares that groups have of the denominators of all rows; arrays of shape (groups,).

    The effect against all rows follows from that against the complement and from the group's share,
    and both are known from the same sample only.
    """

    value: Floats
    low: Floats  # The ends of their confidence intervals.
    high: Floats
    # Of the share and the difference between group and complement; 0 if all denominators are alike.
    correlation: Floats

    @classmethod
    def of(cls, inside: Sides, outside: Sides, whole: Sides, error: float) -> SharesOfWhole:
        """Return the shares of groups, with intervals of an error rate each."""
        total = np.repeat(whole.denominator, len(inside.denominator))
        squares = np.repeat(whole.denominator_squared, len(total))
        counted = np.repeat(whole.counted, len(total))
        shares = sides_of(
            np.array(
                [
                    counted,
                    inside.denominator,
                    total,
                    inside.denominator_squared,
                    inside.denominator_squared,
                    squares,
                ]
            ),
            scale="share",
        )
        interval = shares.interval()
        # Linearised: a row moves the share by its denominator times (1 - share), or -share, and the
        # value of its side by its residual.
        moved = (1 - shares.value) * inside.residual_by_denominator / inside.denominator
        moved = moved + shares.value * outside.residual_by_denominator / outside.denominator
        spread = np.hypot(inside.standard_error, outside.standard_error) * shares.standard_error
        varies = spread > 0
        correlation = np.where(varies, moved / total / np.where(varies, spread, 1), 0.0)
        return cls(
            value=shares.value,
            low=interval.low(error),
            high=interval.high(error),
            correlation=np.clip(correlation, -1, 1),
        )

    def end(self, effect: Floats, end: Floats, *, measure: Measure, is_upper: bool) -> Floats:
        """Return an end of the intervals against all rows, given that against the complements.

        The distances that the end and the share's interval have by themselves are combined as Zou
        and Donner do; those of ratios on the scale of logarithms. The interval holds no effect
        where that against the complement does, and nowhere else.

        Parameters
        ----------
        effect, end : numpy.ndarray of float64, shape (groups,)
            The effect against the complement, and the end of its interval.
        measure : {"difference", "ratio"}
            What the effect is.
        is_upper : bool
            Whether it is the upper end.

        Returns
        -------
        numpy.ndarray of float64, shape (groups,)
        """
        none = 0.0 if measure == "difference" else 1.0
        # A larger share brings the effect nearer to none.
        is_far = (effect > none) == is_upper
        share = np.where(is_far, self.low, self.high)
        found = of_the_whole(effect, self.value, measure=measure)
        by_effect = of_the_whole(end, self.value, measure=measure)
        by_share = of_the_whole(effect, share, measure=measure)
        if measure == "ratio":
            with np.errstate(divide="ignore"):
                found, by_effect, by_share = (
                    np.log(values) for values in (found, by_effect, by_share)
                )
        with np.errstate(invalid="ignore"):
            of_effect = np.abs(found - by_effect)
            of_share = np.abs(found - by_share)
            # Both move the effect the same way if their correlation has the sign of their slopes.
            together = np.where(effect > none, -self.correlation, self.correlation)
            squared = of_effect**2 + of_share**2 + 2 * together * of_effect * of_share
            combined = found + (1 if is_upper else -1) * np.sqrt(np.maximum(squared, 0))
        if measure == "ratio":
            combined = np.exp(combined)
        corner_share = np.where((end > none) == is_upper, self.low, self.high)
        corner = of_the_whole(end, corner_share, measure=measure)
        # Of a ratio of 0 there is no logarithm.
        combined = np.where(np.isnan(combined), corner, combined)
        farther, nearer = (np.maximum, np.minimum) if is_upper else (np.minimum, np.maximum)
        holds_none = end >= none if is_upper else end <= none
        beyond_none = farther(combined, none)
        # The near end leaves no effect out, so it is no nearer than with the share's end as well.
        before_none = nearer(combined, corner)
        bounded: Floats = np.where(holds_none, beyond_none, np.where(is_far, combined, before_none))
        return bounded


def _nearest_to_none(
    first: Sides, second: Sides, error: float, measure: Measure, *, chosen: bool
) -> Floats:
    """Return the point of each interval that is nearest to no effect, shape (groups,).

    No effect is a difference of 0 or a ratio of 1; it is returned where the interval holds it.
    """
    none = 0.0 if measure == "difference" else 1.0
    if chosen:
        _, low, high = compare_with_chosen(first, second, error, measure=measure)
        closest: Floats = np.clip(none, low, high)
        return closest
    nearest = np.full(len(first.counted), none)
    above = first.value > second.value
    # Turned so that the first value is the larger one: then it is the lower end that is nearest.
    larger = Sides.where(above, first, second)
    smaller = Sides.where(above, second, first)
    if measure == "difference":
        differences = Differences(
            first=larger.value,
            ends_first=larger.interval(),
            second=smaller.value,
            ends_second=smaller.interval(),
        )
        least = least_of_positive(differences, error)
        return np.where(above, least, -least)
    has_logarithm = smaller.value > 0
    groups = np.flatnonzero(has_logarithm)
    if len(groups):
        larger = larger.take(groups)
        smaller = smaller.take(groups)
        differences = Differences(
            first=np.log(larger.value),
            ends_first=LogarithmicInterval(larger.interval()),
            second=np.log(smaller.value),
            ends_second=LogarithmicInterval(smaller.interval()),
        )
        least = least_of_positive(differences, error)
        nearest[groups] = np.exp(np.where(above[groups], least, -least))
    # Of a value of 0 there is no logarithm; there are few of these.
    groups = np.flatnonzero(~has_logarithm)
    if len(groups):
        _, low, high = compare_independent(
            first.take(groups), second.take(groups), error, measure=measure
        )
        nearest[groups] = np.clip(none, low, high)
    return nearest


def compare_independent(
    inside: Sides, outside: Sides, error: float, *, measure: Measure
) -> tuple[Floats, Floats, Floats]:
    """Compute differences or ratios of values on two sides, and the ends of their intervals.

    The sides are taken for independent: where they share rows the intervals are too wide. The
    intervals of both sides are combined as Newcombe, and Zou and Donner, do; for a ratio those of
    the logarithms.

    Returns
    -------
    effect, low, high : numpy.ndarray of float64, shape (groups,)
    """
    first, second = inside.value, outside.value
    of_first, of_second = inside.interval(), outside.interval()
    if measure == "difference":
        differences = Differences(
            first=first, ends_first=of_first, second=second, ends_second=of_second
        )
        is_limited = inside.scale != "number"
        ends = differences.interval if is_limited else differences.unlimited_interval
        low, high = ends(error)
        return first - second, low, high
    return ratio_interval(first, of_first, second, of_second, error)


def of_the_whole(effect: Floats, share: Floats, *, measure: Measure) -> Floats:
    """Return the effect against all rows that follows from the one against the complement.

    The value of all rows is the mean of that of a group and of its complement, by their shares of
    the denominators. An interval needs the error of the share too, see :class:`SharesOfWhole`.

    Parameters
    ----------
    effect : numpy.ndarray of float64, shape (groups,)
        The difference from the complement's value, or the ratio to it.
    share : numpy.ndarray of float64, shape (groups,)
        The group's share of the denominators.

    Examples
    --------
    >>> of_the_whole(np.array([0.4]), np.array([0.25]), measure="difference")
    array([0.3])
    >>> of_the_whole(np.array([5.0]), np.array([0.25]), measure="ratio")
    array([2.5])
    """
    if measure == "difference":
        return effect * (1 - share)
    with np.errstate(invalid="ignore", divide="ignore"):
        of_all = np.where(np.isinf(effect), 1 / share, effect / (share * effect + 1 - share))
    return np.where(np.isnan(of_all), np.inf, of_all)


def compare_with_chosen(
    groups: Sides, chosen: Sides, error: float, *, measure: Measure
) -> tuple[Floats, Floats, Floats]:
    """Compute comparisons with references that the same rows chose, such as the best group.

    The intervals of all values hold at once, so those of the group and of the chosen reference do:
    their ends are combined as they are.

    Returns
    -------
    effect, low, high : numpy.ndarray of float64, shape (groups,)
    """
    first, second = groups.interval(), chosen.interval()
    low_first, high_first = first.low(error), first.high(error)
    low_second, high_second = second.low(error), second.high(error)
    effect = _effects(groups, chosen, measure)
    if measure == "difference":
        return effect, low_first - high_second, high_first - low_second
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.nan_to_num(low_first / high_second)
        high = high_first / low_second
        return effect, low, np.where(np.isnan(high), np.inf, high)

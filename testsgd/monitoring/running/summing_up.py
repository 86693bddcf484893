"""Sums up comparisons: rates, intervals, and where each stands; many at once."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from testsgd.monitoring.judging import Comparison
from testsgd.monitoring.running.status import ComparisonStatus, GroupStatus, Standing
from testsgd.monitoring.specification import EvidencePart
from testsgd.scoring import confidence_sequence, pair_interval

Interval = tuple[float, float]

_NOTHING_KNOWN = (0.0, 1.0)


def sum_up(
    comparisons: Sequence[Comparison], settings: EvidencePart
) -> tuple[ComparisonStatus, ...]:
    """Say how each comparison stands.

    Parameters
    ----------
    comparisons : sequence of Comparison
    settings : EvidencePart
        How sure evidence must be.

    Returns
    -------
    tuple of ComparisonStatus
    """
    rates = _rate_intervals(comparisons, settings)
    biases = _bias_intervals(comparisons, settings)
    return tuple(
        _status(comparison, groups, bias)
        for comparison, groups, bias in zip(comparisons, rates, biases, strict=True)
    )


def _rate_intervals(
    comparisons: Sequence[Comparison], settings: EvidencePart
) -> list[list[Interval | None]]:
    """Give the interval of each group's rate, where evidence decides."""
    proving = [one for one in comparisons if one.evidence is not None]
    tops = [top for one in proving for top in one.counts.numerators]
    bottoms = [bottom for one in proving for bottom in one.counts.denominators]
    low, high = confidence_sequence(
        tops, bottoms, settings.confidence, tuned_for=settings.tuned_for
    )
    ends = iter(zip(low.tolist(), high.tolist(), strict=True))
    return [
        [None if one.evidence is None else next(ends) for _ in one.counts.names]
        for one in comparisons
    ]


def _bias_intervals(
    comparisons: Sequence[Comparison], settings: EvidencePart
) -> list[Interval | None]:
    """Give the interval of the largest bias of two groups of each comparison.

    The bias of no pair is larger than the largest, so it lies above all lower ends and below the
    largest upper end.
    """
    found: list[Interval | None] = [None] * len(comparisons)
    for measure in ("difference", "ratio"):
        owners, tops, bottoms, errors = [], [], [], []
        for place, comparison in enumerate(comparisons):
            evidence, counts = comparison.evidence, comparison.counts
            if evidence is None or evidence.bet["measure"] != measure:
                continue
            known = sum(bottom > 0 for bottom in counts.denominators)
            # Of a group of which nobody was counted nothing is known.
            found[place] = (0.0, 0.0 if 1 < known == len(counts.names) else 1.0)
            for pair, error in evidence.claims(counts):
                owners.append(place)
                tops.append([counts.numerators[group] for group in pair])
                bottoms.append([counts.denominators[group] for group in pair])
                errors.append(error)
        if owners:
            tuned_for = settings.tuned_for
            low, high = pair_interval(
                tops, bottoms, 1 - np.array(errors), measure=measure, tuned_for=tuned_for
            )
            for place, least, most in zip(owners, low.tolist(), high.tolist(), strict=True):
                before = found[place] or _NOTHING_KNOWN
                found[place] = max(before[0], least), max(before[1], most)
    return found


def _status(
    comparison: Comparison, intervals: Sequence[Interval | None], interval: Interval | None
) -> ComparisonStatus:
    counts = comparison.counts
    tops, bottoms = comparison.smoothed(counts)
    groups = tuple(
        GroupStatus(
            name,
            counts.numerators[place],
            counts.denominators[place],
            Fraction(tops[place], bottoms[place]) if bottoms[place] else None,
            intervals[place],
        )
        for place, name in enumerate(counts.names)
    )
    return ComparisonStatus(
        property=comparison.monitored,
        given=comparison.given,
        groups=groups,
        trials=comparison.counted,
        bias=comparison.bias(counts),
        estimate=comparison.estimate(counts),
        interval=interval,
        standing=_standing(comparison, interval),
        alerts=comparison.alerts,
        in_alert=comparison.in_alert,
        first_alert=comparison.first_alert,
        trajectory=tuple(comparison.trajectory.points),
        windows=tuple(comparison.windows),
        windows_judged=comparison.windows_judged,
        windows_above=comparison.windows_above,
    )


def _standing(comparison: Comparison, interval: Interval | None) -> Standing:
    monitored = comparison.monitored
    if comparison.in_alert:
        return "beyond"
    if interval is not None:
        return "within" if Fraction(interval[1]) <= monitored.threshold else "undecided"
    if monitored.check == "end":
        return "within" if comparison.windows_judged else "undecided"
    return "undecided" if comparison.extremes(comparison.counts) is None else "within"

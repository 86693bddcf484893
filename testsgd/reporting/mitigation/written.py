"""From the counts of both models to the part of the summary that the verdict is about."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from testsgd.auditing import Estimates
from testsgd.mitigation import (
    CurvePoint,
    DecisionCounts,
    MitigationOutcome,
    PartFigures,
    Written,
)
from testsgd.mitigation import WrittenTarget as TargetCounts
from testsgd.reporting.mitigation.summary import (
    ChangeSummary,
    CurvePointSummary,
    EqualAccuracy,
    PartSummary,
    RatesSummary,
    SideSummary,
    TargetSummary,
    WrittenSummary,
    WrittenTarget,
)
from testsgd.reporting.summary import CounterfactualSummary
from testsgd.scoring import (
    Side,
    clopper_pearson,
    combined_interval,
    mcnemar_p_value,
    paired_rates_interval,
    population_interval,
)

Interval = tuple[float, float]

# Accuracies nearer to each other than this, in points, are taken for the same.
_SAME = 1e-9


def written_summary(
    outcome: MitigationOutcome,
    targets: Sequence[TargetSummary],
    effects: Sequence[tuple[CounterfactualSummary | None, CounterfactualSummary | None]],
    *,
    unfavourable: str,
) -> WrittenSummary | None:
    """Compute the figures of the model that was written, with their intervals.

    Parameters
    ----------
    outcome : MitigationOutcome
        What a mitigation found.
    targets : sequence of TargetSummary
        The targets' rates.
    effects : sequence of tuple
        For texts each target's own effect on the held-out texts, before and after.
    unfavourable : str
        What the label that is not favourable is called.

    Returns
    -------
    WrittenSummary or None
        None if the original model is kept.
    """
    written = outcome.written
    if written is None or outcome.kept is None:
        return None
    confidence = outcome.before.parameters.confidence
    return WrittenSummary(
        run=outcome.kept.run,
        estimand=outcome.material.estimand,
        constant_label=outcome.material.specification.label.favourable
        if written.constant
        else unfavourable,
        training=_part(written.training, written, confidence),
        validation=_part(written.validation, written, confidence),
        held_out=_part(written.held_out, written, confidence),
        targets=[
            _target(counts, target, effect, _neighbourhood(written, place, confidence), confidence)
            for place, (counts, target, effect) in enumerate(
                zip(written.targets, targets, effects, strict=True)
            )
        ],
    )


def curve_summary(points: Sequence[CurvePoint]) -> list[CurvePointSummary]:
    """Write the points of a curve down."""
    return [CurvePointSummary.model_validate(vars(point)) for point in points]


def equal_accuracy(
    curve: Sequence[CurvePointSummary], original: RatesSummary, change: float
) -> EqualAccuracy | None:
    """Read off a curve what a method reaches at some change of accuracy.

    Parameters
    ----------
    curve : sequence of CurvePointSummary
        The method's points.
    original : RatesSummary
        The original model's rates on the held-out rows: every method can leave it as it is.
    change : float
        Points of accuracy gained on the held-out rows; negative if lost.

    Returns
    -------
    EqualAccuracy or None
        The smallest difference of those that lose no more: at a point of the curve, or between the
        two points around the change, which deciding by chance between their models reaches. None if
        the method loses more wherever it is.
    """
    points = [(one.accuracy_change, one.difference, one.interval) for one in curve]
    if original.difference is not None and original.interval is not None:
        points.append((0.0, original.difference, original.interval))
    above = [point for point in points if point[0] >= change - _SAME]
    below = [point for point in points if point[0] < change - _SAME]
    if not curve or not above:
        return None
    # Whatever loses no more will do.
    _, difference, ends = min(above, key=lambda point: abs(point[1]))
    mixed = False
    if below:
        first = min(above, key=lambda point: (point[0], abs(point[1])))
        last = max(below, key=lambda point: (point[0], -abs(point[1])))
        share = (change - last[0]) / (first[0] - last[0])

        def between(low: float, high: float) -> float:
            return low + share * (high - low)

        found = between(last[1], first[1])
        if abs(found) < abs(difference):
            difference, mixed = found, True
            ends = between(last[2][0], first[2][0]), between(last[2][1], first[2][1])
    return EqualAccuracy(score=abs(difference), interval=ends, mixed=mixed)


def _part(figures: PartFigures, written: Written, confidence: float) -> PartSummary:
    counts = figures.counts
    rows = counts.rows
    # The constant model is right about those of one label: which of them, and whom else, is the
    # new one right about?
    right = counts.positives if written.constant else counts.negatives
    after = counts.true_negatives_after if written.constant else counts.true_positives_after
    missed = right - (
        counts.true_positives_after if written.constant else counts.true_negatives_after
    )
    return PartSummary(
        rows=rows,
        positives=counts.positives,
        accuracy=_paired(
            counts.right_before, counts.right_after, counts.mended, counts.broken, rows, confidence
        ),
        p_value=mcnemar_p_value(counts.mended, counts.broken),
        balanced=_balanced(counts, confidence),
        constant=right / rows if rows else None,
        above_constant=_paired(right, counts.right_after, after, missed, rows, confidence),
        true_positives=(counts.true_positives_before, counts.true_positives_after),
        true_negatives=(counts.true_negatives_before, counts.true_negatives_after),
        one_sided=counts.one_sided,
        accuracy_drop=figures.accuracy_drop,
        balanced_drop=figures.balanced_drop,
    )


def _paired(
    before: int, after: int, gained: int, lost: int, rows: int, confidence: float
) -> ChangeSummary:
    """Compare two shares of the same rows."""
    if not rows:
        return ChangeSummary(before=None, after=None, change=None, interval=None)
    low, high = paired_rates_interval(gained, lost, rows, confidence)
    return ChangeSummary(
        before=before / rows,
        after=after / rows,
        change=(gained - lost) / rows,
        interval=(float(low), float(high)),
    )


def _balanced(counts: DecisionCounts, confidence: float) -> ChangeSummary:
    """Compare the mean accuracies on the rows of either label, which are independent."""
    sides = [
        _paired(
            counts.true_positives_before,
            counts.true_positives_after,
            counts.gained_positives,
            counts.lost_positives,
            counts.positives,
            confidence,
        ),
        _paired(
            counts.true_negatives_before,
            counts.true_negatives_after,
            counts.lost_negatives,
            counts.gained_negatives,
            counts.negatives,
            confidence,
        ),
    ]
    known = [
        (side.before, side.after, side.change, side.interval)
        for side in sides
        if side.before is not None
        and side.after is not None
        and side.change is not None
        and side.interval is not None
    ]
    if not known:
        return sides[0]
    share = 1 / len(known)
    return ChangeSummary(
        before=share * math.fsum(one[0] for one in known),
        after=share * math.fsum(one[1] for one in known),
        change=share * math.fsum(one[2] for one in known),
        interval=combined_interval([(one[2], one[3]) for one in known], [share] * len(known)),
    )


def _side(counts: DecisionCounts, confidence: float) -> SideSummary:
    rows = counts.rows

    def ends(selected: int) -> Interval | None:
        if not rows:
            return None
        low, high = clopper_pearson(selected, rows, 1 - confidence)
        return float(low), float(high)

    return SideSummary(
        rows=rows,
        positives=counts.positives,
        selected=_paired(
            counts.selected_before,
            counts.selected_after,
            counts.gained,
            counts.lost,
            rows,
            confidence,
        ),
        selected_before=ends(counts.selected_before),
        selected_after=ends(counts.selected_after),
        true_positive_rate=_paired(
            counts.true_positives_before,
            counts.true_positives_after,
            counts.gained_positives,
            counts.lost_positives,
            counts.positives,
            confidence,
        ),
        false_positive_rate=_paired(
            counts.false_positives_before,
            counts.false_positives_after,
            counts.gained_negatives,
            counts.lost_negatives,
            counts.negatives,
            confidence,
        ),
        gained=counts.gained,
        lost=counts.lost,
    )


def _target(
    counts: TargetCounts,
    target: TargetSummary,
    effect: tuple[CounterfactualSummary | None, CounterfactualSummary | None],
    neighbourhood: tuple[RatesSummary, RatesSummary],
    confidence: float,
) -> WrittenTarget:
    inside, outside = _side(counts.inside, confidence), _side(counts.outside, confidence)
    before = observed_rates(
        (counts.inside.rows, counts.inside.selected_before),
        (counts.outside.rows, counts.outside.selected_before),
        confidence,
    )
    after = observed_rates(
        (counts.inside.rows, counts.inside.selected_after),
        (counts.outside.rows, counts.outside.selected_after),
        confidence,
    )
    observed = ChangeSummary(
        before=before.difference, after=after.difference, change=None, interval=None
    )
    moved = [inside.selected, outside.selected]
    known = [
        (one.change, one.interval)
        for one in moved
        if one.change is not None and one.interval is not None
    ]
    if len(known) == 2:
        observed = observed.model_copy(
            update={
                "change": known[0][0] - known[1][0],
                "interval": combined_interval(known, (1, -1)),
            }
        )
    return WrittenTarget(
        inside=inside,
        outside=outside,
        observed_before=before,
        observed_after=after,
        observed=observed,
        neighbourhood_before=neighbourhood[0],
        neighbourhood_after=neighbourhood[1],
        neighbourhood=_changed(counts, *neighbourhood),
        levelled_down=levelled_down(target.held_out_before, target.held_out_after),
        effect_before=effect[0],
        effect_after=effect[1],
        effect=None
        if effect[0] is None or effect[1] is None
        else ChangeSummary(
            before=effect[0].difference,
            after=effect[1].difference,
            change=effect[1].difference - effect[0].difference,
            interval=combined_interval(
                [(one.difference, one.interval) for one in effect[::-1] if one], (1, -1)
            ),
        ),
    )


def _neighbourhood(
    written: Written, place: int, confidence: float
) -> tuple[RatesSummary, RatesSummary]:
    """Write a target's neighbourhood rates down, before and after."""
    before, after = (
        rates_summary(estimates, place, confidence) for estimates in written.neighbourhood
    )
    return before, after


def rates_summary(estimates: Estimates, group: int, confidence: float) -> RatesSummary:
    """Write the rates of a group down."""
    one = estimates.take(np.array([group]))
    rates = [float(one.rate_in[0]), float(one.rate_out[0])]
    difference = float(one.difference[0])
    known = not math.isnan(difference)
    ends = [float(end[0]) for end in one.population_interval(confidence)] if known else []
    return RatesSummary(
        n_in=int(one.rows_in[0]),
        n_out=int(one.rows_out[0]),
        rate_in=None if math.isnan(rates[0]) else rates[0],
        rate_out=None if math.isnan(rates[1]) else rates[1],
        difference=difference if known else None,
        score=abs(difference) if known else None,
        interval=(ends[0], ends[1]) if known else None,
    )


def _changed(counts: TargetCounts, before: RatesSummary, after: RatesSummary) -> ChangeSummary:
    """Write how the neighbourhood difference changed, in pairs where single rows are known."""
    change, interval = None, None
    if counts.change is not None:
        change, interval = counts.change
    elif (
        before.difference is not None
        and after.difference is not None
        and before.interval is not None
        and after.interval is not None
    ):
        # As if of different rows: wider than it need be.
        change = after.difference - before.difference
        interval = combined_interval(
            [(after.difference, after.interval), (before.difference, before.interval)], (1, -1)
        )
    return ChangeSummary(
        before=before.difference, after=after.difference, change=change, interval=interval
    )


def observed_rates(
    inside: tuple[int, int], outside: tuple[int, int], confidence: float
) -> RatesSummary:
    """Compute observed selection rates of rows as they are, from rows and selected on both sides.

    Examples
    --------
    >>> rates = observed_rates((40, 10), (60, 30), 0.95)
    >>> rates.rate_in, rates.rate_out, rates.difference
    (0.25, 0.5, -0.25)
    """
    sides = [
        Side(*(np.array([number]) for number in (rows, rows, selected)))
        for rows, selected in (inside, outside)
    ]
    rates = [selected / rows if rows else None for rows, selected in (inside, outside)]
    known = rates[0] is not None and rates[1] is not None
    difference = rates[0] - rates[1] if rates[0] is not None and rates[1] is not None else None
    interval = None
    if known:
        low, high = population_interval(sides[0], sides[1], 1 - confidence, margin_kind="none")
        interval = float(low[0]), float(high[0])
    return RatesSummary(
        n_in=inside[0],
        n_out=outside[0],
        rate_in=rates[0],
        rate_out=rates[1],
        difference=difference,
        score=None if difference is None else abs(difference),
        interval=interval,
    )


def levelled_down(before: RatesSummary, after: RatesSummary) -> float | None:
    """Compute the share of a closed gap that the favoured side's fall accounts for.

    Examples
    --------
    >>> rates = observed_rates
    >>> levelled_down(rates((50, 21), (500, 63), 0.95), rates((50, 13), (500, 62), 0.95))
    1.0
    >>> levelled_down(rates((50, 10), (50, 30), 0.95), rates((50, 20), (50, 30), 0.95))
    0.0
    """
    if None in (before.rate_in, before.rate_out, after.rate_in, after.rate_out):
        return None
    rates = [(before.rate_in or 0.0, after.rate_in or 0.0)]
    rates.append((before.rate_out or 0.0, after.rate_out or 0.0))
    favoured, other = sorted(rates, key=lambda pair: -pair[0])
    fall, rise = favoured[0] - favoured[1], other[1] - other[0]
    closed = fall + rise
    if closed <= 0:
        return None
    return min(max(fall / closed, 0.0), 1.0)

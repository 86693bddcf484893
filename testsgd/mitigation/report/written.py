"""From the counts of both models to the part of the summary that the verdict is about."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence

import numpy as np

from testsgd.auditing import Estimates
from testsgd.auditing.estimates import counted_estimates
from testsgd.auditing.report.summarise import rule_summary
from testsgd.auditing.report.summary import CounterfactualSummary
from testsgd.mitigation.candidate_evaluation import (
    DecisionCounts,
    PartFigures,
    Written,
    shared_confidence,
)
from testsgd.mitigation.candidate_evaluation import WrittenTarget as TargetCounts
from testsgd.mitigation.outcome import CurvePoint, MitigationOutcome
from testsgd.mitigation.report.summary import (
    ChangeSummary,
    EqualAccuracy,
    GapSummary,
    LossSummary,
    PartSummary,
    RatesSummary,
    SideEffectsSummary,
    SideSummary,
    TargetSummary,
    WorstSummary,
    WrittenSummary,
    WrittenTarget,
)
from testsgd.mitigation.side_effects import AccuracyLoss, GapGrowth, SideEffects
from testsgd.report.summaries import RuleSummary
from testsgd.rules import RuleSet
from testsgd.scoring import (
    clopper_pearson,
    combined_interval,
    mcnemar_p_value,
    paired_rates_interval,
)

Interval = tuple[float, float]

# Accuracies nearer to each other than this, in points, are taken for the same.
_SAME = 1e-9

# Gaps that grew too much and are listed, at most.
_LISTED = 10


def written_summary(
    outcome: MitigationOutcome,
    targets: Sequence[TargetSummary],
    effects: Sequence[tuple[CounterfactualSummary | None, CounterfactualSummary | None]],
    *,
    unfavourable: str,
) -> WrittenSummary | None:
    """Compute the figures of the model that was written, with their intervals."""
    written = outcome.written
    if written is None or outcome.kept is None:
        return None
    confidence, label = outcome.before.parameters.confidence, unfavourable
    if written.constant:
        label = outcome.material.specification.label.favourable
    figures = enumerate(zip(written.targets, targets, effects, strict=True))
    side_effects = outcome.side_effects
    first, last = written.neighbourhood
    of_targets = shared_confidence(confidence, written.looked)
    return WrittenSummary(
        run=outcome.kept.run,
        looked_at=written.looked,
        estimand=outcome.material.estimand,
        constant_label=label,
        training=_part(written.training, written, confidence),
        validation=_part(written.validation, written, confidence),
        held_out=_part(written.held_out, written, confidence),
        targets=[
            _target(
                counts,
                target,
                effect,
                rates_summary(first, index, confidence),
                rates_summary(last, index, confidence),
                confidence,
                of_targets,
            )
            for index, (counts, target, effect) in figures
        ],
        side_effects=None
        if side_effects is None
        else side_effects_summary(
            side_effects,
            rule_set=outcome.held_out.before.rule_set,
            targets={target.rule_set for target in outcome.targets},
        ),
    )


def side_effects_summary(
    found: SideEffects,
    *,
    rule_set: Callable[[int], RuleSet],
    targets: Collection[RuleSet] = (),
) -> SideEffectsSummary:
    """Write what became of all groups; `rule_set` gives a group's rules."""

    def rules(group: int) -> list[RuleSummary]:
        return [rule_summary(rule) for rule in rule_set(group).rules]

    def gap(growth: GapGrowth) -> GapSummary:
        of_group = rule_set(growth.group)
        return GapSummary.of(
            growth,
            rules=rules(growth.group),
            text=of_group.text,
            target=of_group in targets,
        )

    def loss(lost: AccuracyLoss) -> LossSummary:
        return LossSummary.of(lost, rules=rules(lost.group), text=rule_set(lost.group).text)

    worst, exceeded, lossy = found.worst, found.exceeded, found.lossy
    return SideEffectsSummary.of(
        found,
        lossy=[loss(one) for one in lossy[:_LISTED]],
        lossy_count=len(lossy),
        unclear_losses=len(found.losses) - len(lossy),
        largest_loss=None if found.largest_loss is None else loss(found.largest_loss),
        exceeded=[gap(growth) for growth in exceeded[:_LISTED]],
        exceeded_count=len(exceeded),
        unclear_count=len(found.growths) - len(exceeded),
        largest=None if found.largest is None else gap(found.largest),
        worst=None
        if worst is None
        else WorstSummary.of(
            worst,
            confidence_interval=worst.interval,
            group_before=rule_set(worst.group_before).text,
            group_after=rule_set(worst.group_after).text,
            rules_before=rules(worst.group_before),
            rules_after=rules(worst.group_after),
        ),
    )


def equal_accuracy(
    curve: Sequence[CurvePoint], original: RatesSummary, change: float
) -> EqualAccuracy | None:
    """Read off a curve what a method reaches at some change of accuracy, in points gained.

    That is the smallest difference of those that lose no more: at a point of the curve or of the
    original, which every method can leave as it is, or between the two points around the change,
    which deciding by chance between their models reaches. None if the method loses more wherever
    it is.
    """
    points = [(item.accuracy_change, item.difference, item.confidence_interval) for item in curve]
    if original.difference is not None and original.confidence_interval is not None:
        points.append((0.0, original.difference, original.confidence_interval))
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
    return EqualAccuracy(score=abs(difference), confidence_interval=ends, mixed=mixed)


def _part(figures: PartFigures, written: Written, confidence: float) -> PartSummary:
    counts = figures.counts
    positives, negatives = counts.true_positives_after, counts.true_negatives_after
    # The constant model is right about those of one label: about whom else is the new one right,
    # and about whom of these is it not?
    right, kept, gained = counts.negatives, negatives, positives
    if written.constant:
        right, kept, gained = counts.positives, positives, negatives
    return PartSummary.of(
        figures,
        counts,
        accuracy=_paired(
            counts.right_before, counts.mended, counts.broken, counts.rows, confidence
        ),
        p_value=mcnemar_p_value(counts.mended, counts.broken),
        balanced=_balanced(counts, confidence),
        constant=right / counts.rows if counts.rows else None,
        above_constant=_paired(right, gained, right - kept, counts.rows, confidence),
        true_positives=(counts.true_positives_before, positives),
        true_negatives=(counts.true_negatives_before, negatives),
    )


def _paired(before: int, gained: int, lost: int, rows: int, confidence: float) -> ChangeSummary:
    """Compare a share of some rows with what it became."""
    if not rows:
        return ChangeSummary(before=None, after=None, change=None, confidence_interval=None)
    low, high = paired_rates_interval(gained, lost, rows, confidence)
    return ChangeSummary(
        before=before / rows,
        after=(before + gained - lost) / rows,
        change=(gained - lost) / rows,
        confidence_interval=(float(low), float(high)),
    )


def _true_positives(counts: DecisionCounts, confidence: float) -> ChangeSummary:
    gained, lost = counts.gained_positives, counts.lost_positives
    return _paired(counts.true_positives_before, gained, lost, counts.positives, confidence)


def _balanced(counts: DecisionCounts, confidence: float) -> ChangeSummary:
    """Compare the mean accuracies on the rows of either label, which are independent."""
    gained, lost = counts.lost_negatives, counts.gained_negatives
    sides = [
        _true_positives(counts, confidence),
        _paired(counts.true_negatives_before, gained, lost, counts.negatives, confidence),
    ]
    changes = [
        (side.change or 0.0, side.confidence_interval)
        for side in sides
        if side.confidence_interval is not None
    ]
    if not changes:
        return sides[0]
    share = 1 / len(changes)

    def mean(name: str) -> float:
        figures = (getattr(side, name) for side in sides)
        return share * math.fsum(figure for figure in figures if figure is not None)

    return ChangeSummary(
        before=mean("before"),
        after=mean("after"),
        change=mean("change"),
        confidence_interval=combined_interval(changes, [share] * len(changes)),
    )


def _side(counts: DecisionCounts, confidence: float) -> SideSummary:
    rows, gained, lost = counts.rows, counts.gained_negatives, counts.lost_negatives

    def ends(selected: int) -> Interval | None:
        if not rows:
            return None
        low, high = clopper_pearson(selected, rows, 1 - confidence)
        return float(low), float(high)

    return SideSummary.of(
        counts,
        selected=_paired(counts.selected_before, counts.gained, counts.lost, rows, confidence),
        selected_before=ends(counts.selected_before),
        selected_after=ends(counts.selected_after),
        true_positive_rate=_true_positives(counts, confidence),
        false_positive_rate=_paired(
            counts.false_positives_before, gained, lost, counts.negatives, confidence
        ),
    )


def _target(
    counts: TargetCounts,
    target: TargetSummary,
    effect: tuple[CounterfactualSummary | None, CounterfactualSummary | None],
    neighbourhood_before: RatesSummary,
    neighbourhood_after: RatesSummary,
    confidence: float,
    of_change: float,
) -> WrittenTarget:
    group, others = counts.inside, counts.outside
    inside, outside = _side(group, confidence), _side(others, confidence)
    rows = (group.rows, others.rows)
    before = observed_rates(rows, (group.selected_before, others.selected_before), confidence)
    after = observed_rates(rows, (group.selected_after, others.selected_after), confidence)
    moved = [_side(side, of_change).selected for side in (group, others)]
    observed = _combined(*((side.change, side.confidence_interval) for side in moved))
    return WrittenTarget(
        group=inside,
        complement=outside,
        observed_before=before,
        observed_after=after,
        observed=_changed(before, after, observed),
        neighbourhood_before=neighbourhood_before,
        neighbourhood_after=neighbourhood_after,
        neighbourhood=_changed(neighbourhood_before, neighbourhood_after, counts.change),
        levelled_down=levelled_down(target.held_out_before, target.held_out_after),
        effect_before=effect[0],
        effect_after=effect[1],
        effect=None if effect[0] is None or effect[1] is None else _changed(effect[0], effect[1]),
    )


def _combined(
    first: tuple[float | None, Interval | None], second: tuple[float | None, Interval | None]
) -> tuple[float | None, Interval | None]:
    """Subtract the second of two independent figures from the first; None if one is not known."""
    if first[0] is None or first[1] is None or second[0] is None or second[1] is None:
        return None, None
    ends = combined_interval([(first[0], first[1]), (second[0], second[1])], (1, -1))
    return first[0] - second[0], ends


def _changed(
    before: RatesSummary | CounterfactualSummary,
    after: RatesSummary | CounterfactualSummary,
    paired: tuple[float | None, Interval | None] | None = None,
) -> ChangeSummary:
    """Write how a difference changed, in pairs where single rows are known.

    Else as if of different rows: the interval is wider than it need be.
    """
    change, interval = paired or _combined(
        (after.difference, after.confidence_interval),
        (before.difference, before.confidence_interval),
    )
    return ChangeSummary(
        before=before.difference,
        after=after.difference,
        change=change,
        confidence_interval=interval,
    )


def rates_summary(estimates: Estimates, group: int, confidence: float) -> RatesSummary:
    """Write the rates of a group down."""
    own = estimates.take(np.array([group]))
    difference = known(own.difference[0])
    low, high = own.population_interval(confidence)
    return RatesSummary(
        n_in=int(own.rows_in[0]),
        n_out=int(own.rows_out[0]),
        rate_in=known(own.rate_in[0]),
        rate_out=known(own.rate_out[0]),
        difference=difference,
        score=None if difference is None else abs(difference),
        confidence_interval=None if difference is None else (float(low[0]), float(high[0])),
    )


def observed_rates(
    rows: tuple[int, int], selected: tuple[int, int], confidence: float
) -> RatesSummary:
    """Compute the selection rates of rows as they are, inside and outside a group."""
    tallies = np.array([*rows, *selected], dtype=np.int64)[:, np.newaxis]
    return rates_summary(counted_estimates(tallies), 0, confidence)


def known(figure: float) -> float | None:
    """Return a figure, None if it is not a number."""
    return None if math.isnan(figure) else float(figure)


def levelled_down(before: RatesSummary, after: RatesSummary) -> float | None:
    """Compute the share of a closed gap that the favoured side's fall accounts for."""
    inside, outside = (before.rate_in, after.rate_in), (before.rate_out, after.rate_out)
    if None in inside or None in outside:
        return None
    rates = [(first or 0.0, last or 0.0) for first, last in (inside, outside)]
    favoured, other = sorted(rates, key=lambda pair: -pair[0])
    fall, rise = favoured[0] - favoured[1], other[1] - other[0]
    closed = fall + rise
    return min(max(fall / closed, 0.0), 1.0) if closed > 0 else None

"""What a mitigation does to all groups: gaps that grew, accuracy lost, and the worst difference.

Both models decide about the same held-out rows, so each row is compared with itself. A gap is how
far apart a group and its complement are in a rate, without its sign.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from testsgd.mitigation.outcome import GapRate
from testsgd.mitigation.parameters import LEAST_HELD_OUT
from testsgd.scoring import paired_rates_interval

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

# From whole numbers for each row, shape (quantities, rows), to their sums over the rows of each
# group, and over those of it and its complement together; shapes (quantities, groups).
GroupSums = Callable[[Counts], tuple[Counts, Counts]]

REPLICATES = 999

# Samples drawn at once, fewer where there are many groups: that bounds the room they need.
_BLOCK = 50
_NUMBERS = 1 << 20


@dataclass(frozen=True)
class PairedCounts:
    """Two answers of yes or no to each case of a group, counted; shape (groups,) each."""

    cases: Counts
    before: Counts  # Those answered yes at first.
    after: Counts  # Those answered yes then.
    both: Counts  # Those answered yes both times.

    def take(self, groups: NDArray[np.intp]) -> PairedCounts:
        """Return the counts of some groups."""
        return PairedCounts(
            self.cases[groups], self.before[groups], self.after[groups], self.both[groups]
        )

    def rates(self) -> tuple[Floats, Floats]:
        """Return the share answered yes, at first and then; NaN without cases."""
        cases = np.where(self.cases > 0, self.cases, np.nan)
        return self.before / cases, self.after / cases

    def change(self, confidence: float) -> tuple[Floats, Floats, Floats]:
        """Compute the change of the rate, with the ends of its interval."""
        first, last = self.rates()
        gained, lost = self.after - self.both, self.before - self.both
        return last - first, *paired_rates_interval(gained, lost, self.cases, confidence)

    def excess(self, confidence: float) -> tuple[Floats, Floats, Floats]:
        """Compute the sum of both rates less 1, with the ends of its interval.

        That is a change too: from those who were answered no at first to those answered yes then.
        """
        first, last = self.rates()
        neither = self.cases - self.before - self.after + self.both
        ends = paired_rates_interval(self.both, neither, self.cases, confidence)
        return last + first - 1, *ends


@dataclass(frozen=True)
class GapGrowth:
    """How the gap between a group and its complement in an error rate changed."""

    group: int  # Its place among the groups of the audit of the held-out rows.
    rate: GapRate
    cases: tuple[int, int]  # Rows that the rate is of, in the group and outside.
    inside: tuple[float, float]  # The group's rate, before and after.
    outside: tuple[float, float]  # That of its complement.
    low: float  # The lower confidence bound of the growth, at once for all gaps looked at.

    @property
    def before(self) -> float:
        """The gap by the original model."""
        return abs(self.inside[0] - self.outside[0])

    @property
    def after(self) -> float:
        """The gap by the model that was written."""
        return abs(self.inside[1] - self.outside[1])


@dataclass(frozen=True)
class AccuracyLoss:
    """How much accuracy a group lost."""

    group: int  # Its place among the groups of the audit of the held-out rows.
    rows: int  # Its held-out rows.
    before: float  # Its accuracy by the original model.
    after: float  # By the model that was written.
    low: float  # The lower confidence bound of the loss, at once for all groups looked at.

    @property
    def lost(self) -> float:
        """How much lower the accuracy is."""
        return self.before - self.after


@dataclass(frozen=True)
class WorstDifference:
    """The largest difference of any judged group in observed selection rates, of both models."""

    group_before: int  # Which group that is by the original model.
    group_after: int  # Which by the model that was written.
    before: float  # Its size by the original model.
    after: float  # By the model that was written.
    interval: tuple[float, float]  # Of the change, from bootstrap samples of the rows.

    @property
    def rose(self) -> bool:
        """Whether it rose by more than chance explains."""
        return self.after > self.before and self.interval[0] > 0


@dataclass(frozen=True)
class SideEffects:
    """What became of all judged groups on the held-out rows."""

    groups: int  # Groups that are judged: with enough rows on both sides.
    gaps: int  # Gaps that are judged: with enough rows counted on both sides.
    # The gaps that grew by more than was allowed, ranked as audits rank: by the lower bound.
    growths: tuple[GapGrowth, ...]
    largest: GapGrowth | None  # The gap that grew most; None if none is judged.
    worst: WorstDifference | None  # None if no group is judged.
    # The groups that lost more accuracy than was allowed, those with the largest bounds first.
    losses: tuple[AccuracyLoss, ...] = ()
    largest_loss: AccuracyLoss | None = None  # The group that lost most; None if none is judged.

    @property
    def lossy(self) -> tuple[AccuracyLoss, ...]:
        """The groups that lost more accuracy than was allowed and more than chance explains."""
        return tuple(loss for loss in self.losses if loss.low > 0)

    @property
    def exceeded(self) -> tuple[GapGrowth, ...]:
        """The gaps that grew by more than was allowed and more than chance explains."""
        return tuple(growth for growth in self.growths if growth.low > 0)

    @property
    def harmful(self) -> bool:
        """Whether more was exceeded than chance explains, or the worst difference rose so."""
        risen = self.worst is not None and self.worst.rose
        return bool(self.exceeded) or bool(self.lossy) or risen


def side_effects(
    sums: GroupSums,
    labels: NDArray[np.bool_],
    *,
    original: NDArray[np.bool_],
    reference: NDArray[np.bool_],
    written: NDArray[np.bool_],
    allowed: float,
    allowed_loss: float,
    confidence: float,
    seed: int,
    with_worst: bool = True,
) -> SideEffects:
    """Compute which gaps grew by more than `allowed`, and what became of the worst difference.

    `allowed_loss` is how much accuracy a group may lose. Without `with_worst` the worst
    difference is not looked for.

    Given are the decisions about some rows: of the original model, of that which stands in for it
    where it may have learnt these rows' labels, and of the model that is written. The lower bounds
    of all gaps' growth, and of all groups' losses, hold at once, by Bonferroni's inequality.
    """
    rows = np.ones(len(labels), dtype=bool)
    before, after = reference, written
    inside, outside = _both_sides(sums, rows, before, after)
    judged = np.minimum(inside.cases, outside.cases) >= LEAST_HELD_OUT
    cases: dict[GapRate, tuple[NDArray[np.bool_], ...]] = {
        "selection_rate": (rows, before, after),
        "true_positive_rate": (labels, before, after),
        "false_positive_rate": (~labels, before, after),
        "accuracy": (rows, before == labels, after == labels),
    }
    sides = {rate: _both_sides(sums, *answers) for rate, answers in cases.items()}
    known = {
        rate: judged & (np.minimum(group.cases, others.cases) >= LEAST_HELD_OUT)
        for rate, (group, others) in sides.items()
    }
    gaps = sum(int(groups.sum()) for groups in known.values())
    # The error that the intervals may make together is shared out among all of them.
    each = 1 - (1 - confidence) / max(1, gaps + int(judged.sum()))
    growths = [
        growth
        for rate in get_args(GapRate)
        for growth in _growths(
            rate, np.flatnonzero(known[rate]), *sides[rate], allowed=allowed, confidence=each
        )
    ]
    growths.sort(key=lambda growth: (-growth.low, growth.group))
    losses = _losses(
        np.flatnonzero(judged), sides["accuracy"][0], allowed=allowed_loss, confidence=each
    )
    return SideEffects(
        groups=int(judged.sum()),
        gaps=gaps,
        growths=tuple(one for one in growths if one.after - one.before > allowed),
        largest=max(growths, key=lambda one: one.after - one.before, default=None),
        worst=worst_difference(
            [RateFamily(sums, rows, original, after, np.flatnonzero(judged))],
            confidence=confidence,
            seed=seed,
        )
        if with_worst
        else None,
        losses=tuple(one for one in losses if one.lost > allowed_loss),
        largest_loss=max(losses, key=lambda one: one.lost, default=None),
    )


def _both_sides(
    sums: GroupSums,
    cases: NDArray[np.bool_],
    before: NDArray[np.bool_],
    after: NDArray[np.bool_],
) -> tuple[PairedCounts, PairedCounts]:
    """Count two answers to each case, in each group and outside it."""
    answers = np.stack([cases, cases & before, cases & after, cases & before & after])
    quantities = answers.astype(np.int64)
    inside, together = sums(quantities)
    return PairedCounts(*inside), PairedCounts(*(together - inside))


def _growths(
    rate: GapRate,
    groups: NDArray[np.intp],
    inside: PairedCounts,
    outside: PairedCounts,
    *,
    allowed: float,
    confidence: float,
) -> list[GapGrowth]:
    """Compute by how much gaps in a rate grew: those that grew too much, and the one that did most.

    The intervals take most of the time, and there may be millions of gaps.
    """
    inside, outside = inside.take(groups), outside.take(groups)
    rates = np.array([*inside.rates(), *outside.rates()])
    grown = np.abs(rates[1] - rates[3]) - np.abs(rates[0] - rates[2])
    chosen = _exceeding(grown, allowed)
    inside, outside, rates = inside.take(chosen), outside.take(chosen), rates[:, chosen]
    sign = np.where(rates[1] >= rates[3], 1.0, -1.0)
    # A gap of size |after| grew if it is larger than `before` and than -`before`. So both bounds
    # must hold, and testing both at the full level makes no more errors than testing one.
    change = _lower_bound(sign, inside.change(confidence), outside.change(confidence))
    excess = _lower_bound(sign, inside.excess(confidence), outside.excess(confidence))
    low = np.minimum(change, excess)
    return [
        GapGrowth(
            group=int(group),
            rate=rate,
            cases=(int(inside.cases[index]), int(outside.cases[index])),
            inside=(float(rates[0, index]), float(rates[1, index])),
            outside=(float(rates[2, index]), float(rates[3, index])),
            low=float(low[index]),
        )
        for index, group in enumerate(groups[chosen])
    ]


def _losses(
    groups: NDArray[np.intp], inside: PairedCounts, *, allowed: float, confidence: float
) -> list[AccuracyLoss]:
    """Compute which groups lost too much accuracy, or lost most, the largest bounds first."""
    inside = inside.take(groups)
    before, after = inside.rates()
    chosen = _exceeding(before - after, allowed)
    inside, before, after = inside.take(chosen), before[chosen], after[chosen]
    _, _, high = inside.change(confidence)
    losses = [
        AccuracyLoss(
            group=int(group),
            rows=int(inside.cases[index]),
            before=float(before[index]),
            after=float(after[index]),
            low=float(-high[index]),
        )
        for index, group in enumerate(groups[chosen])
    ]
    return sorted(losses, key=lambda loss: (-loss.low, loss.group))


def _exceeding(sizes: Floats, allowed: float) -> NDArray[np.intp]:
    """Return the places of the sizes above what is allowed, or else of the largest."""
    exceeding = np.flatnonzero(sizes > allowed)
    if len(exceeding) or not len(sizes):
        return exceeding
    return np.array([int(sizes.argmax())])


def _lower_bound(
    sign: Floats, inside: tuple[Floats, Floats, Floats], outside: tuple[Floats, Floats, Floats]
) -> Floats:
    """Return the lower bound of the difference of two independent figures, times a sign.

    See Zou and Donner (2008), Construction of confidence limits about effect measures: a general
    approach. Statistics in Medicine 27.
    """
    (first, first_low, first_high), (last, last_low, last_high) = inside, outside
    below = np.hypot(first - first_low, last_high - last)
    above = np.hypot(first_high - first, last - last_low)
    return sign * (first - last) - np.where(sign > 0, below, above)


@dataclass(frozen=True)
class RateFamily:
    """A rate of all groups by two models, and the groups whose differences are looked at."""

    sums: GroupSums
    counted: NDArray[np.bool_]  # The rows that the rate is of; shape (rows,).
    before: NDArray[np.bool_]  # Those answered yes by the original model.
    after: NDArray[np.bool_]  # By the model that was written.
    judged: NDArray[np.intp]  # Places of the groups.

    def sizes(self, weights: Counts) -> Floats:
        """Return the sizes of all differences by weights of the rows, shape (samples, rows).

        The sizes have the shape (samples, models, groups).
        """
        counted = weights * self.counted
        quantities = np.stack([counted, counted * self.before, counted * self.after])
        inside, together = (
            of_groups.reshape(3, len(weights), -1)[:, :, self.judged]
            for of_groups in self.sums(quantities.reshape(-1, weights.shape[1]))
        )
        outside = together - inside
        # A sample may have no rows of one side; then there is no difference.
        number, others = np.maximum(inside[0], 1), np.maximum(outside[0], 1)
        known = (inside[0] > 0) & (outside[0] > 0)
        found = np.abs(inside[1:] / number - outside[1:] / others) * known
        return np.moveaxis(found, 0, 1)


def worst_difference(
    families: Sequence[RateFamily], *, confidence: float, seed: int
) -> WorstDifference | None:
    """Find the largest differences of any rate and group, with the interval of the change.

    Each bootstrap sample of the rows finds its own largest differences, of both models. Groups are
    numbered through all families. None if no group is judged.
    """
    judged = np.concatenate([family.judged for family in families])
    if not len(judged):
        return None
    generator, rows = np.random.default_rng([seed, 6]), len(families[0].counted)

    def sizes(weights: Counts) -> Floats:
        return np.concatenate([family.sizes(weights) for family in families], axis=2)

    (seen,) = sizes(np.ones((1, rows), dtype=np.int64))
    changes, block = list[float](), max(1, min(_BLOCK, _NUMBERS // len(judged)))
    while len(changes) < REPLICATES:
        drawn = generator.integers(rows, size=(min(block, REPLICATES - len(changes)), rows))
        weights = np.stack([np.bincount(sample, minlength=rows) for sample in drawn])
        largest = sizes(weights).max(axis=2)
        changes += (largest[:, 1] - largest[:, 0]).tolist()
    low, high = np.quantile(changes, [(1 - confidence) / 2, (1 + confidence) / 2])
    first, last = seen.argmax(axis=1).tolist()
    return WorstDifference(
        group_before=int(judged[first]),
        group_after=int(judged[last]),
        before=float(seen[0, first]),
        after=float(seen[1, last]),
        interval=(float(low), float(high)),
    )

"""What the model that was written reached: the status that the headline and the exit code follow.

Everything is decided on the held-out rows. The guard, what may be lost, holds on the training and
the validation rows too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from testsgd.reporting.mitigation.phrases import enough
from testsgd.reporting.mitigation.summary import (
    ChangeSummary,
    MitigationSettings,
    PartSummary,
    RatesSummary,
    RunSummary,
    SplitSummary,
    Status,
    TargetSummary,
    WrittenSummary,
    WrittenTarget,
)

# Not enough evidence is told from failure.
EXIT_CODES: dict[str, Literal[0, 1, 3]] = {"mitigated": 0, "not_certain": 3, "too_few": 3}

# Sums of points of accuracy carry rounding errors of this size at most.
ROUNDING = 1e-9

# Terms that change so little the other way round are not said to be turned round.
TURNED = 0.02


@dataclass(frozen=True)
class Loss:
    """What was lost on a part of the data beyond what was allowed.

    Attributes
    ----------
    part : {"held_out", "validation", "training"}
        Where.
    balanced : bool
        Whether it is balanced accuracy.
    drop, limit : float
        Points lost, and allowed.
    """

    part: Literal["held_out", "validation", "training"]
    balanced: bool
    drop: float
    limit: float


def parts(
    written: WrittenSummary,
) -> Iterator[tuple[Literal["held_out", "validation", "training"], PartSummary]]:
    """Yield the parts of the data, the held-out one first."""
    yield "held_out", written.held_out
    yield "validation", written.validation
    yield "training", written.training


def losses(
    written: WrittenSummary,
    settings: MitigationSettings,
    split: SplitSummary,
    runs: Sequence[RunSummary],
) -> list[Loss]:
    """Find where more was lost than allowed; accuracy before balanced accuracy.

    A validation part that is too small to judge by is judged by the cross-validation.
    """
    found = []
    for balanced, limit in (
        (False, settings.max_accuracy_drop),
        (True, settings.max_balanced_drop),
    ):
        for name, part in parts(written):
            drop = part.balanced_drop if balanced else part.accuracy_drop
            if name == "validation" and split.judged_by == "cross-validation":
                if balanced:
                    continue
                drop = next(one.validation_drop for one in runs if one.run == written.run)
            if drop > limit + ROUNDING:
                found.append(Loss(name, balanced, drop, limit))
    return found


def one_sided_part(written: WrittenSummary, split: SplitSummary) -> str | None:
    """Find a part on which the new model decides, or is right, one way less than half as often."""
    for name, part in parts(written):
        small = name == "validation" and split.judged_by == "cross-validation"
        if part.one_sided and not small:
            return name
    return None


def spoken(
    target: TargetSummary, written: WrittenTarget, estimand: str
) -> tuple[RatesSummary, RatesSummary, ChangeSummary]:
    """Return the held-out rates before and after, and the change, that the verdict speaks of."""
    change = written.observed if estimand == "observed" else written.neighbourhood
    return target.held_out_before, target.held_out_after, change


def judged(
    target: TargetSummary, written: WrittenTarget, estimand: str, kind: str
) -> ChangeSummary | None:
    """Return the change that decides: of the terms' own effect for texts; None if not known."""
    before, after, change = spoken(target, written, estimand)
    if not (enough(before) and enough(after)):
        return None
    found = written.effect if kind == "texts" else change
    if found is None or found.before is None or found.after is None or found.interval is None:
        return None
    return found


def status_of(
    *,
    settings: MitigationSettings,
    split: SplitSummary,
    targets: Sequence[TargetSummary],
    written: WrittenSummary,
    runs: Sequence[RunSummary],
    kind: str,
) -> Status:
    """Decide what became of the targets, by the model that was written.

    Returns
    -------
    str
        The first of these that holds: more of accuracy, or of balanced accuracy, was lost on some
        part of the data than allowed; the model is one-sided; it is not better than the best
        constant model by more than chance; too few held-out rows can tell; terms work the other way
        round; a difference is no smaller; a target is still above the threshold; a difference is
        smaller, but maybe by chance; mitigated.
    """
    if losses(written, settings, split, runs):
        return "accuracy_lost"
    if one_sided_part(written, split) is not None:
        return "one_sided"
    beside = written.held_out.above_constant.interval
    if beside is not None and beside[0] <= 0:
        return "no_better_than_constant"
    changes = [
        judged(target, one, written.estimand, kind)
        for target, one in zip(targets, written.targets, strict=True)
    ]
    known = [one for one in changes if one is not None]
    if len(known) < len(changes):
        return "too_few"
    if kind == "texts" and any(
        turned_round(change, one) for change, one in zip(known, written.targets, strict=True)
    ):
        return "reversed"
    if any(abs(one.after or 0.0) >= abs(one.before or 0.0) for one in known):
        return "not_better"
    if above(targets, written, settings.all_above):
        return "above_threshold"
    if not all(certainly_smaller(one) for one in known):
        return "not_certain"
    return "mitigated"


def above(
    targets: Sequence[TargetSummary], written: WrittenSummary, limit: float | None
) -> list[int]:
    """Find the targets whose difference on held-out rows is still above a threshold."""
    if limit is None:
        return []
    return [
        place
        for place, (target, one) in enumerate(zip(targets, written.targets, strict=True))
        if (spoken(target, one, written.estimand)[1].score or 0.0) > limit
    ]


def turned_round(change: ChangeSummary, written: WrittenTarget) -> bool:
    """Return whether terms now work the other way round, by more than chance or than two points."""
    before, after = change.before or 0.0, change.after or 0.0
    if before * after >= 0:
        return False
    ends = written.effect_after.interval if written.effect_after is not None else None
    sure = ends is not None and (ends[0] > 0 or ends[1] < 0)
    return sure or abs(after) > TURNED


def certainly_smaller(change: ChangeSummary) -> bool:
    """Return whether a difference came nearer to zero by more than chance explains."""
    if change.interval is None or change.before is None:
        return False
    return change.interval[1] < 0 if change.before > 0 else change.interval[0] > 0

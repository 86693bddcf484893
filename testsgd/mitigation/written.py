"""The model that is written beside the original one, on the same rows, by the rows' labels.

Everything is counted, so that intervals for what changed are of pairs: each row is decided on by
both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import Estimates
from testsgd.mitigation.material import Material, Places, RowShares
from testsgd.scoring import combined_interval, paired_interval

Decisions = NDArray[np.bool_]
Interval = tuple[float, float]

# A model must decide either way, and be right either way, at least so often, as a share of how
# often the original does.
LEAST_SHARE = 0.5

# If the original is right less often one way nothing is concluded: a few are lost by chance.
FEWEST_COUNTED = 10


@dataclass(frozen=True)
class DecisionCounts:
    """How two models decide on the same rows or texts.

    Attributes
    ----------
    rows, positives : int
        How many there are, and how many have the favourable label.
    true_positives_before, true_positives_after : int
        How many of those with the favourable label get it from either model.
    false_positives_before, false_positives_after : int
        How many of the others get it.
    gained_positives, lost_positives : int
        With the favourable label: who gets it from the second model only, and from the first only.
    gained_negatives, lost_negatives : int
        The same of the others.
    """

    rows: int
    positives: int
    true_positives_before: int
    true_positives_after: int
    false_positives_before: int
    false_positives_after: int
    gained_positives: int
    lost_positives: int
    gained_negatives: int
    lost_negatives: int

    @classmethod
    def of(cls, before: Decisions, after: Decisions, labels: NDArray[np.bool_]) -> DecisionCounts:
        """Count decisions.

        Examples
        --------
        >>> before, after, labels = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]], dtype=bool)
        >>> counts = DecisionCounts.of(before, after, labels)
        >>> counts.right_before, counts.right_after, counts.mended, counts.broken
        (4, 2, 0, 2)
        """
        gained, lost = after & ~before, before & ~after
        return cls(
            rows=len(labels),
            positives=int(labels.sum()),
            true_positives_before=int((before & labels).sum()),
            true_positives_after=int((after & labels).sum()),
            false_positives_before=int((before & ~labels).sum()),
            false_positives_after=int((after & ~labels).sum()),
            gained_positives=int((gained & labels).sum()),
            lost_positives=int((lost & labels).sum()),
            gained_negatives=int((gained & ~labels).sum()),
            lost_negatives=int((lost & ~labels).sum()),
        )

    def __add__(self, other: DecisionCounts) -> DecisionCounts:
        sums = {
            item.name: getattr(self, item.name) + getattr(other, item.name) for item in fields(self)
        }
        return DecisionCounts(**sums)

    @property
    def negatives(self) -> int:
        """How many do not have the favourable label."""
        return self.rows - self.positives

    @property
    def true_negatives_before(self) -> int:
        """How many of them do not get it from the first model."""
        return self.negatives - self.false_positives_before

    @property
    def true_negatives_after(self) -> int:
        """How many of them do not get it from the second model."""
        return self.negatives - self.false_positives_after

    @property
    def right_before(self) -> int:
        """How many the first model labels as the data do."""
        return self.true_positives_before + self.true_negatives_before

    @property
    def right_after(self) -> int:
        """How many the second model labels as the data do."""
        return self.true_positives_after + self.true_negatives_after

    @property
    def mended(self) -> int:
        """How many only the second model labels as the data do."""
        return self.gained_positives + self.lost_negatives

    @property
    def broken(self) -> int:
        """How many only the first model labels as the data do."""
        return self.lost_positives + self.gained_negatives

    @property
    def selected_before(self) -> int:
        """How many get the favourable label from the first model."""
        return self.true_positives_before + self.false_positives_before

    @property
    def selected_after(self) -> int:
        """How many get it from the second model."""
        return self.true_positives_after + self.false_positives_after

    @property
    def gained(self) -> int:
        """How many get it from the second model only."""
        return self.gained_positives + self.gained_negatives

    @property
    def lost(self) -> int:
        """How many get it from the first model only."""
        return self.lost_positives + self.lost_negatives

    @property
    def accuracy_drop(self) -> float:
        """Percentage points of accuracy lost."""
        return 100 * (self.broken - self.mended) / self.rows if self.rows else 0.0

    @property
    def balanced_drop(self) -> float:
        """Percentage points lost of the mean of the accuracies on those of either label."""
        losses = [
            lost / count
            for lost, count in (
                (self.lost_positives - self.gained_positives, self.positives),
                (self.gained_negatives - self.lost_negatives, self.negatives),
            )
            if count
        ]
        return 100 * float(np.mean(losses)) if losses else 0.0

    @property
    def one_sided(self) -> bool:
        """Whether the second model decides, or is right, one way less than half as often.

        If everybody gets the same label no group is treated differently, at little accuracy where
        nearly all have that label anyway. It is no better model.
        """
        decided = (
            (self.selected_before, self.selected_after),
            (self.rows - self.selected_before, self.rows - self.selected_after),
        )
        right = (
            (self.true_positives_before, self.true_positives_after),
            (self.true_negatives_before, self.true_negatives_after),
        )
        pairs = (*decided, *(pair for pair in right if pair[0] >= FEWEST_COUNTED))
        return any(after < LEAST_SHARE * before for before, after in pairs)


@dataclass(frozen=True)
class PartFigures:
    """The two models on one part of the data.

    Attributes
    ----------
    counts : DecisionCounts
        By the labels.
    expected : tuple of (float, float) or None
        Percentage points lost of accuracy and of balanced accuracy as cross-fitted probabilities
        expect it, or as rows with weights count. A model may have learnt the labels of its training
        rows by heart; these probabilities know none of them. None: as `counts` say.
    """

    counts: DecisionCounts
    expected: tuple[float, float] | None = None

    @property
    def accuracy_drop(self) -> float:
        """Points of accuracy lost, by the probabilities and weights where they are known."""
        return self.counts.accuracy_drop if self.expected is None else self.expected[0]

    @property
    def balanced_drop(self) -> float:
        """Points of balanced accuracy lost, by the probabilities and weights where known."""
        return self.counts.balanced_drop if self.expected is None else self.expected[1]


@dataclass(frozen=True)
class WrittenTarget:
    """Who pays for what became of a target, on the held-out rows or texts.

    Attributes
    ----------
    inside, outside : DecisionCounts
        Of those in the group, as they are, and of everybody else.
    change : tuple of (float, (float, float)) or None
        By how much the difference of the neighbourhood rates changed, with the interval for pairs;
        None if it is not known for single rows, or there are none on one side.
    """

    inside: DecisionCounts
    outside: DecisionCounts
    change: tuple[float, Interval] | None


@dataclass(frozen=True)
class Written:
    """The model that is written, beside the original.

    Attributes
    ----------
    training, validation, held_out : PartFigures
        On each part of the data. Where the original may have learnt from the rows that it is judged
        on, the same fitted to the training rows alone stands in for it.
    constant : bool
        Which label for all is right most often on the training rows: the best constant model.
    targets : tuple of WrittenTarget
        Who pays; beside the original itself.
    neighbourhood : tuple of Estimates
        The targets' neighbourhood rates on the held-out part, by the original and by the new model.
    """

    training: PartFigures
    validation: PartFigures
    held_out: PartFigures
    constant: bool
    targets: tuple[WrittenTarget, ...]
    neighbourhood: tuple[Estimates, Estimates]


def part_figures(
    before: Decisions,
    model: Any,
    material: Material,
    places: Places,
    probabilities: NDArray[np.float64] | None = None,
) -> PartFigures:
    """Compare two models on some rows or texts.

    Parameters
    ----------
    before : numpy.ndarray of bool
        What the first model decides on them.
    model : Model or TextModel
        The second model.
    material : Material
        The rows or texts.
    places : numpy.ndarray of int
        Which of them.
    probabilities : numpy.ndarray of float64, optional
        Of all rows, to judge by in place of labels.
    """
    after = material.decisions(model, places)
    labels = material.favourable[places]
    counts = DecisionCounts.of(before, after, labels)
    if (probabilities is None and material.weights is None) or not len(places):
        return PartFigures(counts)
    chances = labels.astype(np.float64) if probabilities is None else probabilities[places]
    weights = np.ones(len(places)) if material.weights is None else material.weights[places]
    return PartFigures(counts, _expected_drops(before, after, chances, weights))


def compare_written(
    original: Any,
    reference: Any,
    model: Any,
    material: Material,
    shares: tuple[RowShares | None, RowShares | None],
    measure: Callable[[Any], Estimates],
) -> Written:
    """Compare the model that is written with the original, when nothing is chosen any more.

    Parameters
    ----------
    original, reference, model : Model or TextModel
        The model that was audited, the one whose accuracy is not to be lost, and the new one.
    material : Material
        The rows or texts, with the targets.
    shares : tuple
        What :meth:`Material.row_shares` gives for the held-out part of the original and of the new
        model.
    measure : callable
        Measures the targets' neighbourhood rates there.

    Returns
    -------
    Written
    """
    parts = material.split.parts
    test = parts.test
    before, after = material.decisions(original, test), material.decisions(model, test)
    labels = material.favourable[test]
    targets = []
    for place, target in enumerate(material.targets):
        inside = material.members(target)[test]
        group, others = (
            DecisionCounts.of(before[side], after[side], labels[side]) for side in (inside, ~inside)
        )
        targets.append(WrittenTarget(group, others, _change(shares, place, material)))

    def part(places: Places, chances: NDArray[np.float64] | None = None) -> PartFigures:
        first = material.decisions(reference, places)
        return part_figures(first, model, material, places, chances)

    return Written(
        training=part(material.trained, material.probabilities()),
        validation=part(material.validation),
        held_out=part(test),
        constant=bool(material.favourable[material.trained].mean() >= 0.5),
        targets=tuple(targets),
        neighbourhood=(measure(original), measure(model)),
    )


def _change(
    shares: tuple[RowShares | None, RowShares | None], place: int, material: Material
) -> tuple[float, Interval] | None:
    """Compute by how much a target's difference changed, each row compared with itself."""
    before, after = shares
    if before is None or after is None:
        return None
    moved = [new - old for old, new in zip(before[place], after[place], strict=True)]
    if not all(len(side) for side in moved):
        return None
    confidence = material.audit_parameters.confidence
    parts = []
    for side in moved:
        mean, square = float(side.mean()), float((side**2).mean())
        low, high = paired_interval(mean, square, len(side), confidence)
        parts.append((mean, (float(low), float(high))))
    interval = combined_interval(parts, (1, -1))
    return parts[0][0] - parts[1][0], interval


def _expected_drops(
    before: Decisions,
    after: Decisions,
    chances: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> tuple[float, float]:
    """Compute the percentage points lost of accuracy, and of balanced accuracy.

    `chances` are the probabilities of the favourable label, `weights` how much each row counts.
    """
    # By how much each row is given the favourable label less often.
    less = before.astype(np.float64) - after
    accuracy = 100 * float((weights * less * (2 * chances - 1)).sum()) / float(weights.sum())
    losses = []
    for lost, share in ((less, chances), (-less, 1 - chances)):
        mass = float((weights * share).sum())
        if mass:
            losses.append(float((weights * share * lost).sum()) / mass)
    return accuracy, 100 * sum(losses) / max(1, len(losses))

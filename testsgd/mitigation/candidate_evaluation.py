"""Judging a candidate: what it costs, what it brings, and whether it is a model at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import Estimates
from testsgd.mitigation.control_effects import control_scores
from testsgd.mitigation.data_splits import CANDIDATE_QUERIES, Material, Places, RowShares
from testsgd.mitigation.parameters import ROUNDING
from testsgd.scoring import combined_interval, paired_interval

Decisions = NDArray[np.bool_]
Interval = tuple[float, float]

# A model must decide either way, and be right either way, at least this often, as a share of how
# often the original does.
LEAST_SHARE = 0.5

# If the original is right less often one way nothing is concluded: a few are lost by chance.
FEWEST_COUNTED = 10


_ANY = slice(None)


class _Count:
    """A count of the rows with a label, a first and a second decision; 1 is the favourable one."""

    def __init__(
        self, *, label: int | slice = _ANY, before: int | slice = _ANY, after: int | slice = _ANY
    ) -> None:
        self._which = (label, before, after)

    def __get__(self, counts: DecisionCounts, owner: type) -> int:
        return int(np.reshape(counts.cells, (2, 2, 2))[self._which].sum())


@dataclass(frozen=True)
class DecisionCounts:
    """How two models decide on the same rows or texts.

    `cells` has the number of each combination of label, first decision and second decision, in the
    order of the binary numbers 000 to 111.
    """

    cells: tuple[int, ...]

    rows = _Count()
    positives = _Count(label=1)
    negatives = _Count(label=0)
    selected_before = _Count(before=1)
    selected_after = _Count(after=1)
    gained = _Count(before=0, after=1)
    lost = _Count(before=1, after=0)
    true_positives_before = _Count(label=1, before=1)
    true_positives_after = _Count(label=1, after=1)
    true_negatives_before = _Count(label=0, before=0)
    true_negatives_after = _Count(label=0, after=0)
    false_positives_before = _Count(label=0, before=1)
    false_positives_after = _Count(label=0, after=1)
    gained_positives = _Count(label=1, before=0, after=1)
    lost_positives = _Count(label=1, before=1, after=0)
    gained_negatives = _Count(label=0, before=0, after=1)
    lost_negatives = _Count(label=0, before=1, after=0)

    @classmethod
    def of(cls, before: Decisions, after: Decisions, labels: NDArray[np.bool_]) -> DecisionCounts:
        """Count decisions."""
        cells = 4 * labels.astype(np.intp) + 2 * before.astype(np.intp) + after
        return cls(tuple(np.bincount(cells, minlength=8).tolist()))

    def __add__(self, other: DecisionCounts) -> DecisionCounts:
        return DecisionCounts(tuple(map(sum, zip(self.cells, other.cells, strict=True))))

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
    def accuracy_drop(self) -> float:
        """Percentage points of accuracy lost."""
        return 100 * (self.broken - self.mended) / self.rows if self.rows else 0.0

    @property
    def balanced_drop(self) -> float:
        """Percentage points lost of the mean of the accuracies on those of either label."""
        positives = (self.lost_positives - self.gained_positives, self.positives)
        negatives = (self.gained_negatives - self.lost_negatives, self.negatives)
        losses = [lost / count for lost, count in (positives, negatives) if count]
        return 100 * float(np.mean(losses)) if losses else 0.0

    @property
    def one_sided(self) -> bool:
        """Whether the second model decides, or is right, one way less than half as often.

        If all get the same label no group is treated differently, at little accuracy where
        nearly all have that label anyway. It is no better model.
        """
        selected = (self.selected_before, self.selected_after)
        positives = (self.true_positives_before, self.true_positives_after)
        negatives = (self.true_negatives_before, self.true_negatives_after)
        right = [pair for pair in (positives, negatives) if pair[0] >= FEWEST_COUNTED]
        pairs = [selected, (self.rows - selected[0], self.rows - selected[1]), *right]
        return any(after < LEAST_SHARE * before for before, after in pairs)


@dataclass(frozen=True)
class PartFigures:
    """The decision counts and the losses of accuracy of two models on one part of the data."""

    counts: DecisionCounts  # By the labels.
    # Percentage points lost of accuracy and of balanced accuracy as cross-fitted probabilities
    # expect it, which know no memorised labels, or as weights count; None: as `counts` say.
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
    """The decisions of both models about both sides of a target, on the held-out rows or texts."""

    # Of those in the group, as they are, and of those in its complement.
    inside: DecisionCounts
    outside: DecisionCounts
    # By how much the difference of the neighbourhood rates changed, with the interval for
    # pairs; None if it is not known for single rows, or there are none on one side.
    change: tuple[float, Interval] | None


@dataclass(frozen=True)
class Written:
    """The figures of the model that is written and of the original, on each part of the data."""

    # On each part of the data. Where the original may have learnt from the rows that it is
    # judged on, the same fitted to the training rows alone stands in for it.
    training: PartFigures
    validation: PartFigures
    held_out: PartFigures
    # Which label for all is right most often on the training rows: the best constant model.
    constant: bool
    targets: tuple[WrittenTarget, ...]  # Who pays; beside the original itself.
    # The targets' neighbourhood rates on the held-out part, by the original and by the new
    # model.
    neighbourhood: tuple[Estimates, Estimates]
    # How many runs' models were looked at on the held-out part until one kept the guard.
    looked: int = 1

    def keeps(
        self, *, max_accuracy_drop: float, max_balanced_drop: float, validation: bool
    ) -> bool:
        """Return whether no more is lost on any part than allowed, and the model not one-sided.

        Without `validation` that part is too small to judge by.
        """
        parts = [self.held_out, self.training, *([self.validation] if validation else [])]
        return not any(
            part.accuracy_drop > max_accuracy_drop + ROUNDING
            or part.balanced_drop > max_balanced_drop + ROUNDING
            or part.counts.one_sided
            for part in parts
        )


def part_figures(
    before: Decisions,
    model: Any,
    material: Material,
    indices: Places,
    probabilities: NDArray[np.float64] | None = None,
) -> PartFigures:
    """Compare two models on some rows or texts; `before` is what the first decides on them.

    Without probabilities of the favourable label, and without weights, the labels alone count.
    """
    after = material.decisions(model, indices)
    labels = material.favourable[indices]
    counts = DecisionCounts.of(before, after, labels)
    if (probabilities is None and material.weights is None) or not len(indices):
        return PartFigures(counts)
    chances = labels.astype(np.float64) if probabilities is None else probabilities[indices]
    weights = np.ones(len(indices)) if material.weights is None else material.weights[indices]
    return PartFigures(counts, _expected_drops(before, after, chances, weights))


def compare_written(
    original: Any,
    reference: Any,
    model: Any,
    material: Material,
    *,
    max_queries: int,
    looked: int = 1,
) -> Written:
    """Compare the model that is written with the original on each part of the data.

    It looks at the held-out rows, so it is called when no candidate is chosen any more.

    `reference` is the model whose accuracy is not to be lost; the targets' neighbourhood rates on
    the held-out part are measured with the queries allowed. It is one of `looked` models that were
    looked at there, for which the intervals of the targets are widened.
    """
    test = material.split.parts.test
    old_shares = material.row_shares(original, test, max_queries=max_queries)
    new_shares = material.row_shares(model, test, max_queries=max_queries)
    measure = material.measure(test, max_queries=max_queries)
    before = material.decisions(original, test)
    after = material.decisions(model, test)
    labels = material.favourable[test]
    targets = []
    for index, target in enumerate(material.targets):
        inside = material.members(target)[test]
        outside = material.complement(target)[test]
        confidence = shared_confidence(material.audit_parameters.confidence, looked)
        targets.append(
            WrittenTarget(
                inside=DecisionCounts.of(before[inside], after[inside], labels[inside]),
                outside=DecisionCounts.of(before[outside], after[outside], labels[outside]),
                change=_change(old_shares, new_shares, index, confidence),
            )
        )

    def part(indices: Places, chances: NDArray[np.float64] | None = None) -> PartFigures:
        reference_decisions = material.decisions(reference, indices)
        return part_figures(reference_decisions, model, material, indices, chances)

    return Written(
        training=part(material.trained, material.probabilities()),
        validation=part(material.validation),
        held_out=part(test),
        constant=bool(material.favourable[material.trained].mean() >= 0.5),
        targets=tuple(targets),
        neighbourhood=(measure(original), measure(model)),
        looked=looked,
    )


def shared_confidence(confidence: float, looked: int) -> float:
    """Return the confidence of intervals of one of several models that were looked at.

    By Bonferroni's inequality, the intervals of all of them, of which one is picked, hold at once.
    """
    return 1 - (1 - confidence) / looked


def _change(
    before: RowShares | None, after: RowShares | None, index: int, confidence: float
) -> tuple[float, Interval] | None:
    """Return by how much a target's difference changed, with the interval for paired rows.

    `before` and `after` are the rows' shares of favourable answers by the two models. The result is
    None if either is not known, or one side has no rows.
    """
    if before is None or after is None:
        return None
    moved = [new - old for old, new in zip(before[index], after[index], strict=True)]
    if not all(len(side) for side in moved):
        return None
    parts = []
    for side in moved:
        mean, square = float(side.mean()), float((side**2).mean())
        low, high = paired_interval(mean, square, len(side), confidence)
        parts.append((mean, (float(low), float(high))))
    interval = combined_interval(parts, (1, -1))
    return parts[0][0] - parts[1][0], interval


def _expected_drops(
    before: Decisions, after: Decisions, chances: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[float, float]:
    """Return the percentage points lost of accuracy, and of balanced accuracy.

    `chances` are the probabilities p of the favourable label, `weights` how much each row counts;
    all arrays have shape (n,). A row that loses the favourable label loses 2 p - 1 of accuracy.
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


# If there are more training rows or texts, this number of them is drawn to judge candidates by.
_MOST_TRAINING = 5_000


class Evaluator:
    """Judges candidates on the rows that are not held out.

    The budgets are in percentage points; `reference` is the model whose accuracy is not to be lost,
    if that is not the original. `by_probabilities`: one validation row is worth more than the
    budget, so cross-fitted probabilities judge on all rows that are not held out; else on the
    training rows only, whose labels the model may have memorised.
    """

    def __init__(
        self,
        original: Any,
        material: Material,
        max_accuracy_drop: float,
        *,
        max_balanced_drop: float = 100.0,
        reference: Any = None,
    ) -> None:
        self._material = material
        self._budget = max_accuracy_drop
        self._balanced_budget = max_balanced_drop
        self._measure = material.measure(material.seen, max_queries=CANDIDATE_QUERIES)
        self._chances = material.probabilities()
        # Whether one validation row is worth more points of accuracy than the budget.
        few_validation_rows = max_accuracy_drop * len(material.validation) < 100
        self.by_probabilities = few_validation_rows and self._chances is not None
        training = material.seen if self.by_probabilities else material.trained
        if len(training) > _MOST_TRAINING:
            generator = np.random.default_rng([material.audit_parameters.seed, 5])
            training = np.sort(generator.choice(training, _MOST_TRAINING, replace=False))
        self._training = training
        reference = original if reference is None else reference
        self._before = [
            material.decisions(reference, indices) for indices in (training, material.validation)
        ]
        self._last: tuple[Any, tuple[PartFigures, PartFigures]] | None = None
        self.before = self._measure(original)
        self._rates = (
            self._measure
            if material.estimand == "neighbourhood"
            else material.observed(material.seen)
        )
        self._controls = material.control_measure(
            material.seen, max_queries=CANDIDATE_QUERIES, targets_only=True
        )
        self.before_scores = self._scores(original)
        # What the samples are to close: by the measured rates, whatever the audit speaks of.
        self.gaps = [*self.before.score.tolist(), *self.before_scores[len(material.targets) :]]

    @property
    def judged_by(self) -> Literal["probabilities", "labels"]:
        """How the accuracy lost is found."""
        return "probabilities" if self.by_probabilities else "labels"

    def __call__(self, model: Any) -> tuple[float, Sequence[float]]:
        """Return the points of accuracy lost, and the targets' scores.

        What is lost is the larger of what is lost on the validation rows and on the training rows.
        """
        drop = max(part.accuracy_drop for part in self._parts(model))
        return drop, self._scores(model)

    def refuses(self, model: Any) -> bool:
        """Return whether a model is refused for another reason than its accuracy.

        It is if on the training or the validation rows it loses too much of balanced accuracy, or
        decides or is right one way less than half as often as the original.
        """
        return any(map(self._refused, self._parts(model)))

    def refuses_on_training_rows(self, model: Any) -> bool:
        """Return whether a model breaks any limit on the training rows.

        The limits are those of :meth:`refuses`, and the budget of accuracy. With
        `by_probabilities` the rows are all that are not held out. This is for models whose figures
        on other rows are known from a cross-validation.
        """
        training_part, _ = self._parts(model)
        return self._refused(training_part) or training_part.accuracy_drop > self._budget + ROUNDING

    def _refused(self, part: PartFigures) -> bool:
        """Return whether a model is one-sided or loses too much balanced accuracy on a part."""
        return part.counts.one_sided or part.balanced_drop > self._balanced_budget + ROUNDING

    def _scores(self, model: Any) -> list[float]:
        """Return the sizes of the targets' differences, of the kind that the audit speaks of.

        For texts those of the control effects follow.
        """
        scores = [float(score) for score in self._rates(model).score]
        if self._controls is not None:
            scores += control_scores(self._material.controls, self._controls(model))
        return scores

    def _parts(self, model: Any) -> tuple[PartFigures, PartFigures]:
        """Compare a model with the reference on the training and on the validation rows."""
        if self._last is None or self._last[0] is not model:
            material = self._material
            figures = (
                part_figures(self._before[0], model, material, self._training, self._chances),
                part_figures(self._before[1], model, material, material.validation),
            )
            self._last = model, figures
        return self._last[1]

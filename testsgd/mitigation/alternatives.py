"""Other methods of mitigation, on the same splits and with the same budget of accuracy.

Every method learns from the same softened labels as the samples do, starts from the same weights
and follows the same schedule; its stages are judged as the samples' candidates are.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import Estimates
from testsgd.errors import DataError, MissingExtraError, ModelError, ParameterError
from testsgd.mitigation.candidate_evaluation import Evaluator
from testsgd.mitigation.cross_validation import Build
from testsgd.mitigation.data_splits import Material
from testsgd.mitigation.exponentiated_gradient import (
    DIFFERENCE_BOUND,
    Mixture,
    exponentiated_gradients,
)
from testsgd.mitigation.outcome import Alternative, CurvePoint, Performance
from testsgd.mitigation.parameters import MitigationParameters
from testsgd.mitigation.sample_selection import scores_of
from testsgd.mitigation.search import CURVE_BUDGETS, Search
from testsgd.models import Examples, LoadedModel, Refitter, Stage
from testsgd.models.refitting.estimators import EstimatorRefitter
from testsgd.models.refitting.text_networks import TextNetworkRefitter
from testsgd.progress import Progress
from testsgd.scoring import paired_interval

ALTERNATIVES = {
    "retraining without samples": "the same retraining without any samples: what it reaches is not "
    "due to samples",
    "reweighing": "the training data weighted so that the group and the label are independent "
    "(Kamiran and Calders), more or less strongly; chosen among all stages as the samples' "
    "candidates are",
    "exponentiated-gradient": "Fairlearn's ExponentiatedGradient with demographic parity over the "
    "group, by several bounds: mixtures of at most ten trainings, one drawn by chance for each "
    "decision; chosen as the samples' candidates are; figures are expected ones, of one run",
}

# What a command line calls a method whose name has blanks.
_SHORT = {"retraining": "retraining without samples"}

# How strongly the training data are reweighed; 1 is the method as published.
STRENGTHS = (0.25, 0.5, 1.0, 2.0)

# The exponentiated gradient's bounds, as shares of the original's gap; the last is its own.
_SHARES_OF_GAP = (0.75, 0.5, 0.25)


def resolve_alternatives(compare: str | Sequence[str]) -> tuple[str, ...]:
    """Return the keys of :data:`ALTERNATIVES` for names, ``"all"`` or ``"none"``."""
    names = (
        [name.strip() for name in compare.split(",") if name.strip()]
        if isinstance(compare, str)
        else list(compare)
    )
    if names == ["all"]:
        return tuple(ALTERNATIVES)
    if names == ["none"]:
        return ()
    names = [_SHORT.get(name, name) for name in names]
    # Beside others "all" and "none" are no methods, but what is nowhere known is named first.
    for name in sorted(names, key=lambda name: name in ("all", "none")):
        if name not in ALTERNATIVES:
            raise ParameterError(
                f"the method {name!r} is unknown",
                where="compare",
                remedy=f"choose from {', '.join((*_SHORT, *ALTERNATIVES))}, or all, or none",
            )
    return tuple(names)


@dataclass(frozen=True)
class MethodSetup:
    """The model, data, settings and judge that other methods share with the mitigation."""

    original: LoadedModel[Any]
    material: Material
    evaluator: Evaluator
    # Measures a model's accuracy on the held-out rows, and its rates there and on all rows.
    performance_of: Callable[[Any], Performance]
    parameters: MitigationParameters
    build: Build
    measure: CurveMeasure

    def refitter(self, examples: Examples) -> Refitter[Any]:
        """Return a refitter of the original with other training examples."""
        validation = self.material.examples(self.material.validation)
        return self.build(self.original, examples, validation, self.parameters.from_scratch)

    def training(self) -> Examples:
        """Return the training examples with the softened labels that the samples' retraining has.

        What can learn labels only has these.
        """
        material = self.material
        examples = material.examples(material.trained)
        refitter = self.refitter(examples)
        if isinstance(refitter, TextNetworkRefitter):
            # Networks of texts that go on learn what the original says.
            known = scores_of(self.original.model, examples.inputs) if refitter.goes_on else None
            return replace(examples, targets=known)
        if not self.parameters.soften or isinstance(refitter, EstimatorRefitter):
            return examples
        return replace(examples, targets=material.soft_targets(material.trained))


def try_alternatives(
    names: Sequence[str], setup: MethodSetup, *, progress: Progress | None = None
) -> tuple[Alternative, ...]:
    """Return the figures of other methods, given by the keys of :data:`ALTERNATIVES`."""
    tried = []
    for done, name in enumerate(names):
        if progress is not None:
            progress("other methods", done, len(names))
        method = _mixed if name == "exponentiated-gradient" else _retrained
        try:
            tried.append(method(name, setup))
        except MissingExtraError as error:
            tried.append(Alternative(name, "not_installed", str(error)))
        except (DataError, ModelError) as error:
            tried.append(Alternative(name, "not_possible", str(error)))
    if names and progress is not None:
        progress("other methods", len(names), len(names))
    return tuple(tried)


class CurveMeasure:
    """Measures on the held-out rows or texts what a method reaches with some budget."""

    def __init__(
        self, reference: Any, material: Material, held_out: Callable[[Any], Estimates]
    ) -> None:
        self._material = material
        self._held_out = held_out
        test = material.split.parts.test
        self._labels = material.favourable[test]
        self._before = material.decisions(reference, test) == self._labels

    def single(self, models: Mapping[float, Any]) -> tuple[CurvePoint, ...]:
        """Measure the models that would have been chosen with each budget."""
        return self.curve({budget: Mixture.of(model) for budget, model in models.items()})

    def curve(self, mixtures: Mapping[float, Mixture]) -> tuple[CurvePoint, ...]:
        """Measure the mixtures that would have been chosen with each budget.

        Of a mixture these are the expected figures; the ends of its interval are the means of the
        models' own ends, which is no narrower than it could be.
        """
        points: list[CurvePoint] = []
        last: Sequence[Any] = ()
        for budget, mixture in mixtures.items():
            # Often the same is chosen with the next budget.
            if points and all(old is new for old, new in zip(last, mixture.models, strict=False)):
                points.append(points[-1].model_copy(update={"budget": budget}))
            else:
                points.append(self._point(budget, mixture))
            last = mixture.models
        return tuple(points)

    def _point(self, budget: float, mixture: Mixture) -> CurvePoint:
        """Return a mixture's expected accuracy change and worst difference, with intervals."""
        models = mixture.models
        chances = mixture.weights
        material = self._material
        test = material.split.parts.test
        right = np.array(
            [material.decisions(model, test) == self._labels for model in models], dtype=np.float64
        )
        change = chances @ right - self._before
        confidence = material.audit_parameters.confidence
        low, high = paired_interval(change.mean(), (change**2).mean(), len(change), confidence)
        estimates = [self._held_out(model) for model in models]
        differences = chances @ np.array([one.difference for one in estimates])
        ends = [one.population_interval(confidence) for one in estimates]
        lows, highs = (chances @ np.array([pair[end] for pair in ends]) for end in (0, 1))
        sizes = np.abs(differences)
        worst = int(np.nanargmax(sizes)) if not np.isnan(sizes).all() else 0
        return CurvePoint(
            budget=budget,
            accuracy_change=100 * float(change.mean()),
            accuracy_confidence_interval=(100 * float(low), 100 * float(high)),
            difference=float(differences[worst]),
            confidence_interval=(float(lows[worst]), float(highs[worst])),
        )


def _retrained(name: str, setup: MethodSetup) -> Alternative:
    """Return the figures of retraining without samples, or with reweighed training data."""
    training = setup.training()
    material = setup.material
    examples = [training]
    if name == "reweighing":
        # Each combination of targets is a group of its own, and so is what belongs to neither side.
        sides = np.column_stack(
            [
                side(target)
                for side in (material.members, material.complement)
                for target in material.targets
            ]
        )
        members = np.unique(sides, axis=0, return_inverse=True)[1].reshape(-1)[material.trained]
        examples = []
        for strength in STRENGTHS:
            weights, targets = reweighed(members, training.full_targets(), strength=strength)
            soft = None if training.targets is None else targets
            examples.append(replace(training, weights=weights, targets=soft))
    started = time.perf_counter()
    refitters = [setup.refitter(each) for each in examples]
    performances: list[Performance] = []
    curve: tuple[CurvePoint, ...] = ()
    for run in range(setup.parameters.runs):
        search = Search(
            refitters[0],
            setup.evaluator,
            refuse=setup.evaluator.refuses,
            max_accuracy_drop=setup.parameters.max_accuracy_drop,
        )
        result = search.only(refitters, seed=setup.parameters.seed + run)
        if run == 0:
            curve = setup.measure.single(result.curve())
        if result.model is None:
            why = "no stage of it stays within the accuracy budget"
            return Alternative(name, "not_possible", why, curve=curve)
        performances.append(setup.performance_of(result.model))
    return Alternative(
        name,
        accuracies=tuple(performance.accuracy for performance in performances),
        scores=tuple(performance.everywhere.score for performance in performances),
        held_out_scores=tuple(performance.held_out.score for performance in performances),
        curve=curve,
        seconds=(time.perf_counter() - started) / len(performances),
    )


def _mixed(name: str, setup: MethodSetup) -> Alternative:
    """Return the figures of the exponentiated gradient's mixtures, chosen as candidates are."""
    material = setup.material
    evaluator = setup.evaluator
    if len(material.targets) > 1:
        return Alternative(name, "not_possible", "it is compared for one group at a time")
    started = time.perf_counter()
    training = setup.training()
    members = material.members(material.targets[0])[material.trained]
    others = material.complement(material.targets[0])[material.trained]
    decisions = setup.original.model.decisions(training.inputs)
    gap = max(
        abs(float(decisions[side].mean() - decisions.mean()))
        for side in (members, others)
        if side.any()
    )
    bounds = [share * gap for share in _SHARES_OF_GAP if share * gap > DIFFERENCE_BOUND]
    mixtures = exponentiated_gradients(
        _SoftenedRefitter(setup, training, members, others),
        training,
        members,
        others=others,
        bounds=(*bounds, DIFFERENCE_BOUND),
        seed=setup.parameters.seed,
    )
    judged = [_judged(mixture, evaluator) for mixture in mixtures]

    def best(budget: float) -> Mixture | None:
        allowed = [
            (score, index)
            for index, (drop, score, refused) in enumerate(judged)
            if drop <= budget + 1e-9 and not refused
        ]
        return mixtures[min(allowed)[1]] if allowed else None

    within = {budget: best(budget) for budget in CURVE_BUDGETS}
    curve = setup.measure.curve(
        {budget: mixture for budget, mixture in within.items() if mixture is not None}
    )
    chosen = best(setup.parameters.max_accuracy_drop)
    seconds = time.perf_counter() - started
    if chosen is None:
        why = "no mixture of it stays within the accuracy budget"
        return Alternative(name, "not_possible", why, curve=curve, seconds=seconds)
    performances = [setup.performance_of(model) for model in chosen.models]
    differences = [performance.everywhere.difference for performance in performances]
    held_out_differences = [performance.held_out.difference for performance in performances]
    return Alternative(
        name,
        accuracies=(chosen.expected([performance.accuracy for performance in performances]),),
        scores=(_expected_score(chosen, differences),),
        held_out_scores=(_expected_score(chosen, held_out_differences),),
        curve=curve,
        seconds=seconds,
    )


def _judged(mixture: Mixture, evaluator: Evaluator) -> tuple[float, float, bool]:
    """Return a mixture's expected loss of accuracy and score, and whether it is refused.

    The score is the mean of the models' own, which is no smaller than the expected one. A mixture
    is refused if all of its models are: one-sided ones may be mixed with others.
    """
    figures = [evaluator(model) for model in mixture.models]
    drops = [drop for drop, _ in figures]
    worst_scores = [max(target_scores) for _, target_scores in figures]
    refused = all(evaluator.refuses(model) for model in mixture.models)
    drop = mixture.expected(drops)
    score = mixture.expected(worst_scores)
    return (
        math.inf if math.isnan(drop) else drop,
        math.inf if math.isnan(score) else score,
        refused,
    )


class _SoftenedRefitter:
    """Trains the exponentiated gradient's models on softened labels.

    It asks for labels and weights: signed costs, each the sum of what an example's own label asks
    for, 2 p - 1, and of what its side of the group does, up to one factor for all. Both are found
    again here, so that a network can learn p, moved by what its side asks for.
    """

    def __init__(
        self,
        setup: MethodSetup,
        training: Examples,
        members: NDArray[np.bool_],
        others: NDArray[np.bool_],
    ) -> None:
        self._setup = setup
        self._training = training
        self._members = members
        self._others = others
        self._own = setup.refitter(training)
        self.takes_weights = self._own.takes_weights

    def refit(self, extra: Examples | None, *, seed: int, **instead: Any) -> Iterator[Stage[Any]]:
        """Train on the examples with these costs."""
        training = self._training
        weights = instead.get("weights")
        labels = instead.get("labels")
        if training.targets is None or weights is None or labels is None:
            return self._own.refit(extra, seed=seed, **instead)
        parts = split_costs(
            np.where(labels, weights, -weights),
            training.targets,
            self._members,
            others=self._others,
        )
        both = parts.sum(axis=0)
        examples = replace(training, weights=both * len(both) / both.sum(), targets=parts[0] / both)
        return self._setup.refitter(examples).refit(extra, seed=seed)


def split_costs(
    costs: NDArray[np.float64],
    chances: NDArray[np.float64],
    members: NDArray[np.bool_],
    *,
    others: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """Return signed costs as parts for and against the favourable label, shape (2, n).

    A cost is a multiple, the same for all examples, of 2 p - 1 plus what the example's side asks
    for, where p is its chance that the favourable label is right. The rows are p and 1 - p, one of
    them with what the side asks for added; their difference is a multiple of the cost. `others` are
    the complement, if that is not all others; what belongs to neither is a side of its own.
    """
    own = 2 * chances - 1
    centred_costs, centred_own = costs.copy(), own.copy()
    complement = ~members if others is None else others
    for side in (members, complement, ~(members | complement)):
        if side.any():
            centred_costs[side] -= costs[side].mean()
            centred_own[side] -= own[side].mean()
    spread = float(centred_own @ centred_own)
    # Where all chances of a side are the same nothing tells the factor: it is that of the sizes.
    factor = float(centred_costs @ centred_own) / spread if spread > 0 else 1.0
    asked = costs / (factor if factor > 0 else 1.0) - own
    return np.array([chances + np.maximum(asked, 0), 1 - chances + np.maximum(-asked, 0)])


def _expected_score(
    mixture: Mixture, differences: Sequence[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return the size of each target's expected difference, shape (targets,)."""
    return np.abs(mixture.weights @ np.array(differences))


def reweighed(
    members: NDArray[np.bool_] | NDArray[np.integer[Any]],
    chances: NDArray[np.float64],
    *,
    strength: float = 1.0,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return weights, which sum to n, and targets that reweigh softened labels; shapes (n,).

    An example with the chance p counts as a part p of a favourable one and a part 1 - p of another;
    each weighs P(group) P(label) / P(group, label) to the power of `strength`, 1 as published
    (Kamiran and Calders, Knowledge and Information Systems 33, 2012).
    """
    names, group = np.unique(members, return_inverse=True)
    if len(names) < 2:
        raise DataError(
            f"all {len(group)} training examples are on one side of the group, so there is nobody "
            "to compare with",
            where="reweighing",
            remedy="give training examples inside and outside of the group",
        )
    favourable = np.bincount(group, weights=chances)
    counts = np.column_stack([np.bincount(group) - favourable, favourable])
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / len(group)
    factors = np.divide(expected, counts, out=np.ones_like(counts), where=counts > 0) ** strength
    parts = np.column_stack([1 - chances, chances]) * factors[group]
    weights: NDArray[np.float64] = parts.sum(axis=1)
    targets: NDArray[np.float64] = parts[:, 1] / weights
    return weights * len(weights) / weights.sum(), targets

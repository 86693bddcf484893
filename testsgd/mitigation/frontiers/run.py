"""The frontier: from a problem to points, the one that is chosen, and what it does to all groups.

Points are found and chosen by rows that are not held out. Then all of them are measured on the
held-out rows, which is what the picture shows; side effects are looked for by the chosen one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import Progress
from testsgd.errors import ModelError
from testsgd.mitigation.frontier import best_point
from testsgd.mitigation.frontiers.candidates import Candidate
from testsgd.mitigation.frontiers.outcome import (
    Accuracy,
    FrontierOutcome,
    MeasuredPoint,
    SidesOfGroup,
)
from testsgd.mitigation.frontiers.playing import RefittedModel, play_candidates
from testsgd.mitigation.frontiers.problem import AskedModel, Bools, FairModel, Places, Problem
from testsgd.mitigation.frontiers.scored import Scored, cross_fitted_scores, own_scores
from testsgd.mitigation.frontiers.thresholds import threshold_candidates, without_scores
from testsgd.mitigation.play import ComparedGroups
from testsgd.mitigation.side_effects import SideEffects, side_effects
from testsgd.models import Model
from testsgd.models.network import NetworkModel
from testsgd.models.refitting import Refitter, refitter_for
from testsgd.models.refitting.estimators import EstimatorRefitter
from testsgd.scoring import paired_rates_interval


def run_frontier(problem: Problem, *, progress: Progress | None = None) -> FrontierOutcome:
    """Find the frontier of a problem by the method that its parameters name.

    Raises
    ------
    ModelError
        If the method needs what the model has not: scores, or weights in its fit.
    """
    seconds: dict[str, float] = {}
    method, refitter = method_for(problem)

    def advance(phase: str, done: int, total: int) -> None:
        if progress is not None:
            progress(phase, done, total)

    with _timed(seconds, "preparing"):
        base, model = _base(problem, refitter)
        scored = _scored(problem, refitter, model)
    reason = ""
    with _timed(seconds, "searching"):
        advance("searching", 0, 1)
        ceiling = [] if scored is None else threshold_candidates(problem, base, model, scored)
        if method == "thresholds":
            if scored is None:
                raise without_scores(problem)
            candidates = ceiling
        else:
            assert isinstance(refitter, EstimatorRefitter)
            candidates, reason = play_candidates(problem, refitter)
        advance("searching", 1, 1)
    best = best_point(candidates, budget=problem.parameters.budget)
    chosen = None if best is None else candidates.index(best)
    with _timed(seconds, "measuring"):
        held_out = _HeldOut(problem, base)
        points = []
        for number, candidate in enumerate(candidates, start=1):
            points.append(held_out.point(candidate))
            advance("measuring", number, len(candidates))
        others = [] if method == "thresholds" else [held_out.point(each) for each in ceiling]
        effects = small = None
        paying: tuple[SidesOfGroup, ...] = ()
        if chosen is not None and len(held_out.groups):
            small = problem.small_groups(problem.held_out)
            effects = _effects(problem, small, held_out, points[chosen].model)
            paying = held_out.paying(points[chosen].model)
    if chosen is None and not reason:
        reason = (
            "no strength lowered the worst difference and kept the accuracy within "
            f"{problem.parameters.max_accuracy_drop:g} points"
        )
    worst_before, group_before = held_out.worst(held_out.before)
    return FrontierOutcome(
        problem=problem,
        method=method,
        kind="the model's scores" if refitter is None else refitter.kind,
        groups=held_out.groups,
        before=held_out.accuracy(held_out.before),
        worst_before=worst_before,
        group_before=group_before,
        constant_accuracy=held_out.constant_accuracy(),
        points=tuple(points),
        chosen=chosen,
        reason="" if chosen is not None else reason,
        effects=effects,
        small_groups=small,
        paying=paying,
        ceiling=tuple(others),
        refitted=isinstance(base, RefittedModel),
        seconds=seconds,
    )


def method_for(problem: Problem) -> tuple[str, Refitter[Model] | None]:
    """Return the method that is used, and what fits the model again; None if nothing can."""
    material, wanted = problem.material, problem.parameters.method
    parts = material.split.parts
    seen = material.examples(problem.seen)
    try:
        refitter: Refitter[Model] | None = refitter_for(
            problem.loaded, material.specification, seen, material.examples(parts.validation)
        )
    except ModelError:
        refitter = None
    plays = isinstance(refitter, EstimatorRefitter) and refitter.takes_weights
    if wanted == "auto":
        return ("play" if plays else "thresholds"), refitter
    if wanted == "play" and not plays:
        raise ModelError(
            "it cannot be fitted again with weights of the rows, which the play needs",
            where=f"model {problem.loaded.model.name!r}",
            remedy="give an estimator whose fit takes sample_weight, or --method thresholds",
        )
    return wanted, refitter


def _base(problem: Problem, refitter: Refitter[Model] | None) -> tuple[FairModel, Model]:
    """Return what others are compared with: the original, or the same fitted anew.

    Where the original may have learnt from the held-out rows and is fitted anew, its accuracy
    there would flatter it.
    """
    original = problem.loaded.model
    if problem.material.split.known or not isinstance(refitter, EstimatorRefitter):
        return AskedModel(problem, original), original
    [stage] = refitter.refit(None, seed=problem.parameters.seed)
    return RefittedModel(problem, refitter, stage.model, refitter.kind), stage.model


def _scored(problem: Problem, refitter: Refitter[Model] | None, model: Model) -> Scored | None:
    """Return honest scores of the rows that were seen; None if the model gives labels only."""
    if isinstance(model, NetworkModel) or not isinstance(refitter, EstimatorRefitter):
        return own_scores(problem, model)

    def fit(places: Places) -> Model:
        examples = problem.material.examples(places)
        material = problem.material
        fitting = refitter_for(problem.loaded, material.specification, examples, examples)
        [stage] = fitting.refit(None, seed=problem.parameters.seed)
        model: Model = stage.model
        return model

    return cross_fitted_scores(problem, model, fit)


class _HeldOut:
    """The held-out rows: how accurate models are there, and how they treat groups."""

    def __init__(self, problem: Problem, base: FairModel) -> None:
        self.problem = problem
        self.places = problem.held_out
        self.labels = problem.favourable[self.places]
        self.groups = problem.groups(self.places)
        self.before = base.decisions(self.places)

    def accuracy(self, decisions: Bools) -> Accuracy:
        """Return how accurate decisions are, beside those of the original."""
        right, before = decisions == self.labels, self.before == self.labels
        gained, lost = int((right & ~before).sum()), int((before & ~right).sum())
        low, high = paired_rates_interval(
            lost, gained, len(right), self.problem.parameters.confidence
        )
        by_label = [right[self.labels == label] for label in (False, True)]
        return Accuracy(
            accuracy=float(right.mean()),
            balanced=float(np.mean([part.mean() for part in by_label if len(part)])),
            drop=float(before.mean() - right.mean()),
            drop_interval=(float(low), float(high)),
        )

    def worst(self, decisions: Bools) -> tuple[float, str]:
        """Return the worst difference of any group with its sign, and the group's rules."""
        if not len(self.groups):
            return 0.0, ""
        differences = self.groups.differences(decisions)[0]
        index = int(np.abs(differences).argmax())
        return float(differences[index]), str(self.groups.rule_sets.texts(np.array([index]))[0])

    def constant_accuracy(self) -> float:
        """Return the accuracy of the best model that says the same of all."""
        mostly = self.problem.favourable[self.problem.seen].mean() > 0.5
        return float((self.labels == mostly).mean())

    def point(self, candidate: Candidate) -> MeasuredPoint:
        """Fit the model of a candidate and measure it."""
        model = candidate.fit()
        decisions = model.decisions(self.places)
        worst, group = self.worst(decisions)
        return MeasuredPoint(
            expected=candidate.point,
            accuracy=self.accuracy(decisions),
            worst=worst,
            group=group,
            model=model,
        )

    def paying(self, model: FairModel) -> tuple[SidesOfGroup, ...]:
        """Return the rates of the groups that are worst before and after."""
        after = model.decisions(self.places)
        differences = np.abs(self.groups.differences(np.stack([self.before, after])))
        worst = list(dict.fromkeys(differences.argmax(axis=1).tolist()))
        quantities = np.stack([np.ones(len(after), dtype=bool), self.labels, self.before, after])
        inside, together = self.groups.sums(quantities.astype(np.int64))
        outside = together - inside
        return tuple(self._sides(group, inside[:, group], outside[:, group]) for group in worst)

    def _sides(
        self, group: int, inside: NDArray[np.int64], outside: NDArray[np.int64]
    ) -> SidesOfGroup:
        base, before, after = (
            (float(inside[row] / inside[0]), float(outside[row] / outside[0])) for row in (1, 2, 3)
        )
        return SidesOfGroup(
            text=self.groups.rule_sets.rule_set(group).text,
            rows=(int(inside[0]), int(outside[0])),
            base_rates=base,
            before=before,
            after=after,
        )


def _effects(
    problem: Problem, groups: ComparedGroups, held_out: _HeldOut, model: FairModel
) -> SideEffects:
    """Return what a model does to all groups of the held-out rows, small ones too."""
    settings, rows = problem.parameters, len(held_out.places)
    fewest = int(np.ceil(settings.min_share * rows))
    return side_effects(
        groups.sums,
        held_out.labels,
        original=held_out.before,
        reference=held_out.before,
        written=model.decisions(held_out.places),
        allowed=settings.max_side_effect,
        allowed_loss=settings.max_group_accuracy_drop / 100,
        confidence=settings.confidence,
        seed=settings.seed,
        worst_among=np.minimum(groups.inside, groups.outside) >= fewest,
    )


@contextmanager
def _timed(seconds: dict[str, float], phase: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    seconds[phase] = time.perf_counter() - started

"""The frontier: from a problem to points, the one that is chosen, and what it does to all groups.

Points are found and chosen by rows that are not held out. Then all of them are measured on the
held-out rows, which is what the picture shows; side effects are looked for by the chosen one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from testsgd.errors import ModelError, ParameterError
from testsgd.mitigation.compared_rates import SELECTION_RATE
from testsgd.mitigation.frontier import SPENT_BY_PLAY
from testsgd.mitigation.frontiers.candidates import (
    Candidate,
    choose_candidate,
    effects_of,
    frontier_of,
)
from testsgd.mitigation.frontiers.ensemble import ensemble_scores
from testsgd.mitigation.frontiers.outcome import (
    Accuracy,
    FrontierOutcome,
    MeasuredPoint,
    SidesOfGroup,
    Worst,
)
from testsgd.mitigation.frontiers.penalising import needs_network, penalty_candidates
from testsgd.mitigation.frontiers.playing import RefittedModel, play_candidates
from testsgd.mitigation.frontiers.problem import AskedModel, Bools, FairModel, Places, Problem
from testsgd.mitigation.frontiers.scored import Scored, cross_fitted_scores, own_scores
from testsgd.mitigation.frontiers.thresholds import threshold_candidates, without_scores
from testsgd.mitigation.side_effects import (
    RateFamily,
    WorstDifference,
    worst_difference,
)
from testsgd.models import PROBE_ROWS, Model
from testsgd.models.network import NetworkModel
from testsgd.models.refitting import Refitter, refitter_for
from testsgd.models.refitting.estimators import EstimatorRefitter
from testsgd.models.refitting.protocol import is_penalised_trainer
from testsgd.progress import Progress, step
from testsgd.scoring import normal_quantile, paired_rates_interval
from testsgd.single_thread import on_one_thread


def run_frontier(
    problem: Problem,
    *,
    writable: bool = False,
    journal: Path | None = None,
    resume: bool = False,
    progress: Progress | None = None,
) -> FrontierOutcome:
    """Find the frontier of a problem by the method that its parameters name.

    With `writable` an error is raised at once if its model could not be written. A play keeps what
    it found in the file `journal`, and with `resume` goes on from there.

    Raises
    ------
    ModelError
        If the method needs what the model has not: scores, or weights in its fit.
    """
    seconds: dict[str, float] = {}
    method, refitter = method_for(problem)
    if writable and refitter is not None:
        refitter.check_writable()

    def advance(phase: str, done: int, total: int) -> None:
        if progress is not None:
            progress(phase, done, total)

    # One thread for each fit: its sums must not depend on how many processors there are.
    with (
        _timed(seconds, "preparing"),
        step(progress, "asking the model"),
        on_one_thread(),
    ):
        base, model = _base(problem, refitter)
        scored = _scored(problem, refitter, model)
    reason, too_few_rows = "", False
    with _timed(seconds, "searching"):
        ceiling = []
        if scored is not None:
            with step(progress, "trying thresholds"):
                ceiling = threshold_candidates(problem, base, model, scored)
        if method == "thresholds":
            if scored is None:
                raise without_scores(problem)
            candidates = ceiling
        elif method == "ensemble":
            with step(progress, "fitting several learners"), on_one_thread():
                learners, means, of_rows = ensemble_scores(problem, refitter)
            with step(progress, "trying their thresholds"):
                candidates = threshold_candidates(problem, learners, means, of_rows)
        elif method == "penalty":
            candidates = penalty_candidates(
                problem, advance=partial(advance, "training with a penalty")
            )
        else:
            assert isinstance(refitter, EstimatorRefitter)
            candidates, searched = play_candidates(
                problem,
                refitter,
                journal=journal,
                resume=resume,
                advance=partial(advance, "playing"),
            )
            reason, too_few_rows = searched.reason, searched.too_few_rows
        tried = len(candidates)
        candidates, ceiling = frontier_of(candidates), frontier_of(ceiling)
    with _timed(seconds, "choosing"), step(progress, "choosing"):
        share = SPENT_BY_PLAY if method == "play" else 1.0
        chosen = choose_candidate(problem, candidates, budget=share * problem.parameters.budget)
    with _timed(seconds, "measuring"), on_one_thread():
        held_out = _HeldOut(problem, base)
        points = []
        advance("measuring", 0, len(candidates))
        for number, candidate in enumerate(candidates, start=1):
            points.append(held_out.point(candidate))
            advance("measuring", number, len(candidates))
        others = [] if method == "thresholds" else [held_out.point(each) for each in ceiling]
        effects = small = worst = neighbourhood = None
        paying: tuple[SidesOfGroup, ...] = ()
        if chosen is not None and len(held_out.rates):
            with step(progress, "measuring side effects"):
                decisions = points[chosen].model.decisions(problem.held_out)
                small = problem.small_groups(problem.held_out)
                effects = effects_of(
                    problem, small, held_out.labels, before=held_out.before, after=decisions
                )
                worst = held_out.worst_change(decisions)
                neighbourhood = held_out.neighbourhood(base, points[chosen].model)
                paying = held_out.paying(decisions)
    if chosen is None and not reason and not len(problem.rates(problem.seen)):
        reason = "no group and its complement have enough of the rows that are not held out"
        too_few_rows = True
    if chosen is None and not reason:
        reason = (
            "no strength lowered the worst difference and kept the accuracy within "
            f"{problem.parameters.max_accuracy_drop:g} points, the balanced accuracy within "
            f"{problem.parameters.max_balanced_drop:g}"
        )
    worst_before = held_out.worst(held_out.before)
    return FrontierOutcome(
        problem=problem,
        method=method,
        kind=_kind(method, refitter),
        tried=tried,
        depth=problem.depth,
        groups=len(held_out.rates),
        before=held_out.accuracy(held_out.before),
        worst_before=worst_before,
        worst_change=None if worst is None else worst.interval,
        constant_accuracy=held_out.constant_accuracy(),
        points=tuple(points),
        chosen=chosen,
        reason="" if chosen is not None else reason,
        too_few_rows=chosen is None and too_few_rows,
        neighbourhood=neighbourhood,
        effects=effects,
        small_groups=small,
        paying=paying,
        ceiling=tuple(others),
        refitted=isinstance(base, RefittedModel),
        seconds=seconds,
    )


def _kind(method: str, refitter: Refitter[Model] | None) -> str:
    """Return what the points of a frontier are made from, in words."""
    if method == "ensemble":
        return "a boosting, a forest and a logistic regression together"
    return "the model's scores" if refitter is None else refitter.kind


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
    network = is_penalised_trainer(refitter)
    plays = isinstance(refitter, EstimatorRefitter) and refitter.takes_weights
    if wanted == "auto":
        wanted = "penalty" if network else "play" if plays else "thresholds"
    if wanted == "play" and not plays:
        raise ModelError(
            "it cannot be fitted again with weights of the rows, which the play needs",
            where=f"model {problem.loaded.model.name!r}",
            remedy="give an estimator whose fit takes sample_weight, or --method thresholds",
        )
    if wanted == "penalty" and not network:
        raise needs_network(problem)
    if problem.parameters.blind and wanted != "play":
        raise ParameterError(
            f"the method {wanted} does not leave the sensitive features out",
            where="blind",
            remedy="leave it out, or use the method play for a model that can be fitted again",
        )
    if problem.parameters.no_rate_lowered and wanted != "thresholds":
        raise ParameterError(
            f"the method {wanted} may lower the rate of some",
            where="no_rate_lowered",
            remedy="leave it out, or use the method thresholds for a model with scores",
        )
    return wanted, refitter


def _base(problem: Problem, refitter: Refitter[Model] | None) -> tuple[FairModel, Model]:
    """Return what others are compared with: the original, or the same fitted anew.

    Where the original may have learnt from the held-out rows and is fitted anew, its accuracy
    there would flatter it.
    """
    original = problem.loaded.model
    if problem.material.split.known or not isinstance(refitter, EstimatorRefitter):
        # Its first answers tell whether they are labels or scores.
        original.decisions(problem.frame(problem.seen[:PROBE_ROWS]))
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
        self.rates = problem.rates(self.places)
        self.before = base.decisions(self.places)

    def accuracy(self, decisions: Bools) -> Accuracy:
        """Return how accurate decisions are, beside those of the original."""
        confidence = self.problem.parameters.confidence
        right, before = decisions == self.labels, self.before == self.labels
        gained, lost = int((right & ~before).sum()), int((before & ~right).sum())
        low, high = paired_rates_interval(lost, gained, len(right), confidence)
        lost_each = before.astype(np.float64) - right
        labels = [label for label in (False, True) if (self.labels == label).any()]
        parts = [lost_each[self.labels == label] for label in labels]
        error = np.sqrt(sum(part.var() / len(part) for part in parts)) / len(parts)
        balanced_drop = float(np.mean([part.mean() for part in parts]))
        reach = float(normal_quantile(confidence) * error)
        return Accuracy(
            accuracy=float(right.mean()),
            balanced=float(np.mean([right[self.labels == label].mean() for label in labels])),
            drop=float(before.mean() - right.mean()),
            drop_interval=(float(low), float(high)),
            balanced_drop=balanced_drop,
            balanced_drop_interval=(balanced_drop - reach, balanced_drop + reach),
        )

    def worst(self, decisions: Bools) -> Worst:
        """Return the worst difference of any group, and whose it is."""
        if not len(self.rates):
            return Worst(difference=0.0, rate="", group="")
        differences = self.rates.differences(decisions)[0]
        index = int(np.abs(differences).argmax())
        rate, group = self.rates.described(index)
        return Worst(difference=float(differences[index]), rate=rate, group=group)

    def worst_change(self, decisions: Bools) -> WorstDifference | None:
        """Return how the worst difference changed, with its interval."""
        families = [
            RateFamily(
                rate.groups.sums,
                rate.groups.counted,
                self.before ^ rate.other_counts,
                decisions ^ rate.other_counts,
                np.arange(len(rate.groups)),
            )
            for rate in self.rates.rates
        ]
        parameters = self.problem.parameters
        return worst_difference(families, confidence=parameters.confidence, seed=parameters.seed)

    def neighbourhood(self, before: FairModel, after: FairModel) -> tuple[float, float] | None:
        """Return the worst difference in selection rate over each row's neighbours.

        Of both models; None if it was not measured.
        """
        if self.problem.parameters.objective != SELECTION_RATE:
            return None
        shares = [self.problem.neighbour_shares(model, self.places) for model in (before, after)]
        known = [each for each in shares if each is not None]
        if len(known) < len(shares):
            return None
        first, last = np.abs(self.rates.differences(np.stack(known))).max(axis=1)
        return float(first), float(last)

    def constant_accuracy(self) -> float:
        """Return the accuracy of the best model that says the same of all."""
        mostly = self.problem.favourable[self.problem.seen].mean() > 0.5
        return float((self.labels == mostly).mean())

    def point(self, candidate: Candidate) -> MeasuredPoint:
        """Fit the model of a candidate and measure it."""
        model = candidate.fit()
        decisions = model.decisions(self.places)
        return MeasuredPoint(
            expected=candidate.point,
            accuracy=self.accuracy(decisions),
            worst=self.worst(decisions),
            model=model,
        )

    def paying(self, decisions: Bools) -> tuple[SidesOfGroup, ...]:
        """Return the rates of the groups that are worst before and after."""
        both = np.abs(self.rates.differences(np.stack([self.before, decisions])))
        return tuple(
            self._sides(index, decisions) for index in dict.fromkeys(both.argmax(axis=1).tolist())
        )

    def _sides(self, index: int, decisions: Bools) -> SidesOfGroup:
        rate, group = self.rates.place(index)
        answers = [
            np.ones(len(decisions), dtype=bool),
            self.labels,
            self.before ^ rate.other_counts,
            decisions ^ rate.other_counts,
        ]
        inside, together = rate.groups.sums(np.stack(answers).astype(np.int64))
        own = inside[:, group]
        others = together[:, group] - own
        base, before, after = (
            (float(own[row] / own[0]), float(others[row] / others[0])) for row in (1, 2, 3)
        )
        return SidesOfGroup(
            text=rate.groups.rule_sets.rule_set(group).text,
            rate=rate.name,
            rows=(int(own[0]), int(others[0])),
            base_rates=base,
            before=before,
            after=after,
        )


@contextmanager
def _timed(seconds: dict[str, float], phase: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    seconds[phase] = time.perf_counter() - started

"""The search: how many samples, and which stage of the retraining.

A candidate is a retrained model. It may lose a little accuracy on the rows that are not held out,
and of those that lose no more than that, the one with the smallest score is chosen. What would have
been chosen with other budgets is kept too, so that ways to choose samples, and other methods, can
be compared at equal accuracy. Held-out rows play no part.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field
from itertools import islice
from typing import Any, Generic, Literal, TypeVar

import numpy as np

from testsgd.mitigation.journal import Journal
from testsgd.mitigation.parameters import RISEN_BY, Dosage, Kind
from testsgd.mitigation.samples import CounterSamples
from testsgd.models import Examples
from testsgd.models.refitting import Trainer

M = TypeVar("M")

# Scores in the same step of this size are taken for equal; drawn ones have about that error.
NEAR = 0.005

# Up to here a difference is as good as none: a change of this size is not even listed.
SMALL = RISEN_BY

# Budgets, in points of accuracy, with which other choices are kept.
CURVE_BUDGETS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)

# This number of steps in a row without a better candidate ends a search for all groups above a
# score.
_PATIENCE = 2


@dataclass(frozen=True)
class Candidate:
    """The figures of a retrained model that the search compares."""

    step: int  # Which number of samples, from 1; 0 without any.
    stage: int  # Which stage of the retraining, from 0.
    name: str  # The stage in words.
    kind: Kind | Literal["none"]  # Which samples; ``"none"`` without any.
    taken: tuple[int, ...]  # Samples taken of each pool.
    weight: float  # How much each counts beside a training row.
    accuracy_drop: float  # Percentage points of accuracy lost, as the judge finds it.
    # Each target's score on the rows that are not held out; NaN if one side has no rows.
    scores: tuple[float, ...]
    allowed: bool  # Whether the accuracy lost is within the budget, and nothing else is against it.
    # Whether something else is: it is one-sided, or loses too much of balanced accuracy.
    refused: bool = False

    @property
    def samples(self) -> int:
        """How many samples were added."""
        return sum(self.taken)

    @property
    def objective(self) -> tuple[float, float]:
        """The largest of the targets' scores, and their sum; the smaller, the better."""
        return objective(self.scores)


@dataclass(frozen=True)
class SearchResult(Generic[M]):
    """The candidates of a search, and the one that it chose, with its model."""

    candidates: tuple[Candidate, ...]
    # The best of those allowed; None if none of them has a smaller score than the original.
    chosen: Candidate | None
    model: M | None
    # Gives the models that would have been chosen with other budgets, in points of accuracy,
    # ascending, without those with which none would have been. Those that the journal alone knows
    # are retrained for it.
    curve: Callable[[], dict[float, M]] = field(default=dict, compare=False)


# What a cross-validation found of a candidate, by its kind of samples, step and stage: the points
# of accuracy lost, the targets' scores, and whether it is refused all the same.
Figures = Mapping[tuple[str, int, int], tuple[float, Sequence[float], bool]]


@dataclass(eq=False)
class Search(Generic[M]):
    """A search over numbers and weights of samples, which keeps the best candidates."""

    # Retrains the original model.
    refitter: Trainer[M]
    # Returns for a model the points of accuracy lost and each target's score.
    evaluator: Callable[[M], tuple[float, Sequence[float]]]
    _: KW_ONLY
    # The budget, in percentage points.
    max_accuracy_drop: float
    # Keeps the candidates' figures under the name; steps that it knows are not done again.
    journal: Journal = field(default_factory=lambda: Journal(None, {}))
    name: str = ""
    # Returns of a model within the budget whether it is not to be taken all the same.
    refuse: Callable[[M], bool] | None = None
    # What a cross-validation found, which then counts in place of the judge; a candidate that is
    # missing from it is not allowed.
    figures: Figures | None = None
    # Called after each step.
    advance: Callable[[], None] | None = None
    # For each budget the best candidate, with its model unless the journal alone knows it.
    _best: dict[float, tuple[Candidate, M | None]] = field(default_factory=dict, init=False)
    _candidates: list[Candidate] = field(default_factory=list, init=False)
    _chosen: Candidate | None = field(default=None, init=False)

    def run(
        self,
        pools: Sequence[CounterSamples],
        dosages: Sequence[Dosage],
        *,
        before: Sequence[float],
        threshold: float | None,
        seed: int,
    ) -> None:
        """Retrain with more and more samples of one kind, and keep the best candidate so far.

        `before` are the original's scores. With a `threshold` only the pools of targets whose score
        is above it get more samples, and the search ends when all scores of the best candidate are
        at most that, or after :data:`_PATIENCE` steps without a better candidate.
        """
        counts = tuple(0 for _ in pools)
        weight = 0.0
        scores: Sequence[float] = before
        steps_without_gain = 0
        for step, dosage in enumerate(dosages, start=1):
            if dosage.weight != 1 and not self.refitter.takes_weights:
                continue
            above_threshold = [
                index
                for index, pool in enumerate(pools)
                if threshold is None or not scores[pool.target] <= threshold
            ]
            available = [pool.available for pool in pools]
            new_counts = share_out(dosage.count - sum(counts), above_threshold, counts, available)
            if not sum(new_counts):
                continue
            # Where there are fewer samples than asked for, they weigh as much as those would.
            new_weight = dosage.weight * max(1.0, dosage.count / sum(new_counts))
            if not self.refitter.takes_weights:
                new_weight = 1.0
            if new_counts == counts and new_weight == weight:
                continue
            counts = new_counts
            weight = new_weight
            candidates = self._step(pools, counts, weight, step=step, seed=seed)
            self._candidates += candidates
            latest = best_of(candidates, ())
            scores = scores if latest is None else latest.scores
            # Of equal ones that of the kind tried first stays.
            compared = candidates if self._chosen is None else [self._chosen, *candidates]
            best = best_of(compared, before)
            steps_without_gain = steps_without_gain + 1 if best is self._chosen else 0
            self._chosen = best
            if self.advance is not None:
                self.advance()
            if self.reached(threshold):
                break
            if (
                threshold is not None
                and self._chosen is not None
                and steps_without_gain >= _PATIENCE
            ):
                break

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """All candidates of the search so far, in order."""
        return tuple(self._candidates)

    def reached(self, threshold: float | None) -> bool:
        """Return whether the best candidate's scores are all no larger than a threshold."""
        if threshold is None or self._chosen is None:
            return False
        return worst_of(self._chosen.scores) <= threshold

    def result(
        self, pools: Mapping[str, Sequence[CounterSamples]], *, seed: int
    ) -> SearchResult[M]:
        """Return the candidates so far and the chosen one, with its model."""
        chosen = self._chosen
        models = [(item, model) for item, model in self._best.values() if model is not None]

        def model_of(candidate: Candidate) -> M:
            for item, model in models:
                if item == candidate:
                    return model
            model = self._model(candidate, pools[candidate.kind], seed)
            models.append((candidate, model))
            return model

        def curve() -> dict[float, M]:
            return {
                budget: model_of(candidate)
                for budget, (candidate, _) in sorted(self._best.items())
                if budget in CURVE_BUDGETS
            }

        model = None if chosen is None else model_of(chosen)
        return SearchResult(tuple(self._candidates), chosen, model, curve)

    def only(self, refitters: Sequence[Trainer[M]], *, seed: int) -> SearchResult[M]:
        """Return the result of retraining without samples; each refitter is a step."""
        for step, refitter in enumerate(refitters):
            stages = refitter.refit(None, seed=seed)
            self._candidates += self._judged(stages, step, "none", (), 1.0)
        self._chosen = best_of(self._candidates, ())
        return self.result({}, seed=seed)

    def _step(
        self,
        pools: Sequence[CounterSamples],
        counts: tuple[int, ...],
        weight: float,
        *,
        step: int,
        seed: int,
    ) -> list[Candidate]:
        """Return the candidates of one retraining, from the journal if it has them."""
        kind = pools[0].kind
        name = f"{self.name}, {kind}, step {step}"
        known = self.journal.get(name)
        if known is not None:
            candidates = [
                Candidate(**{field_name: _tuples(value) for field_name, value in fields.items()})
                for fields in known
            ]
            for candidate in candidates:
                self._keep(candidate, None)
            return candidates
        extra = added(pools, counts, weight)
        stages = self.refitter.refit(extra, seed=step_seed(seed, step))
        candidates = self._judged(stages, step, kind, counts, weight)
        self.journal.keep(name, [asdict(candidate) for candidate in candidates])
        return candidates

    def _judged(
        self,
        stages: Any,
        step: int,
        kind: Kind | Literal["none"],
        counts: tuple[int, ...],
        weight: float,
    ) -> list[Candidate]:
        """Return one candidate for each stage of a retraining, judged; keep the best models."""
        candidates = []
        for index, stage in enumerate(stages):
            scores: Sequence[float]
            if self.figures is None:
                drop, scores = self.evaluator(stage.model)
                refused = False
            elif (kind, step, index) in self.figures:
                drop, scores, refused = self.figures[kind, step, index]
            else:
                drop = math.nan
                scores = [math.nan]
                refused = True
            # With figures too: they say nothing of the training rows of the whole.
            refused = refused or (self.refuse is not None and self.refuse(stage.model))
            candidate = Candidate(
                step=step,
                stage=index,
                name=stage.name,
                kind=kind,
                taken=counts,
                weight=weight,
                accuracy_drop=drop,
                scores=tuple(float(score) for score in scores),
                # What is above the budget by a rounding error is within it.
                allowed=drop <= self.max_accuracy_drop + 1e-9 and not refused,
                refused=refused,
            )
            candidates.append(candidate)
            self._keep(candidate, stage.model)
        return candidates

    def _keep(self, candidate: Candidate, model: M | None) -> None:
        """Keep a candidate for each budget within which it is the best so far."""
        if candidate.refused:
            return
        for budget in {self.max_accuracy_drop, *CURVE_BUDGETS}:
            best = self._best.get(budget)
            if candidate.accuracy_drop <= budget + 1e-9 and (
                best is None or _order(candidate) < _order(best[0])
            ):
                self._best[budget] = candidate, model

    def _model(self, chosen: Candidate, pools: Sequence[CounterSamples], seed: int) -> M:
        """Retrain a candidate that is known from the journal only."""
        extra = added(pools, chosen.taken, chosen.weight)
        stages = self.refitter.refit(extra, seed=step_seed(seed, chosen.step))
        return next(islice(stages, chosen.stage, None)).model


def best_of(candidates: Sequence[Candidate], before: Sequence[float]) -> Candidate | None:
    """Return the allowed candidate with the smallest scores, if they are below those before.

    Candidates are compared by their worst score in steps of :data:`NEAR`, all up to :data:`SMALL`
    being equal, then by accuracy: what makes no difference is not paid for.
    """
    limit = objective(before) if before else (math.inf, math.inf)
    better = [item for item in candidates if item.allowed and item.objective < limit]
    return min(better, key=_order, default=None)


def objective(scores: Sequence[float]) -> tuple[float, float]:
    """Return the largest score that is known and the sum of all; infinite if none is known."""
    known = [score for score in scores if not math.isnan(score)]
    return (max(known), math.fsum(known)) if known else (math.inf, math.inf)


def worst_of(scores: Sequence[float]) -> float:
    """Return the largest score that is known; infinite if none is."""
    return objective(scores)[0]


def share_out(
    further: int, wanted_from: Sequence[int], counts: Sequence[int], available: Sequence[int]
) -> tuple[int, ...]:
    """Return how many samples each pool gives when `further` ones are shared among some pools.

    The pools with the indices `wanted_from` give one sample at a time in turn, until `further` are
    given or these pools are used up. `counts` is how many each pool gives already, `available` how
    many it has; both have one number for each pool, as the result has.
    """
    shared = list(counts)
    open_pools = [index for index in wanted_from if shared[index] < available[index]]
    while further > 0 and open_pools:
        # Whole rounds at once: every open pool can give at least this much.
        least_left = min(available[index] - shared[index] for index in open_pools)
        each = max(1, min(further // len(open_pools), least_left))
        for index in open_pools[: further if each == 1 else None]:
            shared[index] += each
            further -= each
        open_pools = [index for index in open_pools if shared[index] < available[index]]
    return tuple(shared)


def step_seed(seed: int, step: int) -> int:
    """Return the seed of one retraining."""
    return int(np.random.SeedSequence([seed, step]).generate_state(1)[0])


def added(
    pools: Sequence[CounterSamples], counts: Sequence[int], weight: float = 1.0
) -> Examples | None:
    """Return the first samples of each pool as one set of examples; None if there are none.

    `counts` has how many of each pool; their own weights are multiplied by `weight`.
    """
    joined: Examples | None = None
    for pool, count in zip(pools, counts, strict=True):
        if count == 0:
            continue
        samples = pool.take(count)
        weights = samples.weights
        if weight != 1:
            weights = weight * (np.ones(len(samples)) if weights is None else weights)
        examples = Examples(samples.inputs, samples.carried, weights, samples.targets)
        joined = examples if joined is None else joined.join(examples)
    return joined


def _tuples(value: Any) -> Any:
    """Return a list of a journal as the tuple that it was."""
    return tuple(value) if isinstance(value, list) else value


def _order(candidate: Candidate) -> tuple[float, ...]:
    """Return a sort key, the better candidate first; see :func:`best_of`."""
    worst, total = candidate.objective
    near = 0 if worst <= SMALL else math.floor(worst / NEAR) if math.isfinite(worst) else worst
    return near, candidate.accuracy_drop, worst, total, candidate.step, candidate.stage

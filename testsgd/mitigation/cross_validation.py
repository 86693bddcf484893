"""Judging candidates by repeated cross-validation, where one validation part is too small.

Everything is done again on a part of the rows that are not held out: the model is trained anew,
samples are drawn for it, it is retrained with more and more of them, and each stage is judged on
the rows left out. So no candidate has learnt a row that judges it. Each row judges every candidate
as often as there are repetitions; the candidates of the model itself are then chosen by these
figures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import Estimates
from testsgd.errors import DataError
from testsgd.mitigation.candidate_evaluation import DecisionCounts
from testsgd.mitigation.data_splits import CANDIDATE_QUERIES, DataSplit, Places
from testsgd.mitigation.journal import Journal
from testsgd.mitigation.parameters import MitigationParameters
from testsgd.mitigation.search import Search
from testsgd.mitigation.table_splits import TableMaterial
from testsgd.models import Examples, LoadedModel, Refitter, Split

FOLDS = 5
REPEATS = 3

# A tenth of the rows fitted ends the training of the model that stands in for the original.
_STOPPING = 0.1

# From a model, its training rows and those that end a training; the last says whether it begins
# with new weights.
Build = Callable[[LoadedModel[Any], Examples, Examples, bool], Refitter[Any]]

Key = tuple[str, int, int]
# For each target the favourable answers and all, inside and outside.
_Tallies = NDArray[np.float64]


@dataclass(frozen=True)
class CrossValidation:
    """The figures of each candidate on rows that it was not fitted to."""

    # By kind of samples, step and stage: the points of accuracy lost, the targets' scores, and
    # whether the candidate is refused all the same. As :class:`testsgd.mitigation.search.Search`
    # wants it.
    figures: dict[Key, tuple[float, Sequence[float], bool]]
    # The targets' scores of the models that stand in for the original.
    before: list[float]


def cross_validate(
    original: LoadedModel[Any],
    material: TableMaterial,
    parameters: MitigationParameters,
    build: Build,
    *,
    journal: Journal,
    advance: Callable[[int, int], None] | None = None,
) -> CrossValidation:
    """Return the figures of all candidates from repeated cross-validation on the seen rows."""
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    seen = material.seen
    labels = material.favourable
    units = material.table.clusters
    splitter = StratifiedKFold if units is None else StratifiedGroupKFold
    total = FOLDS * REPEATS
    counts: dict[Key, list[DecisionCounts]] = {}
    tallies: dict[Key, list[_Tallies]] = {}
    done = 0
    if advance is not None:
        advance(done, total)
    for repeat in range(REPEATS):
        folds = splitter(FOLDS, shuffle=True, random_state=parameters.seed + repeat)
        for fitted, left in folds.split(seen, labels[seen], None if units is None else units[seen]):
            name = f"cross-validation, fold {done + 1}"
            judged = journal.get(name)
            if judged is None:
                judged = _fold(
                    original, material, parameters, build, seen[fitted], seen[left], done
                )
                journal.keep(name, judged)
            for kind, step, stage, decided, answers in judged:
                key = (kind, step, stage)
                counts.setdefault(key, []).append(DecisionCounts(tuple(decided)))
                tallies.setdefault(key, []).append(np.array(answers))
            done += 1
            if advance is not None:
                advance(done, total)
    figures: dict[Key, tuple[float, Sequence[float], bool]] = {}
    before: list[float] = []
    for key, fold_counts in counts.items():
        if len(fold_counts) < total:
            continue
        whole = sum(fold_counts[1:], fold_counts[0])
        scores = _scores(np.sum(tallies[key], axis=0))
        if key == _BEFORE:
            before = scores
            continue
        above_budget = whole.balanced_drop > parameters.max_balanced_drop + 1e-9
        figures[key] = (whole.accuracy_drop, scores, whole.one_sided or above_budget)
    return CrossValidation(figures, before)


# Under this key stands the model in the original's place.
_BEFORE: Key = ("none", 0, -1)


def _fold(
    original: LoadedModel[Any],
    material: TableMaterial,
    parameters: MitigationParameters,
    build: Build,
    fitted: Places,
    left: Places,
    number: int,
) -> list[tuple[str, int, int, list[int], list[list[float]]]]:
    """Return each stage of a mitigation of the `fitted` rows, judged on those left out.

    Each has its key, its counts of decisions, and its tallies; the first is the model in the
    original's place.
    """
    split = DataSplit(
        Split(np.sort(fitted), np.sort(left), material.split.parts.test), "a fold", known=True
    )
    fold = TableMaterial(
        material.table, material.favourable, split, material.targets, material.audit_parameters
    )
    seed = parameters.seed + number
    stand_in = replace(
        original, model=_stand_in(original, fold, build, seed), file_sha256=None, card={}
    )
    before = fold.decisions(stand_in.model, left)
    measure = fold.rates(left, max_queries=CANDIDATE_QUERIES)
    labels = material.favourable[left]
    seen: list[tuple[DecisionCounts, _Tallies]] = []

    def evaluator(model: Any) -> tuple[float, Sequence[float]]:
        after = fold.decisions(model, left)
        tallies = _tallies(measure(model))
        counts = DecisionCounts.of(before, after, labels)
        seen.append((counts, tallies))
        return counts.accuracy_drop, _scores(tallies)

    _, scores = evaluator(stand_in.model)
    keys: list[Key] = [_BEFORE]
    soft = fold.soft_targets(split.parts.train) if parameters.soften else None
    training = replace(fold.examples(split.parts.train), targets=soft)
    refitter = build(stand_in, training, fold.examples(left), parameters.from_scratch)
    dosages = parameters.dosages(fold.training_size)
    gaps = fold.measure(fold.seen, max_queries=CANDIDATE_QUERIES)(stand_in.model).score.tolist()
    for kind in material.wanted_kinds(parameters):
        # Every candidate is judged: what is allowed is decided when all folds are known.
        search = Search(refitter, evaluator, max_accuracy_drop=100)
        try:
            pools = fold.pools(
                stand_in.model,
                parameters,
                kind=kind,
                gaps=gaps,
                run=number + 1,
                wanted=dosages[-1].count,
            )
        except DataError:
            continue
        wanted = fold.wanted_dosages(parameters, kind)
        search.run(pools, wanted, before=scores, threshold=None, seed=seed)
        keys += [(item.kind, item.step, item.stage) for item in search.candidates]
    return [
        (*key, list(counts.cells), tallies.tolist())
        for key, (counts, tallies) in zip(keys, seen, strict=True)
    ]


def _stand_in(original: LoadedModel[Any], fold: TableMaterial, build: Build, seed: int) -> Any:
    """Return a model like the original, trained on the rows of a fold."""
    from sklearn.model_selection import train_test_split

    training = fold.split.parts.train
    labels = fold.favourable[training]
    fitted, stopping = train_test_split(
        training, test_size=_STOPPING, stratify=labels, random_state=seed
    )
    if not build(original, fold.examples(training), fold.examples(stopping), False).goes_on:
        # What is fitted anew needs no rows to end it.
        fitted = training
    refitter = build(original, fold.examples(fitted), fold.examples(stopping), True)
    stages = list(refitter.refit(None, seed=seed))
    right = [fold.accuracy(stage.model, stopping) for stage in stages]
    return stages[int(np.argmax(right))].model


def _tallies(estimates: Estimates) -> _Tallies:
    """Return favourable answers and all, inside and outside each target, shape (4, targets)."""
    inside = estimates.favourable_in, estimates.samples_in
    outside = estimates.favourable_out, estimates.samples_out
    return np.array([*inside, *outside], dtype=np.float64)


def _scores(tallies: _Tallies) -> list[float]:
    """Return the size of each target's difference; NaN where one side has no rows."""
    favourable_in, all_in, favourable_out, all_out = tallies
    with np.errstate(invalid="ignore", divide="ignore"):
        scores: list[float] = np.abs(favourable_in / all_in - favourable_out / all_out).tolist()
    return scores

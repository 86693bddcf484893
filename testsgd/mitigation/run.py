"""The mitigation: from a model and the targets of its audit to a better model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from testsgd.auditing import Findings, Progress, compare_audits
from testsgd.errors import DataError
from testsgd.mitigation.alternatives import CurveMeasure, Setting, try_alternatives
from testsgd.mitigation.candidate_evaluation import (
    Evaluator,
    Written,
    compare_written,
    shared_confidence,
)
from testsgd.mitigation.control_effects import ControlChanges, shared_control_confidence
from testsgd.mitigation.cross_validation import Build, CrossValidation, cross_validate
from testsgd.mitigation.data_splits import CANDIDATE_QUERIES, Material
from testsgd.mitigation.journal import Journal
from testsgd.mitigation.outcome import Alternative, MitigationOutcome, RunOutcome, Standing
from testsgd.mitigation.parameters import RISEN_BY, MitigationParameters
from testsgd.mitigation.samples import CounterSamples
from testsgd.mitigation.search import Search, SearchResult, worst_of
from testsgd.mitigation.side_effects import SideEffects, side_effects
from testsgd.mitigation.table_splits import TableMaterial
from testsgd.models import LoadedModel, Refitter
from testsgd.models.refitting import Trainer
from testsgd.models.refitting.estimators import EstimatorRefitter
from testsgd.models.refitting.networks import NetworkRefitter


@dataclass(frozen=True)
class Work:
    """What every run of a mitigation has in common."""

    original: LoadedModel[Any]
    refitter: Trainer[Any]
    material: Material
    parameters: MitigationParameters
    evaluator: Evaluator


@dataclass(frozen=True)
class _Found:
    """What a run found before the held-out rows are looked at."""

    run: int
    seed: int
    pools: dict[str, tuple[CounterSamples, ...]]
    result: SearchResult[Any]
    seconds: float


def run_mitigation(
    original: LoadedModel[Any],
    refitter: Refitter[Any],
    material: Material,
    before: Findings,
    parameters: MitigationParameters,
    *,
    build: Build | None = None,
    compare: Sequence[str] = (),
    journal: Journal | None = None,
    progress: Progress | None = None,
) -> MitigationOutcome:
    """Retrain a model until it treats the targets of its audit `before` more alike.

    `build` makes other refitters of the same kind: with it small tables are judged by repeated
    cross-validation, and other methods, named by `compare`, can be tried. Raises a
    :class:`DataError` if a target has no training rows from which samples could be made, a
    :class:`ModelError` if a retraining raises (Zhang et al., TestSGD, RQ3 and Table 7).
    """
    journal = Journal(None, {}) if journal is None else journal
    seconds: dict[str, float] = {}
    with _timed(seconds, "preparing"):
        reference = reference_model(original, refitter, material, parameters)
        evaluator = Evaluator(
            original.model,
            material,
            parameters.max_accuracy_drop,
            max_balanced_drop=parameters.max_balanced_drop,
            reference=reference,
        )
    validated: CrossValidation | None = None
    # What stands in for the original in a fold must be what its retraining begins with.
    again = isinstance(refitter, (NetworkRefitter, EstimatorRefitter))
    few = evaluator.by_probabilities and again
    if few and build is not None and isinstance(material, TableMaterial):
        with _timed(seconds, "cross-validation"):
            validated = cross_validate(
                original,
                material,
                parameters,
                build,
                journal=journal,
                advance=None if progress is None else partial(progress, "cross-validation"),
            )
    kinds = material.wanted_kinds(parameters)
    steps = sum(len(material.wanted_dosages(parameters, kind)) for kind in kinds)
    total, done = parameters.runs * steps, 0

    def advance(by: int = 1) -> None:
        nonlocal done
        done = min(done + by, total)
        if progress is not None:
            progress("retraining", done, total)

    with _timed(seconds, "retraining"):
        work, searches = Work(original, refitter, material, parameters, evaluator), []
        for run in range(1, parameters.runs + 1):
            searches.append(_search(work, run, journal, advance, validated))
            # Steps that were not needed are done too.
            advance(run * steps - done)

    # From here on no candidate is chosen any more: the held-out rows may be looked at. They may say
    # of a run's model that it does not keep the guard; then the next is looked at. As many queries
    # as an audit may make, so that the figures are the audits'.
    allowed = before.parameters.budget(CANDIDATE_QUERIES)
    with _timed(seconds, "audits after"):
        stand = _stand(material, allowed)
        standing = stand(original.model)
        if reference is not original.model:
            standing = replace(
                stand(reference), everywhere=standing.everywhere, held_out=standing.held_out
            )
        runs = tuple(
            _outcome(original, before, standing, stand, material, found) for found in searches
        )
        held_out = material.split.parts.test
        held_out_before = held_out_after = material.audit(original, held_out)
        judging = _Judging(work, reference, held_out_before, allowed, validation=validated is None)
        judged = judging.first_that_keeps(_by_score(runs))
        kept = written = effects = None
        if judged is not None:
            kept, written, effects = judged.run, judged.written, judged.side_effects
            held_out_after = material.audit(kept.model, held_out)
        controls = _control_changes(original, kept, written, material, allowed)
        shown = searches[0 if kept is None else kept.run - 1].result
        measure = CurveMeasure(reference, material, material.rates(held_out, max_queries=allowed))
        curve = measure.single(shown.curve())

    alternatives: tuple[Alternative, ...] = ()
    if compare and build is not None:
        with _timed(seconds, "other methods"):
            setting = Setting(original, material, evaluator, stand, parameters, build, measure)
            alternatives = try_alternatives(compare, setting, progress=progress)
    return MitigationOutcome(
        parameters=parameters,
        material=material,
        original=original,
        before=before,
        standing=standing,
        before_choice=tuple(evaluator.before_scores if validated is None else validated.before),
        evaluated_by=evaluator.judged_by if validated is None else "cross-validation",
        refitter=refitter,
        runs=runs,
        kept=kept,
        everywhere=runs[0].audit if kept is None else kept.audit,
        held_out=compare_audits(held_out_before, held_out_after, least_increase=RISEN_BY),
        written=written,
        side_effects=effects,
        controls=controls,
        curve=curve,
        alternatives=alternatives,
        seconds=seconds,
    )


def _control_changes(
    original: LoadedModel[Any],
    kept: RunOutcome | None,
    written: Written | None,
    material: Material,
    max_queries: int,
) -> ControlChanges | None:
    """Measure control effects on the held-out texts; None if they could not be measured."""
    measure = material.control_measure(material.split.parts.test, max_queries=max_queries)
    if measure is None:
        return None
    before = measure(original.model)
    confidence = material.audit_parameters.confidence
    if written is not None:
        confidence = shared_confidence(confidence, written.looked)
    return ControlChanges(
        before=before,
        after=None if kept is None else measure(kept.model.model),
        confidence=shared_control_confidence(confidence, before),
    )


@contextmanager
def _timed(seconds: dict[str, float], phase: str) -> Iterator[None]:
    """Note how many seconds a block takes."""
    started = time.perf_counter()
    yield
    seconds[phase] = time.perf_counter() - started


def reference_model(
    original: LoadedModel[Any],
    refitter: Refitter[Any],
    material: Material,
    parameters: MitigationParameters,
) -> Any:
    """Return the model whose accuracy is not to be lost.

    It is the original; but where that may have learnt from the rows that it is judged on, and is
    fitted anew anyway, the same fitted to the training rows alone.
    """
    if material.split.known or refitter.goes_on:
        return original.model
    stages = list(refitter.refit(None, seed=run_seed(parameters, 1)))
    return stages[-1].model


def search_once(work: Work) -> SearchResult[Any]:
    """Do one run up to the choice of a candidate, and look at no held-out rows."""
    return _search(work, 1, Journal(None, {}), lambda: None).result


def _search(
    work: Work,
    run: int,
    journal: Journal,
    advance: Callable[[], None],
    validated: CrossValidation | None = None,
) -> _Found:
    """Do one run up to the choice: one kind of samples after the other."""
    material, parameters, evaluator = work.material, work.parameters, work.evaluator
    started, seed = time.perf_counter(), run_seed(parameters, run)
    dosages = parameters.dosages(material.training_size)
    before = evaluator.before_scores if validated is None else validated.before
    search = Search(
        work.refitter,
        evaluator,
        refuse=evaluator.refuses if validated is None else evaluator.refuses_trained,
        figures=None if validated is None else validated.figures,
        max_accuracy_drop=parameters.max_accuracy_drop,
        journal=journal,
        name=f"run {run}",
        advance=advance,
    )
    pools: dict[str, tuple[CounterSamples, ...]] = {}
    missing: DataError | None = None
    for kind in material.wanted_kinds(parameters):
        try:
            pools[kind] = tuple(
                pool
                for make in (material.pools, material.control_pools)
                for pool in make(
                    work.original.model,
                    parameters,
                    kind=kind,
                    gaps=evaluator.gaps,
                    run=run,
                    wanted=dosages[-1].count,
                )
            )
        except DataError as error:
            missing = error
            continue
        search.run(
            pools[kind],
            material.wanted_dosages(parameters, kind),
            before=before,
            threshold=parameters.all_above,
            seed=seed,
        )
        if search.reached(parameters.all_above):
            break
    if not pools and missing is not None:
        raise missing
    result = search.result(pools, seed=seed)
    return _Found(run, seed, pools, result, time.perf_counter() - started)


def run_seed(parameters: MitigationParameters, run: int) -> int:
    """Return the seed of a run's retrainings."""
    return parameters.seed + run - 1


def _stand(material: Material, max_queries: int) -> Callable[[Any], Standing]:
    """Return what finds out how any model does."""
    test = material.split.parts.test
    labels = material.favourable[test]
    everywhere = material.rates(material.audited, max_queries=max_queries)
    held_out = material.rates(test, max_queries=max_queries)

    def stand(model: Any) -> Standing:
        decisions = material.decisions(model, test)
        right = decisions == labels
        return Standing(
            accuracy=float(right.mean()),
            balanced_accuracy=float(
                np.mean([right[labels == label].mean() for label in np.unique(labels)])
            ),
            favourable_share=float(decisions.mean()),
            everywhere=everywhere(model),
            held_out=held_out(model),
        )

    return stand


def _outcome(
    original: LoadedModel[Any],
    before: Findings,
    standing: Standing,
    stand: Callable[[Any], Standing],
    material: Material,
    found: _Found,
) -> RunOutcome:
    """Measure and audit what a run chose."""
    result = found.result
    # A run without a candidate changes nothing.
    model, after = original, before
    if result.model is not None:
        model = replace(original, model=result.model, file_sha256=None, card={})
        standing, after = stand(result.model), material.audit(model, material.audited)
    return RunOutcome(
        run=found.run,
        seed=found.seed,
        pools=found.pools,
        candidates=result.candidates,
        chosen=result.chosen,
        model=model,
        standing=standing,
        audit=compare_audits(before, after, least_increase=RISEN_BY),
        seconds=found.seconds,
    )


def _by_score(runs: Sequence[RunOutcome]) -> list[RunOutcome]:
    """Sort the runs that chose a candidate, by the worst score on the rows not held out."""
    better = [(worst_of(run.chosen.scores), run) for run in runs if run.chosen is not None]
    return [run for _, run in sorted(better, key=lambda pair: pair[0])]


@dataclass(frozen=True)
class _Judged:
    """A run's model, looked at on the held-out rows."""

    run: RunOutcome
    written: Written
    side_effects: SideEffects


@dataclass(frozen=True)
class _Judging:
    """Looks at models on the held-out rows, one after the other."""

    work: Work
    reference: Any  # The model whose accuracy is not to be lost.
    before: Findings  # The original model's audit of the held-out rows.
    max_queries: int
    _: KW_ONLY
    validation: bool  # Whether the validation rows are enough to judge by.

    def first_that_keeps(self, runs: Sequence[RunOutcome]) -> _Judged | None:
        """Find the first run whose model keeps the guard there.

        If none does, the first that keeps the budgets of accuracy; if none does that, the first.
        """
        looked = list[_Judged]()
        for run in runs:
            judged = self._judge(run, len(looked) + 1)
            looked.append(judged)
            if self._within(judged) and not judged.side_effects.harmful:
                return judged
        return next(filter(self._within, looked), looked[0] if looked else None)

    def _judge(self, run: RunOutcome, looked: int) -> _Judged:
        material, original, model = self.work.material, self.work.original.model, run.model.model
        held_out = material.split.parts.test
        written = compare_written(
            original, self.reference, model, material, max_queries=self.max_queries, looked=looked
        )
        effects = side_effects(
            material.group_sums(self.before, held_out),
            material.favourable[held_out],
            original=material.decisions(original, held_out),
            reference=material.decisions(self.reference, held_out),
            written=material.decisions(model, held_out),
            allowed=self.work.parameters.max_side_effect,
            allowed_loss=self.work.parameters.max_group_accuracy_drop / 100,
            confidence=material.audit_parameters.confidence,
            seed=self.work.parameters.seed,
        )
        return _Judged(run, written, effects)

    def _within(self, judged: _Judged) -> bool:
        """Return whether a model keeps the budgets of accuracy, and is not one-sided."""
        parameters = self.work.parameters
        return judged.written.keeps(
            max_accuracy_drop=parameters.max_accuracy_drop,
            max_balanced_drop=parameters.max_balanced_drop,
            validation=self.validation,
        )

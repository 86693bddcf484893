"""The mitigation: from a model and the targets of its audit to a better model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from testsgd.auditing import Findings, compare_audits
from testsgd.errors import DataError
from testsgd.mitigation.alternatives import CurveMeasure, MethodSetup, try_alternatives
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
from testsgd.mitigation.outcome import Alternative, MitigationOutcome, Performance, RunOutcome
from testsgd.mitigation.parameters import RISEN_BY, MitigationParameters
from testsgd.mitigation.samples import CounterSamples
from testsgd.mitigation.search import Search, SearchResult, worst_of
from testsgd.mitigation.side_effects import SideEffects, side_effects
from testsgd.mitigation.table_splits import TableMaterial
from testsgd.models import LoadedModel, Refitter
from testsgd.models.refitting import Trainer
from testsgd.models.refitting.estimators import EstimatorRefitter
from testsgd.models.refitting.networks import NetworkRefitter
from testsgd.progress import Progress, step


@dataclass(frozen=True)
class RunSetup:
    """The model, data, settings and judge that all runs of a mitigation share."""

    original: LoadedModel[Any]
    refitter: Trainer[Any]
    material: Material
    parameters: MitigationParameters
    evaluator: Evaluator


@dataclass(frozen=True)
class _SearchedRun:
    """The samples and candidates of one run, before the held-out rows are looked at."""

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
    """Retrain a model to lower its differences between the targets of the audit `before`.

    `build` makes other refitters of the same kind: with it small tables are judged by repeated
    cross-validation, and other methods, named by `compare`, can be tried. Raises a
    :class:`DataError` if a target has no training rows from which samples could be made, a
    :class:`ModelError` if a retraining raises (Zhang et al., TestSGD, RQ3 and Table 7).
    """
    journal = Journal(None, {}) if journal is None else journal
    seconds: dict[str, float] = {}
    with _timed(seconds, "preparing"), step(progress, "preparing the retraining"):
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
    trained_anew = isinstance(refitter, (NetworkRefitter, EstimatorRefitter))
    if (
        evaluator.by_probabilities
        and trained_anew
        and build is not None
        and isinstance(material, TableMaterial)
    ):
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
    total = parameters.runs * steps
    done = 0

    def advance(by: int = 1) -> None:
        nonlocal done
        done = min(done + by, total)
        if progress is not None:
            progress("retraining", done, total)

    advance(0)
    with _timed(seconds, "retraining"):
        setup = RunSetup(
            original=original,
            refitter=refitter,
            material=material,
            parameters=parameters,
            evaluator=evaluator,
        )
        searches: list[_SearchedRun] = []
        for run in range(1, parameters.runs + 1):
            searches.append(_search(setup, run, journal, advance, validated))
            # Steps that were not needed are done too.
            advance(run * steps - done)

    # From here on no candidate is chosen any more: the held-out rows may be looked at. They may say
    # of a run's model that it does not keep the guard; then the next is looked at. As many queries
    # as an audit may make, so that the figures are the audits'.
    allowed = before.parameters.budget(CANDIDATE_QUERIES)
    with _timed(seconds, "audits after"), step(progress, "auditing the retrained models"):
        performance_of = _performance_measure(material, allowed)
        performance = given = performance_of(original.model)
        fitted_anew: Performance | None = None
        if reference is not original.model:
            fitted_anew = performance_of(reference)
            performance = replace(fitted_anew, everywhere=given.everywhere, held_out=given.held_out)
        runs = tuple(
            _outcome(original, before, performance, performance_of, material, searched)
            for searched in searches
        )
        held_out = material.split.parts.test
        held_out_before = material.audit(original, held_out)
        held_out_after = held_out_before
        judge = _HeldOutJudge(
            setup, reference, held_out_before, allowed, validation=validated is None
        )
        judged = judge.first_that_keeps(_by_score(runs))
        kept: RunOutcome | None = None
        written: Written | None = None
        effects: SideEffects | None = None
        if judged is not None:
            kept = judged.run
            written = judged.written
            effects = judged.side_effects
            held_out_after = material.audit(kept.model, held_out)
        fitted_anew_audit: Findings | None = None
        if fitted_anew is not None and not isinstance(material, TableMaterial):
            # What terms change by themselves is known of audits alone.
            anew = replace(original, model=reference, file_sha256=None, card={})
            fitted_anew_audit = material.audit(anew, held_out)
        controls = _control_changes(original, kept, written, material, allowed)
        shown = searches[0 if kept is None else kept.run - 1].result
        measure = CurveMeasure(reference, material, material.rates(held_out, max_queries=allowed))
        curve = measure.single(shown.curve())

    alternatives: tuple[Alternative, ...] = ()
    if compare and build is not None:
        with _timed(seconds, "other methods"):
            methods = MethodSetup(
                original=original,
                material=material,
                evaluator=evaluator,
                performance_of=performance_of,
                parameters=parameters,
                build=build,
                measure=measure,
            )
            alternatives = try_alternatives(compare, methods, progress=progress)
    return MitigationOutcome(
        parameters=parameters,
        material=material,
        original=original,
        before=before,
        standing=performance,
        given=given,
        fitted_anew=fitted_anew,
        fitted_anew_audit=fitted_anew_audit,
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
    """Measure how many seconds a block takes, and put them into `seconds` under the phase."""
    started = time.perf_counter()
    yield
    seconds[phase] = time.perf_counter() - started


def reference_model(
    original: LoadedModel[Any],
    refitter: Refitter[Any],
    material: Material,
    parameters: MitigationParameters,
) -> Any:
    """Return the model that losses of accuracy are measured against.

    It is the original. But the original may have learnt from the rows that it is judged on. If that
    is so, and its kind is fitted anew anyway, it is the original fitted to the training rows alone.
    """
    if material.split.known or refitter.goes_on:
        return original.model
    stages = list(refitter.refit(None, seed=run_seed(parameters, 1)))
    return stages[-1].model


def search_once(setup: RunSetup) -> SearchResult[Any]:
    """Return the candidates and the choice of one run, which looks at no held-out rows."""
    return _search(setup, 1, Journal(None, {}), lambda: None).result


def _search(
    setup: RunSetup,
    run: int,
    journal: Journal,
    advance: Callable[[], None],
    validated: CrossValidation | None = None,
) -> _SearchedRun:
    """Try one kind of samples after the other, and return the candidates and the choice."""
    material = setup.material
    parameters = setup.parameters
    evaluator = setup.evaluator
    started = time.perf_counter()
    seed = run_seed(parameters, run)
    dosages = parameters.dosages(material.training_size)
    before = evaluator.before_scores if validated is None else validated.before
    search = Search(
        setup.refitter,
        evaluator,
        refuse=evaluator.refuses if validated is None else evaluator.refuses_on_training_rows,
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
                for draw_pools in (material.pools, material.control_pools)
                for pool in draw_pools(
                    setup.original.model,
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
    return _SearchedRun(
        run=run,
        seed=seed,
        pools=pools,
        result=result,
        seconds=time.perf_counter() - started,
    )


def run_seed(parameters: MitigationParameters, run: int) -> int:
    """Return the seed of a run's retrainings."""
    return parameters.seed + run - 1


def _performance_measure(material: Material, max_queries: int) -> Callable[[Any], Performance]:
    """Return a function that measures a model's accuracy and its rates of the targets."""
    test = material.split.parts.test
    labels = material.favourable[test]
    everywhere = material.rates(material.audited, max_queries=max_queries)
    held_out = material.rates(test, max_queries=max_queries)

    def performance_of(model: Any) -> Performance:
        decisions = material.decisions(model, test)
        right = decisions == labels
        return Performance(
            accuracy=float(right.mean()),
            balanced_accuracy=float(
                np.mean([right[labels == label].mean() for label in np.unique(labels)])
            ),
            favourable_share=float(decisions.mean()),
            everywhere=everywhere(model),
            held_out=held_out(model),
        )

    return performance_of


def _outcome(
    original: LoadedModel[Any],
    before: Findings,
    performance: Performance,
    performance_of: Callable[[Any], Performance],
    material: Material,
    searched: _SearchedRun,
) -> RunOutcome:
    """Measure and audit the model that a run chose; `performance` is the original's."""
    result = searched.result
    # A run without a candidate changes nothing.
    model = original
    after = before
    if result.model is not None:
        model = replace(original, model=result.model, file_sha256=None, card={})
        performance = performance_of(result.model)
        after = material.audit(model, material.audited)
    return RunOutcome(
        run=searched.run,
        seed=searched.seed,
        pools=searched.pools,
        candidates=result.candidates,
        chosen=result.chosen,
        model=model,
        standing=performance,
        audit=compare_audits(before, after, least_increase=RISEN_BY),
        seconds=searched.seconds,
    )


def _by_score(runs: Sequence[RunOutcome]) -> list[RunOutcome]:
    """Sort the runs that chose a candidate, by the worst score on the rows not held out."""
    better = [(worst_of(run.chosen.scores), run) for run in runs if run.chosen is not None]
    return [run for _, run in sorted(better, key=lambda pair: pair[0])]


@dataclass(frozen=True)
class _JudgedRun:
    """A run, with its model compared with the original on the held-out rows."""

    run: RunOutcome
    written: Written
    side_effects: SideEffects


@dataclass(frozen=True)
class _HeldOutJudge:
    """Judges the models of runs on the held-out rows, one after the other."""

    setup: RunSetup
    reference: Any  # The model whose accuracy is not to be lost.
    before: Findings  # The original model's audit of the held-out rows.
    max_queries: int
    _: KW_ONLY
    validation: bool  # Whether the validation rows are enough to judge by.

    def first_that_keeps(self, runs: Sequence[RunOutcome]) -> _JudgedRun | None:
        """Return the first run whose model keeps the guard on the held-out rows.

        If none does, the first that keeps the budgets of accuracy; if none does that, the first.
        """
        judged_runs: list[_JudgedRun] = []
        for run in runs:
            judged = self._judge(run, len(judged_runs) + 1)
            judged_runs.append(judged)
            if self._within(judged) and not judged.side_effects.harmful:
                return judged
        return next(filter(self._within, judged_runs), judged_runs[0] if judged_runs else None)

    def _judge(self, run: RunOutcome, looked: int) -> _JudgedRun:
        """Compare a run's model with the original; it is the `looked`-th looked at, from 1."""
        material = self.setup.material
        original = self.setup.original.model
        model = run.model.model
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
            allowed=self.setup.parameters.max_side_effect,
            allowed_loss=self.setup.parameters.max_group_accuracy_drop / 100,
            confidence=material.audit_parameters.confidence,
            seed=self.setup.parameters.seed,
        )
        return _JudgedRun(run, written, effects)

    def _within(self, judged: _JudgedRun) -> bool:
        """Return whether a model keeps the budgets of accuracy, and is not one-sided."""
        parameters = self.setup.parameters
        return judged.written.keeps(
            max_accuracy_drop=parameters.max_accuracy_drop,
            max_balanced_drop=parameters.max_balanced_drop,
            validation=self.validation,
        )

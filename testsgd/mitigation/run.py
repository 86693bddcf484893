"""The mitigation: from a model and the targets of its audit to a better model."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from testsgd.auditing import Findings, Progress, compare_audits
from testsgd.errors import DataError
from testsgd.mitigation.alternatives import CurveMeasure, Setting, try_alternatives
from testsgd.mitigation.candidate_evaluation import CANDIDATE_QUERIES, Judge, compare_written
from testsgd.mitigation.cross_validation import Build, CrossValidation, cross_validate
from testsgd.mitigation.data_splits import Material
from testsgd.mitigation.journal import Journal
from testsgd.mitigation.outcome import Alternative, MitigationOutcome, RunOutcome, Standing
from testsgd.mitigation.parameters import RISEN_BY, MitigationParameters
from testsgd.mitigation.sample_allocation import draw_pools, kinds_of, tried_of
from testsgd.mitigation.samples import CounterSamples
from testsgd.mitigation.search import Search, SearchResult, worst_of
from testsgd.mitigation.table_splits import TableMaterial
from testsgd.models import LoadedModel, Refitter
from testsgd.models.refitting.estimators import EstimatorRefitter
from testsgd.models.refitting.networks import NetworkRefitter


@dataclass(frozen=True)
class Work:
    """What every run of a mitigation has in common."""

    original: LoadedModel[Any]
    refitter: Refitter[Any]
    material: Material
    parameters: MitigationParameters
    judge: Judge


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
    """Mitigate.

    Parameters
    ----------
    original : LoadedModel
        The model that was audited.
    refitter : Refitter
        Retrains it.
    material : Material
        The rows or texts, with the targets.
    before : Findings
        The original's audit of all of them.
    parameters : MitigationParameters
        What to do.
    build : callable, optional
        Makes other refitters of the same kind. With it small tables are judged by repeated
        cross-validation; other methods cannot be tried without it.
    compare : sequence of str
        Which other methods to try, of :data:`testsgd.mitigation.ALTERNATIVES`.
    journal : Journal, optional
        Where figures are kept, to go on after an interruption.
    progress : callable, optional
        Called now and then with a phase's name, how much is done and how much there is.

    Returns
    -------
    MitigationOutcome

    Raises
    ------
    DataError
        If a target has no training rows from which samples could be made.
    ModelError
        If the model raises while it is retrained.

    References
    ----------
    Zhang et al., TestSGD, RQ3 and Table 7.
    """
    journal = Journal(None, {}) if journal is None else journal
    seconds: dict[str, float] = {}
    started = time.perf_counter()
    reference = reference_model(original, refitter, material, parameters)
    judge = Judge(
        original.model,
        material,
        parameters.max_accuracy_drop,
        max_balanced_drop=parameters.max_balanced_drop,
        reference=reference,
    )
    seconds["preparing"] = time.perf_counter() - started
    validated: CrossValidation | None = None
    # What stands in for the original in a fold must be what its retraining begins with.
    again = isinstance(refitter, (NetworkRefitter, EstimatorRefitter))
    few = judge.by_probabilities and again
    if few and build is not None and isinstance(material, TableMaterial):
        started = time.perf_counter()
        validated = cross_validate(
            original,
            material,
            parameters,
            build,
            journal=journal,
            advance=None
            if progress is None
            else lambda done, total: progress("cross-validation", done, total),
        )
        seconds["cross-validation"] = time.perf_counter() - started
    kinds = kinds_of(material, parameters)
    steps = sum(len(tried_of(material, parameters, kind)) for kind in kinds)
    total = parameters.runs * steps
    done = 0

    def advance(by: int = 1) -> None:
        nonlocal done
        done = min(done + by, total)
        if progress is not None:
            progress("retraining", done, total)

    started = time.perf_counter()
    work, searches = Work(original, refitter, material, parameters, judge), []
    for run in range(1, parameters.runs + 1):
        searches.append(_search(work, run, journal, advance, validated))
        # Steps that were not needed are done too.
        advance(run * steps - done)
    seconds["retraining"] = time.perf_counter() - started

    # From here on nothing is chosen any more: the held-out rows may be looked at.
    started = time.perf_counter()
    standing, stand = _standing(original.model, material, before)
    if reference is not original.model:
        unflattered = stand(reference)
        standing = dataclasses.replace(
            unflattered, everywhere=standing.everywhere, held_out=standing.held_out
        )
    runs = tuple(_outcome(original, before, standing, stand, material, found) for found in searches)
    kept = _best(runs)
    held_out = material.split.parts.test
    everywhere = runs[0].audit if kept is None else kept.audit
    after_model = original if kept is None else kept.model
    held_out_before = material.audit(original, held_out)
    held_out_after = held_out_before if kept is None else material.audit(after_model, held_out)
    allowed = before.parameters.budget(CANDIDATE_QUERIES)
    written = None
    if kept is not None:
        shares = [
            material.row_shares(model, held_out, max_queries=allowed)
            for model in (original.model, kept.model.model)
        ]
        written = compare_written(
            original.model,
            reference,
            kept.model.model,
            material,
            (shares[0], shares[1]),
            material.measure(held_out, max_queries=allowed),
        )
    shown = searches[0 if kept is None else kept.run - 1].result.curve()
    measure = CurveMeasure(reference, material, material.rates(held_out, max_queries=allowed))
    curve = measure.curve({budget: ([model], [1.0]) for budget, (_, model) in shown.items()})
    seconds["audits after"] = time.perf_counter() - started

    alternatives: tuple[Alternative, ...] = ()
    if compare and build is not None:
        started = time.perf_counter()
        setting = Setting(original, material, judge, stand, parameters, build, measure)
        alternatives = try_alternatives(compare, setting, progress=progress)
        seconds["other methods"] = time.perf_counter() - started
    return MitigationOutcome(
        parameters=parameters,
        material=material,
        original=original,
        before=before,
        standing=standing,
        before_choice=tuple(judge.before_scores if validated is None else validated.before),
        judged_by=(
            "cross-validation"
            if validated is not None
            else "probabilities"
            if judge.by_probabilities
            else "labels"
        ),
        refitter=refitter,
        runs=runs,
        kept=kept,
        everywhere=everywhere,
        held_out=compare_audits(held_out_before, held_out_after, risen_by=RISEN_BY),
        written=written,
        curve=curve,
        alternatives=alternatives,
        seconds=seconds,
    )


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
    material, parameters, judge = work.material, work.parameters, work.judge
    started = time.perf_counter()
    seed = run_seed(parameters, run)
    dosages = parameters.dosages(material.training_size)
    before = judge.before_scores if validated is None else validated.before
    search = Search(
        work.refitter,
        judge,
        refuse=judge.refuses if validated is None else judge.refuses_trained,
        figures=None if validated is None else validated.figures,
        max_accuracy_drop=parameters.max_accuracy_drop,
        journal=journal,
        name=f"run {run}",
        advance=advance,
    )
    pools: dict[str, tuple[CounterSamples, ...]] = {}
    missing: DataError | None = None
    for kind in kinds_of(material, parameters):
        try:
            pools[kind] = draw_pools(
                work.original,
                material,
                parameters,
                kind=kind,
                gaps=judge.before.score.tolist(),
                run=run,
                wanted=dosages[-1].count,
            )
        except DataError as error:
            missing = error
            continue
        search.run(
            pools[kind],
            tried_of(material, parameters, kind),
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


def _standing(
    original: Any, material: Material, before: Findings
) -> tuple[Standing, Callable[[Any], Standing]]:
    """Return how the original does, and a way to find out how any model does."""
    parts = material.split.parts
    # As many queries as an audit may make, so that the figures are the audits'.
    allowed = before.parameters.budget(CANDIDATE_QUERIES)
    everywhere = material.rates(material.audited, max_queries=allowed)
    held_out = material.rates(parts.test, max_queries=allowed)

    def stand(model: Any) -> Standing:
        decisions, labels = material.decisions(model, parts.test), material.favourable[parts.test]
        right = decisions == labels
        return Standing(
            accuracy=float(right.mean()),
            balanced_accuracy=float(
                np.mean([right[labels == one].mean() for one in np.unique(labels)])
            ),
            favourable_share=float(decisions.mean()),
            everywhere=everywhere(model),
            held_out=held_out(model),
        )

    return stand(original), stand


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
    if result.model is None:
        model, after = original, before
    else:
        model = dataclasses.replace(original, model=result.model, file_sha256=None, card={})
        after = material.audit(model, material.audited)
    return RunOutcome(
        run=found.run,
        seed=found.seed,
        pools=found.pools,
        candidates=result.candidates,
        chosen=result.chosen,
        model=model,
        # A run without a candidate changes nothing.
        standing=standing if result.model is None else stand(model.model),
        audit=compare_audits(before, after, risen_by=RISEN_BY),
        seconds=found.seconds,
    )


def _best(runs: Sequence[RunOutcome]) -> RunOutcome | None:
    """Return the run with the smallest worst score on the rows that are not held out."""
    better = [run for run in runs if run.chosen is not None]
    return min(
        better,
        key=lambda run: worst_of(run.chosen.scores) if run.chosen else np.inf,
        default=None,
    )

"""The mitigation: from a model and the targets of its audit to a better model."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from testsgd.auditing import AuditComparison, Findings, Progress, compare_audits
from testsgd.errors import DataError
from testsgd.mitigation.alternatives import try_alternatives
from testsgd.mitigation.journal import Journal
from testsgd.mitigation.material import Material
from testsgd.mitigation.outcome import MitigationOutcome, RunOutcome, Standing
from testsgd.mitigation.parameters import RISEN_BY, MitigationParameters
from testsgd.mitigation.samples import CounterSamples
from testsgd.mitigation.search import Search, SearchResult, worst_of
from testsgd.models import LoadedModel, Refitter

# Rows or texts to ask a candidate about, at most, before its score is measured on draws.
_CANDIDATE_QUERIES = 2_000_000


def run_mitigation(
    original: LoadedModel[Any],
    refitter: Refitter[Any],
    material: Material,
    before: Findings,
    parameters: MitigationParameters,
    *,
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
    judge = Judge(original.model, material)
    sizes = parameters.sizes(len(material.split.parts.train))
    total = parameters.runs * len(sizes)
    done = 0

    def advance() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress("retraining", min(done, total), total)

    started = time.perf_counter()
    searches = []
    for run in range(1, parameters.runs + 1):
        done = (run - 1) * len(sizes)
        searches.append(
            _search(original, refitter, material, parameters, judge, run, sizes, journal, advance)
        )
    seconds["retraining"] = time.perf_counter() - started

    # From here on nothing is chosen any more: the held-out rows may be looked at.
    started = time.perf_counter()
    standing, stand = _standing(original.model, material)
    runs = tuple(_outcome(original, before, stand, material, *found) for found in searches)
    kept = _best(runs)
    held_out = material.split.parts.test
    everywhere = runs[0].audit if kept is None else kept.audit
    after_model = original if kept is None else kept.model
    held_out_before = material.audit(original, held_out)
    held_out_after = held_out_before if kept is None else material.audit(after_model, held_out)
    seconds["audits after"] = time.perf_counter() - started

    started = time.perf_counter()
    alternatives = try_alternatives(
        compare, refitter, material, judge, stand, parameters, progress=progress
    )
    if alternatives:
        seconds["other methods"] = time.perf_counter() - started
    return MitigationOutcome(
        parameters=parameters,
        material=material,
        original=original,
        before=before,
        standing=standing,
        before_choice=judge.before,
        refitter=refitter,
        runs=runs,
        kept=kept,
        everywhere=everywhere,
        held_out=compare_audits(held_out_before, held_out_after, risen_by=RISEN_BY),
        alternatives=alternatives,
        seconds=seconds,
    )


class Judge:
    """Judges candidates on the rows that are not held out.

    Parameters
    ----------
    original : Model or TextModel
        The model that they are compared with.
    material : Material
        The rows or texts.
    """

    def __init__(self, original: Any, material: Material) -> None:
        self._material = material
        self._measure = material.measure(material.seen, max_queries=_CANDIDATE_QUERIES)
        self._accuracy = material.accuracy(original, material.split.parts.validation)
        self.before = tuple(self._measure(original).score.tolist())

    def __call__(self, model: Any) -> tuple[float, Sequence[float]]:
        """Give the points of accuracy lost on the validation rows, and the targets' scores."""
        accuracy = self._material.accuracy(model, self._material.split.parts.validation)
        return 100 * (self._accuracy - accuracy), self._measure(model).score.tolist()


def draw_pools(
    original: LoadedModel[Any],
    material: Material,
    parameters: MitigationParameters,
    *,
    run: int,
    wanted: int,
) -> tuple[CounterSamples, ...]:
    """Generate the samples of each side of each target that gets some.

    Parameters
    ----------
    original : LoadedModel
        The model that was audited: it says which samples counter the discrimination.
    material : Material
        The rows or texts, with the targets.
    parameters : MitigationParameters
        Which sides, how many draws, and what if there are too few.
    run : int
        From 1; each run draws others.
    wanted : int
        Samples wanted of each side.

    Raises
    ------
    DataError
        If there is nothing to make samples from.
    """
    pools = []
    for place, target in enumerate(material.targets):
        for side in material.sides(target, parameters.side):
            pool = material.sample(
                original.model,
                place,
                side,
                wanted=wanted,
                parameters=parameters,
                generator=np.random.default_rng(
                    [parameters.seed, run, place, ("group", "rest").index(side)]
                ),
            )
            pools.append(pool)
        if not any(len(pool) for pool in pools if pool.target == place):
            raise DataError(
                "there are no samples that counter the discrimination of "
                f"{target.rule_set.text}: {pools[-1].report.seeds} training rows to draw from, "
                f"{pools[-1].report.counter_labelled} counter-labelled samples",
                where=f"group {target.rank}",
                remedy="allow relabelling with --fallback nearest, or choose another group",
            )
    return tuple(pools)


def _search(
    original: LoadedModel[Any],
    refitter: Refitter[Any],
    material: Material,
    parameters: MitigationParameters,
    judge: Judge,
    run: int,
    sizes: Sequence[int],
    journal: Journal,
    advance: Callable[[], None],
) -> tuple[int, int, tuple[CounterSamples, ...], SearchResult[Any], float]:
    """Do one run up to the choice; give its number, seed, samples, candidates and time."""
    started = time.perf_counter()
    pools = draw_pools(original, material, parameters, run=run, wanted=sizes[-1])
    seed = run_seed(parameters, run)
    search = Search(
        refitter,
        judge,
        max_accuracy_drop=parameters.max_accuracy_drop,
        journal=journal,
        name=f"run {run}",
        advance=advance,
    )
    found = search.run(pools, sizes, before=judge.before, threshold=parameters.all_above, seed=seed)
    return run, seed, pools, found, time.perf_counter() - started


def run_seed(parameters: MitigationParameters, run: int) -> int:
    """Give the seed of a run's retrainings."""
    return parameters.seed + run - 1


def _standing(original: Any, material: Material) -> tuple[Standing, Callable[[Any], Standing]]:
    """Give how the original does, and a way to find out how any model does."""
    parts = material.split.parts
    # As many queries as an audit may make, so that the figures are the audits'.
    allowed = material.audit_parameters.max_queries or _CANDIDATE_QUERIES
    everywhere = material.measure(material.audited, max_queries=allowed)
    held_out = material.measure(parts.test, max_queries=allowed)

    def stand(model: Any) -> Standing:
        return Standing(material.accuracy(model, parts.test), everywhere(model), held_out(model))

    return stand(original), stand


def _outcome(
    original: LoadedModel[Any],
    before: Findings,
    stand: Callable[[Any], Standing],
    material: Material,
    run: int,
    seed: int,
    pools: tuple[CounterSamples, ...],
    found: SearchResult[Any],
    seconds: float,
) -> RunOutcome:
    """Measure and audit what a run chose."""
    audit: AuditComparison
    if found.model is None:
        model, after = original, before
    else:
        model = dataclasses.replace(original, model=found.model, file_sha256=None, card={})
        after = material.audit(model, material.audited)
    audit = compare_audits(before, after, risen_by=RISEN_BY)
    return RunOutcome(
        run=run,
        seed=seed,
        pools=pools,
        candidates=found.candidates,
        chosen=found.chosen,
        model=model,
        standing=stand(model.model),
        audit=audit,
        seconds=seconds,
    )


def _best(runs: Sequence[RunOutcome]) -> RunOutcome | None:
    """Give the run with the smallest worst score on the rows that are not held out."""
    better = [run for run in runs if run.chosen is not None]
    return min(
        better,
        key=lambda run: worst_of(run.chosen.scores) if run.chosen else np.inf,
        default=None,
    )

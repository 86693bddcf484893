"""From the outcome of a mitigation to the summary document that every view is rendered from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import AuditComparison, Findings
from testsgd.auditing.report.subject import counterfactual_summary, data_summary
from testsgd.auditing.report.summarise import model_summary, packages, rule_summary
from testsgd.auditing.report.summary import CounterfactualSummary
from testsgd.auditing.text import TextFindings
from testsgd.mitigation.alternatives import ALTERNATIVES
from testsgd.mitigation.outcome import Alternative, MitigationOutcome, RunOutcome
from testsgd.mitigation.parameters import RISEN_BY
from testsgd.mitigation.report.control_summarise import control_changes
from testsgd.mitigation.report.samples_summary import SamplesSummary
from testsgd.mitigation.report.summary import (
    AuditChange,
    CandidateSummary,
    ComparisonSummary,
    FittedAnewSummary,
    GroupChange,
    MitigationSummary,
    MitigationVerdict,
    RunRange,
    RunSummary,
    SplitSummary,
    TargetRange,
    TargetSummary,
)
from testsgd.mitigation.report.verdict import mitigation_verdict
from testsgd.mitigation.report.written import equal_accuracy, known, rates_summary, written_summary
from testsgd.mitigation.samples import CounterSamples
from testsgd.mitigation.search import Candidate
from testsgd.mitigation.targets import Target
from testsgd.report.summaries import package_versions, present_moment

# Packages that a retraining may compute with, besides those of an audit.
_RETRAINING = ("tensorflow", "keras", "fairlearn")

# In place of the candidate of a run in which the original model stands in for it.
_NOT_CHOSEN = SimpleNamespace(kind=None, weight=None, samples=None)


def summarise_mitigation(outcome: MitigationOutcome) -> MitigationSummary:
    """Write what a mitigation did and found as one document; it shows no text of the data."""
    indices = range(len(outcome.targets))
    # Samples for control effects stand behind those for groups.
    controls = range(len(indices), len(indices) + len(outcome.material.controls))
    targets = [_target(outcome, index) for index in indices]
    runs = [_run(outcome, run) for run in outcome.runs]
    performances = [run.standing for run in outcome.runs]
    written = written_summary(
        outcome,
        targets,
        [_effects(outcome.held_out, target) for target in outcome.targets],
        unfavourable=_unfavourable(outcome),
    )
    equal_change = None
    if written is not None and written.held_out.accuracy.change is not None:
        equal_change = 100 * written.held_out.accuracy.change
    summary = MitigationSummary(
        created=present_moment(),
        settings=replace(outcome.parameters, group=outcome.parameters.rank),
        versions=package_versions(packages(outcome.before) + _RETRAINING),
        data=data_summary(outcome.before),
        split=_split(outcome),
        original=model_summary(outcome.before),
        retrained=None if outcome.kept is None else model_summary(outcome.everywhere.after),
        refitted_as=outcome.refitter.kind,
        chosen_run=None if outcome.kept is None else outcome.kept.run,
        accuracy_before=outcome.standing.accuracy,
        fitted_anew=_fitted_anew(outcome),
        accuracy_after=_over([performance.accuracy for performance in performances]),
        accuracy_drop=_over([run.accuracy_drop for run in runs]),
        balanced_before=outcome.standing.balanced_accuracy,
        balanced_after=_over([performance.balanced_accuracy for performance in performances]),
        favourable_before=outcome.standing.favourable_share,
        favourable_after=_over([performance.favourable_share for performance in performances]),
        written=written,
        curve=list(outcome.curve),
        targets=targets,
        ranges=[_spread(outcome, index) for index in indices],
        runs=runs,
        candidates=[
            _candidate(run, candidate) for run in outcome.runs for candidate in run.candidates
        ],
        all_rows=_change(outcome, outcome.everywhere),
        held_out=_change(outcome, outcome.held_out),
        controls=control_changes(outcome, [_pool_samples(outcome, index) for index in controls]),
        least_increase=RISEN_BY,
        comparisons=[
            _comparison(outcome, alternative, equal_change, targets)
            for alternative in outcome.alternatives
        ],
        verdict=MitigationVerdict(status="no_candidate", exit_code=1, headline="", sentences=[]),
        seconds=outcome.seconds,
    )
    return summary.model_copy(update={"verdict": mitigation_verdict(summary)})


def _split(outcome: MitigationOutcome) -> SplitSummary:
    split = outcome.material.split
    return SplitSummary.of(
        outcome,
        split,
        training=outcome.material.training_size,
        validation=len(outcome.material.validation),
        held_out=len(split.parts.test),
    )


def _target(outcome: MitigationOutcome, index: int) -> TargetSummary:
    target = outcome.targets[index]
    after = outcome.standing if outcome.kept is None else outcome.kept.standing
    confidence = outcome.before.parameters.confidence
    effect_before, effect_after = _effects(outcome.everywhere, target)
    return TargetSummary.of(
        target,
        rules=[rule_summary(rule) for rule in target.rule_set.rules],
        text=target.rule_set.text,
        before=rates_summary(outcome.standing.everywhere, index, confidence),
        after=rates_summary(after.everywhere, index, confidence),
        held_out_before=rates_summary(outcome.standing.held_out, index, confidence),
        held_out_after=rates_summary(after.held_out, index, confidence),
        choice_before=known(outcome.before_choice[index]),
        effect_before=effect_before,
        effect_after=effect_after,
        samples=_pool_samples(outcome, index),
    )


def _pool_samples(outcome: MitigationOutcome, index: int) -> list[SamplesSummary]:
    """List the samples of a target, or of a control effect, in all runs."""
    return [
        _samples(outcome, run, pool)
        for run in outcome.runs
        for pool in run.added_pools()
        if pool.target == index
    ]


def _effects(
    audit: AuditComparison, target: Target
) -> tuple[CounterfactualSummary | None, CounterfactualSummary | None]:
    """Return what a target's terms change by themselves, before and after; nothing for rows."""
    return _effect(audit.before, target), _effect(audit.after, target)


def _effect(findings: Findings | None, target: Target) -> CounterfactualSummary | None:
    """Return what a target's terms change by themselves; nothing for rows."""
    if not isinstance(findings, TextFindings):
        return None
    texts = findings.group_texts(np.arange(len(findings.rule_sets)))
    indices = np.flatnonzero(texts == target.rule_set.text).tolist()
    return counterfactual_summary(findings, indices[0]) if indices else None


def _fitted_anew(outcome: MitigationOutcome) -> FittedAnewSummary | None:
    """Write what the original fitted anew reaches; None if accuracies are of it as given."""
    given, anew = outcome.given, outcome.fitted_anew
    if given is None or anew is None:
        return None
    confidence = outcome.before.parameters.confidence
    return FittedAnewSummary(
        accuracy_given=given.accuracy,
        balanced_given=given.balanced_accuracy,
        held_out=[
            rates_summary(anew.held_out, index, confidence) for index in range(len(outcome.targets))
        ],
        effects=[_effect(outcome.fitted_anew_audit, target) for target in outcome.targets],
    )


def _unfavourable(outcome: MitigationOutcome) -> str:
    """Return what the label that is not favourable is called."""
    label = outcome.material.specification.label
    others = [value for value in label.values or [] if value != label.favourable]
    return others[0] if len(others) == 1 else f"not {label.favourable}"


def _samples(outcome: MitigationOutcome, run: RunOutcome, pool: CounterSamples) -> SamplesSummary:
    # Without a candidate there are samples, but nothing was trained on them.
    added = run.chosen is not None
    label = outcome.material.specification.label
    return SamplesSummary.of(
        pool.report,
        pool,
        run=run.run,
        label=label.favourable if pool.favourable else _unfavourable(outcome),
        relabelled=int(pool.relabelled.sum()) if added else 0,
        anchors=int(pool.anchors.sum()) if added else 0,
        added=len(pool) if added else 0,
        weight=1.0 if run.chosen is None else run.chosen.weight,
    )


def _spread(outcome: MitigationOutcome, index: int) -> TargetRange:
    scores = [float(run.standing.everywhere.score[index]) for run in outcome.runs]
    held_out = [float(run.standing.held_out.score[index]) for run in outcome.runs]
    before = float(outcome.standing.everywhere.score[index])
    mean = float(np.mean(scores))
    return TargetRange(
        score=_known_spread(scores),
        held_out_score=_known_spread(held_out),
        factor=before / mean if mean > 0 and not math.isnan(before) else None,
    )


def _run(outcome: MitigationOutcome, run: RunOutcome) -> RunSummary:
    chosen, performance = run.chosen, run.standing
    return RunSummary.of(
        chosen or _NOT_CHOSEN,
        run,
        performance,
        validation_drop=0.0 if chosen is None else chosen.accuracy_drop,
        accuracy_drop=100 * (outcome.standing.accuracy - performance.accuracy),
        scores=[known(score) for score in performance.everywhere.score],
        held_out_scores=[known(score) for score in performance.held_out.score],
        worst=_largest_score(run.audit.after),
        increased=run.audit.increased_count,
    )


def _candidate(run: RunOutcome, candidate: Candidate) -> CandidateSummary:
    return CandidateSummary.of(
        candidate,
        run=run.run,
        stage=candidate.name,
        scores=[known(score) for score in candidate.scores],
        chosen=candidate == run.chosen,
    )


def _change(outcome: MitigationOutcome, audit: AuditComparison) -> AuditChange:
    rank_before, rank_after = _ranks(audit.before), _ranks(audit.after)
    confidence = audit.after.parameters.confidence
    # Groups are known by their rules: those of the held-out rows have other indices.
    targets = {target.rule_set for target in outcome.targets}

    def change(group: int) -> GroupChange:
        rule_set = audit.after.rule_set(group)
        return GroupChange(
            rank_before=int(rank_before[group]) or None,
            rank_after=int(rank_after[group]),
            rules=[rule_summary(rule) for rule in rule_set.rules],
            text=rule_set.text,
            before=rates_summary(audit.before.estimates, group, confidence),
            after=rates_summary(audit.after.estimates, group, confidence),
            target=rule_set in targets,
        )

    return AuditChange(
        rows=audit.after.rows,
        groups=len(audit.after.rule_sets),
        worst_before=_largest_score(audit.before),
        worst_after=_largest_score(audit.after),
        worst=[change(group) for group in audit.worst],
        increased=[change(group) for group in audit.increased],
        increased_count=audit.increased_count,
    )


def _comparison(
    outcome: MitigationOutcome,
    alternative: Alternative,
    equal_change: float | None,
    targets: Sequence[TargetSummary],
) -> ComparisonSummary:
    before = outcome.standing.accuracy
    drops = [100 * (before - accuracy) for accuracy in alternative.accuracies]
    indices = range(len(outcome.targets)) if alternative.status == "done" else ()
    scores, held_out_scores = (
        [_known_spread([float(run[index]) for run in figures]) for index in indices]
        for figures in (alternative.scores, alternative.held_out_scores)
    )
    # What loses nothing is the model that losses are measured against.
    anew = _fitted_anew(outcome)
    lossless = [target.held_out_before for target in targets] if anew is None else anew.held_out
    worst = max(lossless, key=lambda rates: rates.score or 0)
    at_equal_accuracy = None
    if equal_change is not None:
        at_equal_accuracy = equal_accuracy(alternative.curve, worst, equal_change)
    return ComparisonSummary.of(
        alternative,
        about=ALTERNATIVES[alternative.name],
        accuracy_drop=_known_spread(drops),
        scores=scores,
        held_out_scores=held_out_scores,
        equal_accuracy=at_equal_accuracy,
    )


def _ranks(findings: Findings) -> NDArray[np.int64]:
    """Return each group's rank, 0 where it has none."""
    ranks = np.zeros(len(findings.rule_sets), dtype=np.int64)
    ranks[findings.ranking] = np.arange(1, len(findings.ranking) + 1)
    return ranks


def _largest_score(findings: Findings) -> float | None:
    """Return the largest score of a decided group, in any ranking; None if there is none."""
    judged = findings.estimates.decided & findings.estimates.sampled
    return float(findings.estimates.score[judged].max()) if judged.any() else None


def _known_spread(figures: Sequence[float]) -> RunRange | None:
    return _over(figures) if figures and not np.isnan(figures).any() else None


def _over(figures: Sequence[float]) -> RunRange:
    return RunRange(
        mean=float(np.mean(figures)), lowest=float(min(figures)), highest=float(max(figures))
    )

"""From findings to the summary document that every view is rendered from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Estimates
from testsgd.auditing.findings import Findings, TableFindings
from testsgd.auditing.parameters import AuditParameters
from testsgd.auditing.report.subject import Subject, TableSubject, TextSubject, charts
from testsgd.auditing.report.summarise_parts import (
    assured_sizes,
    estimand_summaries,
    gate_size,
    group_trust,
    guarantee_summary,
    holdout_summary,
    moved_features,
    other_rates,
    rule_summaries,
    rule_summary,
    unjudged_summary,
)
from testsgd.auditing.report.summary import (
    AuditSummary,
    Counts,
    EstimandRates,
    EstimandSummary,
    GroupSummary,
    ModelSummary,
    Parameters,
    UndecidedGroup,
)
from testsgd.auditing.report.uncertainty import GateMeasure
from testsgd.auditing.report.verdict import verdict
from testsgd.auditing.text import TextFindings
from testsgd.models import CheckedFunction
from testsgd.report.formatting import count
from testsgd.report.summaries import package_versions, present_moment

__all__ = [
    "PACKAGES",
    "model_summary",
    "rule_summary",
    "subject_of",
    "summarise",
]

PACKAGES = ("numpy", "pandas", "scikit-learn", "statsmodels", "joblib")

# For how many of the first groups, ranked and distinct, each rule is looked at alone.
_EXPLAINED = 10


def summarise(findings: Findings, *, snippets: int = 3) -> AuditSummary:
    """Write what an audit found as one document.

    Parameters
    ----------
    findings : Findings
        What the audit found, of rows or of texts.
    snippets : int
        Places of the texts to show of each sensitive term, at most; 0 if the texts are not to be
        shown. Rows are never shown.

    Returns
    -------
    AuditSummary
    """
    parameters = findings.parameters
    estimates = findings.estimates
    subject = subject_of(findings, snippets)
    data, terms = subject.data(), subject.terms()
    places = {int(group): rank for rank, group in enumerate(findings.ranking, start=1)}
    groups = _groups(findings, subject, places)
    estimands, moved = estimand_summaries(findings), moved_features(findings)
    rules, unjudged = rule_summaries(findings, places), unjudged_summary(findings)
    guarantee, holdout = guarantee_summary(findings, places), holdout_summary(findings)
    unsampled = np.flatnonzero(~estimates.sampled)
    decided = int(estimates.decided.sum())
    counts = Counts(
        candidates=findings.rule_sets.candidates,
        frequent=findings.rule_sets.frequent,
        groups=len(findings.rule_sets),
        decided=decided,
        undecided_frequent=len(findings.rule_sets) - decided,
        undecided_small=len(findings.small),
    )
    overall = findings.overall_rate
    return AuditSummary(
        created=present_moment(),
        mode=findings.mode,
        sampling=None if findings.mode == "exact" else parameters.sampling,
        parameters=_parameters(parameters),
        versions=package_versions(PACKAGES + subject.packages),
        data=data,
        model=model_summary(findings),
        overall_rate=None if np.isnan(overall) else overall,
        counts=counts,
        neighbourhood=findings.neighbourhood,
        model_queries=findings.queries,
        seconds=findings.seconds,
        verdict=verdict(
            groups,
            top_score=findings.top_score,
            counts=counts,
            label=data.label.favourable,
            parameters=_parameters(parameters),
            words=subject.words,
            terms=terms,
            measures=gate_measures(findings, estimands),
            moved=moved,
            rules=rules,
            unjudged=unjudged,
            guarantee=guarantee,
            holdout=holdout,
            stability_samples=findings.stability_samples,
        ),
        groups=groups,
        undecided=_undecided(findings, unsampled, subject),
        charts=charts(findings, subject),
        terms=terms,
        estimands=estimands,
        moved=moved,
        rules=rules,
        unjudged=unjudged,
        guarantee=guarantee,
        holdout=holdout,
        stability_samples=findings.stability_samples,
    )


def subject_of(findings: Findings, snippets: int) -> Subject:
    """Find out how to speak of what was audited."""
    match findings:
        case TableFindings():
            return TableSubject(findings)
        case TextFindings():
            return TextSubject(findings, snippets=snippets)
    raise TypeError(f"findings of an unknown kind: {type(findings).__name__}")


def _groups(findings: Findings, subject: Subject, places: dict[int, int]) -> list[GroupSummary]:
    """Describe the top of the ranking, the explaining rules, and the most assured group."""
    chosen = {int(group) for group in findings.ranking[: findings.parameters.top]}
    chosen |= {group for group in findings.distinct if group in places}
    surest = None if findings.guarantee is None else findings.guarantee.surest
    if surest in places:
        chosen.add(surest)
    order = sorted(chosen, key=lambda group: places[group])
    explained = set(findings.highlights[:_EXPLAINED]) | {
        int(group) for group in findings.ranking[:_EXPLAINED]
    }
    listed = np.array(order, dtype=np.intp)
    estimates = findings.estimates.take(listed)
    low, high = findings.intervals(listed)
    assured = assured_sizes(findings, listed, low, high)
    others = other_rates(findings, listed)
    return [
        _group(
            findings,
            subject,
            group,
            rank=places[group],
            estimates=estimates,
            at=at,
            interval=(float(low[at]), float(high[at])),
            other=others[at],
            assured=None if np.isnan(assured[at]) else float(assured[at]),
            explain=group in explained,
        )
        for at, group in enumerate(order)
    ]


def _group(
    findings: Findings,
    subject: Subject,
    group: int,
    *,
    rank: int,
    estimates: Estimates,
    at: int,
    interval: tuple[float, float],
    other: EstimandRates | None,
    assured: float | None,
    explain: bool,
) -> GroupSummary:
    rule_set = findings.rule_set(group)
    rows_in = int(estimates.rows_in[at])
    margin_method = "wilson" if estimates.wilson[at] else estimates.margin_kind
    explain = explain and len(rule_set.rules) > 1
    return GroupSummary.model_validate(
        {
            "rank": rank,
            "rules": [rule_summary(rule) for rule in rule_set.rules],
            "text": rule_set.text,
            "support": rows_in / findings.rows,
            "n_in": rows_in,
            "n_out": int(estimates.rows_out[at]),
            "effective_in": _effective(estimates.effective_in, at),
            "effective_out": _effective(estimates.effective_out, at),
            "rate_in": float(estimates.rate_in[at]),
            "rate_out": float(estimates.rate_out[at]),
            "difference": float(estimates.difference[at]),
            "score": float(estimates.score[at]),
            "margin": float(estimates.margin[at]),
            "margin_method": margin_method,
            "interval": interval,
            "exact": estimates.exact,
            "samples_in": int(estimates.samples_in[at]),
            "samples_out": int(estimates.samples_out[at]),
            "decided": bool(estimates.decided[at]),
            "distinct": group in findings.distinct,
            "rules_alone": subject.rules_alone(group) if explain else [],
            "other": other,
            "counterfactual": subject.counterfactual(group),
            "unknown_to_model": subject.unknown(group),
            "assured": assured,
            **group_trust(findings, group),
        }
    )


def _effective(rows: NDArray[np.float64] | None, at: int) -> float | None:
    return None if rows is None else float(rows[at])


def _undecided(
    findings: Findings, unsampled: NDArray[np.intp], subject: Subject
) -> list[UndecidedGroup]:
    """List groups that are too small to judge, and those that got no sample on one side."""
    fewest = findings.parameters.fewest_rows(findings.rows)
    too_few = f"fewer than {count(fewest)} {subject.words.many}"
    estimates = findings.estimates
    groups = [
        (
            findings.rule_set(int(group)),
            int(estimates.rows_in[group]),
            "no samples" if estimates.rows_out[group] else subject.words.nothing_outside,
        )
        for group in unsampled
    ] + [(small.rule_set, small.count, too_few) for small in findings.small]
    return [
        UndecidedGroup(
            text=rule_set.text,
            rules=[rule_summary(rule) for rule in rule_set.rules],
            n_in=rows,
            support=rows / findings.rows,
            reason=reason,
        )
        for rule_set, rows, reason in groups[: findings.parameters.top]
    ]


def gate_measures(
    findings: Findings, estimands: Sequence[EstimandSummary]
) -> tuple[GateMeasure, ...]:
    """Return what the gate looks at: both estimands, or the counterfactual effects of terms."""
    if findings.parameters.ranked_by == "counterfactual":
        return (
            GateMeasure(
                "counterfactual effect",
                findings.top_score,
                findings.assured
                if findings.guarantee is not None and findings.guarantee.kind == "simultaneous"
                else None,
            ),
        )
    return tuple(
        GateMeasure(f"{one.estimand} difference", one.largest, one.assured) for one in estimands
    ) or (
        GateMeasure(
            "difference", findings.top_score, gate_size(findings.estimates, findings.guarantee)
        ),
    )


def _parameters(parameters: AuditParameters) -> Parameters:
    # How many threads there were changes no result, so it is no part of one.
    values = {
        item.name: getattr(parameters, item.name)
        for item in fields(parameters)
        if item.name != "jobs"
    }
    return Parameters.model_validate(values | {"rank_by": parameters.ranked_by})


def model_summary(findings: Findings) -> ModelSummary:
    """Describe the model that was audited."""
    model = findings.model.model
    return ModelSummary(
        name=model.name,
        kind=model.kind,
        output=model.output,
        threshold=model.threshold,
        fingerprint=findings.model_fingerprint,
        file_sha256=findings.model.file_sha256,
        accuracy=findings.accuracy,
        card={
            key: f"{value:.4g}" if isinstance(value, float) else str(value)
            for key, value in findings.model.card.items()
        },
        not_given=list(findings.model.not_given),
        passed_through=list(findings.model.passed),
        changing=findings.changing,
        **_reading(model),
    )


def _reading(model: object) -> dict[str, Any]:
    """Return how a model's labels were read, where there is more to it than their text."""
    if not isinstance(model, CheckedFunction):
        return {}
    return {"read_as": model.read_as, "other_labels": list(model.others)}

"""From a comparison to the summary document that every view is rendered from."""

from __future__ import annotations

import datetime

from testsgd.baselines import Figure
from testsgd.comparison import AUDIT, NEAR, ComparedFinding, ComparedMethod, Comparison, Side
from testsgd.reporting.comparison.summary import (
    ComparedFindingSummary,
    ComparisonSettings,
    ComparisonSummary,
    FigureSummary,
    InAuditSummary,
    MethodSummary,
    NearestSummary,
    SideSummary,
)
from testsgd.reporting.comparison.verdict import comparison_verdict
from testsgd.reporting.summarise import PACKAGES, model_summary, package_versions, subject_of

# Packages that only other methods compute with.
_METHODS_PACKAGES = ("divexplorer", "aif360")


def summarise_comparison(comparison: Comparison) -> ComparisonSummary:
    """Write what was compared as one document.

    Parameters
    ----------
    comparison : Comparison
        Several methods on one model and its rows.

    Returns
    -------
    ComparisonSummary
    """
    audit, parameters = comparison.audit, comparison.audit.parameters
    subject = subject_of(audit, snippets=0)
    data = subject.data()
    methods = [_method(method, comparison) for method in comparison.methods]
    settings = ComparisonSettings(
        methods=[method.result.method for method in comparison.methods],
        time_limit=comparison.time_limit,
        theta=comparison.subject.theta,
        max_features=parameters.max_features,
        bins=parameters.bins,
        confidence=parameters.confidence,
        guarantee=parameters.guarantee,
        seed=parameters.seed,
        near=NEAR,
        copies=parameters.overlap,
    )
    return ComparisonSummary(
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        settings=settings,
        versions=package_versions(PACKAGES + subject.packages + _METHODS_PACKAGES),
        data=data,
        model=model_summary(audit),
        mode=audit.mode,
        overall_rate=float(comparison.subject.decisions.mean()),
        methods=methods,
        verdict=comparison_verdict(methods, settings, label=data.label.favourable),
        seconds=comparison.seconds,
    )


def _method(method: ComparedMethod, comparison: Comparison) -> MethodSummary:
    result = method.result
    groups, seconds = result.groups, result.seconds
    if result.method == AUDIT:
        groups, seconds = comparison.search.groups, comparison.search.seconds
    speed = groups / seconds if groups and seconds > 0 else None
    return MethodSummary(
        method=result.method,
        title=result.title,
        measure=result.measure,
        available=result.available,
        note=result.note,
        findings=[_finding(finding, comparison) for finding in method.findings],
        distinct=method.distinct,
        compared=sum(finding.only is not None for finding in method.findings),
        only=sum(finding.only is True for finding in method.findings),
        figures=[_figure(figure) for figure in result.figures],
        groups=result.groups,
        queries=result.queries,
        seconds=result.seconds,
        groups_per_second=speed,
    )


def _figure(figure: Figure) -> FigureSummary:
    return FigureSummary(name=figure.name, value=figure.value, meaning=figure.meaning)


def _finding(found: ComparedFinding, comparison: Comparison) -> ComparedFindingSummary:
    known = found.in_audit
    return ComparedFindingSummary(
        place=found.place,
        text=found.finding.text,
        value=found.finding.value,
        interval=found.interval,
        side=_side(found.side),
        other_side=_side(found.other_side),
        nearest=[
            NearestSummary(method=near.method, place=near.place, nearness=near.nearness)
            for near in found.nearest
        ],
        only=found.only,
        in_audit=None
        if known is None
        else InAuditSummary(
            text=comparison.audit.rule_set(known.group).text,
            rank=known.rank,
            nearness=known.nearness,
        ),
    )


def _side(side: Side | None) -> SideSummary | None:
    if side is None:
        return None
    return SideSummary(
        n_in=side.n_in,
        n_out=side.n_out,
        share=side.share,
        rate_in=side.rate_in,
        rate_out=side.rate_out,
        difference=side.difference,
    )

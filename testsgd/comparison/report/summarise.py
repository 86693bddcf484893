"""From a comparison to the summary document that every view is rendered from."""

from __future__ import annotations

from testsgd.auditing.report.subject import data_summary
from testsgd.auditing.report.summarise import model_summary, packages
from testsgd.comparison.matching import NEAR
from testsgd.comparison.outcome import ComparedFinding, ComparedMethod, Comparison
from testsgd.comparison.report.summary import (
    ComparedFindingSummary,
    ComparisonSettings,
    ComparisonSummary,
    InAuditSummary,
    MethodSummary,
)
from testsgd.comparison.report.verdict import comparison_verdict
from testsgd.comparison.testsgd_method import AUDIT
from testsgd.report.summaries import package_versions, present_moment

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
    data = data_summary(audit)
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
        matching_similarity=NEAR,
        duplicate_similarity=parameters.overlap,
    )
    return ComparisonSummary(
        created=present_moment(),
        settings=settings,
        versions=package_versions(packages(audit) + _METHODS_PACKAGES),
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
    summary = {
        **vars(result),
        "findings": [_finding(finding, comparison) for finding in method.findings],
        "distinct": method.distinct,
        "compared": sum(finding.only is not None for finding in method.findings),
        "only": sum(finding.only is True for finding in method.findings),
        "groups_per_second": speed,
    }
    return MethodSummary.model_validate(summary, from_attributes=True)


def _finding(compared: ComparedFinding, comparison: Comparison) -> ComparedFindingSummary:
    finding, nearest = compared.finding, compared.in_audit
    summary = {
        name: value for name, value in vars(compared).items() if name not in ("finding", "in_audit")
    } | {"text": finding.text, "value": finding.value}
    if nearest is not None:
        summary["in_audit"] = InAuditSummary(
            text=comparison.audit.rule_set(nearest.group).text,
            rank=nearest.rank,
            similarity=nearest.similarity,
        )
    return ComparedFindingSummary.model_validate(summary, from_attributes=True)

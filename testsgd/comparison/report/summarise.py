"""From a comparison to the summary document that every view is rendered from."""

from __future__ import annotations

from testsgd.auditing.report.subject import data_summary
from testsgd.auditing.report.summarise import model_summary, packages
from testsgd.comparison.matching import NEAR
from testsgd.comparison.outcome import Comparison
from testsgd.comparison.report.summary import ComparisonSettings, ComparisonSummary
from testsgd.comparison.report.verdict import comparison_verdict
from testsgd.report.summaries import package_versions, present_moment

# Packages that only other methods compute with.
_METHODS_PACKAGES = ("divexplorer", "sliceline", "aif360")


def summarise_comparison(comparison: Comparison) -> ComparisonSummary:
    """Write what was compared as one document."""
    audit = comparison.audit
    data = data_summary(comparison.audit)
    settings = ComparisonSettings.of(
        comparison,
        audit.parameters,
        methods=[method.method for method in comparison.methods],
        theta=comparison.subject.theta,
        matching_similarity=NEAR,
        duplicate_similarity=audit.parameters.overlap,
    )
    return ComparisonSummary(
        created=present_moment(),
        settings=settings,
        versions=package_versions(packages(audit) + _METHODS_PACKAGES),
        data=data,
        model=model_summary(audit),
        mode=audit.mode,
        overall_rate=float(comparison.subject.decisions.mean()),
        methods=list(comparison.methods),
        verdict=comparison_verdict(comparison.methods, settings, label=data.label.favourable),
        seconds=comparison.seconds,
    )

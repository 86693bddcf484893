"""Reporting of certifications: one summary, and every view rendered from it."""

from testsgd.reporting.certification.document import CERTIFICATION_DOCUMENT
from testsgd.reporting.certification.junit import render_certification_junit
from testsgd.reporting.certification.summary import (
    CertificationSummary,
    CertificationVerdict,
    CounterexampleSummary,
    RegionSummary,
)
from testsgd.reporting.certification.tables import (
    counterexamples_frame,
    regions_frame,
    render_certification_csv,
)
from testsgd.reporting.certification.verdict import certification_verdict, check_policy

__all__ = [
    "CERTIFICATION_DOCUMENT",
    "CertificationSummary",
    "CertificationVerdict",
    "CounterexampleSummary",
    "RegionSummary",
    "certification_verdict",
    "check_policy",
    "counterexamples_frame",
    "regions_frame",
    "render_certification_csv",
    "render_certification_junit",
]

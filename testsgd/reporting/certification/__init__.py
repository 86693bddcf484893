"""Reporting of certifications: one summary, and every view rendered from it."""

from testsgd.reporting.certification.document import (
    CERTIFICATION_SCHEMA_FILE,
    certification_schema,
    generate_certification_schema,
    read_certification_summary,
    render_certification_json,
)
from testsgd.reporting.certification.html import render_certification_html
from testsgd.reporting.certification.junit import render_certification_junit
from testsgd.reporting.certification.markdown import render_certification_markdown
from testsgd.reporting.certification.summary import (
    SCHEMA_NAME as CERTIFICATION_SCHEMA_NAME,
)
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
    "CERTIFICATION_SCHEMA_FILE",
    "CERTIFICATION_SCHEMA_NAME",
    "CertificationSummary",
    "CertificationVerdict",
    "CounterexampleSummary",
    "RegionSummary",
    "certification_schema",
    "certification_verdict",
    "check_policy",
    "counterexamples_frame",
    "generate_certification_schema",
    "read_certification_summary",
    "regions_frame",
    "render_certification_csv",
    "render_certification_html",
    "render_certification_json",
    "render_certification_junit",
    "render_certification_markdown",
]

"""Reporting of mitigations: one summary, and every view rendered from it."""

from testsgd.reporting.mitigation.document import (
    MITIGATION_SCHEMA_FILE,
    generate_mitigation_schema,
    mitigation_schema,
    read_mitigation_summary,
    render_mitigation_json,
)
from testsgd.reporting.mitigation.html import render_mitigation_html
from testsgd.reporting.mitigation.markdown import render_mitigation_markdown
from testsgd.reporting.mitigation.summary import (
    SCHEMA_NAME as MITIGATION_SCHEMA_NAME,
)
from testsgd.reporting.mitigation.summary import (
    MitigationSummary,
    MitigationVerdict,
)
from testsgd.reporting.mitigation.verdict import mitigation_verdict

__all__ = [
    "MITIGATION_SCHEMA_FILE",
    "MITIGATION_SCHEMA_NAME",
    "MitigationSummary",
    "MitigationVerdict",
    "generate_mitigation_schema",
    "mitigation_schema",
    "mitigation_verdict",
    "read_mitigation_summary",
    "render_mitigation_html",
    "render_mitigation_json",
    "render_mitigation_markdown",
]

"""Reporting: one summary of a result, and every view rendered from it."""

from testsgd.reporting.comparison import (
    COMPARISON_SCHEMA_FILE,
    COMPARISON_SCHEMA_NAME,
    ComparisonSummary,
    ComparisonVerdict,
    comparison_schema,
    comparison_verdict,
    generate_comparison_schema,
    read_comparison_summary,
    render_comparison_html,
    render_comparison_json,
    render_comparison_markdown,
)
from testsgd.reporting.comparison.summarise import summarise_comparison
from testsgd.reporting.document import (
    SCHEMA_FILE,
    generate_schema,
    read_summary,
    render_json,
    summary_schema,
)
from testsgd.reporting.html import render_html
from testsgd.reporting.markdown import render_markdown
from testsgd.reporting.mitigation import (
    MITIGATION_SCHEMA_FILE,
    MITIGATION_SCHEMA_NAME,
    MitigationSummary,
    MitigationVerdict,
    generate_mitigation_schema,
    mitigation_schema,
    mitigation_verdict,
    read_mitigation_summary,
    render_mitigation_html,
    render_mitigation_json,
    render_mitigation_markdown,
)
from testsgd.reporting.mitigation.summarise import summarise_mitigation
from testsgd.reporting.summarise import summarise
from testsgd.reporting.summary import SCHEMA_NAME, AuditSummary, GroupSummary, Verdict
from testsgd.reporting.tables import (
    COUNTERFACTUAL_COLUMNS,
    GROUP_COLUMNS,
    groups_frame,
    summary_frame,
    write_csv,
    write_parquet,
)

__all__ = [
    "COMPARISON_SCHEMA_FILE",
    "COMPARISON_SCHEMA_NAME",
    "COUNTERFACTUAL_COLUMNS",
    "GROUP_COLUMNS",
    "MITIGATION_SCHEMA_FILE",
    "MITIGATION_SCHEMA_NAME",
    "SCHEMA_FILE",
    "SCHEMA_NAME",
    "AuditSummary",
    "ComparisonSummary",
    "ComparisonVerdict",
    "GroupSummary",
    "MitigationSummary",
    "MitigationVerdict",
    "Verdict",
    "comparison_schema",
    "comparison_verdict",
    "generate_comparison_schema",
    "generate_mitigation_schema",
    "generate_schema",
    "groups_frame",
    "mitigation_schema",
    "mitigation_verdict",
    "read_comparison_summary",
    "read_mitigation_summary",
    "read_summary",
    "render_comparison_html",
    "render_comparison_json",
    "render_comparison_markdown",
    "render_html",
    "render_json",
    "render_markdown",
    "render_mitigation_html",
    "render_mitigation_json",
    "render_mitigation_markdown",
    "summarise",
    "summarise_comparison",
    "summarise_mitigation",
    "summary_frame",
    "summary_schema",
    "write_csv",
    "write_parquet",
]

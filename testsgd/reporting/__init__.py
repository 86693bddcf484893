"""Reporting: one summary of a result, and every view rendered from it."""

from testsgd.reporting.document import (
    SCHEMA_FILE,
    generate_schema,
    read_summary,
    render_json,
    summary_schema,
)
from testsgd.reporting.html import render_html
from testsgd.reporting.markdown import render_markdown
from testsgd.reporting.summarise import summarise
from testsgd.reporting.summary import SCHEMA_NAME, AuditSummary, GroupSummary, Verdict
from testsgd.reporting.tables import (
    COUNTERFACTUAL_COLUMNS,
    GROUP_COLUMNS,
    groups_frame,
    import_pyarrow,
    summary_frame,
    write_csv,
    write_parquet,
)

__all__ = [
    "COUNTERFACTUAL_COLUMNS",
    "GROUP_COLUMNS",
    "SCHEMA_FILE",
    "SCHEMA_NAME",
    "AuditSummary",
    "GroupSummary",
    "Verdict",
    "generate_schema",
    "groups_frame",
    "import_pyarrow",
    "read_summary",
    "render_html",
    "render_json",
    "render_markdown",
    "summarise",
    "summary_frame",
    "summary_schema",
    "write_csv",
    "write_parquet",
]

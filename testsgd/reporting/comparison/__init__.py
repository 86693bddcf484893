"""Reporting of comparisons: one summary, and every view rendered from it."""

from testsgd.reporting.comparison.document import (
    COMPARISON_SCHEMA_FILE,
    comparison_schema,
    generate_comparison_schema,
    read_comparison_summary,
    render_comparison_json,
)
from testsgd.reporting.comparison.html import render_comparison_html
from testsgd.reporting.comparison.markdown import render_comparison_markdown
from testsgd.reporting.comparison.summary import (
    SCHEMA_NAME as COMPARISON_SCHEMA_NAME,
)
from testsgd.reporting.comparison.summary import (
    ComparisonSummary,
    ComparisonVerdict,
)
from testsgd.reporting.comparison.verdict import comparison_verdict

__all__ = [
    "COMPARISON_SCHEMA_FILE",
    "COMPARISON_SCHEMA_NAME",
    "ComparisonSummary",
    "ComparisonVerdict",
    "comparison_schema",
    "comparison_verdict",
    "generate_comparison_schema",
    "read_comparison_summary",
    "render_comparison_html",
    "render_comparison_json",
    "render_comparison_markdown",
]

"""Tables about data sets: the catalogue, and our results beside those of the paper."""

from __future__ import annotations

import functools
from pathlib import Path

from markdown_text import cell, table

from testsgd.api import AuditResult
from testsgd.data import DatasetSpecification, catalogue, load_specification, load_table
from testsgd.reporting import AuditSummary

_REPORTS = Path(__file__).parents[2] / "reports"

# So many names of sensitive features are listed before the rest is counted.
_LISTED = 3


@functools.cache
def results() -> dict[str, AuditSummary]:
    """Read the committed results, ``reports/NAME/result.json``, that are there."""
    return {
        name: AuditResult.from_json(path).summary
        for name in catalogue()
        if name != "demo" and (path := _REPORTS / name / "result.json").is_file()
    }


def catalogue_table() -> str:
    """List the data sets of the catalogue."""
    headings = ["Name", "Title", "Rows", "Features", "Sensitive", "Favourable label", "Licence"]
    rows = []
    for name in catalogue():
        specification = load_specification(name)
        label = specification.label
        rows.append(
            [
                f"`{name}`",
                f"[{cell(specification.dataset.title)}]({specification.dataset.homepage})"
                if specification.dataset.homepage
                else cell(specification.dataset.title),
                _rows(specification),
                str(len(specification.features)),
                _sensitive(specification),
                f"`{label.favourable}` in `{label.column}`",
                cell(specification.dataset.licence),
            ]
        )
    return table(headings, rows, right=[2, 3])


def comparison_table() -> str:
    """Set the paper's largest difference beside ours, for each data set of the paper."""
    headings = ["Data set", "Whose", "Group with the largest score", "Score", "Frequent rule sets",
                "Seconds", "Accuracy"]  # fmt: skip
    rows = []
    for name in catalogue():
        paper = load_specification(name).paper
        if paper is None:
            continue
        rows.append(
            [
                f"`{name}`",
                "paper",
                cell(paper.top_group),
                _percent(paper.top_score),
                _count(paper.rule_sets),
                "" if paper.seconds is None else f"{paper.seconds:,.0f}",
                _percent(paper.accuracy),
            ]
        )
        rows.append(["", "testsgd", *_ours(results().get(name))])
    return table(headings, rows, right=[3, 4, 5, 6])


def gallery() -> str:
    """Link the reports of the real data sets, as far as they are there."""
    lines = [
        f"- [{cell(summary.data.title)}](gallery/{name}.html); in the repository "
        f"`reports/{name}/report.md`. {cell(summary.verdict.headline)}"
        for name, summary in results().items()
    ]
    return "\n".join(lines) or "None has been made yet: run `make reports`."


def _ours(summary: AuditSummary | None) -> list[str]:
    if summary is None:
        return ["not run yet", "", "", "", ""]
    decided = [group for group in summary.groups if group.decided]
    return [
        cell(decided[0].text) if decided else "no group decided",
        _percent(decided[0].score) if decided else "",
        _count(summary.counts.frequent),
        f"{sum(summary.seconds.values()):,.2f}",
        _percent(summary.model.accuracy),
    ]


def _rows(specification: DatasetSpecification) -> str:
    if specification.dataset.generator:
        return f"{len(load_table(specification)):,}"
    summary = results().get(specification.name)
    return "" if summary is None else f"{summary.data.rows:,}"


def _sensitive(specification: DatasetSpecification) -> str:
    names = [f"`{name}`" for name in specification.sensitive]
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "")


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"

"""Tables about data sets: the catalogue, and our results beside those of the paper."""

from __future__ import annotations

import functools
from pathlib import Path

from markdown_text import cell, table

from testsgd.auditing import AuditResult, AuditSummary
from testsgd.data import (
    DatasetSpecification,
    Specification,
    TextSpecification,
    catalogue,
    load_specification,
    load_table,
    load_terms,
)
from testsgd.report.kinds import read_result

_REPORTS = Path(__file__).parents[2] / "reports"

# Folders of reports/ that `python -m benchmarks.example_reports` makes.
_EXAMPLES = (
    "loans-shield",
    "loans-shield-simulated",
    "loans-monitor",
    "loans-monitor-simulated",
    "demo-metrics",
)

# So many names of sensitive features are listed before the rest is counted.
_LISTED = 3


@functools.cache
def results() -> dict[str, AuditSummary]:
    """Read the committed results, ``reports/NAME/result.json``, that are there."""
    return _read("{}")


@functools.cache
def paper_results() -> dict[str, AuditSummary]:
    """Read the results by the paper's estimand and threshold, or those that there are."""
    return results() | _read("{}-paper")


def _read(folder: str) -> dict[str, AuditSummary]:
    """Read the results in folders of a pattern, by the names of the data sets."""
    return {
        name: AuditResult.from_json(path).summary
        for name in catalogue()
        if name != "demo" and (path := _REPORTS / folder.format(name) / "result.json").is_file()
    }


def catalogue_table() -> str:
    """List the data sets of the catalogue."""
    headings = ["Name", "Title", "Rows or texts", "Features", "Sensitive", "Favourable label",
                "Licence"]  # fmt: skip
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
                _features(specification),
                _sensitive(specification),
                f"`{label.favourable}` in `{label.column}`",
                cell(specification.dataset.licence),
            ]
        )
    return table(headings, rows, right=[2, 3])


def text_sets_table() -> str:
    """Say how many texts of each data set mention sensitive terms, as far as reports are there."""
    categories = load_terms().names
    headings = ["Name", "Texts", *categories, "Ambiguous"]
    rows = []
    for name in catalogue():
        summary = results().get(name)
        if summary is None or summary.terms is None:
            continue
        found = summary.terms.categories
        share = {category.name: category.share for category in found}
        mentions = sum(category.mentions for category in found)
        doubtful = sum(
            term.mentions for category in found for term in category.terms if term.ambiguous
        )
        rows.append(
            [
                f"`{name}`",
                f"{summary.data.rows:,}",
                *(_percent(share.get(category)) for category in categories),
                _percent(doubtful / mentions if mentions else None),
            ]
        )
    if not rows:
        return "None has been made yet: run `make reports`."
    return table(headings, rows, right=range(1, len(headings)))


def comparison_table() -> str:
    """Set the paper's first three groups beside ours, for each data set of the paper."""
    headings = ["Data set", "Whose", "Rank", "Group", "Score", "Frequent rule sets", "Seconds",
                "Accuracy"]  # fmt: skip
    rows = []
    for name in catalogue():
        paper = load_specification(name).paper
        if paper is None:
            continue
        rows.append(
            [
                f"`{name}`",
                "paper",
                "1",
                cell(paper.top_group),
                _percent(paper.top_score),
                _count(paper.rule_sets),
                "" if paper.seconds is None else f"{paper.seconds:,.0f}",
                _percent(paper.accuracy),
            ]
        )
        rows += [
            ["", "", str(rank), cell(item.group), _percent(item.score), "", "", ""]
            for rank, item in enumerate(paper.further_groups, start=2)
        ]
        rows += _ours(paper_results().get(name))
    return table(headings, rows, right=[2, 4, 5, 6, 7])


def gallery() -> str:
    """Link the reports of the real data sets, as far as they are there."""
    lines = []
    for name, summary in results().items():
        beside = ""
        if (_REPORTS / f"{name}-paper" / "report.md").is_file():
            page = f"../reports/{name}-paper/report.md"
            beside = f" ([by the paper's estimand and threshold]({page}))"
        lines.append(
            f"- [{cell(summary.data.title)}](../reports/{name}/report.md): "
            f"{cell(summary.verdict.headline)}{beside}"
        )
    return "\n".join(lines) or "None has been made yet: run `make reports`."


def example_gallery() -> str:
    """Link the reports of the documented examples."""
    lines = []
    for name in _EXAMPLES:
        document = read_result(_REPORTS / name / "result.json")
        headline = cell(document.verdict.headline)
        lines.append(f"- [{name}](../reports/{name}/report.md): {headline}")
    return "\n".join(lines)


# Ranks of the paper's Table 4.
_RANKS = 3


def _ours(summary: AuditSummary | None) -> list[list[str]]:
    """Give our first groups by score, the figures of the whole audit beside the first."""
    if summary is None:
        return [["", "testsgd", "", "not run", "", "", "", ""]]
    decided = sorted(
        (group for group in summary.groups if group.decided), key=lambda group: -group.score
    )
    figures = [
        _count(summary.counts.frequent),
        f"{sum((summary.seconds or {}).values()):,.2f}",
        _percent(summary.model.accuracy),
    ]
    if not decided:
        return [["", "testsgd", "", "no group decided", "", *figures]]
    return [
        [
            "",
            "" if rank > 1 else "testsgd",
            str(rank),
            cell(group.text),
            _percent(group.score),
            *(("", "", "") if rank > 1 else figures),
        ]
        for rank, group in enumerate(decided[:_RANKS], start=1)
    ]


def _rows(specification: Specification) -> str:
    if isinstance(specification, DatasetSpecification) and specification.dataset.generator:
        return f"{len(load_table(specification)):,}"
    summary = results().get(specification.name)
    return "" if summary is None else f"{summary.data.rows:,}"


def _features(specification: Specification) -> str:
    if isinstance(specification, DatasetSpecification):
        return str(len(specification.features))
    return "texts"


def _sensitive(specification: Specification) -> str:
    if isinstance(specification, TextSpecification):
        terms = load_terms(specification.terms)
        return f"{sum(terms.sizes)} terms of {', '.join(f'`{name}`' for name in terms.names)}"
    names = [f"`{name}`" for name in specification.sensitive]
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "")


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"

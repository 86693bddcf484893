"""The tables of docs/comparison.md, from the results in reports/NAME-comparison.

``make compare`` makes these results; ``python -m benchmarks.table_eight`` puts them into the page.
"""

from __future__ import annotations

import sys
from pathlib import Path

from testsgd.comparison import ComparisonResult, ComparisonSummary
from testsgd.comparison.report.summary import MethodSummary
from testsgd.comparison.report.verdict import speed
from testsgd.report.formatting import NOTHING, count, percent, seconds, signed
from testsgd.report.markdown import escape

_ROOT = Path(__file__).resolve().parent.parent
_PAGE = _ROOT / "docs" / "comparison.md"
_NAMES = ("census", "bank", "credit", "compas", "law", "crime")
_METHODS = ("testsgd", "themis", "gerryfair", "divexplorer", "bias-scan", "individual")

# TestSGD, Table 8: what was found, and its score in per cent; None where the day was over.
_PAPER: dict[str, dict[str, tuple[str, float | None]]] = {
    "census": {
        "testsgd": ("gender=male, 40<=age<80, race=White or Asian-Pac-Islander", 20.2),
        "themis": (
            "[gender=Female, 60<=age<70, race=Asian-Pac-Islander] - "
            "[gender=Male, 10<=age<20, race=White]",
            26.6,
        ),
        "gerryfair": ("linear threshold function", 13.9),
    },
    "bank": {
        "testsgd": ("10<=age<90", 38.2),
        "themis": ("[60<=age<70] - [10<=age<20]", 8.4),
        "gerryfair": ("linear threshold function", 7.6),
    },
    "credit": {
        "testsgd": ("gender=female, 60<=age<70", 21.9),
        "themis": ("[gender=Female, 80<=age<90] - [gender=Male, 10<=age<20]", 17.1),
        "gerryfair": ("linear threshold function", 7.0),
    },
    "compas": {
        "testsgd": ("gender=male, age>=40, race=Hispanic or other race", 62.4),
        "themis": (
            "[gender=Female, 10<=age<20, race=Native American] - "
            "[gender=Male, 60<=age<70, race=other race]",
            67.3,
        ),
        "gerryfair": ("linear threshold function", 22.4),
    },
    "law": {
        "testsgd": ("gender=male, race=Asian or Black", 15.0),
        "themis": ("[gender=Male, race=White] - [gender=Female, race=Black]", 13.5),
        "gerryfair": ("linear threshold function", 3.7),
    },
    "crime": {
        "testsgd": ("FemalePctDiv>=0.4, racePctWhite<=0.8", 60.7),
        "themis": ("not within a day", None),
        "gerryfair": ("linear threshold function", 38.8),
    },
}

# Longer texts are cut; the reports have them whole.
_TEXT = 140

Rows = list[list[str]]


def table_eight(summaries: dict[str, ComparisonSummary]) -> str:
    """Give the paper's Table 8 beside ours."""
    headings = [
        "data set", "method", "paper's finding", "paper's score", "our finding", "our score",
        "difference on the rows, points", "share of rows",
    ]  # fmt: skip
    rows: Rows = []
    for name, summary in summaries.items():
        for key in ("testsgd", "themis", "gerryfair"):
            method = _method(summary, key)
            found, score = _PAPER[name][key]
            rows.append(
                [
                    f"[{name}](../reports/{name}-comparison/report.md)" if key == "testsgd" else "",
                    key if method is None else method.title,
                    escape(found),
                    NOTHING if score is None else f"{score}%",
                    *_found(method),
                ]
            )
    return _table(headings, rows)


def _found(method: MethodSummary | None) -> list[str]:
    if method is None or not method.findings:
        return [NOTHING] * 4
    first = method.findings[0]
    score = percent(first.value)
    if method.method == "gerryfair":
        larger = [figure.value for figure in method.figures if figure.name == "largest difference"]
        difference = f", unweighted {percent(float(larger[0]))}" if larger else ""
        score = f"{score} weighted{difference}"
    side = first.side
    return [
        escape(first.text, _TEXT),
        score,
        NOTHING if side is None else signed(side.difference),
        NOTHING if side is None else percent(side.share),
    ]


def other_methods(summaries: dict[str, ComparisonSummary]) -> str:
    """Give what the methods find that the paper does not compare with, and who finds what alone."""
    headings = [
        "data set", "DivExplorer", "bias scan", "individual: people whose decision changes",
        "first groups of the audit that no other found",
        "findings of others that only one of them has", "in the audit at any rank",
    ]  # fmt: skip
    rows: Rows = []
    for name, summary in summaries.items():
        audit = summary.methods[0]
        others = [
            finding
            for method in summary.methods[1:]
            for finding in method.findings
            if finding.side is not None
        ]
        known = [one.in_audit for one in others if one.in_audit is not None]
        individual = _method(summary, "individual")
        rows.append(
            [
                name,
                *(_best(_method(summary, key)) for key in ("divexplorer", "bias-scan")),
                percent(individual.findings[0].value)
                if individual is not None and individual.findings
                else NOTHING,
                f"{audit.only} of {audit.compared}",
                f"{sum(one.only is True for one in others)} of "
                f"{sum(one.only is not None for one in others)}",
                f"{sum(one.similarity >= 0.8 for one in known)} of {len(known)}",
            ]
        )
    return _table(headings, rows)


def _best(method: MethodSummary | None) -> str:
    if method is None or not method.findings:
        return NOTHING
    first = method.findings[0]
    difference = NOTHING if first.side is None else signed(first.side.difference)
    return f"{escape(first.text, _TEXT)}: {difference}"


def times(summaries: dict[str, ComparisonSummary]) -> str:
    """Give the methods' times, and how fast the two searches of all groups are."""
    headings = [
        "data set", "rows", *_METHODS, "audit: groups", "a second", "DivExplorer: groups",
        "a second", "times as fast",
    ]  # fmt: skip
    rows: Rows = []
    for name, summary in summaries.items():
        audit, other = summary.methods[0], _method(summary, "divexplorer")
        ours = audit.groups_per_second
        theirs = None if other is None else other.groups_per_second
        rows.append(
            [
                name,
                count(summary.data.rows),
                *(_time(_method(summary, key)) for key in _METHODS),
                *_speed(audit),
                *(_speed(other) if other is not None else [NOTHING, NOTHING]),
                f"{ours / theirs:,.0f}" if ours and theirs else NOTHING,
            ]
        )
    return _table(headings, rows)


def _time(method: MethodSummary | None) -> str:
    if method is None or not method.available:
        return NOTHING
    return seconds(method.seconds)


def _speed(method: MethodSummary) -> list[str]:
    groups = NOTHING if method.groups is None else count(method.groups)
    return [groups, speed(method.groups_per_second)]


def _method(summary: ComparisonSummary, name: str) -> MethodSummary | None:
    return next((method for method in summary.methods if method.method == name), None)


def _table(headings: list[str], rows: Rows) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def read_results(folder: Path) -> dict[str, ComparisonSummary]:
    """Read the results that are there."""
    files = {name: folder / f"{name}-comparison" / "result.json" for name in _NAMES}
    return {
        name: ComparisonResult.from_json(file).summary
        for name, file in files.items()
        if file.is_file()
    }


def fill(page: str, summaries: dict[str, ComparisonSummary]) -> str:
    """Put the tables between their marks."""
    tables = {
        "table eight": table_eight(summaries),
        "other methods": other_methods(summaries),
        "times": times(summaries),
    }
    for name, text in tables.items():
        begin, end = f"<!-- {name}: python -m benchmarks.table_eight -->", f"<!-- {name} ends -->"
        before, _, rest = page.partition(begin)
        _, _, after = rest.partition(end)
        page = f"{before}{begin}\n{text}\n{end}{after}"
    return page


def main() -> None:
    """Fill the page from ``reports``, or from the folder that is named."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else _ROOT / "reports"
    page = _PAGE.read_text(encoding="utf-8")
    _PAGE.write_text(fill(page, read_results(folder)), encoding="utf-8")


if __name__ == "__main__":
    main()

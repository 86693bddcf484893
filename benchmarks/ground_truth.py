"""The tables of ``testsgd bench``, put into the pages of the docs.

``testsgd bench truth ... --out FOLDER`` and ``testsgd bench theta --out FOLDER`` make them;
``python -m benchmarks.ground_truth PART FOLDER`` puts them into the page. The parts are
``thousand`` (people), ``more`` (people), ``worlds``, ``cases`` (all worlds together) and ``theta``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.marked_page import Marks, fill_marked, percent, table
from testsgd.report.formatting import NOTHING
from testsgd.report.markdown import escape
from testsgd.truth import CASES, case

_DOCS = Path(__file__).resolve().parent.parent / "docs"
_TRUTH = ("thousand", "more", "worlds", "cases")
_SECTION = "\n### "

# TestSGD, Table 6: rule sets and the score of the worst, in per cent; None where there is none.
_PAPER: dict[tuple[str, float], tuple[int, float | None]] = {
    ("law", 0.01): (59, 16.3),
    ("law", 0.05): (17, 15.0),
    ("law", 0.1): (16, 1.0),
    ("law", 0.2): (16, 0.9),
    ("law", 0.5): (2, 0.3),
    ("compas", 0.01): (2063, 62.4),
    ("compas", 0.05): (1590, 62.4),
    ("compas", 0.1): (1180, 43.9),
    ("compas", 0.2): (0, None),
    ("compas", 0.5): (0, None),
}
# Longer texts are cut.
_TEXT = 90


def marks(part: str) -> Marks:
    """Return the lines before and after a part of a page."""
    return f"<!-- {part}: python -m benchmarks.ground_truth -->", f"<!-- {part} ends -->"


def table_six(rows: list[dict[str, Any]]) -> str:
    """Write the paper's Table 6 beside ours, with what the bound on the outside changes."""
    headings = [
        "data set", "theta", "paper: rule sets", "paper: score", "rule sets", "best score",
        "first by lower bound", "seconds", "inside only: rule sets", "best score",
        "first by lower bound", "seconds",
    ]  # fmt: skip
    return table(
        headings,
        [
            [
                row["data_set"],
                percent(row["theta"], digits=0),
                *_paper(row["data_set"], row["theta"]),
                *_search(row["both_sides"]),
                *_search(row["inside_only"]),
            ]
            for row in rows
        ],
    )


def _kinds() -> str:
    """List the cases in which something is planted, as their twins have the same people."""
    named = [case(name) for name in CASES]
    rows = [[f"`{item.name}`", f"{item.rows:,}", item.title] for item in named if item.planted]
    return table(["World", "People", "What is true"], rows)


def _paper(name: str, theta: float) -> list[str]:
    if (name, theta) not in _PAPER:
        return ["", ""]
    rule_sets, score = _PAPER[name, theta]
    return [f"{rule_sets:,}", NOTHING if score is None else f"{score}%"]


def _search(search: dict[str, Any] | None) -> list[str]:
    if search is None:
        return [""] * 4

    def first(by: str) -> str:
        found = search[f"first_by_{by}"]
        if found is None:
            return NOTHING
        return f"{percent(found['size'])}: {escape(found['group'], _TEXT)}"

    return [
        f"{search['rule_sets']:,}",
        first("score"),
        first("lower_bound"),
        f"{search['seconds']:.2f}",
    ]


def fill(part: str, folder: Path, docs: Path = _DOCS) -> Path:
    """Put what a command wrote into a folder into a page; return the page."""
    if part in _TRUTH:
        page = docs / "ground-truth.md"
        text = (folder / "truth.md").read_text(encoding="utf-8").strip()
        if part == "cases":
            # The command, and the first table: that of all worlds together.
            text = f"{_kinds()}\n\n{_SECTION.join(text.split(_SECTION)[:2]).strip()}"
    else:
        page = docs / "comparison.md"
        document = json.loads((folder / "theta.json").read_text(encoding="utf-8"))
        text = table_six(document["rows"])
    fill_marked(page, {marks(part): text})
    return page


def main() -> None:
    """Fill the part that is named."""
    match sys.argv[1:]:
        case [part, folder] if part in (*_TRUTH, "theta"):
            print(f"Written: {fill(part, Path(folder))}")
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()

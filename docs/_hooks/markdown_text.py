"""Writing Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def cell(text: str) -> str:
    """Write plain text so that it is safe in the cell of a table."""
    line = " ".join(text.split())
    for character, safe in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("|", "&#124;")):
        line = line.replace(character, safe)
    return line.replace("[", "&#91;").replace("*", "&#42;").replace("_", "&#95;")


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """Write a table; the cells are Markdown, the columns in `right` are numbers."""
    aligned = set(right)
    rule = ["---:" if place in aligned else "---" for place in range(len(headings))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (headings, rule, *rows))

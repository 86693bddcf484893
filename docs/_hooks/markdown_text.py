"""Writing Markdown tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# Names in backticks are code, in which Markdown reads no character as its own.
_CODE = re.compile(r"(`[^`|]+`)")
_SAFE = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    "|": "&#124;",
    "[": "&#91;",
    "*": "&#42;",
    "_": "&#95;",
}


def cell(text: str) -> str:
    """Write plain text so that it is safe in the cell of a table; code stays in backticks."""
    parts = _CODE.split(" ".join(text.split()))
    return "".join(part if _CODE.fullmatch(part) else _escaped(part) for part in parts)


def _escaped(text: str) -> str:
    return "".join(_SAFE.get(character, character) for character in text)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """Write a table; the cells are Markdown, the columns in `right` are numbers."""
    aligned = set(right)
    rule = ["---:" if place in aligned else "---" for place in range(len(headings))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (headings, rule, *rows))

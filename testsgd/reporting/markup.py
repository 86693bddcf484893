"""Pieces of Markdown: any text as it is, tables, and what is folded away."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from testsgd.report import formatting

_SPECIALS = str.maketrans(
    {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        # A $ starts a formula on the platforms that know formulas.
        **{character: f"\\{character}" for character in "\\`*_[]|~$"},
    }
)


def escape(text: str, limit: int | None = None) -> str:
    r"""Write any text so that Markdown shows it as it is, in a paragraph or in a table's cell.

    Parameters
    ----------
    text : str
        Whatever the data, the model or the user named something.
    limit : int, optional
        Cut longer texts, and say so.

    Returns
    -------
    str
        One line.

    Examples
    --------
    >>> escape("a|b <i>")
    'a\\|b &lt;i&gt;'
    """
    line = " ".join(text.split())
    if limit is not None:
        line = formatting.shorten(line, limit)
    line = line.translate(_SPECIALS)
    # People and issues of the same name are not called upon, which a backslash does not prevent.
    line = re.sub(r"(@|#)(?=\w)", r"\1<!-- -->", line)
    # At the start of a line these would make a list, a heading or a rule.
    line = re.sub(r"^(?=[-+=#](?:[-=#\s]|$))", r"\\", line)
    line = re.sub(r"^(\d+)(?=[.)](?:\s|$))", r"\1\\", line)
    # Addresses are shown, not linked.
    line = re.sub(r"(?i)\b(https?|ftp|mailto|xmpp):", r"\1&#58;", line)
    return re.sub(r"(?i)\bwww\.", "www&#46;", line)


def folded(title: str, blocks: Sequence[str]) -> list[str]:
    """Fold blocks away under a title; nothing is left of no blocks."""
    if not blocks:
        return []
    return [f"<details>\n<summary>{title}</summary>", *blocks, "</details>"]


def table(headings: Iterable[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """Write a table; `right` are the columns of numbers, which end at the right."""
    names = list(headings)
    aligned = set(right)
    rule = ["---:" if index in aligned else "---" for index in range(len(names))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (names, rule, *rows))


def cells(texts: Iterable[str]) -> list[str]:
    """Escape texts for a row of a table."""
    return [escape(text) for text in texts]

"""Pages of the docs of which parts are written by commands: between marks, and tables in them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path

from testsgd.io import replacing_any_file, write_text

Marks = tuple[str, str]


def fill_marked(page: Path, parts: Mapping[Marks, str]) -> None:
    """Replace what stands between marks.

    Parameters
    ----------
    page : pathlib.Path
    parts : mapping of (str, str) to str
        By the line before and the line after, which stay.

    Raises
    ------
    SystemExit
        If the page is missing or lacks a pair of marks. Nothing is written then.
    """
    if not page.is_file():
        raise SystemExit(f"{page} is missing")
    text = page.read_text(encoding="utf-8")
    for (begin, end), part in parts.items():
        before, found, rest = text.partition(begin)
        _, ended, after = rest.partition(end)
        if not (found and ended):
            raise SystemExit(f"{page} lacks the lines {begin} and {end}")
        text = f"{before}{begin}\n\n{wrapped(part)}\n\n{end}{after}"
    with replacing_any_file():
        write_text(page, text)


def wrapped(text: str) -> str:
    """Return Markdown with its paragraphs in lines of at most 100 characters.

    Tables, headings, lists and HTML stay as they are.
    """
    return "\n\n".join(
        part
        if part.lstrip().startswith(("|", "#", "<", "-", "!", "`"))
        else textwrap.fill(part, 100, break_long_words=False, break_on_hyphens=False)
        for part in text.split("\n\n")
    )


def table(heading: list[str], rows: Iterable[list[str]]) -> str:
    """Write a table in Markdown."""
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def percent(value: float, *, digits: int = 1, sign: str = "%") -> str:
    """Write a share in per cent."""
    # Rounded first, so that no "-0.00" is written.
    rounded = round(100 * value, digits) + 0.0
    return f"{rounded:.{digits}f}{sign}"

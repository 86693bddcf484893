"""Find paragraphs of the Markdown pages with lines of more than 100 characters.

``make lint`` prints each place, and fails if there is one; ``--write`` breaks the lines anew.
Tables, code, HTML, headings and what stands between marks of a command that writes it are left as
they are, and so is a line that has no place for a break.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

WIDTH = 100

_ROOT = Path(__file__).resolve().parent.parent
_PAGES = ("*.md", "docs/**/*.md")
_FENCE = re.compile(r"\s*(```|~~~)")
# Lines that are no part of a paragraph, or that end at their own break.
_OTHER = re.compile(r"\s*(\||<|#|>|!!!|:::|!\[|\?\?\?|===|\[[^\]]+\]:|---|\{)|\s*$|.*(  |\\)$")
_ITEM = re.compile(r"(\s*)([-*+]|\d+[.)])\s+")
_MARK_BEGINS = re.compile(r"<!-- (?!.* ends? -->)(generated: .*|.*: python -m .*) -->")
_MARK_ENDS = re.compile(r"<!-- .* ends? -->")
# A word, with blanks only inside of `code`; `code` may touch other characters.
_WORD = re.compile(r"(?:`[^`]*`|[^\s`]|`)+")
# At the start of a line these would begin a list, a heading or a quotation.
_BINDS = re.compile(r"([-*+>]|#+|\d+[.)])$")


def paragraphs(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Yield where each paragraph or item begins and ends, as places in the lines."""
    start: int | None = None
    code = generated = False
    for place, line in enumerate([*lines, ""]):
        fence = bool(_FENCE.match(line))
        generated = (generated or bool(_MARK_BEGINS.match(line))) and not _MARK_ENDS.match(line)
        other = code or fence or generated or bool(_OTHER.match(line))
        code ^= fence
        if start is not None and (other or _ITEM.match(line)):
            yield start, place
            start = None
        # Code may be indented; a paragraph of an item follows the item.
        if start is None and not other and (place or line):
            start = place


def wrapped(paragraph: list[str]) -> list[str]:
    """Return a paragraph or an item with lines of at most 100 characters where words allow it."""
    item = _ITEM.match(paragraph[0])
    first = item[0] if item else " " * (len(paragraph[0]) - len(paragraph[0].lstrip()))
    indent = " " * len(first)
    words: list[str] = []
    for word in _WORD.findall(" ".join(line.strip() for line in paragraph)[len(first.lstrip()) :]):
        if words and _BINDS.match(word):
            words[-1] += f" {word}"
        else:
            words.append(word)
    lines = [first + words[0]]
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) > WIDTH:
            lines.append(indent + word)
        else:
            lines[-1] += f" {word}"
    return lines


def rewrapped(text: str) -> tuple[str, list[int]]:
    """Return a page with its wide paragraphs wrapped, and their first lines, counted from 1."""
    lines = text.split("\n")
    found = []
    for start, end in reversed(list(paragraphs(lines))):
        old = lines[start:end]
        if max(map(len, old)) <= WIDTH:
            continue
        new = wrapped(old)
        if new != old:
            lines[start:end] = new
            found.append(start + 1)
    return "\n".join(lines), found[::-1]


def main() -> int:
    """Print the places, or write the pages anew."""
    write = sys.argv[1:] == ["--write"]
    count = 0
    for page in sorted({page for pattern in _PAGES for page in _ROOT.glob(pattern)}):
        old = page.read_text(encoding="utf-8")
        new, found = rewrapped(old)
        count += len(found)
        if write and found:
            page.write_text(new, encoding="utf-8")
        for place in found:
            print(f"{page.relative_to(_ROOT)}:{place}: a line has more than {WIDTH} characters")
    return int(count > 0 and not write)


if __name__ == "__main__":
    sys.exit(main())

"""The lines of a TOML text in which its keys are given their values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeAlias

from testsgd.io import loads_toml

# Keys and positions in arrays, outermost first.
Location: TypeAlias = tuple[int | str, ...]

# What decides where a statement ends: texts and comments, in which brackets mean nothing, brackets,
# and ends of lines. The text of several lines may end with quotes of its own.
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:"{0,2})'
    r"|'''.*?'''(?:'{0,2})"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|[\[\]{}\n]",
    re.DOTALL,
)


class KeyLines:
    r"""The line of each key, and of each entry of an array, of a sound TOML text.

    The text is read once, statement by statement, so that the lines of many mistakes cost no more
    than that of one.

    Parameters
    ----------
    text : str

    Examples
    --------
    >>> lines = KeyLines("[label]\nvalues = [\n  1,\n]\ncolumn = 'paid'")
    >>> lines.line_of(("label", "column"))
    5
    >>> lines.line_of(("label", "missing"))
    1
    """

    def __init__(self, text: str) -> None:
        self._lines: dict[Location, int] = {(): 1}
        # Of each array of tables, how many of its tables have begun.
        self._counts: dict[Location, int] = {}
        table: Location = ()
        for line, statement in _statements(text):
            stripped = statement.lstrip()
            if stripped.startswith("["):
                table = self._begin_table(loads_toml(statement), line)
            elif stripped:
                self._add(table, loads_toml(statement), line)

    def line_of(self, location: Location) -> int:
        """Return the line of a location, counted from 1.

        Of a key that is not there, the line of the innermost table or array that should have it.

        Parameters
        ----------
        location : tuple of str and int
            Keys and positions in arrays, outermost first.
        """
        while location not in self._lines:
            location = location[:-1]
        return self._lines[location]

    def _begin_table(self, document: Any, line: int) -> Location:
        """Note the table of a header, which is read as if it stood alone, and return its place."""
        place: Location = ()
        value = document
        while value:
            if isinstance(value, list):
                # [[key]] begins another table of an array.
                number = self._counts.get(place, 0)
                self._counts[place] = number + 1
                place, value = (*place, number), value[0]
            else:
                if place in self._counts:
                    # Below an array of tables, [key.inner] is in the last of these.
                    place = (*place, self._counts[place] - 1)
                ((key, value),) = value.items()
                place = (*place, key)
            self._lines.setdefault(place, line)
        return place

    def _add(self, place: Location, document: Any, line: int) -> None:
        """Note everything that a statement gives a value, below a place."""
        waiting: list[tuple[Location, Any]] = [(place, document)]
        while waiting:
            place, value = waiting.pop()
            self._lines.setdefault(place, line)
            if isinstance(value, dict):
                waiting += [((*place, key), inner) for key, inner in value.items()]
            elif isinstance(value, list):
                waiting += [((*place, number), inner) for number, inner in enumerate(value)]


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Return each statement, or empty line, with the number of its first line."""
    line, begin, depth, seen = 1, 0, 0, 1
    for token in _TOKEN.finditer(text):
        found = token.group()
        if found == "\n":
            seen += 1
            if depth == 0:
                yield line, text[begin : token.end()]
                line, begin = seen, token.end()
        elif found in "[{":
            depth += 1
        elif found in "]}":
            depth -= 1
        else:
            seen += found.count("\n")
    yield line, text[begin:]

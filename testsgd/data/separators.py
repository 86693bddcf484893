"""What stands between the cells of a file of text: a comma, a semicolon, a tab or a bar."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np

from testsgd.data.cells import first_lines

_SNIFFED_LINES = 50
_SEPARATORS = ",;\t|"
# The sniffer takes minutes for lines of megabytes; there the most frequent separator is taken.
_MOST_SNIFFED = 2**16
# As spreadsheets write, and read, the first line of a file.
_DECLARED = re.compile(r"\ufeff?\"?sep=([^\w\"\r\n])\"?[\r\n]*")


def declared_separator(line: str) -> str | None:
    """Return the separator that the first line of a file names, as ``sep=;`` does, or None.

    Examples
    --------
    >>> declared_separator("sep=;"), declared_separator("sex;age")
    (';', None)
    """
    found = _DECLARED.fullmatch(line)
    return None if found is None else found[1]


def separator_and_skipped(
    path: Path, *, encoding: str = "utf-8", separator: str | None = None
) -> tuple[str, int]:
    """Return what stands between the cells of a file, and how many lines before its header.

    The first line may say it. If it does not, it is `separator`, or seen in the first lines. The
    file is regular, and not compressed.
    """
    declared = declared_separator(first_lines(path, lines=1, encoding=encoding)[0])
    if declared is not None:
        return declared, 1
    return separator or separator_of_file(path, encoding=encoding), 0


def separator_of_file(path: Path, *, encoding: str = "utf-8") -> str:
    """Return what stands between the cells of a file, by its first lines.

    The file is regular, and not compressed.
    """
    lines = first_lines(path, lines=_SNIFFED_LINES, encoding=encoding)
    if len(lines[0]) > _MOST_SNIFFED:
        return max(_SEPARATORS, key=lines[0].count)
    # Whole lines, as the sniffer looks for what is equally frequent in them.
    lengths = np.cumsum([len(line) + 1 for line in lines])
    whole = max(int(np.searchsorted(lengths, _MOST_SNIFFED)), 1)
    try:
        return csv.Sniffer().sniff("\n".join(lines[:whole]), delimiters=_SEPARATORS).delimiter
    except csv.Error:
        return ","


def separator_of_header(header: str, path: Path) -> str:
    r"""Return what stands between the names of a header, which is the first line of a file.

    If there are several separators in it, :func:`separator_of_file` says which one it is. Texts in
    the rows may have all of them, so they are looked at then only.

    Examples
    --------
    >>> separator_of_header('id;"name, first"', Path("log.csv"))
    ';'
    >>> separator_of_header("output", Path("log.csv"))
    ','
    """
    # A separator within quotation marks separates nothing.
    bare = re.sub(r'"[^"]*"', "", header)
    found = [separator for separator in _SEPARATORS if separator in bare]
    if len(found) > 1:
        return separator_of_file(path)
    return found[0] if found else ","


def separator_of_log(path: Path) -> tuple[str, int]:
    """Return what stands between the cells of a log with a header, and how many lines before it.

    Raises
    ------
    ValueError
        If its first line cannot be read, or the file is empty.
    """
    [line] = first_lines(path, lines=1)
    declared = declared_separator(line)
    return (separator_of_header(line, path), 0) if declared is None else (declared, 1)

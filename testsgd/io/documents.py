"""JSON and TOML from outside: every way in which a document can be wrong is a ``ValueError``.

The parsers of the standard library give a ``RecursionError`` for a thousand brackets and read whole
numbers of any length, which fail much later, where they are computed with.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

# Levels of tables and lists; no document of testsgd's has more than a dozen.
DEEPEST = 100

_LONG_NUMBER = re.compile(r"\d[\d_]{300}")
_TOO_DEEP = f"it is nested more than {DEEPEST} levels deep"
# Python names the function that raises the limit, which no user of a command can call.
_LIMIT_ON_DIGITS = "set_int_max_str_digits"
_MANY_DIGITS = "it holds a number of thousands of digits"
_NO_MEMORY = "it takes more memory than there is"
# In one line of TOML: a text or a quoted key, or a comment.
_QUOTED = re.compile(r'"(?:\\.|[^"\\])*"|\'[^\']*\'|#.*')
_DEEP_KEY = re.compile(rf"(?<![\w-])(?:[\w-]+[ \t]*\.[ \t]*){{{DEEPEST}}}")
_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")
_TOO_LARGE = "it holds a whole number that is too large for a computation"


def loads_json(
    text: str | bytes,
    *,
    parse_constant: Callable[[str], Any] | None = None,
    half_characters: bool = False,
) -> Any:
    r"""Return what a JSON document holds.

    Parameters
    ----------
    text : str or bytes
        Bytes are UTF-8, UTF-16 or UTF-32, as JSON allows.
    parse_constant : callable, optional
        What to make of NaN and the infinities, as in :func:`json.loads`.
    half_characters : bool, default=False
        Whether a text may hold half of a character, such as ``\ud83d`` alone. JSON may, and files
        in UTF-8 may not; what is only passed on need not be refused for it.

    Returns
    -------
    dict, list, str, int, float, bool or None

    Raises
    ------
    ValueError
        If it is no JSON, is not in one of these encodings, is nested more than :data:`DEEPEST`
        levels deep, holds a whole number that no ``float`` can hold or half of a character, or
        takes more memory than there is.

    Examples
    --------
    >>> from testsgd.io import loads_json
    >>> loads_json('{"bound": 0.1}')
    {'bound': 0.1}
    >>> loads_json("[" * 1000 + "]" * 1000)
    Traceback (most recent call last):
    ...
    ValueError: it is nested more than 100 levels deep
    """
    try:
        document = json.loads(text, parse_constant=parse_constant)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except MemoryError:
        raise ValueError(_NO_MEMORY) from None
    except ValueError as error:
        if _LIMIT_ON_DIGITS in str(error):
            raise ValueError(unreadable_because(error)) from None
        raise
    decoded = text if isinstance(text, str) else text.decode(json.detect_encoding(text))
    check_document(document, decoded, half_characters=half_characters)
    return document


def loads_toml(text: str, *, exact: bool = False) -> dict[str, Any]:
    """Return what a TOML document holds.

    Parameters
    ----------
    text : str
    exact : bool, default=False
        Read decimal numbers as ``Decimal``, not as ``float``.

    Returns
    -------
    dict

    Raises
    ------
    tomllib.TOMLDecodeError
        If it is no TOML; its message has the line. It is a ``ValueError``, as the others are:
    ValueError
        If it is nested more than :data:`DEEPEST` levels deep, holds a whole number that no
        ``float`` can hold, or takes more memory than there is.

    Examples
    --------
    >>> from testsgd.io import loads_toml
    >>> loads_toml("bound = 0.1")
    {'bound': 0.1}
    """
    _check_keys(text)
    try:
        document = tomllib.loads(text, parse_float=Decimal if exact else float)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except MemoryError:
        raise ValueError(_NO_MEMORY) from None
    except ValueError as error:
        if _LIMIT_ON_DIGITS in str(error):
            raise ValueError(unreadable_because(error)) from None
        raise
    check_document(document, text)
    return document


def unreadable_because(error: ValueError) -> str:
    """Return why a document cannot be read, without advice that is for programs.

    Parameters
    ----------
    error : ValueError
        What the reader raised.

    Returns
    -------
    str

    Examples
    --------
    >>> from testsgd.io import unreadable_because
    >>> unreadable_because(ValueError("Expecting value: line 1 column 1 (char 0)"))
    'Expecting value: line 1 column 1 (char 0)'
    """
    return _MANY_DIGITS if _LIMIT_ON_DIGITS in str(error) else str(error)


def _check_keys(text: str) -> None:
    """Raise a ValueError if a dotted key of TOML is too deep: its parser takes quadratic memory."""
    if text.count(".") < DEEPEST:
        return
    for line in text.split("\n"):
        if line.count(".") < DEEPEST:
            continue
        bare = _QUOTED.sub(lambda found: "" if found[0].startswith("#") else "q", line)
        if _DEEP_KEY.search(bare):
            raise ValueError(_TOO_DEEP)


def check_document(document: Any, text: str, *, half_characters: bool = False) -> None:
    r"""Raise if a document is nested too deep, or a value in it cannot be computed with or written.

    Nearly all documents are cleared by their text alone: with few brackets nothing is deep, and
    without a long run of digits no whole number is large. An escape such as ``\ud83d`` is half of a
    character: without its other half it is no text that a file can hold.

    Parameters
    ----------
    document : dict, list, str, int, float, bool or None
        What a parser made of the text.
    text : str
        JSON or TOML.
    half_characters : bool, default=False
        Whether texts may hold half of a character.

    Raises
    ------
    ValueError
    """
    if not half_characters and _HALF_CHARACTER.search(text) is not None:
        _check_characters(document)
    may_be_deep = text.count("[") + text.count("{") + text.count(".") > DEEPEST
    may_be_large = _LONG_NUMBER.search(text) is not None
    if not may_be_deep and not may_be_large:
        return
    for depth, level in enumerate(levels_of(document)):
        if depth > DEEPEST:
            raise ValueError(_TOO_DEEP)
        if may_be_large:
            for value in level:
                if isinstance(value, int) and not _is_finite(value):
                    raise ValueError(_TOO_LARGE)


def levels_of(document: Any) -> Iterator[list[Any]]:
    """Yield the values of a document level by level: itself, what is in it, what is in that.

    Not by recursion: a document may be nested as deep as a parser allows.

    Examples
    --------
    >>> list(levels_of({"rates": [0.5, 1]}))
    [[{'rates': [0.5, 1]}], [[0.5, 1]], [0.5, 1]]
    """
    level = [document]
    while level:
        yield level
        inner: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                inner += value.values()
            elif isinstance(value, list):
                inner += value
        level = inner


def _check_characters(document: Any) -> None:
    """Raise if a text of a JSON document holds half of a character alone."""
    try:
        json.dumps(document, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise ValueError(f"it holds half of a character, \\u{ord(half):04x}") from None
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def _is_finite(number: int) -> bool:
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False

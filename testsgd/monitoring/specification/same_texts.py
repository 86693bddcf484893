"""Texts of one value that is written in several ways, as 7 and 7.0, or True and true."""

from __future__ import annotations

import re
from unicodedata import normalize

# As pandas writes whole numbers of a column that has, or had, a gap; not 007.0, 1.50 or 1e3.
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,15})\.0")
# From here on different whole numbers become the same float.
_WHOLE_FLOATS = 2**53
_BOOLEANS = {"True": "true", "TRUE": "true", "False": "false", "FALSE": "false"}


def id_text(text: str) -> str:
    """Return the text of an id, without the .0 of a whole number.

    Examples
    --------
    >>> id_text("7.0"), id_text("7.50"), id_text("007.0"), id_text("1e3")
    ('7', '7.50', '007.0', '1e3')
    """
    if text[-2:] == ".0" and _WHOLE.fullmatch(text):
        number = int(text[:-2])
        if abs(number) < _WHOLE_FLOATS:
            return str(number)
    return text


def value_text(text: str) -> str:
    r"""Return the text of a group or of a condition, the same for all ways to write it.

    Booleans are in small letters, and characters are composed (NFC).

    Examples
    --------
    >>> value_text("True"), value_text("1.0"), value_text("e\u0301") == "\u00e9"
    ('true', '1', True)
    """
    if not text.isascii():
        return normalize("NFC", text)
    return _BOOLEANS.get(text) or id_text(text)

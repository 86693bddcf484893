"""Texts of others in a specification that is written as TOML: comments, names and values."""

from __future__ import annotations

import json


def commented(text: str) -> str:
    r"""Return a text for a comment of TOML, which has one line and no controls.

    Examples
    --------
    >>> commented("a\nb")
    'a b'
    """
    return "".join(letter if letter.isprintable() else " " for letter in text)


def shortened(text: str, most: int = 100) -> str:
    """Return the beginning of a text, for a name.

    Examples
    --------
    >>> shortened("age < 30 and sex = f", 11)
    'age < 30...'
    """
    text = commented(text)
    return text if len(text) <= most else f"{text[: most - 3]}..."


def quoted_text(text: str) -> str:
    r"""Return a text as TOML writes it, between quotes.

    Examples
    --------
    >>> quoted_text('é "x"')
    '"é \\"x\\""'
    """
    # TOML knows every escape that JSON writes, and asks for one more.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

"""Texts of data as JSON and TOML that may be printed: nothing in them steers a terminal."""

from __future__ import annotations

import json
import re

from testsgd.errors import CONTROLS

_SURROGATES = re.compile("[\ud800-\udfff]")


def escape_controls(document: str) -> str:
    r"""Return JSON, or TOML without literal texts, that says the same and steers no terminal.

    Parameters
    ----------
    document : str

    Returns
    -------
    str
        Control characters and marks of direction are written as escapes; line ends and tabs stay.

    Examples
    --------
    >>> from testsgd.io import escape_controls
    >>> escape_controls('{"name": "a' + chr(0x9B) + '31m"}')
    '{"name": "a\\u009b31m"}'
    """
    return CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", document)


def toml_text(text: str) -> str:
    r"""Return a text as TOML writes it, in quotation marks.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        In one line. Whatever could steer a terminal is an escape, so that it is read back the
        same; halves of characters, which TOML cannot hold, are U+FFFD.

    Examples
    --------
    >>> from testsgd.io import toml_text
    >>> toml_text('say "x"' + chr(0x202E))
    '"say \\"x\\"\\u202e"'
    """
    # TOML knows every escape that JSON writes, but for the slash, which JSON leaves alone.
    return escape_controls(json.dumps(_SURROGATES.sub("\ufffd", text), ensure_ascii=False))

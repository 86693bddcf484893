"""Summaries as few lines of text, for an interpreter that echoes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from typing import Any

from testsgd.report.formatting import plural

LINES = 10
"""The most lines of a short form."""
_WIDTH = 100
# Longer texts are cut; collections of more items are counted.
_TEXT = 400
_COUNTED = 3


def short_form(name: str, fields: Iterable[tuple[str, Any]]) -> str:
    """Return an object in at most ten lines: a field a line, long collections only counted.

    Parameters
    ----------
    name : str
        The name of its class.
    fields : iterable of (str, object)
        Its fields, the most important first. Where there is a ``verdict``, its status and its
        headline come before all others.

    Returns
    -------
    str
        One line if that is short.

    Examples
    --------
    >>> short_form("Cell", [("label", "60 <= age"), ("rate", 0.25)])
    "Cell(label='60 <= age', rate=0.25)"
    >>> print(short_form("Chart", [("title", "t" * 80), ("points", list(range(100)))]))
    Chart(
      title='tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt',
      points=[100 items],
    )
    """
    parts = [f"{field}={_value(value)}" for field, value in _verdict_first(list(fields))]
    line = f"{name}({', '.join(parts)})"
    if len(line) <= _WIDTH:
        return line
    # Besides the first and the last line, and one that says how many fields are left out.
    if len(parts) > LINES - 2:
        left_out = len(parts) - (LINES - 3)
        parts = [*parts[: LINES - 3], f"... {plural(left_out, 'more field')}"]
    return "\n".join([f"{name}(", *(f"  {part}," for part in parts), ")"])


def _verdict_first(fields: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Return fields with the status and the headline of a verdict in its place, at the front."""
    verdict = next((value for name, value in fields if name == "verdict"), None)
    spoken = [
        (name, getattr(verdict, name)) for name in ("status", "headline") if hasattr(verdict, name)
    ]
    if not spoken:
        return fields
    return [*spoken, *((name, value) for name, value in fields if name != "verdict")]


def _value(value: Any) -> str:
    """Return a value in one short line."""
    if isinstance(value, (list, tuple, Mapping, set, frozenset)) and len(value) > _COUNTED:
        return f"[{plural(len(value), 'item')}]"
    text = repr(value)
    if isinstance(value, str):
        return text if len(text) <= _TEXT else f"{text[: _TEXT - 3]}..."
    if "\n" not in text and len(text) <= _WIDTH:
        return text
    return f"[{plural(len(value), 'item')}]" if isinstance(value, Sized) else _name_of(value)


def _name_of(value: Any) -> str:
    return f"{type(value).__name__}(...)"

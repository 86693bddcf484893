"""Moments: what unit of time a value is in, and how many seconds that is."""

from __future__ import annotations

import contextlib
import math
from datetime import UTC, date, datetime
from typing import Any, Literal, NamedTuple

import numpy as np

from testsgd.errors import EventError

# Moments that are so close, in seconds, are one: a tenth of a second is no exact number.
ONE_MOMENT = 1e-6

Unit = Literal["s", "ms", "us", "ns", "iso", "own"]
UNIT_NAMES: dict[Unit, str] = {
    "s": "seconds",
    "ms": "milliseconds",
    "us": "microseconds",
    "ns": "nanoseconds",
    "iso": "ISO 8601",
    "own": "seconds of a clock of its own",
}
_SCALES: dict[Unit, int] = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}

# Seconds from here on (3 March 1973) are taken for seconds since 1970; fewer are those of a clock
# that the stream has of its own. Numbers of a thousand times as many are in the next unit.
CALENDAR = 1e8
# In no unit a larger number is a date.
_LARGEST = 1e20
_LAST_DATE = 253_402_300_799.0


class Moment(NamedTuple):
    """A moment, in seconds, and the unit in which it was written."""

    seconds: float
    unit: Unit


def moment_of(value: Any, field: str = "time", unit: Unit | None = None) -> Moment | None:
    """Read a moment: a number, or a date with or without a time of day.

    Parameters
    ----------
    value : float, str, datetime.date or datetime.datetime
        As text a number, or ISO 8601; without a zone it is taken as UTC.
    field : str
        For an error message.
    unit : {"s", "ms", "us", "ns", "iso"}, optional
        What numbers are in. Left out, their size says it: what would be a date from 1973 to 5138.
        With "iso" digits alone are a date.

    Returns
    -------
    Moment or None
        Seconds since 1970, or of the stream's own clock. None if the value is missing.

    Raises
    ------
    EventError
        If it is no moment.

    Examples
    --------
    >>> moment_of("1970-01-01T01:00:00+01:00"), moment_of(3)
    (Moment(seconds=0.0, unit='iso'), Moment(seconds=3.0, unit='own'))
    >>> moment_of(1767225600), moment_of("1767225600000")
    (Moment(seconds=1767225600.0, unit='s'), Moment(seconds=1767225600.0, unit='ms'))
    >>> moment_of(90_000, unit="ms")
    Moment(seconds=90.0, unit='own')
    """
    if isinstance(value, np.datetime64):
        value = str(value)
    elif isinstance(value, np.generic):
        value = value.item()
    if is_missing(value):
        return None
    if isinstance(value, str):
        value = _read_text(value, field, unit)
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if isinstance(value, datetime):
        zoned = value if value.tzinfo else value.replace(tzinfo=UTC)
        return Moment(zoned.timestamp(), "iso")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _no_moment(value, field)
    try:
        size = abs(float(value))
    except OverflowError:
        size = math.inf
    if not size < _LARGEST:
        raise _no_moment(value, field)
    written = _unit_by_size(size) if unit is None or unit == "iso" else unit
    seconds = size / _SCALES[written]
    return Moment(math.copysign(seconds, value), "own" if seconds < CALENDAR else written)


def iso_text(seconds: float | None) -> str | None:
    """Write a moment as a date and time in ISO 8601, UTC.

    Parameters
    ----------
    seconds : float or None
        Since 1970.

    Returns
    -------
    str or None
        None if there is no moment, or it is one of a stream's own clock.

    Examples
    --------
    >>> iso_text(1767225600.25), iso_text(90.0), iso_text(None)
    ('2026-01-01T00:00:00.250000Z', None, None)
    """
    if seconds is None or not CALENDAR <= seconds <= _LAST_DATE:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def is_missing(value: Any) -> bool:
    """Return whether a value is one that stands for none: not a number, or no moment."""
    return isinstance(value, float | datetime) and bool(value != value)


def shown(value: Any) -> str:
    """Return a value as a message has it, cut short if it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no number of more than 4300 digits
        return "(a number too long to be written)"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _unit_by_size(size: float) -> Unit:
    """Find the unit in which a number is a date; seconds if it is too small for any."""
    if size < 1000 * CALENDAR:  # by far the most
        return "s"
    return next(unit for unit, scale in _SCALES.items() if size < CALENDAR * 1000 * scale)


def _read_text(text: str, field: str, unit: Unit | None) -> float | datetime:
    # Digits alone are a number, although some of them could be a date.
    if unit != "iso":
        with contextlib.suppress(ValueError):
            return float(text.replace("_", "?"))
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        raise _no_moment(text, field) from None


def _no_moment(value: Any, field: str) -> EventError:
    return EventError(
        f"the value {shown(value)} is no moment",
        where=field,
        remedy="give a number of seconds, or a text such as 2026-01-31T12:00:00Z",
        value=value,
    )

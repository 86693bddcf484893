"""Reading an event: which of its fields matter, and what their values mean."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

import numpy as np

from testsgd.errors import EventError
from testsgd.monitoring.specification import MonitorSpecification

# Moments that are so close, in seconds, are one: a tenth of a second is no exact number.
ONE_MOMENT = 1e-6

# Farther from 0 a second is no longer told from the next one.
_LAST_MOMENT = 1e15
# From here on different whole numbers become the same float.
_WHOLE_FLOATS = 2**53


class Event(NamedTuple):
    """What an event says; None is what it does not say.

    Attributes
    ----------
    name : str or None
        The id of the trial that it belongs to.
    group : str or None
    decision, label : {0, 1} or None
    given : tuple of (str or None)
        One a field within which groups are compared.
    time : float or None
        Seconds.
    """

    name: str | None
    group: str | None
    decision: int | None
    label: int | None
    given: tuple[str | None, ...]
    time: float | None


class EventReader:
    """Reads events as a specification calls their fields.

    Parameters
    ----------
    specification : MonitorSpecification

    Attributes
    ----------
    given_fields : tuple of str
        All fields within which some property compares groups.

    Examples
    --------
    >>> reader = EventReader(MonitorSpecification.from_dict(
    ...     {"properties": [{"property": "demographic_parity", "threshold": 0.1}]}))
    >>> reader.read({"id": 7, "group": "a", "decision": True, "age": 31})
    Event(name='7', group='a', decision=1, label=None, given=(), time=None)
    """

    __slots__ = ("_decisions", "_fields", "_labels", "given_fields")

    def __init__(self, specification: MonitorSpecification) -> None:
        named = specification.events
        fields = [field for one in specification.monitored for field in one.given]
        self.given_fields = tuple(dict.fromkeys(fields))
        self._fields = (named.id, named.group, named.decision, named.label, named.time)
        self._decisions = _meanings(named.unfavourable, named.favourable)
        self._labels = _meanings(named.negative, named.positive)

    def read(self, event: Mapping[str, Any]) -> Event:
        """Read one event.

        Parameters
        ----------
        event : mapping

        Returns
        -------
        Event

        Raises
        ------
        EventError
            If it is no mapping, or a value cannot be one of its field.
        """
        if not isinstance(event, Mapping):
            raise EventError(
                f"an event is a mapping of fields to values, not {type(event).__name__}",
                remedy='give one such as {"group": "a", "decision": 1}',
            )
        fields = self._fields
        name, group, decision, label, time = map(event.get, fields)
        return Event(
            None if name is None else _quick_text(name, fields[0]),
            None if group is None else _quick_text(group, fields[1]),
            None if decision is None else _meaning(decision, self._decisions, fields[2]),
            None if label is None else _meaning(label, self._labels, fields[3]),
            tuple(
                None if (value := event.get(field)) is None else _quick_text(value, field)
                for field in self.given_fields
            )
            if self.given_fields
            else (),
            None if time is None else seconds_of(time, fields[4]),
        )


def _meanings(zero: tuple[Any, ...], one: tuple[Any, ...]) -> dict[Any, int]:
    return {**dict.fromkeys(zero, 0), **dict.fromkeys(one, 1)}


def _meaning(value: Any, meanings: Mapping[Any, int], field: str) -> int | None:
    if _missing(value):
        return None
    try:
        return meanings[value]
    except (KeyError, TypeError):
        known = ", ".join(dict.fromkeys(json.dumps(one) for one in meanings))
        raise EventError(
            f"the value {_shown(value)} has no meaning",
            where=field,
            remedy=f"known are {known}; the specification says which values mean what",
            value=value,
        ) from None


def _quick_text(value: Any, field: str) -> str | None:
    # Most values are plain texts, and most time goes into calls.
    return value if type(value) is str and value and value.isascii() else text_of(value, field)


def text_of(value: Any, field: str) -> str | None:
    """Give a value as the text by which it is told from others; whole numbers without a point.

    Parameters
    ----------
    value : str, int, float or bool
    field : str
        For an error message.

    Returns
    -------
    str or None
        None if the value is missing (not a number, or an empty text).

    Raises
    ------
    EventError
        If it is something else.

    Examples
    --------
    >>> text_of("7", "id"), text_of(7.0, "id"), text_of(True, "id")
    ('7', '7', 'true')
    """
    if type(value) is str:
        with contextlib.suppress(UnicodeEncodeError):  # half a character
            value.encode()
            return value or None
    if isinstance(value, np.generic):
        value = value.item()
    if _missing(value):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE_FLOATS:
        return str(int(value))
    if isinstance(value, float) and abs(value) >= _WHOLE_FLOATS:
        raise EventError(
            f"the number {_shown(value)} is too large for a float to tell it from others",
            where=field,
            remedy="give it as a whole number or as a text",
            value=value,
        )
    if isinstance(value, int | float) and value not in (math.inf, -math.inf):
        with contextlib.suppress(ValueError):  # a number of thousands of digits
            return str(value)
    raise EventError(
        f"the value {_shown(value)} is neither a text nor a number",
        where=field,
        remedy="give a text or a number",
        value=value,
    )


def seconds_of(value: Any, field: str = "time") -> float | None:
    """Read a moment: a number of seconds, or a date with or without a time of day.

    Parameters
    ----------
    value : float, str, datetime.date or datetime.datetime
        As text a number, or ISO 8601; without a zone it is taken as UTC.
    field : str
        For an error message.

    Returns
    -------
    float or None
        Seconds; of a date since 1970. None if the value is missing.

    Raises
    ------
    EventError
        If it is no moment.

    Examples
    --------
    >>> seconds_of(3), seconds_of("1970-01-02"), seconds_of("1970-01-01T01:00:00+01:00")
    (3.0, 86400.0, 0.0)
    """
    if isinstance(value, np.datetime64):
        value = str(value)
    elif isinstance(value, np.generic):
        value = value.item()
    if _missing(value):
        return None
    if isinstance(value, str):
        value = _read_moment(value, field)
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _no_moment(value, field)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not abs(number) <= _LAST_MOMENT:
        raise _no_moment(value, field)
    return number


def _read_moment(text: str, field: str) -> float | datetime:
    # Digits alone are seconds, although some of them could be a date.
    with contextlib.suppress(ValueError):
        return float(text.replace("_", "?"))
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        raise _no_moment(text, field) from None


def _no_moment(value: Any, field: str) -> EventError:
    return EventError(
        f"the value {_shown(value)} is no moment",
        where=field,
        remedy="give a number of seconds, or a text such as 2026-01-31T12:00:00Z",
        value=value,
    )


def _missing(value: Any) -> bool:
    """Say whether a value is one that stands for none: not a number, or no moment."""
    return isinstance(value, float | datetime) and bool(value != value)


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python writes no number of more than 4300 digits
        return "(a number too long to be written)"
    return text if len(text) <= 60 else f"{text[:57]}..."

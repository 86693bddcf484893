"""Reading an event: which of its fields matter, and what their values mean."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from testsgd.errors import EventError
from testsgd.monitoring.specification import MonitorSpecification
from testsgd.monitoring.trials.moments import Moment, Unit, is_missing, moment_of, shown

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
    unit : str or None
        What its time was written in, see :class:`~testsgd.monitoring.trials.moments.Moment`.
    """

    name: str | None
    group: str | None
    decision: int | None
    label: int | None
    given: tuple[str | None, ...]
    time: float | None
    unit: Unit | None = None


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
    Event(name='7', group='a', decision=1, label=None, given=(), time=None, unit=None)
    """

    __slots__ = ("_decisions", "_fields", "_labels", "_unit", "given_fields")

    def __init__(self, specification: MonitorSpecification) -> None:
        named = specification.events
        fields = [field for one in specification.monitored for field in one.given]
        self.given_fields = tuple(dict.fromkeys(fields))
        self._fields = (named.id, named.group, named.decision, named.label, named.time)
        self._decisions = _meanings(named.unfavourable, named.favourable)
        self._labels = _meanings(named.negative, named.positive)
        self._unit = specification.time.unit

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
        moment = None if time is None else self.moment(time)
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
            *(moment or (None, None)),
        )

    def moment(self, time: Any) -> Moment | None:
        """Read a moment as the specification says it is written; None if it is missing."""
        return moment_of(time, self._fields[4], self._unit)


def _meanings(zero: tuple[Any, ...], one: tuple[Any, ...]) -> dict[Any, int]:
    return {**dict.fromkeys(zero, 0), **dict.fromkeys(one, 1)}


def _meaning(value: Any, meanings: Mapping[Any, int], field: str) -> int | None:
    if is_missing(value):
        return None
    try:
        return meanings[value]
    except (KeyError, TypeError):
        known = ", ".join(dict.fromkeys(json.dumps(one) for one in meanings))
        raise EventError(
            f"the value {shown(value)} has no meaning",
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
    if is_missing(value):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE_FLOATS:
        return str(int(value))
    if isinstance(value, float) and abs(value) >= _WHOLE_FLOATS:
        raise EventError(
            f"the number {shown(value)} is too large for a float to tell it from others",
            where=field,
            remedy="give it as a whole number or as a text",
            value=value,
        )
    if isinstance(value, int | float) and value not in (math.inf, -math.inf):
        with contextlib.suppress(ValueError):  # a number of thousands of digits
            return str(value)
    raise EventError(
        f"the value {shown(value)} is neither a text nor a number",
        where=field,
        remedy="give a text or a number",
        value=value,
    )

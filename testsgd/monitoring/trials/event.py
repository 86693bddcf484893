"""Reads events: the fields that matter, and the meaning of their values."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import Any, Literal, NamedTuple

import numpy as np

from testsgd.data.schema_parts import exact_not_negative
from testsgd.errors import EventError, ExpressionError
from testsgd.expressions import Expression
from testsgd.fairness.conditioned_groups import NO_GROUP, ConditionedGroup
from testsgd.monitoring.specification import (
    MonitorSpecification,
    condition_of,
)
from testsgd.monitoring.specification.same_texts import id_text, value_text

# Moments that are so close, in seconds, are one: a tenth of a second is no exact number.
ONE_MOMENT = 1e-6
Unit = Literal["s", "ms", "us", "ns", "iso", "own"]
UNIT_NAMES: dict[Unit, str] = {
    "s": "seconds",
    "ms": "milliseconds",
    "us": "microseconds",
    "ns": "nanoseconds",
    "iso": "ISO 8601",
    "own": "seconds of a clock of the stream's own",
}
_SCALES: dict[Unit, int] = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}

# Seconds from here on (3 March 1973) are taken for seconds since 1970; fewer are those of a clock
# that the stream has of its own. Numbers of a thousand times as many are in the next unit.
CALENDAR = 1e8
# In no unit a larger number is a date.
_LARGEST = 1e20
_LAST_DATE = 253_402_300_799.0

# From here on different whole numbers become the same float.
_WHOLE_FLOATS = 2**53


class Moment(NamedTuple):
    """A moment, in seconds, and the unit in which it was written."""

    seconds: float
    unit: Unit


def moment_of(value: Any, field: str = "time", unit: Unit | None = None) -> Moment | None:
    """Return the moment that a number or a date stands for; None if the value is missing.

    Text is a number or ISO 8601, UTC without a zone. `unit` is that of numbers. Left out, it is the
    first unit in which the number is a date from 1973 to 5138; smaller numbers are seconds of a
    clock of the stream's own. With "iso" digits alone are a date. An EventError refuses any other
    value.
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
    written: Unit = "s"
    if unit is not None and unit != "iso":
        written = unit
    elif size >= 1000 * CALENDAR:  # by far the most are smaller
        # The unit in which the number is a date.
        written = next(kind for kind, scale in _SCALES.items() if size < CALENDAR * 1000 * scale)
    seconds = size / _SCALES[written]
    return Moment(math.copysign(seconds, value), "own" if seconds < CALENDAR else written)


def iso_text(seconds: float | None) -> str | None:
    """Return seconds since 1970 in ISO 8601, in UTC.

    Parameters
    ----------
    seconds : float or None

    Returns
    -------
    str or None
        None if they are of a clock of the stream's own, or no date can hold them.

    Examples
    --------
    >>> iso_text(1.7e9)
    '2023-11-14T22:13:20Z'
    """
    if seconds is None or not CALENDAR <= seconds <= _LAST_DATE:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def is_missing(value: Any) -> bool:
    """Return whether a value is one that stands for none: not a number, or no moment."""
    return isinstance(value, float | datetime) and bool(value != value)


def shown(value: Any) -> str:
    """Return a value as a message has it, cut short if it is long.

    Parameters
    ----------
    value : object

    Returns
    -------
    str
        At most 60 characters of its ``repr``.

    Examples
    --------
    >>> shown("a" * 100)[-5:]
    'aa...'
    """
    try:
        text = repr(value)
    except ValueError:  # Python writes no number of more than 4300 digits
        return "(a number too long to be written)"
    return text if len(text) <= 60 else f"{text[:57]}..."


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
    remedy = "give a number of seconds, or a text such as 2026-01-31T12:00:00Z"
    what = f"the value {shown(value)} is no moment"
    return EventError(what, where=field, remedy=remedy, value=value)


class Event(NamedTuple):
    """The values of one event as they are read; None where it has none.

    Attributes
    ----------
    name : str or None
        The trial that it is of: the text of the id. Of an id of several fields it is the list of
        their texts as JSON.
    group : str or None
        The group.
    decision : int or None
        1 if it is favourable, else 0.
    label : int or None
        1 if it is positive, else 0.
    conditions : tuple of (str or None)
        The values of the specification's ``given_fields``, in their order.
    time : float or None
        In seconds.
    unit : {"s", "ms", "us", "ns", "iso", "own"} or None
        What the time was written in; "own" is a clock of the stream's own.
    prior_values : tuple of (str or None)
        The fields that a prior is computed from, as texts of exact fractions.
    group_if_unsaid : str or None
        The group of an event whose fields of the group are empty, if no event of the trial has
        given another before.

    Examples
    --------
    >>> event = Event("7", "female", 1, None, (), time=86_400.0)
    >>> event.decision, event.label
    (1, None)
    """

    name: str | None
    group: str | None
    decision: int | None
    label: int | None
    conditions: tuple[str | None, ...]
    time: float | None
    unit: Unit | None = None
    prior_values: tuple[str | None, ...] = ()
    group_if_unsaid: str | None = None


class EventReader:
    """A reader of events, as a specification names their fields and the meaning of their values.

    Parameters
    ----------
    specification : MonitorSpecification
        Which fields matter, and what their values mean.

    Notes
    -----
    :meth:`read` raises an :class:`testsgd.errors.EventError` if an event is no mapping, a value has
    no meaning, a time is no moment, or only some fields of an id are there. It keeps nothing of an
    event, so one reader may serve several streams.

    Examples
    --------
    >>> specification = MonitorSpecification.from_dict({
    ...     "events": {"group": "sex", "decision": "granted", "favourable": ["yes"],
    ...                "unfavourable": ["no"]},
    ...     "properties": [{"property": "demographic_parity", "bound": 0.1}]})
    >>> reader = EventReader(specification)
    >>> event = reader.read({"sex": "f", "granted": "yes", "time": "1970-01-02", "age": 30})
    >>> event.group, event.decision, event.label, event.time, event.unit
    ('f', 1, None, 86400.0, 'iso')
    """

    __slots__ = (
        "_decisions",
        "_derived",
        "_empty",
        "_fields",
        "_given",
        "_group_fields",
        "_group_if_unsaid",
        "_has_expressions",
        "_joint_id",
        "_labels",
        "_prior_values",
        "_spelled",
        "_unit",
    )

    def __init__(self, specification: MonitorSpecification) -> None:
        named = specification.events
        self._given = specification.given_fields
        self._prior_values = specification.prior_fields
        self._joint_id = named.id_fields if len(named.id_fields) > 1 else ()
        self._fields = (
            named.id_fields[0],
            named.group,
            named.decision,
            named.label,
            named.time,
        )
        self._empty = frozenset(named.empty or ())
        self._decisions = _meanings(named.unfavourable, named.favourable)
        self._labels = _meanings(named.negative, named.positive)
        self._unit = specification.time.unit
        derived: dict[str, Callable[[Mapping[str, Any]], str | int | None]] = {}
        if specification.groups.by is not None:
            derived[named.group] = _group_reader(specification.groups.by, specification)
        for field in (named.decision, named.label):
            if (condition := condition_of(field)) is not None:
                derived[field] = _condition_reader(condition)
        self._derived = tuple(derived.items())
        self._group_fields = specification.group_fields
        self._has_expressions = specification.groups.by is not None
        # A group has the name that the specification writes, True for true.
        self._spelled = _spelled_groups(specification)
        self._group_if_unsaid = None
        if specification.groups.by is not None and not _gets_group_later(specification):
            self._group_if_unsaid = _group_of_empty_fields(specification.groups.by)

    def read(self, event: Mapping[str, Any]) -> Event:
        """Read one event, or refuse it."""
        if not isinstance(event, Mapping):
            what = f"an event is a mapping of fields to values, not {type(event).__name__}"
            raise EventError(what, remedy='give one such as {"group": "a", "decision": 1}')
        if "lost_since" in event and "final" in event:
            raise _overruled()
        if self._empty:
            event = self._without_empty(event)
        if self._derived:
            event = self._with_derived(event)
        fields = self._fields
        name, group, decision, label, time = map(event.get, fields)
        if self._joint_id:
            name = joint_id_text(event, self._joint_id)
        moment = None if time is None else self.moment(time)
        seconds, unit = moment or (None, None)
        if (
            name is None
            and decision is None
            and label is not None
            and self._is_without_group(event)
        ):
            # A label alone is that of the last trial, whose group is known.
            group = None
        unsaid = None
        if group is None and decision is not None and self._group_if_unsaid is not None:
            is_empty = all(field in event for field in self._group_fields)
            unsaid = self._group_if_unsaid if is_empty else None
        return Event(
            None if name is None else _id_text(name, fields[0]),
            None if group is None else self._group_text(group),
            None if decision is None else _meaning(decision, self._decisions, fields[2]),
            None if label is None else _meaning(label, self._labels, fields[3]),
            self._given
            and tuple(
                None if (value := event.get(field)) is None else _value_text(value, field)
                for field in self._given
            ),
            seconds,
            unit,
            self._prior_values
            and tuple(_number_text(event.get(field), field) for field in self._prior_values),
            unsaid,
        )

    def _group_text(self, group: Any) -> str | None:
        """Return a group as the specification writes it; None if it is missing or empty."""
        if self._has_expressions:
            # It is one of the names, or none of them.
            return _quick_text(group, self._fields[1])
        text = _value_text(group, self._fields[1])
        return text if text is None else self._spelled.get(text, text)

    def _is_without_group(self, event: Mapping[str, Any]) -> bool:
        """Return whether groups are by expressions, and the event has no value in their fields."""
        if not self._has_expressions:
            return False
        return not any(_has_value(event, field) for field in self._group_fields)

    def _without_empty(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """Return the event without the fields whose text stands for no value."""
        return {
            field: None if isinstance(value, str) and value in self._empty else value
            for field, value in event.items()
        }

    def _with_derived(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """Return the event with the fields that expressions stand for."""
        try:
            values = {field: read(event) for field, read in self._derived}
        except ExpressionError as error:
            raise EventError(
                error.what, where=error.where, remedy=error.remedy, **error.details
            ) from error
        return {**event, **values}

    def moment(self, time: Any) -> Moment | None:
        """Read a moment as the specification says it is written; None if it is missing."""
        return moment_of(time, self._fields[4], self._unit)


def _spelled_groups(specification: MonitorSpecification) -> dict[str, str]:
    """Return the groups that a specification names, by the text that all ways to write it have."""
    names = [*(specification.groups.names or ())]
    for estimate in (specification.estimate, *(part.estimate for part in specification.properties)):
        if estimate is not None:
            names += estimate.groups or ()
    return {value_text(name): name for name in names}


def _overruled() -> EventError:
    """Return the error about a line of a shield's journal that replaces a decision."""
    return EventError(
        "a person overruled the shield here, so the decision that counted before is no longer true",
        where="final",
        remedy="watch the decisions as they were made in the end: a log that has one a person",
    )


def _number_text(value: Any, field: str) -> str | None:
    """Return a number that a prior is of, as an exact text; None if it is missing."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or is_missing(value) or (isinstance(value, str) and not value.strip()):
        return None
    try:
        return str(exact_not_negative(value))
    except ValueError:
        what = f"the value {shown(value)} is no number that is at least 0"
        remedy = "give a number; a prior is computed from it"
        raise EventError(what, where=field, remedy=remedy, value=value) from None


def _group_reader(
    groups: tuple[ConditionedGroup, ...], specification: MonitorSpecification
) -> Callable[[Mapping[str, Any]], str | None]:
    """Return a function from an event to its group; None if it has no field that says it.

    A table has all columns in each row. So a row with an id says nothing of the group where all of
    its fields are empty, but where a group is that of missing values, or, with a decision, where
    the group comes no later: see :attr:`Event.group_if_unsaid`.
    """
    fields = frozenset(specification.group_fields)
    tests = tuple((group.name, group.condition.holds) for group in groups)
    id_fields = specification.events.id_fields
    may_be_missing = any(group.condition.asks_for_missing for group in groups)

    def read(event: Mapping[str, Any]) -> str | None:
        if fields.isdisjoint(event):
            return None
        if may_be_missing or any(_has_value(event, field) for field in fields):
            return group_of(event)
        # Of a trial without an id this event says all.
        return None if any(_has_value(event, field) for field in id_fields) else group_of(event)

    def group_of(event: Mapping[str, Any]) -> str:
        for name, holds in tests:
            if holds(event):
                return name
        return NO_GROUP

    return read


def _gets_group_later(specification: MonitorSpecification) -> bool:
    """Return whether an event with the decision may come before the one with the group.

    So it is in a typed log, of which most events leave most fields empty.
    """
    trials = specification.trials
    is_typed = specification.events.empty is not None
    return is_typed or trials.decision_deadline is not None or bool(specification.spans)


def _group_of_empty_fields(groups: tuple[ConditionedGroup, ...]) -> str:
    """Return the group of a person of whom no field of the groups is known."""
    return next((group.name for group in groups if group.condition.holds({})), NO_GROUP)


def _condition_reader(condition: Expression) -> Callable[[Mapping[str, Any]], int | None]:
    """Return a function from an event to 1 or 0; None if no field of the expression is known."""
    fields, holds = condition.names, condition.holds

    def read(event: Mapping[str, Any]) -> int | None:
        if any(_has_value(event, field) for field in fields):
            return int(holds(event))
        return None

    return read


def _has_value(event: Mapping[str, Any], field: str) -> bool:
    """Return whether an event has a value in a field, neither missing nor an empty text."""
    value = event.get(field)
    return value is not None and not is_missing(value) and value != ""


def _meanings(zero: tuple[Any, ...], one: tuple[Any, ...]) -> dict[Any, int]:
    return {**dict.fromkeys(zero, 0), **dict.fromkeys(one, 1)}


def _meaning(value: Any, meanings: Mapping[Any, int], field: str) -> int | None:
    if is_missing(value):
        return None
    try:
        return meanings[value]
    except (KeyError, TypeError):
        known = ", ".join(dict.fromkeys(map(json.dumps, meanings)))
        what = f"the value {shown(value)} has no meaning"
        remedy = f"known are {known}; the specification says which values mean what"
        raise EventError(what, where=field, remedy=remedy, value=value) from None


def joint_id_text(event: Mapping[str, Any], fields: tuple[str, ...]) -> str | None:
    """Return the id that several fields of an event are together.

    Parameters
    ----------
    event : mapping
    fields : tuple of str

    Returns
    -------
    str or None
        A list in JSON, so that two ids are the same text only if all their fields are equal. None
        if the event has none of the fields, or all are empty.

    Raises
    ------
    EventError
        If a field is neither a text nor a number, or the event has only some of the fields.

    Examples
    --------
    >>> joint_id_text({"applicant": 7, "job": "baker"}, ("applicant", "job"))
    '["7", "baker"]'
    >>> joint_id_text({"decision": 1}, ("applicant", "job"))
    """
    values = [event.get(field) for field in fields]
    texts = [
        None if value is None else _id_text(value, field)
        for field, value in zip(fields, values, strict=True)
    ]
    if None not in texts:
        return json.dumps(texts, ensure_ascii=False)
    if any(text is not None for text in texts):
        # It would count for another trial, or for one of its own.
        missing = fields[texts.index(None)]
        raise EventError(
            f"an id is {' and '.join(fields)}, and the event has no {missing}",
            where=missing,
            remedy="give all fields of the id, or none of them",
        )
    return None


def _id_text(value: Any, field: str) -> str | None:
    """Return an id as text; a group or a condition may be true or false, an id may not."""
    if isinstance(value, bool | np.bool_):
        raise _no_text(value, field)
    text = _quick_text(value, field)
    return text if text is None else id_text(text)


def _value_text(value: Any, field: str) -> str | None:
    """Return a group or the value of a condition as text; None if it is missing or empty."""
    text = _quick_text(value, field)
    return text if text is None else value_text(text)


def _quick_text(value: Any, field: str) -> str | None:
    # Most values are plain texts, and most time goes into calls.
    return value if type(value) is str and value and value.isascii() else text_of(value, field)


def text_of(value: Any, field: str) -> str | None:
    """Return a value as the text that tells it from others; None if it is missing or empty."""
    if isinstance(value, str):
        # Of numpy's texts and of enumerations, too.
        text = str.__str__(value)
        with contextlib.suppress(UnicodeEncodeError):  # half a character
            text.encode()
            return text or None
    if isinstance(value, np.generic):
        value = value.item()
    if is_missing(value):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and abs(value) >= _WHOLE_FLOATS:
        what = f"the number {shown(value)} is too large for a float to tell it from others"
        remedy = "give it as a whole number or as a text"
        raise EventError(what, where=field, remedy=remedy, value=value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, int | float) and value not in (math.inf, -math.inf):
        with contextlib.suppress(ValueError):  # a number of thousands of digits
            return str(value)
    raise _no_text(value, field)


def _no_text(value: Any, field: str) -> EventError:
    what = f"the value {shown(value)} is neither a text nor a number"
    return EventError(what, where=field, remedy="give a text or a number", value=value)

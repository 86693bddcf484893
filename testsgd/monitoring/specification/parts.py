"""The tables of a monitor's specification, but for the properties."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import (
    BeforeValidator,
    Field,
    PlainValidator,
    WithJsonSchema,
    field_validator,
    model_serializer,
    model_validator,
)

from testsgd.data.schema_parts import (
    AtLeastOne,
    Between,
    Part,
    mistake,
    plain_number,
    repeated,
    seen,
)
from testsgd.fairness.conditioned_groups import ConditionedGroup, checked_groups, with_names_of
from testsgd.fairness.property import GroupNames
from testsgd.monitoring.specification.conditions import (
    FieldOrCondition,
    condition_of,
)
from testsgd.monitoring.specification.same_texts import value_text
from testsgd.monitoring.specification.trial_id import TrialId

_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
_WRITTEN = re.compile(r"(\d{1,15}(?:\.\d{1,30})?)\s*([a-z]+)", re.ASCII)
# Ten thousand years. More is a slip of the pen.
_LONGEST = 3_652_425 * 86_400
_SHORTEST = 1e-6
_WORDS = 'a length of time is written as "730 d", "2 w", "1.5 h", "90 min" or "30 s"'
Value = bool | int | float | str
_FIELDS = ("id", "group", "decision", "label", "time")


def seconds_in(value: Any) -> float:
    """Return the seconds that a written length of time is.

    Parameters
    ----------
    value : object
        A number of seconds, or a text of a number and a unit: s, min, h, d or w.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If it is neither, or not between a microsecond and 10,000 years; pydantic reports it.

    Examples
    --------
    >>> seconds_in("1.5 h"), seconds_in(90)
    (5400.0, 90.0)
    """
    given, value = value, plain_number(value)
    if isinstance(value, str):
        found = _WRITTEN.fullmatch(value.strip())
        if found is None:
            raise ValueError(f"{_WORDS}{seen(given)}")
        number, unit = found.groups()
        if unit not in _SECONDS:
            raise ValueError(f"there is no unit {unit!r}: {_WORDS}")
        seconds = float(Decimal(number) * _SECONDS[unit])
    elif isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{_WORDS}{seen(given)}")
    else:
        seconds = value
    if not _SHORTEST <= seconds <= _LONGEST:
        what = "a length of time is at least a microsecond and at most 10,000 years"
        raise ValueError(f"{what}{seen(given)}")
    return float(seconds)


def duration_text(seconds: float) -> str:
    """Return a length of time in words, in the largest unit that divides it.

    Parameters
    ----------
    seconds : float

    Returns
    -------
    str
        :func:`seconds_in` reads it.

    Examples
    --------
    >>> duration_text(5400), duration_text(0.5)
    ('90 min', '0.5 s')
    """
    for unit in ("d", "h", "min", "s"):
        if seconds % _SECONDS[unit] == 0:
            return f"{int(seconds) // _SECONDS[unit]} {unit}"
    return f"{format(Decimal(repr(float(seconds))), 'f')} s"


_NUMBER_OR_TEXT = WithJsonSchema({"type": ["number", "string"]})
Duration = Annotated[float, BeforeValidator(seconds_in), Field(gt=0), _NUMBER_OR_TEXT]


def _lateness(value: Any) -> float:
    nothing = isinstance(value, str) and re.fullmatch(r"0\s*(s|min|h|d|w)", value.strip())
    return 0.0 if nothing or (value == 0 and not isinstance(value, bool)) else seconds_in(value)


# The same, but none at all is a length too.
Lateness = Annotated[float, BeforeValidator(_lateness), Field(ge=0), _NUMBER_OR_TEXT]


def event_value(value: Any) -> Value:
    """Return a value as JSON has it."""
    value = plain_number(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a value must be a finite number")
    if not isinstance(value, bool | int | float | str):
        raise ValueError("a value is a text, a number or a boolean")
    return value


EventValue = Annotated[
    Value, PlainValidator(event_value), WithJsonSchema({"type": ["boolean", "number", "string"]})
]


def check_apart(
    first: str, first_values: tuple[Value, ...], second: str, second_values: tuple[Value, ...]
) -> None:
    """Refuse lists of which one is empty, has a value twice, or has one that is in the other.

    Within a list 1 and true are two values; in two lists a table of data may not tell them apart.
    """
    for key, values in ((first, first_values), (second, second_values)):
        if not values:
            raise mistake(key, "no value is given", "give at least one")
        before: set[tuple[bool, Value]] = set()
        for index, value in enumerate(values):
            identity = isinstance(value, bool), value
            if identity in before:
                what = f"the value {shown(value)} stands twice"
                raise mistake((key, index), what, "remove one of them")
            before.add(identity)
    for index, value in enumerate(second_values):
        if value in first_values:
            same = first_values[first_values.index(value)]
            alike = "" if type(same) is type(value) else f", as {shown(same)}"
            what = f"the value {shown(value)} is among `{first}` too{alike}"
            raise mistake((second, index), what, f"give `{first}` and `{second}` different values")


def shown(value: Value) -> str:
    """Return a value as TOML and JSON write it.

    Parameters
    ----------
    value : str, int, float or bool

    Returns
    -------
    str

    Examples
    --------
    >>> shown("é"), shown(True)
    ('"é"', 'true')
    """
    return json.dumps(value, ensure_ascii=False)


class EventsPart(Part):
    """What the fields of an event are called, and what their values mean."""

    id: TrialId = Field(
        "id", description="which trial the event belongs to: a field, or a list of several"
    )
    group: str = Field("group", min_length=1, description="whom the decision is about")
    decision: FieldOrCondition = Field(
        "decision", description="what was decided: a field, or an expression over fields"
    )
    label: FieldOrCondition = Field(
        "label", description="the true outcome: a field, or an expression over fields"
    )
    time: str = Field("time", min_length=1, description="when it happened")
    favourable: tuple[EventValue, ...] = Field(
        (1, True, "1"), description="decisions whose share is compared"
    )
    unfavourable: tuple[EventValue, ...] = Field((0, False, "0"), description="other decisions")
    positive: tuple[EventValue, ...] = Field((1, True, "1"), description="labels that are true")
    negative: tuple[EventValue, ...] = Field((0, False, "0"), description="labels that are not")
    empty: tuple[str, ...] | None = Field(
        None, description="texts that stand for no value, in every field"
    )
    others: Literal["refuse", "ignore"] = Field(
        "refuse", description="events that say nothing: an error, or ignored and counted"
    )

    @model_validator(mode="after")
    def _no_two_are_one(self) -> EventsPart:
        if (twice := repeated(list(self.names))) is not None:
            alike = [role for name, role in self._named if name == twice]
            what = f"two fields of an event are called {twice!r}: {' and '.join(alike)}"
            raise mistake(max(alike, key=self._written), what, "give each a name of its own")
        of_fields = (
            ("decision", ("favourable", "unfavourable")),
            ("label", ("positive", "negative")),
        )
        for field, pair in of_fields:
            if (condition := condition_of(getattr(self, field))) is not None:
                if not condition.can_hold(known=True):
                    what = f"{condition.text!r} never holds for an event that says the {field}"
                    remedy = "an event in which all of its fields are missing says none; correct it"
                    raise mistake(field, what, remedy)
                fields = type(self).model_fields
                for key in pair:
                    if getattr(self, key) == fields[key].default:
                        continue
                    what = f"the {field} is an expression, which holds or not"
                    raise mistake(key, what, f"remove `{key}`, or name a field as `{field}`")
            for index, text in enumerate(self.empty or ()):
                for key in pair:
                    if text in getattr(self, key):
                        what = f"the value {shown(text)} is among `{key}` too"
                        raise mistake(("empty", index), what, "remove one of them")
            first, second = sorted(pair, key=self._written)
            check_apart(first, getattr(self, first), second, getattr(self, second))
        return self

    def _written(self, key: str) -> bool:
        # Of two keys that do not fit, the one to blame is the one that somebody wrote.
        return key in self.model_fields_set

    @property
    def id_fields(self) -> tuple[str, ...]:
        """The fields that say together to which trial an event belongs."""
        return (self.id,) if isinstance(self.id, str) else self.id

    @property
    def _named(self) -> tuple[tuple[str, str], ...]:
        """Each name of a field, with what the field is for."""
        others = tuple((getattr(self, role), role) for role in _FIELDS if role != "id")
        return (*((name, "id") for name in self.id_fields), *others)

    @property
    def names(self) -> tuple[str, ...]:
        """What id, group, decision, label and time are called; an id may be several fields."""
        return tuple(name for name, _ in self._named)

    @property
    def roles(self) -> dict[str, str]:
        """What each field is for, by its name: id, group, decision, label or time."""
        return dict(self._named)


class _DependentPart(Part):
    """A table in which some keys play a part only if another one is set; else they are left out."""

    dependent: ClassVar[Mapping[str, tuple[str, ...]]]  # By the key that they need.

    @model_validator(mode="after")
    def _nothing_without_the_main_key(self) -> _DependentPart:
        for main, keys in self.dependent.items():
            for key in keys if getattr(self, main) is None else ():
                if key in self.model_fields_set:
                    what = f"without `{main}` it plays no part"
                    raise mistake(key, what, f"add `{main}`, or remove it")
        return self

    @model_serializer(mode="wrap")
    def _without_what_plays_no_part(self, write: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        left_out = {
            key
            for main, keys in self.dependent.items()
            for key in keys
            if getattr(self, main) is None
        }
        return {key: value for key, value in write(self).items() if key not in left_out}


class GroupsPart(_DependentPart):
    """Who is compared; if nobody is named, whoever comes."""

    dependent: ClassVar[Mapping[str, tuple[str, ...]]] = {"names": ("unknown",)}

    names: GroupNames | None = Field(None, description="the groups, at least two")
    by: tuple[ConditionedGroup, ...] | None = Field(
        None, description="groups by expressions; a person is in the first that holds"
    )
    unknown: Literal["refuse", "pass"] = Field(
        "refuse",
        description="people of no such group: an error, or counted and ignored; by expressions "
        "pass",
    )

    @model_validator(mode="before")
    @classmethod
    def _conditions_name_the_groups(cls, given: Any) -> Any:
        # An event in none of the groups is no mistake.
        return with_names_of(given, unknown="pass")

    @model_validator(mode="after")
    def _no_two_names_are_one(self) -> GroupsPart:
        # Groups by expressions are not read from a field.
        known: dict[str, str] = {}
        for name in (self.names or ()) if self.by is None else ():
            first = known.setdefault(value_text(name), name)
            if first != name:
                what = f"{first!r} and {name!r} are two ways to write one group"
                raise mistake("names", what, "leave one of them out")
        return self

    @field_validator("by")
    @classmethod
    def _no_group_is_empty(
        cls, by: tuple[ConditionedGroup, ...] | None
    ) -> tuple[ConditionedGroup, ...] | None:
        return checked_groups(by)


class TrialsPart(_DependentPart):
    """When a trial is complete, and what follows."""

    dependent: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "deadline": ("without_label", "count"),
        "decision_deadline": ("without_decision",),
    }

    deadline: Duration | None = Field(
        None, description="how long after the decision a label may come"
    )
    without_label: Annotated[
        Literal[0, 1, "drop"],
        WithJsonSchema({"enum": [0, 1, "drop"], "type": ["integer", "string"]}),
    ] = Field(0, description="a trial without a label in time has this one, or is dropped")
    count: Literal["deadline", "known"] = Field(
        "deadline", description="when it counts: at the deadline, or once the label is known"
    )
    decision_deadline: Duration | None = Field(
        None, description="how long after the first event of a trial its decision may come"
    )
    without_decision: Literal["refused", "dropped"] = Field(
        "refused", description="a trial without a decision in time is refused, or dropped"
    )
    repeated: Literal["ignore", "new"] = Field(
        "ignore", description="an id that comes again after its trial: nothing new, or a new trial"
    )

    @model_validator(mode="before")
    @classmethod
    def _true_is_no_label(cls, given: Any) -> Any:
        # For Python, and so for pydantic, true is 1.
        if isinstance(given, Mapping) and isinstance(given.get("without_label"), bool):
            what, remedy = 'must be 0, 1 or "drop"', "write 1 for true, 0 for false"
            raise mistake("without_label", what, remedy)
        return given


class TimePart(Part):
    """When the time of an event is believed; where time decides something."""

    unit: Literal["s", "ms", "us", "ns", "iso"] | None = Field(
        None, description="what times are written in; else the first events show it"
    )
    lateness: Lateness | None = Field(
        None, description="how far before the latest event one may be, 0 s"
    )
    max_skew: Duration | None = Field(
        None, description="how far ahead of the clock and of the latest event one may be, 1 d"
    )

    @property
    def late(self) -> float:
        """Seconds by which an event may be late."""
        return self.lateness or 0.0

    @property
    def skew(self) -> float:
        """Seconds by which an event may be ahead."""
        return 86_400.0 if self.max_skew is None else self.max_skew


def _length(value: Any) -> int | str | None:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return duration_text(seconds_in(value))
    if isinstance(value, bool) or not isinstance(value, int | None):
        remedy = 'give a whole number, or a time such as "30 d"'
        raise mistake((), f"{value} is no number of trials", remedy)
    if value is not None and value < 1:
        raise mistake((), f"a window of {value} trials is empty", "give at least 1")
    return value


class WindowPart(Part):
    """Which trials are compared with each other."""

    kind: Literal["all", "tumbling", "sliding"] = Field(
        "all", description="all so far, one period after the other, or the last ones"
    )
    length: Annotated[
        int | str | None,
        PlainValidator(_length),
        WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]}),
    ] = Field(None, description='a number of trials, or a time such as "30 d"')

    @model_validator(mode="after")
    def _length_fits_the_kind(self) -> WindowPart:
        if self.kind == "all" and self.length is not None:
            remedy = 'remove it, or set kind = "tumbling" or "sliding"'
            raise mistake("length", 'a window of kind "all" has no length', remedy)
        if self.kind != "all" and self.length is None:
            remedy = 'give a number of trials (100) or a time ("30 d")'
            raise mistake("length", f"a {self.kind} window needs a length", remedy)
        return self

    @property
    def trials(self) -> int | None:
        """Length in trials; None if it is a time, or there is none."""
        return self.length if isinstance(self.length, int) else None

    @property
    def seconds(self) -> float | None:
        """Length in seconds; None if it is a number of trials, or there is none."""
        return seconds_in(self.length) if isinstance(self.length, str) else None


class EvidencePart(Part):
    """How sure evidence must be."""

    confidence: Between = Field(
        0.95, description="of everything that the monitor ever says by evidence, together"
    )
    tuned_for: AtLeastOne = Field(
        500,
        description="after so many trials of each group evidence is sharpest; it is valid at any "
        "time, but must not be chosen by what was seen",
    )

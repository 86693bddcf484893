"""Values of an event's fields: texts, numbers and booleans, told apart as JSON tells them apart."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Annotated, Any

import numpy as np
from pydantic import PlainValidator, WithJsonSchema

from testsgd.data.schema_parts import mistake

Value = bool | int | float | str


def event_value(value: Any) -> Value:
    """Give a value as JSON has it.

    Raises
    ------
    ValueError
        If JSON has no such value, or it stands for a missing one.

    Examples
    --------
    >>> event_value(np.int64(3)), event_value(True), event_value("yes")
    (3, True, 'yes')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a value must be a finite number")
    if not isinstance(value, bool | int | float | str):
        raise ValueError("a value is a text, a number or a boolean")
    return value


EventValue = Annotated[
    Value,
    PlainValidator(event_value),
    WithJsonSchema({"type": ["boolean", "number", "string"]}),
]


def check_apart(
    first: str, first_values: tuple[Value, ...], second: str, second_values: tuple[Value, ...]
) -> None:
    """Refuse lists of which one is empty, has a value twice, or has one that is in the other.

    Within a list 1 and true are two values, for JSON tells them apart. In two lists they may not
    stand: a table of data does not always say which of both it holds.

    Raises
    ------
    PydanticCustomError
        A mistake that names the key.
    """
    for key, values in ((first, first_values), (second, second_values)):
        if not values:
            raise mistake(key, "no value is given", "give at least one")
        seen: set[tuple[bool, Value]] = set()
        for place, value in enumerate(values):
            if _told_apart(value) in seen:
                raise mistake(
                    (key, place), f"the value {shown(value)} stands twice", "remove one of them"
                )
            seen.add(_told_apart(value))
    for place, value in enumerate(second_values):
        if value in first_values:
            same = first_values[first_values.index(value)]
            alike = "" if type(same) is type(value) else f", as {shown(same)}"
            raise mistake(
                (second, place),
                f"the value {shown(value)} is among `{first}` too{alike}",
                f"give `{first}` and `{second}` different values",
            )


def shown(value: Value) -> str:
    """Give a value as TOML and JSON write it.

    Examples
    --------
    >>> shown(True), shown("1")
    ('true', '"1"')
    """
    return json.dumps(value, ensure_ascii=False)


def _told_apart(value: Value) -> tuple[bool, Value]:
    return isinstance(value, bool), value

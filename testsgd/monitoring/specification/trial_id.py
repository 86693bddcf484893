"""Which field, or which fields together, say of an event to which trial it belongs."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticKnownError

from testsgd.data.schema_parts import mistake, repeated


def _trial_id(value: Any) -> str | tuple[str, ...]:
    """Return the name of a field, or the names of several; a list of one is that one."""
    if not isinstance(value, list | tuple):
        return _field_name(value)
    if not value:
        raise mistake((), "no field is given", "name at least one")
    for index, field in enumerate(value):
        if not isinstance(field, str) or not field.strip():
            raise mistake((index,), f"{field!r} is no name of a field", "give it a name")
    if (twice := repeated(list(value))) is not None:
        second = list(value).index(twice, list(value).index(twice) + 1)
        raise mistake((second,), f"the field {twice!r} stands twice", "remove one of them")
    return value[0] if len(value) == 1 else tuple(value)


def _field_name(value: Any) -> str:
    if not isinstance(value, str):
        raise PydanticKnownError("string_type")
    if not value:
        raise PydanticKnownError("string_too_short", {"min_length": 1})
    return value


TrialId = Annotated[
    str | tuple[str, ...],
    BeforeValidator(_trial_id),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "minLength": 1},
                {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True},
            ]
        }
    ),
]

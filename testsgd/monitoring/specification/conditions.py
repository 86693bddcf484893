"""Where a specification says by an expression what an event says: its decision, label or group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from testsgd.data.schema_parts import mistake
from testsgd.expressions import Expression, is_expression, parse
from testsgd.fairness.conditioned_groups import checked_expression


def _field_or_condition(value: Any) -> Any:
    """Return the name of a field, or the text of the expression that stands in its place."""
    if isinstance(value, Mapping):
        if set(value) != {"when"} or not isinstance(value["when"], str):
            what = "a table here has one key, `when`, with an expression"
            raise mistake((), what, 'write { when = "score > 6" }')
        return checked_expression(value["when"])
    return checked_expression(value) if isinstance(value, str) and is_expression(value) else value


FieldOrCondition = Annotated[
    str,
    BeforeValidator(_field_or_condition),
    Field(min_length=1),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "minLength": 1},
                {
                    "type": "object",
                    "properties": {"when": {"type": "string"}},
                    "required": ["when"],
                    "additionalProperties": False,
                },
            ]
        }
    ),
]


def condition_of(field: str) -> Expression | None:
    """Return the expression that stands in the place of a field, or None if it is a field.

    Parameters
    ----------
    field : str
        A name, or the text of an expression.

    Returns
    -------
    Expression or None

    Examples
    --------
    >>> condition_of("score > 6").names, condition_of("decision")
    (('score',), None)
    """
    return parse(field) if is_expression(field) else None


def fields_of(field: str) -> tuple[str, ...]:
    """Return the fields of an event that a field, or the expression in its place, is read from.

    Parameters
    ----------
    field : str

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> fields_of("score > 6"), fields_of("decision")
    (('score',), ('decision',))
    """
    condition = condition_of(field)
    return (field,) if condition is None else condition.names

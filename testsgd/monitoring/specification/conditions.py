"""Where a specification says by an expression what an event says: its decision, label or group."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from testsgd.data.schema_parts import Part, mistake
from testsgd.errors import ExpressionError
from testsgd.expressions import Expression, is_expression, parse

# What the group of an event is called that is in none of those that are given by expressions.
NO_GROUP = "(no group)"


def _checked(text: str) -> str:
    """Return a text that is an expression, or say what is wrong with it."""
    try:
        parse(text)
    except ExpressionError as error:
        raise mistake((), f"{error.where}: {error.what}", error.remedy) from error
    return text


def _field_or_condition(value: Any) -> Any:
    """Return the name of a field, or the text of the expression that stands in its place."""
    if isinstance(value, Mapping):
        if set(value) != {"when"} or not isinstance(value["when"], str):
            what = "a table here has one key, `when`, with an expression"
            raise mistake((), what, 'write { when = "score > 6" }')
        return _checked(value["when"])
    return _checked(value) if isinstance(value, str) and is_expression(value) else value


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


def _no_reserved_name(name: str) -> str:
    if name == NO_GROUP:
        raise mistake((), f"{name!r} is what those are called who are in no group", "rename it")
    return name


class ConditionedGroup(Part):
    """A group of those for whom an expression holds."""

    name: Annotated[str, AfterValidator(_no_reserved_name)] = Field(
        description="what reports call it"
    )
    when: Annotated[str, AfterValidator(_checked)] = Field(
        description="an expression over fields of the event: who is in it"
    )

    @cached_property
    def condition(self) -> Expression:
        """The expression."""
        return parse(self.when)

"""Groups of those for whom an expression holds, as a specification writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from testsgd.data.schema_parts import Part, mistake
from testsgd.errors import ExpressionError
from testsgd.expressions import Expression, parse

# What the group of a person is called who is in none of those that are given by expressions.
NO_GROUP = "(no group)"


def checked_expression(text: str) -> str:
    """Return a text that is an expression, or raise the mistake in it.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    Raises
    ------
    pydantic_core.PydanticCustomError
        If it is no expression; the mistake of the key that it stands at.

    Examples
    --------
    >>> checked_expression("age < 25")
    'age < 25'
    """
    try:
        parse(text)
    except ExpressionError as error:
        raise mistake((), f"{error.where}: {error.what}", error.remedy) from error
    return text


def _no_reserved_name(name: str) -> str:
    if name == NO_GROUP:
        raise mistake((), f"{name!r} is what those are called who are in no group", "rename it")
    return name


class ConditionedGroup(Part):
    """A group of those for whom an expression holds."""

    name: Annotated[str, AfterValidator(_no_reserved_name)] = Field(
        description="what reports call it"
    )
    when: Annotated[str, AfterValidator(checked_expression)] = Field(
        description="an expression over fields of the event: who is in it"
    )

    @cached_property
    def condition(self) -> Expression:
        """The expression."""
        return parse(self.when)


def listed_groups(groups: Any) -> Any:
    """Return the table of groups, also of a list of groups by expressions.

    Examples
    --------
    >>> listed_groups([{"name": "young", "when": "age < 25"}])
    {'by': [{'name': 'young', 'when': 'age < 25'}]}
    """
    return {"by": groups} if isinstance(groups, list | tuple) else groups


def with_names_of(given: Any, **defaults: Any) -> Any:
    """Return a table of groups with the names of those that are by expressions.

    Parameters
    ----------
    given : object
        What stands in the place of the table; anything but a mapping is returned as it is.
    **defaults
        Keys of a table of groups by expressions, where they are not given.

    Returns
    -------
    object

    Raises
    ------
    pydantic_core.PydanticCustomError
        If other names are given, too.

    Examples
    --------
    >>> with_names_of({"by": [{"name": "young", "when": "age < 25"}]})["names"]
    ['young']
    """
    by = given.get("by") if isinstance(given, Mapping) else None
    if not isinstance(by, list | tuple) or not all(isinstance(one, Mapping) for one in by):
        return given
    names = [one.get("name") for one in by]
    if given.get("names") not in (None, names, tuple(names)):
        what = "groups by expressions have their own names"
        raise mistake("names", what, "remove `names`, or `by`")
    if not all(isinstance(name, str) for name in names):
        return given
    return {**defaults, **given, "names": names}


def checked_groups(
    groups: tuple[ConditionedGroup, ...] | None,
) -> tuple[ConditionedGroup, ...] | None:
    """Return groups by expressions, or raise the mistake of one that is always empty.

    Parameters
    ----------
    groups : tuple of ConditionedGroup, or None
        A person is in the first whose expression holds.

    Returns
    -------
    tuple of ConditionedGroup, or None

    Raises
    ------
    pydantic_core.PydanticCustomError
        If an expression never holds, or only where that of an earlier group does.

    Examples
    --------
    >>> young = ConditionedGroup(name="young", when="age < 25")
    >>> checked_groups((young,)) == (young,)
    True
    """
    for index, group in enumerate(groups or ()):
        before = [one.condition for one in (groups or ())[:index]]
        if group.condition.can_hold(but=before):
            continue
        what = f"{group.when!r} can never hold"
        if group.condition.can_hold():
            what = f"{group.when!r} holds only for people who are in a group before it"
        raise mistake((index, "when"), f"{what}, so the group is empty", "correct the expression")
    return groups


def fields_of_groups(groups: Sequence[ConditionedGroup]) -> tuple[str, ...]:
    """Return the fields that expressions of groups are about, in their order.

    Examples
    --------
    >>> fields_of_groups([ConditionedGroup(name="young women", when="sex = f and age < 25")])
    ('sex', 'age')
    """
    return tuple(dict.fromkeys(name for group in groups for name in group.condition.names))

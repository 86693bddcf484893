"""The names of the groups that are compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from testsgd.data.schema_parts import repeated
from testsgd.errors import SpecificationError


def checked_groups(groups: Sequence[Any], *, where: str = "groups") -> tuple[str, ...]:
    """Give the names of groups, at least two and all different.

    Raises
    ------
    SpecificationError
        If they are not.

    Examples
    --------
    >>> checked_groups(["female", "male"])
    ('female', 'male')
    """
    if isinstance(groups, str):
        raise SpecificationError(
            f"{groups!r} is one name", where=where, remedy="give a list of at least two"
        )
    names = tuple(groups)
    for name in names:
        if not isinstance(name, str) or not name.strip():
            raise SpecificationError(
                f"{name!r} is no name of a group", where=where, remedy="give texts"
            )
    if (twice := repeated(list(names))) is not None:
        raise SpecificationError(
            f"the group {twice!r} stands twice", where=where, remedy="name each group once"
        )
    if len(names) < 2:
        raise SpecificationError(
            f"{len(names)} group{'s are' if len(names) != 1 else ' is'} named",
            where=where,
            remedy="name at least two, there is nothing to compare otherwise",
        )
    return tuple(str(name) for name in names)

"""Which methods take part."""

from __future__ import annotations

from collections.abc import Sequence

from testsgd.baselines import METHODS
from testsgd.errors import ParameterError

# The audit, among the methods.
AUDIT = "testsgd"

# What these find are people, picked by how the model treats them, and no groups that somebody
# could name: their rates cannot be compared with those of others.
WITHOUT_GROUPS = ("individual",)


def method_names() -> tuple[str, ...]:
    """Give the names of all methods, the audit's first.

    Examples
    --------
    >>> method_names()[:2]
    ('testsgd', 'themis')
    """
    return (AUDIT, *METHODS)


def resolve_methods(methods: str | Sequence[str] | None) -> tuple[str, ...]:
    """Check which methods are wanted.

    Parameters
    ----------
    methods : str, sequence of str or None
        Names, or one text of names with commas between them; ``"all"`` or None for all. The audit
        always takes part.

    Returns
    -------
    tuple of str
        The audit, then the others in the order in which they are reported.

    Raises
    ------
    ParameterError
        If a name is unknown, or there is none.

    Examples
    --------
    >>> resolve_methods("individual,themis")
    ('testsgd', 'themis', 'individual')
    """
    if methods is None or methods == "all":
        return method_names()
    given = methods.split(",") if isinstance(methods, str) else list(methods)
    wanted = [str(name).strip() for name in given]
    wanted = [name for name in wanted if name]
    known = method_names()
    choices = f"choose from {', '.join(known)}, or all"
    if not wanted:
        raise ParameterError("no method is named", where="methods", remedy=choices)
    for name in wanted:
        if name not in known:
            raise ParameterError(
                f"the method {name!r} is unknown", where="methods", remedy=choices, method=name
            )
    return (AUDIT, *(name for name in METHODS if name in wanted))

"""What a label is for the person who is given it, as a user gives it in a call."""

from __future__ import annotations

from typing import get_args

from testsgd.data.schema import Outcome
from testsgd.errors import ParameterError


def checked_outcome(given: str | None) -> Outcome | None:
    """Return the outcome of a label that a user gives, checked; None if there is none.

    Parameters
    ----------
    given : str, optional
        One of benefit, harm and neither, as ``outcome`` of a description's ``[label]``.

    Returns
    -------
    {"benefit", "harm", "neither"} or None

    Raises
    ------
    ParameterError
        If it is none of the three.

    Examples
    --------
    >>> checked_outcome("harm")
    'harm'
    """
    if given is None:
        return None
    for outcome in get_args(Outcome):
        if given == outcome:
            known: Outcome = outcome
            return known
    raise ParameterError(
        f"{given!r} is not what a label can be for a person",
        where="outcome",
        remedy=f"write one of {', '.join(get_args(Outcome))}",
        name="outcome",
    )

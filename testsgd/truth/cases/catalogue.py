"""All cases, by name."""

from __future__ import annotations

from testsgd.errors import ParameterError
from testsgd.truth.cases import limits, many_features, monitors, numbers, other_columns, texts
from testsgd.truth.cases.frame import Case

_CASES: dict[str, Case] = {
    case.name: case
    for part in (many_features, numbers, other_columns, limits, texts, monitors)
    for case in part.CASES
}
CASES = tuple(_CASES)


def case(name: str) -> Case:
    """Return a case, a world of one size, by its name.

    Parameters
    ----------
    name : str
        One of :data:`CASES`.

    Returns
    -------
    Case

    Raises
    ------
    ParameterError
        If there is no case of that name.

    Examples
    --------
    >>> case("few-people").rows
    120
    """
    if name not in _CASES:
        raise ParameterError(
            f"the case {name!r} is unknown",
            where="worlds",
            remedy=f"give some of {', '.join(CASES)}",
            case=name,
        )
    return _CASES[name]

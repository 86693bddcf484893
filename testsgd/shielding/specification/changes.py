"""Changing single keys of a shield's specification."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from testsgd.data.schema_parts import Part
from testsgd.errors import ParameterError
from testsgd.fairness import FairnessPart
from testsgd.shielding.specification.parts import (
    GroupsPart,
    HorizonPart,
    InputsPart,
)

_PARTS: dict[str, type[Part]] = {
    "fairness": FairnessPart,
    "groups": GroupsPart,
    "horizon": HorizonPart,
    "inputs": InputsPart,
}
_PATHS = {
    "name": ("name",),
    **{part: (part,) for part in _PARTS},
    **{key: (part, key) for part, kind in _PARTS.items() for key in kind.model_fields},
    **{f"{part}.{key}": (part, key) for part, kind in _PARTS.items() for key in kind.model_fields},
}


def changed(document: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Give a specification as a mapping, with other values.

    Parameters
    ----------
    document : dict
        Keys that are set.
    changes : mapping
        New values by a key's name or path; None takes it away.

    Returns
    -------
    dict

    Raises
    ------
    ParameterError
        If there is no such key.

    Examples
    --------
    >>> changed({"horizon": {"length": 5}}, {"length": 6, "horizon.periods": 2})
    {'horizon': {'length': 6, 'periods': 2}}
    """
    made = {
        key: dict(value) if isinstance(value, dict) else value for key, value in document.items()
    }
    changes = _without_what_goes(made, changes)
    for key, value in changes.items():
        path = _path(key)
        place = made
        for part in path[:-1]:
            place = place.setdefault(part, {})
        if value is None:
            place.pop(path[-1], None)
        else:
            place[path[-1]] = value
    return made


def _path(key: str) -> tuple[str, ...]:
    if key not in _PATHS:
        near = difflib.get_close_matches(key, _PATHS, n=1)
        raise ParameterError(
            f"there is no key {key!r}",
            where="changes",
            remedy=f"did you mean {near[0]!r}?" if near else "give a key of the specification",
            key=key,
        )
    return _PATHS[key]


def _without_what_goes(document: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Take away what only the former choice could have, if it is not given anew."""
    given = {".".join(_path(key)): value for key, value in changes.items()}
    gone: list[str] = []
    kind = given.get("horizon.shield")
    if kind is not None and kind != document.get("horizon", {}).get("shield", "finite"):
        gone += ["horizon.welfare"] if kind != "static-bounded-welfare" else []
        gone += ["horizon.when_infeasible"] if kind != "dynamic" else []
        gone += ["horizon.after"]
    name = given.get("fairness.property")
    if name is not None and name != "custom":
        gone += ["fairness.numerator", "fairness.denominator", "fairness.measure"]
    sources = ["inputs.costs", "inputs.table", "inputs.log"]
    new = [key for key in sources if given.get(key) is not None]
    if new:
        gone += [key for key in sources if key not in new]
        if "inputs.log" not in new:
            gone += ["inputs.smoothing", "inputs.most_costs", "inputs.columns"]
    return {**dict.fromkeys(gone), **given}

"""Domains as plain bounds: JSON with the lists ``minimum`` and ``maximum``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from testsgd.certification.domain.inputs import IntegerInput, RealInput
from testsgd.certification.domain.wording import choice
from testsgd.errors import SpecificationError

_KEYS = ("minimum", "maximum", "protected")


def split_bounds_source(source: str) -> tuple[Path, str | None] | None:
    """Take ``domains.json:AC`` apart.

    Parameters
    ----------
    source : str
        What a user gave.

    Returns
    -------
    tuple of pathlib.Path and (str or None), or None
        File and key; None if no JSON file is meant.

    Examples
    --------
    >>> split_bounds_source("some/domains.json:AC")[1]
    'AC'
    >>> split_bounds_source("census") is None
    True
    """
    if source.endswith(".json"):
        return Path(source), None
    file, mark, key = source.rpartition(".json:")
    return (Path(f"{file}.json"), key) if mark else None


def read_bounds(path: Path, key: str | None) -> Mapping[str, Any]:
    """Read the bounds of a domain from a JSON file.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    key : str, optional
        Which of the file's domains, if it has several.

    Returns
    -------
    mapping
        With the keys ``minimum``, ``maximum`` and perhaps ``protected``.

    Raises
    ------
    SpecificationError
        If there is no such file or key.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise SpecificationError(
            "there is no such file", where=str(path), remedy="check the path"
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise SpecificationError(
            "the file is no JSON", where=str(path), remedy="give a domain in JSON or TOML"
        ) from error
    if key is None:
        if isinstance(document, dict) and "minimum" in document:
            return document
        keys = list(document) if isinstance(document, dict) else []
        raise SpecificationError(
            "the file has no list `minimum`",
            where=str(path),
            remedy=f"name one of its domains: {path.name}:{keys[0]}"
            if keys
            else "give the lists `minimum` and `maximum`",
        )
    if not isinstance(document, dict) or not isinstance(document.get(key), dict):
        keys = [] if not isinstance(document, dict) else list(document)
        raise SpecificationError(
            f"there is no domain {key!r} in the file",
            where=str(path),
            remedy=choice(key, keys) if keys else "check the file",
        )
    found: Mapping[str, Any] = document[key]
    return found


def inputs_from_bounds(
    bounds: Mapping[str, Any], *, where: str
) -> tuple[tuple[IntegerInput | RealInput, ...], int | None]:
    """Make the inputs of a domain of its bounds.

    Parameters
    ----------
    bounds : mapping
        ``minimum`` and ``maximum``, a number an input, and perhaps ``protected``, the position of
        the protected input. An input with two whole numbers takes whole numbers; an input with a
        decimal point in one of them (1.0) takes reals.
    where : str
        What to call the bounds in messages.

    Returns
    -------
    inputs : tuple of IntegerInput or RealInput
        Called x0, x1, ...
    protected : int or None

    Raises
    ------
    SpecificationError
        If the lists are not of one length, hold no numbers, or a minimum is above its maximum.

    Examples
    --------
    >>> inputs, protected = inputs_from_bounds(
    ...     {"minimum": [0, 0.5], "maximum": [1, 2], "protected": 0}, where="example")
    >>> inputs[1]
    RealInput(name='x1', low=0.5, high=2.0)
    """
    for key in bounds:
        if key not in _KEYS:
            raise SpecificationError(
                f"unknown key {key!r}", where=where, remedy=choice(str(key), _KEYS)
            )
    low, high = (_numbers(bounds, key, where) for key in ("minimum", "maximum"))
    if len(low) != len(high):
        raise SpecificationError(
            f"`minimum` has {len(low)} numbers and `maximum` has {len(high)}",
            where=where,
            remedy="give both for each input",
        )
    inputs = tuple(
        _input(f"x{place}", *ends, where=where)
        for place, ends in enumerate(zip(low, high, strict=True))
    )
    protected = bounds.get("protected")
    if protected is not None and (
        isinstance(protected, bool)
        or not isinstance(protected, int)
        or not 0 <= protected < len(inputs)
    ):
        raise SpecificationError(
            f"`protected` is {protected!r}, and there are {len(inputs)} inputs",
            where=where,
            remedy=f"give the position of one of them, 0 to {len(inputs) - 1}",
        )
    return inputs, protected


def _numbers(bounds: Mapping[str, Any], key: str, where: str) -> list[Any]:
    if key not in bounds:
        raise SpecificationError(
            f"the list `{key}` is missing", where=where, remedy="give a number for each input"
        )
    numbers = bounds[key]
    if not isinstance(numbers, (list, tuple)) or not numbers:
        raise SpecificationError(
            f"`{key}` is {numbers!r}", where=where, remedy="give a number for each input"
        )
    return list(numbers)


def _input(name: str, low: Any, high: Any, *, where: str) -> IntegerInput | RealInput:
    kind = RealInput if isinstance(low, float) or isinstance(high, float) else IntegerInput
    try:
        return kind(name, low, high)
    except SpecificationError as error:
        raise SpecificationError(
            error.what, where=f"{where}, {error.where}", remedy=error.remedy
        ) from error

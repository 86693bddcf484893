"""Domains as plain bounds: JSON with the lists ``minimum`` and ``maximum``."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from testsgd.certification.domain.domain import IntegerInput, RealInput, choice
from testsgd.data import bundled_folder
from testsgd.errors import SpecificationError

# Lines of the header: counts, sizes of layers, an unused flag, minima, maxima.
_MINIMUM, _MAXIMUM = 3, 4
_KEYS = ("minimum", "maximum", "protected")


def read_nnet_bounds(path: Path) -> Mapping[str, Any]:
    """Read minima and maxima from the header of an ``.nnet`` file.

    `path`: the file: remarks behind ``//``, then counts, sizes, a flag, minima and maxima, a line
    each. Returned: as :func:`testsgd.certification.domain.bounds_file.read_bounds` gives it; a
    number written with a decimal point is a float.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise SpecificationError(
            "there is no such file", where=str(path), remedy="check the path"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise SpecificationError(
            "the file is no text", where=str(path), remedy="give an .nnet file"
        ) from error
    lines = [
        line.strip() for line in text.splitlines() if line.strip() and not line.startswith("//")
    ]
    try:
        width = int(lines[0].split(",")[1])
        low, high = (_cells(lines[index])[:width] for index in (_MINIMUM, _MAXIMUM))
        if len(low) != width or len(high) != width:
            raise ValueError
    except (IndexError, ValueError) as error:
        raise SpecificationError(
            "the header does not say minimum and maximum of each input",
            where=str(path),
            remedy="give the domain in a file of its own",
        ) from error
    return {"minimum": low, "maximum": high}


def _cells(line: str) -> list[Any]:
    """Read numbers with commas; JSON tells 1 from 1.0."""
    numbers = [json.loads(cell) for cell in line.split(",") if cell.strip()]
    if not all(type(number) in (int, float) for number in numbers):
        raise ValueError
    return numbers


def split_bounds_source(source: str) -> tuple[Path, str | None] | None:
    """Take ``domains.json:AC`` apart.

    Returned: file and key; None if no JSON file is meant.
    """
    if source.endswith(".json"):
        return Path(source), None
    file, mark, key = source.rpartition(".json:")
    return (Path(f"{file}.json"), key) if mark else None


def read_bounds(path: Path, key: str | None) -> Mapping[str, Any]:
    """Read the bounds of a domain from a JSON file.

    `key`: which of the file's domains, if it has several. Returned: with the keys ``minimum``,
    ``maximum`` and perhaps ``protected``.
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

    `bounds`: ``minimum`` and ``maximum``, a number an input, and perhaps ``protected``, the
    position of the protected input. An input with two whole numbers takes whole numbers; an input
    with a decimal point in one of them (1.0) takes reals; `where`: what to call the bounds in
    messages.
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
        _input(f"x{index}", *ends, where=where)
        for index, ends in enumerate(zip(low, high, strict=True))
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


@functools.cache
def shipped_domains() -> dict[str, Path]:
    """List the domains that come with the package.

    Returns
    -------
    dict of str to pathlib.Path
        Name and file, in alphabetical order.

    Examples
    --------
    >>> list(shipped_domains())
    ['fairify/adult', 'fairify/bank', 'fairify/bank-published', 'fairify/compas',
     'fairify/german']
    """
    folder = bundled_folder("datasets") / "domains"
    files = {
        path.relative_to(folder).with_suffix("").as_posix(): path for path in folder.rglob("*.toml")
    }
    return dict(sorted(files.items()))

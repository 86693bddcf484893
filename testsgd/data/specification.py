"""Reading a data set's description from TOML, with mistakes named by key and line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from testsgd.data.schema import DatasetSpecification
from testsgd.errors import SpecificationError

_KEY_MISSING = "this key is missing"

_TABLE = re.compile(r"^\s*\[(\[)?\s*(?P<name>[^\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(
    r"^\s*(?P<key>(?:[\w-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[\w-]+|\"[^\"]*\"))*)\s*="
)


def read_specification(path: Path | str) -> DatasetSpecification:
    """Read a data set's description from a TOML file.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    DatasetSpecification

    Raises
    ------
    SpecificationError
        If the file is missing, is not TOML, or does not describe a data set; the message names the
        key and the line.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise SpecificationError(
            "there is no such file", where=str(path), remedy="check the path"
        ) from error
    except (UnicodeDecodeError, OSError) as error:
        raise SpecificationError(
            "the file cannot be read as text",
            where=str(path),
            remedy="give a TOML file that describes the data set",
        ) from error
    return parse_specification(text, where=str(path))


def parse_specification(text: str, *, where: str = "specification") -> DatasetSpecification:
    """Read a data set's description from TOML text.

    Parameters
    ----------
    text : str
        The description.
    where : str
        What to call the text in error messages.

    Returns
    -------
    DatasetSpecification

    Raises
    ------
    SpecificationError
        If the text is not TOML or does not describe a data set.

    Examples
    --------
    >>> parse_specification("[dataset]; name = 1", where="x.toml")
    Traceback (most recent call last):
    ...
    testsgd.errors.SpecificationError: x.toml: not valid TOML: ...
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecificationError(
            f"not valid TOML: {error}", where=where, remedy="correct the syntax"
        ) from error
    return _validated(document, text, where)


def specification_from_mapping(document: Mapping[str, Any]) -> DatasetSpecification:
    """Read a data set's description from a mapping with the keys of the TOML format.

    Raises
    ------
    SpecificationError
        If it does not describe a data set; the message names the key.
    """
    return _validated(dict(document), "", "specification")


def _validated(document: dict[str, Any], text: str, where: str) -> DatasetSpecification:
    try:
        return DatasetSpecification.model_validate(document)
    except ValidationError as error:
        raise _specification_error(error, text, where) from error


def _specification_error(error: ValidationError, text: str, where: str) -> SpecificationError:
    mistakes = [_mistake(item, text) for item in error.errors(include_url=False)]
    # A mistake that stands in a line helps more than a key that is missing somewhere.
    mistakes.sort(key=lambda mistake: mistake.problem == _KEY_MISSING)
    first = mistakes[0]
    others = len(mistakes) - 1
    more = f" (and {others} more mistake{'s' if others > 1 else ''})" if others else ""
    return SpecificationError(
        f"{first.key}: {first.problem}",
        where=f"{where}, line {first.line}" if text else where,
        remedy=first.remedy + more,
        mistakes=[asdict(mistake) for mistake in mistakes],
    )


@dataclass(frozen=True)
class _Mistake:
    key: str
    line: int
    problem: str
    remedy: str


def _mistake(item: Any, text: str) -> _Mistake:
    location = _named_location(item["loc"])
    problem, remedy = _problem(item)
    key = ".".join(str(part) for part in location) or "(top level)"
    return _Mistake(key, line_of(text, location), problem, remedy)


def _problem(item: Any) -> tuple[str, str]:
    kind, seen = item["type"], item.get("input")
    if kind == "extra_forbidden":
        return "unknown key", "remove it or correct its name"
    if kind == "missing":
        return _KEY_MISSING, "add it"
    message = str(item["msg"]).removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    if isinstance(seen, (str, int, float, bool)):
        return f"{message} (seen: {seen!r})", "correct the value"
    return message, "correct it"


def _named_location(location: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """Drop what pydantic adds to a place for its own purposes."""
    return tuple(
        part
        for part in location
        if isinstance(part, int) or not part.startswith(("function-", "constrained-"))
    )


def line_of(text: str, location: tuple[int | str, ...]) -> int:
    """Find the line of a TOML text that a key stands in, or the nearest line above it.

    Parameters
    ----------
    text : str
        The TOML text.
    location : tuple of str and int
        Keys and positions in arrays, outermost first.

    Returns
    -------
    int
        A line number, counted from 1.

    Examples
    --------
    >>> lines = ["[label]", "column = 'y'", "[features.age]", "type = 'word'"]
    >>> line_of(chr(10).join(lines), ("features", "age", "type"))
    4
    """
    best_line, best_depth = 1, 0
    table: tuple[int | str, ...] = ()
    seen_tables: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _TABLE.match(line):
            name = header.group("name")
            parts = _split_key(name)
            if line.lstrip().startswith("[["):
                seen_tables[name] = seen_tables.get(name, -1) + 1
                parts = (*parts, seen_tables[name])
            table = parts
            here = table
        elif key := _KEY.match(line):
            here = (*table, *_split_key(key.group("key")))
        else:
            continue
        depth = _shared_prefix(here, location)
        if depth == len(here) and depth > best_depth:
            best_line, best_depth = number, depth
    return best_line


def _split_key(name: str) -> tuple[int | str, ...]:
    parts = re.findall(r'"[^"]*"|\'[^\']*\'|[^.\s]+', name)
    return tuple(part.strip("\"'") for part in parts)


def _shared_prefix(left: tuple[int | str, ...], right: tuple[int | str, ...]) -> int:
    depth = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        depth += 1
    return depth

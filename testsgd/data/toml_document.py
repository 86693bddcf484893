"""Reading what a person wrote in TOML, with mistakes named by key and line."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar, get_args

from pydantic import ValidationError

from testsgd.data.schema_parts import Part
from testsgd.data.toml_lines import KeyLines, Location
from testsgd.errors import SpecificationError
from testsgd.io import loads_toml, read_text

_KEY_MISSING = "this key is missing"
# Larger whole numbers are not written in a message.
_MOST_WRITTEN = 10**30

P = TypeVar("P", bound=Part)


def read_toml_text(path: Path, *, purpose: str) -> str:
    """Read the text of a TOML file; `purpose` says what it does: "describes the data set"."""
    try:
        # Some editors put a byte order mark first; TOML knows none.
        return read_text(path, encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise SpecificationError(
            "there is no such file", where=str(path), remedy="check the path"
        ) from error
    except (UnicodeDecodeError, OSError) as error:
        raise SpecificationError(
            "the file cannot be read as text",
            where=str(path),
            remedy=f"give a TOML file that {purpose}",
        ) from error


def parse_toml(text: str, *, where: str, exact: bool = False) -> dict[str, Any]:
    """Parse TOML text; `exact`: decimals are decimal.Decimal, with the digits that stand there."""
    try:
        return loads_toml(text, exact=exact)
    except ValueError as error:
        raise SpecificationError(
            f"not valid TOML: {error}", where=where, remedy="correct the syntax"
        ) from error


def validated(kind: type[P], document: Any, *, text: str = "", where: str) -> P:
    """Make a part of a document, with the first mistake named by its key and its line of `text`."""
    try:
        return kind.model_validate(document)
    except ValidationError as error:
        lines = KeyLines(text)
        mistakes = [
            _mistake(item, kind, lines, document) for item in error.errors(include_url=False)
        ]
        # A mistake that stands in a line helps more than a key that is missing somewhere.
        mistakes.sort(key=lambda mistake: bool(mistake["problem"] == _KEY_MISSING))
        first = mistakes[0]
        others = len(mistakes) - 1
        more = f" (and {others} more mistake{'s' if others > 1 else ''})" if others else ""
        raise SpecificationError(
            f"{first['key']}: {first['problem']}",
            where=f"{where}, line {first['line']}" if text else where,
            remedy=first["remedy"] + more,
            mistakes=mistakes,
        ) from error


def _mistake(item: Any, kind: type[Part], lines: KeyLines, document: Any) -> dict[str, Any]:
    location = (*item["loc"], *item.get("ctx", {}).get("key", ()))
    if location[-1:] == ("[key]",):
        # So pydantic marks that the name of a key is wrong, and not its value.
        location = location[:-1]
    problem, remedy = _problem(item)
    if item["type"] == "missing" and isinstance(location[-1], int):
        location, problem, remedy = location[:-1], "the list is too short", "correct the value"
    if item["type"] == "extra_forbidden":
        remedy = _right_name(kind, location) or remedy
    location = _as_written(location, kind, document)
    key = ".".join(str(part) for part in location) or "(top level)"
    return {"key": key, "line": lines.line_of(location), "problem": problem, "remedy": remedy}


def _as_written(location: Location, kind: type[Part], document: Any) -> Location:
    """Return a location without the key of a table that is written as a list alone."""
    lists = getattr(kind, "lists_for_tables", {})
    table = str(location[0]) if len(location) > 1 else ""
    if location[1:2] != (lists.get(table),) or isinstance(document[table], Mapping):
        return location
    return (table, *location[2:])


def _right_name(kind: type[Part], location: tuple[int | str, ...]) -> str | None:
    """Return a question whether a similar key of the same table was meant, or None."""
    tables: list[type[Part]] = [kind]
    for key in location[:-1]:
        tables = [
            part
            for table in tables
            for part in (
                _parts_in(table.model_fields[key].annotation)
                if key in table.model_fields
                else (table,)
            )
        ]
    names = {name for table in tables for name in table.model_fields}
    near = difflib.get_close_matches(str(location[-1]), sorted(names), n=1)
    return f"did you mean {near[0]!r}?" if near else None


def _parts_in(annotation: Any) -> Iterator[type[Part]]:
    """Return the tables that a key may hold, however they are wrapped in lists and choices."""
    if isinstance(annotation, type) and issubclass(annotation, Part):
        yield annotation
    for inner in get_args(annotation):
        yield from _parts_in(inner)


def _problem(item: Any) -> tuple[str, str]:
    kind, seen = item["type"], item.get("input")
    if kind == "extra_forbidden":
        return "unknown key", "remove it or correct its name"
    if kind == "missing":
        return _KEY_MISSING, "add it"
    if kind == "tuple_type":
        # In TOML it is a list.
        item = {**item, "msg": "input should be a list"}
    message = str(item["msg"]).removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    if remedy := item.get("ctx", {}).get("remedy"):
        return message, remedy
    if isinstance(seen, int) and abs(seen) > _MOST_WRITTEN:
        # Python writes no number of thousands of digits.
        return message, "correct the value"
    if isinstance(seen, (str, int, float, bool)):
        return f"{message} (seen: {seen!r})", "correct the value"
    return message, "correct it"


def line_of(text: str, location: Location) -> int:
    """Return the line of a TOML text, counted from 1, in which a key is given its value.

    Of a key that is not there, the line of the table that should have it. `location`: keys and
    positions in arrays, outermost first.
    """
    return KeyLines(text).line_of(location)


class ExactDocument(Part):
    """A whole document: read from a file, a text or a mapping, and written as a mapping.

    Two documents are equal if they specify the same. Where they were read plays no part.
    """

    purpose: ClassVar[str] = "is a specification"
    # Tables in whose place a list may be written, with the key that has it.
    lists_for_tables: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def read(cls, path: Path | str) -> Self:
        """Read a specification from a TOML file."""
        path = Path(path)
        return cls.parse(read_toml_text(path, purpose=cls.purpose), where=str(path))

    @classmethod
    def parse(cls, text: str, *, where: str = "specification") -> Self:
        """Read a specification from TOML text."""
        return validated(cls, parse_toml(text, where=where, exact=True), text=text, where=where)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], where: str = "") -> Self:
        """Make a specification of a mapping with the keys of the TOML format."""
        return validated(cls, dict(values), where=where or "specification")

    def to_dict(self) -> dict[str, Any]:
        """Return all keys that have a value, in types that JSON knows; fractions as "1/10"."""
        return self.model_dump(mode="json", exclude_none=True)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._text() == other._text()

    def __hash__(self) -> int:
        return hash(self._text())

    def _text(self) -> str:
        # As text, for in Python 1 and true are equal.
        return json.dumps(self.to_dict(), sort_keys=True)

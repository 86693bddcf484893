"""JSON objects from outside: one a line, or the body of a request."""

from __future__ import annotations

import json
from typing import Any

from testsgd.errors import ParameterError


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} stands twice")
    return found


_READ = json.JSONDecoder(parse_constant=_no_number, object_pairs_hook=_no_key_twice).decode


def json_object(text: str | bytes, *, example: str) -> dict[str, Any]:
    """Read a JSON object.

    `example`: what one looks like here, for an error message.

    Examples
    --------
    >>> json_object('{"label": 1}', example="{}")
    {'label': 1}
    """
    try:
        found = _READ(text if isinstance(text, str) else text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"not valid JSON: {error}", remedy="give a JSON object") from error
    if not isinstance(found, dict):
        raise ParameterError(
            f"a JSON {json_kind(found)} is no event", remedy=f"give an object such as {example}"
        )
    return found


def json_kind(value: object) -> str:
    """Name the kind of a value as JSON does.

    Examples
    --------
    >>> json_kind(None), json_kind(True), json_kind([1])
    ('null', 'boolean', 'array')
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    kinds = {str: "text", int: "number", float: "number", list: "array", dict: "object"}
    return kinds[type(value)]

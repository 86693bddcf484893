"""JSON objects from outside: one a line, or the body of a request."""

from __future__ import annotations

import json
from typing import Any

from testsgd.data.schema_parts import repeated
from testsgd.errors import ParameterError
from testsgd.io import DEEPEST, check_document, unreadable_because


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


class _KeyTwiceError(ValueError):
    def __init__(self, key: str) -> None:
        super().__init__(f"the key {key!r} stands twice")
        self.key = key


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) < len(pairs):
        raise _KeyTwiceError(str(repeated([key for key, _ in pairs])))
    return read


_READ = json.JSONDecoder(parse_constant=_no_number, object_pairs_hook=_no_key_twice).decode
_FIND = json.JSONDecoder(object_pairs_hook=_no_key_twice).decode


def json_object(text: str | bytes, *, example: str, meant: str = "event") -> dict[str, Any]:
    """Read a JSON object; `example` is what one looks like here, for an error message.

    So is `meant`: what it describes.
    """
    try:
        decoded = text if isinstance(text, str) else text.decode("utf-8")
        value = _READ(decoded)
        check_document(value, decoded)
    except MemoryError as error:
        what = "the JSON takes more memory than there is"
        raise ParameterError(what, remedy="give a smaller object") from error
    except RecursionError as error:
        what = f"not valid JSON: it is nested more than {DEEPEST} levels deep"
        raise ParameterError(what, remedy="give a JSON object") from error
    except ValueError as error:
        what = f"not valid JSON: {unreadable_because(error)}"
        raise ParameterError(what, remedy="give a JSON object") from error
    if not isinstance(value, dict):
        raise ParameterError(
            f"a JSON {json_kind(value)} is no {meant}", remedy=f"give an object such as {example}"
        )
    return value


def key_twice(text: bytes) -> str | None:
    """Return a key that stands twice in an object of a JSON text, or None; also if it is no JSON.

    Parameters
    ----------
    text : bytes
        In UTF-8.

    Returns
    -------
    str or None

    Examples
    --------
    >>> key_twice(b'{"age": 40, "age": 50}'), key_twice(b'{"age": 40}')
    ('age', None)
    """
    try:
        _FIND(text.decode())
    except _KeyTwiceError as error:
        return error.key
    except (ValueError, RecursionError):
        return None
    return None


def json_kind(value: object) -> str:
    """Return the kind of a value as JSON names it."""
    kinds = {str: "text", int: "number", float: "number", list: "array", dict: "object"}
    return {**kinds, bool: "boolean", type(None): "null"}[type(value)]

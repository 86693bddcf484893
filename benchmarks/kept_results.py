"""Results of experiments as JSON that is kept in the repository: a line a row, rounded."""

from __future__ import annotations

import json
from typing import Any


def as_json(results: dict[str, Any]) -> str:
    """Write a line a row, with the digits that tables show and some more."""
    parts = []
    for name, value in results.items():
        if isinstance(value, list):
            rows = ",\n  ".join(json.dumps(_rounded(row)) for row in value)
            parts.append(f" {json.dumps(name)}: [\n  {rows}\n ]")
        else:
            parts.append(f" {json.dumps(name)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _rounded(value: Any) -> Any:
    match value:
        case float():
            return round(value, 6)
        case list():
            return [_rounded(item) for item in value]
        case dict():
            return {key: _rounded(item) for key, item in value.items()}
    return value

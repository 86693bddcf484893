"""The parts that the description of a data set is made of: strict values, and named mistakes."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from testsgd.data.categories import category_text


def _plain(value: Any) -> Any:
    """Take a number out of numpy's wrapping: a range may come from a column's `min()`."""
    return value.item() if isinstance(value, np.generic) else value


def _category(value: Any) -> str:
    if not isinstance(value, (str, int, float, np.generic)):
        raise ValueError("a category is a text, a number or a boolean")
    return category_text(value)


# A value in TOML may be a string, a number or a boolean; inside, a category is its text.
Category = Annotated[
    str, BeforeValidator(_category), WithJsonSchema({"type": ["string", "number", "boolean"]})
]
# Left to itself, pydantic takes the text "no" for a boolean and the text "5" for a number.
Flag = Annotated[bool, Field(strict=True), BeforeValidator(_plain)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False), BeforeValidator(_plain)]
# Bounds stand here, not at the fields: behind a validator they would be lost to the JSON Schema.
Positive = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0), BeforeValidator(_plain)]
Share = Annotated[
    float, Field(strict=True, allow_inf_nan=False, gt=0, lt=1), BeforeValidator(_plain)
]
Count = Annotated[int, Field(strict=True, ge=0), BeforeValidator(_plain)]
PositiveCount = Annotated[int, Field(strict=True, ge=1), BeforeValidator(_plain)]
Bins = Annotated[int, Field(strict=True, ge=1, le=200), BeforeValidator(_plain)]


class Part(BaseModel):
    """A part of a description: knows its keys, refuses others, never changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def mistake(
    key: str | tuple[str | int, ...], problem: str, remedy: str | None = None
) -> PydanticCustomError:
    """Give an error about one key of a part, so that its line can be named.

    Without a remedy of its own it asks that the value is corrected.
    """
    path = (key,) if isinstance(key, str) else key
    context = {"problem": problem, "key": path}
    if remedy is not None:
        context["remedy"] = remedy
    return PydanticCustomError("mistake", "{problem}", context)


def repeated(names: list[str]) -> str | None:
    """Give the first name that stands twice in a list."""
    return next((name for name, count in Counter(names).items() if count > 1), None)


def is_number(text: str) -> bool:
    """Say whether a text reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True

"""The types of the fields of a specification: strict values, exact numbers, named mistakes."""

from __future__ import annotations

import re
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from testsgd.data.categories import category_text


def plain_number(value: Any) -> Any:
    """Take a number out of numpy's or decimal's wrapping; anything else stays."""
    if isinstance(value, np.generic):
        return value.item()
    return float(value) if isinstance(value, Decimal) else value


def _category(value: Any) -> str:
    if not isinstance(value, (str, int, float, np.generic)):
        raise ValueError("a category is a text, a number or a boolean")
    return category_text(value)


# A value in TOML may be a string, a number or a boolean; inside, a category is its text.
Category = Annotated[
    str, BeforeValidator(_category), WithJsonSchema({"type": ["string", "number", "boolean"]})
]
# In TOML also a list of several, which are joined under one name before.
_SCALARS = ["string", "number", "boolean"]
Favourable = Annotated[
    str,
    BeforeValidator(_category),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": _SCALARS},
                {"type": "array", "items": {"type": _SCALARS}, "minItems": 2},
            ]
        }
    ),
]
# Left to itself, pydantic takes the text "no" for a boolean and the text "5" for a number.
Flag = Annotated[bool, Field(strict=True), BeforeValidator(plain_number)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False), BeforeValidator(plain_number)]
# Bounds stand here, not at the fields: behind a validator they would be lost to the JSON Schema.
Positive = Annotated[
    float, Field(strict=True, allow_inf_nan=False, gt=0), BeforeValidator(plain_number)
]
Share = Annotated[
    float, Field(strict=True, allow_inf_nan=False, gt=0, lt=1), BeforeValidator(plain_number)
]
Count = Annotated[int, Field(strict=True, ge=0), BeforeValidator(plain_number)]
# No more than a whole number of 64 bits; no float holds every larger one.
PositiveCount = Annotated[
    int, Field(strict=True, ge=1, le=2**63 - 1), BeforeValidator(plain_number)
]
Bins = Annotated[int, Field(strict=True, ge=1, le=200), BeforeValidator(plain_number)]


class Part(BaseModel):
    """A part of a description: knows its keys, refuses others, never changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def mistake(
    key: str | tuple[str | int, ...], problem: str, remedy: str | None = None
) -> PydanticCustomError:
    """Return an error about one key of a part, so that its line can be named."""
    context: dict[str, Any] = {"problem": problem, "key": (key,) if isinstance(key, str) else key}
    if remedy is not None:
        context["remedy"] = remedy
    return PydanticCustomError("mistake", "{problem}", context)


def repeated(names: list[str]) -> str | None:
    """Return the first name that stands twice in a list."""
    return next((name for name, count in Counter(names).items() if count > 1), None)


def is_number(text: str) -> bool:
    """Return whether a text reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


# More digits are a slip of the pen, and 1e-999999999 as a fraction would fill the memory.
_DIGITS = 30
_DECIMAL = re.compile(rf"[+-]?\d{{1,{_DIGITS}}}(\.\d{{1,{_DIGITS}}})?")
# As long as a decimal with so many digits on both sides may be as a quotient.
_LONGEST = 2 * _DIGITS + 1
_QUOTIENT = re.compile(rf"[+-]?\d{{1,{_LONGEST}}}/\d{{1,{_LONGEST}}}")
_NO_FRACTION = 'a share is written as a decimal (0.1) or as a quotient in quotes ("1/10")'


def exact_fraction(value: Any) -> Fraction:
    """Read a number exactly as it is written; a float is the shortest decimal that reads as it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal, str)):
        raise ValueError(_NO_FRACTION)
    if isinstance(value, str):
        text = value.strip()
        if not (_DECIMAL.fullmatch(text) or _QUOTIENT.fullmatch(text)):
            raise ValueError(_NO_FRACTION)
        try:
            return Fraction(text)
        except ZeroDivisionError as error:
            raise ValueError("a quotient by 0 is no number") from error
    number = value if isinstance(value, Decimal) else Decimal(repr(value))
    if not number.is_finite():
        raise ValueError(f"must be a finite number{seen(value)}")
    digits = number.as_tuple()
    if int(digits.exponent) < -_DIGITS or number.adjusted() > _DIGITS:
        raise ValueError(f"at most {_DIGITS} decimals can be told apart{seen(value)}")
    return Fraction(number)


def exact_share(value: Any) -> Fraction:
    """Read a fraction between 0 and 1."""
    fraction = exact_fraction(value)
    if not 0 <= fraction <= 1:
        raise ValueError(f"must lie between 0 and 1{seen(value)}")
    return fraction


def exact_not_negative(value: Any) -> Fraction:
    """Read a number that is at least 0 as a fraction."""
    fraction = exact_fraction(value)
    if fraction < 0:
        raise ValueError(f"must be at least 0{seen(value)}")
    return fraction


def seen(value: Any) -> str:
    """Return the value for a message, if its type is not one that messages show by themselves."""
    return f" (seen: {value})" if isinstance(value, (Decimal, Fraction)) else ""


def _number_or_quotient(value: Any) -> Any:
    if isinstance(value, str) and _QUOTIENT.fullmatch(value.strip()):
        return float(exact_fraction(value))
    return float(value) if isinstance(value, Fraction) else plain_number(value)


_WRITTEN = WithJsonSchema({"type": ["number", "string"]})
ExactShare = Annotated[Fraction, PlainValidator(exact_share), PlainSerializer(str), _WRITTEN]
ExactNotNegative = Annotated[
    Fraction, PlainValidator(exact_not_negative), PlainSerializer(str), _WRITTEN
]
# TOML's decimals come as Decimal; left to itself, pydantic would take texts for numbers.
Probability = Annotated[
    float,
    Field(strict=True, allow_inf_nan=False, ge=0, le=1),
    BeforeValidator(_number_or_quotient),
]
Between = Share
NotNegative = Annotated[
    float, Field(strict=True, allow_inf_nan=False, ge=0), BeforeValidator(plain_number)
]
AtLeastOne = PositiveCount
Decision = Annotated[int, Field(strict=True, ge=0, le=1), BeforeValidator(plain_number)]

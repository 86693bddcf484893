"""Types, values and small expressions as RTLola has them, and what it has no way to express."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

# Names that its grammar reads as something else, and beginnings that it takes for an operator or a
# truth value. A field that is called so gets another name.
_RESERVED = re.compile(
    r"(not|true|false).*|(input|output|trigger|constant|import|include|type|spawn|eval|close|when"
    r"|with|if|then|else|and|or|implies|mirrors|sum|count|avg|average|integral|min|max|forall"
    r"|exists|conjunction|disjunction|var|variance|sd|standard_deviation|med|median|all|fresh)"
)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


class UnsaidError(Exception):
    """Something that an export cannot express: the key, what is asked for, and what to do."""

    def __init__(self, key: str, what: str, remedy: str) -> None:
        super().__init__(what)
        self.key = key
        self.what = what
        self.remedy = remedy


class Names:
    """Gives names that the language allows, no two alike."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def new(self, wanted: str) -> str:
        """Return a name that is not taken yet, the wanted one if that is allowed."""
        name = re.sub(r"[^A-Za-z0-9_]", "_", wanted)
        if not _IDENTIFIER.fullmatch(name) or _RESERVED.fullmatch(name):
            name = f"field_{name}"
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name


def aggregate(stream: str, instances: str, word: str) -> str:
    """Return the aggregate over instances of a stream, 0 if there is none."""
    return f"{stream}.aggregate(over_instances: {instances}, using: {word}).defaults(to: 0.0)"


def bias_of(highest: str, lowest: str, measure: str) -> str:
    """Return how far the highest and the lowest rate are apart, by a difference or a ratio."""
    if measure == "difference":
        return f"{highest} - {lowest}"
    return f"if {highest} > 0.0 then 1.0 - {lowest} / {highest} else 0.0"


def zero_or_one(condition: str) -> str:
    """Return 1 where a condition holds, and 0 otherwise."""
    return f"if {condition} then 1 else 0"


def kind_of(values: Sequence[Any]) -> str:
    """Return the type of values."""
    if isinstance(values[0], bool):
        return "Bool"
    if isinstance(values[0], str):
        return "String"
    return "Int64" if all(isinstance(value, int) for value in values) else "Float64"


def is_of_kind(value: Any, kind: str) -> bool:
    """Return whether a value is of a type; whole numbers and others are alike."""
    found = kind_of([value])
    return found == kind or {found, kind} == {"Int64", "Float64"}


def kind_of_members(values: Sequence[Any]) -> str:
    """Return the type of a field that is compared with values of an expression."""
    if all(isinstance(value, int | float) for value in values):
        return "Float64"
    truths = all(isinstance(value, str) and value.lower() in ("true", "false") for value in values)
    return "Bool" if truths else "String"


def equals_any(name: str, values: Sequence[Any], kind: str, key: str) -> str:
    """Return that something is one of several values."""
    return " || ".join(f"{name} == {written(value, kind, key)}" for value in values)


def written(value: Any, kind: str, key: str) -> str:
    """Return a value as a literal of a type; `key` is named if there is none."""
    if kind == "String":
        return literal(str(value), key)
    if kind == "Bool":
        return str(value).lower()
    return str(value) if kind == "Int64" else real(value)


def literal(text: str, key: str) -> str:
    """Return a text in quotes."""
    if '"' in text or "\\" in text or not text.isprintable():
        raise UnsaidError(
            key, f"text with a quote, a backslash or a control: {text!r}", "rename it"
        )
    return f'"{text}"'


def real(value: int | float) -> str:
    """Return a number as a literal of the type Float64."""
    return repr(float(value))


def fraction(value: Fraction) -> str:
    """Return a number as decimals if it is one with few of them, else as a quotient."""
    short = repr(float(value))
    if Fraction(short) == value:
        return short
    return f"({value.numerator}.0 / {value.denominator}.0)"


def comment(text: str) -> str:
    """Return a text without what would end the line of a comment."""
    return "".join(sign if sign.isprintable() else " " for sign in text)

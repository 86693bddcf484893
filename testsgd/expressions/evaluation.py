"""What an expression says of one event, and of all rows of a data frame; the same of both."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import ExpressionError
from testsgd.expressions.nodes import (
    Junction,
    Membership,
    Negation,
    Node,
    Order,
    Ordering,
    read_number,
)
from testsgd.expressions.syntax import shown

if TYPE_CHECKING:
    import pandas as pd

Holds: TypeAlias = Callable[[Mapping[str, Any]], bool]

_COMPARE: dict[Order, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _plain(value: Any) -> Any:
    """Return a value as Python has it, None if it is missing."""
    if type(value) is str:
        return value or None
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int):
        return value
    try:
        unequal = bool(value != value)
    except (TypeError, ValueError):  # pandas.NA is neither equal nor unequal
        return None
    return None if unequal or value == "" else value


def _text(value: Any) -> str:
    """Return the text that a value is compared by; whole numbers have no decimals."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    try:
        return str(value)
    except ValueError:  # Python writes no number of more than 4300 digits
        return ""


def _as_number(value: Any) -> float | int | None:
    """Return the number that a value is, or is the text of; else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    return read_number(value.strip()) if isinstance(value, str) else None


def _member_test(node: Membership) -> Callable[[Any], bool]:
    """Return a function of a value: whether it is one of those that are given."""
    numbers = frozenset(value for value in node.values if isinstance(value, int | float))
    texts = frozenset(value for value in node.values if isinstance(value, str))
    # true, True and TRUE are the same value of a field that is a boolean.
    truths = frozenset(text.lower() for text in texts)
    missing = None in node.values
    among = node.among

    def holds(value: Any) -> bool:
        value = _plain(value)
        if value is None:
            # Of a value that is missing only that is known.
            return missing if among else False
        if isinstance(value, bool):
            return (_text(value) in truths) is among
        if texts and _text(value) in texts:
            return among
        if numbers and (number := _as_number(value)) is not None and number in numbers:
            return among
        return not among

    return holds


def _order_test(node: Ordering) -> Callable[[Any], bool]:
    """Return a function of a value: whether it is smaller or larger than the bound."""
    compare, bound = _COMPARE[node.order], node.bound

    def holds(value: Any) -> bool:
        if type(value) is not int and (type(value) is not float or value != value):
            value = _plain(value)
            if value is None:
                return False
            number = _as_number(value)
            if number is None:
                raise ExpressionError(
                    f"the value {shown(_text(value))} is no number, and {node.order} compares "
                    "numbers",
                    where=node.name,
                    remedy="give a number, or compare by = and in",
                    name=node.name,
                )
            value = number
        return bool(compare(value, bound))

    return holds


def _test(node: Ordering | Membership) -> Callable[[Any], bool]:
    return _order_test(node) if isinstance(node, Ordering) else _member_test(node)


def kinds_of_values(name: str, compared: Iterable[Ordering | Membership]) -> list[Any]:
    """Return values under a name, at least one of each kind that some comparisons tell apart.

    None is among them, for a value that is missing.
    """
    given: dict[Any, None] = {}
    for node in compared:
        if node.name == name:
            given |= dict.fromkeys((node.bound,) if isinstance(node, Ordering) else node.values)
    numbers = sorted(value for value in given if isinstance(value, int | float))
    between = [(low + high) / 2 for low, high in itertools.pairwise(numbers)]
    texts = [value for value in given if isinstance(value, str)]
    # A number may be written as another text than a given one.
    texts += [f" {number}" for number in numbers]
    # One that is longer than all of them is another text.
    other = max(texts, key=len, default="") + "-"
    return [None, -math.inf, *numbers, *between, math.inf, *texts, other]


def unnamed_text(value: Any, compared: Iterable[Ordering | Membership]) -> str | None:
    """Return the text of a value that no comparison names; None if it is missing or compared."""
    value = _plain(value)
    if value is None:
        return None
    for node in compared:
        if isinstance(node, Ordering) or _member_test(node)(value) is node.among:
            return None
    return _text(value)


def compiled(node: Node) -> Holds:
    """Return a function of a mapping, made once, so that an event costs a few calls."""
    if isinstance(node, Negation):
        part = compiled(node.part)
        return lambda values: not part(values)
    if isinstance(node, Junction):
        parts = tuple(map(compiled, node.parts))
        # All parts are asked, so that a wrong value is an error whatever the others say.
        if node.every:
            return lambda values: sum(part(values) for part in parts) == len(parts)
        return lambda values: sum(part(values) for part in parts) > 0
    name, test = node.name, _test(node)
    return lambda values: test(values.get(name))


def mask_of(node: Node, frame: pd.DataFrame) -> NDArray[np.bool_]:
    """Return for which rows of a data frame a tree holds, shape (n,)."""
    if isinstance(node, Negation):
        return ~mask_of(node.part, frame)
    if isinstance(node, Junction):
        join = np.logical_and if node.every else np.logical_or
        masks = [mask_of(part, frame) for part in node.parts]
        whole: NDArray[np.bool_] = join.reduce(masks)
        return whole
    position = [str(name) for name in frame.columns].index(node.name)
    return _column_mask(node, frame.iloc[:, position])


def _column_mask(node: Ordering | Membership, column: pd.Series[Any]) -> NDArray[np.bool_]:
    """Return for which cells a comparison holds; each distinct cell is asked about once."""
    import pandas as pd

    floats = isinstance(column.dtype, np.dtype) and column.dtype.kind == "f"
    if isinstance(node, Ordering) and floats:
        # A comparison with NaN is False.
        cells = column.to_numpy(dtype=np.float64)
        return np.asarray(_COMPARE[node.order](cells, float(node.bound)), dtype=bool)
    test = _test(node)
    if column.dtype == object and pd.api.types.infer_dtype(column) not in ("string", "empty"):
        # Among objects, pandas takes True for 1.
        return np.fromiter(map(test, column), dtype=bool, count=len(column))
    codes, uniques = pd.factorize(column, use_na_sentinel=True)
    # The last place serves code -1, a missing cell.
    answers = np.array([*map(test, uniques), test(None) if (codes < 0).any() else False])
    chosen: NDArray[np.bool_] = answers[codes].astype(bool)
    return chosen

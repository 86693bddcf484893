"""The parts that all formats are first read into: affine maps, scalings and activations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from testsgd.certification.network.feedforward import (
    Activation,
    CategoryColumns,
    InputColumns,
    NumberColumns,
    Precision,
    Step,
)
from testsgd.errors import ModelError, ParameterError

# A network's file may be made up by anybody, so what it asks for is bounded before it is done.
MAXIMUM_WIDTH = 100_000
MAXIMUM_NUMBERS = 50_000_000
MAXIMUM_LAYERS = 1_000


@dataclass(frozen=True)
class Affine:
    """``x @ weights + bias``, all numbers as stored."""

    where: str
    weights: NDArray[np.float64]
    bias: NDArray[np.float64]


@dataclass(frozen=True)
class Scaling:
    """``multiplier * x + constant``, column by column, shape (1,) or (width,) each.

    The model's own result lies within ``relative_error * |multiplier * x| + absolute_error`` of the
    exact one. The steps are its own.
    """

    where: str
    multiplier: NDArray[np.float64]
    constant: NDArray[np.float64]
    relative_error: float
    absolute_error: NDArray[np.float64]
    steps: tuple[Step, ...]

    def to(self, width: int) -> Scaling:
        """Return the scaling of `width` columns, repeated from one column if it has one."""
        if len(self.multiplier) not in (1, width):
            raise misfit(self.where, width, len(self.multiplier))
        return self._of(lambda array: np.broadcast_to(array, (width,)).copy())

    def cut(self, columns: slice) -> Scaling:
        """Return the scaling of some of the columns."""
        return self._of(lambda array: array[columns])

    def _of(self, change: Callable[[NDArray[Any]], NDArray[Any]]) -> Scaling:
        return replace(
            self,
            multiplier=change(self.multiplier),
            constant=change(self.constant),
            absolute_error=change(self.absolute_error),
            steps=tuple(Step(step.operation, change(step.operand)) for step in self.steps),
        )


@dataclass(frozen=True)
class Activate:
    """An activation function, number by number."""

    where: str
    function: Activation
    negative_slope: float = 0.0


@dataclass(frozen=True)
class Softmax:
    """Exponentials that sum to one; may only come last."""

    where: str


Part = Affine | Scaling | Activate | Softmax


def is_complement(chain: Sequence[Part]) -> bool:
    """Return whether the last parts make one minus a sigmoid."""
    if len(chain) < 2:
        return False
    sigmoid, last = chain[-2:]
    return (
        isinstance(sigmoid, Activate)
        and sigmoid.function == "sigmoid"
        and isinstance(last, Scaling)
        and bool((last.multiplier == -1).all() and (last.constant == 1).all())
    )


@dataclass(frozen=True)
class ReadNetwork:
    """A network as a reader returns it: its parts in order, and what is known about its ends."""

    width: int  # How many columns the network takes.
    parts: tuple[Part, ...]  # What is done with them, in order.
    precision: Precision
    kind: str  # For reports.
    labels: tuple[str, ...] = ()  # Of the decision, if they are known.
    inputs: tuple[InputColumns, ...] = ()  # Whose columns it takes; by default numbers x0, x1, ...
    threshold: float | None = None  # By default 0.5 for a probability and 0 for a plain sum.


def damaged(what: str, where: str) -> ModelError:
    """Return the error that a file contradicts itself."""
    return ModelError(what, where=where, remedy="give a sound file")


def misfit(where: str, given: int, expected: int) -> ModelError:
    """Return the error that a part takes another number of columns than it is given."""
    return damaged(f"it takes {expected} numbers, but is given {given}", where)


def affine(where: str, weights: ArrayLike, bias: ArrayLike | None) -> Affine:
    """Return a fully connected layer as float64, after a check of its numbers."""
    matrix = numbers(where, weights)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise damaged(f"the weights have the shape {matrix.shape}", where)
    offsets = np.zeros(matrix.shape[1]) if bias is None else numbers(where, bias)
    if offsets.shape != matrix.shape[1:]:
        raise damaged(
            f"there are {matrix.shape[1]} units, but biases of the shape {offsets.shape}", where
        )
    return Affine(where, matrix, offsets)


def scaling(
    where: str,
    multiplier: ArrayLike,
    constant: ArrayLike,
    steps: Sequence[Step],
    roundings: int,
    precision: Precision,
    magnitude: ArrayLike | None = None,
) -> Scaling:
    """Return a scaling that the model computes in `roundings` operations, each rounded once.

    `magnitude`: the sum of the sizes of the terms that make up the constant, if there are several.
    """
    factors = np.atleast_1d(numbers(where, multiplier))
    offsets = np.atleast_1d(numbers(where, constant))
    shape = np.broadcast_shapes(factors.shape, offsets.shape)
    sizes = np.abs(offsets) if magnitude is None else np.atleast_1d(numbers(where, magnitude))
    # k roundings change a number by a share of at most (1 + u)^k - 1 < (k + 1) u for small k.
    share = (roundings + 1) * unit_roundoff(precision)
    return Scaling(
        where=where,
        multiplier=np.broadcast_to(factors, shape),
        constant=np.broadcast_to(offsets, shape),
        relative_error=share,
        absolute_error=np.broadcast_to(share * sizes, shape),
        steps=tuple(steps),
    )


def batch_scaling(
    where: str, arrays: Sequence[ArrayLike], epsilon: float, precision: Precision
) -> Scaling:
    """Return the scaling of a batch normalisation as it is after training.

    `arrays`: the factors gamma, the offsets beta, the means and the variances.
    """
    gamma, beta, mean, variance = (np.atleast_1d(numbers(where, array)) for array in arrays)
    epsilon = float(numbers(where, epsilon))
    if not (variance + epsilon > 0).all():
        raise ModelError("a variance is not above 0", where=where, remedy="train the network anew")
    factor = gamma / np.sqrt(variance + epsilon)
    offset = beta - mean * factor
    # Sum, root and reciprocal (a fast one may be 4 roundings off), two products, two sums.
    steps = Step("multiply", factor.astype(precision)), Step("add", offset.astype(precision))
    magnitude = np.abs(beta) + np.abs(mean * factor)
    return scaling(where, factor, offset, steps, 12, precision, magnitude)


def numbers(where: str, given: ArrayLike) -> NDArray[np.float64]:
    """Return numbers as float64, after a check that all are finite and exact in it."""
    array = np.asarray(given)
    if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
        raise ModelError(
            f"the weights are of the type {array.dtype}",
            where=where,
            remedy="give a network of float32 or float64",
        )
    if array.size > MAXIMUM_NUMBERS:
        raise too_large(where)
    result = array.astype(np.float64)
    if not np.isfinite(result).all():
        raise ModelError(
            "some weights are NaN or infinite", where=where, remedy="train the network anew"
        )
    return result


def too_large(where: str) -> ModelError:
    """Return the error that a layer is larger than what is read."""
    return ModelError(
        f"there are more than {MAXIMUM_NUMBERS:,} weights, or more than {MAXIMUM_WIDTH:,} units",
        where=where,
        remedy="give a smaller network",
    )


def unit_roundoff(precision: Precision) -> float:
    """Return the largest share by which one rounding changes a number."""
    return float(np.finfo(precision).eps) / 2


def group_inputs(
    inputs: Sequence[InputColumns], categories: Mapping[str, Sequence[int]]
) -> tuple[tuple[InputColumns, ...], NDArray[np.intp]]:
    """Return the inputs with each category as one input, and the new order of all columns.

    A category stands where its first column stood. `categories`: positions of the columns, one a
    value.
    """
    owner = _owners(inputs, categories)
    grouped: list[InputColumns] = []
    order: list[int] = []
    for position, given in enumerate(inputs):
        group = owner.get(position)
        if group is None:
            grouped.append(given)
            order.append(position)
        elif position == min(categories[group]):
            grouped.append(_category(group, [inputs[member] for member in categories[group]]))
            order.extend(categories[group])
    return tuple(grouped), columns_of(inputs, order)


def starts(inputs: Sequence[InputColumns]) -> NDArray[np.intp]:
    """Return where the columns of each input start, side by side, and last where all end."""
    return np.cumsum([0, *(given.columns.width for given in inputs)], dtype=np.intp)


def columns_of(inputs: Sequence[InputColumns], order: Sequence[int]) -> NDArray[np.intp]:
    """Return the columns of inputs in another order."""
    ends = starts(inputs)
    return np.concatenate([np.arange(ends[place], ends[place + 1]) for place in order])


def reorder_columns(parts: Sequence[Part], order: NDArray[np.intp]) -> list[Part]:
    """Return parts that take their columns in another order; a ModelError if they cannot."""
    parts = list(parts)
    if (order == np.arange(len(order))).all():
        return parts
    for position, part in enumerate(parts):
        if isinstance(part, Affine):
            if len(part.weights) != len(order):
                break
            parts[position] = replace(part, weights=part.weights[order])
            return parts
        if isinstance(part, Scaling) and len(part.multiplier) > 1:
            break
        if not isinstance(part, (Activate, Scaling)):
            break
    raise ModelError(
        "the first layer does not take the columns of the inputs",
        where="model",
        remedy="give a network that begins with a fully connected layer",
    )


def _owners(
    inputs: Sequence[InputColumns], categories: Mapping[str, Sequence[int]]
) -> dict[int, str]:
    owner: dict[int, str] = {}
    for name, positions in categories.items():
        where = f"columns of {name!r}"
        if not positions:
            raise ParameterError("there are none", where=where, remedy="give positions of columns")
        for position in positions:
            if not 0 <= position < len(inputs) or position in owner:
                raise ParameterError(
                    f"{position} is no column of the network, or is given twice",
                    where=where,
                    remedy=f"give positions from 0 to {len(inputs) - 1}",
                )
            if not isinstance(inputs[position].columns, NumberColumns):
                raise ParameterError(
                    f"the network takes {inputs[position].name!r} as a category already",
                    where=where,
                    remedy="leave out the columns",
                )
            owner[position] = name
    return owner


def _category(name: str, members: Sequence[InputColumns]) -> InputColumns:
    """Return columns of 0 and 1 as one category, whose value v has 1 in column v."""
    zero_one = np.array([0.0, 1.0])
    table, errors = [], []
    for member, own in zip(members, np.eye(len(members), dtype=np.intp), strict=True):
        columns = member.columns
        assert isinstance(columns, NumberColumns)
        table.append(columns.compute(zero_one).astype(np.float64)[own])
        # Twice: the model's steps, and the same steps here, are each so near to the exact ones.
        spread = columns.relative_error * np.abs(columns.multiplier) * zero_one[:, None]
        errors.append(2 * (spread + columns.absolute_error)[own])
    names = tuple(member.name for member in members)
    return InputColumns(name, CategoryColumns(np.hstack(table), names, np.hstack(errors)))

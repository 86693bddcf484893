"""What all formats are first read into: affine maps, scalings and activations, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from testsgd.certification.network.feedforward import Activation, Precision, Step
from testsgd.errors import ModelError

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


@dataclass(frozen=True)
class ReadNetwork:
    """What a reader found.

    Attributes
    ----------
    width : int
        How many columns the network takes.
    parts : tuple of Part
        What is done with them, in order.
    precision : {"float32", "float64"}
        In which arithmetic.
    kind : str
        For reports.
    labels : tuple of str
        Of the decision, if they are known.
    """

    width: int
    parts: tuple[Part, ...]
    precision: Precision
    kind: str
    labels: tuple[str, ...] = ()


def affine(where: str, weights: ArrayLike, bias: ArrayLike | None) -> Affine:
    """Check the numbers of a fully connected layer, and give them as float64.

    Raises
    ------
    ModelError
        If they are not finite numbers of float32 or float64, or do not fit together.
    """
    matrix = numbers(where, weights)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ModelError(
            f"the weights have the shape {matrix.shape}", where=where, remedy="give a sound file"
        )
    offsets = np.zeros(matrix.shape[1]) if bias is None else numbers(where, bias)
    if offsets.shape != matrix.shape[1:]:
        raise ModelError(
            f"there are {matrix.shape[1]} units, but biases of the shape {offsets.shape}",
            where=where,
            remedy="give a sound file",
        )
    return Affine(where, matrix, offsets)


def scaling(
    where: str,
    multiplier: ArrayLike,
    constant: ArrayLike,
    *,
    roundings: int,
    precision: Precision,
    steps: Sequence[Step],
    magnitude: ArrayLike | None = None,
) -> Scaling:
    """Make a scaling whose numbers were computed.

    Parameters
    ----------
    where : str
        The layer.
    multiplier, constant : array-like
        Of shape (), (1,) or (width,).
    roundings : int
        In how many steps, each rounded once, the model computes it.
    precision : {"float32", "float64"}
        In which arithmetic.
    steps : sequence of Step
        The model's own.
    magnitude : array-like, optional
        The sum of the sizes of the terms that make up the constant, if there are several.
    """
    factors = np.atleast_1d(numbers(where, multiplier))
    offsets = np.atleast_1d(numbers(where, constant))
    shape = np.broadcast_shapes(factors.shape, offsets.shape)
    sizes = np.abs(offsets) if magnitude is None else np.atleast_1d(numbers(where, magnitude))
    # k roundings change a number by a share of at most (1 + u)^k - 1 < (k + 1) u for small k.
    share = (roundings + 1) * unit_roundoff(precision)
    return Scaling(
        where,
        np.broadcast_to(factors, shape),
        np.broadcast_to(offsets, shape),
        share,
        np.broadcast_to(share * sizes, shape),
        tuple(steps),
    )


def batch_scaling(
    where: str,
    arrays: Sequence[ArrayLike],
    epsilon: float,
    precision: Precision,
) -> Scaling:
    """Make the scaling of a batch normalisation as it is after training.

    Parameters
    ----------
    where : str
        The layer.
    arrays : sequence of array-like
        The factors gamma, the offsets beta, the means and the variances.
    epsilon : float
        What is added to the variances.
    precision : {"float32", "float64"}
        In which arithmetic the model computes.

    Raises
    ------
    ModelError
        If a variance with epsilon is not above 0.
    """
    gamma, beta, mean, variance = (np.atleast_1d(numbers(where, array)) for array in arrays)
    epsilon = float(numbers(where, epsilon))
    if not (variance + epsilon > 0).all():
        raise ModelError("a variance is not above 0", where=where, remedy="train the network anew")
    factor = gamma / np.sqrt(variance + epsilon)
    offset = beta - mean * factor
    # Sum, root and reciprocal (a fast one may be 4 roundings off), two products, two sums.
    return scaling(
        where,
        factor,
        offset,
        roundings=12,
        precision=precision,
        steps=(Step("multiply", factor.astype(precision)), Step("add", offset.astype(precision))),
        magnitude=np.abs(beta) + np.abs(mean * factor),
    )


def numbers(where: str, given: ArrayLike) -> NDArray[np.float64]:
    """Check that all are finite and exact in float64, and give them so."""
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
    """Make the error that a layer is larger than what is read."""
    return ModelError(
        f"there are more than {MAXIMUM_NUMBERS:,} weights, or more than {MAXIMUM_WIDTH:,} units",
        where=where,
        remedy="give a smaller network",
    )


def unit_roundoff(precision: Precision) -> float:
    """Give the largest share by which one rounding changes a number."""
    return float(np.finfo(precision).eps) / 2

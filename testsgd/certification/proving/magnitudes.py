"""How large the numbers of a network may become on a domain, and whether they can be bounded."""

from __future__ import annotations

import numpy as np

from testsgd.certification.domain import CategoryInput, Domain
from testsgd.certification.network import CategoryColumns, FeedForward
from testsgd.certification.proving.axes import Floats
from testsgd.errors import ModelError

# Beyond these a sum may overflow.
_MOST = {"float32": 1e37, "float64": 1e300}


def check_slopes(network: FeedForward) -> None:
    """Raise a ModelError if an activation is not convex and rising, as the lines assume."""
    for place, layer in enumerate(network.layers):
        if not 0 <= layer.negative_slope <= 1:
            raise ModelError(
                f"the slope {layer.negative_slope} of layer {place + 1} is not between 0 and 1",
                where="model",
                remedy="certify a network with ReLU or leaky ReLU units",
            )


def largest_inputs(network: FeedForward, domain: Domain) -> list[Floats]:
    """Bound the absolute inputs of each layer, and last the absolute sums that decide."""
    columns = []
    for given, wanted in zip(network.inputs, domain.inputs, strict=True):
        own = given.columns
        if isinstance(own, CategoryColumns):
            columns.append(np.abs(own.table).max(axis=0) + np.max(own.absolute_error))
        else:
            assert not isinstance(wanted, CategoryInput)
            end = float(max(abs(wanted.low), abs(wanted.high)))
            scaled = np.abs(own.multiplier) * end + np.abs(own.constant)
            columns.append(scaled + own.absolute_error)
    reach = [np.concatenate(columns)]
    with np.errstate(over="ignore", invalid="ignore"):
        for layer in network.layers:
            sums = reach[-1] @ np.abs(layer.weights) + np.abs(layer.bias)
            if layer.activation in ("sigmoid", "tanh"):
                # The sums themselves may be too large, too.
                sums = np.where(sums < _MOST[network.precision], 1.0, np.inf)
            reach.append(sums)
    return reach


def check_range(network: FeedForward, largest: list[Floats]) -> None:
    """Raise a ModelError if a sum, or a coefficient of the bounds, may overflow."""
    most = max(float(reach.max(initial=0.0)) for reach in largest)
    if not most < _MOST[network.precision]:
        raise ModelError(
            f"sums of the network may grow to {most:.1e}, beyond what {network.precision} holds",
            where="model",
            remedy="scale its inputs, or certify a smaller domain",
        )
    growth = np.ones(network.outputs)
    with np.errstate(over="ignore", invalid="ignore"):
        for layer in reversed(network.layers):
            growth = np.abs(layer.weights) @ np.maximum(growth, 1.0)
            if not growth.max(initial=0.0) < _MOST["float64"]:
                raise ModelError(
                    "the weights of the network's layers are too large to be multiplied",
                    where="model",
                    remedy="scale them",
                )

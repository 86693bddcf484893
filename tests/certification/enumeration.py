"""The truth by brute force: every person of a small domain, every protected value, every rounding.

Nothing here uses the arithmetic of the package: the networks are run again, sum by sum, in float64,
and in the model's own precision with the terms of each sum added forwards and backwards, with the
bias last or first, each product rounded by itself or together with the addition (fused, as most
processors do). What is proved must hold for all of them.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.domain import (
    Domain,
    IntegerInput,
)
from testsgd.certification.network import (
    CategoryColumns,
    DenseLayer,
    FeedForward,
)


@dataclass(frozen=True)
class Truth:
    """What is true of every person of a domain.

    Attributes
    ----------
    people : numpy.ndarray, shape (people, free inputs)
        Everybody.
    weights : numpy.ndarray, shape (people,)
        How much each counts; the sum is 1.
    answers : numpy.ndarray of int, shape (people, combinations)
        The decision for each compared combination of protected values, in the model's precision.
    possible : numpy.ndarray of bool, shape (people, combinations, labels)
        The decisions that rounding and the decision's tolerance allow.
    """

    people: NDArray[np.float64]
    weights: NDArray[np.float64]
    answers: NDArray[np.intp]
    possible: NDArray[np.bool_]

    @property
    def fair(self) -> NDArray[np.bool_]:
        """Who gets one decision for all protected values when the model is run."""
        equal: NDArray[np.bool_] = (self.answers == self.answers[:, :1]).all(axis=1)
        return equal

    @property
    def surely_fair(self) -> NDArray[np.bool_]:
        """Who gets one decision however the arithmetic rounds."""
        one: NDArray[np.bool_] = self.possible.any(axis=1).sum(axis=1) == 1
        return one

    @property
    def surely_unfair(self) -> NDArray[np.bool_]:
        """Who gets two decisions however the arithmetic rounds."""
        # Two combinations differ for sure if they have no possible decision in common.
        shared = np.einsum("pal,pbl->pab", self.possible.astype(int), self.possible.astype(int))
        apart: NDArray[np.bool_] = (shared == 0).any(axis=(1, 2))
        return apart

    def share(self, chosen: NDArray[np.bool_]) -> float:
        """Give the share of the chosen people."""
        return float(self.weights[chosen].sum())


def truth_of(network: FeedForward, domain: Domain) -> Truth:
    """Run a network for every person of a domain and every compared combination."""
    people, weights = everybody(domain)
    free = [domain.names.index(item.name) for item in domain.free]
    protected = [domain.names.index(name) for name in domain.protected]
    answers, possible = [], []
    for combination in domain.protected_values:
        values = np.empty((len(people), len(domain.inputs)))
        values[:, free] = people
        values[:, protected] = combination
        runs = [
            run(network, values, network.precision, backwards=side, fused=fused, bias_first=first)
            for fused, first, side in itertools.product((False, True), repeat=3)
        ]
        runs.append(run(network, values, "float64"))
        answers.append(first_decision(network, runs[0]))
        possible.append(np.any([allowed(network, sums) for sums in runs], axis=0))
    return Truth(people, weights, np.stack(answers, axis=1), np.stack(possible, axis=1))


def everybody(domain: Domain) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """List the people of a domain without real inputs, and how much each counts."""
    axes, counts = [], []
    for item in domain.free:
        low = item.low if isinstance(item, IntegerInput) else 0
        assert item.size is not None
        axes.append(np.arange(item.size, dtype=np.float64) + low)
        marginal = domain.marginals.get(item.name)
        counts.append(
            np.full(item.size, 1 / item.size) if marginal is None else np.diff(marginal.cumulative)
        )
    people = np.array(list(itertools.product(*axes))).reshape(-1, len(axes))
    weights = np.array([np.prod(parts) for parts in itertools.product(*counts)])
    return people, weights


def run(
    network: FeedForward,
    values: NDArray[np.float64],
    precision: str,
    *,
    backwards: bool = False,
    fused: bool = False,
    bias_first: bool = False,
) -> NDArray[np.floating]:
    """Compute the last layer's sums, the terms of a sum one by one from its first or last.

    Of a fused multiplication and addition only the sum is rounded: computed here with more digits.
    """
    columns = []
    for place, given in enumerate(network.inputs):
        if isinstance(given.columns, CategoryColumns):
            columns.append(given.columns.table[values[:, place].astype(int)])
        else:
            scaled = values[:, place, None] * given.columns.multiplier
            columns.append(scaled + given.columns.constant)
    current = np.concatenate(columns, axis=1).astype(precision)
    longer = np.float64 if precision == "float32" else np.longdouble
    for layer in network.layers:
        weights = layer.weights.astype(precision)
        bias = np.broadcast_to(layer.bias.astype(precision), (len(values), len(layer.bias)))
        order = range(len(weights))
        sums = bias if bias_first else np.zeros(bias.shape, dtype=precision)
        for place in reversed(order) if backwards else order:
            column = current[:, place, None]
            if fused:
                sums = (sums + column.astype(longer) * weights[place]).astype(precision)
            else:
                sums = sums + column * weights[place]
        current = _activated(sums if bias_first else sums + bias, layer)
    return current


def _activated(sums: NDArray[np.floating], layer: DenseLayer) -> NDArray[np.floating]:
    match layer.activation:
        case "relu":
            return np.where(sums > 0, sums, sums.dtype.type(0))
        case "leaky_relu":
            return np.where(sums > 0, sums, sums * sums.dtype.type(layer.negative_slope))
        case "sigmoid":
            return _sigmoid(sums)
        case "tanh":
            return np.asarray(np.tanh(sums))
        case _:
            return sums


def _sigmoid(sums: NDArray[np.floating]) -> NDArray[np.floating]:
    one = sums.dtype.type(1)
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(one / (one + np.exp(-sums)))


def first_decision(network: FeedForward, sums: NDArray[np.floating]) -> NDArray[np.intp]:
    """Decide for networks whose plain sums decide, or a sigmoid of one sum."""
    decision = network.decision
    if decision.output == "sigmoid":
        sums = _sigmoid(sums)
    else:
        assert decision.output == "plain"
    if decision.kind == "threshold":
        above: NDArray[np.intp] = (sums[:, 0] > sums.dtype.type(decision.threshold)).astype(np.intp)
        return above
    return np.asarray(np.argmax(sums, axis=1))


def allowed(network: FeedForward, sums: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Say which decisions are within the decision's tolerance, shape (rows, labels)."""
    decision = network.decision
    if decision.kind == "threshold":
        above = sums[:, 0].astype(np.float64) - decision.decision_threshold
        return np.stack([above <= decision.tolerance, above > -decision.tolerance], axis=1)
    behind = sums.max(axis=1, keepdims=True) - sums
    first = np.argmax(sums, axis=1)
    near = (behind <= decision.tolerance) & (decision.tolerance > 0)
    return np.asarray(near | (np.arange(sums.shape[1]) == first[:, None]))


def times_covered(
    people: NDArray[np.float64], lows: NDArray[np.float64], highs: NDArray[np.float64]
) -> NDArray[np.int_]:
    """Count in how many of some boxes, ends included, each person lies."""
    counts = np.zeros(len(people), dtype=int)
    for low, high in zip(lows, highs, strict=True):
        counts += ((people >= low) & (people <= high)).all(axis=1)
    return counts

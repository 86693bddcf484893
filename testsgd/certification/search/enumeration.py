"""Small domains: every person is tried, with every protected value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from testsgd.certification.domain import Domain
from testsgd.certification.network import FeedForward
from testsgd.certification.proving import Problem
from testsgd.certification.proving.axes import CATEGORY, Floats
from testsgd.certification.proving.linear_bounds import winners

# People, and multiplications of the network in all, up to which everybody is tried.
LARGEST = 1_000_000
_MOST_WORK = 2e10
_BLOCK = 16384


@dataclass(frozen=True)
class Enumeration:
    """Everybody of a domain."""

    weights: Floats  # Shares of the domain; their sum is 1.
    answers: Answers
    # Points with an answer nearer to the turning point than the sums may be moved by another
    # order of summation: their answers are what the model says here.
    within_rounding: int


def is_small(problem: Problem, points: int | None) -> bool:
    """Return whether a domain is small enough to try everybody."""
    if points is None or points > LARGEST:
        return False
    return points * problem.persons * problem.work <= _MOST_WORK


def enumerate_people(network: FeedForward, domain: Domain, problem: Problem) -> Enumeration:
    """Try everybody of a domain that has no input of real numbers."""
    axes = problem.axes
    values = [np.arange(low, high + 1) for low, high in zip(axes.low, axes.high, strict=True)]
    grid = np.meshgrid(*values, indexing="ij")
    points = np.stack([axis.ravel() for axis in grid], axis=1)
    weights = np.ones(1)
    for axis, kind in enumerate(axes.kinds):
        part = axes.part(axis, int(kind), values[axis], values[axis])
        weights = np.multiply.outer(weights, part).ravel()
    answers = ask(network, domain, points)
    unsure = 0
    for start in range(0, len(points), _BLOCK):
        unsure += int(_unsure(problem, points[start : start + _BLOCK]).sum())
    return Enumeration(weights, answers, unsure)


def _unsure(problem: Problem, points: Floats) -> NDArray[np.bool_]:
    """Return at which points another order of summation may change a decision.

    Forwards through the layers: how far the model's own sums may lie from the exact ones. No bound
    of a layer uses that errors cancel, so for deep and wide networks it is far too large.
    """
    axes, maps = problem.axes, problem.maps
    columns = np.zeros((len(points), axes.width))
    for axis, column in enumerate(axes.columns):
        if axes.kinds[axis] == CATEGORY:
            columns[np.arange(len(points)), column + points[:, axis].astype(np.intp)] = 1.0
        else:
            columns[:, column] = points[:, axis]
    exact = (columns @ maps[0].weights)[:, None] + problem.offsets
    error = (np.abs(columns) @ maps[0].absolute)[:, None] + problem.offset_noise
    shape = (len(points), problem.persons, -1)
    # One large matrix product in place of a small one a point.
    exact, error = (part.reshape(len(points) * problem.persons, -1) for part in (exact, error))
    for (kind, slope), own, layer in zip(
        problem.activations, problem.activation_errors, maps[1:], strict=True
    ):
        if kind == "leaky_relu":
            active = exact > -error
            rounded = own * slope * (np.abs(exact) + error)
            error = np.where(active, error, slope * error) + rounded
            exact = np.where(exact > 0, exact, slope * exact)
        else:
            exact = np.tanh(exact) if kind == "tanh" else expit(exact)
            error = error + own + 1e-13
        magnitude = np.abs(exact) + error
        # `absolute` is at least the absolute weights.
        error = (error + layer.rounding * magnitude) @ layer.absolute
        error += layer.rounding * layer.bias_absolute + layer.extra
        exact = exact @ layer.weights + layer.bias
    exact, error = exact.reshape(shape), error.reshape(shape)
    sure, _ = winners(problem, exact - error > problem.above, exact + error < problem.below)
    return np.asarray(~np.all(sure.any(axis=2), axis=1), dtype=np.bool_)


class Answers(NamedTuple):
    """What the network, run as its users run it, says of n points."""

    points: Floats  # Shape (n, axes).
    decisions: NDArray[np.intp]  # Shape (n, persons).
    sums: Floats  # Shape (n, persons, outputs).

    @property
    def unfair(self) -> NDArray[np.bool_]:
        """Which points get different decisions for different persons, shape (n,)."""
        different: NDArray[np.bool_] = (self.decisions != self.decisions[:, :1]).any(axis=1)
        return different

    def of(self, chosen: NDArray[np.intp]) -> Answers:
        """Return the answers of some points."""
        return Answers._make(array[chosen] for array in self)


def ask(network: FeedForward, domain: Domain, points: Floats) -> Answers:
    """Run the network for every compared person at points, shape (n, free inputs)."""
    free = [index for index, name in enumerate(domain.names) if name not in domain.protected]
    protected = [domain.names.index(name) for name in domain.protected]
    values = np.empty((len(points), len(domain.inputs)))
    values[:, free] = points
    decisions, sums = [], []
    for combination in domain.protected_values:
        values[:, protected] = combination
        person = network.sums(values)
        sums.append(person.astype(np.float64))
        decisions.append(network.decide(person))
    return Answers(points, np.stack(decisions, axis=1), np.stack(sums, axis=1))

"""Small domains: every person is tried, with every protected value."""

from __future__ import annotations

import math
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
    """All people of a domain with their weights and answers; a row a person."""

    weights: Floats  # Shares of the domain; their sum is 1.
    answers: Answers
    # Points with an answer nearer to the turning point than the sums may be moved by another
    # order of summation: their answers are what the model says here.
    within_rounding: int
    # Which people are fair, and which unfair, however the sums are rounded; the rest are people
    # whom the rounding of another machine may treat otherwise.
    surely_fair: NDArray[np.bool_]
    surely_unfair: NDArray[np.bool_]
    weighted: bool  # Whether an input has weights; if none has, all people count alike.

    def share(self, people: NDArray[np.bool_]) -> float:
        """Return the share of some people, shape (n,), of the domain.

        Without weights it is a quotient of counts, rounded once, so that 3 of 5 are the float 0.6.
        """
        if not self.weighted:
            return int(people.sum()) / len(people)
        return min(math.fsum(self.weights[people]) / math.fsum(self.weights), 1.0)


def is_small(problem: Problem, points: int | None) -> bool:
    """Return whether a domain is small enough to try every person.

    Parameters
    ----------
    problem : Problem
        The network on the domain.
    points : int or None
        How many people the domain has; None if an input is real.

    Returns
    -------
    bool
        True if there are at most a million people, and people times compared persons times
        multiplications of the network are at most 2 * 10**10.
    """
    if points is None or points > LARGEST:
        return False
    return points * problem.persons * problem.work <= _MOST_WORK


def enumerate_people(network: FeedForward, domain: Domain, problem: Problem) -> Enumeration:
    """Run the network for all people of a domain that has no input of real numbers.

    Parameters
    ----------
    network : FeedForward
        The network.
    domain : Domain
        The domain.
    problem : Problem
        The network on the domain.

    Returns
    -------
    Enumeration
        The weight and the answers of each person, how many people are near the threshold, and who
        is fair or unfair however sums are rounded.
    """
    axes = problem.axes
    values = [np.arange(low, high + 1) for low, high in zip(axes.low, axes.high, strict=True)]
    grid = np.meshgrid(*values, indexing="ij")
    points = np.stack([axis.ravel() for axis in grid], axis=1)
    weights = np.ones(1)
    for axis, kind in enumerate(axes.kinds):
        part = axes.part(axis, int(kind), values[axis], values[axis])
        weights = np.multiply.outer(weights, part).ravel()
    answers = ask(network, domain, points)
    within_rounding = 0
    fair, unfair = np.zeros(len(points), dtype=np.bool_), np.zeros(len(points), dtype=np.bool_)
    for start in range(0, len(points), _BLOCK):
        rows = slice(start, start + _BLOCK)
        sure, loses = sure_decisions(problem, points[rows])
        within_rounding += int(np.sum(~np.all(sure.any(axis=2), axis=1)))
        fair[rows] = np.any(sure.all(axis=1), axis=1)
        # One person surely gets a decision that another surely does not.
        unfair[rows] = np.any(sure.any(axis=1) & loses.any(axis=1), axis=1)
    return Enumeration(
        weights, answers, within_rounding, fair, unfair, weighted=bool(domain.marginals)
    )


def sure_decisions(problem: Problem, points: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which decisions are made for sure, and which for sure not, however sums are rounded.

    Forwards through the layers: how far the model's own sums may lie from the exact ones. No bound
    of a layer uses that errors cancel, so for deep and wide networks it is far too large.

    Parameters
    ----------
    problem : Problem
        The network on a domain.
    points : numpy.ndarray, shape (n, free inputs)
        Values of the inputs that are not protected, a category by its index.

    Returns
    -------
    tuple of numpy.ndarray of bool, each of shape (n, persons, decisions)
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
    exact = exact.reshape(shape)
    error = error.reshape(shape)
    return winners(problem, exact - error > problem.above, exact + error < problem.below)


class Answers(NamedTuple):
    """The decisions and sums of the network, run in its own arithmetic, at n points.

    Notes
    -----
    :func:`ask` returns them. A person is one combination of protected values, and a decision is the
    index of a label. Answers are what the model itself gives, with its rounding, so they prove
    nothing about other points.

    Examples
    --------
    >>> answers = Answers(
    ...     points=np.array([[7.0], [8.0]]),
    ...     decisions=np.array([[0, 0], [0, 1]]),
    ...     sums=np.array([[[-3.5], [-0.5]], [[-2.5], [0.5]]]),
    ... )
    >>> answers.unfair.tolist()
    [False, True]
    >>> answers.of(np.array([1])).points.tolist()
    [[8.0]]
    """

    points: Floats  # Shape (n, axes).
    decisions: NDArray[np.intp]  # Shape (n, persons).
    sums: Floats  # Shape (n, persons, outputs).

    @property
    def unfair(self) -> NDArray[np.bool_]:
        """Which points get different decisions for different persons, shape (n,)."""
        different: NDArray[np.bool_] = (self.decisions != self.decisions[:, :1]).any(axis=1)
        return different

    def of(self, chosen: NDArray[np.intp]) -> Answers:
        """Return the answers at the points with these indices."""
        return Answers(
            points=self.points[chosen], decisions=self.decisions[chosen], sums=self.sums[chosen]
        )


def ask(network: FeedForward, domain: Domain, points: Floats) -> Answers:
    """Run the network for every compared person at n points.

    Parameters
    ----------
    network : FeedForward
        The network.
    domain : Domain
        The domain, whose `protected_values` are compared.
    points : numpy.ndarray, shape (n, free inputs)
        Values of the inputs that are not protected, a category by its index.

    Returns
    -------
    Answers
        The decisions, shape (n, persons), and the sums, shape (n, persons, outputs).
    """
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

"""From points of the free axes to all inputs of the network, once for each compared person."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.domain import Domain
from testsgd.certification.network import FeedForward
from testsgd.certification.proving.axes import Floats


@dataclass(frozen=True)
class Answers:
    """What the network, run as its users run it, says of n points.

    Attributes
    ----------
    decisions : numpy.ndarray of int, shape (n, persons)
    sums : numpy.ndarray, shape (n, persons, outputs)
    """

    decisions: NDArray[np.intp]
    sums: Floats

    @property
    def unfair(self) -> NDArray[np.bool_]:
        """Which points get different decisions for different persons, shape (n,)."""
        different: NDArray[np.bool_] = (self.decisions != self.decisions[:, :1]).any(axis=1)
        return different


def ask(network: FeedForward, domain: Domain, points: Floats) -> Answers:
    """Run the network for every compared person at points, shape (n, free inputs)."""
    free = [place for place, name in enumerate(domain.names) if name not in domain.protected]
    protected = [domain.names.index(name) for name in domain.protected]
    values = np.empty((len(points), len(domain.inputs)))
    values[:, free] = points
    decisions, sums = [], []
    for combination in domain.protected_values:
        values[:, protected] = combination
        person = network.sums(values)
        sums.append(person.astype(np.float64))
        decisions.append(network.decide(person))
    return Answers(np.stack(decisions, axis=1), np.stack(sums, axis=1))

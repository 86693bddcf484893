"""The least bias that can be kept whoever comes: backward induction without probabilities."""

from __future__ import annotations

import numpy as np

from testsgd.shielding.solving.backward import Floats, Transitions, arrivals
from testsgd.shielding.solving.lattice import CounterLattice


def worst_case(lattice: CounterLattice, transitions: Transitions, final: Floats) -> float:
    """Value of the game in which inputs and labels are chosen by an adversary.

    Parameters
    ----------
    lattice : CounterLattice
    transitions : Transitions
        Of these only the moves count.
    final : numpy.ndarray, shape (lattice.size(horizon),)
        What the shield wants to be small at the end, such as the bias; overwritten.

    Returns
    -------
    float
        The least bound that some shield keeps for all sequences: one of the final values.
    """
    after, before = final, np.empty(lattice.size(lattice.horizon - 1))
    for step in range(lattice.horizon - 1, -1, -1):
        bases = lattice.bases(step)
        for total in range(step + 1):
            where = arrivals(lattice, step, total, after)
            worst: Floats | None = None
            for moves in transitions.moves:
                decisions = [
                    np.maximum(where(int(moves[decision, 0])), where(int(moves[decision, 1])))
                    for decision in (0, 1)
                ]
                best = np.minimum(*decisions)
                worst = best if worst is None else np.maximum(worst, best)
            assert worst is not None
            before[int(bases[total]) : int(bases[total + 1])] = worst.ravel()
        after, before = before, after
    return float(after[0])

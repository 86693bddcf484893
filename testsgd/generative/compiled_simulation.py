"""Many outputs under a schedule: requests and missed deadlines, the model's probabilities known.

The decisions are those of :class:`testsgd.generative.schedules.Schedule` for betas of at least CG,
written once more in machine code; tests compare the two output by output. The earliest deadline is
asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from testsgd._machine_code import Compiler
from testsgd.errors import ParameterError
from testsgd.generative.schedules import needed_outputs
from testsgd.generative.specification import LookAhead

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

compiled = Compiler(Path(__file__).parent)


@dataclass(frozen=True, kw_only=True)
class SimulatedSchedule:
    """The counts of simulated outputs, over all runs.

    `outputs` and `asked` are the numbers of all outputs and of those that were asked for.
    `deadlines` and `misses`, shape (CG,), are the numbers of each value's deadlines, met or missed,
    and of those that were missed.
    """

    outputs: int
    asked: int
    deadlines: Ints
    misses: Ints


def simulate_schedule(
    betas: Sequence[int],
    probabilities: Sequence[float],
    *,
    outputs: int,
    runs: int = 1,
    look_ahead: LookAhead = "corrected",
    obedience: float = 1.0,
    tries: int = 0,
    miss_probability: float = 0.01,
    random_state: int = 0,
) -> SimulatedSchedule:
    """Simulate outputs of a model whose values are independent of each other.

    Parameters
    ----------
    betas : sequence of int, length CG
        Outputs within which each value must come, and come again.
    probabilities : sequence of float, length CG
        Of the values that the model gives by itself. A model that disobeys gives another value than
        was asked for, with these probabilities.
    outputs, runs : int
        Outputs of each run, and runs from the start.
    look_ahead : {"corrected", "paper"}
        Which look-ahead decides.
    obedience, tries, miss_probability
        As for :class:`testsgd.generative.schedules.Schedule`.
    random_state : int
        Seed.

    Returns
    -------
    SimulatedSchedule

    Raises
    ------
    ParameterError
        If the corrected look-ahead cannot keep the betas; `details` has ``smallest``.

    Examples
    --------
    >>> always_last = (0.0, 0.0, 0.0, 1.0)
    >>> printed = simulate_schedule((5, 6, 6, 9), always_last, outputs=1000, look_ahead="paper")
    >>> corrected = simulate_schedule((5, 6, 6, 9), always_last, outputs=1000)
    >>> bool(printed.misses.sum() > 0), int(corrected.misses.sum())
    (True, 0)
    """
    needed = needed_outputs(
        values=len(betas), obedience=obedience, tries=tries, miss_probability=miss_probability
    )
    if look_ahead == "corrected" and min(betas) < needed[-1]:
        raise ParameterError(
            f"the betas {tuple(betas)} are too small to simulate",
            where="betas",
            remedy=f"give betas of at least {needed[-1]}",
            smallest=needed[-1],
        )
    success = 1 - (1 - obedience) ** (tries + 1)
    last = len(betas) - 1 if obedience == 1 else len(betas)
    generator = np.random.default_rng(random_state)
    asked = 0
    counts = np.zeros((2, len(betas)), dtype=np.int64)
    for _ in range(runs):
        asked += _run(
            np.asarray(betas, dtype=np.int64),
            np.asarray(probabilities, dtype=np.float64),
            np.asarray(needed, dtype=np.int64),
            last,
            look_ahead == "paper",
            success,
            generator.random((outputs, 3)),
            counts,
        )
    return SimulatedSchedule(
        outputs=outputs * runs, asked=int(asked), deadlines=counts[0], misses=counts[1]
    )


@compiled.inner
def _paper_choice(counters: Ints, draw: float) -> int:
    """Return the value that Algorithm 1 as printed asks for, or -1."""
    for number in range(len(counters), 0, -1):
        equal = 0
        for counter in counters:
            equal += counter == number
        if equal >= number:
            left = int(draw * equal)
            for index in range(len(counters)):
                if counters[index] == number:
                    if left == 0:
                        return index
                    left -= 1
    return -1


@compiled.inner
def _corrected_choice(counters: Ints, needed: Ints, last: int) -> int:
    """Return the value of the earliest deadline if waiting is not safe, or -1."""
    ascending = np.sort(counters)
    for number in range(last):
        if ascending[number] <= needed[number]:
            return int(np.argmin(counters))
    return -1


@compiled.inner
def _drawn(probabilities: Floats, without: int, draw: float) -> int:
    """Return a value drawn by its probability, never `without`."""
    total = 0.0
    for index in range(len(probabilities)):
        if index != without:
            total += probabilities[index]
    if total <= 0:  # the model knows nothing else
        return (without + 1) % len(probabilities)
    left = draw * total
    chosen = -1
    for index in range(len(probabilities)):
        if index == without or probabilities[index] <= 0:
            continue
        chosen = index
        left -= probabilities[index]
        if left < 0:
            break
    return chosen


@compiled
def _run(
    betas: Ints,
    probabilities: Floats,
    needed: Ints,
    last: int,
    paper: bool,
    success: float,
    draws: Floats,
    counts: Ints,
) -> int:
    """Simulate a run, add its deadlines and misses to `counts`; return the outputs asked for."""
    counters = betas.copy()
    requests = 0
    for output in range(len(draws)):
        if paper:
            asked = _paper_choice(counters, draws[output, 0])
        else:
            asked = _corrected_choice(counters, needed, last)
        requests += asked >= 0
        if asked >= 0 and draws[output, 1] < success:
            value = asked
        else:
            value = _drawn(probabilities, asked, draws[output, 2])
        for index in range(len(betas)):
            if index == value:
                counts[0, index] += 1
                counters[index] = betas[index]
                continue
            counters[index] -= 1
            if counters[index] == 0:
                counts[0, index] += 1
                counts[1, index] += 1
                counters[index] = betas[index]
    return requests

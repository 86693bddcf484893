"""Backward induction over the values of counters: the cheapest decisions that keep a requirement.

Equations 3 and 4 of the paper on fairness shields, over counters (its Theorem 1). The value of a
state is the least expected cost from there on: after the last event 0 or, if the requirement does
not hold, infinite; before, the expectation of the cheaper of keeping and changing. It is infinite
if there is a group for which both decisions lead to infinite values, however unlikely; so a finite
value is a guarantee for all sequences of inputs. Only finite and infinite decide about that, and
both are exact.

Where labels count, the value of a decision is the expectation over its label, and infinite if
either label leads to an infinite value; so decisions without a label need not be kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial, reduce
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.shielding.solving.lattice import CounterLattice

Floats = NDArray[np.float64]
Codes = NDArray[np.unsignedinteger[Any]]

# Used as an infinite cost: products with 0 are 0, and it is far above all costs.
NEVER = 1e100
# Two costs count as equal if they differ by less than this share of the largest cost: sums are
# rounded.
_TIE = 1e-11
# Codes of at most this number of bits are stored in pairs, two in a byte.
HALF = 4
# Layers smaller than this are not shared among threads.
_WORTH_SHARING = 1 << 18


@dataclass(frozen=True)
class Transitions:
    """How inputs, decisions and labels move the counters, and what is expected of them.

    `moves`, shape (groups, 2, 2): which counter a decision and its label add 1 to; the number of
    counters itself: none. `probabilities`, shape (groups, 2, costs): of group, recommendation and
    cost. `labels`, shape (groups, 2): probability of label 1 given group and recommendation; not
    used unless `labelled`. `costs` ascend.
    """

    moves: NDArray[np.int64]
    probabilities: Floats
    labels: Floats
    costs: Floats
    labelled: bool

    @property
    def bits(self) -> int:
        """Number of bits for the number of costs at which a recommendation is changed."""
        return len(self.costs).bit_length()

    @property
    def code_type(self) -> np.dtype[np.unsignedinteger[Any]]:
        """Type of a state's code: `bits` bits a group and recommendation, or a ValueError."""
        needed = 2 * len(self.moves) * self.bits
        for kind in (np.uint8, np.uint16, np.uint32, np.uint64):
            if needed <= np.dtype(kind).itemsize * 8:
                return np.dtype(kind)
        raise ValueError(f"{needed} bits a state")

    @property
    def halved(self) -> bool:
        """Whether codes are so small that two of them are put into a byte."""
        return 2 * len(self.moves) * self.bits <= HALF

    @property
    def tie(self) -> float:
        """By how much changing must be cheaper than keeping."""
        return float(_TIE * self.costs[-1])


def induct(
    lattice: CounterLattice,
    transitions: Transitions,
    final: Floats,
    *,
    compiled: bool | None = None,
    jobs: int = 1,
) -> Iterator[tuple[int, Floats, Codes]]:
    """Yield step, values and codes of each layer by backward induction, from horizon - 1 to 0.

    Parameters
    ----------
    lattice : CounterLattice
    transitions : Transitions
    final : array of float, shape (lattice.size(horizon),)
        The costs after the last event, such as 0 or NEVER. It is overwritten.
    compiled : bool, optional
        Whether machine code is used; by default if numba is installed.
    jobs : int
        Threads for machine code.

    Yields
    ------
    step : int
    values : array of float, shape (lattice.size(step),)
        The expected cost from each state on. Later steps write into the same array, so a caller
        that keeps it must copy it.
    codes : array, shape (lattice.size(step),)
        The decisions of each state, in the same way.
    """
    if compiled is None:
        compiled = find_spec("numba") is not None
    codes = np.zeros(lattice.size(lattice.horizon - 1), dtype=transitions.code_type)
    after = final
    before = np.empty(lattice.size(lattice.horizon - 1))
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        for step in range(lattice.horizon - 1, -1, -1):
            size = lattice.size(step)
            values = before[:size]
            layer_codes = codes[:size]
            if compiled:
                _step_in_machine_code(
                    lattice,
                    transitions,
                    step,
                    after,
                    values,
                    layer_codes,
                    pool=pool,
                    jobs=jobs,
                )
            else:
                step_back(lattice, transitions, step, after, values, layer_codes)
            yield step, values, layer_codes
            after, before = before, after


def step_back(
    lattice: CounterLattice,
    transitions: Transitions,
    step: int,
    after: Floats,
    before: Floats,
    codes: Codes,
) -> None:
    """Fill the layer `step` from the next one, with numpy.

    `after`, shape (lattice.size(step + 1),), has the values of the layer ``step + 1``. `before` and
    `codes`, shape (lattice.size(step),), are filled. The value of a state is the expectation over
    group, recommendation r and cost c of ``min(V(r), V(1 - r) + c)``, where V(d) is the value after
    the decision d. A code has the number of costs, cheapest first, at which each recommendation is
    changed: of group g and recommendation r from bit ``(2 g + r) * bits`` on.
    """
    for total in range(step + 1):
        here = _class_slice(lattice, step, total)
        value, code = _values_of_class(lattice, transitions, step, total, after)
        before[here] = value.ravel()
        codes[here] = code.ravel()


def _class_slice(lattice: CounterLattice, step: int, total: int) -> slice:
    """Return where the states of all rows with the sum `total` are in the layer of a step."""
    bases = lattice.bases(step)
    return slice(int(bases[total]), int(bases[total + 1]))


def _values_of_class(
    lattice: CounterLattice, transitions: Transitions, step: int, total: int, after: Floats
) -> tuple[Floats, Codes]:
    """Return the values and codes of all rows with one sum, shape (rows, length) each.

    `worst` is the largest over the groups of the value of the better decision: if it is infinite,
    the requirement cannot be kept from there.
    """
    values_after = arrivals(lattice, step, total, after)
    shape = (int(lattice.rows[total]), step - total + 1)
    value = np.zeros(shape)
    worst = np.zeros(shape)
    code = np.zeros(shape, dtype=transitions.code_type)
    for group, moves in enumerate(transitions.moves):
        for recommendation in (0, 1):
            label_probability = transitions.labels[group, recommendation]
            outcomes = []
            for decision in (0, 1):
                outcome = values_after(int(moves[decision, 1]))
                if transitions.labelled:
                    label_zero = values_after(int(moves[decision, 0]))
                    never = np.maximum(outcome, label_zero) >= NEVER
                    mean = label_probability * outcome + (1.0 - label_probability) * label_zero
                    outcome = np.where(never, NEVER, mean)
                outcomes.append(outcome)
            reject, accept = outcomes
            worst = np.maximum(worst, np.minimum(reject, accept))
            keep = outcomes[recommendation]
            change = outcomes[1 - recommendation]
            changes = np.zeros(shape, dtype=np.int64)
            for index, cost in enumerate(transitions.costs):
                changed = keep > change + (cost + transitions.tie)
                weight = transitions.probabilities[group, recommendation, index]
                value += weight * np.where(changed, change + cost, keep)
                changes += changed
            shift = (2 * group + recommendation) * transitions.bits
            code |= (changes.astype(code.dtype) << code.dtype.type(shift)).astype(code.dtype)
    return np.where(worst >= NEVER, NEVER, value), code


def arrivals(
    lattice: CounterLattice, step: int, total: int, after: Floats
) -> Callable[[int], Floats]:
    """Return a function from a move to the values after it, for all rows with one sum.

    A move is the place of the counter that grows by 1, or the number of counters if none does. The
    values have shape (rows, length), with length ``step - total + 1``.
    """
    length = step - total + 1
    same = after[_class_slice(lattice, step + 1, total)].reshape(-1, length + 1)
    above = after[_class_slice(lattice, step + 1, total + 1)].reshape(-1, length)
    rows = lattice.next_rows[lattice.row_starts[total] : lattice.row_starts[total + 1]]

    def values_after(move: int) -> Floats:
        if move == lattice.dimensions:
            return same[:, :-1]
        if move == lattice.dimensions - 1:
            return same[:, 1:]
        return np.asarray(above[rows[:, move]])

    return values_after


def _step_in_machine_code(
    lattice: CounterLattice,
    transitions: Transitions,
    step: int,
    after: Floats,
    before: Floats,
    codes: Codes,
    *,
    pool: ThreadPoolExecutor,
    jobs: int,
) -> None:
    """Fill the layer `step` as :func:`step_back` does, with machine code on several threads."""
    from testsgd.shielding.solving.compiled_backward import step_rows

    bases = lattice.bases(step)
    # The arguments of `step_rows`, put together by what they describe.
    layers = (after, before, codes)
    places = (lattice.bases(step + 1), bases, lattice.row_starts, lattice.next_rows)
    people = (
        transitions.moves,
        transitions.probabilities,
        transitions.labels,
        transitions.costs,
    )
    rules = (transitions.labelled, transitions.bits, NEVER, transitions.tie)
    work = partial(step_rows, step, layers, places, people, rules)
    rows = int(lattice.row_starts[step + 1])
    if jobs == 1 or len(before) < _WORTH_SHARING:
        work(0, rows)
        return
    ends = _shared_rows(lattice, step, bases, jobs)
    for future in [pool.submit(work, first, last) for first, last in pairwise(ends)]:
        future.result()


def _shared_rows(
    lattice: CounterLattice, step: int, bases: NDArray[np.int64], jobs: int
) -> list[int]:
    """Return the rows between which a layer is cut into `jobs` parts of about equally many states.

    The list has jobs + 1 numbers, from 0 to the number of rows.
    """
    ends = [0]
    for part in range(1, jobs):
        goal = bases[-1] * part // jobs
        total = int(np.searchsorted(bases, goal, side="right")) - 1
        within = (goal - bases[total]) // (step - total + 1)
        ends.append(int(lattice.row_starts[total] + within))
    return [*ends, int(lattice.row_starts[step + 1])]


def worst_case(lattice: CounterLattice, transitions: Transitions, final: Floats) -> float:
    """Return the value of the game in which inputs and labels are chosen by an adversary.

    That is the smallest bound that some shield keeps for all sequences: one of the final values.
    The value of a state is the maximum over groups of the minimum over decisions of the maximum
    over labels of the value after it.

    Parameters
    ----------
    lattice : CounterLattice
    transitions : Transitions
        Only the moves count.
    final : array of float, shape (lattice.size(horizon),)
        What the shield minimises at the end, such as the bias. It is overwritten.

    Returns
    -------
    float
    """
    after = final
    before = np.empty(lattice.size(lattice.horizon - 1))
    for step in range(lattice.horizon - 1, -1, -1):
        for total in range(step + 1):
            values_after = arrivals(lattice, step, total, after)
            group_values = []
            for moves in transitions.moves:
                reject, accept = (
                    np.maximum(values_after(int(label_zero)), values_after(int(label_one)))
                    for label_zero, label_one in moves
                )
                group_values.append(np.minimum(reject, accept))
            before[_class_slice(lattice, step, total)] = reduce(np.maximum, group_values).ravel()
        after, before = before, after
    return float(after[0])

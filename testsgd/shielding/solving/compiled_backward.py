"""One step of the backward induction in machine code, row by row.

The same as :func:`testsgd.shielding.solving.backward.step_back`; see there. Both stay: a problem of
less than a million states is solved on arrays before this code is loaded, and without numba these
loops would be far slower than arrays are. The usual case of one cost is written out: with the loop
over costs it would take twice as long.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from testsgd._machine_code import Compiler

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

compiled = Compiler(Path(__file__).parent)


@compiled.inner
def _expect(one: Floats, zero: Floats, part: float, never: float, out: Floats) -> None:
    """Fill `out` with the mean over the label, or `never` if either label leads to it; all (n,)."""
    for k in range(len(out)):
        mean = part * one[k] + (1.0 - part) * zero[k]
        out[k] = never if max(one[k], zero[k]) >= never else mean


@compiled.inner
def _add_input(
    keep: Floats,
    change: Floats,
    weight: Floats,
    costs: Floats,
    tie: float,
    shift: int,
    value: Floats,
    codes: NDArray[np.unsignedinteger],
) -> None:
    """Add to n values the cost of an input at all costs, and to codes the number of changes.

    `keep`, `change`, `value` and `codes` have shape (n,), `weight` and `costs` shape (costs,).
    """
    for index in range(len(costs)):
        cost = costs[index]
        bar = cost + tie
        part = weight[index]
        one = 1 << shift
        for k in range(len(value)):
            changed = keep[k] > change[k] + bar
            value[k] += part * (change[k] + cost if changed else keep[k])
            codes[k] += one if changed else 0


@compiled.inner
def _add_both_at_one_cost(
    accept: Floats,
    reject: Floats,
    on_reject: float,
    on_accept: float,
    cost: float,
    tie: float,
    shift: int,
    value: Floats,
    bad: Floats,
    codes: NDArray[np.unsignedinteger],
) -> None:
    """Add both recommendations of a group to n values, where there is one cost and no label.

    The arrays have shape (n,). `bad` becomes the largest value of a better decision so far.
    """
    bar = cost + tie
    one = 1 << shift
    two = 2 << shift
    for k in range(len(value)):
        accepted = reject[k] > accept[k] + bar
        rejected = accept[k] > reject[k] + bar
        value[k] += on_reject * (accept[k] + cost if accepted else reject[k]) + on_accept * (
            reject[k] + cost if rejected else accept[k]
        )
        bad[k] = max(bad[k], min(accept[k], reject[k]))
        codes[k] += (one if accepted else 0) + (two if rejected else 0)


@compiled.inner
def _add_labelled_at_one_cost(
    accept_one: Floats,
    accept_zero: Floats,
    reject_one: Floats,
    reject_zero: Floats,
    parts: Floats,
    weights: Floats,
    cost: float,
    tie: float,
    never: float,
    shift: int,
    value: Floats,
    bad: Floats,
    codes: NDArray[np.unsignedinteger],
) -> None:
    """Add both recommendations of a group to n values, where there is one cost and labels count.

    The arrays have shape (n,), but `parts`, shape (2,), the probability of label 1, and `weights`,
    shape (2, 1), both by recommendation. `bad` becomes the largest value of a better decision.
    """
    bar = cost + tie
    one = 1 << shift
    two = 2 << shift
    on_reject, on_accept = weights[0, 0], weights[1, 0]
    for k in range(len(value)):
        no_accept = max(accept_one[k], accept_zero[k]) >= never
        no_reject = max(reject_one[k], reject_zero[k]) >= never
        gain, lost = accept_one[k] - accept_zero[k], reject_one[k] - reject_zero[k]
        accept = never if no_accept else accept_zero[k] + parts[0] * gain
        reject = never if no_reject else reject_zero[k] + parts[0] * lost
        accepted = reject > accept + bar
        added = on_reject * (accept + cost if accepted else reject)
        accept = never if no_accept else accept_zero[k] + parts[1] * gain
        reject = never if no_reject else reject_zero[k] + parts[1] * lost
        rejected = accept > reject + bar
        value[k] += added + on_accept * (reject + cost if rejected else accept)
        bad[k] = max(bad[k], min(accept, reject))
        codes[k] += (one if accepted else 0) + (two if rejected else 0)


@compiled
def step_rows(
    step: int,
    layers: tuple[Floats, Floats, NDArray[np.unsignedinteger]],
    places: tuple[Ints, Ints, Ints, NDArray[np.int32]],
    people: tuple[Ints, Floats, Floats, Floats],
    rules: tuple[bool, int, float, float],
    first_row: int,
    last_row: int,
) -> None:
    """Fill the rows `first_row` to `last_row` - 1 of a layer from the next one, see `step_back`.

    `layers` are `after`, `before` and `codes`. `places` are the starts of the sums' rows in the
    next layer and in this one, the first row of each sum and the next rows of
    :class:`CounterLattice`. `people` are moves, probabilities, labels and costs, and `rules` the
    rest of :class:`Transitions`, with the value that counts as infinite.
    """
    after, before, codes = layers
    bases_after, bases_before, row_starts, next_rows = places
    moves, probabilities, labels, costs = people
    labelled, bits, never, tie = rules
    groups = moves.shape[0]
    width = next_rows.shape[1]
    starts = np.zeros(width + 2, dtype=np.int64)
    scratch_one = np.zeros(step + 1)
    scratch_zero = np.zeros(step + 1)
    bad = np.zeros(step + 1)
    total = 0
    for row in range(first_row, last_row):
        while row >= row_starts[total + 1]:
            total += 1
        length = step - total + 1
        within = row - row_starts[total]
        here = bases_before[total] + within * length
        # Where each move leads: the last place is for staying.
        starts[width + 1] = bases_after[total] + within * (length + 1)
        starts[width] = starts[width + 1] + 1
        for column in range(width):
            starts[column] = bases_after[total + 1] + next_rows[row, column] * length
        value = before[here : here + length]
        code = codes[here : here + length]
        for k in range(length):
            value[k] = 0.0
            code[k] = 0
            bad[k] = 0.0
        for group in range(groups):
            at = starts[moves[group, 1, 1]]
            accept = after[at : at + length]
            at = starts[moves[group, 0, 1]]
            reject = after[at : at + length]
            at = starts[moves[group, 1, 0]]
            accept_zero = after[at : at + length]
            at = starts[moves[group, 0, 0]]
            reject_zero = after[at : at + length]
            shift = 2 * group * bits
            if len(costs) == 1 and labelled:
                _add_labelled_at_one_cost(
                    accept, accept_zero, reject, reject_zero, labels[group], probabilities[group],
                    costs[0], tie, never, shift, value, bad, code,
                )  # fmt: skip
                continue
            if len(costs) == 1:
                _add_both_at_one_cost(
                    accept, reject, probabilities[group, 0, 0], probabilities[group, 1, 0],
                    costs[0], tie, shift, value, bad, code,
                )  # fmt: skip
                continue
            for recommendation in range(2):
                one = accept
                zero = reject
                if labelled:
                    part = labels[group, recommendation]
                    _expect(accept, accept_zero, part, never, scratch_one[:length])
                    _expect(reject, reject_zero, part, never, scratch_zero[:length])
                    one = scratch_one[:length]
                    zero = scratch_zero[:length]
                _add_input(
                    one if recommendation == 1 else zero, zero if recommendation == 1 else one,
                    probabilities[group, recommendation], costs, tie,
                    shift + recommendation * bits, value, code,
                )  # fmt: skip
            # The better decision is infinite for a person who may come, however unlikely.
            for k in range(length):
                bad[k] = max(bad[k], min(one[k], zero[k]))
        for k in range(length):
            value[k] = never if bad[k] >= never else value[k]

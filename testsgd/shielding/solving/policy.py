"""The decisions of all states: stored whole and packed, or found again window by window.

Of a long horizon only every so many layers' values are kept. When a run comes to such a layer, the
decisions up to the next one are found again, for the states that can be reached: a small problem
that starts at the run's state and ends with the kept values, so they are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.shielding.solving.backward import HALF, Codes, Floats, Transitions, induct
from testsgd.shielding.solving.lattice import CounterLattice, Ints

# States of one window: some hundredths of a second.
_MOST = 5_000_000
_NARROWEST = 8
Final = Callable[[Ints], Floats]


class Policy:
    """At how many of the costs a recommendation is changed, in every state.

    `layers`: the packed codes of each step, see `step_back`; put in one by one if left out.
    """

    def __init__(
        self,
        lattice: CounterLattice,
        transitions: Transitions,
        layers: list[NDArray[Any]] | None = None,
    ) -> None:
        self.lattice, self.horizon = lattice, lattice.horizon
        self.layers: list[NDArray[Any]] = layers or [np.zeros(0, np.uint8)] * lattice.horizon
        self._bits, self._halved = transitions.bits, transitions.halved
        self._mask = (1 << transitions.bits) - 1

    @property
    def bytes(self) -> int:
        """Bytes of all layers."""
        return sum(layer.nbytes for layer in self.layers)

    def put(self, step: int, codes: Codes) -> None:
        """Keep the codes of one time; of two codes that share a byte the first is the low half."""
        if not self._halved:
            self.layers[step] = codes.copy()
            return
        pairs = np.zeros((len(codes) + 1) // 2, dtype="<u2")
        pairs.view(np.uint8)[: len(codes)] = codes
        pairs |= pairs >> HALF
        self.layers[step] = pairs.astype(np.uint8)

    def changes(self, step: int, counts: tuple[int, ...], group: int, recommendation: int) -> int:
        """Return at how many of the costs, cheapest first, a recommendation is changed."""
        width = self.lattice.dimensions - 1
        left = total = sum(counts[:width])
        within = 0
        for column in range(width - 1):
            first = counts[column]
            if first:
                tuples = self._tuples[width - column]
                within += tuples[left] - tuples[left - first]
                left -= first
        index = self._bases[step][total] + within * (step - total + 1) + counts[width]
        shift = (2 * group + recommendation) * self._bits
        if self._halved:
            code = self._views[step][index >> 1] >> ((index & 1) * HALF)
        else:
            code = self._views[step][index]
        return (code >> shift) & self._mask

    def changes_many(self, step: int, counts: Ints, groups: Ints, recommendations: Ints) -> Ints:
        """Answer :meth:`changes` for many states of one time, shape (n, counters)."""
        index = self.lattice.index(step, counts)
        layer = self.layers[step]
        if self._halved:
            code = layer[index >> 1].astype(np.int64) >> ((index & 1) * HALF)
        else:
            code = layer[index].astype(np.uint64).astype(np.int64)
        return np.asarray((code >> ((2 * groups + recommendations) * self._bits)) & self._mask)

    @cached_property
    def _bases(self) -> list[list[int]]:
        return [self.lattice.bases(step).tolist() for step in range(self.horizon)]

    @cached_property
    def _tuples(self) -> list[list[int]]:
        """By columns, at least one, and sum: how many tuples there are."""
        totals = range(self.horizon + 1)
        return [
            [comb(total + columns - 1, total) for total in totals] if columns else []
            for columns in range(self.lattice.dimensions)
        ]

    @cached_property
    def _views(self) -> list[memoryview]:
        """The layers as views that give Python's numbers at once."""
        return [layer.data for layer in self.layers]


def window_width(lattice: CounterLattice) -> int:
    """How many events a window has, so that it is found again quickly."""
    width = _NARROWEST
    while width < lattice.horizon and CounterLattice(lattice.dimensions, width + 1).total <= _MOST:
        width += 1
    return width


class WindowedPolicy:
    """The same decisions as those of a `Policy`, found again when they are needed.

    Of every `width`-th layer the values are kept; `final` gives those after the last event.
    """

    def __init__(
        self,
        lattice: CounterLattice,
        transitions: Transitions,
        *,
        width: int,
        final: Final,
        kept: dict[int, Floats] | None = None,
        compiled: bool | None = None,
    ) -> None:
        self.lattice, self.horizon, self.width = lattice, lattice.horizon, width
        self.kept: dict[int, Floats] = kept or {}
        self._transitions, self._final, self._compiled = transitions, final, compiled
        # The decisions that are known now, from a state on.
        self._local: Policy | None = None
        self._step, self._root = 0, tuple[int, ...]()

    @property
    def bytes(self) -> int:
        """Bytes of what is kept."""
        return sum(values.nbytes for values in self.kept.values())

    def keeps(self, step: int) -> bool:
        """Whether the layer of a time is one of those that are kept."""
        return step > 0 and step % self.width == 0

    def changes(self, step: int, counts: tuple[int, ...], group: int, recommendation: int) -> int:
        """Answer as :meth:`Policy.changes`."""
        state = counts[: self.lattice.dimensions]
        if not self._holds(step, state):
            self._find(step, state)
        assert self._local is not None
        local = tuple(now - then for now, then in zip(state, self._root, strict=True))
        return self._local.changes(step - self._step, local, group, recommendation)

    def changes_many(self, step: int, counts: Ints, groups: Ints, recommendations: Ints) -> Ints:
        """Answer :meth:`changes` for many states, one after the other."""
        asked = zip(counts.tolist(), groups.tolist(), recommendations.tolist(), strict=True)
        changes = [self.changes(step, tuple(state), *who) for state, *who in asked]
        return np.array(changes, dtype=np.int64)

    def _holds(self, step: int, state: tuple[int, ...]) -> bool:
        """Whether a state is among those whose decisions are known now."""
        if self._local is None or not self._step <= step < self._step + self._local.horizon:
            return False
        apart = [now - then for now, then in zip(state, self._root, strict=True)]
        return min(apart) >= 0 and sum(apart) <= step - self._step

    def _find(self, step: int, state: tuple[int, ...]) -> None:
        """Find the decisions from a state up to the next layer that is kept."""
        end = min((step // self.width + 1) * self.width, self.lattice.horizon)
        local = CounterLattice(self.lattice.dimensions, end - step)
        final = np.empty(local.size(end - step))
        for where, states in local.blocks(end - step):
            reached = states + np.array(state)
            if end == self.lattice.horizon:
                final[where] = self._final(reached)
            else:
                final[where] = self.kept[end][self.lattice.index(end, reached)]
        policy = Policy(local, self._transitions)
        for at, _, codes in induct(local, self._transitions, final, compiled=self._compiled):
            policy.put(at, codes)
        self._step, self._root, self._local = step, state, policy

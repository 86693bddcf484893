"""Decisions of a long horizon, found again piece by piece.

The decisions of all states would not fit into memory, so the values of only every so many layers
are kept. When a run comes to such a layer, the decisions up to the next one are found again, for
those states only that can be reached from where the run is. That is a small problem: its lattice
starts at the run's state, and its last layer has the kept values. The decisions are the same as if
all had been stored.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from testsgd.shielding.solving.backward import Floats, Transitions, induct
from testsgd.shielding.solving.lattice import CounterLattice
from testsgd.shielding.solving.policy import Policy

# States of one window: some hundredths of a second.
_MOST = 5_000_000
_NARROWEST = 8

Final = Callable[[NDArray[np.int64]], Floats]


def window_width(lattice: CounterLattice) -> int:
    """How many events a window has, so that it is found again quickly."""
    width = _NARROWEST
    while width < lattice.horizon and CounterLattice(lattice.dimensions, width + 1).total <= _MOST:
        width += 1
    return width


class WindowedPolicy:
    """The same decisions as those of a `Policy`, found again when they are needed.

    Parameters
    ----------
    lattice : CounterLattice
    transitions : Transitions
    width : int
        Every so many layers one is kept.
    final : callable
        From states after the last event, shape (n, dimensions), to their values, shape (n,).
    kept : dict of int to numpy.ndarray
        Values of the layers that are kept, by time.
    compiled : bool, optional
        As for :func:`testsgd.shielding.solving.backward.induct`.
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
        self.lattice = lattice
        self.transitions = transitions
        self.width = width
        self.kept: dict[int, Floats] = kept or {}
        self._final = final
        self._compiled = compiled
        self._step = 0
        self._root: tuple[int, ...] = ()
        self._local: Policy | None = None

    @property
    def horizon(self) -> int:
        """Number of events."""
        return self.lattice.horizon

    @property
    def bytes(self) -> int:
        """Bytes of what is kept."""
        return sum(values.nbytes for values in self.kept.values())

    def keeps(self, step: int) -> bool:
        """Whether the layer of a time is one of those that are kept."""
        return step > 0 and step % self.width == 0

    def changes(self, step: int, counts: tuple[int, ...], group: int, recommendation: int) -> int:
        """Say at how many of the costs a recommendation is changed; as `Policy.changes`."""
        state = counts[: self.lattice.dimensions]
        if not self._holds(step, state):
            self._find(step, state)
        assert self._local is not None
        local = tuple(now - then for now, then in zip(state, self._root, strict=True))
        return self._local.changes(step - self._step, local, group, recommendation)

    def changes_many(
        self,
        step: int,
        counts: NDArray[np.int64],
        groups: NDArray[np.int64],
        recommendations: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Answer :meth:`changes` for many states, one after the other."""
        return np.array(
            [
                self.changes(step, tuple(map(int, state)), int(group), int(recommendation))
                for state, group, recommendation in zip(
                    counts, groups, recommendations, strict=True
                )
            ],
            dtype=np.int64,
        )

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
        policy = Policy.for_transitions(local, self.transitions)
        for at, _, codes in induct(local, self.transitions, final, compiled=self._compiled):
            policy.put(at, codes, compiled=False)
        self._step, self._root, self._local = step, state, policy

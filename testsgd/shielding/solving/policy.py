"""The decisions of all states: stored whole and packed, or found again window by window.

Of a long horizon the values of every `width`-th layer are kept. When a run comes to such a layer,
the decisions up to the next one are found again, for the states that can be reached: a small
problem that starts at the run's state and ends with the kept values, so they are the same.
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

# Most states of one window: some hundredths of a second.
_MOST = 5_000_000
_NARROWEST = 8
Final = Callable[[Ints], Floats]


class Policy:
    """The decisions of all states: at how many of the costs each recommendation is changed.

    Parameters
    ----------
    lattice : CounterLattice
        The states.
    transitions : Transitions
        How inputs, decisions and labels move the counters.
    layers : list of numpy.ndarray, optional
        The packed codes of each step, see :func:`step_back`; if left out, :meth:`put` adds them one
        by one.

    Attributes
    ----------
    lattice : CounterLattice
        The states.
    horizon : int
        The number of events.
    layers : list of numpy.ndarray
        The packed codes of each step; of a step that was not put yet an empty array.

    Notes
    -----
    The costs ascend, and where changing a recommendation pays at a cost it pays at any lower one.
    So a number says at which costs it is changed. Codes of up to four bits are kept two in a byte.

    Examples
    --------
    Of ten events nine have come. All were rejected, five of group 0 and four of group 1; one more
    acceptance would make the rates differ by more than the bound.

    >>> from fractions import Fraction
    >>> from testsgd.fairness import NAMED_PROPERTIES
    >>> from testsgd.shielding import InputDistribution, finite_problem, solve
    >>> parity = NAMED_PROPERTIES["demographic_parity"]
    >>> inputs = InputDistribution.uniform(("a", "b"))
    >>> problem = finite_problem(parity, Fraction(1, 10), "zero", inputs, 10)
    >>> policy = solve(problem, storage="whole", compiled=False).policy
    >>> policy.changes(9, (5, 0, 4), group=0, recommendation=1)
    1
    >>> policy.changes(9, (5, 0, 4), group=0, recommendation=0)
    0
    """

    def __init__(
        self,
        lattice: CounterLattice,
        transitions: Transitions,
        layers: list[NDArray[Any]] | None = None,
    ) -> None:
        self.lattice = lattice
        self.horizon = lattice.horizon
        self.layers: list[NDArray[Any]] = layers or [np.zeros(0, np.uint8)] * lattice.horizon
        self._bits = transitions.bits
        self._halved = transitions.halved
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
        """Return the same as :meth:`changes` for n states of one time, shape (n,).

        `counts` has shape (n, counters), `groups` and `recommendations` have shape (n,).
        """
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
        """Number of tuples by columns (at least one) and sum, as ``_tuples[columns][sum]``."""
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
    """Return how many events a window has, so that its decisions are found again quickly.

    It is the largest number for which a lattice of that horizon is still small.

    Parameters
    ----------
    lattice : CounterLattice
        Of the whole horizon.

    Returns
    -------
    int
        At most the horizon.
    """
    width = _NARROWEST
    while width < lattice.horizon and CounterLattice(lattice.dimensions, width + 1).total <= _MOST:
        width += 1
    return width


class WindowedPolicy:
    """The same decisions as those of a `Policy`, found again when they are needed.

    Parameters
    ----------
    lattice : CounterLattice
        The states.
    transitions : Transitions
        How inputs, decisions and labels move the counters.
    width : int
        The values of every layer whose step is a multiple of it are kept.
    final : callable
        Takes the counters after the last event, shape (n, counters), and returns their values,
        shape (n,): 0, or ``NEVER`` if the requirement does not hold.
    kept : dict of int to numpy.ndarray of float64, optional
        The values of the layers that are kept, by step; if left out, the caller adds them to
        ``kept``.
    compiled : bool, optional
        Whether windows are solved by machine code; by default if numba is installed.

    Attributes
    ----------
    lattice : CounterLattice
        The states.
    horizon : int
        The number of events.
    width : int
        As given.
    kept : dict of int to numpy.ndarray of float64
        The values of the layers that are kept.

    Notes
    -----
    :meth:`changes` solves a window when it is asked about a state outside the present one, and
    keeps the decisions of one window only. So it is quick for a run, which goes on from state to
    state, and slow for states in any order. It is not safe for several threads at once.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from testsgd.fairness import NAMED_PROPERTIES
    >>> from testsgd.shielding import InputDistribution, finite_problem, solve
    >>> parity = NAMED_PROPERTIES["demographic_parity"]
    >>> inputs = InputDistribution.uniform(("a", "b"))
    >>> problem = finite_problem(parity, Fraction(1, 10), "zero", inputs, 10)
    >>> policy = solve(problem, storage="windows", compiled=False).policy
    >>> policy.changes(9, (5, 0, 4), group=0, recommendation=1)
    1
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
        self.horizon = lattice.horizon
        self.width = width
        self.kept: dict[int, Floats] = kept or {}
        self._transitions = transitions
        self._final = final
        self._compiled = compiled
        # The decisions of the present window, which begins at a step in a state, its root.
        self._window: Policy | None = None
        self._step = 0
        self._root: tuple[int, ...] = ()

    @property
    def bytes(self) -> int:
        """Bytes of what is kept."""
        return sum(values.nbytes for values in self.kept.values())

    def keeps(self, step: int) -> bool:
        """Whether the layer of a time is one of those that are kept."""
        return step > 0 and step % self.width == 0

    def changes(self, step: int, counts: tuple[int, ...], group: int, recommendation: int) -> int:
        """Return the same as :meth:`Policy.changes`."""
        state = counts[: self.lattice.dimensions]
        if not self._is_in_window(step, state):
            self._solve_window(step, state)
        assert self._window is not None
        since_root = tuple(count - start for count, start in zip(state, self._root, strict=True))
        return self._window.changes(step - self._step, since_root, group, recommendation)

    def changes_many(self, step: int, counts: Ints, groups: Ints, recommendations: Ints) -> Ints:
        """Return the same as :meth:`changes` for n states, one after the other, shape (n,)."""
        rows = zip(counts.tolist(), groups.tolist(), recommendations.tolist(), strict=True)
        changes = [
            self.changes(step, tuple(state), group, recommendation)
            for state, group, recommendation in rows
        ]
        return np.array(changes, dtype=np.int64)

    def _is_in_window(self, step: int, state: tuple[int, ...]) -> bool:
        """Whether a state can be reached from the root within the present window."""
        if self._window is None or not self._step <= step < self._step + self._window.horizon:
            return False
        since_root = [count - start for count, start in zip(state, self._root, strict=True)]
        return min(since_root) >= 0 and sum(since_root) <= step - self._step

    def window(self, step: int, state: tuple[int, ...]) -> tuple[CounterLattice, Floats]:
        """Return what can happen from a state up to the next kept layer, and its values there."""
        end = min((step // self.width + 1) * self.width, self.lattice.horizon)
        local = CounterLattice(self.lattice.dimensions, end - step)
        final = np.empty(local.size(end - step))
        for where, states in local.blocks(end - step):
            reached = states + np.array(state)
            if end == self.lattice.horizon:
                final[where] = self._final(reached)
            else:
                final[where] = self.kept[end][self.lattice.index(end, reached)]
        return local, final

    def _solve_window(self, step: int, state: tuple[int, ...]) -> None:
        """Find the decisions from a state up to the next layer that is kept."""
        local, final = self.window(step, state)
        policy = Policy(local, self._transitions)
        for local_step, _, codes in induct(
            local, self._transitions, final, compiled=self._compiled
        ):
            policy.put(local_step, codes)
        self._step = step
        self._root = state
        self._window = policy

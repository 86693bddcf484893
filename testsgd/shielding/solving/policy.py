"""The decisions of all states, packed, and how they are looked up."""

from __future__ import annotations

from functools import cached_property
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.shielding.solving.backward import Codes, Transitions
from testsgd.shielding.solving.lattice import CounterLattice

# Codes of so many bits are put into bytes by pairs.
_HALF = 4


class Policy:
    """At how many of the costs a recommendation is changed, in every state.

    Parameters
    ----------
    lattice : CounterLattice
    groups, bits : int
        Of the codes, see :func:`testsgd.shielding.solving.backward.step_back`.
    code_type : numpy.dtype
    layers : list of numpy.ndarray, optional
        What :meth:`arrays` gave; else the layers are put in one by one.
    """

    def __init__(
        self,
        lattice: CounterLattice,
        *,
        groups: int,
        bits: int,
        code_type: np.dtype[Any],
        layers: list[NDArray[Any]] | None = None,
    ) -> None:
        self.lattice = lattice
        self.groups = groups
        self.bits = bits
        self.code_type = code_type
        self.halved = 2 * groups * bits <= _HALF
        self._layers: list[NDArray[Any]] = layers or [np.zeros(0, code_type)] * lattice.horizon
        self._mask = (1 << bits) - 1

    @classmethod
    def for_transitions(cls, lattice: CounterLattice, transitions: Transitions) -> Policy:
        """Make room for the decisions of a problem."""
        return cls(
            lattice,
            groups=len(transitions.moves),
            bits=transitions.bits,
            code_type=transitions.code_type,
        )

    @property
    def horizon(self) -> int:
        """Number of events."""
        return self.lattice.horizon

    @property
    def layers(self) -> list[NDArray[Any]]:
        """The packed codes, a layer an array."""
        return self._layers

    @property
    def bytes(self) -> int:
        """Bytes of all layers."""
        return sum(layer.nbytes for layer in self._layers)

    def put(self, step: int, codes: Codes, *, compiled: bool) -> None:
        """Keep the codes of one time."""
        if not self.halved:
            self._layers[step] = codes.copy()
            return
        packed = np.zeros((len(codes) + 1) // 2, dtype=np.uint8)
        if compiled:
            from testsgd.shielding.solving.compiled_backward import pack_pairs

            pack_pairs(codes, packed)
        else:
            packed[: len(codes) // 2] = codes[0 : len(codes) // 2 * 2 : 2]
            packed[: len(codes) // 2] |= codes[1::2] << 4
            if len(codes) % 2:
                packed[-1] = codes[-1]
        self._layers[step] = packed

    def changes(self, step: int, counts: tuple[int, ...], group: int, recommendation: int) -> int:
        """Say at how many of the costs, cheapest first, a recommendation is changed.

        Parameters
        ----------
        step : int
            Events so far.
        counts : tuple of int
            The counters; at least as many as the lattice has dimensions, more are not looked at.
        group, recommendation : int

        Returns
        -------
        int
        """
        width = self.lattice.dimensions - 1
        left = total = sum(counts[:width])
        within = 0
        for column in range(width - 1):
            first = counts[column]
            if first:
                tuples = self._tuples[width - column]
                within += tuples[left] - tuples[left - first]
                left -= first
        place = self._bases[step][total] + within * (step - total + 1) + counts[width]
        shift = (2 * group + recommendation) * self.bits
        if self.halved:
            code = self._views[step][place >> 1] >> ((place & 1) * _HALF)
        else:
            code = self._views[step][place]
        return (code >> shift) & self._mask

    def changes_many(
        self,
        step: int,
        counts: NDArray[np.int64],
        groups: NDArray[np.int64],
        recommendations: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Answer :meth:`changes` for many states of one time, shape (n, counters)."""
        place = self.lattice.index(step, counts)
        layer = self._layers[step]
        if self.halved:
            code = layer[place >> 1].astype(np.int64) >> ((place & 1) * _HALF)
        else:
            code = layer[place].astype(np.uint64).astype(np.int64)
        return np.asarray((code >> ((2 * groups + recommendations) * self.bits)) & self._mask)

    @cached_property
    def _bases(self) -> list[list[int]]:
        return [self.lattice.bases(step).tolist() for step in range(self.horizon)]

    @cached_property
    def _tuples(self) -> list[list[int]]:
        """By columns and sum: how many tuples there are."""
        return [
            [comb(total + columns - 1, columns - 1) for total in range(self.horizon + 1)]
            if columns
            else []
            for columns in range(self.lattice.dimensions)
        ]

    @cached_property
    def _views(self) -> list[memoryview]:
        """The layers as views that give Python's numbers at once."""
        return [layer.data for layer in self._layers]

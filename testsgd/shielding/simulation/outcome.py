"""What simulated runs came to, with and without a shield."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from testsgd.fairness import EmptyGroup, FairnessProperty, bias_at_most

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Simulation:
    """Simulated runs, period by period; every array begins with (runs, periods).

    Attributes
    ----------
    fairness : FairnessProperty
    threshold : fractions.Fraction
    empty_group : {"vacuous", "zero"}
    shield : str
        The kind of shield.
    horizon : int
        Events of a period.
    counts_without, counts : numpy.ndarray of int, shape (runs, periods, groups, kinds)
        What was counted in the period alone, without and with the shield.
    active : numpy.ndarray of bool
        False where no shield existed, so that recommendations passed.
    assumption_held : numpy.ndarray of bool or None
        Whether the period met what the kind's theorem assumes, with a shield for the threshold;
        None if it assumes nothing.
    interventions : numpy.ndarray of int
    cost : numpy.ndarray of float
    correct_without, correct : numpy.ndarray of int or None
        Decisions that are the label, without and with the shield; None without labels.
    closest : numpy.ndarray of bool or None
        Where no shield for the threshold existed, and one for the smallest bound that could be
        kept decided; None if the specification does not ask for it.
    """

    fairness: FairnessProperty
    threshold: Fraction
    empty_group: EmptyGroup
    shield: str
    horizon: int
    counts_without: Ints
    counts: Ints
    active: NDArray[np.bool_]
    assumption_held: NDArray[np.bool_] | None
    interventions: Ints
    cost: NDArray[np.float64]
    correct_without: Ints | None = None
    correct: Ints | None = None
    closest: NDArray[np.bool_] | None = None

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len(self.counts)

    @property
    def periods(self) -> int:
        """How many periods each has."""
        return int(self.counts.shape[1])

    @property
    def bias_without(self) -> NDArray[np.float64]:
        """Bias without a shield at the end of each period."""
        return self._bias(self.counts_without)

    @property
    def bias(self) -> NDArray[np.float64]:
        """Bias with the shield at the end of each period, of all events so far.

        Of a finite shield it is the bias of the period alone.
        """
        return self._bias(self.counts)

    @property
    def above_without(self) -> NDArray[np.bool_]:
        """Whether the bias without a shield is above the threshold, decided in whole numbers."""
        return self._above(self.counts_without)

    @property
    def above(self) -> NDArray[np.bool_]:
        """Whether the bias with the shield is above the threshold, decided in whole numbers."""
        return self._above(self.counts)

    @property
    def fair(self) -> NDArray[np.bool_]:
        """Whether the bias with the shield is at most the threshold."""
        return ~self.above

    @property
    def infeasible(self) -> NDArray[np.bool_]:
        """Whether no shield for the threshold existed."""
        return ~self.active if self.closest is None else ~self.active | self.closest

    @property
    def guaranteed(self) -> NDArray[np.bool_]:
        """Whether fairness is guaranteed: the assumption held in all periods so far."""
        if self.assumption_held is None:
            return np.asarray(self.active)
        return np.logical_and.accumulate(self.assumption_held, axis=1)

    @property
    def utility_loss(self) -> NDArray[np.float64] | None:
        """Share of a period's events on which the shield loses accuracy; None without labels."""
        if self.correct is None or self.correct_without is None:
            return None
        return np.asarray((self.correct_without - self.correct) / self.horizon)

    def _totals(self, counts: Ints) -> tuple[Ints, Ints]:
        """Give numerators and denominators of what is judged, shape (runs, periods, groups)."""
        judged = counts if self.shield == "finite" else counts.cumsum(axis=1)
        added = np.array(self.fairness.kinds, dtype=np.int64)
        return judged @ added[:, 0], judged @ added[:, 1]

    def _above(self, counts: Ints) -> NDArray[np.bool_]:
        tops, bottoms = self._totals(counts)
        groups = tops.shape[2]
        holds = bias_at_most(
            tops.reshape(-1, groups),
            bottoms.reshape(-1, groups),
            self.threshold,
            measure=self.fairness.measure,
            empty_group=self.empty_group,
        )
        return ~holds.reshape(tops.shape[:2])

    def _bias(self, counts: Ints) -> NDArray[np.float64]:
        tops, bottoms = self._totals(counts)
        rates = tops / np.maximum(bottoms, 1)
        if self.empty_group == "vacuous":
            known = bottoms > 0
            most = np.where(known, rates, -np.inf).max(axis=2)
            least = np.where(known, rates, np.inf).min(axis=2)
            compared = known.sum(axis=2) > 1
        else:
            most, least = rates.max(axis=2), rates.min(axis=2)
            compared = np.ones(most.shape, dtype=bool)
        most, least = np.where(compared, most, 0.0), np.where(compared, least, 0.0)
        if self.fairness.measure == "difference":
            return np.asarray(most - least)
        return np.asarray(np.where(most > 0, 1 - least / np.where(most > 0, most, 1), 0.0))


def joined(parts: Sequence[Simulation]) -> Simulation:
    """Put simulations of one shield together, run after run."""
    first = parts[0]

    def all_of(name: str) -> NDArray[np.int64] | None:
        values = [getattr(part, name) for part in parts]
        return None if values[0] is None else np.concatenate(values)

    arrays = {
        name: all_of(name) for name, value in vars(first).items() if isinstance(value, np.ndarray)
    }
    return Simulation(**{**vars(first), **arrays})

"""Numbers of a simulation: shares of runs with intervals, means, accuracy, period by period."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from testsgd.reporting.shielding.simulation_summary import (
    PeriodSummary,
    SideSummary,
    SpreadSummary,
    UtilitySummary,
)
from testsgd.scoring import clopper_pearson

if TYPE_CHECKING:
    from testsgd.shielding import Simulation

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

# Of the intervals for shares of runs.
ERROR = 0.05


def side(bias: Floats, above: Flags) -> SideSummary:
    """Summarise the runs with or without the shield.

    Parameters
    ----------
    bias : numpy.ndarray of float, shape (runs,)
        At the end of each run.
    above : numpy.ndarray of bool, shape (runs, periods)
        Whether the bias was above the threshold at the end of each period.

    Returns
    -------
    SideSummary
    """
    number = int(np.count_nonzero(above.sum(axis=1)))
    low, high = clopper_pearson(number, len(above), ERROR)
    return SideSummary(
        above=number,
        above_low=float(low),
        above_high=float(high),
        median=float(np.median(bias)),
        high=float(np.quantile(bias, 0.95, method="inverted_cdf")),
        largest=float(bias.max()),
    )


def spread(values: NDArray[np.float64] | NDArray[np.int64]) -> SpreadSummary:
    """Summarise a number of each run.

    Examples
    --------
    >>> spread(np.arange(101)).mean
    50.0
    """
    low, high = np.quantile(values, [0.05, 0.95])
    return SpreadSummary(mean=float(np.mean(values)), low=float(low), high=float(high))


def utility_summary(simulation: Simulation) -> UtilitySummary | None:
    """Summarise how many decisions are correct; None if no labels are known."""
    if simulation.correct is None or simulation.correct_without is None:
        return None
    decisions = simulation.periods * simulation.horizon
    before = simulation.correct_without.sum(axis=1) / decisions
    after = simulation.correct.sum(axis=1) / decisions
    return UtilitySummary(
        accuracy_without=float(before.mean()),
        accuracy_shielded=float(after.mean()),
        loss=spread(before - after),
    )


def period_summaries(simulation: Simulation) -> list[PeriodSummary]:
    """Summarise the end of each period.

    Returns
    -------
    list of PeriodSummary
        The first period has the number 1.
    """
    bias_without, bias = simulation.bias_without, simulation.bias
    above_without, above = simulation.above_without, simulation.above
    infeasible = simulation.infeasible
    assumed = None if simulation.assumption_held is None else simulation.guaranteed
    return [
        PeriodSummary(
            period=place + 1,
            above_without=int(above_without[:, place].sum()),
            above_shielded=int(above[:, place].sum()),
            median_without=float(np.median(bias_without[:, place])),
            median_shielded=float(np.median(bias[:, place])),
            assumed=None if assumed is None else int(assumed[:, place].sum()),
            assumed_fair=(
                None if assumed is None else int((assumed[:, place] & ~above[:, place]).sum())
            ),
            infeasible=int(infeasible[:, place].sum()),
            interventions=float(simulation.interventions[:, place].mean()),
            cost=float(simulation.cost[:, place].mean()),
        )
        for place in range(simulation.periods)
    ]

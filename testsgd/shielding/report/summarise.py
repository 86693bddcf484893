"""From a shield and from a simulation to the summary documents that every view is rendered from."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from testsgd.fairness.wording import counted_property
from testsgd.report.summaries import package_versions, present_moment
from testsgd.scoring import clopper_pearson
from testsgd.shielding.advice import assumption_probability
from testsgd.shielding.parameters import SimulationParameters
from testsgd.shielding.report import summary as documents
from testsgd.shielding.report.summary import (
    BiasBin,
    InputsSummary,
    ShieldSummary,
    SimulationSummary,
)
from testsgd.shielding.report.verdict import PENDING, simulation_verdict, synthesis_verdict
from testsgd.shielding.requirement import least_counted
from testsgd.shielding.solving import WindowedPolicy

if TYPE_CHECKING:
    from testsgd.shielding.inputs import InputDistribution
    from testsgd.shielding.simulation import Simulation
    from testsgd.shielding.specification import ShieldSpecification
    from testsgd.shielding.synthesis import Solution


Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Runs = tuple[Floats, Flags]  # The bias of each run, and whether it is above the bound.

# Of the intervals for shares of runs.
ERROR = 0.05

# About this number of intervals, and at most that number above the bound.
_WANTED = 40
_MOST = 60
_RECOMMENDATIONS: tuple[Literal[1], Literal[0]] = (1, 0)
_PACKAGES = ("numpy", "numba")


def _side(bias: Floats, above: Flags) -> documents.SideSummary:
    """Return the summary of runs: bias, and whether it is above the bound, (runs, periods)."""
    runs_above = int(np.count_nonzero(above.any(axis=1)))
    last = bias[:, -1]
    low, high = clopper_pearson(runs_above, len(above), ERROR)
    return documents.SideSummary(
        above=runs_above,
        above_low=float(low),
        above_high=float(high),
        median=float(np.median(last)),
        high=float(np.quantile(last, 0.95, method="inverted_cdf")),
        largest=float(last.max()),
    )


def _spread(values: NDArray[Any]) -> documents.RunRange:
    """Return mean and range of one number of each run, shape (runs,)."""
    low, high = np.quantile(values, [0.05, 0.95])
    return documents.RunRange(mean=float(np.mean(values)), low=float(low), high=float(high))


def _utility(simulation: Simulation) -> documents.UtilitySummary | None:
    """Return the shares of correct decisions; None if no labels are known."""
    if simulation.correct is None or simulation.correct_unshielded is None:
        return None
    decisions = simulation.periods * simulation.horizon
    before = simulation.correct_unshielded.sum(axis=1) / decisions
    after = simulation.correct.sum(axis=1) / decisions
    return documents.UtilitySummary(
        accuracy_unshielded=float(before.mean()),
        accuracy_shielded=float(after.mean()),
        loss=_spread(before - after),
    )


def _period(simulation: Simulation, index: int) -> documents.PeriodSummary:
    """Return the summary of the end of a period, over all runs."""
    above = simulation.above[:, index]
    guaranteed = simulation.guaranteed[:, index]
    has_assumption = simulation.assumption_held is not None
    return documents.PeriodSummary(
        period=index + 1,
        above_unshielded=int(simulation.above_unshielded[:, index].sum()),
        above_shielded=int(above.sum()),
        median_unshielded=float(np.median(simulation.bias_unshielded[:, index])),
        median_shielded=float(np.median(simulation.bias[:, index])),
        assumed=int(guaranteed.sum()) if has_assumption else None,
        assumed_fair=int((guaranteed & ~above).sum()) if has_assumption else None,
        infeasible=int(simulation.infeasible[:, index].sum()),
        interventions=float(simulation.interventions[:, index].mean()),
        cost=float(simulation.cost[:, index].mean()),
    )


def bias_bins(without: Runs, shielded: Runs, *, bound: float) -> list[BiasBin]:
    """Return the numbers of runs by their bias, in intervals that never straddle the bound.

    There are no gaps between the intervals. With a bound of 0 the first one is the number 0.
    `without` and `shielded` are the rounded bias of each run, and whether it is exactly above the
    bound, shape (runs,) each.
    """
    largest = max(float(without[0].max()), float(shielded[0].max()), bound)
    edges_within, edges_above = _edges(bound, largest)
    bins: list[BiasBin] = []
    for edges, above in ((edges_within, False), (edges_above, True)):
        counts_without = _count(without, edges, above=above)
        counts_shielded = _count(shielded, edges, above=above)
        for index, (low, high) in enumerate(pairwise(edges)):
            bins.append(
                BiasBin(
                    low=low,
                    high=high,
                    above=above,
                    unshielded=counts_without[index],
                    shielded=counts_shielded[index],
                )
            )
    return bins


def _edges(bound: float, largest: float) -> tuple[list[float], list[float]]:
    """Return the edges of equal intervals up to the bound, and of equal ones above it."""
    if bound <= 0:
        width = max(largest, 1e-3) / _WANTED
        below = [0.0, 0.0]
    else:
        parts = max(1, round(_WANTED * bound / max(largest, bound)))
        # Above a bound that is a small part of the whole, intervals are wider than below.
        width = max(bound / parts, (largest - bound) / _MOST)
        below = [bound * index / parts for index in range(parts + 1)]
    parts_above = max(0, math.ceil((largest - bound) / width - 1e-9))
    return below, [bound + width * index for index in range(parts_above + 1)]


def _count(runs: Runs, edges: list[float], *, above: bool) -> list[int]:
    """Return the number of runs in each interval, of those above the bound or of the others."""
    bias, is_above = runs
    if len(edges) < 2:
        return []
    # Intervals are open below: a bias belongs to the one that it ends.
    places = np.searchsorted(edges, bias[is_above == above] - 1e-12, side="left") - 1
    last = len(edges) - 2
    return list(map(int, np.bincount(np.clip(places, 0, last), minlength=last + 1)))


def summarise_synthesis(
    specification: ShieldSpecification,
    inputs: InputDistribution,
    solution: Solution,
    *,
    digest: str,
    predicted_bytes: int,
    stored_bytes: int | None = None,
) -> ShieldSummary:
    """Return the document of a synthesis, with the memory predicted and the size of the file."""
    welfare = specification.horizon.welfare
    without_verdict = ShieldSummary(
        created=present_moment(),
        versions=package_versions(_PACKAGES),
        digest=digest,
        requirement=_requirement(specification),
        inputs=_inputs(specification, inputs),
        synthesis=documents.SynthesisSummary(
            expected_cost=float(solution.expected_cost),
            seconds=float(solution.seconds),
            predicted_bytes=predicted_bytes,
            stored_bytes=stored_bytes,
            storage="windows" if isinstance(solution.policy, WindowedPolicy) else "whole",
            least_counted=None if welfare is None else least_counted(welfare),
            assumption_probability=assumption_probability(specification, inputs),
        ),
        verdict=PENDING,
    )
    return without_verdict.model_copy(update={"verdict": synthesis_verdict(without_verdict)})


def summarise_simulation(
    simulation: Simulation,
    specification: ShieldSpecification,
    inputs: InputDistribution,
    parameters: SimulationParameters,
    *,
    logged: int | None,
    seconds: float,
    expected_cost: float | None,
) -> SimulationSummary:
    """Return the document of a simulation.

    `logged` is the number of rows of the log that people were drawn from, None if they were drawn
    from a distribution. `expected_cost` is of the first period.
    """
    last_without = (simulation.bias_unshielded[:, -1], simulation.above_unshielded[:, -1])
    last_shielded = (simulation.bias[:, -1], simulation.above[:, -1])
    guaranteed = simulation.guaranteed
    interventions = simulation.interventions.sum(axis=1)
    decisions = simulation.runs * simulation.periods * simulation.horizon
    without_verdict = SimulationSummary(
        created=present_moment(),
        versions=package_versions(_PACKAGES),
        settings=parameters,
        logged=logged,
        requirement=_requirement(specification),
        inputs=_inputs(specification, inputs),
        seconds=seconds,
        expected_cost=None if expected_cost == math.inf else expected_cost,
        unshielded=_side(simulation.bias_unshielded, simulation.above_unshielded),
        shielded=_side(simulation.bias, simulation.above),
        bins=bias_bins(last_without, last_shielded, bound=float(simulation.bound)),
        interventions=_spread(interventions),
        changed=float(interventions.sum() / decisions),
        cost=_spread(simulation.cost.sum(axis=1)),
        utility=_utility(simulation),
        periods=[_period(simulation, index) for index in range(simulation.periods)],
        guaranteed=int(guaranteed.sum()),
        broken=int((guaranteed & simulation.above).sum()),
        verdict=PENDING,
    )
    return without_verdict.model_copy(update={"verdict": simulation_verdict(without_verdict)})


def _requirement(specification: ShieldSpecification) -> documents.RequirementSummary:
    horizon = specification.horizon
    groups = specification.groups
    when_infeasible = (horizon.when_infeasible or "pass") if horizon.shield == "dynamic" else None
    return documents.RequirementSummary.of(
        horizon,
        groups,
        name=specification.name,
        **counted_property(
            specification.fairness_property,
            specification.bound,
            specification.fairness.empty_group,
        ),
        groups=groups.names,
        horizon=horizon.length,
        after=horizon.after if horizon.shield == "finite" else "next",
        when_infeasible=when_infeasible,
        shares=[list(map(str, ends)) for ends in specification.fairness_property.shares] or None,
    )


def _inputs(specification: ShieldSpecification, inputs: InputDistribution) -> InputsSummary:
    labels = inputs.labels
    rows = [
        documents.InputRow(
            group=group,
            recommendation=recommendation,
            cost=cost,
            probability=float(inputs.probabilities[index, recommendation, column]),
            label_probability=None if labels is None else float(labels[index, recommendation]),
        )
        for index, group in enumerate(inputs.groups)
        for recommendation in _RECOMMENDATIONS
        for column, cost in enumerate(inputs.costs)
        if inputs.probabilities[index, recommendation, column] > 0
    ]
    source: Literal["uniform", "table", "log"] = "log" if specification.inputs.log else "uniform"
    return InputsSummary(source="table" if specification.inputs.table else source, rows=rows)

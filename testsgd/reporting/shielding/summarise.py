"""From a shield and from a simulation to the summary documents that every view is rendered from."""

from __future__ import annotations

import datetime
import math
from typing import TYPE_CHECKING, Any, Literal

from testsgd.reporting.counted_events import counted_events
from testsgd.reporting.shielding.measures import period_summaries, side, spread, utility_summary
from testsgd.reporting.shielding.parts import BoundSummary, InputRow, InputsSummary
from testsgd.reporting.shielding.simulation_summary import SimulationSettings, SimulationSummary
from testsgd.reporting.shielding.spreading import bias_bins
from testsgd.reporting.shielding.summary import ShieldSummary, SynthesisSummary
from testsgd.reporting.shielding.verdict import simulation_verdict, synthesis_verdict
from testsgd.reporting.summarise import package_versions

if TYPE_CHECKING:
    from testsgd.shielding import (
        InputDistribution,
        ShieldSpecification,
        Simulation,
        Solution,
    )

_PACKAGES = ("numpy", "numba")


def summarise_synthesis(
    specification: ShieldSpecification,
    inputs: InputDistribution,
    solution: Solution,
    *,
    digest: str,
    predicted_bytes: int,
    stored_bytes: int | None = None,
) -> ShieldSummary:
    """Write what was synthesised as one document.

    Parameters
    ----------
    specification : ShieldSpecification
        What was asked for.
    inputs : InputDistribution
        What the shield expects.
    solution : Solution
        What was found; of a dynamic shield for its first period.
    digest : str
        Of the specification with its distribution.
    predicted_bytes : int
        Memory that was predicted before.
    stored_bytes : int, optional
        Size of the shield's file.

    Returns
    -------
    ShieldSummary
    """
    bound = _bound(specification)
    made = SynthesisSummary(
        expected_cost=float(solution.expected_cost),
        seconds=float(solution.seconds),
        predicted_bytes=predicted_bytes,
        stored_bytes=stored_bytes,
        storage=_storage(solution),
    )
    return ShieldSummary(
        created=_now(),
        versions=package_versions(_PACKAGES),
        digest=digest,
        bound=bound,
        inputs=_inputs(specification, inputs),
        synthesis=made,
        verdict=synthesis_verdict(bound, made),
    )


def summarise_simulation(
    simulation: Simulation,
    specification: ShieldSpecification,
    inputs: InputDistribution,
    *,
    random_state: int,
    logged: int | None,
    seconds: float,
    expected_cost: float | None,
    max_above: float | None = None,
) -> SimulationSummary:
    """Write what a simulation showed as one document.

    Parameters
    ----------
    simulation : Simulation
        The runs.
    specification : ShieldSpecification
        Of the shield.
    inputs : InputDistribution
        What the shield expects.
    random_state : int
        Seed of the runs.
    logged : int or None
        Rows of the log that people were drawn from; None: from the distribution.
    seconds : float
        What the simulation took.
    expected_cost : float or None
        Of a first period, by the distribution.
    max_above : float, optional
        Gate: the largest share of runs that may be above the threshold with the shield.

    Returns
    -------
    SimulationSummary
    """
    bound = _bound(specification)
    settings = SimulationSettings(
        runs=simulation.runs,
        periods=simulation.periods,
        random_state=random_state,
        events="distribution" if logged is None else "log",
        logged=logged,
        max_above=max_above,
    )
    bias_without, bias = simulation.bias_without, simulation.bias
    above_without, above = simulation.above_without, simulation.above
    guaranteed = simulation.guaranteed
    interventions = simulation.interventions.sum(axis=1)
    decisions = simulation.runs * simulation.periods * simulation.horizon
    told: dict[str, Any] = {
        "without": side(bias_without[:, -1], above_without),
        "shielded": side(bias[:, -1], above),
        "interventions": spread(interventions),
        "changed": float(interventions.sum() / decisions),
        "cost": spread(simulation.cost.sum(axis=1)),
        "expected_cost": expected_cost if _finite(expected_cost) else None,
        "utility": utility_summary(simulation),
        "periods": period_summaries(simulation),
        "guaranteed": int(guaranteed.sum()),
        "broken": int((guaranteed & above).sum()),
    }
    return SimulationSummary(
        created=_now(),
        versions=package_versions(_PACKAGES),
        settings=settings,
        bound=bound,
        inputs=_inputs(specification, inputs),
        seconds=seconds,
        bins=bias_bins(
            (bias_without[:, -1], above_without[:, -1]),
            (bias[:, -1], above[:, -1]),
            threshold=float(simulation.threshold),
        ),
        verdict=simulation_verdict(bound, settings, **told),
        **told,
    )


def _bound(specification: ShieldSpecification) -> BoundSummary:
    fairness, horizon = specification.fairness_property, specification.horizon
    welfare = horizon.welfare
    return BoundSummary(
        name=specification.name,
        property=fairness.name,
        numerator=counted_events(fairness, fairness.numerator),
        denominator=counted_events(fairness, fairness.denominator),
        labelled=fairness.labelled,
        measure=fairness.measure,
        threshold=float(specification.threshold),
        threshold_exact=str(specification.threshold),
        empty_group=specification.fairness.empty_group,
        groups=list(specification.groups.names),
        unknown=specification.groups.unknown,
        shield=horizon.shield,
        horizon=horizon.length,
        after=horizon.after if horizon.shield == "finite" else "next",
        periods=horizon.periods,
        welfare=None if welfare is None else [float(end) for end in welfare],
        when_infeasible=(horizon.when_infeasible or "pass")
        if horizon.shield == "dynamic"
        else None,
    )


def _inputs(specification: ShieldSpecification, inputs: InputDistribution) -> InputsSummary:
    rows = [
        InputRow.model_validate(
            {
                "group": group,
                "recommendation": recommendation,
                "cost": float(cost),
                "probability": float(inputs.probabilities[place, recommendation, column]),
                "label_probability": None
                if inputs.labels is None
                else float(inputs.labels[place, recommendation]),
            }
        )
        for place, group in enumerate(inputs.groups)
        for recommendation in (1, 0)
        for column, cost in enumerate(inputs.costs)
        if inputs.probabilities[place, recommendation, column] > 0
    ]
    return InputsSummary(source=_source(specification), rows=rows)


def _source(specification: ShieldSpecification) -> Literal["uniform", "table", "log"]:
    given = specification.inputs
    if getattr(given, "table", None):
        return "table"
    return "log" if getattr(given, "log", None) else "uniform"


def _storage(solution: Solution) -> Literal["whole", "windows"]:
    return "windows" if type(solution.policy).__name__ == "WindowedPolicy" else "whole"


def _finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")

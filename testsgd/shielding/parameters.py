"""What the user of a simulation can choose."""

from __future__ import annotations

from dataclasses import dataclass

from testsgd.parameters import Parameters, parameter


@dataclass(frozen=True, kw_only=True)
class SimulationParameters(Parameters):
    """The parameters of a simulation.

    Raises
    ------
    ParameterError
        If a value is out of its range.

    Examples
    --------
    >>> SimulationParameters(runs=200).random_state
    0
    """

    runs: int = parameter(1000, "Sequences of people.", at_least=1)
    periods: int | None = parameter(
        None, "Periods of a run; by default those of the specification, or 1.", at_least=1
    )
    random_state: int = parameter(0, "Same seed, same people.", at_least=0, flags=("--seed",))
    fail_above: float | None = parameter(
        None,
        "The gate: it fails if more than this share of the runs is above the bound with the "
        "shield.",
        at_least=0,
        at_most=1,
        example="a share such as 0.05",
    )

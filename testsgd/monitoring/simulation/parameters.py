"""What the user of a simulation of a monitor can choose."""

from __future__ import annotations

from dataclasses import dataclass

from testsgd.parameters import Parameters, parameter


@dataclass(frozen=True, kw_only=True)
class MonitorSimulationParameters(Parameters):
    """The parameters of a simulation of a monitor.

    Raises
    ------
    ParameterError
        If a value is out of its range.

    Examples
    --------
    >>> MonitorSimulationParameters(days=7).people_a_day
    200
    """

    runs: int = parameter(200, "Streams for each bias.", at_least=1)
    people_a_day: int = parameter(200, "People that are decided about in a day.", at_least=1)
    days: int = parameter(30, "Days of a stream.", at_least=1)
    rate: float | None = parameter(
        None,
        "Favourable decisions, in the middle of the lowest and the highest group; by default as "
        "the specification says, or a half, and with past events theirs. With past events a rate "
        "that is given takes the place of their own decisions.",
        above=0,
        below=1,
    )
    share: float | None = parameter(
        None,
        "Share of people in the group with the lowest rate; by default groups are as the "
        "specification says, or equal, and with past events they are as there.",
        above=0,
        below=1,
    )
    label_rate: float | None = parameter(
        None,
        "Share of people with a positive label; by default as the specification says, or a half, "
        "and with past events theirs.",
        above=0,
        below=1,
    )
    random_state: int = parameter(0, "Same seed, same people.", at_least=0, flags=("--seed",))

"""The document of a simulation of a monitor."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from testsgd.monitoring.simulation.parameters import MonitorSimulationParameters
from testsgd.report.summaries import Created, Part

SCHEMA_NAME = "testsgd.monitor-simulation/1"


class AlarmPoint(Part):
    """How many runs had an alert by a day."""

    day: float = Field(description="days since the stream began")
    share: float = Field(description="share of runs that had an alert by then")


class SimulatedAlarms(Part):
    """When a property raised its first alert, with one bias."""

    property: str = Field(description="name of the property")
    rule: Literal["estimate", "evidence"] = Field(description="what raises alerts")
    bias: float | None = Field(description="the true bias; null: people as in the past events")
    bound: float = Field(description="the largest bias without an alert")
    bound_exact: str = Field(description="the same as a fraction")
    above: bool | None = Field(
        description="whether the true bias is above it; if not, alerts are false; null: unknown"
    )
    promised: float | None = Field(
        description="the most that false alarms are by the specification, as a probability; null: "
        "nothing is promised"
    )
    alarmed: int = Field(description="runs with an alert")
    share: float = Field(description="share of runs with an alert")
    low: float = Field(description="lower end of its 95% interval (Clopper-Pearson)")
    high: float = Field(description="upper end")
    median_people: int | None = Field(
        description="people until half of all runs had an alert; null: fewer had one"
    )
    median_days: float | None = Field(description="the same in days")
    most_people: int | None = Field(description="people until nine tenths had an alert")
    most_days: float | None = Field(description="the same in days")
    course: list[AlarmPoint] = Field(description="how many had one by when")


class MonitorSimulationVerdict(Part):
    """The outcome, the same in every view."""

    status: Literal["simulated"] = Field(description="in one word")
    exit_code: Literal[0] = Field(description="always 0")
    headline: str = Field(description="the outcome, as a sentence")
    sentences: list[str] = Field(description="what to know beside it")


class MonitorSimulationSummary(Part):
    """Everything that a simulation of a monitor showed, as one document."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Literal["testsgd.monitor-simulation/1"] = Field(
        "testsgd.monitor-simulation/1",
        alias="schema",
        description="name and version of this format",
    )
    created: Created = Field(description="UTC time, ISO 8601; a rerun changes it; null if left out")
    versions: dict[str, str] = Field(description="of testsgd and of what it computes with")
    name: str = Field(description="what the specification is called")
    digest: str = Field(description="sha256 of the specification")
    settings: MonitorSimulationParameters = Field(description="what was asked for")
    past: int | None = Field(description="past people that were drawn from; null: none")
    groups: list[str] = Field(description="the groups, that with the lowest rate first")
    shares: list[float] = Field(description="the share of people in each")
    rate: float = Field(description="favourable decisions, of the middle of all groups")
    alarms: list[SimulatedAlarms] = Field(description="a part a property and bias")
    verdict: MonitorSimulationVerdict = Field(description="the outcome in words")

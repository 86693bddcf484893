"""The document of a simulation of a monitor."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from testsgd.monitoring.simulation.parameters import MonitorSimulationParameters
from testsgd.report.summaries import (
    NO_TRUTH_VALUE,
    Count,
    Created,
    ExactNumber,
    NonNegative,
    Part,
    Share,
    check_equal_lengths,
)

SCHEMA_NAME = "testsgd.monitor-simulation/1"


class AlarmPoint(Part):
    """How many runs had an alert by a day."""

    day: NonNegative = Field(description="days since the stream began")
    share: Share = Field(description="share of runs that had an alert by then")


class SimulatedAlarms(Part):
    """When a property raised its first alert, with one bias."""

    property: str = Field(description="name of the property")
    rule: Literal["estimate", "evidence"] = Field(description="what raises alerts")
    bias: float | None = Field(description="the true bias; null: people as in the past events")
    bound: NonNegative = Field(description="the largest bias without an alert")
    bound_exact: ExactNumber = Field(description="the same as a fraction")
    above: bool | None = Field(
        description="whether the true bias is above it; if not, alerts are false; null: unknown"
    )
    promised: Share | None = Field(
        description="the most that false alarms are by the specification, as a probability; null: "
        "nothing is promised"
    )
    alarmed: Count = Field(description="runs with an alert")
    share: Share = Field(description="share of runs with an alert")
    low: Share = Field(description="lower end of its 95% interval (Clopper-Pearson)")
    high: Share = Field(description="upper end")
    median_people: Count | None = Field(
        description="people until half of all runs had an alert; null: fewer had one"
    )
    median_days: NonNegative | None = Field(description="the same in days")
    most_people: Count | None = Field(description="people until nine tenths had an alert")
    most_days: NonNegative | None = Field(description="the same in days")
    course: list[AlarmPoint] = Field(min_length=1, description="how many had one by when")


class MonitorSimulationVerdict(Part):
    """The outcome, the same in every view."""

    status: Literal["simulated"] = Field(description="in one word")
    exit_code: Annotated[Literal[0], NO_TRUTH_VALUE] = Field(description="always 0")
    headline: str = Field(description="the outcome, as a sentence")
    sentences: list[str] = Field(description="what to know beside it")


class MonitorSimulationSummary(Part):
    """Everything that a simulation of a monitor showed, as one document."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Annotated[Literal["testsgd.monitor-simulation/1"], NO_TRUTH_VALUE] = Field(
        "testsgd.monitor-simulation/1",
        alias="schema",
        description="name and version of this format",
    )
    created: Created = Field(description="UTC time, ISO 8601; a rerun changes it; null if left out")
    versions: dict[str, str] = Field(description="of testsgd and of what it computes with")
    name: str = Field(description="what the specification is called")
    digest: str = Field(description="sha256 of the specification")
    settings: MonitorSimulationParameters = Field(description="what was asked for")
    past: Count | None = Field(description="past people that were drawn from; null: none")
    groups: list[str] = Field(description="the groups, that with the lowest rate first")
    shares: list[Share] = Field(description="the share of people in each")
    rate: Share = Field(description="favourable decisions, of the middle of all groups")
    alarms: list[SimulatedAlarms] = Field(description="a part a property and bias")
    verdict: MonitorSimulationVerdict = Field(description="the outcome in words")

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        check_equal_lengths({"groups": self.groups, "shares": self.shares})
        return self

"""The summaries of a synthesis and a simulation; their JSON Schemas are generated from them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from testsgd.fairness.wording import CountedProperty
from testsgd.report.summaries import (
    NO_TRUTH_VALUE,
    Count,
    Created,
    Duration,
    Memory,
    NonNegative,
    Part,
    Share,
)
from testsgd.shielding.parameters import SimulationParameters

ShieldKind = Literal["finite", "static-fair", "static-bounded-welfare", "dynamic"]
Status = Literal["synthesised", "guarantee_kept", "guarantee_broken", "gate_failed", "observed"]
SCHEMA_NAME = "testsgd.shield/2"
SIMULATION_SCHEMA_NAME = "testsgd.shield-simulation/2"


class RequirementSummary(CountedProperty):
    """What is kept, for whom and until when."""

    name: str = Field(description="what the specification is called")
    bound: float = Field(description="the bias may be at most this")
    groups: list[str] = Field(description="the groups")
    unknown: Literal["refuse", "pass"] = Field(description="what happens to other groups")
    shield: ShieldKind = Field(description="the kind of shield")
    horizon: int = Field(description="decisions until the bound is looked at; of a period")
    after: Literal["stop", "next"] = Field(description="what happens after the horizon")
    periods: int | None = Field(description="it stops after so many; null: never")
    welfare: list[float] | None = Field(description="every group's rate stays between these")
    when_infeasible: Literal["pass", "closest"] | None = Field(
        None, description="in a period without a shield"
    )
    shares: list[list[str]] | None = Field(
        None, description="lowest and highest share of each group of those accepted, exactly"
    )


class InputRow(Part):
    """How often a person comes, with which recommendation and cost."""

    group: str = Field(description="the person's group")
    recommendation: Annotated[Literal[0, 1], NO_TRUTH_VALUE] = Field(
        description="1: accept, 0: reject"
    )
    cost: NonNegative = Field(description="what changing the recommendation costs")
    probability: Share = Field(description="of this group, recommendation and cost together")
    label_probability: Share | None = Field(description="of a true label 1; null: of no matter")


class InputsSummary(Part):
    """The distribution that the shield expects; fairness does not depend on it."""

    source: Literal["uniform", "table", "log"] = Field(description="where it comes from")
    rows: list[InputRow] = Field(description="the distribution; rows of probability 0 left out")


class ShieldVerdict(Part):
    """The outcome, the same in every view."""

    status: Status = Field(description="the outcome in one word")
    exit_code: Annotated[Literal[0, 1], NO_TRUTH_VALUE] = Field(
        description="what the command line leaves with"
    )
    headline: str = Field(description="the outcome, as a sentence")
    sentences: list[str] = Field(description="what to know beside it")


class SynthesisSummary(Part):
    """What was computed, and what it took."""

    expected_cost: NonNegative = Field(
        description="of the changes until the horizon; of a first period"
    )
    seconds: Duration = Field(description="wall-clock time of the synthesis")
    predicted_bytes: Memory = Field(
        description="memory of the whole process, as it was predicted before"
    )
    stored_bytes: Count | None = Field(description="size of the shield's file; null: none written")
    storage: Literal["whole", "windows"] = Field(description="all decisions, or window by window")
    least_counted: Count | None = Field(
        None,
        description="how often each group must be counted in a period, by the assumption of "
        "bounded welfare; null: nothing like it is assumed",
    )
    assumption_probability: Share | None = Field(
        None,
        description="that the assumption of a static periodic shield holds in a period, by the "
        "distribution; null: it depends on more than who comes, or nothing is assumed",
    )


class ShieldSummary(Part):
    """Everything about a shield before it decides, as one document."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Annotated[Literal["testsgd.shield/2"], NO_TRUTH_VALUE] = Field(
        "testsgd.shield/2", alias="schema", description="name and version of this format"
    )
    created: Created = Field(
        description="UTC time, ISO 8601; a rerun changes it and the seconds; null if left out"
    )
    versions: dict[str, str] = Field(description="of testsgd and of what it computes with")
    digest: str = Field(description="sha256 of the specification with its distribution")
    requirement: RequirementSummary = Field(description="what is kept, for whom and until when")
    inputs: InputsSummary = Field(description="the distribution that the shield expects")
    synthesis: SynthesisSummary = Field(description="what was computed, and what it took")
    verdict: ShieldVerdict = Field(description="the outcome in words, with the exit code")


class SideSummary(Part):
    """Runs without the shield, or the same runs with it."""

    above: Count = Field(description="runs whose bias is above the bound when it is looked at")
    above_low: Share = Field(description="lower end of an interval for their share")
    above_high: Share = Field(description="its upper end (Clopper and Pearson, 95%)")
    median: NonNegative = Field(description="bias of the run in the middle, at its end")
    high: NonNegative = Field(description="bias that 95% of the runs do not exceed, at their end")
    largest: NonNegative = Field(description="the largest bias of any run, at its end")


class BiasBin(Part):
    """Runs with a bias in one interval."""

    low: float = Field(description="lower end, exclusive; inclusive of the first")
    high: float = Field(description="upper end, inclusive")
    above: bool = Field(description="true: the interval lies above the bound")
    unshielded: Count = Field(description="runs without the shield that ended there")
    shielded: Count = Field(description="runs with the shield that ended there")


class RunRange(Part):
    """A number of each run: its mean, and where most runs are."""

    mean: float = Field(description="mean over the runs")
    low: float = Field(description="5% of the runs have less")
    high: float = Field(description="5% of the runs have more")


class UtilitySummary(Part):
    """How many decisions are correct; known only if the true labels are."""

    accuracy_unshielded: Share = Field(description="share of correct recommendations")
    accuracy_shielded: Share = Field(description="share of correct decisions with the shield")
    loss: RunRange = Field(description="accuracy without minus with the shield, run by run")


class PeriodSummary(Part):
    """The end of one period, over all runs."""

    period: Count = Field(description="its number, from 1")
    above_unshielded: Count = Field(description="runs above the bound without the shield")
    above_shielded: Count = Field(description="runs above the bound with it")
    median_unshielded: NonNegative = Field(
        description="bias of the run in the middle without the shield"
    )
    median_shielded: NonNegative = Field(description="bias of the run in the middle with it")
    assumed: Count | None = Field(description="runs whose assumption held; null: none is needed")
    assumed_fair: Count | None = Field(description="those within the bound; null: none is needed")
    infeasible: Count = Field(0, description="runs without a shield of the bound")
    interventions: NonNegative = Field(
        description="changed decisions of the period, mean over the runs"
    )
    cost: NonNegative = Field(description="cost of these changes, mean over the runs")


class SimulationSummary(Part):
    """Everything that a simulation showed, as one document."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Annotated[Literal["testsgd.shield-simulation/2"], NO_TRUTH_VALUE] = Field(
        "testsgd.shield-simulation/2", alias="schema", description="name and version of this format"
    )
    created: Created = Field(
        description="UTC time, ISO 8601; a rerun changes it and the seconds; null if left out"
    )
    versions: dict[str, str] = Field(description="of testsgd and of what it computes with")
    settings: SimulationParameters = Field(description="what was asked for")
    logged: Count | None = Field(description="rows of the log; null: drawn by the distribution")
    requirement: RequirementSummary = Field(description="what is kept, for whom and until when")
    inputs: InputsSummary = Field(description="the distribution that the shield expects")
    seconds: Duration = Field(description="wall-clock time of the simulation")
    expected_cost: NonNegative | None = Field(description="of a first period; null: not known")
    unshielded: SideSummary = Field(description="the runs as they would be without the shield")
    shielded: SideSummary = Field(description="the same runs with the shield")
    bins: list[BiasBin] = Field(
        min_length=1, description="how the bias at the end of the runs is distributed"
    )
    interventions: RunRange = Field(description="changed decisions of a run")
    changed: Share = Field(description="share of all decisions that were changed")
    cost: RunRange = Field(description="cost of the changes of a run")
    utility: UtilitySummary | None = Field(description="null if no labels are known")
    periods: list[PeriodSummary] = Field(description="the end of each period, over all runs")
    guaranteed: Count = Field(description="ends of periods at which the bound is guaranteed")
    broken: Count = Field(description="those of them that were above the bound: never any")
    verdict: ShieldVerdict = Field(description="the outcome in words, with the exit code")

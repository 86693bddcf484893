"""What the documents of a shield and of a simulation share: the bound, the shield, the inputs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from testsgd.reporting.counted_events import CountedProperty
from testsgd.reporting.parts import Part

ShieldKind = Literal["finite", "static-fair", "static-bounded-welfare", "dynamic"]


class BoundSummary(CountedProperty):
    """What is kept, for whom and until when."""

    name: str = Field(description="what the specification is called")
    threshold: float = Field(description="the bias may be at most this")
    threshold_exact: str = Field(description="the same as a fraction")
    empty_group: Literal["vacuous", "zero"] = Field(
        description="a group without a rate is left out, or has rate 0"
    )
    groups: list[str] = Field(description="the groups")
    unknown: Literal["refuse", "pass"] = Field(description="what happens to other groups")
    shield: ShieldKind = Field(description="the kind of shield")
    horizon: int = Field(description="decisions until the bound is looked at; of a period")
    after: Literal["stop", "next"] = Field(description="what happens after the horizon")
    periods: int | None = Field(description="it stops after so many; null: never")
    welfare: list[float] | None = Field(
        description="of static-bounded-welfare: every group's rate stays between these"
    )
    when_infeasible: Literal["pass", "closest"] | None = Field(
        None,
        description="of dynamic: if no shield exists for a period, recommendations pass, or the "
        "smallest bound that can be kept is; null for other kinds",
    )


class InputRow(Part):
    """How often a person comes, with which recommendation and cost."""

    group: str = Field(description="the person's group")
    recommendation: Literal[0, 1] = Field(description="1: accept, 0: reject")
    cost: float = Field(description="what changing the recommendation costs")
    probability: float = Field(description="of this group, recommendation and cost together")
    label_probability: float | None = Field(
        description="of a true label 1, given group and recommendation; null if it plays no part"
    )


class InputsSummary(Part):
    """The distribution that the shield expects; fairness does not depend on it."""

    source: Literal["uniform", "table", "log"] = Field(description="where it comes from")
    rows: list[InputRow] = Field(description="the distribution; rows of probability 0 left out")


class ShieldVerdict(Part):
    """The outcome, the same in every view."""

    status: Literal[
        "synthesised", "guarantee_kept", "guarantee_broken", "gate_failed", "observed"
    ] = Field(description="the outcome in one word")
    exit_code: Literal[0, 1] = Field(description="what the command line leaves with")
    headline: str = Field(description="the outcome, as a sentence")
    sentences: list[str] = Field(description="what to know beside it")

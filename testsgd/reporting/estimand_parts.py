"""The parts of a summary about estimands, explaining rules, and people who could not be judged."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from testsgd.reporting.parts import Part

EstimandName = Literal["observed", "neighbourhood"]


class EstimandRates(Part):
    """The rates of a group by one estimand."""

    estimand: EstimandName = Field(
        description="`observed`: of the rows as they are; `neighbourhood`: over perturbed rows"
    )
    rate_in: float | None = Field(ge=0, le=1, description="rate in the group; null if unknown")
    rate_out: float | None = Field(ge=0, le=1, description="rate outside; null if unknown")
    difference: float | None = Field(ge=-1, le=1, description="`rate_in - rate_out`")
    interval: tuple[float, float] | None = Field(
        description="interval for the difference in the population; as for the groups' own"
    )
    decided: bool = Field(description="false: not enough samples to judge it by this estimand")
    assured: float | None = Field(
        ge=0, le=1, description="smallest size of the difference within `interval`"
    )


class MovedFeature(Part):
    """What the difference of the first group is if one feature is moved by one step."""

    feature: str = Field(description="a feature that is not sensitive")
    difference: float = Field(
        description="difference over the rows with the feature moved by one step"
    )


class EstimandSummary(Part):
    """One of the two estimands: its overall rate, and the largest difference by it."""

    estimand: EstimandName = Field(
        description="`observed`: of the rows as they are; `neighbourhood`: over perturbed rows"
    )
    groups: int = Field(ge=0, description="groups that could be judged by it")
    largest: float | None = Field(
        description="largest size of a difference among them; null if there are none"
    )
    assured: float | None = Field(
        description="largest size of a difference that its interval assures; null where "
        "differences are taken as they are"
    )
    guarantee: Literal["per-group", "simultaneous", "fdr"] | None = Field(
        description="what its intervals hold for"
    )


class ExplainingRuleSummary(Part):
    """A rule that forward selection chose: what it adds, and what it stands for."""

    rank: int = Field(ge=1, description="rank of the group that the rule describes")
    text: str = Field(description="the rule as people write it")
    share: float | None = Field(
        ge=0,
        le=1,
        description="share of the variation of rates between cells that it adds to the rules "
        "before it; null if it was found on other rows",
    )
    near_duplicates: int = Field(
        ge=0, description="groups of nearly the same rows, or nearly all others"
    )
    examples: list[str] = Field(description="the first of these, by rank")


class UnjudgedSummary(Part):
    """Who is in combinations of single values that could not be judged."""

    fewest: int = Field(ge=1, description="rows on each side of a judged group, at least")
    combinations: int = Field(ge=0, description="combinations of single values that occur")
    unjudged: int = Field(ge=0, description="those with too few rows inside or outside")
    rows: int = Field(ge=0, description="rows that are in no other combination")
    share: float = Field(ge=0, le=1, description="the same as a share of all rows")

"""The parts of a summary that say how far a finding can be trusted, and what is behind it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from testsgd.reporting.parts import Part, RuleSummary


class GuaranteeSummary(Part):
    """What the population intervals hold for."""

    kind: Literal["per-group", "simultaneous", "fdr"] = Field(
        description="for one group at a time, for all groups at once, or for those that are found"
    )
    confidence: float = Field(description="confidence with which it holds")
    method: Literal["each", "max-statistic", "bonferroni", "mixed", "false-coverage"] = Field(
        description="how the intervals were made wide enough"
    )
    groups: int = Field(ge=0, description="groups that it holds for together")
    replicates: int = Field(ge=0, description="bootstrap samples behind it; 0 if there are none")
    critical: float | None = Field(
        None, description="normal quantile that the intervals are made with; null if not one"
    )
    sure: int = Field(
        ge=0,
        description="groups that differ by more than chance explains, with that confidence: whose "
        "interval does not reach zero; for `fdr`, whose q-value is at most 1 - confidence",
    )
    sure_complete: bool = Field(description="false: there may be more, not all were looked at")
    sure_terms: int | None = Field(
        None,
        ge=0,
        description="for texts: groups whose terms make a difference by themselves, whose paired "
        "interval does not reach zero; null if nothing was compared in pairs",
    )
    surest_rank: int | None = Field(
        None, description="rank of the group whose interval lies farthest from zero; null if none"
    )


class HoldoutSummary(Part):
    """The split of the rows: groups were found on some, and estimated on the others."""

    share: float = Field(gt=0, lt=1, description="share of the rows that was held out")
    searched: int = Field(ge=0, description="rows that were searched")
    estimated: int = Field(ge=0, description="rows held out, from which all rates are")
    groups: int = Field(ge=0, description="groups that were compared in the rows searched")
    missing: int = Field(
        ge=0, description="groups found that have nobody inside or outside among the rows held out"
    )


class FoundSummary(Part):
    """How a group looked on the rows that were searched."""

    rank: int = Field(ge=1, description="its rank there")
    score: float = Field(ge=0, le=1, description="its score there, likely to be too large")
    n_in: int = Field(ge=0, description="rows in the group there")


class RuleShareSummary(Part):
    """What one rule adds to a group's difference."""

    text: str = Field(description="the rule as people write it")
    share: float = Field(description="its Shapley value; the shares add up to the difference")


class SimplestSummary(Part):
    """The fewest of a group's rules that keep at least 90% of its difference."""

    rules: list[RuleSummary] = Field(description="the rules that stay")
    text: str = Field(description="the rules as people write them")
    difference: float = Field(ge=-1, le=1, description="their difference")


class ContrastSummary(Part):
    """A feature that is not sensitive, in which a group differs from the rest."""

    feature: str = Field(description="the feature")
    value: str | None = Field(
        None, description="the value whose share differs most; null for a number"
    )
    inside: float = Field(description="mean in the group, or the value's share")
    outside: float = Field(description="the same outside")
    standardised: float = Field(description="difference in pooled standard deviations")
    known: int = Field(ge=0, description="rows in which the feature is not missing")


class ConditionalSummary(Part):
    """A group compared with others of the same mix of chosen features."""

    features: list[str] = Field(description="the features whose mix is made the same")
    difference: float = Field(ge=-1, le=1, description="rate in the group minus that of the others")
    interval: tuple[float, float] = Field(
        description="population interval for that difference, with the audit's guarantee"
    )
    covered: float = Field(
        ge=0, le=1, description="share of the group's rows that somebody outside is like"
    )
    strata: int = Field(ge=0, description="combinations of the features' values compared")


class ExplanationSummary(Part):
    """What is behind a group's difference."""

    shares: list[RuleShareSummary] = Field(
        description="what each rule adds; empty if it is not known"
    )
    simplest: SimplestSummary | None = Field(
        None, description="the fewest rules that keep 90% of it; null if it is not known"
    )
    contrasts: list[ContrastSummary] = Field(
        description="features that differ most, the largest first: leads, not causes"
    )
    conditional: ConditionalSummary | None = Field(
        None, description="compared like with like; null if not asked for, or not known"
    )

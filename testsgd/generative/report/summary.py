"""The summary of an assessment, a JSON document; its JSON Schema is generated from it."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

from testsgd.generative.outcome import Scope, Standing
from testsgd.report.blocks import PICTURE_URI, Picture
from testsgd.report.summaries import (
    NO_TRUTH_VALUE,
    Count,
    Created,
    Difference,
    Part,
    Share,
)

SCHEMA_NAME = "testsgd.generative/1"
Status = Literal["kept", "broken", "not_enough_evidence", "described"]


class ConditionSummary(Part):
    """A grouping, and the value that outputs have of it."""

    grouping: str = Field(description="name of the grouping")
    value: str = Field(description="its value")


class ValueSummary(Part):
    """How one value appears among the related outputs of a requirement."""

    name: str = Field(description="the value")
    count: Count = Field(description="related outputs that have it")
    share: Share | None = Field(description="as a share of the related outputs; null without any")
    exact_low: Share = Field(description="lower end of the exact interval (Clopper and Pearson)")
    exact_high: Share = Field(description="its upper end")
    low: Share = Field(description="lower end of the interval that is valid at any time")
    high: Share = Field(description="its upper end")
    first: Count | None = Field(description="position of its first output; null: it never appears")
    smallest_beta: Count = Field(
        description="smallest number of outputs within which it came, and came again"
    )
    beta: Count | None = Field(description="the number that is asked for; null: none")
    kept: bool | None = Field(description="whether that was kept; null: nothing is asked for")
    missed_at: Count | None = Field(description="position by which it should have come; null: none")
    asked: Count = Field(description="outputs for which it was asked")
    obeyed: Count = Field(description="those of them that had it")


class PictureSummary(Part):
    """A small picture of one output."""

    data: str = Field(description="a PNG file in base64")
    label: str = Field(description="the value that it has")
    asked: bool = Field(description="a value was asked for")

    @field_validator("data")
    @classmethod
    def _is_a_picture(cls, data: str) -> str:
        return Picture(f"{PICTURE_URI}{data}", label="").data_uri.removeprefix(PICTURE_URI)


class SequenceSummary(Part):
    """How the values of a requirement appear in a sequence of outputs."""

    name: str = Field(description="what the requirement is called")
    grouping: str = Field(description="the grouping whose values must appear")
    conditions: list[ConditionSummary] = Field(description="which outputs are related")
    scope: Scope = Field(description="all outputs, or those of neutral prompts only")
    outputs: Count = Field(description="outputs that were looked at")
    related: Count = Field(description="those that fulfil the condition and have a value")
    unrelated: Count = Field(description="those that fulfil the condition and have none")
    standing: Standing = Field(
        description="kept, broken, not enough outputs to judge, or nothing is asked for"
    )
    long_enough: bool = Field(description="more related outputs than the largest beta")
    all_appeared: bool = Field(description="every value appeared")
    values: list[ValueSummary] = Field(min_length=1, description="the values, in their order")
    difference: Difference | None = Field(description="the largest share less the smallest")
    difference_low: float = Field(description="lower end of its interval, valid at any time")
    difference_high: float = Field(description="its upper end")
    difference_bound: float | None = Field(description="what the betas allow in the long run")
    sequence: list[int] = Field(
        description="the last values in their order, from 1; negative where asked for"
    )
    pictures: list[PictureSummary] = Field(
        [], description="the first related outputs as small pictures; empty: none are shown"
    )

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        for place, value in enumerate(self.values):
            if self.related and value.share is None:
                raise ValueError(f"values.{place}.share: null, and yet there are related outputs")
        return self


class MissingSummary(Part):
    """A combination of values that no output has."""

    groupings: list[str] = Field(description="the groupings")
    values: list[str] = Field(description="the value of each")


class CurvePoint(Part):
    """How many combinations had appeared after some outputs."""

    outputs: Count = Field(description="outputs until then")
    covered: Count = Field(description="combinations that had appeared")


class CoverageSummary(Part):
    """Which combinations of values appear."""

    groupings: list[str] = Field(description="the groupings")
    strength: Count = Field(description="how many groupings a combination joins")
    conditions: list[ConditionSummary] = Field(description="which outputs are looked at")
    outputs: Count = Field(description="outputs that fulfil the condition")
    combinations: Count = Field(description="all combinations")
    covered: Count = Field(description="those that appear")
    curve: list[CurvePoint] = Field(description="how many had appeared, where that changed")
    missing: list[MissingSummary] = Field(description="the first of those that do not appear")
    least_further: Count = Field(description="outputs below which the rest cannot be covered")
    enough_further: Count | None = Field(
        description="outputs that are enough to cover the rest; null: not computed"
    )


class GenerativeSettings(Part):
    """What was asked for, besides the requirements."""

    confidence: Share = Field(description="of the intervals of one requirement together")
    neutrality: Literal["terms", "none"] = Field(description="how neutral prompts are recognised")
    groupings: dict[str, list[str]] = Field(description="the values of each grouping")


class GenerativeVerdict(Part):
    """The outcome, the same in every view."""

    status: Status = Field(description="in one word")
    exit_code: Annotated[Literal[0, 1, 3], NO_TRUTH_VALUE] = Field(
        description="what the command line leaves with"
    )
    headline: str = Field(description="the outcome, as a sentence")
    sentences: list[str] = Field(description="what to know beside it")


class GenerativeSummary(Part):
    """Everything that an assessment of a generative model finds, as one document."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Annotated[Literal["testsgd.generative/1"], NO_TRUTH_VALUE] = Field(
        "testsgd.generative/1", alias="schema", description="name and version of this format"
    )
    created: Created = Field(description="UTC time, ISO 8601; a rerun changes it; null if left out")
    versions: dict[str, str] = Field(description="of testsgd and of what it computes with")
    name: str = Field(description="what the specification is called")
    digest: str = Field(description="sha256 of the specification")
    settings: GenerativeSettings = Field(description="what was asked for")
    outputs: Count = Field(description="outputs that were read")
    several: Count = Field(description="outputs with several values of a grouping")
    unanswered: Count = Field(description="outputs about which a chat model gave no usable answer")
    prompts_known: bool = Field(description="the outputs came with their prompts")
    all_neutral: bool = Field(description="all prompts are neutral")
    sequences: list[SequenceSummary] = Field(description="one for each requirement and scope")
    before: list[SequenceSummary] = Field(
        [], description="the same requirements in an earlier assessment, to compare with"
    )
    coverage: CoverageSummary | None = Field(description="combinations; null: fewer groupings")
    verdict: GenerativeVerdict = Field(description="the outcome in words, with the exit code")

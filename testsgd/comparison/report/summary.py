"""The summary of a comparison: one JSON-able document from which every view is rendered.

The document is versioned (``testsgd.comparison/2``) and described by the JSON Schema that ships
with this module (``comparison-2.json``), which is generated from the classes below.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from testsgd.auditing.report.summary import DataSummary, ModelSummary
from testsgd.comparison.outcome import MethodSummary as MethodSummary
from testsgd.report.summaries import (
    NO_TRUTH_VALUE,
    Count,
    Created,
    Durations,
    NonNegative,
    Part,
    Share,
)

SCHEMA_NAME = "testsgd.comparison/2"


class ComparisonSettings(Part):
    """What the user asked for, and what counts as the same finding."""

    methods: list[str] = Field(description="the methods that were asked for, the audit first")
    time_limit: NonNegative | None = Field(
        description="seconds that each method but the audit might take; null for no limit"
    )
    theta: NonNegative = Field(
        description="support threshold of the audit and of methods that have one"
    )
    max_features: Count = Field(description="most features that a group is described by")
    bins: Count | None = Field(
        description="bins of every continuous sensitive feature; null: as the data set says"
    )
    confidence: Share = Field(description="of the intervals of the audit's differences")
    guarantee: Literal["per-group", "simultaneous", "fdr"] = Field(
        description="what these intervals hold for: each group alone, all groups at once, or those "
        "that are found"
    )
    rows: str | None = Field(
        None, description="the expression that the rows satisfy that were looked at; null for all"
    )
    seed: Count = Field(description="seed of every random choice")
    matching_similarity: Share = Field(
        description="Jaccard's index of the rows from which a finding is another method's too"
    )
    duplicate_similarity: Share = Field(
        description="Jaccard's index from which two findings of one method are one"
    )


class ComparisonVerdict(Part):
    """The outcome, the same in every view."""

    status: Literal["compared"] = Field(description="the outcome in one word")
    exit_code: Annotated[Literal[0], NO_TRUTH_VALUE] = Field(
        description="what the command line leaves with"
    )
    headline: str = Field(description="the outcome, as a sentence")
    sentences: list[str] = Field(description="what qualifies it")


class ComparisonSummary(Part):
    """Everything a comparison did and found, as one document."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Annotated[Literal["testsgd.comparison/2"], NO_TRUTH_VALUE] = Field(
        "testsgd.comparison/2", alias="schema", description="name and version of this format"
    )
    created: Created = Field(
        description="UTC time, ISO 8601; a rerun changes it and the seconds; null if left out"
    )
    settings: ComparisonSettings = Field(description="what was asked for")
    versions: dict[str, str] = Field(description="of testsgd and of what it computes with")
    data: DataSummary = Field(description="the rows")
    model: ModelSummary = Field(description="the model that all methods asked")
    mode: Literal["exact", "sampled"] = Field(description="how the audit found its rates")
    overall_rate: Share = Field(
        description="rate of the favourable label among the rows as they are"
    )
    methods: list[MethodSummary] = Field(description="one after another, the audit first")
    verdict: ComparisonVerdict = Field(description="the outcome in words, with the exit code")
    seconds: Durations = Field(description="wall-clock seconds of each phase")

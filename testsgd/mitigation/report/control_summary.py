"""How control effects, of terms against neutral words, stand in the summary of a mitigation."""

from __future__ import annotations

from pydantic import Field

from testsgd.mitigation.report.samples_summary import SamplesSummary
from testsgd.report.summaries import (
    Count,
    Difference,
    Interval,
    Part,
    Share,
)


class ControlFigure(Part):
    """A control effect of one model: the difference nearest to zero of those from each control."""

    difference: Difference = Field(description="rate with the term less rate with the control")
    confidence_interval: Interval = Field(
        description="all that the intervals of the controls allow; the intervals of all control "
        "effects hold at once, by Bonferroni's inequality"
    )


class ControlChange(Part):
    """A control effect on the held-out texts, by both models."""

    category: str = Field(description="the category")
    term: str | None = Field(description="the term; null: whichever terms the texts have")
    text: str = Field(description="what is compared, in words")
    texts: Count = Field(description="held-out texts that were compared")
    controls: list[str] = Field(description="what stands in place of the terms; empty: nothing")
    before: ControlFigure = Field(description="by the original model")
    after: ControlFigure | None = Field(
        description="by the model that was written; null if the original is kept"
    )
    change: Difference | None = Field(description="the second less the first")
    change_interval: Interval | None = Field(
        description="of the change, each text compared with itself, over all controls"
    )


class ControlTargetSummary(Part):
    """A control effect that was countered, besides the groups."""

    category: str = Field(description="the category")
    term: str | None = Field(description="the term; null: whichever terms the texts have")
    text: str = Field(description="what is compared, in words")
    effect: float = Field(description="of the original model, on texts that are not held out")
    lower_confidence_bound: float = Field(description="of its size there")
    held_out: ControlChange | None = Field(
        description="on the held-out texts; null if they are too few"
    )
    samples: list[SamplesSummary] = Field(
        description="what was generated; none for a term if the samples of its category stand for "
        "it too"
    )


class ControlChangesSummary(Part):
    """What terms change against neutral words, before and after."""

    confidence: Share | None = Field(
        description="of each interval on held-out texts; null if they are too few"
    )
    effects: Count = Field(description="control effects that were measured on held-out texts")
    decides: bool = Field(
        description="true: the verdict goes by the first target, as it is larger than what any "
        "terms change against one another, and no group was asked for"
    )
    targets: list[ControlTargetSummary] = Field(
        description="the significant ones, which are part of the objective; categories first"
    )
    largest_before: ControlChange | None = Field(description="the largest of the original model")
    largest_after: ControlChange | None = Field(
        description="the largest of the model that was written; null if the original is kept"
    )

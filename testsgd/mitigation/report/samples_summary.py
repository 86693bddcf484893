"""How the samples of a mitigation stand in its summary."""

from __future__ import annotations

from pydantic import Field

from testsgd.mitigation.parameters import Kind, Side
from testsgd.report.summaries import (
    Count,
    NonNegative,
    Part,
    Positive,
)


class SamplesSummary(Part):
    """The samples that were generated for one target, in one run."""

    run: Positive = Field(description="which run")
    kind: Kind = Field(
        description="how they were chosen: as the original model labels them; by its chance of "
        "the counter label; or as drawn, with what it says moved towards that label"
    )
    side: Side = Field(description="whose members the samples are")
    label: str = Field(description="the counter label: all but anchors carry it")
    seeds: Count = Field(description="training rows of that side, which the samples are drawn from")
    drawn: Count = Field(description="samples drawn; repetitions count")
    distinct: Count = Field(description="different ones among them")
    counter_labelled: Count = Field(description="those the original model gives the counter label")
    relabelled: Count = Field(
        description="of those added: given another label by the original model"
    )
    anchors: Count = Field(
        description="of those added: keep the other label, as the original model has it"
    )
    added: Count = Field(description="samples in the training of the model that the run chose")
    weight: NonNegative = Field(description="how much each counted beside a training row")

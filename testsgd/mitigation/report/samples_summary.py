"""How the samples of a mitigation stand in its summary."""

from __future__ import annotations

from pydantic import Field

from testsgd.mitigation.parameters import Kind, Side
from testsgd.report.summaries import Part


class SamplesSummary(Part):
    """The samples that were generated for one target, in one run."""

    run: int = Field(ge=1, description="which run")
    kind: Kind = Field(
        description="how they were chosen: as the original model labels them; by its chance of "
        "the counter label; or as drawn, with what it says moved towards that label"
    )
    side: Side = Field(description="whose members the samples are")
    label: str = Field(description="the counter label: all but anchors carry it")
    seeds: int = Field(description="training rows of that side, which the samples are drawn from")
    drawn: int = Field(description="samples drawn; repetitions count")
    distinct: int = Field(description="different ones among them")
    counter_labelled: int = Field(description="those the original model gives the counter label")
    relabelled: int = Field(description="of those added: given another label by the original model")
    anchors: int = Field(
        description="of those added: keep the other label, as the original model has it"
    )
    added: int = Field(description="samples in the training of the model that the run chose")
    weight: float = Field(description="how much each counted beside a training row")

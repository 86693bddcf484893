"""The summary of a frontier: one JSON-able document from which every view is rendered.

The document is versioned (``testsgd.frontier/1``) and described by the JSON Schema that ships with
this module (``frontier-1.json``), which is generated from the classes below.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from testsgd.auditing.report.summary import DataSummary
from testsgd.mitigation.frontiers.parameters import FrontierParameters
from testsgd.mitigation.report.summary import SideEffectsSummary
from testsgd.report.summaries import (
    NO_TRUTH_VALUE,
    Count,
    Created,
    Difference,
    Durations,
    Interval,
    NonNegative,
    Part,
    Share,
)

SCHEMA_NAME = "testsgd.frontier/1"

Status = Literal[
    "fairer",
    "no_group",
    "no_point",
    "accuracy_lost",
    "accuracy_unclear",
    "no_better_than_constant",
    "side_effect",
    "rose",
    "not_certain",
]


class FrontierModel(Part):
    """The model that is compared with, as it was given."""

    name: str = Field(description="what it is called")
    kind: str = Field(description="what it is, in words")
    refitted: bool = Field(
        description="true: figures before are of the same fitted anew to the rows that were seen, "
        "as the original may have learnt from the held-out ones"
    )
    fitting: str = Field(description="how it is fitted again, in words")


class FrontierSplit(Part):
    """Which rows are for what."""

    seen: Count = Field(description="rows that models are fitted to and chosen by")
    held_out: Count = Field(description="rows that are looked at once, at the end")
    source: str = Field(description="how the split was found, in words")
    seed: Count | None = Field(
        None,
        description="the random state of scikit-learn's train_test_split, which holds out a fifth "
        "of the rows and keeps the labels' shares; null if it is not known",
    )
    held_out_sha256: str = Field(
        "",
        description="of the places of the held-out rows among all rows, from 0 and ascending, as "
        "little-endian 64-bit integers; empty if it is not known",
    )
    warning: str = Field("", description="what is doubtful about it; empty if nothing is")


class AccuracySummary(Part):
    """The accuracy of a model on the held-out rows, beside that of the original."""

    accuracy: Share = Field(description="share of right decisions")
    balanced: Share = Field(description="mean of the shares of right decisions by label")
    drop: float = Field(description="how much lower the accuracy is; below 0 it is a gain")
    drop_interval: Interval = Field(
        description="of that, each row compared with itself (Tango's score interval)"
    )
    balanced_drop: float = Field(description="how much lower the balanced accuracy is")
    balanced_drop_interval: Interval = Field(description="of that (Wald's)")


class WorstOfGroups(Part):
    """The worst difference of all groups."""

    difference: Difference = Field(description="with its sign; 0 if no group is compared")
    rate: str = Field(description="of which rate it is; empty if no group is compared")
    group: str = Field(description="the group's rules; empty if no group is compared")

    @property
    def size(self) -> float:
        """The difference without its sign."""
        return abs(self.difference)

    @property
    def known(self) -> float | None:
        """The difference with its sign; None if no group is compared."""
        return self.difference if self.group else None


class ExpectedSummary(Part):
    """What was expected of a point, by rows that its models were not fitted to."""

    accuracy_drop: float = Field(description="how much lower the accuracy is")
    accuracy_drop_error: NonNegative = Field(description="the standard error of that")
    balanced_drop: float = Field(description="how much lower the balanced accuracy is")
    worst_before: Difference = Field(description="worst difference by the original, with its sign")
    worst_after: Difference = Field(description="worst difference at this point, with its sign")


class PointSummary(Part):
    """A point of the frontier, on the held-out rows."""

    strength: NonNegative = Field(
        description="what a difference of 1 costs, in errors of all rows; of thresholds: the share "
        "of rows whose label may be missed besides"
    )
    kind: str = Field(description="what the model is, in words")
    expected: ExpectedSummary = Field(description="what the point was chosen by")
    accuracy: AccuracySummary = Field(description="on the held-out rows")
    worst: WorstOfGroups = Field(description="there")


class SidesSummary(Part):
    """A rate of a group and of its complement on the held-out rows."""

    text: str = Field(description="the group's rules")
    rate: str = Field(description="which rate")
    rows: tuple[Count, Count] = Field(description="rows in the group and in its complement")
    base_rates: tuple[Share, Share] = Field(description="share with the favourable label")
    before: tuple[Share, Share] = Field(description="the rates by the original")
    after: tuple[Share, Share] = Field(description="the rates at the chosen point")


class FrontierVerdict(Part):
    """The outcome, the same in every view."""

    status: Status = Field(description="the outcome in one word")
    exit_code: Annotated[Literal[0, 1, 3], NO_TRUTH_VALUE] = Field(
        description="what the command line leaves with"
    )
    headline: str = Field(description="the outcome, as a sentence")
    sentences: list[str] = Field(description="what qualifies it")


class FrontierSummary(Part):
    """Everything a frontier is found to be, as one document."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Annotated[Literal["testsgd.frontier/1"], NO_TRUTH_VALUE] = Field(
        "testsgd.frontier/1", alias="schema", description="name and version of this format"
    )
    created: Created = Field(
        description="UTC time, ISO 8601; a rerun changes it and the seconds; null if left out"
    )
    settings: FrontierParameters = Field(description="what was asked for")
    method: Literal["play", "thresholds", "penalty", "ensemble"] = Field(
        description="the method that was used"
    )
    versions: dict[str, str] = Field(description="of testsgd and of what it computes with")
    data: DataSummary = Field(description="the rows")
    split: FrontierSplit = Field(description="which rows are for what")
    original: FrontierModel = Field(description="the model that was given")
    tried: Count = Field(description="strengths that were tried")
    depth: Count = Field(description="rules that a group has at most")
    groups: Count = Field(
        description="groups of the held-out rows that are compared, once for each rate"
    )
    before: AccuracySummary = Field(description="the original on the held-out rows")
    worst_before: WorstOfGroups = Field(description="of the original there")
    worst_change: tuple[float, float] | None = Field(
        description="interval of the change of the worst difference's size, from bootstrap samples "
        "that each find their largest ones; null if no point was chosen"
    )
    constant_accuracy: Share = Field(description="of the best model that says the same of all")
    points: list[PointSummary] = Field(
        description="the strengths that no other beats in what is expected of both accuracy and "
        "worst difference, those that lose least accuracy first"
    )
    chosen: Count | None = Field(
        description="index of the point that is written; it was chosen without the held-out rows"
    )
    reason: str = Field("", description="why there is none; empty if there is one")
    too_few_rows: bool = Field(
        False,
        description="whether there is none because too few of the rows that are not held out could "
        "be judged by",
    )
    neighbourhood: tuple[float, float] | None = Field(
        None,
        description="the worst difference over each row's neighbours (steps of features that are "
        "not sensitive), by the original and at the chosen point; null if it was not measured",
    )
    effects: SideEffectsSummary | None = Field(
        description="what the chosen point does to all groups, small ones too"
    )
    paying: list[SidesSummary] = Field(
        default_factory=list, description="the groups that are worst before and after"
    )
    ceiling: list[PointSummary] = Field(
        default_factory=list,
        description="thresholds for each combination of sensitive values, of the original's "
        "scores: about what these scores allow at most",
    )
    verdict: FrontierVerdict = Field(description="the outcome in words, with the exit code")
    seconds: Durations = Field(description="wall-clock seconds of each phase")

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        points = len(self.points)
        if self.chosen is not None and self.chosen >= points:
            raise ValueError(f"chosen: {self.chosen} is no index of {points} points")
        return self

    @property
    def point(self) -> PointSummary | None:
        """The point that is written."""
        return None if self.chosen is None else self.points[self.chosen]

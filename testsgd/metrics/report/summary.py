"""The summary of an audit of metrics: one document; ``metrics-1.json`` is made from it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field, model_validator

from testsgd.auditing.explaining import CorrelatedFeature
from testsgd.auditing.findings import Holdout, UnestimatedGroup
from testsgd.auditing.report.further_looks import FinerSummary
from testsgd.auditing.report.summary import (
    DataSummary,
    UnjudgedSummary,
    UnknownCategories,
)
from testsgd.auditing.report.wording import DISAGREEMENT
from testsgd.metrics.definitions import Better, Scale
from testsgd.metrics.parameters import MetricParameters
from testsgd.report.summaries import (
    NO_TRUTH_VALUE,
    Count,
    Created,
    Durations,
    Part,
    Positive,
    RuleSummary,
    Share,
    check_equal_lengths,
)

SCHEMA_NAME = "testsgd.metrics/1"


class AddedByRule(Part):
    """What one rule of a group adds to its difference."""

    text: str = Field(description="the rule as people write it")
    value: float = Field(
        description="Shapley value: what it adds to the difference of the values; all add up to it"
    )


class SimplestRules(Part):
    """The fewest of a group's rules that keep at least 90% of its difference."""

    rules: list[RuleSummary] = Field(description="the rules that stay")
    text: str = Field(description="the rules as people write them")
    difference: float = Field(description="their difference of the values")


class AlikeSummary(Part):
    """A metric of a group beside that of others with the same mix of chosen features."""

    features: list[str] = Field(description="the features whose mix is made the same")
    value: float = Field(description="the metric in the part of the group that others are like")
    reference_value: float = Field(description="the metric of the others, in the group's mix")
    effect: float | None = Field(
        description="the difference, or the ratio, of the two; null for a ratio to zero"
    )
    confidence_interval: tuple[float, float | None] = Field(
        description="of the effect, with the audit's guarantee; null: no upper end"
    )
    covered: float = Field(
        ge=0, le=1, description="share of what the metric counts in the group that others are like"
    )
    strata: Count = Field(description="combinations of the features' values compared")


class MetricExplanation(Part):
    """What makes up a group's difference in a metric, and what goes with it."""

    shapley_values: list[AddedByRule] = Field(
        description="what each rule adds to the difference of the values: from that of the "
        "complement if the reference is rest, and else from that of all rows"
    )
    simplest: SimplestRules = Field(description="the fewest rules that keep 90% of it")
    correlated_features: list[CorrelatedFeature] = Field(
        description="features in which it differs most, the largest first; not causes"
    )
    alike: AlikeSummary | None = Field(
        description="compared like with like; null if not asked for, or not known"
    )


class SearchedGroupSummary(Part):
    """A group in the rows searched, before it was estimated on the others."""

    rank: Positive = Field(description="its rank there")
    effect: float | None = Field(description="its effect there, larger by the selection")
    counted: Count = Field(description="rows that the metric counts in it there")


class ComparedGroup(Part):
    """A group, and a metric of it beside that of its reference."""

    rank: Positive = Field(description="place in the ranking of the metric")
    text: str = Field(description="the rules as people write them")
    rules: list[RuleSummary] = Field(description="the rules, at most one a feature; all hold")
    rows: Count = Field(description="rows in the group")
    counted: Count = Field(description="those that the metric counts")
    value: float = Field(description="the metric in the group")
    reference: str = Field(description="what the group is compared with")
    reference_rules: list[RuleSummary] = Field(
        default_factory=list, description="the rules of that, if it is one group"
    )
    reference_counted: Count = Field(description="rows of the reference that the metric counts")
    reference_value: float = Field(description="the metric in the reference")
    base_rate: float | None = Field(
        None,
        description="of a selection rate: share of favourable true labels in the group; null if "
        "not known",
    )
    reference_base_rate: float | None = Field(None, description="the same in the reference")
    effect: float | None = Field(
        description="the difference, or the ratio, of the two; null for a ratio to zero"
    )
    confidence_interval: tuple[float, float | None] = Field(
        description="of the effect in the population; null: a ratio without an upper end"
    )
    lower_confidence_bound: float = Field(
        ge=0,
        description="smallest size of the effect within the interval, 0 if that holds no effect; "
        "the size of a ratio is 1 minus the smaller value over the larger",
    )
    significant: bool = Field(description="whether the interval leaves out that there is no effect")
    distinct: bool = Field(
        description="shown first: the first of all, and at most five more that differ "
        "significantly and share at most half of the rows of the smaller one with each before"
    )
    explanation: MetricExplanation | None = Field(
        description="what makes up the difference; null but for the first distinct groups"
    )
    stability: float | None = Field(
        ge=0,
        le=1,
        description="share of bootstrap samples in which it, or a near copy, is among the first "
        "ten groups, near copies left out, again; null if it is not here, or not looked at",
    )
    in_search: SearchedGroupSummary | None = Field(
        description="the group in the rows searched; null without a holdout"
    )

    def mask(self, data: Any) -> NDArray[np.bool_]:
        """Return which rows of a table are in the group.

        Parameters
        ----------
        data : data frame, n rows
            A pandas, polars or Arrow table with a column for each feature of the rules, its values
            as the audit calls them. Where rare values were joined, :meth:`MetricsResult.mask` knows
            which.

        Returns
        -------
        numpy.ndarray of bool, shape (n,)
            True for rows that satisfy every rule. A missing cell satisfies the value "missing" and
            no other one, and lies in no interval; an interval holds its lower end.

        Raises
        ------
        DataError
            If a column is missing, or has texts where a rule is about numbers.

        Examples
        --------
        >>> import pandas as pd
        >>> import testsgd
        >>> people = pd.DataFrame({"sex": ["f", "f", "m"] * 100})
        >>> said = ["yes", "no", "yes"] * 100
        >>> result = testsgd.audit_metrics(said, sensitive_features=people)
        >>> [first, *_] = result.summary.metrics[0].groups
        >>> people[first.mask(people)]["sex"].unique().tolist()
        ['f']
        """
        # Loaded by those who ask, not by every command.
        from testsgd.auditing.report.membership import rules_mask

        return rules_mask(self.rules, data)


class MetricUnjudged(Part):
    """Of the rows that a metric counts, those whose sensitive values no judged group isolates."""

    share: Share = Field(description="their share of the rows that it counts")
    features: list[str] = Field(
        description="sensitive features that no group could be described by: none of their values "
        "or ranges has enough of these rows inside and outside"
    )
    uncounted: list[str] = Field(
        default_factory=list,
        description="groups with enough rows of which the metric counts too few",
    )
    uncounted_share: Share = Field(0.0, description="their share of all rows")


class MetricSummary(Part):
    """One metric, and the groups that differ in it."""

    name: str = Field(description="the metric")
    title: str = Field(description="its name for people")
    scale: Scale = Field(description="a share of rows, a mean of shares, or a number of any size")
    better: Better = Field(
        "neither", description="which of its values are better for people; zero: those nearer to 0"
    )
    overall: float = Field(description="the metric of all rows")
    counted: Count = Field(description="rows that it counts")
    judged: Count = Field(description="groups with enough rows that it counts")
    significant: Count = Field(description="those that differ significantly")
    error: float = Field(ge=0, le=1, description="two-sided error rate of each interval")
    largest: float | None = Field(description="largest size of an effect; null if none is judged")
    largest_bound: float | None = Field(
        description="largest lower confidence bound of the size; null if no group is judged"
    )
    largest_allowed: float | None = Field(
        description="largest size of an effect that an interval still allows; null without a gate"
    )
    unestimated: UnestimatedGroup | None = Field(
        None,
        description="the group of the rows held out that differs most of those that were not "
        "estimated; null without a holdout and a gate",
    )
    unjudged: MetricUnjudged | None = Field(
        None, description="who could not be judged by it; null unless the audit is strict"
    )
    finer: FinerSummary | None = Field(
        None, description="groups by finer cuts of numbers; null if there are none"
    )
    within_bins: list[str] = Field(
        default_factory=list,
        description="sensitive numbers within whose bins nothing was looked for",
    )
    groups: list[ComparedGroup] = Field(description="the first groups by rank, distinct ones too")

    @property
    def speaks_first(self) -> FinerSummary | None:
        """The finding of the finer cuts if it is larger than that of the search; else None."""
        finer = self.finer
        if finer is None or not finer.lower_confidence_bound:
            return None
        # What fits the differences of chance a little better is no other finding.
        over_all = self.largest_bound or 0.0
        return finer if finer.lower_confidence_bound > over_all + DISAGREEMENT else None


class ValueOfGroup(Part):
    """A metric of a group, in the table of groups by metrics."""

    metric: str = Field(description="the metric")
    value: float | None = Field(description="its value; null if no row counts")
    effect: float | None = Field(description="the difference or ratio; null if not judged")
    significant: bool = Field(description="whether that is statistically significant")


class GroupByMetrics(Part):
    """A group with all metrics."""

    text: str = Field(description="the rules as people write them")
    rows: Count = Field(description="rows in the group")
    metrics: list[ValueOfGroup] = Field(description="one of each metric")


class MetricDifference(Part):
    """A group in one of several metrics, beside its reference."""

    metric: str = Field(description="the metric")
    text: str = Field(description="the rules as people write them")
    rules: list[RuleSummary] = Field(description="the rules, at most one a feature; all hold")
    value: float = Field(description="the metric in the group")
    reference: str = Field(description="what the group is compared with")
    reference_rules: list[RuleSummary] = Field(
        default_factory=list, description="the rules of that, if it is one group"
    )
    reference_value: float = Field(description="the metric in the reference")
    effect: float | None = Field(
        description="the difference, or the ratio, of the two; null for a ratio to zero"
    )
    confidence_interval: tuple[float, float | None] = Field(
        description="of the effect; null: a ratio without an upper end"
    )
    lower_confidence_bound: float = Field(
        ge=0, description="smallest size of the effect within the interval"
    )


class ValueOfCell(Part):
    """A metric of the rows that have one value of a sensitive feature."""

    metric: str = Field(description="the metric")
    counted: Count = Field(description="rows of the value that it counts")
    value: float | None = Field(
        description="the metric of these rows; null if it counts fewer than five"
    )
    confidence_interval: tuple[float, float] | None = Field(
        description="of the value, by itself; null if the value is"
    )


class CellMetrics(Part):
    """One value or bin of a sensitive feature with all metrics."""

    label: str = Field(description="the value or bin")
    n: Count = Field(description="rows that have it")
    metrics: list[ValueOfCell] = Field(description="one of each metric")


class FeatureMetrics(Part):
    """The metrics of each value of one sensitive feature."""

    feature: str = Field(description="the sensitive feature")
    cells: list[CellMetrics] = Field(description="its values, or its bins")


class JointSummary(Part):
    """Several metrics under one name, of whose differences the larger counts."""

    name: str = Field(description="the joint name, such as equalized_odds")
    metrics: list[str] = Field(description="the metrics")
    metric: str | None = Field(
        description="the metric in which a judged group differs most; null if none is judged"
    )
    group: str | None = Field(description="that group")
    effect: float | None = Field(description="its effect")
    lower_confidence_bound: float | None = Field(
        description="the largest lower bound of all judged groups in these metrics, perhaps of "
        "another group"
    )
    largest: MetricDifference | None = Field(
        None, description="the group that differs most, with its interval; null if none is judged"
    )
    most_certain: MetricDifference | None = Field(
        None, description="the group of the largest lower bound; null if none is judged"
    )


class AskedModel(Part):
    """The model that was asked for the predictions."""

    name: str = Field(description="what it is called")
    file_sha256: str | None = Field(description="of its file; null if it is in none")
    queries: Count = Field(description="rows that it was asked about")
    unknown_categories: list[UnknownCategories] = Field(
        default_factory=list,
        description="values that its encoders were not fitted to, by columns; empty if there are "
        "none, or no encoder can be read",
    )


class MetricsVerdict(Part):
    """The outcome, the same in every view."""

    status: Literal["reported", "gate_passed", "gate_failed", "not_enough_evidence"] = Field(
        description="the outcome in one word"
    )
    exit_code: Annotated[Literal[0, 1, 3], NO_TRUTH_VALUE] = Field(
        description="what the command line leaves with"
    )
    headline: str = Field(description="the outcome, as a sentence")
    sentences: list[str] = Field(description="what qualifies it")


class MetricsSummary(Part):
    """Everything an audit of metrics found, as one document."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Annotated[Literal["testsgd.metrics/1"], NO_TRUTH_VALUE] = Field(
        "testsgd.metrics/1", alias="schema", description="name and version of this format"
    )
    created: Created = Field(
        description="UTC time, ISO 8601; a rerun changes it and `seconds`; null if left out"
    )
    parameters: MetricParameters = Field(description="what was asked for")
    versions: dict[str, str] = Field(description="of testsgd and of what it computes with")
    data: DataSummary = Field(description="the rows")
    model: AskedModel | None = Field(None, description="null if the predictions were given")
    predictions: Literal["decisions", "scores", "numbers"] = Field(
        description="what the predictions are"
    )
    threshold: float | None = Field(description="above it a number counts as favourable")
    weighted: bool = Field(description="whether rows have weights")
    groups_compared: Count = Field(description="groups with enough rows")
    replicates: Count = Field(description="bootstrap samples behind the intervals; 0 if none")
    metrics: list[MetricSummary] = Field(description="one after another, as asked for")
    groups: list[GroupByMetrics] = Field(description="the first groups of each metric, by all")
    features: list[FeatureMetrics] = Field(
        default_factory=list, description="all metrics of each value of each sensitive feature"
    )
    stability_samples: Count = Field(description="bootstrap samples behind each `stability`")
    holdout: Holdout | None = Field(description="how the rows were split; null if not")
    joint: list[JointSummary] = Field(description="joint metrics that were asked for")
    unjudged: UnjudgedSummary = Field(description="who could not be judged")
    verdict: MetricsVerdict = Field(description="the outcome in words, with the exit code")
    seconds: Durations = Field(description="wall-clock seconds of each phase")

    def metric(self, name: str) -> MetricSummary:
        """Return the summary of a metric."""
        return next(metric for metric in self.metrics if metric.name == name)

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if self.parameters.max_features is None:
            raise ValueError("parameters.max_features: null, and yet groups were searched")
        for place, group in enumerate(self.groups):
            check_equal_lengths({"metrics": self.metrics, f"groups.{place}.metrics": group.metrics})
        if self.parameters.measure == "difference":
            self._check_ends()
        return self

    def _check_ends(self) -> None:
        """Raise a ValueError if a difference has no upper end: only ratios may have none."""
        for place, metric in enumerate(self.metrics):
            for index, group in enumerate(metric.groups):
                if group.confidence_interval[1] is None:
                    raise ValueError(
                        f"metrics.{place}.groups.{index}.confidence_interval: a difference has "
                        "an upper end"
                    )

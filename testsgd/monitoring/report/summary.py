"""The summary of a monitor, a JSON document; ``schemas/monitoring-2.json`` is generated from it."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from testsgd.fairness.wording import CountedProperty
from testsgd.monitoring.trials import Unit
from testsgd.report.summaries import (
    NO_TRUTH_VALUE,
    Count,
    Created,
    ExactNumber,
    NonNegative,
    Part,
    Share,
)

SCHEMA_NAME = "testsgd.monitoring/2"
Rule = Literal["estimate", "evidence"]
Standing = Literal["beyond", "within", "undecided"]
Status = Literal["alert_raised", "within", "not_enough_evidence"]


class ConditionSummary(Part):
    """A field, and the value of it within which groups are compared."""

    field: str = Field(description="name of the field")
    value: str = Field(description="its value")


class MonitorSettings(Part):
    """What was asked for, besides the properties."""

    groups: list[str] | None = Field(description="the groups; null: found as they came")
    unknown: Literal["refuse", "pass"] = Field(description="what happens to other groups")
    others: Literal["refuse", "ignore"] = Field(description="what happens to other events")
    deadline: NonNegative | None = Field(description="seconds until a label is late; null: never")
    lateness: NonNegative | None = Field(
        None, description="seconds events may be late; null: untimed"
    )
    max_skew: NonNegative | None = Field(
        None, description="seconds events may be ahead; null: untimed"
    )
    unit_declared: bool = Field(False, description="the unit of time was declared, not found out")
    without_label: Annotated[Literal[0, 1, "drop"], NO_TRUTH_VALUE] = Field(
        description="taken for a label that never came"
    )
    count: Literal["deadline", "known"] = Field(description="when a labelled trial is counted")
    decision_deadline: NonNegative | None = Field(
        None, description="seconds until a decision is late; null: never"
    )
    without_decision: Literal["refused", "dropped"] = Field(
        "refused", description="what a trial is if its decision never came in time"
    )
    repeated: Literal["ignore", "new"] = Field(description="an id that comes again")
    window: Literal["all", "tumbling", "sliding"] = Field(description="which trials are compared")
    window_trials: Count | None = Field(description="length of a window in trials")
    window_seconds: NonNegative | None = Field(description="length of a window in seconds")
    prior: str = Field(
        description='rate before anything is counted: a fraction, "overall", or a field / a field'
    )
    strength: ExactNumber = Field(description="trials that the prior counts for, as a fraction")
    confidence: Share = Field(description="of everything together that is said by evidence")
    groups_when: list[str] | None = Field(
        None, description="the expression of each group; null: a field says the group"
    )
    decision_when: str | None = Field(
        None, description="the expression that is a favourable decision; null: a field says it"
    )
    label_when: str | None = Field(
        None, description="the expression that is a positive label; null: a field says it"
    )


class StreamSummary(Part):
    """What came, and what became of it."""

    events: Count = Field(description="events that were taken")
    refused: Count = Field(description="events that were wrong and changed nothing")
    ignored: Count = Field(description="events that play no part")
    repeated: Count = Field(description="events that only say what was known")
    unknown: Count = Field(description="decisions on groups that are not known")
    late: Count = Field(description="labels and decisions that came after their deadline")
    decided: Count = Field(description="trials with a decision")
    open: Count = Field(description="trials that still wait for something")
    dropped: Count = Field(description="trials that their deadline ended before all was known")
    dropped_counted: Count = Field(
        0, description="of them those that a property with favourable_within had counted before"
    )
    uncompared: Count = Field(description="trials beyond 1,000 combinations of given values")
    without_decision: Count = Field(
        0, description="decided trials without a decision in time, which is a refusal"
    )
    decided_after_later: Count = Field(
        0, description="trials counted as decided after others that were decided later"
    )
    complete_after_later: Count = Field(
        0, description="trials counted as complete after others that were complete later"
    )
    favourable: Count = Field(0, description="decided trials with a favourable decision")
    labelled: Count = Field(0, description="trials that ended with a label")
    positive: Count = Field(0, description="trials that ended with a positive label")
    unnamed_decisions: list[str] = Field(
        default_factory=list,
        description="values of the decision's field in this run that no expression names, the "
        "first 20; all are decided alike",
    )
    unnamed_decisions_left_out: Count = Field(0, description="further ones that are not listed")
    dead_letters_unit: Count = Field(0, description="dead letters: in another unit of time")
    dead_letters_ahead: Count = Field(0, description="dead letters: events too far ahead in time")
    dead_letters_late: Count = Field(0, description="dead letters: events that came too late")
    dead_letters_wrong: Count = Field(0, description="dead letters: wrong when confirmed in time")
    dead_letters_this_run: Count = Field(0, description="those dead letters that came in this run")
    waiting: Count = Field(0, description="events that wait for others to confirm their time")
    clock_set: Count = Field(
        0, description="how often the clock was set again, for most recent events were dropped"
    )
    clock_before: float | None = Field(None, description="time before that, the last time; seconds")
    clock_to: float | None = Field(None, description="time that the clock was set to; seconds")
    clock_dropped: Count = Field(0, description="dead letters that led to that, of all times")
    unit: Unit | None = Field(None, description="unit of time; own: of the stream's own clock")
    first_time: float | None = Field(description="time of the first event, in seconds")
    time: float | None = Field(description="time of the last event, in seconds")
    resumed: bool = Field(description="true: the monitor went on from a state that was saved")


class PriorSummary(Part):
    """What is believed of the rate of a group before anything is seen of it."""

    group: str | None = Field(description="the group; null: all for which nothing else is said")
    prior: str = Field(description="as in the settings")
    strength: ExactNumber = Field(description="as in the settings")


class PropertySummary(CountedProperty):
    """What is compared, and when that is an alert."""

    name: str = Field(description="what the property is called here")
    bound: float = Field(description="a bias above this is an alert")
    condition_on: list[str] = Field(description="fields whose values must be equal to be compared")
    rule: Rule = Field(description="alerts are raised by the estimate, or by evidence")
    check: Literal["every", "end", "period"] = Field(
        description="judged after every trial, or when a window or a period ends"
    )
    period: float | None = Field(None, description="length of a period in seconds; null: none")
    favourable_within: float | None = Field(
        None, description="seconds from the first event to a favourable decision; null: any number"
    )
    priors: list[PriorSummary] = Field(
        [], description="what is believed of its rates; empty: what the settings say"
    )


class AlertedGroupSummary(Part):
    """A group when an alert was raised or cleared."""

    name: str = Field(description="the group")
    numerator: Count = Field(description="counted above the line of its rate")
    denominator: Count = Field(description="counted below it")
    rate: Share | None = Field(description="one over the other; null if nobody was counted")
    estimate: Share | None = Field(description="the rate with the prior; null if there is none")


class AlertSummary(Part):
    """An alert that was raised or cleared."""

    alert: Literal["raised", "cleared"] = Field(description="which of the two")
    id: str = Field("", description="the same if the same monitor sees the same events again")
    property: str = Field(description="name of the property")
    conditions: list[ConditionSummary] = Field(description="within which values")
    rule: Rule = Field(description="by the estimate, or by evidence")
    window: Count | None = Field(description="number of the tumbling window, from 0; null: none")
    trials: Count = Field(description="trials that were counted; in the window, if there is one")
    time: float | None = Field(description="time of the event, in seconds")
    time_iso: str | None = Field(None, description="the same in ISO 8601; null: no date")
    bias: float = Field(description="bias by the estimate")
    bias_exact: ExactNumber = Field(description="the same as a fraction")
    low: float | None = Field(description="lower end of the interval by evidence")
    high: float | None = Field(description="its upper end")
    bound: NonNegative = Field(description="what the bias is compared with")
    highest: str = Field(description="the group with the highest rate")
    lowest: str = Field(description="the group with the lowest rate")
    groups: list[AlertedGroupSummary] = Field([], description="all groups that were compared")


class MonitoredGroup(AlertedGroupSummary):
    """A group within a comparison."""

    low: float | None = Field(description="lower end of the rate's interval, for this group alone")
    high: float | None = Field(description="its upper end")


class CoursePoint(Part):
    """A moment of the stream."""

    trials: Count = Field(description="trials that were counted until then")
    time: float | None = Field(description="time of the event, in seconds")
    estimates: list[float | None] = Field(description="estimated rates, one a group in their order")
    bias: float = Field(description="bias by the estimate")


class WindowSummary(Part):
    """A tumbling window that was judged."""

    window: Count = Field(description="its number, from 0")
    trials: Count = Field(description="trials that were counted in it")
    bias: float = Field(description="bias as observed")
    estimate: float = Field(description="bias by the estimate")
    above: bool = Field(description="true: the estimate is above the bound")


class MonitoredComparison(Part):
    """One property within one combination of given values."""

    property: str = Field(description="name of the property")
    conditions: list[ConditionSummary] = Field(description="within which values")
    standing: Standing = Field(
        description="evidence: the bias is above the bound, is not, or neither is known; "
        "estimate: the alert holds, does not, or there is nothing to compare"
    )
    trials: Count = Field(description="trials that were counted")
    bias: float = Field(description="bias as observed, without the prior")
    bias_exact: ExactNumber = Field(description="the same as a fraction")
    estimate: float = Field(description="bias of the estimated rates")
    estimate_exact: ExactNumber = Field(description="the same as a fraction")
    low: float | None = Field(description="lower end of the interval of the bias by evidence")
    high: float | None = Field(description="its upper end")
    highest: str | None = Field(description="the group with the highest rate; null without any")
    lowest: str | None = Field(description="the group with the lowest rate; null without any")
    alerts: Count = Field(description="alerts that were raised")
    in_alert: bool = Field(description="true: the last alert still holds")
    first_alert: AlertSummary | None = Field(description="the first one; null: none")
    groups: list[MonitoredGroup] = Field(description="the groups")
    course: list[CoursePoint] = Field(description="how the rates went; thinned out if it is long")
    windows: list[WindowSummary] = Field(description="those that were judged; the last thousand")
    windows_judged: Count = Field(description="all tumbling windows that were judged")
    windows_above: Count = Field(description="those of them that were above the bound")

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        fewest = min((len(point.estimates) for point in self.course), default=len(self.groups))
        if fewest < len(self.groups):
            raise ValueError(f"course.estimates: {fewest} of them, of {len(self.groups)} groups")
        return self


class MonitorVerdict(Part):
    """The outcome, the same in every view."""

    status: Status = Field(description="in one word")
    exit_code: Annotated[Literal[0, 1, 2, 3], NO_TRUTH_VALUE] = Field(
        description="2: no alert, but events were wrong"
    )
    headline: str = Field(description="the outcome, as a sentence")
    sentences: list[str] = Field(description="what to know beside it")


class MonitoringSummary(Part):
    """Everything that a monitor saw, as one document."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Annotated[Literal["testsgd.monitoring/2"], NO_TRUTH_VALUE] = Field(
        "testsgd.monitoring/2", alias="schema", description="name and version of this format"
    )
    created: Created = Field(description="UTC time, ISO 8601; a rerun changes it; null if left out")
    versions: dict[str, str] = Field(description="of testsgd and of what it computes with")
    name: str = Field(description="what the specification is called")
    digest: str = Field(description="sha256 of the specification")
    settings: MonitorSettings = Field(description="what was asked for")
    properties: list[PropertySummary] = Field(description="what is compared")
    stream: StreamSummary = Field(description="what came, and what became of it")
    comparisons: list[MonitoredComparison] = Field(
        description="alerts first, then what is undecided, the largest bias first"
    )
    alerts_raised: Count = Field(description="alerts that were raised, since the monitor began")
    alerts: list[AlertSummary] = Field(description="of this run; the first thousand")
    alerts_left_out: Count = Field(description="how many of this run are not in the list")
    verdict: MonitorVerdict = Field(description="the outcome in words, with the exit code")

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        known = {compared.name for compared in self.properties}
        for place, comparison in enumerate(self.comparisons):
            if comparison.property not in known:
                raise ValueError(
                    f"comparisons.{place}.property: {comparison.property!r} is none of properties"
                )
        return self

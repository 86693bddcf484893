"""What an export to RTLola does not express, by the keys of the specification."""

from __future__ import annotations

from testsgd.monitoring.rtlola_values import UnsaidError
from testsgd.monitoring.specification import (
    FieldRatio,
    MonitorSpecification,
    allows_evidence,
    condition_of,
)


def is_labelled(specification: MonitorSpecification) -> bool:
    """Return whether a property counts labels."""
    return any(watched.fairness.labelled for watched in specification.monitored)


def _fields_of_expressions(specification: MonitorSpecification) -> list[tuple[str, ...]]:
    """Return the fields that groups, the decision and the label are read from by expressions."""
    events, groups = specification.events, specification.groups
    read = [condition_of(events.decision), condition_of(events.label)]
    fields = [expression.names for expression in read if expression is not None]
    return fields if groups.by is None else [*fields, specification.group_fields]


def check_exportable(specification: MonitorSpecification, *, joined: bool) -> None:
    """Refuse what an export cannot express, apart from values and expressions.

    `joined`: events with the same id are one trial.
    """
    window, trials, time = specification.window, specification.trials, specification.time
    if window.kind != "all":
        remedy = 'set window.kind = "all", or watch it by testsgd monitor run'
        raise UnsaidError("window.kind", f"{window.kind} windows", remedy)
    watch = "remove it, or watch it by testsgd monitor run"
    keys = (
        ("trials.decision_deadline", trials.decision_deadline, "refusal without an event"),
        ("time.lateness", time.lateness, "events out of order"),
        ("estimate.groups", specification.estimate.groups, "beliefs about single groups"),
    )
    for key, value, what in keys:
        if value is not None:
            raise UnsaidError(key, what, watch)
    several = any(len(fields) > 1 for fields in _fields_of_expressions(specification))
    if specification.events.empty and several:
        # Such an expression may hold without one of its fields; a stream waits for all of them.
        what = "texts that stand for no value beside an expression over several fields"
        raise UnsaidError("events.empty", what, watch)
    estimate = specification.estimate
    if isinstance(estimate.prior, FieldRatio) and estimate.strength:
        remedy = "give a share such as 0.5"
        raise UnsaidError("estimate.prior", "prior that the stream tells", remedy)
    if estimate.prior == "overall" and estimate.strength:
        remedy = "give a share such as 0.5"
        raise UnsaidError("estimate.prior", "prior that follows the rate of all groups", remedy)
    labelled = is_labelled(specification)
    if trials.deadline is not None and labelled and not joined:
        remedy = "export it for events with ids, without --whole"
        raise UnsaidError("trials.deadline", "deadline of trials that have no id", remedy)
    if trials.deadline is not None and labelled and time.unit in ("ms", "us", "ns"):
        remedy = "give times in seconds, and remove it"
        raise UnsaidError("time.unit", f"deadline by times in {time.unit}", remedy)
    # With either of them an event can be of an earlier trial of its id.
    if trials.repeated == "new" and (labelled or specification.given_fields):
        what = "ids that come again for properties that count labels or have given values"
        raise UnsaidError("trials.repeated", what, 'set trials.repeated = "ignore"')
    for index, part in enumerate(specification.properties):
        key = f"properties.{index}"
        if not all(map(allows_evidence, part.all_made())):
            what = "counters that are no share of trials"
            raise UnsaidError(f"{key}.numerator", what, "count each event once, in both lists")
        if (part.rule or "evidence") == "evidence":
            remedy = 'set rule = "estimate" to export the estimates'
            raise UnsaidError(f"{key}.rule", "alerts by evidence", remedy)
        if part.seconds_of_period() is not None:
            raise UnsaidError(f"{key}.check", "judgement by periods", 'set check = "every"')
        if part.favourable_within is not None:
            raise UnsaidError(f"{key}.favourable_within", "end of a time without an event", watch)
        if part.estimate is not None:
            remedy = "say it in estimate.prior and estimate.strength"
            raise UnsaidError(f"{key}.estimate", "beliefs about single properties", remedy)
        if part.empty_group == "zero":
            remedy = 'set empty_group = "vacuous"'
            raise UnsaidError(f"{key}.empty_group", "rate of a group without a trial", remedy)

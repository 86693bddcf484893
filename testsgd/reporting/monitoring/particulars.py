"""Particulars of a monitor: what it was told to do, and when, as facts with names."""

from __future__ import annotations

from testsgd.report.formatting import moment, series, share
from testsgd.reporting.bias_words import events_text, exact_number
from testsgd.reporting.monitoring.phrases import (
    duration_words,
    property_title,
    threshold_of,
    time_text,
    unit_text,
    window_text,
)
from testsgd.reporting.monitoring.summary import MonitoringSummary, PropertySummary
from testsgd.reporting.particulars import Section, section

_RULES = {"evidence": "evidence", "estimate": "the estimate"}
_REFUSE = {"refuse": "refused", "pass": "passed over", "ignore": "ignored"}


def monitoring_particulars(summary: MonitoringSummary) -> tuple[Section, ...]:
    """List the particulars of a monitor."""
    asked, stream = summary.settings, summary.stream
    evidence = any(one.rule == "evidence" for one in summary.properties)
    prior = "the rate of all groups" if asked.prior == "overall" else exact_number(asked.prior)
    weak = asked.strength == "0"
    return (
        *(_property(one) for one in summary.properties),
        section(
            "Monitor",
            ("Name", summary.name),
            ("Groups", "as they come" if asked.groups is None else series(asked.groups)),
            ("Other groups", "" if asked.groups is None else _REFUSE[asked.unknown]),
            ("Other events", _REFUSE[asked.others]),
            ("Compared", window_text(asked)),
            ("Deadline", "" if asked.deadline is None else duration_words(asked.deadline)),
            ("Without a label by then", "" if asked.deadline is None else _late(summary)),
            ("Counted", "" if asked.deadline is None else _counted(summary)),
            ("An event may be late by", _length(asked.lateness)),
            ("And ahead by", _length(asked.max_skew)),
            ("Prior belief", "none" if weak else f"{prior}, as {exact_number(asked.strength)} "
             "trials"),
            ("Confidence", share(asked.confidence) if evidence else ""),
            ("Specification (sha256)", summary.digest),
        ),
        section(
            "Stream",
            ("Written", moment(summary.created)),
            ("Unit of time", unit_text(asked, stream)),
            ("First event", time_text(stream.first_time)),
            ("Last event", time_text(stream.time)),
            ("Went on from a saved state", "yes" if stream.resumed else "no"),
            *((f"Version: {name}", version) for name, version in summary.versions.items()),
        ),
    )  # fmt: skip


def _property(one: PropertySummary) -> Section:
    empty = "is left out of the comparison" if one.empty_group == "vacuous" else "has rate 0"
    return section(
        f"Property: {property_title(one.name)}",
        ("Numerator of a rate counts", events_text(one.numerator)),
        ("Denominator counts", events_text(one.denominator)),
        ("Bias", "ratio of rates" if one.measure == "ratio" else "difference of rates"),
        ("Threshold", threshold_of(one)),
        ("Compared within", series(one.given)),
        ("A group without a rate", empty),
        ("Alerts by", _RULES[one.rule]),
        ("Judged", "after every trial" if one.check == "every" else "at the end of each window"),
    )


def _length(seconds: float | None) -> str:
    return "" if seconds is None else duration_words(seconds)


def _late(summary: MonitoringSummary) -> str:
    label = summary.settings.without_label
    return "the trial is dropped" if label == "drop" else f"the label is {label}"


def _counted(summary: MonitoringSummary) -> str:
    return "at the deadline" if summary.settings.count == "deadline" else "once the label is known"

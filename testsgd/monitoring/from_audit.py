"""From what an audit found to monitors of it: a specification for each of its groups."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from testsgd.fairness.audited_groups import (
    AuditedGroup,
    audited_groups,
    with_audited_groups,
)
from testsgd.fairness.metric_properties import BY_METRIC, MetricProperty, property_of_metric
from testsgd.fairness.specification_text import quoted_text, shortened
from testsgd.monitoring.specification import MonitorSpecification

_CONFIDENCE = 0.95


def monitors_from_audit(source: str | Path, *, groups: int | None = None) -> tuple[str, ...]:
    """Return specifications of monitors that watch the groups of an audit.

    They are the first distinct groups that it found. If groups were named, they are those with
    enough rows, in the order in which they were named.

    Groups of an audit overlap, and a person is in one group of a monitor; so each group has a
    monitor of its own, which compares it with its complement. Of an audit of some rows only, people
    outside of them are in neither. Together they raise a false alarm by evidence with at most 5%
    probability.

    A selection rate becomes demographic parity (disparate impact if ratios were compared), a true-
    positive rate equal opportunity, and a false-positive rate predictive equality; of several
    metrics the first of these is taken. Shares and rates of the group and its complement are those
    that the audit counted, for simulations.

    Parameters
    ----------
    source : str or path-like
        The JSON result of an audit of rows, or the path of the file that holds it.
    groups : int, optional
        How many groups at most; by default three that were found, or all that were named.

    Returns
    -------
    tuple of str
        TOML, with comments that say what to fill in.

    Raises
    ------
    ParameterError
        If it is no result of an audit of rows, there is no group in it, or no monitor watches its
        metric.
    ResultError
        If it cannot be read.

    Examples
    --------
    >>> import testsgd
    >>> audit = testsgd.audit(None, None, "demo")
    >>> text, *_ = monitors_from_audit(audit.to_json())
    >>> specification = MonitorSpecification.parse(text)
    >>> specification.groups.names[-1]
    'everybody else'
    """
    chosen = audited_groups(source, groups=groups, preferred=tuple(BY_METRIC))
    return tuple(map(_specification, chosen))


def monitor_of_groups(
    specification: MonitorSpecification | Mapping[str, Any] | str | Path, source: str | Path
) -> MonitorSpecification:
    """Return the specification of a monitor with the groups of an audit in place of its own.

    They are the first group that :func:`monitors_from_audit` writes a specification for, and its
    complement. Everything else stays as it is, but for the field that the group was read from.

    Parameters
    ----------
    specification : MonitorSpecification, mapping, str or path-like
        What to watch: an object, its keys, or the TOML file that has them.
    source : str or path-like
        The JSON result of an audit of rows, or the path of the file that holds it.

    Returns
    -------
    MonitorSpecification

    Raises
    ------
    ParameterError
        If it is no result of an audit of rows, or there is no group in it.
    ResultError
        If it cannot be read.
    SpecificationError
        If it specifies no monitor, or says something of a group of another name.

    Examples
    --------
    >>> import testsgd
    >>> audit = testsgd.audit(None, None, "demo")
    >>> watched = {"properties": [{"property": "demographic_parity", "bound": 0.1}]}
    >>> monitor_of_groups(watched, audit.to_json()).groups.names[-1]
    'everybody else'
    """
    return with_audited_groups(
        MonitorSpecification, specification, source, read_from=("events", "group")
    )


def _neither_lines(group: AuditedGroup) -> tuple[str, ...]:
    """Return the comment about people in neither group; nothing if there are none."""
    if not group.neither_text:
        return ()
    return (f"# {group.neither_text} is counted", "# and not compared.")


def _values_lines(group: AuditedGroup, field: str, one: str, zero: str) -> tuple[str, ...]:
    """Return the lines that say what a field's values mean, all of them if they are known."""
    if group.values is None:
        condition = quoted_text(group.is_favourable(field))
        return (
            "# Any other value is taken for the opposite.",
            f"{field} = {{ when = {condition} }}",
        )
    favourable, others = (", ".join(map(_toml, values)) for values in group.values)
    return (
        "# A value in neither list is an error.",
        f"{field} = {quoted_text(field)}",
        f"{one} = [{favourable}]",
        f"{zero} = [{others}]",
    )


def _decision_lines(group: AuditedGroup) -> tuple[str, ...]:
    """Return the lines that say what the field of the decision means."""
    if group.threshold is None:
        return (
            "# The field with the decision, and the value that is favourable.",
            *_values_lines(group, "decision", "favourable", "unfavourable"),
        )
    condition = quoted_text(f"decision > {group.threshold!r}")
    return (
        "# The field with the score or number; it is favourable above the threshold of the audit.",
        f"decision = {{ when = {condition} }}",
    )


def _bound_lines(group: AuditedGroup, compared: MetricProperty) -> tuple[str, ...]:
    """Return the property that is watched and its bound."""
    if group.ratio_bound is not None:
        return (
            "# The audit compared ratios of selection rates.",
            'property = "disparate_impact"',
            "# 1 minus the smallest ratio without an alert; 0.2 is the four-fifths rule.",
            f"bound = {group.ratio_bound!r}",
        )
    return (
        f"# The audit compared the metric {group.metric}.",
        f"property = {quoted_text(compared.fairness)}",
        "# The largest difference of the shares of favourable decisions without an alert.",
        "bound = 0.1",
    )


def _toml(value: str | int | float | bool) -> str:
    """Return a value of an event as TOML writes it."""
    return quoted_text(value) if isinstance(value, str) else json.dumps(value)


def _specification(group: AuditedGroup) -> str:
    """Return the specification that watches a group."""
    # Rounded up, so that all of them together are no less sure.
    confidence = math.ceil(1e6 - (1e6 - 1e6 * _CONFIDENCE) / group.total) / 1e6
    compared = property_of_metric(group.metric, what_lacks_it="which no monitor watches")
    labels = (
        "# The field with the true label, and the value that is positive; it may come later, with",
        "# the same id.",
        *_values_lines(group, "label", "positive", "negative"),
    )
    inside, outside = group.tables
    shares = (
        f"# These are {group.total} monitors, and all of them together are to be right with 95% "
        "confidence."
        if group.total > 1
        else "# Of everything that this monitor ever says."
    )
    lines = (
        *group.opening_lines(purpose="watched"),
        "#",
        f"# An event has the fields that the expressions are about ({group.fields_text}) and the",
        "# decision, and better an id. Write the names that your events have, if they differ.",
        "",
        f"name = {quoted_text(shortened(f'{group.audited}, group {group.place}'))}",
        "",
        "[events]",
        *_decision_lines(group),
        *(() if compared.label is None else labels),
        "",
        "[[groups]]",
        *(f"{key} = {quoted_text(value)}" for key, value in inside.items()),
        "",
        *_neither_lines(group),
        "[[groups]]",
        *(f"{key} = {quoted_text(value)}" for key, value in outside.items()),
        "",
        "[evidence]",
        shares,
        f"confidence = {confidence:.6g}",
        "",
        *_simulation_lines(group, compared),
        "[[properties]]",
        *_bound_lines(group, compared),
        "",
    )
    text = "\n".join(lines)
    MonitorSpecification.parse(text, where="the specification of the monitor")
    return text


def _simulation_lines(group: AuditedGroup, compared: MetricProperty) -> tuple[str, ...]:
    """Return the table of the people that a simulation draws, as often as the audit counted them.

    There is none if one of both sides has nobody, or if all are decided on alike.
    """
    of_people = (group.count_in, group.count_out) if compared.label is None else group.people
    inside, outside = of_people or (group.count_in, group.count_out)
    together = inside + outside
    who = compared.who if of_people is None else "rows"
    other = () if of_people else ("# Fill in: those of people, with the other true label, too.",)
    rates = (round(group.rate_in, 6), round(group.rate_out, 6))
    if not group.count_in or not group.count_out or rates in ((0, 0), (1, 1)):
        return ()
    share = min(max(round(inside / together, 6), 1e-6), 1 - 1e-6)
    origin = "as they are" if group.observed else "that it generated near the data"
    labels = (
        "# Fill in: the share of people whose true label is positive.",
        "label_rate = 0.5",
    )
    return (
        "[simulation]",
        "# Whom testsgd monitor simulate draws; what is watched does not depend on it.",
        f"# From the audit: {inside:,} of {together:,} {who} are in the group.",
        *other,
        f"shares = [{share:.6f}, {1 - share:.6f}]",
        f"# The metric in both, of rows {origin}.",
        f"rates = [{rates[0]:.6f}, {rates[1]:.6f}]",
        *(() if compared.label is None else labels),
        "",
    )

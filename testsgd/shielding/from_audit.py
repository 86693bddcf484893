"""From what an audit found to shields of it: a specification for each of its groups."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from testsgd.fairness.audited_groups import (
    AuditedGroup,
    audited_groups,
    with_audited_groups,
)
from testsgd.fairness.metric_properties import BY_METRIC, MetricProperty, property_of_metric
from testsgd.fairness.specification_text import commented, quoted_text, shortened
from testsgd.shielding.specification import ShieldSpecification

# Probabilities are written with six decimals, and counted in whole millionths so that they add up.
_MILLION = 1_000_000
# What TOML and a specification both read as the exact decimal.
_DECIMAL = re.compile(r"(0|[1-9]\d{0,15})(\.\d{1,30})?", re.ASCII)

# Said of such people where nobody of the audit was one.
_NONE_IN_NEITHER = "Nobody of the audit was in neither group; such a person"


def shields_from_audit(
    source: str | Path,
    *,
    groups: int | None = None,
    horizon: int = 100,
    bound: str | float | Fraction = "0.1",
) -> tuple[str, ...]:
    """Return specifications of shields that guarantee a bound for the groups of an audit.

    They are the first distinct groups that it found. If groups were named, they are those with
    enough rows, in the order in which they were named.

    Each shield has two groups, that of the audit and its complement. Of an audit of some rows only,
    people outside of them are in neither. The shield expects people and recommendations as often as
    the audit counted them. A selection rate becomes demographic parity, a true-positive rate equal
    opportunity, and a false-positive rate predictive equality; of several metrics the first of
    these is taken.

    Parameters
    ----------
    source : str or path-like
        The JSON result of an audit of rows, or the path of the file that holds it.
    groups : int, optional
        How many groups at most; by default three that were found, or all that were named.
    horizon : int
        Decisions after which the bound holds.
    bound : str, float or fractions.Fraction
        The largest difference of the two rates.

    Returns
    -------
    tuple of str
        TOML, with comments that say where numbers are from and what to fill in.

    Raises
    ------
    ParameterError
        If it is no result of an audit of rows, there is no group in it, or no shield guarantees its
        metric.
    ResultError
        If it cannot be read.
    SpecificationError
        If no shield has such a horizon or bound, or a field of a person is called as what an event
        says of a decision.

    Examples
    --------
    >>> import testsgd
    >>> audit = testsgd.audit(None, None, "demo")
    >>> text, *_ = shields_from_audit(audit.to_json(), horizon=20)
    >>> specification = ShieldSpecification.parse(text)
    >>> testsgd.synthesize_shield(specification).specification.groups.names[-1]
    'everybody else'
    """
    chosen = audited_groups(source, groups=groups, preferred=tuple(BY_METRIC))
    return tuple(_specification(group, horizon, _bound_text(bound)) for group in chosen)


def shield_of_groups(
    specification: ShieldSpecification | Mapping[str, Any] | str | Path, source: str | Path
) -> ShieldSpecification:
    """Return the specification of a shield with the groups of an audit in place of its own.

    They are the first group that :func:`shields_from_audit` writes a specification for, and its
    complement. Everything else stays as it is, but for the column of a log that the group was read
    from.

    Parameters
    ----------
    specification : ShieldSpecification, mapping, str or path-like
        What is to be kept: an object, its keys, or the TOML file that has them.
    source : str or path-like
        The JSON result of an audit of rows, or the path of the file that holds it.

    Returns
    -------
    ShieldSpecification

    Raises
    ------
    ParameterError
        If it is no result of an audit of rows, or there is no group in it.
    ResultError
        If it cannot be read.
    SpecificationError
        If it specifies no shield, says something of a group of another name, or a field of a person
        is called as what an event says of a decision.

    Examples
    --------
    >>> import testsgd
    >>> audit = testsgd.audit(None, None, "demo")
    >>> kept = {"fairness": {"property": "demographic_parity", "bound": "1/5"},
    ...         "horizon": {"length": 20}}
    >>> shield_of_groups(kept, audit.to_json()).groups.names[-1]
    'everybody else'
    """
    changed = with_audited_groups(
        ShieldSpecification, specification, source, read_from=("inputs", "columns", "group")
    )
    return changed.in_folder_of(specification)


def _bound_text(bound: str | float | Fraction) -> str:
    """Return a bound as TOML; whether it is one the specification says."""
    text = str(bound)
    return text if _DECIMAL.fullmatch(text) else quoted_text(text)


def _specification(group: AuditedGroup, horizon: int, bound: str) -> str:
    """Return the specification of a shield for a group."""
    guaranteed = property_of_metric(group.metric, what_lacks_it="which no shield guarantees")
    inside, outside = group.tables
    several = (
        "#",
        f"# These are {group.total} shields. A decision passes through one of them: a second one "
        "may change it,",
        "# and then the first keeps no promise.",
    )
    lines = (
        *group.opening_lines(purpose="kept within a bound"),
        "#",
        "# A decision is asked for with the fields that the expressions are about",
        f"# ({group.fields_text}), in place of the group. Write the names that yours have, if they "
        "differ.",
        *(several if group.total > 1 else ()),
        "",
        f"name = {quoted_text(shortened(f'{group.audited}, group {group.place}'))}",
        "",
        "[fairness]",
        f"# The audit compared the metric {group.metric}. The recommendation 1 stands for",
        f"# {commented(group.favourable)}, the label whose rate it compared, and 0 for any other.",
        f"property = {quoted_text(guaranteed.fairness)}",
        "# Fill in: the largest difference of the two rates at the end of the horizon.",
        f"bound = {bound}",
        "",
        "[groups]",
        f"# {group.neither_text or _NONE_IN_NEITHER} is refused;",
        '# "pass" passes such people through and counts them, and promises nothing of them.',
        'unknown = "refuse"',
        "",
        "# The group that the audit found.",
        "[[groups.by]]",
        *(f"{key} = {quoted_text(value)}" for key, value in inside.items()),
        "",
        "# Its complement among the people of the audit.",
        "[[groups.by]]",
        *(f"{key} = {quoted_text(value)}" for key, value in outside.items()),
        "",
        "[horizon]",
        "# Fill in: decisions after which the bound must hold.",
        f"length = {horizon}",
        '# One more decision is refused; "next" begins anew.',
        'after = "stop"',
        "",
        *_expected_lines(group, guaranteed),
    )
    text = "\n".join(lines)
    ShieldSpecification.parse(text, where="the specification of the shield")
    return text


def _expected_lines(group: AuditedGroup, guaranteed: MetricProperty) -> tuple[str, ...]:
    """Return the lines of the probabilities with which people and recommendations come."""
    together = group.count_in + group.count_out
    share_in = round(_MILLION * group.count_in / together)
    origin = "the rows as they are" if group.observed else "rows that it generated near the data"
    label = guaranteed.label
    labels: tuple[str, ...] = ()
    if label is not None:
        labels = (
            f"# The audit counted people with the true label {label} only, so that is the label of "
            "everybody here.",
            "# Fill in: the other people's probabilities, and label_probability, how likely the "
            "true label is 1.",
        )
    lines = [
        "# What is expected. Only the cost of the shield depends on it, not what it guarantees.",
        f"# From the audit: {group.count_in:,} of {together:,} {guaranteed.who} are in the group; "
        f"of {origin}",
        f"# a share of {group.rate_in:.6f} in it and of {group.rate_out:.6f} in its complement is "
        "recommended.",
        *labels,
        "# Fill in: what it costs to change such a recommendation. All alike: as few changes as can"
        " be.",
    ]
    inside, outside = group.tables
    sides = (
        (inside["name"], share_in, group.rate_in),
        (outside["name"], _MILLION - share_in, group.rate_out),
    )
    for name, share, rate in sides:
        accepted = round(share * rate)
        for recommendation, part in ((1, accepted), (0, share - accepted)):
            lines += [
                "[[inputs.table]]",
                f"group = {quoted_text(name)}",
                f"recommendation = {recommendation}",
                f"probability = {part / _MILLION:.6f}",
                "cost = 1.0",
            ]
            if label is not None:
                lines.append(f"label_probability = {label}.0")
            lines.append("")
    return tuple(lines)

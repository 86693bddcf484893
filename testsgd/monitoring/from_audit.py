"""From what an audit found to monitors of it: a specification for each of its groups."""

from __future__ import annotations

import math
from pathlib import Path

from testsgd.expressions import quoted
from testsgd.fairness.audited_groups import COMPLEMENT, AuditedGroup, audited_groups
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
        If it is no result of an audit of rows, or there is no group in it.
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
    return tuple(map(_specification, audited_groups(source, groups=groups)))


def _neither_lines(group: AuditedGroup) -> tuple[str, ...]:
    """Return the comment about people in neither group; nothing if there are none."""
    if not group.neither_text:
        return ()
    return (f"# {group.neither_text} is counted", "# and not compared.")


def _specification(group: AuditedGroup) -> str:
    """Return the specification that watches a group."""
    # Rounded up, so that all of them together are no less sure.
    confidence = math.ceil(1e6 - (1e6 - 1e6 * _CONFIDENCE) / group.total) / 1e6
    decision = f"decision = {quoted(group.favourable)}"
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
        "# The field with the decision, and the value that is favourable.",
        f"decision = {{ when = {quoted_text(decision)} }}",
        "",
        "[[groups]]",
        f"name = {quoted_text(shortened(group.text))}",
        f"when = {quoted_text(group.inside)}",
        "",
        *_neither_lines(group),
        "[[groups]]",
        f"name = {quoted_text(COMPLEMENT)}",
        f"when = {quoted_text(group.outside)}",
        "",
        "[evidence]",
        shares,
        f"confidence = {confidence:.6g}",
        "",
        "[[properties]]",
        'property = "demographic_parity"',
        "# The largest difference of the shares of favourable decisions without an alert.",
        "bound = 0.1",
        "",
    )
    text = "\n".join(lines)
    MonitorSpecification.parse(text, where="the specification of the monitor")
    return text

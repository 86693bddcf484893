"""From what an audit found to monitors of it: a specification for each of its groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from testsgd.data import MISSING
from testsgd.errors import ParameterError
from testsgd.expressions import parse, quoted
from testsgd.monitoring.specification import MonitorSpecification
from testsgd.monitoring.specification.parts import shown
from testsgd.monitoring.watched_groups import first_of, in_given_order
from testsgd.report.kinds import read_result
from testsgd.report.summaries import RuleSummary

_CONFIDENCE = 0.95
_REST = "everybody else"
_AUDITS = ("testsgd.audit/2", "testsgd.metrics/1")


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
    if groups is not None and groups < 1:
        raise ParameterError(
            f"{groups} groups are to be watched", where="groups", remedy="give at least 1"
        )
    summary = read_result(source).summary
    where = str(source) if len(str(source)) < 200 else "the result"
    if summary.schema_ not in _AUDITS or getattr(summary.data, "kind", "rows") != "rows":
        raise ParameterError(
            f"a document of {summary.schema_} about {getattr(summary.data, 'kind', 'rows')} "
            "has no groups of rows"
            if summary.schema_ in _AUDITS
            else f"a document of {summary.schema_} is no audit",
            where=where,
            remedy="give the result.json of an audit of rows",
        )
    found = summary.groups if summary.schema_ == _AUDITS[0] else summary.metrics[0].groups
    named = getattr(summary.parameters, "groups", ())
    if named:
        decided = [group for group in found if group.decided]
        conditions = [conditions_of(group.rules)[0] for group in decided]
        watched = in_given_order(decided, conditions, named)
    else:
        watched = [group for group in found if group.distinct]
    first = first_of(watched, groups, named=bool(named))
    if not first:
        raise ParameterError(
            "no group was judged, so there is none to watch",
            where=where,
            remedy="audit more rows, or name groups yourself",
        )
    return tuple(
        _specification(summary, group, place, len(first)) for place, group in enumerate(first, 1)
    )


def _specification(summary: Any, group: Any, place: int, total: int) -> str:
    """Return the specification that watches one of several groups."""
    rows = summary.parameters.rows
    inside, outside = conditions_of(group.rules, rows=rows)
    # Rounded up, so that all of them together are no less sure.
    confidence = math.ceil(1e6 - (1e6 - 1e6 * _CONFIDENCE) / total) / 1e6
    favourable = getattr(getattr(summary.data, "label", None), "favourable", None)
    favourable = favourable or getattr(summary.data, "favourable", None) or "1"
    decision = f"decision = {quoted(favourable)}"
    of_rows = () if rows is None else parse(rows).names
    fields = ", ".join(dict.fromkeys((*(rule.feature for rule in group.rules), *of_rows)))
    of_all = f"Group {place} of {total}. " if total > 1 else ""
    shares = (
        f"# These are {total} monitors, and all of them together are to be right with 95% "
        "confidence."
        if total > 1
        else "# Of everything that this monitor ever says."
    )
    only = () if rows is None else (f"# It looked only at rows with {_comment(rows)}",)
    neither = (
        "# A person in neither group, whose number is missing, is counted and not compared."
        if rows is None
        else "# A person in neither group, outside of these rows or whose number is missing, is "
        "counted\n# and not compared."
    )
    lines = (
        f"# {of_all}What an audit of {_comment(summary.data.name)} found, watched from now on:",
        f"# {_comment(group.text)}",
        *only,
        "#",
        f"# An event has the fields that the expressions are about ({_comment(fields)}) and the",
        "# decision, and better an id. Write the names that your events have, if they differ.",
        "",
        f"name = {shown(_short(f'{summary.data.name}, group {place}'))}",
        "",
        "[events]",
        "# The field with the decision, and the value that is favourable.",
        f"decision = {{ when = {shown(decision)} }}",
        "",
        "[[groups]]",
        f"name = {shown(_short(group.text))}",
        f"when = {shown(inside)}",
        "",
        neither,
        "[[groups]]",
        f"name = {shown(_REST)}",
        f"when = {shown(outside)}",
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


def conditions_of(rules: Sequence[RuleSummary], *, rows: str | None = None) -> tuple[str, str]:
    """Return the expressions of a group and of its complement, as an audit has both.

    Parameters
    ----------
    rules : sequence of RuleSummary
    rows : str, optional
        The expression of the rows that were audited; all other rows are in neither.

    Returns
    -------
    inside, outside : str
        The rows in which a number of an interval is missing are in neither.

    Examples
    --------
    >>> rule = RuleSummary(feature="age", low=40.0, high=60.0, text="40 <= age < 60")
    >>> conditions_of([rule])
    ('40 <= age < 60', 'not (40 <= age < 60) and age != missing')
    >>> conditions_of([rule], rows="sex = f")[0]
    '(sex = f) and 40 <= age < 60'
    """
    inside = " and ".join(map(_rule, rules))
    intervals = dict.fromkeys(rule.feature for rule in rules if rule.values is None)
    known = "".join(f" and {quoted(name)} != missing" for name in intervals)
    among = "" if rows is None else f"({rows}) and "
    return f"{among}{inside}", f"{among}not ({inside}){known}"


def _rule(rule: RuleSummary) -> str:
    name = quoted(rule.feature)
    if rule.values is not None:
        values = [value if value == MISSING else quoted(value) for value in rule.values]
        return f"{name} = {values[0]}" if len(values) == 1 else f"{name} in {{{', '.join(values)}}}"
    if rule.low is None:
        return f"{name} < {rule.high:.17g}"
    if rule.high is None:
        return f"{name} >= {rule.low:.17g}"
    return f"{rule.low:.17g} <= {name} < {rule.high:.17g}"


def _comment(text: str) -> str:
    """Return a text for a comment of TOML, which has one line and no controls."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _short(text: str, most: int = 100) -> str:
    text = _comment(text)
    return text if len(text) <= most else f"{text[: most - 3]}..."

"""From which side of a group a headline speaks, and how that goes with numbers that have a sign.

A headline begins with those who are worse off and says "more often" or "less often". Every number
with a sign is of the group less its complement, in sentences as in figures, lists and tables.
"""

from __future__ import annotations

from testsgd.auditing.report.further_looks import FurtherGroup, WithinGroup
from testsgd.auditing.report.summary import AuditSummary, GroupSummary
from testsgd.auditing.report.wording import by_own_effect
from testsgd.auditing.report.worse_off import Comparison, complement_is_worse_off
from testsgd.report.formatting import brief_rules, points
from testsgd.report.summaries import brief_group

# Characters of a group's rules that a sentence has at most.
_TEXT_LIMIT = 160
# Metrics of which a higher rate is better for the people that it is of.
_BETTER_IF_HIGHER = ("selection_rate", "true_positive_rate")


def names_who_is_worse_off(summary: AuditSummary) -> bool:
    """Return whether headlines begin with the side that is worse off, whichever that is."""
    by_rate = summary.parameters.metric in _BETTER_IF_HIGHER
    return summary.data.kind != "texts" and by_rate


def nothing_significant(summary: AuditSummary) -> bool:
    """Return whether no group of the search differs significantly, as far as that was tested."""
    guarantee = summary.guarantee
    return guarantee.kind != "per-group" and guarantee.significant == 0


def is_turned(group: GroupSummary | FurtherGroup | WithinGroup, summary: AuditSummary) -> bool:
    """Return whether a headline about a group begins with its complement.

    Where a difference of the search may be chance, no side is called worse off: the headline speaks
    of the group. One about an own effect begins with those who are worse off by that.
    """
    if not names_who_is_worse_off(summary):
        return False
    outcome = summary.data.label.outcome
    own = group.own_effect if isinstance(group, GroupSummary) else None
    if isinstance(group, GroupSummary) and own is not None and by_own_effect(group, summary):
        return complement_is_worse_off(Comparison(group.rules, own.difference, 0.0), outcome)
    if isinstance(group, GroupSummary) and nothing_significant(summary):
        return False
    comparison = Comparison(group.rules, group.rate_in, group.rate_out)
    return complement_is_worse_off(comparison, outcome)


def turned_sentences(
    group: GroupSummary | FurtherGroup | WithinGroup, summary: AuditSummary
) -> list[str]:
    """Write which side is the group and which sign it has; nothing if the headline begins with it.

    This is for where sentences about such a headline begin.
    """
    if not is_turned(group, summary):
        return []
    within = ""
    if isinstance(group, WithinGroup):
        within = f", within {brief_rules(group.slice, _TEXT_LIMIT)}"
    return [
        f"The group is {brief_group(group, _TEXT_LIMIT)}{within}; its complement is named first "
        f"above. The group's difference, its rate less that of its complement, is "
        f"{points(group.difference)}."
    ]

"""From which side of a group a headline speaks, and its numbers as seen from there."""

from __future__ import annotations

from testsgd.auditing.report.further_looks import FurtherGroup, WithinGroup
from testsgd.auditing.report.summary import AuditSummary, GroupSummary
from testsgd.auditing.report.worse_off import Comparison, complement_is_worse_off

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

    What follows such a headline speaks of the complement less the group. Where a difference of the
    search may be chance, no side is called worse off: the headline speaks of the group.
    """
    if not names_who_is_worse_off(summary):
        return False
    if isinstance(group, GroupSummary) and nothing_significant(summary):
        return False
    comparison = Comparison(group.rules, group.rate_in, group.rate_out)
    return complement_is_worse_off(comparison, summary.data.label.outcome)

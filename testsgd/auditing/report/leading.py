"""Which finding of an audit the headline is about, as every view has it."""

from __future__ import annotations

from testsgd.auditing.report.controls import ControlEffectSummary, largest_control_effect
from testsgd.auditing.report.further_looks import FurtherGroup, WithinGroup
from testsgd.auditing.report.summary import AuditSummary, GroupSummary
from testsgd.auditing.report.wording import (
    DISAGREEMENT,
    by_own_effect,
    by_terms,
    own_effect_bound,
    spoken_difference,
)


def largest_over_all(summary: AuditSummary, top: GroupSummary) -> float:
    """Return the largest lower confidence bound of the search, of the rows as they are."""
    return max(
        [item.largest_bound or 0.0 for item in summary.estimands if item.estimand == "observed"],
        default=top.lower_confidence_bound or 0.0,
    )


def largest_look(summary: AuditSummary) -> FurtherGroup | None:
    """Return the surest group of finer cuts and of more features, if there was such a look."""
    looks = [look for look in (summary.deeper, summary.finer) if look is not None]
    return max(looks, key=lambda look: look.lower_confidence_bound, default=None)


def larger_look(summary: AuditSummary, top: GroupSummary) -> FurtherGroup | None:
    """Return what finer cuts or more features show if it is clearly more than the search does."""
    look = largest_look(summary)
    # What fits the differences of chance a little better is no other finding.
    least = _largest_known(summary, top) + DISAGREEMENT
    return look if look is not None and look.lower_confidence_bound > least else None


def _largest_known(summary: AuditSummary, top: GroupSummary) -> float:
    """Return the largest bound that a look has to beat: of differences, or the own effect."""
    return max(largest_over_all(summary, top), own_effect_bound(top, summary))


def is_judged_different(group: GroupSummary, summary: AuditSummary) -> bool:
    """Return whether the difference of a group of the search is significant."""
    if group.q_value is not None:
        return group.q_value <= 1 - summary.guarantee.confidence
    return bool(group.lower_confidence_bound)


def leading_look(summary: AuditSummary, top: GroupSummary) -> FurtherGroup | WithinGroup | None:
    """Return the finding of a look beyond the search that the headline is about; None if none is.

    It is about a slice of a feature that the user named if the bound of that is above all others,
    and about more features if they show clearly more than the search. Finer cuts show a part of a
    group of the search mostly, so they have to show more than that group's whole difference, unless
    it is not significant: else the headline is about the first group that a report lists.
    """
    over_all = _largest_known(summary, top)
    look = largest_look(summary)
    within = summary.within
    of_look = 0.0 if look is None else look.lower_confidence_bound
    of_slices = 0.0 if within is None or within.first is None else within.largest_bound
    if within is not None and of_slices > max(over_all, of_look):
        return within.first
    if not is_judged_different(top, summary):
        return larger_look(summary, top)
    deeper, finer = summary.deeper, summary.finer
    least_of_cuts = max(over_all, abs(top.difference)) + DISAGREEMENT
    found = [
        *([deeper] if deeper and deeper.lower_confidence_bound > over_all + DISAGREEMENT else []),
        *([finer] if finer and finer.lower_confidence_bound > least_of_cuts else []),
    ]
    return max(found, key=lambda look: look.lower_confidence_bound, default=None)


def leads_by_own_effect(summary: AuditSummary, top: GroupSummary) -> bool:
    """Return whether the headline is about the own effect of the first group."""
    return by_own_effect(top, summary) and leading_look(summary, top) is None


def leading_control(summary: AuditSummary) -> ControlEffectSummary | None:
    """Return the control effect that the headline is about; None if the effects of terms are.

    It is if even its lower bound is above what the terms do against one another.
    """
    terms = summary.terms
    control = None if terms is None else largest_control_effect(terms.controls)
    if control is None or not by_terms(summary):
        return None
    effects = [
        abs(group.counterfactual.difference)
        for group in summary.groups
        if group.decided and group.counterfactual is not None and not group.unknown_to_model
    ]
    return control if control.lower_confidence_bound > max(effects, default=0.0) else None


def leading_difference(summary: AuditSummary, top: GroupSummary) -> float:
    """Return the difference, or effect, that the headline is about, of the group less others."""
    control = leading_control(summary)
    if control is not None:
        return control.difference
    look = leading_look(summary, top)
    if look is not None:
        return look.difference
    return spoken_difference(top, summary)

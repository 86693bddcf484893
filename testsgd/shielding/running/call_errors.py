"""The words of what is wrong with a call of a shield; kept apart from the quick path."""

from __future__ import annotations

from testsgd.errors import HorizonEndedError, LabelError, ParameterError, UnknownGroupError


def bad_recommendation(recommendation: object) -> ParameterError:
    """Build the error for a bad recommendation."""
    return ParameterError(
        f"the recommendation is {recommendation!r}",
        where="recommendation",
        remedy="give 0 (reject) or 1 (accept)",
        recommendation=recommendation,
    )


def bad_event(event: object) -> ParameterError:
    """Build the error for an id that is no text."""
    return ParameterError(
        f"the event is {event!r}", where="event", remedy="give its id as a text", event=event
    )


def bad_cost(known: tuple[float, ...], cost: object) -> ParameterError:
    """Build the error for a bad cost, or a missing one where several are known."""
    if cost is None:
        what = f"the cost is missing, and it could be any of {len(known)}"
    else:
        what = f"the cost is {cost!r}"
    return ParameterError(what, where="cost", remedy="give a finite number, 0 or more", cost=cost)


def unknown_group(group: object, known: tuple[str, ...]) -> UnknownGroupError:
    """Build the error for an unknown group."""
    names = ", ".join(map(repr, known))
    return UnknownGroupError(
        f"the group {group!r} is unknown",
        where="group",
        remedy=f'give one of {names}, or let others pass (groups.unknown = "pass")',
        group=group,
        groups=known,
    )


def no_more(period: int, horizon: int) -> HorizonEndedError:
    """Build the error for a decision after the last period."""
    made = (period + 1) * horizon
    return HorizonEndedError(
        f"all {made} decisions that the shield was made for are made",
        where="decide",
        remedy='begin a new shield, or specify what comes then (horizon.after = "next")',
        decisions=made,
    )


def label_missing() -> LabelError:
    """Build the error for a decision before the label of the last one."""
    return LabelError(
        "the last decision waits for its label",
        where="decide",
        remedy="give the label first (0 if it never became known)",
    )


def no_labels(name: str) -> LabelError:
    """Build the error for a label that plays no part."""
    return LabelError(f"labels play no part in {name}", where="label", remedy="give no labels")


def bad_label(label: object) -> LabelError:
    """Build the error for a bad label."""
    return LabelError(f"the label is {label!r}", where="label", remedy="give 0 or 1", label=label)

"""The words of what is wrong with a call of a shield; kept apart from the quick path."""

from __future__ import annotations

from testsgd.errors import HorizonEndedError, LabelError, ParameterError, UnknownGroupError


def bad_recommendation(recommendation: object) -> ParameterError:
    """Say that a recommendation is none."""
    return ParameterError(
        f"the recommendation is {recommendation!r}",
        where="recommendation",
        remedy="give 0 (reject) or 1 (accept)",
        recommendation=recommendation,
    )


def bad_event(event: object) -> ParameterError:
    """Say that the id of an event is no text."""
    return ParameterError(
        f"the event is {event!r}", where="event", remedy="give its id as a text", event=event
    )


def bad_cost(known: tuple[float, ...], cost: object) -> ParameterError:
    """Say that a cost is none, or missing where several are known."""
    if cost is None:
        what = f"the cost is missing, and it could be any of {len(known)}"
    else:
        what = f"the cost is {cost!r}"
    return ParameterError(what, where="cost", remedy="give a finite number, 0 or more", cost=cost)


def unknown_group(group: object, known: tuple[str, ...]) -> UnknownGroupError:
    """Say that a group is unknown."""
    names = ", ".join(map(repr, known))
    return UnknownGroupError(
        f"the group {group!r} is unknown",
        where="group",
        remedy=f'give one of {names}, or let others pass (groups.unknown = "pass")',
        group=group,
        groups=known,
    )


def no_more(period: int, horizon: int) -> HorizonEndedError:
    """Say that all periods are over."""
    made = (period + 1) * horizon
    return HorizonEndedError(
        f"all {made} decisions that the shield was made for are made",
        where="decide",
        remedy='begin a new shield, or specify what comes then (horizon.after = "next")',
        decisions=made,
    )


def label_missing() -> LabelError:
    """Say that a decision was asked for before the label of the last one."""
    return LabelError(
        "the last decision waits for its label",
        where="decide",
        remedy="give the label first (0 if it never became known)",
    )


def no_labels(name: str) -> LabelError:
    """Say that a property does not look at labels."""
    return LabelError(f"labels play no part in {name}", where="label", remedy="give no labels")


def bad_label(label: object) -> LabelError:
    """Say that a label is none."""
    return LabelError(f"the label is {label!r}", where="label", remedy="give 0 or 1", label=label)

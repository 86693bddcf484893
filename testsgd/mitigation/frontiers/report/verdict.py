"""What a frontier comes to: one status, one sentence, one exit code, in every view."""

from __future__ import annotations

import math
from typing import Literal

from testsgd.auditing.report.vocabulary import words_for
from testsgd.mitigation.compared_rates import ACCURACY, SELECTION_RATE
from testsgd.mitigation.frontiers.parameters import FrontierParameters
from testsgd.mitigation.frontiers.report.summary import (
    FrontierSummary,
    FrontierVerdict,
    PointSummary,
    SidesSummary,
    Status,
)
from testsgd.mitigation.parameters import LEAST_HELD_OUT
from testsgd.mitigation.report.phrases import budget, features_of
from testsgd.mitigation.report.side_effects import effect_sentences, exceeded_text
from testsgd.report.formatting import (
    MINUS,
    count,
    interval,
    percent,
    plural,
    share,
    shorten,
    size_points,
)

STATUS_NAMES: dict[Status, str] = {
    "fairer": "Fairer",
    "no_group": "Too few rows",
    "no_point": "Not reached",
    "accuracy_lost": "Too much accuracy lost",
    "accuracy_unclear": "Too few rows to tell",
    "no_better_than_constant": "No better than a constant",
    "side_effect": "A group pays",
    "rose": "Rose",
    "not_certain": "Not certain",
}

_EXIT_CODES: dict[Status, Literal[0, 1, 3]] = {
    "fairer": 0,
    "no_group": 3,
    "no_point": 1,
    "accuracy_lost": 1,
    "accuracy_unclear": 3,
    "no_better_than_constant": 1,
    "side_effect": 1,
    "rose": 1,
    "not_certain": 3,
}

_RATES = {
    "selection_rate": "",
    "true_positive_rate": " in true-positive rate",
    "false_positive_rate": " in false-positive rate",
    "equalized_odds": " in true- or false-positive rate",
    "accuracy": " in accuracy",
}

# Which of the rows count, where not all of them do.
_COUNTED = {
    "selection_rate": "",
    "true_positive_rate": ", of those with the label",
    "false_positive_rate": ", of those without the label",
    "equalized_odds": ", of those with the label or of those without",
    "accuracy": "",
}

_GROUP_LIMIT = 160
# A loss of balanced accuracy from so much on is in the headline.
_NAMED = 0.01


def frontier_verdict(summary: FrontierSummary) -> FrontierVerdict:
    """Return the verdict on the point that is written, by the held-out rows.

    Parameters
    ----------
    summary : FrontierSummary
        The document; the verdict that it has is not used.

    Returns
    -------
    FrontierVerdict
        The status, the exit code of the command line, a headline and sentences.
    """
    status = _status(summary)
    return FrontierVerdict(
        status=status,
        exit_code=_EXIT_CODES[status],
        headline=_headline(summary, status),
        sentences=_sentences(summary),
    )


def improved(summary: FrontierSummary) -> bool:
    """Return whether the worst difference is smaller than before, be it by chance."""
    return summary.point is not None and summary.point.worst.size < summary.worst_before.size


def status_name(summary: FrontierSummary) -> str:
    """Return the status as a few words; what is not certain may be no improvement at all."""
    status = summary.verdict.status
    if status == "not_certain" and not improved(summary):
        return "No improvement"
    return STATUS_NAMES[status]


def _status(summary: FrontierSummary) -> Status:
    """Return the status: the first condition that holds decides."""
    point, effects = summary.point, summary.effects
    if not summary.groups:
        return "no_group"
    if point is None:
        return "no_group" if summary.too_few_rows else "no_point"
    allowed = summary.settings.budget
    low, _ = point.accuracy.drop_interval
    balanced_low, _ = point.accuracy.balanced_drop_interval
    if low > allowed or balanced_low > summary.settings.balanced_budget:
        return "accuracy_lost"
    if point.accuracy.accuracy <= summary.constant_accuracy:
        return "no_better_than_constant"
    if effects is not None and effects.failed:
        return "side_effect"
    change = summary.worst_change or (0.0, 0.0)
    if change[0] > 0:
        return "rose"
    over = point.accuracy.balanced_drop > summary.settings.balanced_budget
    if point.accuracy.drop > allowed or over:
        return "accuracy_unclear"
    if not improved(summary) or change[1] >= 0:
        return "not_certain"
    return "fairer"


def _headline(summary: FrontierSummary, status: Status) -> str:
    """Write the outcome as one sentence."""
    point = summary.point
    where = f"On {count(summary.split.held_out)} held-out rows"
    if not summary.groups:
        return _nothing_compared(summary)
    if point is None:
        before = size_points(summary.worst_before.size)
        if status == "no_group":
            return (
                f"No point of the frontier was chosen: {summary.reason}. {where} the worst "
                f"difference of all groups is {before}; whether it can be lowered is not known."
            )
        return (
            f"No point of the frontier was chosen: {summary.reason}. The worst difference of "
            f"all groups is still {before}."
        )
    change = "" if summary.worst_change is None else f" (change {interval(summary.worst_change)})"
    if not improved(summary):
        where = f"No improvement: on{where.removeprefix('On')}"
    moved = (
        f"{where} the worst difference{in_rates(summary)} of "
        f"{plural(summary.groups, 'group')} went from "
        f"{size_points(summary.worst_before.size)} to {size_points(point.worst.size)}"
        f"{change * (not improved(summary) or status == 'not_certain')}"
    )
    cost = _cost(point)
    allowed = _allowed(summary, point)
    match status:
        case "accuracy_lost":
            return f"{moved}, but {cost}, {allowed}."
        case "accuracy_unclear":
            return f"{moved}, but {cost}, {allowed}; chance may explain that."
        case "no_better_than_constant":
            return (
                f"{moved}, but the model is right about {percent(point.accuracy.accuracy)}, no "
                f"more than one that says the same of all ({percent(summary.constant_accuracy)})."
            )
        case "side_effect":
            assert summary.effects is not None
            return f"{moved}, but {_paid(summary)}."
        case "not_certain" if not improved(summary):
            return f"{moved}; {cost}."
        case "not_certain":
            return f"{moved}, which chance may explain; {cost}."
        case _:
            return f"{moved}; {cost}."


def _nothing_compared(summary: FrontierSummary) -> str:
    """Write that no group has enough held-out rows, how many that are, and what can be done."""
    settings = summary.settings
    held_out = summary.split.held_out
    rows = held_out + summary.split.seen
    counted = _COUNTED[settings.objective]
    remedy = "give more rows"
    if held_out < 2 * LEAST_HELD_OUT:
        # Both sides need that number of rows, whatever the groups are.
        needed = math.ceil(2 * LEAST_HELD_OUT * rows / held_out)
        remedy = f"{remedy}, {count(needed)} or more in place of {count(rows)}"
    elif settings.min_share * held_out > LEAST_HELD_OUT:
        remedy = f"{remedy}, or a smaller --min-share (min_share)"
    return (
        f"Of {count(held_out)} held-out rows no group and its complement have "
        f"{least_rows(settings)} each{counted}: nothing is compared; {remedy}."
    )


def least_rows(settings: FrontierParameters) -> str:
    """Write how many rows a group that is compared has at least, and its complement."""
    return f"at least {LEAST_HELD_OUT} rows and {share(settings.min_share)}"


def _paid(summary: FrontierSummary) -> str:
    assert summary.effects is not None
    return exceeded_text(
        summary.effects,
        words_for("rows"),
        allowed=summary.settings.max_side_effect,
        allowed_loss=summary.settings.max_group_accuracy_drop,
        features=features_of(summary.data),
    )


def _allowed(summary: FrontierSummary, point: PointSummary) -> str:
    """Write which budget was exceeded."""
    settings = summary.settings
    if point.accuracy.drop > settings.budget:
        return f"more than the {budget(settings.max_accuracy_drop)} allowed"
    return f"more than the {budget(settings.max_balanced_drop)} allowed of that"


def in_rates(summary: FrontierSummary) -> str:
    """Write of which rates differences are, if it is not the selection rate."""
    return _RATES[summary.settings.objective]


def _cost(point: PointSummary) -> str:
    """Write what a point cost in accuracy."""
    drop = point.accuracy.drop
    text = f"{100 * abs(drop):.2f}"
    balanced = ""
    if point.accuracy.balanced_drop >= _NAMED:
        balanced = f", {100 * point.accuracy.balanced_drop:.2f} of balanced accuracy lost"
    if float(text) == 0:
        return f"no accuracy was lost{balanced}"
    which = "lost" if drop > 0 else "gained"
    return f"{text} points of accuracy were {which}{balanced}"


def _sentences(summary: FrontierSummary) -> list[str]:
    """Write what qualifies the headline."""
    point, effects = summary.point, summary.effects
    sentences = []
    if point is not None:
        first, last = (
            shorten(text, _GROUP_LIMIT) for text in (summary.worst_before.group, point.worst.group)
        )
        whose = (
            f"It is that of {first}"
            if first == last
            else (f"It was that of {first}, and is that of {last}")
        )
        change = ""
        if summary.worst_change is not None:
            change = f" (change {interval(summary.worst_change)})"
        low, high = point.accuracy.drop_interval
        if summary.groups:
            sentences.append(f"{whose}{change}.")
        if summary.method == "ensemble":
            sentences.append(
                "A boosting, a forest and a logistic regression together, fitted to the rows that "
                "are not held out, take the place of the original, with thresholds for each "
                "combination of sensitive values."
            )
        sentences.append(
            f"Accuracy went from {percent(summary.before.accuracy)} to "
            f"{percent(point.accuracy.accuracy)} (change in points: "
            f"{accuracy_points(-high)} to {accuracy_points(-low)}), balanced accuracy from "
            f"{percent(summary.before.balanced)} to {percent(point.accuracy.balanced)}."
        )
        if summary.neighbourhood is not None:
            before, after = map(size_points, summary.neighbourhood)
            sentences.append(
                f"Over each row's neighbours the worst difference went from {before} to {after}."
            )
        expected = point.expected
        sentences.append(
            "The point was chosen without the held-out rows: expected were "
            f"{size_points(abs(expected.worst_after))} at "
            f"{accuracy_points(-expected.accuracy_drop)} points of accuracy."
        )
    if effects is not None:
        sentences += effect_sentences(
            effects,
            words_for("rows"),
            allowed=summary.settings.max_side_effect,
            allowed_loss=summary.settings.max_group_accuracy_drop,
            features=features_of(summary.data),
        )
    for sides in summary.paying[:1]:
        inside = f"{percent(sides.before[0])} to {percent(sides.after[0])}"
        outside = f"{percent(sides.before[1])} to {percent(sides.after[1])}"
        sentences.append(
            f"The {sides.rate.replace('_', ' ')} of {shorten(sides.text, _GROUP_LIMIT)} went from "
            f"{inside}, that of all others from {outside}{_in_the_file(sides)}."
        )
    reached = best_of_ceiling(summary)
    if reached is not None:
        by_thresholds = summary.method == "ensemble"
        scores = "the original's scores" if by_thresholds else "the same scores"
        law = " They need the sensitive values at every decision, which the law may forbid."
        sentences.append(
            f"Thresholds for each combination of sensitive values, with {scores}, leave "
            f"{size_points(reached.worst.size)} at "
            f"{accuracy_points(-reached.accuracy.drop)} points of accuracy."
            f"{'' if by_thresholds else law}"
        )
    if summary.method in {"thresholds", "ensemble"}:
        sentences.append(
            "Thresholds by group need the sensitive values at every decision, and treat people of "
            "equal scores differently: in many countries the law forbids that for some uses. Ask "
            "before you use them."
        )
        if summary.point is not None:
            sentences.append(
                "Who gets the label is by thresholds.json: an audit of the model alone shows its "
                "rates without these thresholds."
            )
    if summary.original.refitted:
        sentences.append(
            "Figures before are of the same model fitted to the rows that are not held out: the "
            "original may have learnt from the held-out ones."
        )
    elif summary.split.warning:
        sentences.append(summary.split.warning)
    return sentences


def best_of_ceiling(summary: FrontierSummary) -> PointSummary | None:
    """Return the thresholds that were expected to keep the budget with the least difference."""
    kept = [
        point
        for point in summary.ceiling
        if point.expected.accuracy_drop <= summary.settings.budget
        and point.expected.balanced_drop <= summary.settings.balanced_budget
    ]
    return min(kept, key=lambda point: abs(point.expected.worst_after), default=None)


def accuracy_points(change: float) -> str:
    """Write a change of accuracy, a share, in points.

    Examples
    --------
    >>> accuracy_points(0.0052)
    '+0.52'
    """
    return f"{100 * change:+.2f}".replace("-", MINUS)


def has_base_rates(sides: SidesSummary) -> bool:
    """Return whether a rate counts rows of both labels, so that the file's own rates say more."""
    return sides.rate in (SELECTION_RATE, ACCURACY)


def _in_the_file(sides: SidesSummary) -> str:
    if not has_base_rates(sides):
        return ""
    inside, outside = (percent(rate) for rate in sides.base_rates)
    return f"; in the file {inside} and {outside} have the label"

"""How the own effects of the sensitive features stand in the document and are put into words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from testsgd.auditing.findings import Findings, TableFindings
from testsgd.report.formatting import NOTHING, interval, is_nothing, plural, points, signed
from testsgd.report.summaries import Difference, Part, Positive


class OwnEffectSummary(Part):
    """The own effect of the sensitive features of a group: the same rows, with other values."""

    difference: Difference = Field(
        description="rate of all rows with the group's mixture of sensitive values, less that of "
        "all rows with the mixture of its complement"
    )
    confidence_interval: tuple[Difference, Difference] = Field(
        description="confidence interval of that difference; the mixtures are taken for given"
    )
    observed_difference: Difference = Field(
        description="the group's difference in the rows as they are; the rest of it comes with "
        "other features"
    )
    not_given: bool = Field(
        description="true: the model is given no sensitive feature, so that it is exactly 0"
    )
    draws: Positive | None = Field(
        None,
        description="draws a row from each of the two mixtures that it is estimated from; null: "
        "the model was asked about every combination",
    )
    drawn_rows: Positive | None = Field(
        None, description="rows drawn at random that it is estimated from; null: all rows"
    )


def own_effect_summaries(
    findings: Findings, groups: NDArray[np.intp]
) -> list[OwnEffectSummary | None]:
    """Write the own effects of the sensitive features of groups; None where one is not known."""
    if not isinstance(findings, TableFindings):
        return [None] * len(groups)
    estimates = findings.estimates
    for other in findings.others:
        if other.estimand == "observed":
            estimates = other.estimates
    errors = findings.guarantee.errors
    known = findings.own_effects
    low = high = np.full(len(groups), np.nan)
    if known is not None:
        low, high = known.intervals(groups, errors[groups])
    summaries: list[OwnEffectSummary | None] = []
    for index, group in enumerate(groups.tolist()):
        observed = float(estimates.difference[group])
        drawn = findings.drawn_effects.get(group)
        if drawn is not None:
            summary = OwnEffectSummary(
                difference=drawn.effect,
                confidence_interval=drawn.interval(float(errors[group])),
                observed_difference=observed,
                not_given=False,
                draws=drawn.draws,
                drawn_rows=drawn.rows,
            )
        elif known is None or np.isnan(known.effects[group]):
            summary = None
        else:
            summary = OwnEffectSummary(
                difference=float(known.effects[group]),
                confidence_interval=(float(low[index]), float(high[index])),
                observed_difference=observed,
                not_given=known.not_given,
            )
        summaries.append(summary)
    return summaries


def own_effect_points(effect: OwnEffectSummary | None) -> str:
    """Write an own effect with its interval, without unit.

    Examples
    --------
    >>> effect = OwnEffectSummary(
    ...     difference=0.1,
    ...     confidence_interval=(0.08, 0.12),
    ...     observed_difference=0.25,
    ...     not_given=False,
    ... )
    >>> own_effect_points(effect)
    '+10.0 (+8.0 to +12.0)'
    """
    if effect is None:
        return NOTHING
    if effect.not_given:
        return signed(effect.difference)
    return f"{signed(effect.difference)} ({interval(effect.confidence_interval)})"


def own_effect_sentence(effect: OwnEffectSummary | None) -> str:
    """Write how much of a difference is by the sensitive features; empty if that is not known.

    Examples
    --------
    >>> effect = OwnEffectSummary(
    ...     difference=0,
    ...     confidence_interval=(0, 0),
    ...     observed_difference=0.25,
    ...     not_given=True,
    ... )
    >>> print(own_effect_sentence(effect))
    The model is given no sensitive feature. So the difference of +25.0 points comes entirely
    through other features.
    """
    if effect is None:
        return ""
    part, whole = effect.difference, effect.observed_difference
    if effect.not_given:
        if is_nothing(whole):
            return "The model is given no sensitive feature, so these have no effect of their own."
        return (
            f"The model is given no sensitive feature. So the difference of {points(whole)} comes "
            "entirely through other features."
        )
    low, high = effect.confidence_interval
    ends = f"confidence interval {interval((low, high))}"
    if low <= 0 <= high:
        ends += ", which includes zero"
    if effect.draws is not None:
        ends += f"; {_basis(effect.draws, effect.drawn_rows)}"
    if part * whole < 0 and not is_nothing(part):
        return (
            f"The sensitive features themselves have an effect of {points(part)} ({ends}), against "
            f"the difference of {points(whole)}, which comes through other features."
        )
    # Of the numbers as they are written, so that they add up.
    rest = round(whole, 3) - round(part, 3)
    if abs(part) > 2 * abs(whole) and not is_nothing(part):
        return (
            f"Of the difference of {points(whole)}, the sensitive features themselves account for "
            f"{signed(part)} ({ends}), and other features, which make up for most of that, for "
            f"{signed(rest)}."
        )
    return (
        f"{signed(part)} of {points(whole)} are by the sensitive features themselves ({ends}); "
        f"{points(rest)} come through other features."
    )


def _basis(draws: int, rows: int | None) -> str:
    """Return the words for what an own effect is estimated from.

    Examples
    --------
    >>> _basis(3, None)
    'estimated from 3 draws a row'
    >>> _basis(1, 1_500)
    'estimated from 1 draw a row, of 1,500 rows'
    """
    of = "" if rows is None else f", of {plural(rows, 'row')}"
    return f"estimated from {plural(draws, 'draw')} a row{of}"

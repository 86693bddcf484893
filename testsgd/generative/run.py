"""The assessment itself: from labelled outputs to how groups appear among them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testsgd.generative import sequences
from testsgd.generative.coverage import (
    combination_coverage,
    covering_plan,
    outputs_needed_at_least,
)
from testsgd.generative.outcome import (
    AssessmentOutcome,
    CoverageOutcome,
    MissingCombination,
    Scope,
    SequenceOutcome,
    Standing,
    ValueOutcome,
)
from testsgd.generative.outputs import LabelledOutputs
from testsgd.generative.specification import GenerativeSpecification, Requirement

# So many combinations that do not appear are named.
_MOST_MISSING = 200
# A plan of further outputs is made for at most this number of missing combinations.
_MOST_PLANNED = 5_000


def assess(outputs: LabelledOutputs, specification: GenerativeSpecification) -> AssessmentOutcome:
    """Find how each value of each requirement appears, and which combinations do.

    Where some prompts are neutral and some are not, each requirement is looked at twice: over all
    outputs, and over those of neutral prompts alone, which say something of the model itself
    (paper, Definition 7).

    Parameters
    ----------
    outputs : LabelledOutputs
        The outputs in their order.
    specification : GenerativeSpecification
        What must hold.

    Returns
    -------
    AssessmentOutcome

    Examples
    --------
    >>> from testsgd.generative.outputs import labelled_outputs
    >>> people = GenerativeSpecification.from_dict({
    ...     "groupings": {"gender": {"values": ["female", "male"]}},
    ...     "requirements": [{"grouping": "gender", "beta": 3}]})
    >>> found = assess(labelled_outputs({"gender": [1, 2, 2, 2, 1, 2]}, people), people)
    >>> found.sequences[0].standing
    'broken'
    >>> [value.smallest_beta for value in found.sequences[0].values]
    [4, 2]
    """
    found: list[SequenceOutcome] = []
    all_neutral = bool(outputs.neutral)
    for requirement in specification.required:
        everything = np.ones(len(outputs), dtype=bool)
        found.append(_sequence(outputs, specification, requirement, "all", everything))
        neutral = outputs.neutral.get(requirement.grouping)
        if neutral is None:
            continue
        fulfilled = _fulfilled(outputs, specification, requirement.condition)
        if not neutral[fulfilled].all():
            all_neutral = False
            found.append(_sequence(outputs, specification, requirement, "neutral", neutral))
    return AssessmentOutcome(
        outputs=len(outputs),
        prompts_known=bool(outputs.neutral),
        all_neutral=all_neutral,
        sequences=tuple(found),
        coverage=_coverage(outputs, specification),
        several=sum(outputs.several.values()),
        unanswered=sum(outputs.unanswered.values()),
    )


def _fulfilled(
    outputs: LabelledOutputs,
    specification: GenerativeSpecification,
    condition: tuple[tuple[str, str], ...],
) -> NDArray[np.bool_]:
    """Return which outputs fulfil a condition, shape (n,)."""
    fulfilled = np.ones(len(outputs), dtype=bool)
    for name, value in condition:
        number = specification.groupings[name].values.index(value) + 1
        fulfilled &= outputs.labels[name] == number
    return fulfilled


def _sequence(
    outputs: LabelledOutputs,
    specification: GenerativeSpecification,
    requirement: Requirement,
    scope: Scope,
    included: NDArray[np.bool_],
) -> SequenceOutcome:
    """Return how the values of one requirement appear; `included` is a mask over all outputs."""
    fulfilled = _fulfilled(outputs, specification, requirement.condition) & included
    if outputs.requirements:
        # A journal has a line for each requirement that an output belongs to.
        fulfilled &= np.asarray(outputs.requirements) == requirement.name
    all_labels = outputs.labels[requirement.grouping]
    related = np.flatnonzero(fulfilled & (all_labels != 0))
    labels = all_labels[related]
    requested = outputs.asked.get(requirement.grouping)
    asked = np.zeros(len(related), dtype=np.int32) if requested is None else requested[related]
    values = _values(labels, asked, requirement, confidence=specification.confidence)
    shares = [value.share for value in values if value.share is not None]
    long_enough = len(labels) > max(requirement.betas, default=0)
    return SequenceOutcome(
        requirement=requirement,
        scope=scope,
        outputs=int(included.sum()),
        related=len(related),
        unrelated=int(fulfilled.sum()) - len(related),
        standing=_standing(values, requirement, long_enough=long_enough),
        long_enough=long_enough,
        all_appeared=all(value.first is not None for value in values),
        values=values,
        difference=max(shares) - min(shares) if shares else None,
        difference_low=_least_difference(values),
        difference_high=_greatest_difference(values),
        difference_bound=(
            sequences.frequency_bound(requirement.betas) if requirement.betas else None
        ),
        labels=labels,
        asked=asked != 0,
        positions=related,
    )


def _values(
    labels: NDArray[np.int32],
    asked: NDArray[np.int32],
    requirement: Requirement,
    *,
    confidence: float,
) -> tuple[ValueOutcome, ...]:
    """Return how each value appears among the related outputs.

    `labels` are the values of the outputs, `asked` those that were asked for or 0; both have shape
    (outputs,) and count from 1.
    """
    number_of_values = len(requirement.values)
    # The intervals of all values hold together (Bonferroni).
    each = 1 - (1 - confidence) / number_of_values
    found = sequences.frequencies(labels, values=number_of_values, confidence=each)
    waits = sequences.waits_of(labels, values=number_of_values)
    smallest = waits.smallest_betas().betas
    first = waits.appearances().first
    repetition = None
    if requirement.betas:
        repetition = waits.bounded_repetition(requirement.betas)
    outcomes = []
    for index, name in enumerate(requirement.values):
        wanted = asked == index + 1
        missed_at = None
        kept = None
        if repetition is not None:
            deadline = int(repetition.deadlines[index])
            # A deadline behind the end has not passed yet; whether the sequence is long enough to
            # judge is another matter.
            missed_at = deadline if 0 < deadline <= len(labels) else None
            kept = missed_at is None
        outcomes.append(
            ValueOutcome(
                name=name,
                count=int(found.counts[index]),
                share=float(found.shares[index]) if len(labels) else None,
                exact_low=float(found.exact_low[index]),
                exact_high=float(found.exact_high[index]),
                low=float(found.anytime_low[index]),
                high=float(found.anytime_high[index]),
                first=int(first[index]) or None,
                smallest_beta=int(smallest[index]),
                beta=requirement.betas[index] if requirement.betas else None,
                kept=kept,
                missed_at=missed_at,
                asked=int(wanted.sum()),
                obeyed=int((wanted & (labels == index + 1)).sum()),
            )
        )
    return tuple(outcomes)


def _standing(
    values: tuple[ValueOutcome, ...], requirement: Requirement, *, long_enough: bool
) -> Standing:
    """Return whether the betas were kept, by all values and the length of the sequence."""
    if not requirement.betas:
        return "described"
    if any(value.kept is False for value in values):
        return "broken"
    return "kept" if long_enough else "not_enough"


def _least_difference(values: tuple[ValueOutcome, ...]) -> float:
    """Return the lower end of the largest difference of two shares, by their intervals."""
    return max(0.0, max(value.low for value in values) - min(value.high for value in values))


def _greatest_difference(values: tuple[ValueOutcome, ...]) -> float:
    """Return the upper end of the largest difference of two different shares."""
    return max(above.high - below.low for above in values for below in values if above is not below)


def _coverage(
    outputs: LabelledOutputs, specification: GenerativeSpecification
) -> CoverageOutcome | None:
    """Return which combinations appear; None with fewer groupings than a combination joins."""
    wanted = specification.coverage
    names = specification.covered_groupings
    if len(names) < max(wanted.strength, 2):
        return None
    condition = tuple(wanted.when.items())
    fulfilled = _fulfilled(outputs, specification, condition)
    labels = np.column_stack([outputs.labels[name][fulfilled] for name in names])
    sizes = tuple(len(specification.groupings[name].values) for name in names)
    found = combination_coverage(labels, sizes=sizes, strength=wanted.strength)
    missing = tuple(
        MissingCombination(
            groupings=tuple(names[index] for index in combination.groupings),
            values=tuple(
                specification.groupings[names[index]].values[value - 1]
                for index, value in zip(combination.groupings, combination.values, strict=True)
            ),
        )
        for combination in found.missing(limit=_MOST_MISSING)
    )
    planned = None
    if found.total - found.covered <= _MOST_PLANNED:
        planned = len(covering_plan(found))
    return CoverageOutcome(
        groupings=names,
        strength=wanted.strength,
        condition=condition,
        outputs=int(fulfilled.sum()),
        combinations=found.total,
        covered=found.covered,
        curve=found.curve,
        missing=missing,
        least_further=outputs_needed_at_least(found),
        enough_further=planned,
    )

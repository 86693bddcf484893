"""From the answers about neutral words to the part of the summary on control effects."""

from __future__ import annotations

from collections.abc import Sequence

from testsgd.mitigation.control_effects import ControlAnswers
from testsgd.mitigation.outcome import MitigationOutcome
from testsgd.mitigation.parameters import MitigationParameters
from testsgd.mitigation.report.control_summary import (
    ControlChange,
    ControlChangesSummary,
    ControlFigure,
    ControlTargetSummary,
)
from testsgd.mitigation.report.samples_summary import SamplesSummary
from testsgd.mitigation.targets import Subject, subject_text


def control_changes(
    outcome: MitigationOutcome, samples: Sequence[list[SamplesSummary]]
) -> ControlChangesSummary | None:
    """Write down what became of control effects; None for rows, which have none.

    `samples` are those of each control effect that was countered.
    """
    material, found = outcome.material, outcome.controls
    if found is None:
        return None
    changes = _changes(outcome)
    after = [change for change in changes.values() if change.after is not None]
    return ControlChangesSummary(
        confidence=found.confidence if changes else None,
        effects=len(changes),
        decides=bool(material.controls) and decides(outcome),
        targets=[
            ControlTargetSummary(
                category=target.category_name,
                term=target.term_name,
                text=target.text,
                effect=target.effect,
                lower_confidence_bound=target.lower_bound,
                held_out=changes.get(target.subject),
                samples=generated,
            )
            for target, generated in zip(material.controls, samples, strict=True)
        ],
        largest_before=max(
            changes.values(), key=lambda change: abs(change.before.difference), default=None
        ),
        largest_after=max(after, key=_size_after, default=None),
    )


def decides(outcome: MitigationOutcome) -> bool:
    """Return whether the verdict goes by a control effect: if it leads, and no group was named."""
    return outcome.material.controls_lead and not named_groups(outcome.parameters)


def named_groups(parameters: MitigationParameters) -> bool:
    """Return whether the user named the groups to help, by a rank or by a score."""
    return parameters.group is not None or parameters.all_above is not None


def _size_after(change: ControlChange) -> float:
    return 0.0 if change.after is None else abs(change.after.difference)


def _changes(outcome: MitigationOutcome) -> dict[Subject, ControlChange]:
    """Return what became of each control effect that was measured on held-out texts."""
    found = outcome.controls
    assert found is not None
    categories = outcome.material.term_categories
    changes = {}
    for place, before in enumerate(found.before):
        after = None if found.after is None else found.after[place]
        category, term = before.subject
        name = categories[category].name
        term_name = None if term is None else categories[category].terms[term].name
        change = None if after is None else before.change(after, found.confidence)
        changes[before.subject] = ControlChange(
            category=name,
            term=term_name,
            text=subject_text(name, term_name),
            texts=len(before.with_term),
            controls=list(before.controls),
            before=_figure(before, found.confidence),
            after=None if after is None else _figure(after, found.confidence),
            change=None if change is None else change[0],
            change_interval=None if change is None else change[1:],
        )
    return changes


def _figure(answers: ControlAnswers, confidence: float) -> ControlFigure:
    effect = answers.effect(confidence)
    return ControlFigure(difference=effect.difference, confidence_interval=effect.interval)

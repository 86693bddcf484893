"""From an assessment to the summary document that every view is rendered from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from testsgd.generative.pictures import thumbnail
from testsgd.generative.report import summary as documents
from testsgd.generative.report.summary import GenerativeSummary
from testsgd.generative.report.verdict import PENDING, generative_verdict
from testsgd.report.summaries import package_versions, present_moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from testsgd.generative.outcome import AssessmentOutcome, CoverageOutcome, SequenceOutcome
    from testsgd.generative.pictures import Picture
    from testsgd.generative.specification import GenerativeSpecification

# So many outputs of a sequence, the last ones, are in the document.
MOST_DRAWN = 1000
# So many related outputs of a requirement, the first ones, are shown as pictures.
MOST_PICTURES = 24
# So many letters of base64 all of them have together: a page with those of an earlier result, too,
# stays below 3 MB.
MOST_LETTERS = 1_250_000


def summarise_assessment(
    outcome: AssessmentOutcome,
    specification: GenerativeSpecification,
    *,
    before: Sequence[documents.SequenceSummary] = (),
    keep_sequence: bool = True,
    pictures: Sequence[Picture | None] = (),
) -> GenerativeSummary:
    """Return an assessment as one document, with its verdict in words.

    Reports and ``result.json`` are rendered from the document; it holds the values of the last
    1,000 related outputs of each requirement, and pictures of the first 24 at most.

    Parameters
    ----------
    outcome : AssessmentOutcome
        What :func:`testsgd.generative.assess` found.
    specification : GenerativeSpecification
        The specification that the outputs were assessed by.
    before : sequence of SequenceSummary
        The sequences of an earlier assessment, which the report shows beside these.
    keep_sequence : bool
        Whether the values of single outputs are in the document.
    pictures : sequence of Picture or None
        The picture of each output, or None; empty if none is shown.

    Returns
    -------
    GenerativeSummary
    """
    settings = documents.GenerativeSettings(
        confidence=specification.confidence,
        neutrality=specification.neutrality.by,
        groupings={
            name: list(grouping.values) for name, grouping in specification.groupings.items()
        },
    )
    coverage = None if outcome.coverage is None else _coverage(outcome.coverage)
    without_verdict = GenerativeSummary(
        created=present_moment(),
        versions=package_versions(("numpy",)),
        name=specification.name,
        digest=specification.digest(),
        settings=settings,
        sequences=[
            _sequence(sequence, most=MOST_DRAWN if keep_sequence else 0, pictures=shown)
            for sequence, shown in zip(
                outcome.sequences, _all_pictures(outcome.sequences, pictures), strict=True
            )
        ],
        before=list(before),
        coverage=coverage,
        outputs=outcome.outputs,
        several=outcome.several,
        unanswered=outcome.unanswered,
        prompts_known=outcome.prompts_known,
        all_neutral=outcome.all_neutral,
        verdict=PENDING,
    )
    return without_verdict.model_copy(update={"verdict": generative_verdict(without_verdict)})


def _all_pictures(
    sequences: Sequence[SequenceOutcome], pictures: Sequence[Picture | None]
) -> list[list[documents.PictureSummary]]:
    """Return the pictures of each requirement; the letters allowed are shared out equally."""
    shown = sum(sequence.scope == "all" for sequence in sequences)
    room = MOST_LETTERS // max(shown, 1)
    return [
        _pictures(sequence, pictures, room=room) if pictures and sequence.scope == "all" else []
        for sequence in sequences
    ]


def _pictures(
    sequence: SequenceOutcome, pictures: Sequence[Picture | None], *, room: int
) -> list[documents.PictureSummary]:
    """Return the first related outputs as pictures, until there is no room for a further one."""
    found: list[documents.PictureSummary] = []
    for index in range(min(sequence.related, MOST_PICTURES)):
        position = int(sequence.positions[index])
        picture = pictures[position]
        if picture is None:
            continue
        data = thumbnail(picture, where=f"picture {position + 1}")
        room -= len(data)
        if room < 0:
            break
        label = sequence.requirement.values[int(sequence.labels[index]) - 1]
        asked = bool(sequence.asked[index])
        found.append(documents.PictureSummary(data=data, label=label, asked=asked))
    return found


def _sequence(
    sequence: SequenceOutcome, *, most: int, pictures: list[documents.PictureSummary]
) -> documents.SequenceSummary:
    """Describe one requirement; its last `most` values are negative where they were asked for."""
    requirement = sequence.requirement
    signs = np.where(sequence.asked, -1, 1)
    signed = sequence.labels * signs
    drawn = signed[max(len(signed) - most, 0) :] if most else signed[:0]
    return documents.SequenceSummary.of(
        sequence,
        name=requirement.name,
        grouping=requirement.grouping,
        conditions=_conditions(requirement.condition),
        values=[documents.ValueSummary.of(value) for value in sequence.values],
        sequence=drawn.tolist(),
        pictures=pictures,
    )


def _conditions(condition: tuple[tuple[str, str], ...]) -> list[documents.ConditionSummary]:
    return [
        documents.ConditionSummary(grouping=grouping, value=value) for grouping, value in condition
    ]


def _coverage(coverage: CoverageOutcome) -> documents.CoverageSummary:
    missing = [
        documents.MissingSummary(groupings=list(one.groupings), values=list(one.values))
        for one in coverage.missing
    ]
    return documents.CoverageSummary.of(
        coverage,
        groupings=list(coverage.groupings),
        conditions=_conditions(coverage.condition),
        curve=_curve(coverage),
        missing=missing,
    )


def _curve(coverage: CoverageOutcome) -> list[documents.CurvePoint]:
    """Return the points of the curve where it rises, and its end."""
    rises = np.flatnonzero(np.diff(coverage.curve, prepend=0))
    points = [
        documents.CurvePoint(outputs=int(index) + 1, covered=int(coverage.curve[index]))
        for index in rises
    ]
    if not points or points[-1].outputs < coverage.outputs:
        points.append(documents.CurvePoint(outputs=coverage.outputs, covered=coverage.covered))
    return points

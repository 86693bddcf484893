"""From the outcome of a frontier to the summary document that every view is rendered from."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from testsgd.auditing.report.subject import table_summary
from testsgd.auditing.report.summary import LabelSummary
from testsgd.mitigation.frontiers.report.summary import (
    AccuracySummary,
    ExpectedSummary,
    FrontierModel,
    FrontierSplit,
    FrontierSummary,
    FrontierVerdict,
    PointSummary,
    SidesSummary,
    WorstOfGroups,
)
from testsgd.mitigation.frontiers.report.verdict import frontier_verdict
from testsgd.mitigation.report.summary import SideEffectsSummary
from testsgd.mitigation.report.written import side_effects_summary
from testsgd.report.summaries import package_versions, present_moment

# The outcome's classes load scikit-learn.
if TYPE_CHECKING:
    from testsgd.mitigation.frontiers.outcome import FrontierOutcome, MeasuredPoint

_PACKAGES = ("numpy", "pandas", "scikit-learn", "scipy")


def summarise_frontier(outcome: FrontierOutcome) -> FrontierSummary:
    """Write what a frontier is found to be as one document; it shows no row of the data."""
    problem, material = outcome.problem, outcome.problem.material
    label, model = material.specification.label, problem.loaded.model
    summary = FrontierSummary(
        created=present_moment(),
        settings=problem.parameters,
        method=outcome.method,
        versions=package_versions(_PACKAGES),
        data=table_summary(
            material.table,
            predictions_given=False,
            label=LabelSummary(
                column=label.column,
                favourable=label.favourable,
                together=list(label.together),
                others=list(label.others),
                meaning=label.meaning,
            ),
        ),
        split=FrontierSplit(
            seen=len(problem.seen),
            held_out=len(problem.held_out),
            source=material.split.source,
            seed=material.split.seed,
            held_out_sha256=hashlib.sha256(problem.held_out.astype("<i8").tobytes()).hexdigest(),
            warning="" if outcome.refitted else material.split.warning,
        ),
        original=FrontierModel(
            name=model.name, kind=model.kind, refitted=outcome.refitted, fitting=outcome.kind
        ),
        tried=outcome.tried,
        depth=outcome.depth,
        groups=outcome.groups,
        before=AccuracySummary.of(outcome.before),
        worst_before=WorstOfGroups.of(outcome.worst_before),
        worst_change=outcome.worst_change,
        constant_accuracy=outcome.constant_accuracy,
        points=[_point(point) for point in outcome.points],
        chosen=outcome.chosen,
        reason=outcome.reason,
        too_few_rows=outcome.too_few_rows,
        neighbourhood=outcome.neighbourhood,
        effects=_effects(outcome),
        paying=[SidesSummary.of(sides) for sides in outcome.paying],
        ceiling=[_point(point) for point in outcome.ceiling],
        verdict=FrontierVerdict(status="no_point", exit_code=1, headline="", sentences=[]),
        seconds=dict(outcome.seconds),
    )
    return summary.model_copy(update={"verdict": frontier_verdict(summary)})


def _point(point: MeasuredPoint) -> PointSummary:
    return PointSummary(
        strength=point.expected.strength,
        kind=point.model.kind,
        expected=ExpectedSummary.of(point.expected),
        accuracy=AccuracySummary.of(point.accuracy),
        worst=WorstOfGroups.of(point.worst),
    )


def _effects(outcome: FrontierOutcome) -> SideEffectsSummary | None:
    if outcome.effects is None or outcome.small_groups is None:
        return None
    return side_effects_summary(outcome.effects, rule_set=outcome.small_groups.rule_sets.rule_set)

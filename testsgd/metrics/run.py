"""The audit of metrics: from rows to groups that differ, explained, and held out if asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.conditional import check_other_features
from testsgd.auditing.findings import Holdout, UnestimatedGroup
from testsgd.auditing.named_groups import read_reference
from testsgd.auditing.run import part_of_rows, two_parts
from testsgd.data import Table
from testsgd.errors import ParameterError
from testsgd.metrics.cells import MetricCells, cells_of_rows
from testsgd.metrics.definitions import Metric
from testsgd.metrics.explaining import AlikeComparison, compare_alike, explain_groups
from testsgd.metrics.further_looks import with_further_looks
from testsgd.metrics.parameters import OVERALL, MetricParameters
from testsgd.metrics.predictions import Predictions
from testsgd.metrics.search import (
    GivenGroups,
    MetricFindings,
    MetricsFindings,
    SearchedGroup,
    audit_cells,
    overlaps_of,
)
from testsgd.metrics.stability import affordable, found_again
from testsgd.progress import Progress, step
from testsgd.rules import FrequentRuleSets, default_depth, lay_out, sensitive_axes
from testsgd.rules.axes import Axis
from testsgd.scoring import first_without_copy
from testsgd.single_thread import on_one_thread

# Distinct groups of each metric of which it is said what makes up their differences.
_EXPLAINED = 8
# From this overlap on two groups are the same people, or one the complement of the other.
_THE_SAME = 1 - 1e-9


@dataclass(frozen=True, kw_only=True)
class MetricRows:
    """Rows with predictions, of which metrics are compared."""

    table: Table
    predictions: Predictions
    metrics: Sequence[Metric]
    axes: Sequence[Axis]

    @classmethod
    def of(
        cls,
        table: Table,
        predictions: Predictions,
        metrics: Sequence[Metric],
        *,
        bins: int | None,
        min_rows: int,
    ) -> MetricRows:
        """Lay out the sensitive features of rows."""
        return cls(
            table=table,
            predictions=predictions,
            metrics=metrics,
            axes=sensitive_axes(table, bins=bins, rows=predictions.rows, min_rows=min_rows),
        )

    def cells(self) -> MetricCells:
        """Sum the metrics over the cells of the sensitive features."""
        contingency = lay_out(self.table, self.axes)
        return cells_of_rows(contingency, self.predictions, self.metrics)

    def read_reference(self, text: str) -> str:
        """Return what reports call the group that an expression names."""
        return read_reference(text, self.table)


def run_metrics(
    rows: MetricRows, parameters: MetricParameters, *, progress: Progress | None = None
) -> MetricsFindings:
    """Compare metrics of all groups, and explain the first of each.

    `progress` is called when a phase begins and when it is done.

    Raises
    ------
    ParameterError
        If a metric counts no row, the reference is no group, or what is asked for needs other rows.
    """
    check_other_features(parameters.condition_on, rows.table.specification)
    if parameters.max_features is None:
        parameters = replace(parameters, max_features=default_depth(rows.axes))
    # The threads are our own: on a busy machine those of a product of matrices wait for each other.
    with on_one_thread("blas"):
        if parameters.holdout is None:
            with step(progress, "comparing groups"):
                found = audit_cells(rows.cells(), parameters, read_reference=rows.read_reference)
            with step(progress, "searching bootstrap samples"):
                found = _with_stability(found)
        else:
            with step(progress, "comparing groups, in two parts of the rows"):
                rows, found = _held_out(rows, parameters, parameters.holdout)
        with step(progress, "explaining groups"):
            return _explained(_looked_further(found, rows), rows)


def _held_out(
    rows: MetricRows, parameters: MetricParameters, share: float
) -> tuple[MetricRows, MetricsFindings]:
    """Return the rows of one part, and estimates on them of groups searched on the other."""
    if rows.predictions.rows is not None:
        raise ParameterError(
            "rows that were counted elsewhere cannot be split",
            where="holdout",
            remedy="leave it out, or count two parts of the rows",
        )
    inside = part_of_rows(rows.table, share, parameters.seed)
    parts = two_parts(rows.table, inside, share, parameters.seed)
    searched, kept = (
        replace(rows, table=part, predictions=rows.predictions.take(np.flatnonzero(chosen)))
        for part, chosen in zip(parts, (~inside, inside), strict=True)
    )
    found = audit_cells(
        searched.cells(),
        replace(parameters, guarantee="per-group"),
        read_reference=rows.read_reference,
    )
    parameters = replace(parameters, reference=found.parameters.reference)
    found = _with_stability(found)
    given, numbers = _given_groups(found)
    cells = kept.cells()
    estimated = audit_cells(cells, parameters, given=given)
    unestimated: Sequence[UnestimatedGroup | None] = [None] * len(estimated.metrics)
    if parameters.fail_above is not None or parameters.fail_below is not None:
        unestimated = _largest_unestimated(cells, parameters, given)
    estimated = replace(
        estimated,
        unjudged=found.unjudged,
        stability_samples=found.stability_samples,
        holdout=Holdout(
            share=share,
            searched=len(searched.table),
            estimated=len(kept.table),
            groups=len(found.rule_sets),
            missing=sum(
                int((of_metric & ~part.compared.judged).sum())
                for of_metric, part in zip(given.found, estimated.metrics, strict=True)
            ),
        ),
        metrics=tuple(
            replace(_as_searched(part, before, numbers), unestimated=largest)
            for part, before, largest in zip(
                estimated.metrics, found.metrics, unestimated, strict=True
            )
        ),
    )
    return kept, estimated


def _largest_unestimated(
    cells: MetricCells, parameters: MetricParameters, given: GivenGroups
) -> list[UnestimatedGroup | None]:
    """Return for each metric the group of the rows held out that differs most of those not given.

    A gate that passed by the given groups alone would be silent on all others.
    """
    everything = audit_cells(cells, replace(parameters, guarantee="per-group", strict=False))
    overlaps = overlaps_of(cells, everything.rule_sets, parameters.reference)
    texts = everything.rule_sets.texts(np.arange(len(everything.rule_sets)))
    found: list[UnestimatedGroup | None] = []
    for metric, is_given in zip(everything.metrics, given.found, strict=True):
        given_texts = given.rule_sets.texts(np.flatnonzero(is_given))
        estimated = np.flatnonzero(np.isin(texts.astype(str), given_texts.astype(str)))
        sizes = metric.compared.size
        judged = np.flatnonzero(metric.compared.judged & ~np.isnan(sizes))
        order = judged[np.argsort(-sizes[judged], kind="stable")]
        group = first_without_copy(order, estimated, overlaps, overlap=_THE_SAME)
        found.append(
            None
            if group is None
            else UnestimatedGroup(
                text=texts[group], size=float(sizes[group]), measure="in the rows held out"
            )
        )
    return found


def _looked_further(found: MetricsFindings, rows: MetricRows) -> MetricsFindings:
    return with_further_looks(found, rows.table, rows.predictions, rows.axes)


def _given_groups(found: MetricsFindings) -> tuple[GivenGroups, dict[int, int]]:
    """Return the first groups of all metrics and their references, and their new numbers.

    The first groups are those that are no near copies of one before.
    """
    chosen: dict[int, None] = {}
    for metric in found.metrics:
        references = metric.reference_group[list(metric.no_near_copies)]
        chosen |= dict.fromkeys(metric.no_near_copies)
        chosen |= dict.fromkeys(int(group) for group in references if group >= 0)
    groups = np.array(list(chosen), dtype=np.intp)
    numbers = {int(group): number for number, group in enumerate(groups)}
    rule_sets: FrequentRuleSets = found.rule_sets.take(groups)
    return (
        GivenGroups(
            rule_sets=rule_sets,
            found=[np.isin(groups, metric.no_near_copies) for metric in found.metrics],
            references=[
                np.array(
                    [numbers.get(int(metric.reference_group[group]), -1) for group in groups],
                    dtype=np.intp,
                )
                for metric in found.metrics
            ],
        ),
        numbers,
    )


def _as_searched(
    estimated: MetricFindings, found: MetricFindings, numbers: dict[int, int]
) -> MetricFindings:
    """Return the estimates of a metric with rank, effect and size of its groups in the search."""
    ranks = {int(group): rank for rank, group in enumerate(found.ranking, start=1)}
    return replace(
        estimated,
        unjudged=found.unjudged,
        stability={numbers[group]: share for group, share in found.stability.items()},
        in_search={
            numbers[group]: SearchedGroup(
                rank=ranks[group],
                effect=float(found.compared.effect[group]),
                counted=int(found.compared.counted[group]),
            )
            for group in found.no_near_copies
        },
    )


def _with_stability(found: MetricsFindings) -> MetricsFindings:
    """Return findings with the stability of their first groups over bootstrap samples."""
    samples = found.parameters.stability
    if samples is None:
        samples = affordable(
            len(found.rule_sets), found.cells.contingency.cells, len(found.metrics)
        )
    shares = found_again(
        found.cells,
        found.rule_sets,
        found.metrics,
        reference=found.parameters.reference,
        overlap=found.parameters.overlap,
        samples=samples,
        seed=found.parameters.seed,
    )
    return replace(
        found,
        stability_samples=samples,
        metrics=tuple(
            replace(metric, stability=of_metric)
            for metric, of_metric in zip(found.metrics, shares, strict=True)
        ),
    )


def _explained(found: MetricsFindings, rows: MetricRows) -> MetricsFindings:
    """Return findings with explanations of the first distinct groups."""
    explained = []
    for index, metric in enumerate(found.metrics):
        groups = np.array(metric.distinct[:_EXPLAINED], dtype=np.intp)
        alike: Sequence[AlikeComparison | None] = [None] * len(groups)
        if found.parameters.condition_on and len(groups):
            alike = _compared_alike(found, index, groups, rows)
        explanations = explain_groups(
            found.cells,
            index,
            found.rule_sets,
            groups,
            table=rows.table,
            reference=found.parameters.reference,
            alike=alike,
        )
        explained.append(replace(metric, explanations=explanations))
    return replace(found, metrics=tuple(explained))


def _compared_alike(
    found: MetricsFindings, index: int, groups: NDArray[np.intp], rows: MetricRows
) -> Sequence[AlikeComparison | None]:
    """Compare groups with their references, or complements, after giving both the same mix."""
    metric = found.metrics[index]
    contingency = found.cells.contingency
    members = found.rule_sets.members(groups, contingency)
    others = found.rule_sets.complement_members(groups, contingency)
    if found.parameters.reference == OVERALL:
        others = ~members
    references = metric.reference_group[groups]
    named = np.flatnonzero(references >= 0)
    if len(named):
        others[named] = found.rule_sets.members(references[named], contingency)
    return compare_alike(
        rows.table,
        found.cells,
        index,
        rows.predictions,
        members,
        others,
        features=found.parameters.condition_on,
        measure=found.parameters.measure,
        error=metric.compared.error,
    )

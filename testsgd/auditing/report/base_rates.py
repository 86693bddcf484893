"""Base rates: how often the file itself has the favourable label, in a group and outside."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.findings import Findings, TableFindings
from testsgd.auditing.metrics import SELECTION_RATE

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LabelCounts:
    """Rows with a label, and those with the favourable one, in each cell of sensitive values."""

    counts: NDArray[np.int64]  # Labelled and favourable rows, shape (2, cells).

    @property
    def overall(self) -> float:
        """Base rate of all rows that have a label."""
        labelled, favourable = self.counts.sum(axis=1)
        return float(favourable / labelled)


def count_labels(findings: TableFindings) -> LabelCounts | None:
    """Count the labels of the file by cell.

    Parameters
    ----------
    findings : TableFindings
        What an audit of selection rates found.

    Returns
    -------
    LabelCounts or None
        None if the file has no labels, or if other metrics than the selection rate were compared:
        they count some of the rows only.
    """
    labels = findings.table.labels
    if labels is None or findings.parameters.metric != SELECTION_RATE:
        return None
    known = labels.notna().to_numpy(dtype=bool)
    if not known.any():
        return None
    favourable = (labels == findings.table.specification.label.favourable).to_numpy(dtype=bool)
    contingency = findings.contingency
    masks = (known, known & favourable)
    return LabelCounts(np.vstack([contingency.tally(mask.astype(np.int64)) for mask in masks]))


def base_rates_of_groups(
    findings: TableFindings, labels: LabelCounts, groups: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Compute the base rates of some groups and of their complements.

    Parameters
    ----------
    findings : TableFindings
        What the audit found.
    labels : LabelCounts
        The labels of the file by cell.
    groups : numpy.ndarray of int, shape (k,)
        The indices of the groups.

    Returns
    -------
    inside, outside : numpy.ndarray of float64, shape (k,)
        Shares of the labelled rows; NaN where no row has a label.
    """
    inside = findings.rule_sets.members(groups, findings.contingency)
    outside = findings.rule_sets.complement_members(groups, findings.contingency)
    return _share(labels.counts @ inside.T), _share(labels.counts @ outside.T)


def group_base_rates(findings: Findings, groups: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Return the base rates of groups and of their complements; NaN where they are not known."""
    labels = count_labels(findings) if isinstance(findings, TableFindings) else None
    if labels is None or not isinstance(findings, TableFindings):
        unknown = np.full(len(groups), np.nan)
        return unknown, unknown
    return base_rates_of_groups(findings, labels, groups)


def base_rates_of_cells(findings: TableFindings, labels: LabelCounts, axis: int) -> Floats:
    """Compute the base rate of each value or bin of a feature.

    Parameters
    ----------
    findings : TableFindings
        What the audit found.
    labels : LabelCounts
        The labels of the file by cell.
    axis : int
        The index of the feature among the axes of the contingency table.

    Returns
    -------
    numpy.ndarray of float64, shape (values,)
        Shares of the labelled rows; NaN where no row has a label.
    """
    return _share(findings.contingency.dense((axis,), labels.counts))


def _share(counts: NDArray[np.int64]) -> Floats:
    """Return favourable rows as a share of labelled ones; `counts` has the shape (2, k)."""
    labelled, favourable = counts
    share = np.full(len(labelled), np.nan)
    np.divide(favourable, labelled, out=share, where=labelled > 0)
    return share

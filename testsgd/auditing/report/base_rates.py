"""Base rates: how often the file itself has the favourable label, in a group and outside."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.findings import Findings, TableFindings
from testsgd.auditing.metrics import SELECTION_RATE
from testsgd.auditing.report.composition import described_rule_set
from testsgd.auditing.report.further_looks import FurtherGroup, WithinGroup

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class BaseRates:
    """How often the file has the favourable label in a group and outside; None if unknown."""

    inside: float | None
    outside: float | None


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
    masks = _label_masks(findings)
    if masks is None:
        return None
    contingency = findings.contingency
    return LabelCounts(np.vstack([contingency.tally(mask.astype(np.int64)) for mask in masks]))


def _label_masks(findings: TableFindings) -> tuple[Mask, Mask] | None:
    """Return which rows have a label, and which of them the favourable one; None if none has."""
    labels = findings.table.labels
    if labels is None or findings.parameters.metric != SELECTION_RATE:
        return None
    known = labels.notna().to_numpy(dtype=bool)
    if not known.any():
        return None
    favourable = (labels == findings.table.specification.label.favourable).to_numpy(dtype=bool)
    return known, known & favourable


def base_rates_of_look(
    look: FurtherGroup | WithinGroup | None, findings: TableFindings
) -> BaseRates | None:
    """Compute the base rates of a group of a look beyond the search and of its complement.

    Parameters
    ----------
    look : FurtherGroup, WithinGroup or None
        The group; of one within a slice only rows of the slice count.
    findings : TableFindings
        What the audit found.

    Returns
    -------
    BaseRates or None
        None without a look, and where the file has no labels or other metrics were compared.
    """
    masks = None if look is None else _label_masks(findings)
    if look is None or masks is None:
        return None
    rules = described_rule_set(look.rules)
    among = np.ones(len(findings.table), dtype=bool)
    if isinstance(look, WithinGroup):
        found = () if findings.slices is None else findings.slices.found
        slices = [item.slice for item in found if item.slice.text == look.slice]
        if not slices:
            return None
        among = slices[0].matches(findings.table)
    sides = (among & rules.matches(findings.table), among & rules.complement(findings.table))
    counts = np.array([[int((mask & side).sum()) for side in sides] for mask in masks])
    inside, outside = (None if np.isnan(rate) else float(rate) for rate in _share(counts))
    return BaseRates(inside, outside)


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

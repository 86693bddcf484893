"""Rates over the cells of a table's sensitive features, and of pairs of them."""

from __future__ import annotations

import itertools

import numpy as np

from testsgd.auditing import TableFindings
from testsgd.reporting.chart_numbers import rounded
from testsgd.reporting.summary import CellRate, FeatureRates, HeatMap


def feature_rates(findings: TableFindings) -> list[FeatureRates]:
    """Compute the rates over the cells of each sensitive feature.

    Parameters
    ----------
    findings : TableFindings
        What the audit found.

    Returns
    -------
    list of FeatureRates
    """
    contingency = findings.contingency
    quantities = _quantities(findings)
    rates = []
    for place, axis in enumerate(contingency.axes):
        rows, samples, favourable = contingency.dense((place,), quantities)
        rates.append(
            FeatureRates(
                feature=axis.feature,
                cells=[
                    CellRate(label=label, n=int(n), rate=_rate(yes, asked))
                    for label, n, yes, asked in zip(
                        axis.labels, rows, favourable, samples, strict=True
                    )
                ],
            )
        )
    return rates


def heat_maps(findings: TableFindings) -> list[HeatMap]:
    """Compute the rates over the cells of each pair of sensitive features.

    Parameters
    ----------
    findings : TableFindings
        What the audit found.

    Returns
    -------
    list of HeatMap
    """
    contingency = findings.contingency
    quantities = _quantities(findings)
    maps = []
    for pair in itertools.combinations(range(len(contingency.axes)), 2):
        rows, samples, favourable = contingency.dense(pair, quantities)
        first, second = (contingency.axes[place] for place in pair)
        maps.append(
            HeatMap(
                row_feature=first.feature,
                column_feature=second.feature,
                row_labels=list(first.labels),
                column_labels=list(second.labels),
                rates=[
                    [_rate(yes, asked) for yes, asked in zip(*lines, strict=True)]
                    for lines in zip(favourable, samples, strict=True)
                ],
                counts=rows.tolist(),
            )
        )
    return maps


def _quantities(findings: TableFindings) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.vstack(
        [findings.contingency.tally(), findings.cell_samples, findings.cell_favourable]
    )


def _rate(favourable: int, samples: int) -> float | None:
    return rounded(favourable / samples) if samples else None

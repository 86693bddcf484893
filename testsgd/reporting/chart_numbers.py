"""The numbers behind the charts: rates over cells of the sensitive features, and all groups."""

from __future__ import annotations

import itertools

import numpy as np

from testsgd.auditing import Findings
from testsgd.reporting.summary import CellRate, Charts, FeatureRates, HeatMap, ScatterCell

# More points than this are one on top of the other; they are then counted by small cells.
_MOST_POINTS = 1500
_CELLS = 60


def charts(findings: Findings) -> Charts:
    """Compute what the charts of a report show.

    Parameters
    ----------
    findings : Findings
        What the audit found.

    Returns
    -------
    Charts
    """
    points, binned = _scatter(findings)
    return Charts(
        scatter=points,
        scatter_binned=binned,
        features=_feature_rates(findings),
        heat_maps=_heat_maps(findings),
    )


def _scatter(findings: Findings) -> tuple[list[ScatterCell], bool]:
    support = findings.estimates.rows_in[findings.ranking] / len(findings.table)
    score = findings.estimates.score[findings.ranking]
    if len(score) <= _MOST_POINTS:
        points = [
            ScatterCell(support=_rounded(x), score=_rounded(y), n=1)
            for x, y in zip(support, score, strict=True)
        ]
        return points, False
    highest = float(score.max()) or 1.0
    counts, support_edges, score_edges = np.histogram2d(
        support, score, bins=_CELLS, range=[[0, 1], [0, highest]]
    )
    support_centres = (support_edges[:-1] + support_edges[1:]) / 2
    score_centres = (score_edges[:-1] + score_edges[1:]) / 2
    return [
        ScatterCell(
            support=_rounded(support_centres[i]),
            score=_rounded(score_centres[j]),
            n=int(counts[i, j]),
        )
        for i, j in np.argwhere(counts > 0)
    ], True


def _feature_rates(findings: Findings) -> list[FeatureRates]:
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


def _heat_maps(findings: Findings) -> list[HeatMap]:
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


def _quantities(findings: Findings) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.vstack(
        [findings.contingency.tally(), findings.cell_samples, findings.cell_favourable]
    )


def _rate(favourable: int, samples: int) -> float | None:
    return _rounded(favourable / samples) if samples else None


def _rounded(value: float) -> float:
    return round(float(value), 4)

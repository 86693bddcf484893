"""The numbers behind the charts: all groups, and rates over cells of the sensitive features."""

from __future__ import annotations

import numpy as np

from testsgd.auditing import Findings
from testsgd.reporting.subject import Subject
from testsgd.reporting.summary import Charts, ScatterCell

# More points than this are one on top of the other; they are then counted by small cells.
_MOST_POINTS = 1500
_CELLS = 60


def charts(findings: Findings, subject: Subject) -> Charts:
    """Compute what the charts of a report show.

    Parameters
    ----------
    findings : Findings
        What the audit found.
    subject : Subject
        The same findings, with what belongs to their kind of data.

    Returns
    -------
    Charts
    """
    points, binned = _scatter(findings)
    return Charts(
        scatter=points,
        scatter_binned=binned,
        features=subject.feature_rates(),
        heat_maps=subject.heat_maps(),
    )


def _scatter(findings: Findings) -> tuple[list[ScatterCell], bool]:
    support = findings.estimates.rows_in[findings.ranking] / findings.rows
    score = findings.estimates.score[findings.ranking]
    if len(score) <= _MOST_POINTS:
        points = [
            ScatterCell(support=rounded(x), score=rounded(y), n=1)
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
            support=rounded(support_centres[i]),
            score=rounded(score_centres[j]),
            n=int(counts[i, j]),
        )
        for i, j in np.argwhere(counts > 0)
    ], True


def rounded(value: float) -> float:
    """Round a share or a rate as far as a chart shows it."""
    return round(float(value), 4)

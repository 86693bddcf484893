"""What the gate of an audit of texts looks at, and how well that is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from testsgd.auditing.estimates import Estimates, Floats
from testsgd.auditing.guarantee import Guarantee
from testsgd.auditing.report.gate import GateMeasure
from testsgd.auditing.text import TextFindings


def text_measures(findings: TextFindings, differences: Sequence[GateMeasure]) -> list[GateMeasure]:
    """Return what the gate looks at: effects of terms, or differences if groups are ranked so.

    `differences` has a measure for each estimand, the one that groups are ranked by first.
    """
    if findings.parameters.ranked_by == "counterfactual" and findings.counterfactual is not None:
        return [_counterfactual_measure(findings), _control_measure(findings)]
    estimated = [(findings.estimates, findings.guarantee)]
    estimated += [(other.estimates, other.guarantee) for other in findings.others]
    return [
        replace(measure, widest=_widest_difference(estimates, guarantee))
        for measure, (estimates, guarantee) in zip(differences, estimated, strict=True)
    ]


def _widest_difference(estimates: Estimates, guarantee: Guarantee) -> float | None:
    """Return half the width of the widest interval of a decided group; None if there is none."""
    low, high = guarantee.confidence_intervals(estimates, np.flatnonzero(estimates.decided))
    return _largest((high - low) / 2)


def _counterfactual_measure(findings: TextFindings) -> GateMeasure:
    """Return the largest counterfactual effect of terms, and what its intervals allow."""
    effects = findings.counterfactual
    judged = findings.judged
    assert effects is not None
    low, high = effects.low[judged], effects.high[judged]
    return GateMeasure(
        "counterfactual effect",
        findings.top_score,
        findings.largest_bound if findings.guarantee.kind == "simultaneous" else None,
        allowed=_largest(np.maximum(np.abs(low), np.abs(high))),
        widest=_largest((high - low) / 2),
    )


def _control_measure(findings: TextFindings) -> GateMeasure:
    """Return the largest control effect, and what all controls agree on.

    What some controls show and others do not can keep the gate from passing, and never fails it.
    """
    name = "control effect"
    known = findings.control_effects
    if known is None:
        return GateMeasure(name, None, None)
    judged = known.judged(findings.parameters.fewest_rows(findings.rows))
    if not judged:
        return GateMeasure(name, None, None)
    largest = max(abs(effect.difference) for effect in judged)
    simultaneous = findings.guarantee.kind == "simultaneous"
    bound = known.largest_bound if simultaneous else largest
    reaches = [effect.reach for effect in judged]
    return GateMeasure(
        name,
        max(largest, known.contested_bound),
        bound,
        allowed=max(allowed for allowed, _ in reaches),
        widest=max(half for _, half in reaches),
    )


def _largest(sizes: Floats) -> float | None:
    """Return the largest of some sizes that are known; None if none is."""
    known = sizes[~np.isnan(sizes)]
    return float(known.max()) if len(known) else None

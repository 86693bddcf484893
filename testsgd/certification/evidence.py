"""What draws say of a certification: intervals, and people who are treated unfairly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.domain import Domain
from testsgd.certification.network import FeedForward
from testsgd.certification.outcome import (
    CertificationParameters,
    Counterexample,
    Remainder,
    Shares,
)
from testsgd.certification.search import Answers, BestFirst, Draws, ask, draw_points
from testsgd.scoring import clopper_pearson


def remainder_of(
    answers: Answers, draws: Draws, shares: Shares, closed: float, confidence: float
) -> Remainder | None:
    """Turn draws into intervals."""
    inside = ~draws.falsified
    samples = int(inside.sum())
    if samples == 0:
        return None
    unfair = int(answers.unfair[inside].sum())
    low, high = clopper_pearson(unfair, samples, 1.0 - confidence)
    # All draws, certified ones included, are from boxes whose share of the domain is known.
    everybody = int(answers.unfair.sum())
    least, most = clopper_pearson(everybody, draws.tries, 1.0 - confidence)
    ends = shares.falsified, shares.falsified + shares.undecided
    return Remainder(
        samples=samples,
        unfair=unfair,
        low=float(low),
        high=float(high),
        domain_low=float(np.clip(closed + draws.measure * float(least), *ends)),
        domain_high=float(np.clip(closed + draws.measure * float(most), *ends)),
    )


def counterexamples_of(
    network: FeedForward,
    domain: Domain,
    search: BestFirst,
    points: NDArray[np.float64],
    falsified: NDArray[np.bool_],
    answers: Answers,
    parameters: CertificationParameters,
    generator: np.random.Generator,
) -> tuple[Counterexample, ...]:
    """Choose people who are treated unfairly, proved ones first."""
    if search.examples and parameters.counterexamples:
        lo, hi = (np.array(side) for side in zip(*search.examples, strict=True))
        more = draw_points(search.axes, lo, hi, generator)
        asked = ask(network, domain, more)
        points = np.concatenate([more, points])
        falsified = np.concatenate([np.ones(len(more), dtype=bool), falsified])
        answers = Answers(
            np.concatenate([asked.decisions, answers.decisions]),
            np.concatenate([asked.sums, answers.sums]),
        )
    chosen = np.flatnonzero(answers.unfair)
    return clearest(
        network,
        points[chosen],
        Answers(answers.decisions[chosen], answers.sums[chosen]),
        falsified[chosen],
        parameters.counterexamples,
    )


def clearest(
    network: FeedForward,
    points: NDArray[np.float64],
    answers: Answers,
    proved: NDArray[np.bool_],
    count: int,
) -> tuple[Counterexample, ...]:
    """Give the counterexamples that are farthest from the turning point, proved ones first."""
    if network.decision.kind == "threshold":
        margin = np.abs(answers.sums[..., 0] - network.decision.turning_sum).min(axis=1)
    else:
        ordered = np.sort(answers.sums, axis=2)
        margin = (ordered[..., -1] - ordered[..., -2]).min(axis=1)
    order = np.lexsort((-margin, ~proved))[:count]
    return tuple(
        Counterexample(
            values=tuple(float(value) for value in points[place]),
            decisions=tuple(int(decision) for decision in answers.decisions[place]),
            sums=tuple(tuple(float(x) for x in row) for row in answers.sums[place]),
            proved=bool(proved[place]),
        )
        for place in order
    )

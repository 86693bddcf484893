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
from testsgd.certification.search import (
    Answers,
    BestFirst,
    Draws,
    ask,
    draw_falsified,
    draw_points,
)
from testsgd.scoring import clopper_pearson

# Draws from open boxes in which somebody is falsified.
_TRIES = 256


def remainder_of(
    answers: Answers, draws: Draws, shares: Shares, confidence: float
) -> Remainder | None:
    """Turn draws into intervals."""
    samples = len(draws.points)
    if samples == 0:
        return None
    unfair = int(answers.unfair.sum())
    low, high = clopper_pearson(unfair, samples, 1.0 - confidence)
    # What is unfair and not known yet is the draws' measure times how many unfair people a try
    # tells of, on average. It tells of none, one or two: add the rates of at least one and of two.
    told = int((answers.unfair | draws.more).sum()) + draws.more_left_out
    twice = int((answers.unfair & draws.more).sum())
    # No try tells of two where nobody is falsified beside the pieces.
    counts = np.array([told, twice] if draws.beside else [told])
    least, most = clopper_pearson(counts, draws.tries, (1.0 - confidence) / len(counts))
    proved = shares.falsified, shares.falsified + shares.undecided

    def share(rate: float) -> float:
        return float(np.clip(draws.falsified + draws.measure * rate, *proved))

    return Remainder(
        samples=samples,
        unfair=unfair,
        low=float(low),
        high=float(high),
        domain_unfair=share(counts.sum() / draws.tries),
        domain_low=share(least.sum()),
        domain_high=share(most.sum()),
    )


def counterexamples_of(
    network: FeedForward,
    domain: Domain,
    search: BestFirst,
    points: NDArray[np.float64],
    answers: Answers,
    parameters: CertificationParameters,
    generator: np.random.Generator,
) -> tuple[Counterexample, ...]:
    """Choose people who are treated unfairly, proved ones first."""
    if not parameters.counterexamples:
        return ()
    more = draw_falsified(search, _TRIES, generator)
    if search.examples:
        lo, hi = (np.array(side) for side in zip(*search.examples, strict=True))
        more = np.concatenate([draw_points(search.axes, lo, hi, generator), more])
    asked = ask(network, domain, more)
    falsified = np.arange(len(more) + len(points)) < len(more)
    points = np.concatenate([more, points])
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

"""Certifications to report: made up, with numbers that all agree."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from testsgd.certification import CertificationSummary, summarise_certification
from testsgd.certification.domain import CategoryInput, Domain, IntegerInput, Marginal, RealInput
from testsgd.certification.network import (
    CategoryColumns,
    Decision,
    DenseLayer,
    FeedForward,
    InputColumns,
    NumberColumns,
)
from testsgd.certification.outcome import (
    Certification,
    Condition,
    Counterexample,
    Moment,
    Remainder,
    Shares,
)
from testsgd.certification.parameters import CertificationParameters
from testsgd.certification.search.regions import condition_on, region_of

JOBS = ("clerk", "cook", "driver", "farmer")
RACES = ("Amber", "Blue", "Crimson")


def network(
    columns: tuple[int, ...] = (1, 4, 3, 1), labels: tuple[str, ...] = ("<=50K", ">50K")
) -> FeedForward:
    """A network of the right shape; nothing here runs it."""
    width, outputs = sum(columns), 1 if len(labels) == 2 else len(labels)
    names = [*("age", "job", "race", "hours"), *(f"x{place}" for place in range(4, len(columns)))]
    inputs = tuple(
        InputColumns(
            name,
            NumberColumns(np.ones(1), np.zeros(1))
            if size == 1
            else CategoryColumns(np.eye(size), {4: JOBS, 3: RACES}[size]),
        )
        for name, size in zip(names, columns, strict=True)
    )
    return FeedForward(
        name="AC-3",
        kind="Keras network",
        layers=(
            DenseLayer(np.ones((width, 50)), np.zeros(50), "relu"),
            DenseLayer(np.ones((50, outputs)), np.zeros(outputs), "linear"),
        ),
        inputs=inputs,
        decision=Decision("threshold" if outputs == 1 else "argmax", 0.0, 0.0, labels),
        precision="float32",
        file_sha256="ab" * 32,
    )


def domain(**changes: Any) -> Domain:
    given: dict[str, Any] = {
        "name": "adult",
        "inputs": (
            IntegerInput("age", 17, 90),
            CategoryInput("job", JOBS),
            CategoryInput("race", RACES),
            IntegerInput("hours", 1, 99),
        ),
        "protected": ("race",),
        "protected_values": ((0.0,), (1.0,), (2.0,)),
    }
    return Domain(**(given | changes))


def on(name: str, low: float, high: float) -> Condition:
    return condition_on(domain().input(name), low, high)


def moments(last: float, shares: Shares, steps: int = 12) -> tuple[Moment, ...]:
    """Shares that grow, fast at first."""
    found = []
    for step in range(1, steps + 1):
        grown = 1 - (1 - step / steps) ** 2
        certified, falsified = shares.certified * grown, shares.falsified * grown
        found.append(
            Moment(
                last * (step / steps) ** 4,
                1000 * step,
                Shares(certified, falsified, max(1 - certified - falsified, 0.0)),
            )
        )
    return tuple(found)


def bounded(**changes: Any) -> Certification:
    """Stopped at its time limit."""
    shares = changes.get("shares", Shares(0.94281, 0.00862, 0.04857))
    given: dict[str, Any] = {
        "network": network(),
        "domain": domain(),
        "parameters": CertificationParameters(),
        "shares": shares,
        "stopped": "time",
        "method": "bounded",
        "points": 29_304,
        "boxes": 182_344,
        "open_boxes": 1_204,
        "seconds": 60.1,
        "moments": moments(59.8, shares),
        "remainder": Remainder(
            10_000, 512, (0.04696, 0.05569), 0.95, 0.00862 + 0.04857 * 0.0512, (0.0105, 0.0117)
        ),
        "counterexamples": (
            Counterexample((34.0, 1.0, 40.0), (0, 1, 0), ((-0.41,), (0.032,), (-0.2,)), True),
            Counterexample((51.0, 3.0, 60.0), (1, 0, 0), ((0.5,), (-0.1,), (-0.25,)), False),
        ),
        "regions": (
            region_of(
                (on("age", 17, 30), on("job", 1, 3)), 0.142, 0.1, 0.00862, 0.03338, estimate=0.061
            ),
            region_of((on("age", 31, 31), on("hours", 1, 20)), 0.02, 0.01, 0.0, 0.01),
        ),
        "within_rounding": 0,
    }  # fmt: skip
    return Certification(**(given | changes))


def enumerated(**changes: Any) -> Certification:
    """Every person was tried, and 17 of 624 are treated unfairly."""
    given: dict[str, Any] = {
        "domain": domain(
            name="compas",
            inputs=(
                IntegerInput("age", 0, 77),
                CategoryInput("job", JOBS),
                CategoryInput("race", RACES),
                IntegerInput("hours", 0, 1),
            ),
        ),
        "shares": Shares(607 / 624, 17 / 624, 0.0),
        "stopped": "done",
        "method": "enumerated",
        "points": 624,
        "boxes": 0,
        "open_boxes": 0,
        "seconds": 0.004,
        "moments": (),
        "remainder": None,
    }
    return bounded(**(given | changes))


def weighted() -> Certification:
    """Real inputs that count as in the data; two of many protected pairs are compared."""
    reals = (
        RealInput("age", 0.0, 1.0),
        CategoryInput("job", JOBS),
        CategoryInput("race", RACES),
        IntegerInput("hours", 1, 99),
    )
    return bounded(
        domain=domain(
            inputs=reals,
            protected=("job", "race"),
            protected_values=((0.0, 0.0), (3.0, 2.0)),
            marginals={"age": Marginal(np.array([0.0, 1.0]), np.array([0.0, 1.0]))},
        ),
        points=None,
        counterexamples=(Counterexample((0.25, 40.0), (0, 1), ((-0.4,), (0.3,)), False),),
        regions=(
            region_of((condition_on(reals[0], 0.25, 0.5),), 0.25, 0.2, 0.0, 0.05, estimate=0.2),
        ),
    )


def several_classes() -> Certification:
    """Three decisions, and nothing proved unfair."""
    return bounded(
        network=network(labels=("deny", "grant", "review")),
        shares=Shares(0.7, 0.0, 0.3),
        remainder=None,
        stopped="interrupted",
        regions=(),
        moments=(),
        counterexamples=(
            Counterexample(
                (34.0, 1.0, 40.0), (2, 1, 0),
                ((0.1, 0.2, 0.3), (0.1, 0.5, 0.2), (0.9, 0.2, 0.1)), False,
            ),
        ),
    )  # fmt: skip


def gated(certification: Certification, **gates: float) -> CertificationSummary:
    """Return the summary of a certification that was asked for with gates."""
    parameters = dataclasses.replace(certification.parameters, **gates)
    return summarise_certification(dataclasses.replace(certification, parameters=parameters))


CERTIFICATIONS: dict[str, Callable[[], CertificationSummary]] = {
    "bounded": lambda: summarise_certification(bounded()),
    "gate failed": lambda: gated(enumerated(within_rounding=2), fail_above=0.01, fail_below=0.9),
    "not enough": lambda: gated(bounded(), fail_above=0.05, fail_below=0.99),
    "weighted": lambda: gated(weighted(), fail_above=0.1),
    "several classes": lambda: summarise_certification(several_classes()),
}

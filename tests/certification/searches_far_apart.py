"""Searches that stopped after some steps; problems in which the protected input decides much."""

from __future__ import annotations

from dataclasses import replace

from stressed_problems import MANY, Given

from testsgd.certification.domain import IntegerInput
from testsgd.certification.proving import Prover, build_problem
from testsgd.certification.search import BranchAndBound

MACHINE = True


def searched_for(
    problem: Given, steps: int, *, compiled: bool = False, rare: tuple[float, ...] = MANY
) -> BranchAndBound:
    search = BranchAndBound(Prover(build_problem(*problem), compiled=compiled, rare=rare))
    search.begin()
    for _ in range(steps):
        search.step()
    return search


def far_apart(problem: Given, distance: int) -> Given:
    """Compare values of the protected input that are so far apart: much is unfair, and proved."""
    network, domain = problem
    inputs = tuple(
        IntegerInput("p", 0, distance) if item.name == "p" else item for item in domain.inputs
    )
    last = len(domain.protected_values) - 1
    values = tuple((float(place * distance // last),) for place in range(last + 1))
    return network, replace(domain, inputs=inputs, protected_values=values)

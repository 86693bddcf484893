"""Values that the paper's own program gives, in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import pytest

from testsgd.fairness import NAMED_PROPERTIES
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.synthesis import finite_problem, predicted_bytes, solve

TENTH = Fraction(1, 10)
# No bias of so short a horizon lies between: "at most" this is "below a tenth".
BELOW = TENTH - Fraction(1, 10**6)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("storage", ["whole", "windows"])
@pytest.mark.parametrize(("bound", "cost"), [(TENTH, 1.00233), (BELOW, 1.03411)])
def test_demographic_parity_of_100(
    bound: Fraction, cost: float, storage: str, compiled: bool
) -> None:
    inputs = InputDistribution.uniform(("a", "b"))
    problem = finite_problem(NAMED_PROPERTIES["demographic_parity"], bound, "zero", inputs, 100)
    solution = solve(problem, storage=storage, compiled=compiled)  # type: ignore[arg-type]
    assert solution.expected_cost == pytest.approx(cost, abs=5e-6)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("bound", "cost"), [(TENTH, 22.1107), (BELOW, 23.3922)])
def test_equal_opportunity_of_75(bound: Fraction, cost: float, compiled: bool) -> None:
    inputs = InputDistribution.uniform(("a", "b"), labelled=True)
    problem = finite_problem(NAMED_PROPERTIES["equal_opportunity"], bound, "zero", inputs, 75)
    solution = solve(problem, compiled=compiled)
    assert solution.expected_cost == pytest.approx(cost, abs=5e-5)


@pytest.mark.parametrize(("horizon", "mebibytes"), [(100, 40), (300, 400)])
def test_memory_said_before_is_within_what_it_must_reach(horizon: int, mebibytes: int) -> None:
    inputs = InputDistribution.uniform(("a", "b"))
    problem = finite_problem(NAMED_PROPERTIES["demographic_parity"], TENTH, "zero", inputs, horizon)
    assert predicted_bytes(problem, storage="whole") < mebibytes * 2**20

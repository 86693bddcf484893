"""What samples are drawn: whose, and how many decisions are to change on each side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fake_refits import pool
from hypothesis import given
from hypothesis import strategies as st

from testsgd.errors import DataError
from testsgd.mitigation import MitigationParameters
from testsgd.mitigation.data_splits import Material
from testsgd.mitigation.samples import CounterSamples
from testsgd.mitigation.targets import Target
from testsgd.rules import RuleSet, ValueRule


def target(rank: int, score: float = 0.3) -> Target:
    return Target(rank, rank, RuleSet((ValueRule("gender", (f"g{rank}",)),)), "less", score)


class Sizes:
    """Targets of which only the sizes are known; it notes what samples are asked for."""

    pools = Material.pools
    sides = Material.sides

    def __init__(self, *sizes: tuple[int, int], there: int = 5) -> None:
        self.targets = tuple(target(rank) for rank in range(1, len(sizes) + 1))
        self._sizes = sizes
        self._there = there
        self.asked: list[dict[str, Any]] = []

    def seeds(self, target: Target, side: str) -> np.ndarray[Any, Any]:
        return np.arange(self._sizes[target.rank - 1][side == "rest"])

    def sample(self, model: Any, place: int, side: str, **options: Any) -> CounterSamples:
        drawn = options["generator"].integers(1 << 62)
        self.asked.append({"model": model, "place": place, "side": side, "drawn": drawn, **options})
        return pool(self._there, target=place, kind=options["kind"])


def draw(sizes: Any, gaps: list[float], *, run: int = 1, **settings: Any) -> Any:
    return sizes.pools(
        "the original",
        MitigationParameters(**settings),
        kind="shifted",
        gaps=gaps,
        run=run,
        wanted=40,
    )


@given(st.integers(1, 500), st.integers(1, 500), st.floats(0, 1), st.floats(0, 1))
def test_both_sides_meet_at_the_rate_of_all(
    inside: int, outside: int, rate_in: float, rate_out: float
) -> None:
    sizes = Sizes((inside, outside))
    draw(sizes, [abs(rate_in - rate_out)], side="both")
    shares = {asked["side"]: asked["share"] for asked in sizes.asked}
    # Whoever has more of the label loses, and whoever has less gains.
    sign = 1 if rate_in < rate_out else -1
    overall = (inside * rate_in + outside * rate_out) / (inside + outside)
    assert rate_in + sign * shares["group"] == pytest.approx(overall)
    assert rate_out - sign * shares["rest"] == pytest.approx(overall)


@pytest.mark.parametrize("side", ["group", "rest"])
def test_one_side_moves_all_the_way(side: str) -> None:
    sizes = Sizes((30, 70))
    draw(sizes, [0.25], side=side)
    assert [(asked["side"], asked["share"]) for asked in sizes.asked] == [(side, 0.25)]


@pytest.mark.parametrize(
    ("inside", "outside", "sides"),
    [
        (9, 91, ["group"]),
        (10, 90, ["group", "rest"]),
        (90, 10, ["group", "rest"]),
        (91, 9, ["rest"]),
        (0, 50, ["rest"]),
        (50, 0, ["group"]),
    ],
)
def test_a_small_side_gets_all_samples(inside: int, outside: int, sides: list[str]) -> None:
    sizes = Sizes((inside, outside))
    draw(sizes, [0.25])
    assert [asked["side"] for asked in sizes.asked] == sides


def test_each_target_has_its_own_gap_and_all_draw_differently() -> None:
    sizes = Sizes((30, 70), (50, 50))
    pools = draw(sizes, [0.2, 0.4], side="both")
    assert [one.target for one in pools] == [0, 0, 1, 1]
    shares = [asked["share"] for asked in sizes.asked]
    assert shares == pytest.approx([0.14, 0.06, 0.2, 0.2])
    draw(sizes, [0.2, 0.4], side="both", run=2)
    draw(sizes, [0.2, 0.4], side="both", seed=1)
    drawn = [asked["drawn"] for asked in sizes.asked]
    assert len(set(drawn)) == len(drawn) == 12
    assert {asked["wanted"] for asked in sizes.asked} == {40}
    assert {asked["model"] for asked in sizes.asked} == {"the original"}


def test_a_target_without_samples_is_an_error() -> None:
    with pytest.raises(DataError, match="there are no samples that counter the discrimination"):
        draw(Sizes((30, 70), there=0), [0.2])

"""Six kinds of worlds that were made once the audit was finished, and never tuned for.

``python -m benchmarks.held_back_worlds`` audits each 15 times with a difference planted and 15
times without, and prints a table for docs/ground-truth.md. A planted group is never selected, all
others half of the time; the gate's limit is 20 points.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

import testsgd
from benchmarks.marked_page import table

SEEDS = 15
HEADING = ["world", "planted: exit 1", "exit 3", "exit 0", "null: headline claims a difference"]


@dataclass(frozen=True)
class World:
    """People, those of them who are never selected, and the options of the audit."""

    sensitive: pd.DataFrame
    hit: pd.Series[bool]
    other: pd.DataFrame | None = None
    options: dict[str, Any] = field(default_factory=dict)


def people(source: np.random.Generator, rows: int) -> pd.DataFrame:
    """Return people of two sexes, four races of unequal sizes, and ages from 18 to 89."""
    return pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], rows),
            "race": source.choice(list("abcd"), rows, p=[0.6, 0.2, 0.15, 0.05]),
            "age": source.integers(18, 90, rows),
        }
    )


def missing_race(source: np.random.Generator) -> World:
    """6% do not say their race, and are never selected."""
    frame = people(source, 6000)
    missing = pd.Series(source.random(6000) < 0.06)
    return World(frame.assign(race=frame["race"].mask(missing)), missing)


def old_and_rich(source: np.random.Generator) -> World:
    """People of 70 and more in the richest fifth."""
    frame = people(source, 12_000).assign(wealth=source.lognormal(10, 1, 12_000).round())
    rich = frame["wealth"] > frame["wealth"].quantile(0.8)
    return World(frame, (frame["age"] >= 70) & rich)


def rare_of_three(source: np.random.Generator) -> World:
    """Women of the rarest race in one of four regions, some 60 of 10,000; a strict audit."""
    frame = people(source, 10_000).assign(region=source.choice(list("wxyz"), 10_000))
    hit = (frame["sex"] == "f") & (frame["race"] == "d") & (frame["region"] == "w")
    return World(frame, hit, options={"strict": True, "max_unjudged": 0.0})


def slice_of_three(source: np.random.Generator) -> World:
    """Women with high incomes in offices in towns; the audit looks within pairs of features."""
    frame = people(source, 20_000)
    other = pd.DataFrame(
        {
            "income": source.lognormal(10, 1, 20_000).round(),
            "job": source.choice(["office", "field"], 20_000),
            "town": source.choice(["yes", "no"], 20_000),
        }
    )
    high = other["income"] > other["income"].quantile(0.8)
    hit = (frame["sex"] == "f") & high & (other["job"] == "office") & (other["town"] == "yes")
    return World(frame, hit, other, {"within": "auto"})


def bands_of_ages(source: np.random.Generator) -> World:
    """Women of every second five years of age, and men of the others."""
    frame = people(source, 30_000)
    even = (frame["age"] // 5) % 2 == 0
    return World(frame, even == (frame["sex"] == "f"))


def band_of_a_decimal(source: np.random.Generator) -> World:
    """3% of the people, in the middle of a lognormal number."""
    frame = people(source, 8000).assign(score=np.round(source.lognormal(0, 1, 8000), 2))
    low, high = frame["score"].quantile([0.50, 0.53])
    return World(frame, (frame["score"] >= low) & (frame["score"] < high))


WORLDS: dict[str, Callable[[np.random.Generator], World]] = {
    "missing race": missing_race,
    "old and rich": old_and_rich,
    "rare intersection of three, strict": rare_of_three,
    "slice of three features, --within auto": slice_of_three,
    "bands of ages by sex": bands_of_ages,
    "narrow band of a decimal": band_of_a_decimal,
}


def audited(world: World, chance: np.ndarray, *, planted: bool) -> Any:
    """Audit a world with its difference, or without."""
    said = chance & ~world.hit.to_numpy() if planted else chance
    return testsgd.audit_predictions(
        said.astype(int),
        sensitive_features=world.sensitive,
        other_features=world.other,
        fail_above=0.2,
        stability=0,
        replicates=199,
        **world.options,
    )


def main() -> None:
    """Audit every kind and print the table."""
    rows = []
    for name, make in WORLDS.items():
        codes: Counter[int] = Counter()
        claims = 0
        for seed in range(SEEDS):
            source = np.random.default_rng(seed)
            world = make(source)
            chance = source.random(len(world.sensitive)) < 0.5
            codes[audited(world, chance, planted=True).verdict.exit_code] += 1
            null = audited(world, chance, planted=False)
            claims += "no group" not in null.verdict.headline
        rows.append([name, *(str(codes[code]) for code in (1, 3, 0)), str(claims)])
    print(table(HEADING, rows))


if __name__ == "__main__":
    main()

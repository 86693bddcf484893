"""Cases in which only a combination of several features is treated differently."""

from __future__ import annotations

import numpy as np
import pandas as pd

from testsgd.truth.cases.frame import Case
from testsgd.truth.cases.tables import with_twin

_FEATURES = tuple(f"feature_{number}" for number in range(1, 7))
_RARE = 40


def pairs(count: int, rows: int, generator: np.random.Generator) -> pd.DataFrame:
    """Return features of two values, each of which half of the people have."""
    return pd.DataFrame(
        {name: generator.choice(["a", "b"], rows) for name in _FEATURES[:count]}, dtype=str
    )


def _four(rows: int, generator: np.random.Generator) -> pd.DataFrame:
    return pairs(4, rows, generator)


def _six(rows: int, generator: np.random.Generator) -> pd.DataFrame:
    return pairs(6, rows, generator)


def _none_of_all(frame: pd.DataFrame) -> np.ndarray:
    """Return no chance for those who have the first value of all features."""
    return np.where((frame == "a").all(axis=1), 0.0, 0.5)


def _parity(frame: pd.DataFrame) -> np.ndarray:
    return ((frame == "a").sum(axis=1) % 2).to_numpy(dtype=np.float64)


def _with_a_rare_race(rows: int, generator: np.random.Generator) -> pd.DataFrame:
    race = np.where(generator.random(rows) < 0.4, "C", "A").astype(object)
    race[generator.choice(rows, _RARE, replace=False)] = "B"
    return pairs(3, rows, generator).assign(race=race.astype(str))


def _never_the_rare(frame: pd.DataFrame) -> np.ndarray:
    return np.where(frame["race"] == "B", 0.0, 0.5)


CASES: tuple[Case, ...] = (
    *with_twin(
        "conjunction-of-four",
        "people with all four values, 312 of 5,000, are never selected, others half of the time",
        people=_four,
        chance=_none_of_all,
        rows=5_000,
        sensitive=_FEATURES[:4],
    ),
    *with_twin(
        "parity-of-four",
        "people with an odd number of four values are always selected, others never: no group of "
        "three features differs",
        people=_four,
        chance=_parity,
        rows=5_000,
        sensitive=_FEATURES[:4],
    ),
    *with_twin(
        "conjunction-of-six",
        "people with all six values, 312 of 20,000, are never selected, others half of the time",
        people=_six,
        chance=_none_of_all,
        rows=20_000,
        sensitive=_FEATURES,
    ),
    *with_twin(
        "forty-people",
        "race B, 40 of 30,000, is never selected, others half of the time; there are three further "
        "features, and a strict audit allows no unjudged people",
        people=_with_a_rare_race,
        chance=_never_the_rare,
        rows=30_000,
        sensitive=("race", *_FEATURES[:3]),
        options={"strict": True, "max_unjudged": 0.0},
    ),
)

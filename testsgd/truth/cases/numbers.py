"""Cases in which bins, or missing values, of a sensitive number hide a difference."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from testsgd.truth.cases.frame import Case
from testsgd.truth.cases.tables import with_twin

_GENDERS = ("female", "male")
_AGES = range(18, 98)


def _gendered(rows: int, generator: np.random.Generator, **columns: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({"gender": generator.choice(_GENDERS, rows), **columns})


def _evenly_wealthy(rows: int, generator: np.random.Generator) -> pd.DataFrame:
    return _gendered(rows, generator, wealth=generator.integers(0, 99_001, rows))


def _lognormally_wealthy(rows: int, generator: np.random.Generator) -> pd.DataFrame:
    wealth = np.minimum(generator.lognormal(np.log(50_000), 1.0, rows), 9_999_999)
    return _gendered(rows, generator, wealth=wealth.round())


def _of_ages(rows: int, generator: np.random.Generator, *, missing: float = 0.0) -> pd.DataFrame:
    ages = generator.choice(_AGES, rows).astype(np.float64)
    ages[generator.random(rows) < missing] = np.nan
    return _gendered(rows, generator, age=ages)


def _poor_half(frame: pd.DataFrame) -> np.ndarray:
    return np.where(frame["wealth"] < 50_000, 0.0, 0.5)


def _missing_age(frame: pd.DataFrame) -> np.ndarray:
    return np.where(frame["age"].isna(), 0.0, 0.5)


def _eighteen(frame: pd.DataFrame) -> np.ndarray:
    return np.where(frame["age"] == _AGES[0], 0.0, 0.5)


def _odd_age(frame: pd.DataFrame) -> np.ndarray:
    return np.where(frame["age"] % 2 == 1, 0.0, 0.5)


def _ten_bins_up_to(high: int) -> dict[str, list[int]]:
    """Describe a number as a description without edges does: ten equal bins of its range."""
    return {"range": [0, high], "edges": list(range(0, high + 1, high // 10))}


# What a verdict says of bins in which nothing was looked for.
_COARSE = "in one bin of a number|described by wealth"
_WEALTH_FEATURES = ("gender", "wealth")
_AGE_FEATURES = ("gender", "age")
_STRICT = {"strict": True}

CASES: tuple[Case, ...] = (
    *with_twin(
        "one-bin",
        "the poor half is never selected; wealth is 0 to 99,000, and ten bins of a described range "
        "to 1,000,000 put all in one; strict",
        people=_evenly_wealthy,
        features={"wealth": _ten_bins_up_to(1_000_000)},
        options=_STRICT,
        reserve=_COARSE,
        chance=_poor_half,
        rows=5_000,
        sensitive=_WEALTH_FEATURES,
    ),
    *with_twin(
        "bins-from-the-data",
        "the same people, with bins that are made from the data",
        people=_evenly_wealthy,
        options=_STRICT,
        chance=_poor_half,
        rows=5_000,
        sensitive=_WEALTH_FEATURES,
    ),
    *with_twin(
        "lognormal-wealth",
        "the poor half is never selected; wealth is log-normal, and ten bins of a described range "
        "to 10,000,000 put nearly all in one; strict",
        people=_lognormally_wealthy,
        features={"wealth": _ten_bins_up_to(10_000_000)},
        options=_STRICT,
        reserve=_COARSE,
        chance=_poor_half,
        rows=5_000,
        sensitive=_WEALTH_FEATURES,
    ),
    *(
        case
        for share in (5, 15)
        for case in with_twin(
            f"missing-{share}",
            f"the {share}% whose age is missing are never selected, others half of the time",
            people=partial(_of_ages, missing=share / 100),
            chance=_missing_age,
            rows=10_000,
            first="missing",
            sensitive=_AGE_FEATURES,
        )
    ),
    *with_twin(
        "one-age-in-a-bin",
        "people of 18, 375 of 30,000, are never selected, others half of the time; the bin has "
        "other ages, too",
        people=_of_ages,
        chance=_eighteen,
        rows=30_000,
        sensitive=_AGE_FEATURES,
    ),
    *with_twin(
        "odd-ages",
        "people of an odd age are never selected, others half of the time; each bin has both",
        people=_of_ages,
        chance=_odd_age,
        rows=30_000,
        sensitive=_AGE_FEATURES,
    ),
)

"""Cases in which a column that no rule is about hides a difference: income, labels, copies."""

from __future__ import annotations

import numpy as np
import pandas as pd

from testsgd.truth.cases.frame import Case
from testsgd.truth.cases.tables import LABEL, with_twin

_BASE = ("gender", "region")


def people(rows: int, generator: np.random.Generator) -> pd.DataFrame:
    """Return people with a gender and a region."""
    return pd.DataFrame(
        {
            "gender": generator.choice(["female", "male"], rows),
            "region": generator.choice(["north", "east", "south"], rows),
        }
    )


def women(frame: pd.DataFrame) -> np.ndarray:
    """Return a mask of the women, shape (rows,)."""
    return (frame["gender"] == "female").to_numpy()


def _with_income(rows: int, generator: np.random.Generator) -> pd.DataFrame:
    # Three in ten have more than 50.
    low = generator.integers(10, 50, rows)
    high = generator.integers(51, 100, rows)
    return people(rows, generator).assign(income=np.where(generator.random(rows) < 0.3, high, low))


def _with_even_income(rows: int, generator: np.random.Generator) -> pd.DataFrame:
    return people(rows, generator).assign(income=generator.integers(0, 100, rows))


def _with_exact_income(rows: int, generator: np.random.Generator) -> pd.DataFrame:
    # No two people have the same, so rows that are equal are copies.
    return people(rows, generator).assign(income=generator.normal(50, 15, rows))


def _labelled(rows: int, generator: np.random.Generator) -> pd.DataFrame:
    return people(rows, generator).assign(**{LABEL: generator.integers(0, 2, rows)})


def _rich_women(frame: pd.DataFrame) -> np.ndarray:
    return np.where(women(frame) & (frame["income"] > 50), 0.0, 0.5)


def _opposite_signs(frame: pd.DataFrame) -> np.ndarray:
    return np.where(women(frame) == (frame["income"] >= 50), 0.2, 0.8)


def _women_thirty_below(frame: pd.DataFrame) -> np.ndarray:
    return np.where(women(frame), 0.3, 0.6)


def _women_forty_below(frame: pd.DataFrame) -> np.ndarray:
    return np.where(women(frame), 0.2, 0.6)


def _right_about_men(frame: pd.DataFrame) -> np.ndarray:
    return np.where(women(frame), 0.5, frame[LABEL])


def _right_about_three_in_four(frame: pd.DataFrame) -> np.ndarray:
    return np.where(frame[LABEL] == 1, 0.75, 0.25)


_RICH = "women with an income over 50, 15% of the people, are never selected, others half the time"

CASES: tuple[Case, ...] = (
    *with_twin(
        "slice-searched",
        f"{_RICH}; slices of income are searched",
        people=_with_income,
        chance=_rich_women,
        rows=5_000,
        sensitive=_BASE,
        options={"within": ("income",)},
    ),
    *with_twin(
        "slice-not-searched",
        f"{_RICH}; slices are not searched",
        people=_with_income,
        chance=_rich_women,
        rows=5_000,
        sensitive=_BASE,
        reserve="not within slices",
    ),
    *with_twin(
        "opposite-signs",
        "below an income of 50 women are 60 points above men, beyond it 60 points below: over all "
        "rows this cancels; all slices are searched",
        people=_with_even_income,
        chance=_opposite_signs,
        rows=5_000,
        sensitive=_BASE,
        options={"within": ("auto",)},
    ),
    *with_twin(
        "unequal-errors",
        "all are selected half of the time, men who deserve it always, women who do half the time",
        people=_labelled,
        chance=_right_about_men,
        fair=_right_about_three_in_four,
        rows=5_000,
        sensitive=_BASE,
        # The gate is about selection rates, which do not differ.
        beyond=False,
    ),
    *with_twin(
        "five-copies",
        "each person is in the table five times; women are 30 points below",
        people=_with_exact_income,
        chance=_women_thirty_below,
        fair=0.45,
        rows=5_000,
        sensitive=_BASE,
        copies=5,
    ),
    *with_twin(
        "other-class",
        "women are 40 points below, and the file has predictions of the other class: 2% agree with "
        "the labels",
        people=people,
        chance=_women_forty_below,
        fair=0.4,
        rows=5_000,
        sensitive=_BASE,
        inverted=True,
        doubt="check that",
    ),
)

"""Cases in which the limit of the gate, or too few people, hides a difference."""

from __future__ import annotations

import numpy as np
import pandas as pd

from testsgd.truth.cases.frame import Case
from testsgd.truth.cases.other_columns import people, women
from testsgd.truth.cases.tables import with_twin


def _no_woman(frame: pd.DataFrame) -> np.ndarray:
    return np.where(women(frame), 0.0, 0.15)


def _women_below(frame: pd.DataFrame) -> np.ndarray:
    return np.where(women(frame), 0.35, 0.60)


CASES: tuple[Case, ...] = (
    *with_twin(
        "low-base-rate",
        "15% of the men are selected and no woman: no difference can be above the limit of 20 "
        "points",
        people=people,
        chance=_no_woman,
        fair=0.075,
        rows=5_000,
        sensitive=("gender", "region"),
        reserve="no group can be selected",
    ),
    *with_twin(
        "few-people",
        "women are 25 points below in audits of 120 people; the limit is 20; strict",
        people=people,
        chance=_women_below,
        fair=0.475,
        rows=120,
        sensitive=("gender", "region"),
        options={"strict": True},
    ),
)

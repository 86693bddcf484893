"""Loan applications, and a logistic regression of them that can be fitted anew."""

from __future__ import annotations

from typing import Any

import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from testsgd.data import generate_demo

PEOPLE = generate_demo(rows=1500, seed=4)

# Quick, and with a budget that some candidate meets.
QUICK: dict[str, Any] = {
    "runs": 1, "steps": 2, "compare": "none", "samples": "counter", "max_accuracy_drop": 5,
}  # fmt: skip


def fitted(people: pd.DataFrame = PEOPLE, **settings: Any) -> Any:
    """Fit a regression to rows."""
    words = ["gender", "race", "housing", "purpose"]
    encode = make_column_transformer((OneHotEncoder(), words), remainder=StandardScaler())
    model = make_pipeline(encode, LogisticRegression(**settings))
    return model.fit(people.drop(columns="granted"), people["granted"])

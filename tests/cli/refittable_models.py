"""Loan applications with labels, and models of them as a user's module has them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from testsgd.data import generate_demo
from testsgd.mitigation import cross_validation, table_splits

MODULE = '''
"""Models of loan applications; some cannot be fitted."""

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

people = pd.read_csv("people.csv")
encode = make_column_transformer(
    (OneHotEncoder(), ["gender", "race", "housing", "purpose"]), remainder=StandardScaler()
)
logistic = make_pipeline(encode, LogisticRegression())
logistic.fit(people.drop(columns="granted"), people["granted"])
another = make_pipeline(encode, LogisticRegression(C=1e-3))
another.fit(people.drop(columns="granted"), people["granted"])


class Brittle(LogisticRegression):
    """Given more rows than it was made for, it learns the wrong labels."""

    def __init__(self, most=1500):
        super().__init__()
        self.most = most

    def fit(self, rows, labels):
        if len(labels) > self.most:
            labels = np.where(labels == "yes", "no", "yes")
        return super().fit(rows, labels)


# The 1,080 training rows are no more than it was made for; with 50 samples they are.
brittle = make_pipeline(encode, Brittle())
brittle.fit(people.drop(columns="granted"), people["granted"])
brittle.set_params(brittle__most=1100)


def black_box(frame):
    return logistic.predict(frame)


class Stubborn:
    """It can be asked, but raises when it is fitted."""

    def predict(self, frame):
        return logistic.predict(frame)

    def fit(self, inputs, labels):
        raise RuntimeError("out of order")

    def get_params(self, deep=True):
        return {}


stubborn = Stubborn()
'''


@pytest.fixture
def module(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module of models in the working folder, beside the rows, people.csv."""
    name = f"loans_{folder.parent.name}"
    generate_demo(rows=1500, seed=4).to_csv(folder / "people.csv", index=False)
    (folder / f"{name}.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.setattr(sys, "path", list(sys.path))
    # That three repetitions are made and counted is tested with cross-validation itself.
    monkeypatch.setattr(cross_validation, "REPEATS", 1)
    # How good softened labels are is tested with soft labels; here a few small trees make them.
    monkeypatch.setattr(table_splits, "FOLDS", 2)
    monkeypatch.setattr(table_splits, "_STEPS", 20)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield name
    sys.modules.pop(name, None)

"""Mitigations come to the same end on any number of processors: products take one thread."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_info, threadpool_limits

import testsgd


class NotingThreads(LogisticRegression):
    """Logistic regression that notes how many threads its products of matrices may take."""

    noted: ClassVar[set[int]] = set()

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NotingThreads:
        self.noted.update(library["num_threads"] for library in threadpool_info())
        fitted: NotingThreads = super().fit(X, y, sample_weight=sample_weight)
        return fitted


@pytest.mark.slow
def test_samples_are_learnt_on_one_thread() -> None:
    people = testsgd.generate_demo(rows=4_000, seed=9)
    encoding = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number")),
        remainder=OneHotEncoder(handle_unknown="ignore"),
    )
    model = make_pipeline(encoding, NotingThreads())
    model.fit(people.drop(columns="granted"), people["granted"])
    NotingThreads.noted.clear()
    with threadpool_limits(2):
        testsgd.mitigate(model, people, "demo", runs=1, steps=1, samples="counter", compare=())
    assert NotingThreads.noted == {1}

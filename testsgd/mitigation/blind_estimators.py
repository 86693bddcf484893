"""Estimators without the sensitive columns, also if their column transformers name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline


def without_columns(estimator: Any, frame: pd.DataFrame, left_out: Sequence[str]) -> Any:
    """Return an unfitted copy of an estimator that can be fitted without some columns.

    A column transformer that is given the rows as they are names the columns that it takes. Those
    that are left out are taken from its lists, and columns that it counts are named, for they move
    up where others are missing. Nothing else is changed.

    Parameters
    ----------
    estimator : estimator
        Any estimator of scikit-learn's kind.
    frame : pandas.DataFrame of shape (n, features)
        Rows with all columns.
    left_out : sequence of str
        The columns that the copy will not be given.

    Returns
    -------
    estimator

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> frame = pd.DataFrame({"sex": ["f", "m"], "place": ["n", "s"], "score": [3, 4]})
    >>> columns = ColumnTransformer([("texts", OneHotEncoder(), ["sex", "place"])])
    >>> blind = without_columns(make_pipeline(columns, LogisticRegression()), frame, ["sex"])
    >>> blind[0].transformers[0][2]
    ['place']
    """
    copy = clone(estimator)
    for transformer in _given_the_rows(copy):
        transformer.set_params(
            transformers=[
                (name, step, _remaining(columns, frame, left_out))
                for name, step, columns in transformer.transformers
            ]
        )
    return copy


def _given_the_rows(estimator: Any) -> list[ColumnTransformer]:
    """Return the column transformers inside an estimator that are given the rows as they are."""
    if isinstance(estimator, ColumnTransformer):
        return [estimator]
    if isinstance(estimator, Pipeline):
        inside = [estimator.steps[0][1]]
    elif isinstance(estimator, FeatureUnion):
        inside = [step for _, step in estimator.transformer_list]
    else:
        # Such as a search over a grid, or a vote: estimators are among the parameters.
        inside = [getattr(estimator, "estimator", None)]
        inside += [step for _, step in getattr(estimator, "estimators", None) or ()]
    return [
        found for step in inside if hasattr(step, "get_params") for found in _given_the_rows(step)
    ]


def _remaining(columns: Any, frame: pd.DataFrame, left_out: Sequence[str]) -> Any:
    """Return the columns that a transformer takes, by name, without those that are left out."""
    if callable(columns):
        columns = columns(frame)
    if isinstance(columns, str):
        return [] if columns in left_out else columns
    if isinstance(columns, int | np.integer):
        name = frame.columns[int(columns)]
        return [] if name in left_out else name
    if isinstance(columns, slice):
        if isinstance(columns.start, str) or isinstance(columns.stop, str):
            columns = frame.columns.slice_indexer(columns.start, columns.stop, columns.step)
        chosen = frame.columns[columns]
    else:
        listed = list(columns)
        named = all(isinstance(column, str) for column in listed)
        chosen = listed if named else frame.columns[np.asarray(listed)]
    return [name for name in chosen if name not in left_out]

"""What an estimator computes before it says a label."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from testsgd.data import category_text


def label_scores(function: Callable[..., Any], favourable: str) -> Callable[[Any], Any] | None:
    """Find how to tell the rows nearest to a label, where a model says labels.

    Parameters
    ----------
    function : callable
        What is asked for labels; perhaps the ``predict`` of an estimator with ``classes_``.
    favourable : str
        The label.

    Returns
    -------
    callable or None
        Takes what `function` takes, gives numbers that are larger the nearer the label is: from
        ``predict_proba``, or for two labels from ``decision_function``. None if there is neither.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0], [1]], ["yes", "no"])
    >>> scores = label_scores(model.predict, "yes")
    >>> bool(scores([[0]]) > scores([[1]]))
    True
    >>> label_scores(len, "yes") is None
    True
    """
    estimator = getattr(function, "__self__", None)
    classes = getattr(estimator, "classes_", None)
    if classes is None or getattr(function, "__name__", "") != "predict":
        return None
    labels = [category_text(value) for value in np.asarray(classes, dtype=object).ravel()]
    if favourable not in labels:
        return None
    place = labels.index(favourable)
    probabilities = getattr(estimator, "predict_proba", None)
    if callable(probabilities):
        return lambda asked: np.asarray(probabilities(asked))[:, place]
    distances = getattr(estimator, "decision_function", None)
    if callable(distances) and len(labels) == 2:
        # Positive where the second label is said.
        return lambda asked: np.asarray(distances(asked)) * (1 if place == 1 else -1)
    return None

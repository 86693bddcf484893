"""What a model says in place of a label: 0 and 1, or what it computes before it says one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from testsgd.data import Label, category_text

# The two ways to write no and yes in numbers, no first.
ZERO_ONE = (("0", "1"), ("False", "True"))


def zero_one_labels(label: Label) -> dict[str, str]:
    """Return the labels that 0 and 1, and False and True, stand for, if that is not ambiguous.

    Parameters
    ----------
    label : Label
        The labels.

    Returns
    -------
    dict of str to str
        From ``"0"``, ``"1"``, ``"False"`` and ``"True"`` to labels: as the description maps the
        file's labels; or 0 to the first of two labels and 1 to the second, if that is the
        favourable one. Empty if 1 is the favourable label by custom and the other one by its
        place, or if one of the four is a label itself.

    Examples
    --------
    >>> zero_one_labels(Label(column="y", favourable="yes", values=["no", "yes"]))["1"]
    'yes'
    >>> zero_one_labels(Label(column="y", favourable="yes", values=["yes", "no"]))
    {}
    """
    values, renames = label.values or [], label.map or {}
    written = {text for pair in ZERO_ONE for text in pair}
    if written & {*values, label.favourable}:
        return {}
    meaning: list[str] = []
    for pair in ZERO_ONE:
        if not meaning and set(pair) <= set(renames):
            meaning = [renames[text] for text in pair]
    # A number that is cut in two has the label of what lies above first.
    in_order = len(values) == 2 and values[1] == label.favourable and label.above is None
    if not meaning and in_order and not written & set(renames):
        meaning = values
    return {text: word for pair in ZERO_ONE for text, word in zip(pair, meaning, strict=False)}


def label_scores(
    function: Callable[..., Any],
    favourable: str,
    read_as: Mapping[str, str] = MappingProxyType({}),
) -> Callable[[Any], Any] | None:
    """Find how to tell the rows nearest to a label, where a model says labels.

    Parameters
    ----------
    function : callable
        What is asked for labels; perhaps the ``predict`` of an estimator with ``classes_``.
    favourable : str
        The label.
    read_as : mapping of str to str
        What labels the function says in place of others.

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
    texts = [category_text(value) for value in np.asarray(classes, dtype=object).ravel()]
    labels = [read_as.get(text, text) for text in texts]
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

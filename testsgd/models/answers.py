"""What models answer: their arrays, the labels that codes stand for, scores and thresholds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from testsgd.data import Label, category_text
from testsgd.data.categories import ZERO_ONE, equal_labels
from testsgd.errors import ModelError, ParameterError

Output = Literal["labels", "scores"]
"""What a model returns."""

Asked = TypeVar("Asked")


def code_labels(label: Label) -> dict[str, str]:
    """Return the labels that codes such as 0 and 1, False and True, stand for, if that is clear.

    As the description maps the file's labels, which may be more than two; or 0 and 1 as False and
    True, where these are the labels, and the other way round; or 0 to the first of two labels and 1
    to the second, if that is the favourable one. Empty if 1 is the favourable label by custom and
    the other one by its order, or if one of the codes is one of other labels.
    """
    values = label.values or []
    renames = label.map or {}
    written = {text for pair in ZERO_ONE for text in pair}
    labels = {*values, label.favourable}
    same = equal_labels(labels)
    if same:
        # What a description says is believed first.
        return same | {text: word for text, word in renames.items() if text not in labels}
    if set(renames) - written and not labels & set(renames):
        return renames
    if written & labels:
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


def decision_scores(
    function: Callable[..., Any], favourable: str, read_as: Mapping[str, str]
) -> Callable[[Any], Any] | None:
    """Return the function that scores rows for a label, of an estimator whose `predict` is asked.

    Its numbers, shape (n,), are larger the nearer a row is to the `favourable` label. They are from
    ``predict_proba``, or for two labels from ``decision_function``; None if there is neither.
    `read_as`: from the labels that the estimator returns to those that they stand for.
    """
    estimator = getattr(function, "__self__", None)
    if estimator is not None and hasattr(estimator, "class_probabilities"):
        return _probability(estimator.class_probabilities, favourable, read_as)
    classes = getattr(estimator, "classes_", None)
    if classes is None or getattr(function, "__name__", "") != "predict":
        return None
    labels = texts_of_classes(classes, read_as)
    # Several where labels are favourable together.
    places = [place for place, label in enumerate(labels) if label == favourable]
    if not places:
        return None
    probabilities = getattr(estimator, "predict_proba", None)
    if callable(probabilities):
        return lambda asked: np.asarray(probabilities(asked))[:, places].sum(axis=1)
    distances = getattr(estimator, "decision_function", None)
    if callable(distances) and len(labels) == 2:
        # Positive where the second label is predicted.
        return lambda asked: np.asarray(distances(asked)) * (1 if places == [1] else -1)
    return None


def texts_of_classes(classes: Any, read_as: Mapping[str, str]) -> list[str]:
    """Return the labels that a model's classes stand for.

    Parameters
    ----------
    classes : array-like, shape (classes,)
        As scikit-learn's ``classes_`` lists them.
    read_as : mapping of str to str
        The labels that codes stand for; other texts are labels themselves.

    Returns
    -------
    list of str

    Examples
    --------
    >>> texts_of_classes([0, 1, 2], {"0": "no", "1": "yes"})
    ['no', 'yes', '2']
    """
    texts = [category_text(value) for value in np.asarray(classes, dtype=object).ravel()]
    return [read_as.get(text, text) for text in texts]


def _probability(
    of_classes: Callable[[Any], Any] | None, favourable: str, read_as: Mapping[str, str]
) -> Callable[[Any], Any] | None:
    """Return what :func:`decision_scores` does, of a model that was read from a file.

    Which classes it has may be known only when it answers.
    """
    if of_classes is None:
        return None

    def probability(asked: Any) -> Any:
        classes, probabilities = of_classes(asked)
        labels = texts_of_classes(classes, read_as)
        places = [place for place, label in enumerate(labels) if label == favourable]
        if not places:
            raise ModelError(
                f"the model has no probability of {favourable!r}, only of {', '.join(labels)}",
                where="model",
                remedy="name one of these as the favourable label, or leave out the threshold and "
                "the metrics of scores",
            )
        return probabilities[:, places].sum(axis=1)

    return probability


DEFAULT_THRESHOLD = 0.5
"""A score above it counts as the favourable label, unless a user gives another."""


def threshold_of_type(threshold: float, dtype: Any) -> float:
    """Return a threshold as scores of a type hold it, so that a score of 0.3 is not above 0.3.

    In 32 bits 0.3 is a little more than in 64.

    Examples
    --------
    >>> score = np.float32(0.3)
    >>> float(score) > 0.3, float(score) > threshold_of_type(0.3, score.dtype)
    (True, False)
    """
    if not isinstance(dtype, np.dtype) or not np.issubdtype(dtype, np.floating):
        return threshold
    return float(dtype.type(threshold))


def array_of_answers(answers: Any) -> NDArray[Any]:
    """Return answers as an array, in which a missing one among texts stays missing.

    NumPy makes a text of NaN where a list has texts, too.

    Parameters
    ----------
    answers : array-like

    Returns
    -------
    numpy.ndarray
        Of objects, if `answers` are no array and there are texts among them.

    Raises
    ------
    ValueError
        If they are lists of several lengths.

    Examples
    --------
    >>> array_of_answers(["yes", float("nan")]).tolist(), array_of_answers([0.5, 1]).tolist()
    (['yes', nan], [0.5, 1.0])
    """
    array = np.asarray(answers)
    if array.dtype.kind in "SU" and not isinstance(answers, (np.ndarray, np.generic)):
        array = np.asarray(answers, dtype=object)
    return array


def unfit_answers(array: NDArray[Any], *, asked: int, unit: str = "row") -> tuple[str, str] | None:
    """Return what is wrong with the shape of a model's answers, and a remedy; None if nothing is.

    Examples
    --------
    >>> unfit_answers(np.array([0, 1]), asked=2) is None
    True
    >>> unfit_answers(np.zeros((2, 3)), asked=2)[0]
    'the model returned an array of shape (2, 3) for 2 rows'
    """
    if array.shape == (asked,):
        return None
    if array.ndim == 0 and array.item() is None:
        return (
            f"the model returned None about {asked:,} {unit}s",
            f"return one label or score a {unit}: a function without a return statement returns "
            "None",
        )
    hint = f"return one label or score a {unit}"
    if array.ndim == 2:
        hint = "return the column of the favourable label, such as predict_proba(...)[:, 1]"
    return f"the model returned an array of shape {array.shape} for {asked:,} {unit}s", hint


def no_answer(place: int, *, unit: str = "row") -> tuple[str, str]:
    """Return what is wrong with a model that has no answer about a row or text, and a remedy."""
    rest = ", or leave out the rows with missing inputs" if unit == "row" else ""
    return (
        f"the model returned no number or label (NaN) for {unit} {place}",
        f"make it answer for every {unit}{rest}",
    )


def no_scores(threshold: float, *, has_some: bool = False) -> ParameterError:
    """Return the error of a threshold for a model that gives labels.

    `has_some`: whether it has probabilities, which audits by metrics ask for.
    """
    remedy = (
        "give a model, its file or a function that gives the probability of the favourable label"
    )
    if has_some:
        remedy = (
            "name metrics beside it, such as --metrics selection_rate, or call "
            "testsgd.audit_model_by_metrics in Python"
        )
    return ParameterError(
        f"the threshold {threshold:g} is of scores, and the model gives labels",
        where="threshold",
        remedy=f"leave it out, or {remedy}",
        threshold=threshold,
    )


def no_scores_given(threshold: float) -> ParameterError:
    """Return the error of a threshold for predictions that are labels."""
    return ParameterError(
        f"the threshold {threshold:g} is of scores or numbers, and the predictions are read as "
        "labels",
        where="threshold",
        remedy="leave it out, or name the column of the scores",
        threshold=threshold,
    )


class BlackBox(Protocol):
    """A model under audit."""

    name: str  # What to call it in a report.
    kind: str  # What it is, in words.
    thread_safe: bool  # True if several threads may ask it at once.

    @property
    def output(self) -> Output:
        """What it returns."""
        ...

    @property
    def threshold(self) -> float | None:
        """For scores: what lies above it counts as the favourable label."""
        ...

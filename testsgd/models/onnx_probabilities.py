"""The probabilities of a classifier in an ONNX file, and which class each of them is of.

Where the first output are floats, they are the probabilities of the classes 0, 1, 2, ..., or of the
class 1 alone. Where it are labels, as of a converted scikit-learn model, the second output are the
probabilities: a dictionary for each row, which names the classes, or an array, which does not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.data import category_text
from testsgd.errors import ModelError
from testsgd.models.file_models import ClassProbabilities, without_width

ONNX_FLOATS = ("tensor(float)", "tensor(double)", "tensor(float16)")
# How the types of outputs begin that may hold probabilities.
ONNX_PROBABILITIES = (*ONNX_FLOATS, "seq(map(")

# Sums of probabilities as 32-bit floats are this near to 1, and larger differences are no ties.
_ROUNDING = 1e-3

_REMEDY = (
    "leave out the threshold and the metrics of scores, or give a file with the probabilities of "
    "its classes"
)


class OnnxProbabilities:
    """What one ONNX model's outputs say of the probabilities of its classes."""

    def __init__(self) -> None:
        self._classes: dict[int, str] = {}  # By the places of their probabilities, as far as known.

    def of_numbers(self, numbers: Any) -> ClassProbabilities:
        """Return floats, of shape (n,), (n, 1) or (n, classes), as probabilities.

        Raises
        ------
        ModelError
            If they are none.
        """
        probabilities = of_each_class(numbers)
        _check(probabilities)
        return range(probabilities.shape[1]), probabilities

    def beside_labels(self, labels: Any, given: Any) -> ClassProbabilities:
        """Return the probabilities that stand beside labels, and the classes they are of.

        Raises
        ------
        ModelError
            If they are none, or not those of the labels.
        """
        if isinstance(given, list):
            classes = list(given[0])
            probabilities = np.array([[row[each] for each in classes] for row in given])
            _check(probabilities)
            return classes, probabilities
        probabilities = of_each_class(given)
        _check(probabilities)
        self._find_classes(without_width(labels), probabilities)
        width = probabilities.shape[1]
        if all(text == str(place) for place, text in self._classes.items()):
            return range(width), probabilities
        # A class that is not known has no name that a label could have.
        return [self._classes.get(place, f"(class {place})") for place in range(width)], (
            probabilities
        )

    def _find_classes(self, labels: NDArray[Any], probabilities: NDArray[Any]) -> None:
        """Find out by rows which label is given where which probability is the largest."""
        ordered = np.sort(probabilities, axis=1)
        clear = ordered[:, -1] - ordered[:, -2] > _ROUNDING
        places = np.argmax(probabilities, axis=1)[clear]
        for place in np.unique(places):
            texts = {category_text(each) for each in np.unique(labels[clear][places == place])}
            texts |= {self._classes[place]} if place in self._classes else set()
            others = {text for key, text in self._classes.items() if key != place}
            if len(texts) > 1 or texts & others:
                raise ModelError(
                    f"the model's label is not that of its largest probability: {sorted(texts)} "
                    f"where the one at place {place} is",
                    where="model",
                    remedy=_REMEDY,
                )
            self._classes[int(place)] = texts.pop()


def of_each_class(answers: Any) -> NDArray[Any]:
    """Return probabilities of the second of two classes, shape (n,), as those of both (n, 2)."""
    array = without_width(answers)
    return np.stack([1 - array, array], axis=1) if array.ndim == 1 else array


def _check(probabilities: NDArray[Any]) -> None:
    """Check that numbers, shape (n, classes), are probabilities; NaN is left to the caller."""
    sums = probabilities.sum(axis=1)
    low, high = np.nanmin(probabilities, initial=0), np.nanmax(probabilities, initial=1)
    if low >= 0 and high <= 1 and not (np.abs(sums - 1) > _ROUNDING).any():
        return
    seen = f"such as {low:g}" if low < 0 else f"such as {high:g}" if high > 1 else "of another sum"
    raise ModelError(
        f"the model's numbers are no probabilities of its classes ({seen})",
        where="model",
        remedy=_REMEDY,
    )

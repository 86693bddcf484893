"""What a file of another library is read as: a model of labels, or one of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.errors import ModelError
from testsgd.models.failures import NUMBERS_REMEDY
from testsgd.models.torch_modules import TorchModel

# Labels, and the probability of each for each row; shapes (classes,) and (n, classes).
ClassProbabilities = tuple[Sequence[Any] | NDArray[Any], NDArray[Any]]


class FileModel:
    """A model that was read from a file.

    Parameters
    ----------
    answer : callable
        From a data frame to labels, or to probabilities: of the second class, shape (n,), or of all
        classes, shape (n, classes).
    columns : sequence of str or None
        The names of its columns, if the file has them.
    numbers : NumbersModel, optional
        The same model as one of numbers, if the file does not say whether these are probabilities.
    classes : array-like, shape (classes,), optional
        The labels that it predicts, if the file says them.
    class_probabilities : callable, optional
        From a data frame to labels, shape (classes,), and the probability of each for each row,
        shape (n, classes). None if the model has none.

    Examples
    --------
    >>> model = FileModel(lambda frame: frame["age"] / 100, columns=["age"])
    >>> model.predict(pd.DataFrame({"age": [20, 60]})).tolist()
    [0, 1]
    """

    def __init__(
        self,
        answer: Callable[[pd.DataFrame], Any],
        *,
        columns: Sequence[str] | None,
        numbers: NumbersModel | None = None,
        classes: Any = None,
        class_probabilities: Callable[[pd.DataFrame], ClassProbabilities] | None = None,
    ) -> None:
        self._answer = answer
        # What it is called in reports, if not by its file.
        self.name: str | None = None
        self.numbers = numbers
        self.class_probabilities = class_probabilities
        if classes is not None:
            self.classes_ = np.asarray(classes)
        if columns is not None:
            self.feature_names_in_ = np.array(columns, dtype=object)

    def predict(self, frame: pd.DataFrame) -> NDArray[Any]:
        """Return a label for each row.

        Raises
        ------
        ModelError
            If the file does not say whether its numbers are probabilities, and they are none.
        """
        answers = without_width(self._answer(frame))
        if not np.issubdtype(answers.dtype, np.floating):
            return answers
        missing = np.isnan(answers).reshape(len(answers), -1).any(axis=1)
        if missing.any():
            # The rows without a number are named by the caller.
            return np.where(missing, np.nan, 0.0)
        if answers.ndim == 2:
            return np.asarray(np.argmax(answers, axis=1))
        if self.numbers is not None and not ((answers >= 0) & (answers <= 1)).all():
            raise ModelError(
                "the model returned numbers outside [0, 1], which are no probabilities",
                where="model",
                remedy=NUMBERS_REMEDY,
            )
        return np.asarray(answers > 0.5, dtype=np.int64)


class NumbersModel:
    """A regression that was read from a file: it has no classes.

    Parameters
    ----------
    answer : callable
        From a data frame to a number for each row, shape (n,) or (n, 1).
    columns : sequence of str or None
        The names of its columns, if the file has them.
    path : pathlib.Path
        The file, named in errors.

    Examples
    --------
    >>> model = NumbersModel(lambda rows: 2.5 * rows["age"], columns=["age"], path=Path("pay.json"))
    >>> model.predict(pd.DataFrame({"age": [20, 60]})).tolist()
    [50.0, 150.0]
    """

    def __init__(
        self,
        answer: Callable[[pd.DataFrame], Any],
        *,
        columns: Sequence[str] | None,
        path: Path,
    ) -> None:
        self._answer = answer
        # As of a FileModel.
        self.name: str | None = None
        self._path = path
        if columns is not None:
            self.feature_names_in_ = np.array(columns, dtype=object)

    def predict(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        """Return a number for each row.

        Raises
        ------
        ModelError
            If there are several a row.
        """
        answers = without_width(self._answer(frame))
        if answers.shape != (len(frame),):
            raise ModelError(
                f"the model returned an array of shape {answers.shape} for {len(frame)} rows",
                where=f"model {str(self._path)!r}",
                remedy="give a model of one number a row, or a function that returns one of them",
            )
        return answers.astype(np.float64)


def as_numbers(model: Any) -> Any:
    """Return a model as one of numbers, if it does not say whether it predicts these.

    Parameters
    ----------
    model : object
        As :func:`testsgd.models.adapted` returns it.

    Returns
    -------
    object
        `model` itself, if it is neither a module of PyTorch nor from a file of ONNX.

    Examples
    --------
    >>> as_numbers(len) is len
    True
    """
    return (model.numbers or model) if isinstance(model, (FileModel, TorchModel)) else model


def has_probabilities(model: Any) -> bool:
    """Return whether a model is from a file that gives the probabilities of its classes.

    Examples
    --------
    >>> has_probabilities(len)
    False
    """
    return isinstance(model, FileModel) and model.class_probabilities is not None


def is_of_numbers(model: Any) -> bool:
    """Return whether a model is a regression that was read from a file.

    Examples
    --------
    >>> is_of_numbers(len)
    False
    """
    return isinstance(model, NumbersModel)


def check_has_classes(model: Any, name: str) -> None:
    """Refuse a model that is known to predict numbers, where labels are compared.

    Parameters
    ----------
    model : object
        As :func:`testsgd.models.adapted` returns it.
    name : str
        What to call it in the error.

    Raises
    ------
    ModelError
        If it is a regression that was read from a file.

    Examples
    --------
    >>> check_has_classes(len, "len")
    """
    if is_of_numbers(model):
        raise ModelError(
            "the model is a regression: it predicts numbers, and no labels",
            where=f"model {name!r}",
            remedy=NUMBERS_REMEDY,
        )


def without_width(answers: Any) -> NDArray[Any]:
    """Return answers of the shape (n, 1) as (n,), others as they are."""
    array: NDArray[Any] = np.asarray(answers)
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array

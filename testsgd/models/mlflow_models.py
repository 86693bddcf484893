"""Models of MLflow: a folder that it wrote, or its model as an object."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from testsgd.errors import MissingExtraError, ModelError
from testsgd.models.external import ExternalModel, as_rows
from testsgd.models.pickled_files import untrusted

# The file that makes a folder a model of MLflow.
_DESCRIPTION = "MLmodel"


def is_mlflow_folder(path: Path) -> bool:
    """Return whether a path is a folder that MLflow wrote a model to.

    Examples
    --------
    >>> is_mlflow_folder(Path("/nowhere"))
    False
    """
    return (path / _DESCRIPTION).is_file()


def is_mlflow_model(source: Any) -> bool:
    """Return whether an object is a model of MLflow, without importing it.

    Examples
    --------
    >>> is_mlflow_model(len)
    False
    """
    return any(
        (kind.__module__, kind.__name__) == ("mlflow.pyfunc", "PyFuncModel")
        for kind in type(source).__mro__
    )


class MLflowModel(ExternalModel):
    """A model of MLflow, written by any library.

    It is given the columns that its signature names, in that order; without a signature all of the
    rows. A text is a row of one column, called as in the signature, or else ``text``.

    Parameters
    ----------
    model : mlflow.pyfunc.PyFuncModel
        The model.
    name : str
        What to call it in a report.
    """

    kind = "MLflow model"

    def __init__(self, model: Any, *, name: str) -> None:
        super().__init__(name)
        self._model = model
        schema = model.metadata.get_input_schema()
        named = schema is not None and schema.has_input_names()
        self.feature_names_in_ = tuple(schema.input_names()) if named else None

    def predict(self, asked: pd.DataFrame | Sequence[str]) -> Any:
        """Return the model's answer about each row or text."""
        rows = as_rows(asked)
        names = self.feature_names_in_
        if not isinstance(asked, pd.DataFrame) and names is not None and len(names) == 1:
            rows.columns = list(names)
        answers = self._model.predict(rows)
        if isinstance(answers, pd.DataFrame) and answers.shape[1] == 1:
            return answers.iloc[:, 0]
        return answers


def read_mlflow(path: Path, *, trusted: bool) -> MLflowModel:
    """Read a model from the folder that MLflow wrote it to.

    Parameters
    ----------
    path : path-like
        The folder.
    trusted : bool
        Whether the user said that the model may run code.

    Returns
    -------
    MLflowModel

    Raises
    ------
    ModelError
        If the model is not trusted, or cannot be read.
    MissingExtraError
        If MLflow is not installed.

    Examples
    --------
    >>> read_mlflow(Path("model"), trusted=False)
    Traceback (most recent call last):
    ...
    testsgd.errors.ModelError: model 'model': the folder is of MLflow, and to read it runs ...
    """
    if not trusted:
        raise untrusted("the folder is of MLflow", path, instead="give a function that asks it")
    try:
        from mlflow import pyfunc
    except ImportError as error:
        raise MissingExtraError("mlflow", extra="mlflow", purpose=f"reading {path.name}") from error
    try:
        model = pyfunc.load_model(str(path.resolve()))
    except Exception as error:  # MLflow and the model's own library have errors of their own
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise ModelError(
            f"the folder cannot be read ({reason})",
            where=f"model {str(path)!r}",
            remedy="check that it is whole, and that the packages in its requirements.txt are "
            "installed",
        ) from error
    return MLflowModel(model, name=str(path))

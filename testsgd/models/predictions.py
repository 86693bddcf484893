"""Predictions in a column, in the place of a model."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data import Label, category_text, distinct_values
from testsgd.errors import ModelError
from testsgd.models.answers import Output
from testsgd.models.blackbox import Model, PlainRows, PreparedRows


class PredictionColumn:
    """A column of predictions in the place of a model, which can be asked about these rows only.

    Parameters
    ----------
    column : str
        The column that holds the prediction of each row.
    label : Label
        The labels and which of them is favourable.
    name : str, optional
        What to call them in a report; by default as the column.
    asked : int
        Rows that a model was asked about to get them.
    model : Model, optional
        The model that was asked.

    Examples
    --------
    >>> label = Label(column="granted", favourable="yes", values=["no", "yes"])
    >>> predicted = PredictionColumn("granted", label=label)
    >>> predicted.decisions(pd.DataFrame({"granted": ["yes", "no"]})).tolist()
    [True, False]
    """

    kind = "predictions in a column"
    output: Output = "labels"
    threshold: float | None = None
    thread_safe = True

    def __init__(
        self,
        column: str,
        *,
        label: Label,
        name: str | None = None,
        asked: int = 0,
        model: Model | None = None,
    ) -> None:
        self.name = name or column
        self.asked = asked
        self.model = model
        self._column = column
        self._label = label
        # The labels besides the favourable one, if they are several.
        self.others = label.others if len(label.others) > 1 else ()

    def decisions(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        """Return a mask of the rows whose prediction is the favourable label, shape (n,).

        Raises
        ------
        ModelError
            If a prediction is missing.
        """
        codes, values = distinct_values(frame[self._column])
        missing = np.flatnonzero(codes < 0)
        if len(missing):
            row = frame.index[missing[0]]
            raise ModelError(
                f"the prediction of row {row} is missing",
                where=f"column {self.name!r}",
                remedy="leave rows without a prediction out",
                row=str(row),
            )
        favourable = {self._label.favourable, *self._label.together}
        is_favourable = np.array([category_text(value) in favourable for value in values])
        return np.asarray(is_favourable[codes], dtype=bool)

    def prepare(self, frame: pd.DataFrame) -> PreparedRows:
        """Return `frame` as prepared rows; no variant of them has a prediction of its own."""
        return PlainRows(self, frame)

"""What the audit knows of a model: it takes rows and says who gets the favourable label."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.models.answers import CheckedFunction, Output

# Rows on which a model is tried before the audit, and by whose decisions it is recognised.
PROBE_ROWS = 1_000


@runtime_checkable
class PreparedRows(Protocol):
    """Rows of which a model can say what it decides if one column of them were another.

    Attributes
    ----------
    asked : int
        How many rows the model has been asked about so far.
    """

    asked: int

    def decisions(self) -> NDArray[np.bool_]:
        """Decide on the rows as they are."""
        ...

    def decisions_with(
        self, feature: str, column: pd.Series[Any], rows: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Decide on the rows marked in `rows`, with `column` in the place of `feature`.

        `column` has the length of all prepared rows; the answer that of the marked ones.
        """
        ...


class Model(Protocol):
    """A model under audit.

    Attributes
    ----------
    name : str
        What to call it in a report.
    kind : str
        What it is, in words.
    """

    name: str
    kind: str

    @property
    def output(self) -> Output:
        """What it returns."""
        ...

    @property
    def threshold(self) -> float | None:
        """For scores: what lies above it counts as the favourable label."""
        ...

    @property
    def thread_safe(self) -> bool:
        """True if several threads may ask it at once."""
        ...

    def decisions(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        """Say for each row whether the model gives it the favourable label."""
        ...

    def prepare(self, frame: pd.DataFrame) -> PreparedRows:
        """Get ready to decide on variants of `frame` that differ in one column."""
        ...


class PlainRows:
    """Prepared rows of a model that knows no short cut: builds each variant and asks."""

    def __init__(self, model: Model, frame: pd.DataFrame) -> None:
        self._model = model
        self._frame = frame
        self._decided: NDArray[np.bool_] | None = None
        self.asked = 0

    def decisions(self) -> NDArray[np.bool_]:
        """Decide on the rows as they are."""
        self._decided = self._ask(self._frame)
        return self._decided

    def decisions_with(
        self, feature: str, column: pd.Series[Any], rows: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Decide on the marked rows with one column replaced."""
        if not rows.any():
            return np.zeros(0, dtype=bool)
        if feature not in self._frame:
            # What the model does not see cannot change its answer.
            if self._decided is None:
                self._decided = self.decisions()
            return self._decided[rows]
        if 2 * rows.sum() > len(rows):
            # To replace one column copies nothing else; to pick rows copies every column.
            return self._ask(self._frame.assign(**{feature: column}))[rows]
        return self._ask(self._frame[rows].assign(**{feature: column[rows]}))

    def _ask(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        self.asked += len(frame)
        return self._model.decisions(frame)


class CallableModel(CheckedFunction[pd.DataFrame]):
    """A function from a data frame to labels or scores, checked at every call.

    Parameters
    ----------
    function : callable
        Takes a pandas DataFrame of n rows, returns n labels, or n scores in [0, 1] of the
        favourable label.
    columns : tuple of str, optional
        The columns that the frame has, in this order; if not given, those of the rows as they come.
    **options
        As for :class:`testsgd.models.answers.CheckedFunction`.

    Examples
    --------
    >>> from testsgd.data import Label
    >>> label = Label(column="granted", favourable="yes", values=["no", "yes"])
    >>> model = CallableModel(lambda frame: ["yes"] * len(frame), label=label, name="always")
    >>> model.decisions(pd.DataFrame({"age": [30, 40]})).tolist()
    [True, True]
    """

    def __init__(
        self,
        function: Callable[[pd.DataFrame], Any],
        *,
        columns: tuple[str, ...] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(function, **options)
        self.columns = columns

    def reading(self, function: Callable[[pd.DataFrame], Any]) -> CallableModel:
        """Return a model of another function, its answers read as this one's are."""
        model = super().reading(function)
        model.columns = self.columns
        return model

    def given(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the columns that the function takes, in its order.

        Raises
        ------
        ModelError
            If there is no such column.
        """
        if self.columns is None or list(frame.columns) == list(self.columns):
            return frame
        for name in self.columns:
            if name not in frame:
                raise self._error(
                    f"the model needs the column {name!r}, which the rows do not have",
                    "add it to the data, or describe it",
                )
        return frame[list(self.columns)]

    def decisions(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        """Say for each row whether the model gives it the favourable label."""
        # Copied whole: a shallow copy shares cells with ours, which even pandas 3 lets
        # `frame["age"].array[0] = 1` write to.
        asked = self.given(frame)
        return self._decide(asked.copy(), len(frame), takes=_takes(asked))

    def scores(self, frame: pd.DataFrame) -> NDArray[np.float64] | None:
        """Give each row a number that is larger the nearer it is to the favourable label.

        The function's scores, or what an estimator computes before it says a label; None if only
        labels are to be had. The model must have decided about rows before.
        """
        asked = self.given(frame)
        return self._score(asked.copy(), len(frame), takes=_takes(asked))

    def prepare(self, frame: pd.DataFrame) -> PreparedRows:
        """Get ready to decide on variants of `frame` that differ in one column."""
        return PlainRows(self, self.given(frame))


def _takes(frame: pd.DataFrame) -> str:
    return f"a data frame with the columns {', '.join(map(str, frame.columns))}"

"""What the audit knows of a model: it takes rows and says who gets the favourable label."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data import Label, category_text
from testsgd.errors import ModelError, TestSGDError

Output = Literal["labels", "scores"]

# How pandas calls arrays of objects that are scores, such as nullable columns leave behind.
_OBJECT_SCORES = ("floating", "mixed-integer-float", "decimal")

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
        self.asked = 0

    def decisions(self) -> NDArray[np.bool_]:
        """Decide on the rows as they are."""
        return self._ask(self._frame)

    def decisions_with(
        self, feature: str, column: pd.Series[Any], rows: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Decide on the marked rows with one column replaced."""
        if not rows.any():
            return np.zeros(0, dtype=bool)
        if 2 * rows.sum() > len(rows):
            # To replace one column copies nothing else; to pick rows copies every column.
            return self._ask(self._frame.assign(**{feature: column}))[rows]
        return self._ask(self._frame[rows].assign(**{feature: column[rows]}))

    def _ask(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        self.asked += len(frame)
        return self._model.decisions(frame)


class CallableModel:
    """A function from a data frame to labels or scores, checked at every call.

    Parameters
    ----------
    function : callable
        Takes a pandas DataFrame of n rows, returns n labels, or n scores in [0, 1] of the
        favourable label. It gets a copy: what it does to it changes nothing.
    label : Label
        The labels and which of them is favourable.
    name, kind : str
        What to call the model in a report.
    favourable_given : bool
        True if the user named the favourable label for this very audit, so that a model with more
        than two labels may be read as "this label or another".
    threshold : float
        Scores above it count as favourable.
    output : {"labels", "scores"}, optional
        What the function returns; found out at the first call if not said.

    Examples
    --------
    >>> label = Label(column="granted", favourable="yes", values=["no", "yes"])
    >>> model = CallableModel(lambda frame: ["yes"] * len(frame), label=label, name="always")
    >>> model.decisions(pd.DataFrame({"age": [30, 40]})).tolist()
    [True, True]
    """

    thread_safe = False

    def __init__(
        self,
        function: Callable[[pd.DataFrame], Any],
        *,
        label: Label,
        name: str,
        kind: str = "function",
        favourable_given: bool = False,
        threshold: float = 0.5,
        output: Output | None = None,
    ) -> None:
        self._function = function
        self._label = label
        self._favourable_given = favourable_given
        self._threshold = threshold
        self._output = output
        self._seen: set[str] = set()
        self.name = name
        self.kind = kind

    @property
    def output(self) -> Output:
        """What the model returns; known after the first call."""
        return self._output or "labels"

    @property
    def threshold(self) -> float | None:
        """The threshold on scores, None for labels."""
        return self._threshold if self.output == "scores" else None

    def decisions(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        """Say for each row whether the model gives it the favourable label."""
        answers = self._ask(frame)
        if self._output is None:
            self._output = self._recognise(answers)
        return (
            self._from_scores(answers) if self._output == "scores" else self._from_labels(answers)
        )

    def prepare(self, frame: pd.DataFrame) -> PreparedRows:
        """Get ready to decide on variants of `frame` that differ in one column."""
        return PlainRows(self, frame)

    def _ask(self, frame: pd.DataFrame) -> NDArray[Any]:
        try:
            # Copied whole: a shallow copy shares cells with ours, which even pandas 3 lets
            # `frame["age"].array[0] = 1` write to.
            answers = self._function(frame.copy())
        except TestSGDError:
            raise
        except (Exception, SystemExit) as error:
            # SystemExit too: a model that leaves must not choose the exit code of the audit.
            raise self._error(
                f"the model raised {type(error).__name__}: {error}",
                f"make it accept a data frame with the columns {', '.join(frame.columns)}",
            ) from error
        try:
            array = np.asarray(answers)
        except ValueError as error:
            raise self._error(
                "the model did not return one answer a row", "return n labels or n scores"
            ) from error
        if array.ndim == 2 and array.shape[1] == 1:
            array = array[:, 0]
        if array.ndim != 1 or len(array) != len(frame):
            hint = (
                "return the column of the favourable label"
                if array.ndim == 2
                else "return one label or score a row"
            )
            raise self._error(
                f"the model returned an array of shape {array.shape} for {len(frame)} rows", hint
            )
        if pd.isna(array).any():
            row = int(np.flatnonzero(pd.isna(array))[0])
            raise self._error(
                f"the model returned no number or label (NaN) for row {row}",
                "make it answer for every row",
            )
        if array.dtype == object and pd.api.types.infer_dtype(array) in _OBJECT_SCORES:
            return array.astype(np.float64)
        return array

    def _distinct(self, answers: NDArray[Any]) -> tuple[NDArray[np.intp], list[str]]:
        """Split answers into codes and the texts of the labels that they stand for."""
        try:
            codes, uniques = pd.factorize(answers)
        except TypeError as error:
            raise self._error(
                f"the model returned a {type(answers[0]).__name__} for row 0",
                "return one label or score a row",
            ) from error
        return codes, [category_text(value) for value in uniques]

    def _recognise(self, answers: NDArray[Any]) -> Output:
        """Find out at the first call whether the answers are labels or scores; then it is fixed."""
        known = set(self._label.values or [self._label.favourable])
        if set(self._distinct(answers)[1]) <= known:
            return "labels"
        if np.issubdtype(answers.dtype, np.floating):
            return "scores"
        return "labels"

    def _from_scores(self, answers: NDArray[Any]) -> NDArray[np.bool_]:
        if not np.issubdtype(answers.dtype, np.number):
            raise self._error(
                f"the model returned scores at first, then {category_text(answers[0])!r}",
                "return one kind only",
            )
        scores = answers.astype(np.float64)
        outside = (scores < 0) | (scores > 1)
        if outside.any():
            row = int(np.flatnonzero(outside)[0])
            raise self._error(
                f"the model returned the score {scores[row]:g} for row {row}, outside [0, 1]",
                "return the probability of the favourable label",
            )
        return scores > self._threshold

    def _from_labels(self, answers: NDArray[Any]) -> NDArray[np.bool_]:
        codes, texts = self._distinct(answers)
        self._check_labels(texts)
        favourable = np.array([text == self._label.favourable for text in texts], dtype=bool)
        decided: NDArray[np.bool_] = favourable[codes]
        return decided

    def _check_labels(self, texts: list[str]) -> None:
        """Check the labels of all answers so far: few rows may happen to get only some of them."""
        self._seen.update(texts)
        seen = sorted(self._seen)
        declared, favourable = self._label.values, self._label.favourable
        if len(seen) > 2 and not self._favourable_given:
            raise self._error(
                f"the model returned {len(seen)} labels ({', '.join(seen[:6])})",
                "say which one to compare with --favorable LABEL",
            )
        unknown = [text for text in seen if declared is not None and text not in declared]
        if unknown and not (self._favourable_given and favourable in seen):
            raise self._error(
                f"the model returned {unknown[0]!r}, which is not among the labels "
                f"{', '.join(declared or [])}",
                "return those labels, or scores in [0, 1] as floats, or name the label with "
                "--favorable",
            )
        if len(seen) == 2 and favourable not in seen and not self._favourable_given:
            # Only where no labels are declared; taken for "never favourable", it would look fair.
            raise self._error(
                f"the model returned the labels {seen[0]!r} and {seen[1]!r}, neither is the "
                f"favourable label {favourable!r}",
                "correct label.favourable, or name the label with --favorable",
            )

    def _error(self, what: str, remedy: str) -> ModelError:
        return ModelError(what, where=f"model {self.name!r}", remedy=remedy, model=self.name)

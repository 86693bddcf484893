"""Black boxes of rows: what an audit asks of a model, and what makes one of a user's object."""

from __future__ import annotations

import contextlib
import inspect
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data import DatasetSpecification
from testsgd.errors import ModelError
from testsgd.models.answers import BlackBox
from testsgd.models.checked_function import CheckedFunction
from testsgd.models.failures import listed_columns

# Rows on which a model is tried before the audit, and by whose decisions it is recognised.
PROBE_ROWS = 1_000


@runtime_checkable
class PreparedRows(Protocol):
    """Rows on which a model can decide again with the values of one column replaced.

    :meth:`Model.prepare` returns them. A model may keep what it computed for the rows as they are,
    so that a replaced column takes less work.

    Notes
    -----
    :class:`PlainRows` are such rows of any model. The protocol can be checked at run time, by the
    names of its members: ``isinstance(rows, PreparedRows)``.

    Examples
    --------
    >>> from testsgd.data import Label
    >>> label = Label(column="granted", favourable="yes", values=["no", "yes"])
    >>> model = CallableModel(
    ...     lambda frame: np.where(frame["age"] >= 35, "yes", "no"), label=label, name="adults"
    ... )
    >>> people = model.prepare(pd.DataFrame({"age": [30, 40]}))
    >>> isinstance(people, PreparedRows)
    True
    >>> people.decisions().tolist(), people.asked
    ([False, True], 2)
    >>> people.decisions_with("age", pd.Series([35, 45]), np.array([True, False])).tolist()
    [True]
    """

    asked: int  # How many rows the model has been asked about so far.

    def decisions(self) -> NDArray[np.bool_]:
        """Return the model's decisions on the rows as they are, shape (n,)."""
        ...

    def decisions_with(
        self, feature: str, column: pd.Series[Any], rows: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return the decisions on some of the rows with one column replaced.

        Parameters
        ----------
        feature : str
            The column that is replaced.
        column : pandas.Series, shape (n,)
            The values in its place, one for each of the n prepared rows.
        rows : numpy.ndarray of bool, shape (n,)
            The rows to decide on.

        Returns
        -------
        numpy.ndarray of bool, shape (m,)
            The decisions on the m rows that `rows` marks, in their order.
        """
        ...


class Model(BlackBox, Protocol):
    """A model of rows under audit: it decides which rows get the favourable label.

    :class:`CallableModel`, :class:`NetworkModel` and :class:`PredictionColumn` are such models.

    Attributes
    ----------
    name, kind : str
        What reports call the model, and what it is in words.
    thread_safe : bool
        Whether several threads may ask it at once.
    output : {"labels", "scores"}
        What it computes before it decides.
    threshold : float or None
        The score above which the decision is favourable; None for labels.

    Examples
    --------
    A model that is written by hand:

    >>> class Adults:
    ...     name, kind, thread_safe = "adults", "a rule by age", True
    ...     output, threshold = "labels", None
    ...
    ...     def decisions(self, frame):
    ...         return frame["age"].to_numpy() >= 18
    ...
    ...     def prepare(self, frame):
    ...         return PlainRows(self, frame)
    >>> people = pd.DataFrame({"age": [17, 30]})
    >>> Adults().decisions(people).tolist()
    [False, True]
    >>> everyone = np.array([True, True])
    >>> Adults().prepare(people).decisions_with("age", pd.Series([18, 3]), everyone).tolist()
    [True, False]
    """

    def decisions(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        """Return a mask of the rows that get the favourable label, shape (n,)."""
        ...

    def prepare(self, frame: pd.DataFrame) -> PreparedRows:
        """Return `frame` as rows on which the model decides with one column replaced."""
        ...


# Prepared rows with one column replaced: its name, the values in its place, and the rows to decide
# on, as :meth:`PreparedRows.decisions_with` takes them.
Variant = tuple[str, "pd.Series[Any]", NDArray[np.bool_]]


class PlainRows:
    """Prepared rows of any model: each variant is built as a data frame, and the model is asked.

    Parameters
    ----------
    model : Model
        The model, which is asked by its ``decisions``.
    frame : pandas.DataFrame
        The rows. Not changed.

    Examples
    --------
    >>> from testsgd.data import Label
    >>> label = Label(column="granted", favourable="yes", values=["no", "yes"])
    >>> model = CallableModel(
    ...     lambda frame: np.where(frame["age"] >= 35, "yes", "no"), label=label, name="adults")
    >>> people = PlainRows(model, pd.DataFrame({"age": [30, 40]}))
    >>> people.decisions().tolist()
    [False, True]
    >>> people.decisions_with("age", pd.Series([35, 45]), np.array([True, False])).tolist()
    [True]
    """

    def __init__(self, model: Model, frame: pd.DataFrame) -> None:
        self._model = model
        self._frame = frame
        self._decided: NDArray[np.bool_] | None = None
        self.asked = 0

    def decisions(self) -> NDArray[np.bool_]:
        """Return the model's decisions on the rows as they are, shape (n,)."""
        self._decided = self._ask(self._frame)
        return self._decided

    def decisions_with(
        self, feature: str, column: pd.Series[Any], rows: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return the decisions on the m marked rows with one column replaced, shape (m,)."""
        if not rows.any():
            return np.zeros(0, dtype=bool)
        if feature not in self._frame:
            # What the model does not see cannot change its answer.
            return (self.decisions() if self._decided is None else self._decided)[rows]
        if 2 * rows.sum() > len(rows):
            # To replace one column copies nothing else; to pick rows copies every column.
            return self._ask(self._frame.assign(**{feature: column}))[rows]
        return self._ask(self._frame[rows].assign(**{feature: column[rows]}))

    def decisions_with_each(self, variants: Sequence[Variant]) -> list[NDArray[np.bool_]]:
        """Return for each variant what :meth:`decisions_with` returns, asking about all at once.

        A call of many models takes as long as their work on a thousand rows.

        Parameters
        ----------
        variants : sequence of (str, pandas.Series, numpy.ndarray of bool)
            The column that is replaced, the values in its place and the rows to decide on, the last
            two of shape (n,).

        Returns
        -------
        list of numpy.ndarray of bool
            The decisions on the rows that each variant marks, in their order.
        """
        answers = [np.zeros(0, dtype=bool) for _ in variants]
        together = []
        for index, (feature, column, rows) in enumerate(variants):
            if feature in self._frame and column.dtype == self._frame[feature].dtype:
                if rows.any():
                    together.append(index)
            else:
                # A column of another type would change the type of the others' cells.
                answers[index] = self.decisions_with(feature, column, rows)
        if together:
            found = self._ask_together([variants[index] for index in together])
            for index, decided in zip(together, found, strict=True):
                answers[index] = decided
        return answers

    def _ask_together(self, variants: Sequence[Variant]) -> list[NDArray[np.bool_]]:
        """Ask about the rows that :meth:`decisions_with` would ask about, in the same order."""
        every_row = np.arange(len(self._frame))
        places = [
            every_row if 2 * rows.sum() > len(rows) else np.flatnonzero(rows)
            for _, _, rows in variants
        ]
        frame = self._frame.iloc[np.concatenate(places)].reset_index(drop=True)
        ends = np.cumsum([len(asked) for asked in places])
        for (feature, column, _), asked, end in zip(variants, places, ends, strict=True):
            cells = frame[feature]
            parts = [cells.iloc[: end - len(asked)], column.iloc[asked], cells.iloc[end:]]
            frame[feature] = pd.concat(parts, ignore_index=True)
        decided = np.split(self._ask(frame), ends[:-1])
        return [
            answers[rows] if len(answers) == len(rows) else answers
            for answers, (_, _, rows) in zip(decided, variants, strict=True)
        ]

    def _ask(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        self.asked += len(frame)
        return self._model.decisions(frame)


class CallableModel(CheckedFunction[pd.DataFrame]):
    """A function from a data frame to labels or scores, checked at every call.

    Parameters
    ----------
    function : callable
        As for :class:`CheckedFunction`, of a pandas DataFrame.
    columns : tuple of str, optional
        The columns that the frame has, in this order; if not given, those of the rows as they come.
    **options
        As for :class:`CheckedFunction`.

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
        # Names that are no texts, by the texts that stand for them here.
        self.given_names: Mapping[str, Any] = {}

    def reading(self, function: Callable[[pd.DataFrame], Any]) -> CallableModel:
        """Return a model of another function, its answers read as this one's are."""
        model = super().reading(function)
        model.columns = self.columns
        model.given_names = self.given_names
        return model

    def given(self, asked: pd.DataFrame) -> pd.DataFrame:
        """Return the columns that the function takes, in its order."""
        if self.columns is None or list(asked.columns) == list(self.columns):
            return asked
        for name in self.columns:
            if name not in asked:
                raise self._error(
                    f"the model needs the column {name!r}, which the rows do not have",
                    "add it to the data, or describe it",
                )
        return asked[list(self.columns)]

    def _own(self, given: pd.DataFrame) -> pd.DataFrame:
        return given.rename(columns=self.given_names).copy()

    def _takes(self, given: pd.DataFrame) -> str:
        return f"a data frame with the columns {listed_columns(tuple(given.columns))}"

    def prepare(self, frame: pd.DataFrame) -> PreparedRows:
        """Return `frame` as rows on which the model decides with one column replaced."""
        return PlainRows(self, self.given(frame))


_Parameter = inspect.Parameter


@dataclass(frozen=True)
class ColumnFunction:
    """A function of columns as one of a data frame."""

    function: Callable[..., Any]
    columns: tuple[str, ...]

    def __call__(self, frame: pd.DataFrame) -> Any:
        """Return the function's answers about a frame's columns."""
        kinds = {item.name: item.kind for item in _parameters(self.function)}
        first = [name for name in self.columns if kinds[name] is _Parameter.POSITIONAL_ONLY]
        others = {name: frame[name] for name in self.columns if name not in first}
        return self.function(*(frame[name] for name in first), **others)


def named_columns(source: Any, among: Collection[Any] = ()) -> tuple[str, ...] | None:
    """Return the columns that a model, or its method, names, or None.

    They are in ``feature_names_in_``; of a model of CatBoost in ``feature_names_``, and a booster
    of LightGBM has a method. A Keras model of several inputs, each of one number or text a row, has
    them as the names of its inputs. LightGBM writes underscores in place of blanks: of columns that
    are not `among` those there are, the one that differs so is returned.
    """
    if is_keras_model(source):
        columns = tuple(_named_tensors(source))
        return columns or None
    for owner in (source, getattr(source, "__self__", None)):
        names = _own_names(owner)
        if names is not None:
            made_up = _MADE_UP.get(_library_of(owner))
            if made_up is not None and names == tuple(map(made_up.format, range(len(names)))):
                return None
            known = {_without_blanks(name): str(name) for name in among}
            return tuple(name if name in among else known.get(name, name) for name in names)
    return None


# How libraries call the columns of arrays that models were fitted to.
_MADE_UP = {"catboost": "{}", "lightgbm": "Column_{}"}


def _library_of(owner: Any) -> str:
    return type(owner).__module__.partition(".")[0]


def _without_blanks(name: Any) -> str:
    return re.sub(r"\s", "_", str(name))


def _own_names(owner: Any) -> tuple[str, ...] | None:
    """Return the names of columns that a model has, perhaps made up, or None."""
    # A property of a foreign class may raise anything where it has nothing to tell.
    with contextlib.suppress(Exception):
        if _library_of(owner) == "catboost":
            names = owner.feature_names_
        elif is_booster(owner, "lightgbm"):
            names = owner.feature_name()
        else:
            names = getattr(owner, "feature_names_in_", None)
        if names is not None and not isinstance(names, str):
            return tuple(str(name) for name in names)
    return None


def is_booster(source: Any, library: str) -> bool:
    """Return whether an object is a ``Booster`` of a library, without importing that.

    Examples
    --------
    >>> is_booster(len, "xgboost")
    False
    """
    return type(source).__name__ == "Booster" and _library_of(source) == library


def may_have_encoders(source: Any) -> bool:
    """Return whether an object, or that of a method, is of the kind of scikit-learn's estimators.

    Examples
    --------
    >>> may_have_encoders(len), may_have_encoders(None)
    (False, False)
    """
    owner = getattr(source, "__self__", source)
    return "sklearn" in sys.modules and hasattr(owner, "fit") and hasattr(owner, "predict")


def is_catboost(source: Any) -> bool:
    """Return whether an object is a plain ``CatBoost``, which has no answers of its own kind.

    A ``CatBoostClassifier`` predicts classes, and a ``CatBoostRegressor`` numbers.

    Examples
    --------
    >>> is_catboost(len)
    False
    """
    return type(source).__name__ == "CatBoost" and _library_of(source) == "catboost"


def positional_width(source: Any) -> int | None:
    """Return how many columns a model, or its method, takes by their places alone.

    None if it names them, or checks their number itself.

    Examples
    --------
    >>> positional_width(len) is None
    True
    """
    for owner in (source, getattr(source, "__self__", None)):
        if _library_of(owner) == "catboost" and named_columns(owner) is None:
            names = _own_names(owner)
            return None if names is None else len(names)
    return None


@dataclass(frozen=True)
class CountedColumns:
    """A function of a data frame that has to have a certain number of columns."""

    function: Callable[[pd.DataFrame], Any]
    width: int

    def __call__(self, frame: pd.DataFrame) -> Any:
        """Return the function's answers; a ModelError for another number of columns."""
        check_column_count(frame, width=self.width, taker="the model")
        return self.function(frame)


def parameter_columns(function: Callable[..., Any], inputs: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that a function takes as its parameters; none if it takes a frame.

    A function takes columns if it must be given several things, or one by its name. Parameters
    with a default are columns too if they are called as an input is.
    """
    variable = (_Parameter.VAR_POSITIONAL, _Parameter.VAR_KEYWORD)
    usable = [item for item in _parameters(function) if item.kind not in variable]
    needed = [item for item in usable if item.default is _Parameter.empty]
    if len(needed) < 2 and not any(item.kind is _Parameter.KEYWORD_ONLY for item in needed):
        return ()
    return tuple(item.name for item in usable if item in needed or item.name in inputs)


def compare_columns(
    named: tuple[str, ...], specification: DatasetSpecification, *, model: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the features that a model does not take, and what it takes besides the features."""
    features = specification.features
    columns = {specification.column_of(name): name for name in features}
    for name in named:
        if name in features and not features[name].input:
            what = f"the model takes the feature {name!r}, which is no input by the description"
            remedy = "set `input = true`, or give a model that does not take it"
        elif name == specification.label.column and name not in features:
            what = f"the model takes {name!r}, which is the label column"
            remedy = "give a model that does not take it"
        elif name in columns and name not in features:
            what = f"the model takes {name!r}, which the description calls {columns[name]!r}"
            remedy = "call the feature as the model does"
        else:
            continue
        raise ModelError(what, where=f"model {model!r}", remedy=remedy, model=model, column=name)
    return (
        tuple(name for name in features if name not in named),
        tuple(name for name in named if name not in features),
    )


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


# Rows or texts at once. Keras' own 32 would make an audit ten times as long.
_BATCH = 512


@dataclass(frozen=True)
class KerasFunction:
    """Asks a Keras model without its progress bar."""

    model: Any

    def __call__(self, asked: pd.DataFrame | Sequence[str]) -> Any:
        """Return what the model predicts; of several columns, the number of the largest class.

        Raises
        ------
        ModelError
            If rows have another number of columns than the model takes, or a text among them.
        """
        if isinstance(asked, pd.DataFrame):
            _check_keras_columns(self.model, asked)
        inputs = keras_inputs(self.model, asked)
        outputs = self.model.predict(inputs, batch_size=_BATCH, verbose=0)
        if isinstance(outputs, np.ndarray) and outputs.ndim == 2 and outputs.shape[1] > 1:
            return np.argmax(outputs, axis=1)
        return outputs


_ITS_COLUMNS = (
    "give the columns that it was trained on and no others, or a function "
    "(package.module:callable) that turns the rows into its inputs"
)


def check_number_columns(rows: pd.DataFrame, *, width: Any, taker: str) -> None:
    """Raise an error if rows are not as many columns of numbers as a model takes.

    Parameters
    ----------
    rows : pandas.DataFrame
    width : object
        How many columns it takes; anything but a whole number where that is not known.
    taker : str
        The model, in words.

    Raises
    ------
    ModelError
    """
    check_column_count(rows, width=width, taker=taker)
    for name, column in rows.items():
        try:
            float_inputs(column.to_frame())
        except (TypeError, ValueError) as error:
            raise ModelError(
                f"the column {name!r} has no numbers, and {taker} takes nothing else",
                where="model",
                remedy=_ITS_COLUMNS,
                column=name,
            ) from error


def check_column_count(rows: pd.DataFrame, *, width: Any, taker: str) -> None:
    """Raise a ModelError if rows have another number of columns than a model takes.

    The parameters are those of :func:`check_number_columns`.
    """
    if isinstance(width, int) and width != rows.shape[1]:
        raise ModelError(
            f"{taker} takes {width} columns, and the rows have {rows.shape[1]} "
            f"({listed_columns(tuple(rows.columns))})",
            where="model",
            remedy=_ITS_COLUMNS,
        )


def _named_tensors(network: Any) -> dict[str, Any]:
    """Return a Keras model's inputs by name, if they are several of one value a row; else none."""
    inputs = getattr(network, "inputs", None) or []
    if len(inputs) < 2 or any(tuple(each.shape) not in ((None, 1), (None,)) for each in inputs):
        return {}
    # A model of a dictionary is asked by its keys.
    given = getattr(network, "input", None)
    if isinstance(given, dict):
        return dict(given)
    return {each.name: each for each in inputs}


def _named_inputs(network: Any, rows: pd.DataFrame) -> dict[str, Any]:
    """Return a column for each input of a Keras model, of the input's type and shape."""
    named = {}
    for name, each in _named_tensors(network).items():
        column = rows[name]
        if each.dtype == "string":
            import tensorflow as tf

            values = tf.constant(column.astype(str).tolist(), dtype=tf.string)
            named[name] = values[:, tf.newaxis] if len(each.shape) == 2 else values
            continue
        check_number_columns(column.to_frame(), width=1, taker="the network")
        numbers = float_inputs(column.to_frame()).astype(each.dtype)
        named[name] = numbers if len(each.shape) == 2 else numbers[:, 0]
    return named


def _check_keras_columns(network: Any, rows: pd.DataFrame) -> None:
    """Raise a ModelError if rows are not as many columns of numbers as a network takes."""
    if _named_tensors(network):
        return
    # Several inputs have a list of shapes.
    shape = getattr(network, "input_shape", None)
    width = shape[1] if isinstance(shape, tuple) and len(shape) == 2 else None
    check_number_columns(rows, width=width, taker="the network")


def keras_inputs(network: Any, asked: pd.DataFrame | Sequence[str]) -> Any:
    """Return rows as an array of numbers, and texts as a tensor of the shape a model takes."""
    if isinstance(asked, pd.DataFrame):
        return _named_inputs(network, asked) if _named_tensors(network) else float_inputs(asked)
    if network.inputs[0].dtype != "string":
        raise ValueError(f"it takes {network.inputs[0].dtype}, not texts")
    import tensorflow as tf

    texts = tf.constant(list(asked), dtype=tf.string)
    return texts[:, tf.newaxis] if len(network.input_shape) == 2 else texts


def is_keras_model(source: Any) -> bool:
    """Return whether an object is a model of Keras, without importing it."""
    keras = sys.modules.get("keras")
    return keras is not None and isinstance(source, keras.Model)


def float_inputs(frame: pd.DataFrame) -> NDArray[np.float32]:
    """Return a data frame of numbers as an array, NaN where missing."""
    return np.asarray(frame.to_numpy(dtype=np.float32, na_value=np.nan))

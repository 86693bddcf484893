"""Which columns a model takes: those that it names itself, or the inputs of the description."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from testsgd.data import DatasetSpecification
from testsgd.errors import ModelError

_Parameter = inspect.Parameter


@dataclass(frozen=True)
class ModelColumns:
    """The columns that a model of rows is given.

    Attributes
    ----------
    taken : tuple of str
        The columns, in the order in which the model takes them.
    not_given : tuple of str
        Features of the description that are not among them.
    passed : tuple of str
        Those that the description does not have.
    """

    taken: tuple[str, ...]
    not_given: tuple[str, ...]
    passed: tuple[str, ...]


@dataclass(frozen=True)
class ColumnFunction:
    """A function of columns as one of a data frame.

    Attributes
    ----------
    function : callable
        Takes columns, each under its name.
    columns : tuple of str
        Their names.

    Examples
    --------
    >>> def rich(income, debt):
    ...     return income > 2 * debt
    >>> function = ColumnFunction(rich, ("income", "debt"))
    >>> function(pd.DataFrame({"debt": [10, 20], "income": [30, 30]})).tolist()
    [True, False]
    """

    function: Callable[..., Any]
    columns: tuple[str, ...]

    def __call__(self, frame: pd.DataFrame) -> Any:
        """Return what the function says of a frame's columns."""
        kinds = {item.name: item.kind for item in _parameters(self.function)}
        first = [name for name in self.columns if kinds[name] is _Parameter.POSITIONAL_ONLY]
        return self.function(
            *(frame[name] for name in first),
            **{name: frame[name] for name in self.columns if name not in first},
        )


def named_columns(source: Any) -> tuple[str, ...] | None:
    """Return the columns that a model names in ``feature_names_in_``, None if it names none.

    Parameters
    ----------
    source : object
        An estimator, a function, or a method of either.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> fitted = LinearRegression().fit(pd.DataFrame({"age": [1, 2], "wage": [1, 3]}), [0, 1])
    >>> named_columns(fitted), named_columns(fitted.predict), named_columns(len)
    (('age', 'wage'), ('age', 'wage'), None)
    """
    for owner in (source, getattr(source, "__self__", None)):
        # A property of a foreign class may raise anything where it has nothing to tell.
        with contextlib.suppress(Exception):
            names = getattr(owner, "feature_names_in_", None)
            if names is not None and not isinstance(names, str):
                return tuple(str(name) for name in names)
    return None


def parameter_columns(function: Callable[..., Any], inputs: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that a function takes as its parameters; none if it takes a frame.

    A function takes columns if it must be given several things, or one by its name. Parameters
    with a default are columns too if they are called as an input is.

    Parameters
    ----------
    function : callable
        The function.
    inputs : sequence of str
        The features that a model may be given.

    Examples
    --------
    >>> parameter_columns(lambda income, debt, limit=3, age=None: 0, ["income", "age"])
    ('income', 'debt', 'age')
    >>> parameter_columns(lambda frame, limit=3: 0, ["income", "age"])
    ()
    """
    usable = [
        item
        for item in _parameters(function)
        if item.kind not in (_Parameter.VAR_POSITIONAL, _Parameter.VAR_KEYWORD)
    ]
    needed = [item for item in usable if item.default is _Parameter.empty]
    if len(needed) < 2 and not any(item.kind is _Parameter.KEYWORD_ONLY for item in needed):
        return ()
    return tuple(item.name for item in usable if item in needed or item.name in inputs)


def model_columns(
    named: tuple[str, ...], specification: DatasetSpecification, *, model: str
) -> ModelColumns:
    """Compare what a model takes with a description.

    Parameters
    ----------
    named : tuple of str
        The columns that the model takes.
    specification : DatasetSpecification
        The description.
    model : str
        The model's name, for error messages.

    Returns
    -------
    ModelColumns

    Raises
    ------
    ModelError
        If the model takes the label, a feature that is no input, or a column of the file that the
        description calls otherwise.
    """
    features = specification.features
    columns = {specification.column_of(name): name for name in features}
    for name in named:
        if name in features and not features[name].input:
            what, remedy = (
                f"the model takes the feature {name!r}, which is no input by the description",
                "set `input = true`, or give a model that does not take it",
            )
        elif name == specification.label.column and name not in features:
            what, remedy = (
                f"the model takes {name!r}, which is the label column",
                "give a model that does not take it",
            )
        elif name in columns and name not in features:
            what, remedy = (
                f"the model takes {name!r}, which the description calls {columns[name]!r}",
                "call the feature as the model does",
            )
        else:
            continue
        raise ModelError(what, where=f"model {model!r}", remedy=remedy, model=model, column=name)
    return ModelColumns(
        named,
        tuple(name for name in features if name not in named),
        tuple(name for name in named if name not in features),
    )


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []

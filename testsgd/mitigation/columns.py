"""From the X of scikit-learn, array or data frame, to a table that can be audited, and back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data import (
    DEFAULT_BINS,
    MISSING,
    DatasetSpecification,
    Table,
    as_floats,
    category_text,
    check_table,
    distinct_values,
)
from testsgd.errors import DataError, ParameterError
from testsgd.rules.axes import MOST_VALUES

# The names that the two labels have in the table.
FAVOURABLE, OTHER = "favourable", "other"


@dataclass(frozen=True)
class Columns:
    """What the columns of X are called and hold.

    Attributes
    ----------
    names : tuple of str
        Of X's own, as text; ``x0``, ``x1``, ... in an array.
    labels : pandas.Index or None
        X's own names; None if it is an array.
    types : tuple
        The columns' types, or the array's type alone.
    """

    names: tuple[str, ...]
    labels: pd.Index[Any] | None
    types: tuple[Any, ...]

    @classmethod
    def of(cls, X: Any) -> Columns:
        """Look at X.

        Raises
        ------
        DataError
            If two columns have the same name.
        """
        if not isinstance(X, pd.DataFrame):
            return cls(tuple(f"x{place}" for place in range(X.shape[1])), None, (X.dtype,))
        names = tuple(str(label) for label in X.columns)
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DataError(
                f"two columns are called {twice!r}", where="X", remedy="rename one of them"
            )
        return cls(names, X.columns, tuple(X.dtypes))

    def frame(self, X: Any) -> pd.DataFrame:
        """Give X as a data frame, its columns called as in `names`."""
        if self.labels is None:
            return pd.DataFrame(X, columns=list(self.names)).infer_objects()
        frame: pd.DataFrame = X.set_axis(list(self.names), axis=1)
        return frame.reset_index(drop=True)

    def back(self, frame: pd.DataFrame) -> Any:
        """Give a data frame such as :meth:`frame` gives in the form of X."""
        if self.labels is None:
            return frame.to_numpy(dtype=self.types[0])
        changed = {
            name: frame[name].astype(dtype)
            for name, dtype in zip(self.names, self.types, strict=True)
            if frame[name].dtype != dtype
        }
        return frame.assign(**changed).set_axis(self.labels, axis=1)

    def chosen(self, features: Any) -> tuple[str, ...]:
        """Give the names of some columns, each given by its name or its place.

        Raises
        ------
        ParameterError
            If none are given, or there is no such column.
        """
        given = [features] if isinstance(features, str | int | np.integer) else features
        if given is None or not len(given):
            raise ParameterError(
                "no sensitive features are named",
                where="sensitive_features",
                remedy="give a list of columns' names or places",
            )
        return tuple(self._one(feature) for feature in given)

    def _one(self, feature: Any) -> str:
        if isinstance(feature, int | np.integer) and not isinstance(feature, bool):
            own = [] if self.labels is None else list(self.labels)
            place = own.index(feature) if feature in own else int(feature)
            if 0 <= place < len(self.names):
                return self.names[place]
        elif isinstance(feature, str) and feature in self.names:
            return feature
        raise ParameterError(
            f"X has no column {feature!r}",
            where="sensitive_features",
            remedy=f"the columns are {', '.join(self.names[:12])}",
        )


def rows_table(
    frame: pd.DataFrame, favourable: NDArray[np.bool_], sensitive: Collection[str]
) -> Table | None:
    """Describe rows by what they hold, for an audit.

    Parameters
    ----------
    frame : pandas.DataFrame
        The features.
    favourable : numpy.ndarray of bool
        Which rows have the favourable label.
    sensitive : collection of str
        The sensitive features.

    Returns
    -------
    Table or None
        Numbers range from the lowest to the highest that occurs, and in bins of round limits if
        they are sensitive; but sensitive numbers of which there are only two, and whatever is no
        number, are categories. None if each sensitive feature has one value only.

    Raises
    ------
    DataError
        If a column holds infinite numbers, or the word that stands for missing values.
    ParameterError
        If a sensitive feature has too many categories.
    """
    varying = {name for name in sensitive if frame[name].nunique(dropna=False) > 1}
    if not varying:
        return None
    label = "label"
    while label in frame:
        label = f"{label}_"
    specification = DatasetSpecification.model_validate(
        {
            "dataset": {"name": "rows"},
            "label": {"column": label, "favourable": FAVOURABLE, "values": [OTHER, FAVOURABLE]},
            "features": {
                str(name): _feature(frame[name], str(name), name in varying) for name in frame
            },
        }
    )
    labels = np.where(favourable, FAVOURABLE, OTHER)
    return check_table(frame.assign(**{label: labels}), specification, source="X")


def _feature(column: pd.Series[Any], name: str, sensitive: bool) -> dict[str, Any]:
    """Describe one column."""
    if pd.api.types.is_any_real_numeric_dtype(column):
        numbers = as_floats(column)
        known = np.unique(numbers[~np.isnan(numbers)])
        if not np.isfinite(known).all():
            raise DataError(
                "there are infinite numbers", where=f"X, column {name!r}", remedy="replace them"
            )
        if len(known) == 0:
            return {"type": "decimal", "range": [0, 1]}
        if len(known) > 2 or (len(known) == 2 and not sensitive):
            return _numeric(known, sensitive)
    _, uniques = distinct_values(column)
    values = list(dict.fromkeys(category_text(value) for value in _in_order(column, uniques)))
    if MISSING in values:
        raise DataError(
            f"the value {MISSING!r} is what missing cells are called",
            where=f"X, column {name!r}",
            remedy="give it another name, or leave those cells empty",
        )
    if sensitive and len(values) > MOST_VALUES:
        raise ParameterError(
            f"the sensitive feature {name!r} has {len(values)} values, whose subsets are too many",
            where="sensitive_features",
            remedy=f"join values, down to {MOST_VALUES} at most",
        )
    return {"type": "categorical", "values": values, "sensitive": sensitive}


def _in_order(column: pd.Series[Any], uniques: list[Any]) -> list[Any]:
    """Put a column's values in the order of its categories, or sort them."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        present = set(column.cat.remove_unused_categories().cat.categories)
        return [value for value in uniques if value in present]
    try:
        return sorted(uniques)
    except TypeError:
        return sorted(uniques, key=category_text)


def _numeric(known: NDArray[np.float64], sensitive: bool) -> dict[str, Any]:
    """Describe a column of at least two different numbers, given ascending."""
    whole = bool((known % 1 == 0).all())
    low, high = float(known[0]), float(known[-1])
    described: dict[str, Any] = {
        "type": "integer" if whole else "decimal",
        "range": [low, high],
        "sensitive": sensitive,
    }
    if sensitive and not (whole and high - low + 1 <= DEFAULT_BINS):
        described["edges"] = round_edges(low, high)
    return described


def round_edges(low: float, high: float) -> list[float]:
    """Give round limits of at most a dozen bins of equal width that cover a range.

    Examples
    --------
    >>> round_edges(18.0, 79.0)
    [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0]
    >>> round_edges(0.1, 0.9)
    [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    """
    # As the decimals that people write, so that three tenths are 0.3.
    first, last = Fraction(str(low)), Fraction(str(high))
    least = (last - first) / DEFAULT_BINS
    power = Fraction(1)
    while power > least:
        power /= 10
    while power * 10 <= least:
        power *= 10
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least)
    start, stop = first // step, -(-last // step)
    return [float(place * step) for place in range(start, stop + 1)]

"""Rows counted where they are: one GROUP BY of their engine, and only the counts come here.

What an audit of predictions needs of the rows is how many there are of each combination of
sensitive values, prediction and true label. Numbers are brought into bins first. A bin is written
as the smallest number in it, its lower edge, so that a table of counts reads like a table of rows,
each of which stands for many.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from testsgd.auditing import check_present
from testsgd.data.cells import check_distinct_names, shown_columns
from testsgd.data.decimals import numbers_of_decimals, without_decimals
from testsgd.data.guessed_features import MOST_CODES, quantile_edges
from testsgd.data.inference import are_identifiers, infinite_cell
from testsgd.data.schema import Feature
from testsgd.data.toml_document import validated
from testsgd.errors import DataError, ParameterError
from testsgd.rules import bin_edges

if TYPE_CHECKING:
    import narwhals as nw

ROWS, WEIGHT, WEIGHT_SQUARED = "rows", "weight", "weight_squared"
"""What the columns of a table of counts are called, beside those that rows are counted by."""

WEIGHS = "testsgd_weighs"
"""Whether the rows of a line have a weight above 0: others do not count for a metric."""

# What the sums are called in an engine; no user's column is called so.
_SUMMED = "testsgd_summed"

# Whether a number has decimals.
_DECIMALS = "testsgd_decimals"
# With so few whole numbers they are categories in a table of counts, where numbers are mostly bins.
_MOST_CODES_OF_COUNTS = 5
# Keys of a description that only categories have.
_OF_CATEGORIES = ("values", "map")
# Keys of a description that say into which equal bins a number is divided.
_OF_EQUAL_BINS = ("range", "bins")
# Of more different numbers the engine is asked for quantiles, not for all of them.
_MOST_VALUES = 100_000
_QUANTILES = 10
# So many numbers stand for all of them where there are more.
_MOST_REPEATED = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Bins:
    """The bins of a column of numbers: the lower edge of each, and the upper edge of the last.

    Examples
    --------
    >>> ages = Bins(column="age", edges=(18.0, 40.0, 65.0))
    >>> ages.lower
    (18.0, 40.0)
    >>> ages.described["type"], ages.described["range"]
    ('integer', (18.0, 65.0))
    """

    column: str
    edges: tuple[float, ...]

    @property
    def described(self) -> dict[str, Any]:
        """The keys of a description's ``[features.NAME]`` that give these bins."""
        whole = all(edge % 1 == 0 for edge in self.edges)
        return {
            "type": "integer" if whole else "decimal",
            "range": (self.edges[0], self.edges[-1]),
            "edges": list(self.edges),
        }

    @property
    def lower(self) -> tuple[float, ...]:
        """The lower edge of each bin."""
        return self.edges[:-1]

    @property
    def upper(self) -> tuple[float, ...]:
        """The upper edge of each bin."""
        return self.edges[1:]


def count_rows(
    rows: Any,
    *,
    sensitive_features: Sequence[str],
    predictions: str,
    label: str | None = None,
    weights: str | None = None,
    features: Mapping[str, Mapping[str, Any]] | None = None,
) -> tuple[pd.DataFrame, dict[str, dict[str, Any]]]:
    """Return counts of rows by sensitive values, prediction and true label, made by their engine.

    Parameters
    ----------
    rows : frame
        What narwhals takes: lazy or eager frames of Polars, relations of DuckDB, tables of Ibis,
        frames of Dask and PySpark, of pandas and Arrow.
    sensitive_features : sequence of str
        Names of columns. Numbers are brought into bins, but up to 10 different whole ones are
        categories.
    predictions : str
        The column with predictions, which must be classes.
    label, weights : str, optional
        The columns with the true labels, and with weights.
    features : mapping of str to mapping, optional
        The ``edges`` of some numbers, or their ``range`` and number of equal ``bins``, in place of
        bins by quantiles.

    Returns
    -------
    counts : pandas.DataFrame
        A row for each combination that occurs: the values, a number as the lower edge of its bin,
        and how many rows there are; with weights also the sums of these and of their squares.
    features : dict of str to dict
        The parts of a description that say which bins there are, and which numbers are categories.

    Raises
    ------
    ParameterError
        If a column is not there, or is called like those of the counts.
    DataError
        If it is no frame, the engine fails, a prediction is missing, or a weight is negative or no
        number.

    Examples
    --------
    >>> people = pd.DataFrame({"sex": ["f", "m", "f"], "granted": ["no", "yes", "no"]})
    >>> counts, _ = count_rows(people, sensitive_features=["sex"], predictions="granted")
    >>> counts["rows"].tolist()
    [2, 1]
    """
    import narwhals as nw

    labels = [label] if label else []
    lazy = open_rows(rows, [*sensitive_features, predictions, *labels, *filter(None, [weights])])
    bins = find_bins(lazy, sensitive_features, features=features or {})
    keys = {name: nw.col(name) for name in (*sensitive_features, predictions, *labels)}
    if weights is not None:
        check_weights(lazy, weights)
        keys[WEIGHS] = flag(nw.col(weights).cast(nw.Float64) > 0)
    counts = sum_by(lazy, bins=bins, keys=keys, sums=sums_of_weights(weights))
    counts = counts.drop(columns=WEIGHS, errors="ignore")
    described = {item.column: item.described for item in bins}
    for name in sensitive_features:
        if name in described or not pd.api.types.is_any_real_numeric_dtype(counts[name].dtype):
            continue
        counts[name] = _with_whole_numbers(counts[name])
        if name not in (features or {}) and counts[name].nunique() > 1:
            # Other numbers of a table of counts are taken for limits of bins.
            described[name] = {"type": "categorical"}
    missing = counts.loc[counts[predictions].isna(), ROWS].sum()
    check_present(int(missing), where=f"column {predictions!r}")
    return counts, described


def _with_whole_numbers(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column of floats as one of whole numbers, if all that it has are whole."""
    present = column.dropna()
    is_float = pd.api.types.is_float_dtype(column.dtype)
    if not is_float or (present % 1 != 0).any() or (present.abs() >= 2**53).any():
        return column
    return column.astype("Int64" if len(present) < len(column) else "int64")


def sums_of_weights(weights: str | None) -> dict[str, Any]:
    """Return what a row adds, as expressions: 1, and with weights its weight and the square.

    Examples
    --------
    >>> list(sums_of_weights(None)), list(sums_of_weights("weight"))
    (['rows'], ['rows', 'weight', 'weight_squared'])
    """
    import narwhals as nw

    one = {ROWS: nw.lit(1).cast(nw.Int64)}
    if weights is None:
        return one
    weight = nw.col(weights).cast(nw.Float64)
    return {**one, WEIGHT: weight, WEIGHT_SQUARED: weight * weight}


def sum_by(
    lazy: nw.LazyFrame[Any],
    *,
    bins: Sequence[Bins],
    keys: Mapping[str, Any],
    sums: Mapping[str, Any],
) -> pd.DataFrame:
    """Send one GROUP BY, and return sums by keys.

    Parameters
    ----------
    lazy : narwhals.LazyFrame
        The rows.
    bins : sequence of Bins
        Of those keys that are brought into bins.
    keys, sums : mapping of str to narwhals.Expr
        What is grouped by and what is summed, by its name in the result.

    Returns
    -------
    pandas.DataFrame
        A row for each combination that occurs, a number as the lower edge of its bin.

    Raises
    ------
    ParameterError
        If a key is called like a sum.
    DataError
        If the engine fails.

    Examples
    --------
    >>> import narwhals as nw
    >>> people = open_rows(pd.DataFrame({"sex": ["f", "m", "f"]}), ["sex"])
    >>> sum_by(people, bins=[], keys={"sex": nw.col("sex")}, sums=sums_of_weights(None))
      sex  rows
    0   f     2
    1   m     1
    """
    import narwhals as nw

    for name in keys:
        if name in sums:
            raise ParameterError(
                f"a column is called {name!r}, as the sums of the rows are",
                where=f"column {name!r}",
                remedy="give the column another name",
                column=name,
            )
    binned = {item.column: _bin_number(item, lazy) for item in bins}
    columns = [binned.get(name, column).alias(name) for name, column in keys.items()]
    # Some engines take Rows and rows for one name, so sums have names of their own there.
    names = {f"{_SUMMED}_{place}": name for place, name in enumerate(sums)}
    added = [sums[name].alias(own) for own, name in names.items()]
    totals = [nw.col(own).sum() for own in names]
    summed = collected(lambda: lazy.select(*columns, *added).group_by(*keys).agg(*totals))
    summed = summed.rename(columns=names)
    for item in bins:
        place = pd.to_numeric(summed[item.column])
        known = place.notna()
        lower = np.array(item.lower)[place[known].astype(int).to_numpy() - 1]
        summed[item.column] = place.astype(np.float64)
        summed.loc[known, item.column] = lower
    schema = lazy.collect_schema()
    for name in schema.names():
        is_whole = name in keys and name not in binned and schema[name].is_integer()
        if is_whole and summed[name].isna().any():
            # With missing values pandas has floats, and those are taken for limits of bins.
            summed[name] = summed[name].astype("Int64")
        elif name in keys and name not in binned and schema[name] == nw.Decimal:
            summed[name] = numbers_of_decimals(summed[name])
    summed[ROWS] = summed[ROWS].astype(np.int64)
    ordered = summed.sort_values(list(keys), kind="stable", na_position="last")
    return ordered.reset_index(drop=True)


def collected(query: Callable[[], nw.LazyFrame[Any]]) -> pd.DataFrame:
    """Return what an engine answers to a query, which it is asked here and not before.

    An eager engine works out a query when it is written, and may fail then.

    Raises
    ------
    DataError
        If the engine fails.

    Examples
    --------
    >>> people = open_rows(pd.DataFrame({"sex": ["f", "m"]}), ["sex"])
    >>> collected(lambda: people.head(1))["sex"].tolist()
    ['f']
    """
    try:
        answer: pd.DataFrame = query().collect().to_pandas()
    except Exception as error:  # engines raise what they like
        raise _of_engine(error) from error
    return answer


def check_weights(lazy: nw.LazyFrame[Any], weights: str) -> None:
    """Raise a :class:`DataError` if weights are negative or no numbers: sums would not show it."""
    import narwhals as nw

    weight = nw.col(weights).cast(nw.Float64)
    usable = is_known(lazy, weights) & weight.is_finite() & (weight >= 0)
    wrong = _rows_where(lazy, ~usable)
    if wrong:
        raise DataError(
            f"{wrong:,} weights are negative or no numbers",
            where=f"column {weights!r}",
            remedy="give numbers of at least 0",
        )


def _rows_where(lazy: nw.LazyFrame[Any], condition: Any) -> int:
    """Return in how many rows a condition holds."""
    import narwhals as nw

    flags = flag(condition).alias(ROWS)
    found = collected(lambda: lazy.select(flags).select(nw.col(ROWS).sum()))[ROWS].iloc[0]
    # Some engines have no sum of no rows.
    return 0 if pd.isna(found) else int(found)


def is_known(lazy: nw.LazyFrame[Any], name: str) -> Any:
    """Return whether a value is there: neither null nor not a number."""
    import narwhals as nw

    known = ~nw.col(name).is_null()
    is_float = lazy.collect_schema()[name].is_float()
    return known & ~nw.col(name).is_nan() if is_float else known


def as_float(lazy: nw.LazyFrame[Any], name: str) -> Any:
    """Return a column of numbers as one of floats.

    Arrow casts no whole numbers beyond 2**53, of which floats skip some, but it divides them. Of
    decimals of fixed point it does not find the nearest float, but it does of their texts.
    """
    import narwhals as nw

    column = nw.col(name)
    dtype = lazy.collect_schema()[name]
    if dtype.is_integer():
        column = column / 1
    elif dtype == nw.Decimal and lazy.implementation.is_pyarrow():
        column = column.cast(nw.String)
    return column.cast(nw.Float64)


def flag(condition: Any) -> Any:
    """Return 1 where a condition holds, else 0, also where it is unknown."""
    import narwhals as nw

    return nw.when(condition).then(nw.lit(1)).otherwise(nw.lit(0)).cast(nw.Int64)


def upper_limits(feature: str) -> str:
    """Return what the column is called that has the upper edges of a feature's bins.

    Beside it the numbers of a table of counts are known to be bins, however few they are.

    Examples
    --------
    >>> upper_limits("age")
    'age_below'
    """
    return f"{feature}_below"


def bins_of_counts(
    counts: pd.DataFrame, sensitive_features: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return the keys of a description that give the bins of a table of counts.

    Its numbers are the lower edges of bins. If no column says the upper ones, see
    :func:`upper_limits`, whole numbers of a few values are categories.

    Examples
    --------
    >>> bins_of_counts(pd.DataFrame({"age": [18.0, 30.0, 18.0]}), ["age"])["age"]["edges"]
    [18.0, 30.0, 31.0]
    >>> counts = pd.DataFrame({"age": [18, 30, 18], "age_below": [30, 65, 30]})
    >>> bins_of_counts(counts, ["age"])["age"]["edges"]
    [18.0, 30.0, 65.0]
    """
    found = {}
    for name in sensitive_features:
        edges_of_both = marked_edges(counts, name)
        if edges_of_both is not None:
            found[name] = Bins(column=name, edges=edges_of_both).described
            continue
        column = counts[name].dropna()
        is_number = pd.api.types.is_numeric_dtype(column.dtype) and not (
            pd.api.types.is_bool_dtype(column.dtype)
        )
        if not is_number:
            continue
        lower = np.unique(column.to_numpy(dtype=np.float64))
        if pd.api.types.is_integer_dtype(column.dtype) and len(lower) <= _MOST_CODES_OF_COUNTS:
            continue
        if len(lower):
            edges = (*lower.tolist(), float(lower[-1] + 1))
            found[name] = Bins(column=name, edges=edges).described
    return found


def marked_edges(counts: pd.DataFrame, feature: str) -> tuple[float, ...] | None:
    """Return the edges of a feature's bins if a column beside it has their upper ones, else None.

    Examples
    --------
    >>> marked_edges(pd.DataFrame({"age": [18, 45], "age_below": [30, 60]}), "age")
    (18.0, 30.0, 45.0, 60.0)
    """
    name = upper_limits(feature)
    if feature not in counts or name not in counts:
        return None
    known = counts[[feature, name]].dropna(how="all").drop_duplicates()
    # Decimals of a database are objects here.
    limits = known.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
    limits = limits[np.argsort(limits[:, 0], kind="stable")]
    in_a_row = limits.reshape(-1)
    if not len(limits) or not np.isfinite(in_a_row).all():
        return None
    # A column that is called so by chance has no limits of intervals that lie apart.
    if (limits[:, 0] >= limits[:, 1]).any() or (limits[:-1, 1] > limits[1:, 0]).any():
        return None
    return tuple(np.unique(in_a_row).tolist())


def find_bins(
    lazy: nw.LazyFrame[Any], columns: Sequence[str], *, features: Mapping[str, Mapping[str, Any]]
) -> tuple[Bins, ...]:
    """Return the bins of those columns that are numbers with many values."""
    import narwhals as nw

    schema = lazy.collect_schema()
    found = []
    for name in columns:
        if schema[name].is_float():
            finite = nw.col(name).is_finite()
            if _rows_where(lazy, is_known(lazy, name) & ~finite):
                raise infinite_cell(name)
        chosen = features.get(name, {})
        given = chosen.get("edges")
        if given is not None:
            found.append(Bins(column=name, edges=tuple(map(float, given))))
        elif schema[name].is_numeric():
            if _is_categorical(chosen):
                continue
            edges = _edges(lazy, name, chosen)
            if edges is not None:
                # A number on the upper edge of the last bin belongs to it.
                found.append(Bins(column=name, edges=edges))
        else:
            _check_countable(name, schema[name])
    return tuple(found)


def _is_categorical(chosen: Mapping[str, Any]) -> bool:
    """Return whether a feature is declared to be of categories, by its type or by other keys."""
    if "type" in chosen:
        return bool(chosen["type"] == "categorical")
    return not chosen.keys().isdisjoint(_OF_CATEGORIES)


def _check_countable(name: str, dtype: nw.dtypes.DType) -> None:
    """Refuse a sensitive column of a type whose values are no categories."""
    import narwhals as nw

    if dtype == nw.Date or dtype == nw.Datetime:
        cells = "dates"
    elif dtype == nw.Duration:
        cells = "durations"
    elif dtype.is_nested():
        cells = "lists or structures"
    else:
        return
    raise ParameterError(
        f"{name!r} cannot be sensitive: it is a column of {cells}",
        where="sensitive",
        remedy="bring it into a few categories",
        column=name,
    )


@dataclass(frozen=True, kw_only=True)
class _KnownNumbers:
    """The numbers of a column that are not missing."""

    present: nw.LazyFrame[Any]  # One column of floats.
    rows: int
    distinct: int
    low: float
    high: float
    whole: bool

    @classmethod
    def of(cls, lazy: nw.LazyFrame[Any], name: str) -> _KnownNumbers:
        """Ask the engine about the numbers of a column."""
        import narwhals as nw

        present = lazy.filter(is_known(lazy, name)).select(as_float(lazy, name))
        decimals = present.select(nw.col(name), flag(nw.col(name) % 1 != 0).alias(_DECIMALS))
        known = collected(
            lambda: decimals.select(
                nw.col(name).n_unique().alias("distinct"),
                nw.col(name).count().alias("rows"),
                nw.col(name).min().alias("low"),
                nw.col(name).max().alias("high"),
                nw.col(_DECIMALS).sum(),
            )
        ).iloc[0]
        if not known["rows"]:
            # Of no rows DuckDB has no number of different ones.
            return cls(present=present, rows=0, distinct=0, low=0.0, high=0.0, whole=True)
        return cls(
            present=present,
            rows=int(known["rows"]),
            distinct=int(known["distinct"]),
            low=float(known["low"]),
            high=float(known["high"]),
            # A column of floats may hold whole numbers, as pandas does beside missing cells.
            whole=int(known[_DECIMALS]) == 0,
        )


def _edges(
    lazy: nw.LazyFrame[Any], name: str, chosen: Mapping[str, Any]
) -> tuple[float, ...] | None:
    """Return the edges of bins of a column of numbers, by their quantiles if none are chosen.

    None if it has a few whole values, which are codes of categories, or none to compare.
    """
    known = _KnownNumbers.of(lazy, name)
    if known.distinct <= 1:
        return None
    if not chosen.keys().isdisjoint(_OF_EQUAL_BINS):
        return _equal_edges(known, name, chosen)
    if known.whole and are_identifiers(
        name, rows=known.rows, distinct=known.distinct, span=known.high - known.low
    ):
        raise ParameterError(
            f"{name!r} cannot be sensitive: all of its numbers are different, as identifiers are",
            where="sensitive",
            remedy="leave it out",
            column=name,
        )
    if known.whole and known.distinct <= MOST_CODES:
        return None
    values = _values(known.present, name, distinct=known.distinct)
    return tuple(quantile_edges(values, whole=known.whole))


def _equal_edges(known: _KnownNumbers, name: str, chosen: Mapping[str, Any]) -> tuple[float, ...]:
    """Return the edges of equal bins of the range that is chosen, or of that of the numbers."""
    declared = {
        "type": "integer" if known.whole else "decimal",
        "range": (known.low, known.high),
        "sensitive": True,
        **chosen,
    }
    feature = validated(Feature, declared, where=f"features.{name}")
    low, high = feature.range or (known.low, known.high)
    if known.low < low or known.high > high:
        raise DataError(
            f"values from {known.low:.10g} to {known.high:.10g} are not all within the declared "
            f"range {low:.10g} to {high:.10g}",
            where=f"column {name!r}",
            remedy="widen `range` or correct the data",
            feature=name,
        )
    return bin_edges(feature)


def _values(present: nw.LazyFrame[Any], name: str, *, distinct: int) -> Any:
    """Return numbers whose quantiles are those of a column that has no missing ones."""
    import narwhals as nw

    if distinct > _MOST_VALUES:
        shares = np.linspace(0, 1, _QUANTILES + 1)
        quantiles = [
            nw.col(name).quantile(float(share), interpolation="linear").alias(f"q{index}")
            for index, share in enumerate(shares)
        ]
        return collected(lambda: present.select(*quantiles)).iloc[0].to_numpy(dtype=np.float64)
    counted = sum_by(present, bins=[], keys={name: nw.col(name)}, sums=sums_of_weights(None))
    values = counted[name].to_numpy(dtype=np.float64)
    times = counted[ROWS].to_numpy(dtype=np.int64)
    # As many of each as keep the quantiles, whatever the number of rows.
    scale = min(1.0, _MOST_REPEATED / max(1, times.sum()))
    scaled = np.maximum(1, np.rint(times * scale)).astype(np.int64)
    return np.sort(np.repeat(values, scaled))


def _bin_number(bins: Bins, lazy: nw.LazyFrame[Any]) -> Any:
    """Return the number of the bin, from 1 on, that a number falls into; null where it is none."""
    import narwhals as nw

    column = as_float(lazy, bins.column)
    known = is_known(lazy, bins.column)
    number = nw.lit(1).cast(nw.Int64)
    for edge in bins.lower[1:]:
        number = number + (column >= edge).cast(nw.Int64)
    return nw.when(known).then(number)


def open_rows(rows: Any, columns: Sequence[str]) -> nw.LazyFrame[Any]:
    """Return rows as narwhals takes them, with some columns that must be there.

    Raises
    ------
    ParameterError
        If a column is not there.
    DataError
        If it is no frame, or two columns have one name.

    Examples
    --------
    >>> open_rows(pd.DataFrame({"sex": ["f", "m"]}), ["sex"]).collect_schema().names()
    ['sex']
    """
    import narwhals as nw

    try:
        frame = nw.from_native(rows)
    except TypeError as error:
        raise DataError(
            f"a {type(rows).__name__} is no frame of rows",
            where="rows",
            remedy="give a frame of pandas, Polars, Arrow, DuckDB, Ibis, Dask or PySpark",
        ) from error
    except nw.exceptions.DuplicateError:
        check_distinct_names(getattr(rows, "column_names", rows.columns), where="rows")
        raise
    lazy: nw.LazyFrame[Any] = frame.lazy() if isinstance(frame, nw.DataFrame) else frame
    names = list(lazy.collect_schema().names())
    for name in columns:
        if name not in names:
            raise ParameterError(
                f"there is no column {name!r}",
                where="columns",
                remedy=f"the columns are {shown_columns(names)}",
                column=name,
            )
    if isinstance(rows, pd.DataFrame):
        # Decimals are objects here, which an engine takes for numbers.
        used = rows[list(dict.fromkeys(columns))]
        converted = without_decimals(used)
        if converted is not used:
            return nw.from_native(converted).lazy()
    return lazy


def _of_engine(error: Exception) -> DataError:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return DataError(
        f"the rows could not be counted ({reason})",
        where="rows",
        remedy="check the columns, and that the data can be read",
    )

"""A checked table: the features as the model sees them, and the label as the file has it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data.categories import (
    MISSING,
    Codes,
    category_codes,
    category_text,
    category_texts,
    check_cells,
    row_name,
)
from testsgd.data.cells import (
    as_pandas,
    check_distinct_names,
    check_labels,
    label_texts,
    missing_column,
)
from testsgd.data.demo import generate_demo
from testsgd.data.described_rows import read_rows
from testsgd.data.lazy_rows import fetched
from testsgd.data.lookup import find_files
from testsgd.data.sampling import (
    Sampled,
    check_some_keys,
    cluster_numbers,
    note_on_missing_keys,
)
from testsgd.data.schema import DatasetSpecification, Feature
from testsgd.errors import DataError, ParameterError

if TYPE_CHECKING:
    from testsgd.data.inference import InferredColumn

# Cells whose texts are in memory at once.
_HASHED_AT_ONCE = 1 << 16
# Of no more rows the codes of categories are kept, two bytes each: they are asked for again and
# again.
_MOST_KEPT = 1 << 16


@dataclass(frozen=True)
class EarlierAnswers:
    """What a model answered about the rows of a table before it was audited on them."""

    model: Any  # The black box; what it answered says nothing of another one.
    # 1 where a row got the favourable label, 0 where it got another one, -1 where the model was not
    # asked; shape (n,).
    decisions: NDArray[np.int8]
    asked: int  # How many rows it was asked about, those included that are left out since.


@dataclass(frozen=True)
class Table(Sampled):
    """Rows that fit their description, with their labels.

    :func:`check_table` makes one of a data frame, :func:`load_table` of a data set's files.

    Examples
    --------
    >>> from testsgd.data import load_specification
    >>> table = load_table(load_specification("demo"))
    >>> table.numbers("age").shape, table.codes("gender").shape
    ((20000,), (20000,))
    """

    unit = "row"

    specification: DatasetSpecification
    # The features in the order of the description, and behind them the columns that only the model
    # needs; cells and types as they were given. Never changed.
    frame: pd.DataFrame
    labels: pd.Series[Any] | None  # The label of each row as text, if the data have labels.
    missing: dict[str, int] = field(default_factory=dict)  # Rows in which each feature is missing.
    # What the columns were taken for, if there was no description.
    inferred: tuple[InferredColumn, ...] = ()
    # What a model was asked about the rows to find out what the columns are.
    earlier: EarlierAnswers | None = None
    # The codes of features that were asked for; read only.
    _codes: dict[str, Codes] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def passed(self) -> tuple[str, ...]:
        """Columns that the description does not have and the model needs."""
        return tuple(self.frame.columns[len(self.specification.features) :])

    def take(self, rows: NDArray[np.intp]) -> Table:
        """Return the rows at the given positions, shape (m,), in the order of the positions."""
        frame = self.frame.iloc[rows]
        earlier = self.earlier
        if earlier is not None:
            earlier = replace(earlier, decisions=earlier.decisions[rows])
        return replace(
            self,
            frame=frame,
            labels=None if self.labels is None else self.labels.iloc[rows],
            missing={name: self._missing_cells(frame, name) for name in self.missing},
            clusters=None if self.clusters is None else self.clusters[rows],
            earlier=earlier,
        )

    def answered_by(self, model: Any) -> NDArray[np.int8]:
        """Return what a model answered about each row before, shape (n,).

        It is 1 for the favourable label, 0 for another one, and -1 where it was not asked.
        """
        if self.earlier is None or self.earlier.model is not model:
            return np.full(len(self), -1, dtype=np.int8)
        return self.earlier.decisions.copy()

    def asked_before(self, model: Any) -> int:
        """Return how many rows a model was asked about before it is audited."""
        return 0 if self.earlier is None or self.earlier.model is not model else self.earlier.asked

    def codes(self, feature: str, rows: slice = slice(None)) -> Codes:
        """Return the index of each row's value among the declared values; shape (n,).

        A missing value has the index -1. `feature`: a categorical feature. `rows`: the rows asked
        for, by default all. A :class:`DataError` is raised if a value is not declared.
        """
        if len(self) > _MOST_KEPT:
            return self._category_codes(self.frame[feature].iloc[rows], feature)
        if feature not in self._codes:
            codes = self._category_codes(self.frame[feature], feature)
            codes.setflags(write=False)
            self._codes[feature] = codes
        return self._codes[feature][rows]

    def _category_codes(self, column: pd.Series[Any], feature: str) -> Codes:
        return category_codes(
            column,
            self.specification.features[feature].values or [],
            feature=feature,
            has_missing_texts=MISSING in self.specification.parse.missing,
        )

    def _missing_cells(self, frame: pd.DataFrame, feature: str) -> int:
        """Return in how many of some rows a feature is missing."""
        is_category = not self.specification.features[feature].continuous
        if is_category and MISSING in self.specification.parse.missing:
            return int((self._category_codes(frame[feature], feature) < 0).sum())
        return int(frame[feature].isna().sum())

    def numbers(self, feature: str, rows: slice = slice(None)) -> NDArray[np.float64]:
        """Return a continuous feature as floats, NaN where missing; shape (n,).

        A number in 32 bits is taken for the decimal that it is written for: 0.7, which 32 bits hold
        as 0.69999999, belongs to the bin that begins at 0.7.
        """
        return feature_numbers(self.frame[feature].iloc[rows])


def load_table(
    specification: DatasetSpecification,
    *,
    file: Path | str | None = None,
    seed: int = 0,
    download: bool = True,
    passed: Sequence[str] = (),
    typed: bool = True,
) -> Table:
    """Find, read and check a data set.

    Parameters
    ----------
    specification : DatasetSpecification
        The data set.
    file : path-like, optional
        A file to read instead of those of the description.
    seed : int
        Seed of the generator, for a data set that the package generates.
    download : bool
        False: never use the network.
    passed : sequence of str
        Columns that the description does not have and the model needs. Plain numbers are read as
        numbers, True and False as booleans, all else is the text of the file.
    typed : bool
        False: categories are texts. By default columns of True and False are booleans and those of
        whole numbers are numbers, as a model gets them without a description.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If the rows do not fit the description.
    DownloadError
        If a file is missing.
    ParameterError
        If the description is not of rows, or names no files.

    Examples
    --------
    >>> from testsgd.data import load_specification
    >>> len(load_table(load_specification("demo")))
    20000
    """
    if not isinstance(specification, DatasetSpecification):
        raise ParameterError(
            f"the data set {specification.name!r} is made of texts, not of rows",
            where=specification.name,
            remedy="use load_texts",
        )
    notes = tuple(
        f"rows are left out unless: {item.why or item.column}" for item in specification.filters
    )
    units = () if specification.data is None else (specification.data.cluster,)
    further_columns = tuple(dict.fromkeys([*passed, *units]))
    if file is not None:
        frame = read_rows([Path(file)], specification, passed=further_columns, typed=typed)
        source = str(file)
    elif specification.dataset.generator == "demo":
        frame = generate_demo(seed=seed)
        source = f"generated, seed {seed}"
        notes = ()
    elif specification.files:
        files = find_files(specification, download=download)
        frame = read_rows(files, specification, passed=further_columns, typed=typed)
        source = ", ".join(item.name for item in specification.files)
    else:
        raise ParameterError(
            f"the data set {specification.name!r} names no files",
            where=specification.name,
            remedy="give a file of rows with --data, or list the files under [[files]]",
        )
    table = check_table(frame, specification, source=source, passed=passed)
    return replace(table, notes=(*table.notes, *notes))


def check_table(
    data: Any,
    specification: DatasetSpecification,
    *,
    source: str = "",
    passed: Sequence[str] = (),
) -> Table:
    """Check that a data frame fits its description.

    Parameters
    ----------
    data : data frame
        A pandas data frame, or any that narwhals knows (polars, pyarrow, ...); of a lazy frame of
        Polars or a relation of DuckDB the rows are fetched. Never changed.
    specification : DatasetSpecification
        What the columns mean.
    source : str
        What to call the data in messages and reports.
    passed : sequence of str
        Columns that the description does not have and the model needs; they are not checked.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If a column is missing or of the wrong type, a value is outside its declared domain, the
        favourable label does not occur, or a sensitive feature has one value only.
    """
    where = source or "the data"
    frame = as_pandas(fetched(data), where=where)
    if frame is None:
        raise DataError(
            f"the data are a {type(data).__name__}, not a data frame",
            where="data",
            remedy="give a pandas, polars or Arrow table with named columns",
        )
    if len(frame) == 0:
        raise DataError("there are no rows", where=where, remedy="give a table with rows")
    check_distinct_names(frame.columns, where=where)
    for name in specification.features:
        if name not in frame:
            raise missing_column(name, frame.columns, where)
    for name in passed:
        if name not in frame:
            raise missing_column(name, frame.columns, where, for_model=True)
    missing = {
        name: _check_feature(
            frame[name],
            name,
            feature,
            where,
            has_missing_texts=MISSING in specification.parse.missing,
        )
        for name, feature in specification.features.items()
    }
    clusters = None
    missing_keys = None
    if specification.data is not None:
        unit = specification.data.cluster
        if unit not in frame:
            raise missing_column(unit, frame.columns, where)
        check_some_keys(frame[unit], where=where)
        clusters = cluster_numbers(frame[unit])
        missing_keys = note_on_missing_keys(frame[unit], unit)
    label = specification.label
    labels = None
    if label.column in frame:
        column = frame[label.column]
        labels = label_texts(column, label)
        listed: list[str] = []
        if isinstance(column.dtype, pd.CategoricalDtype):
            listed = [category_text(value) for value in column.dtype.categories]
        check_labels(
            labels,
            label,
            f"{where}, label column {label.column!r}",
            listed=[(label.map or {}).get(text, text) for text in listed],
        )
    return Table(
        specification=specification,
        frame=frame[[*specification.features, *passed]],
        labels=labels,
        missing=missing,
        source=source,
        clusters=clusters,
        notes=() if missing_keys is None else (missing_keys,),
    )


def as_floats(column: pd.Series[Any]) -> NDArray[np.float64]:
    """Return a numeric column of any type as floats.

    Parameters
    ----------
    column : pandas.Series
        Numbers or booleans; nullable types too.

    Returns
    -------
    numpy.ndarray of float64, shape (n,)
        NaN where a cell is missing.

    Raises
    ------
    TypeError, ValueError
        If a cell is no number.

    Examples
    --------
    >>> as_floats(pd.Series([1, None], dtype="Int64")).tolist()
    [1.0, nan]
    """
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def feature_numbers(column: pd.Series[Any]) -> NDArray[np.float64]:
    """Return the numbers of a continuous feature as floats, as rules compare them.

    A number in 32 bits is taken for the decimal that it is written for: 0.7, which 32 bits hold as
    0.69999999, belongs to the bin that begins at 0.7.

    Parameters
    ----------
    column : pandas.Series
        Numbers or booleans; nullable types too.

    Returns
    -------
    numpy.ndarray of float64, shape (n,)
        NaN where a cell is missing.

    Raises
    ------
    TypeError, ValueError
        If a cell is no number.

    Examples
    --------
    >>> feature_numbers(pd.Series([0.7, 2.0], dtype="float32")).tolist()
    [0.7, 2.0]
    """
    numbers = as_floats(column)
    if column.dtype in (np.float32, np.float16):
        return _nearest_decimals(numbers, digits=int(np.finfo(str(column.dtype)).precision) + 1)
    return numbers


def table_fingerprint(table: Table) -> str:
    """Return the sha256 of a table's features: their names, types and values, row by row.

    It does not depend on the types of the columns in memory, nor on the labels. Columns that only
    the model needs count as texts.

    Parameters
    ----------
    table : Table
        The rows.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    digest = hashlib.sha256()
    for name, feature in table.specification.features.items():
        digest.update(f"{name}\0{feature.type}\0".encode())
        if feature.continuous:
            # Equal bytes if equal: there are two zeros, and many ways to write NaN.
            numbers = table.numbers(name) + 0.0
            digest.update(np.where(np.isnan(numbers), np.nan, numbers).tobytes())
        else:
            digest.update("\0".join(feature.values or []).encode())
            digest.update(table.codes(name).tobytes())
    for name in table.passed:
        digest.update(f"{name}\0passed\0".encode())
        texts = category_texts(table.frame[name])
        for start in range(0, len(texts), _HASHED_AT_ONCE):
            joined = "".join(f"{text}\0" for text in texts[start : start + _HASHED_AT_ONCE])
            digest.update(joined.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _nearest_decimals(numbers: NDArray[np.float64], *, digits: int) -> NDArray[np.float64]:
    """Return numbers rounded to `digits` significant digits; whole numbers stay as they are."""
    with np.errstate(divide="ignore", invalid="ignore"):
        places = digits - 1 - np.floor(np.log10(np.abs(numbers)))
        scale = 10.0**places
        rounded = np.round(numbers * scale) / scale
    return np.where(np.isfinite(rounded) & (numbers % 1 != 0), rounded, numbers)


def _check_feature(
    column: pd.Series[Any], name: str, feature: Feature, where: str, *, has_missing_texts: bool
) -> int:
    """Check the column of one feature and return the number of its missing cells."""
    location = f"{where}, feature {name!r}"
    if feature.continuous:
        cells: NDArray[Any] = _checked_numbers(column, name, feature, location)
        missing = np.isnan(cells)
        several = not missing.all() and np.nanmin(cells) < np.nanmax(cells)
    else:
        cells = category_codes(
            column, feature.values or [], feature=name, has_missing_texts=has_missing_texts
        )
        missing = cells < 0
        several = cells.min() < cells.max()
    if feature.sensitive and not several:
        raise DataError(
            "the sensitive feature has one value only, so there is nobody to compare with",
            where=location,
            remedy="give data with at least two values, or set `sensitive = false`",
            feature=name,
        )
    return int(missing.sum())


def _checked_numbers(
    column: pd.Series[Any], name: str, feature: Feature, location: str
) -> NDArray[np.float64]:
    """Return a continuous feature as floats, shape (n,), after its type and range are checked."""
    # What a column without any value comes to, out of None or out of another library: objects.
    empty = column.dtype == object and column.isna().all()
    if not (empty or pd.api.types.is_any_real_numeric_dtype(column)):
        raise DataError(
            f"the column is {feature.type} by its description, but holds {column.dtype} values "
            f"(row {row_name(column, 0)}: {column.iloc[0]!r})",
            where=location,
            remedy="convert it to numbers, or declare it categorical",
            feature=name,
        )
    numbers = as_floats(column)
    cells = pd.Series(numbers, index=column.index)
    # A comparison with NaN is False, so missing cells pass all three checks.
    low, high = feature.range or (-np.inf, np.inf)
    outside = (numbers < low) | (numbers > high)
    check_cells(
        cells,
        outside,
        lambda row, value: (
            f"{int(outside.sum())} value(s) are outside the declared range "
            f"{low:.10g} to {high:.10g} (row {row}: {value:.10g})"
        ),
        where=location,
        remedy="widen `range` or correct the data",
        feature=name,
    )
    if feature.type == "integer":
        check_cells(
            cells,
            numbers % 1 > 0,
            lambda row, value: (
                f"the column is integer by its description, but row {row} holds {value:.10g}"
            ),
            where=location,
            remedy="declare it decimal or correct the data",
            feature=name,
        )
    return numbers

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
    are_booleans,
    are_decimal_commas,
    are_whole_numbers,
    as_pandas,
    boolean_cells,
    check_distinct_names,
    check_labels,
    formatted_numbers,
    label_texts,
    missing_column,
    numbers_with_decimal_commas,
    parsed_numbers,
    plain_cells,
    read_cells,
    renamed,
    with_declared_numbers,
)
from testsgd.data.demo import generate_demo
from testsgd.data.frames import is_compressed, is_typed_file, read_frame
from testsgd.data.lazy_rows import fetched
from testsgd.data.lookup import find_files
from testsgd.data.sampling import Sampled, cluster_numbers
from testsgd.data.schema import DatasetSpecification, Feature, Parsing, RowFilter
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
    return replace(check_table(frame, specification, source=source, passed=passed), notes=notes)


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
    if specification.data is not None:
        unit = specification.data.cluster
        if unit not in frame:
            raise missing_column(unit, frame.columns, where)
        clusters = cluster_numbers(frame[unit])
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


def read_rows(
    paths: Sequence[Path],
    specification: DatasetSpecification,
    *,
    passed: Sequence[str] = (),
    typed: bool = True,
) -> pd.DataFrame:
    """Read files as their description says: a column a feature, and the label if there is one.

    `passed`: further columns to read, under their names in the file. Missing cells stay missing.
    The index counts the files' rows from 0, with gaps where filters left rows out. `typed`:
    categories that are True and False, or whole numbers, are booleans or numbers, as they are
    without a description, and not texts.
    """
    files = [_bare_cells(Path(path), specification.parse, passed) for path in paths]
    cells = pd.concat([file.texts for file in files], ignore_index=True)
    where = ", ".join(str(path) for path in paths)
    for row_filter in specification.filters:
        cells = cells[_passes(cells, row_filter, where)]
    if len(cells) == 0:
        raise DataError(
            "no rows are left", where=where, remedy="check the file and the filters on rows"
        )
    columns: dict[str, pd.Series[Any]] = {}
    decimal = are_decimal_commas(cells, specification.parse.separator)
    for name, feature in specification.features.items():
        column = specification.column_of(name)
        if column not in cells:
            raise missing_column(column, cells.columns, where)
        codes = _typed_categories(files, column, feature, cells.index) if typed else None
        if codes is not None:
            columns[name] = codes
        elif feature.continuous:
            columns[name] = _numbers(cells[column], name, feature, where, decimal=decimal)
        else:
            columns[name] = _categories(cells[column], name, feature, where)
    for name in passed:
        if name not in cells:
            raise missing_column(name, cells.columns, where, for_model=True)
        flags = _typed([file.booleans(name) for file in files], cells.index) if typed else None
        columns[name] = plain_cells(cells[name]) if flags is None else flags
    if specification.label.column in cells:
        columns[specification.label.column] = label_texts(
            cells[specification.label.column], specification.label
        )
    return pd.DataFrame(columns)


@dataclass(frozen=True)
class _File:
    """The cells of one file."""

    texts: pd.DataFrame  # Missing where the description says so.
    typed: pd.DataFrame | None = None  # The same with the types of the file, if it has any.

    def booleans(self, column: str) -> pd.Series[Any] | None:
        """Return a column without other cells than booleans and missing ones; None of others."""
        texts = self.texts[column]
        if texts.isna().all():
            return texts.astype(object)
        if self.typed is None:
            return boolean_cells(texts.str.strip())
        # A text "True" of such a file is a text without a description, too.
        cells = self._without_marked(self.typed[column], texts)
        present = cells.dropna()
        return cells if all(isinstance(cell, (bool, np.bool_)) for cell in present) else None

    def numbers(self, column: str) -> pd.Series[Any] | None:
        """Return a column without other cells than numbers and missing ones; None of others."""
        texts = self.texts[column]
        cells = plain_cells(texts) if self.typed is None else self.typed[column]
        if not _are_numbers(cells):
            # Where all cells are missing nothing is known.
            return texts if texts.isna().all() else None
        return self._without_marked(cells, texts)

    @staticmethod
    def _without_marked(cells: pd.Series[Any], texts: pd.Series[Any]) -> pd.Series[Any]:
        """Return cells without those that the description takes for missing."""
        marked = texts.isna() & cells.notna()
        if not marked.any():
            return cells
        return (
            cells.mask(marked) if _are_numbers(cells) else cells.astype(object).mask(marked, None)
        )


def _are_numbers(cells: pd.Series[Any]) -> bool:
    """Return whether a column has a type of numbers, which booleans are not."""
    dtype = cells.dtype
    return pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)


def _typed_categories(
    files: Sequence[_File], column: str, feature: Feature, rows: pd.Index[Any]
) -> pd.Series[Any] | None:
    """Return some rows of a categorical column of booleans or whole numbers; None of others.

    A model takes the text of False for true, and no text is equal to a number, so it is given what
    it is without a description.
    """
    values = feature.values or []
    if feature.map is not None:
        return None
    if are_booleans(values):
        return _typed([file.booleans(column) for file in files], rows)
    if are_whole_numbers(values):
        return _typed([file.numbers(column) for file in files], rows)
    return None


def _typed(parts: Sequence[pd.Series[Any] | None], rows: pd.Index[Any]) -> pd.Series[Any] | None:
    """Return some rows of a column that all files have typed; None if one has not, or no cell."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or all(part.isna().all() for part in known):
        return None
    return pd.concat(known, ignore_index=True).loc[rows]


def _bare_cells(path: Path, parsing: Parsing, passed: Sequence[str]) -> _File:
    """Read cells without the blanks around them, and mark the texts that stand for missing values.

    Of a column that only the model needs nothing is known, so its blanks are kept.
    """
    if is_typed_file(path):
        # As a file of text would have them: what they mean is said by the description.
        typed = read_frame(path)
        cells = typed.map(category_text, na_action="ignore")
        # No declared value is called so.
        return _File(cells.mask(cells == MISSING) if MISSING in parsing.missing else cells, typed)
    cells = read_cells(path, parsing, compressed=is_compressed(path))
    missing = [text.strip() for text in parsing.missing]
    for name in cells.columns:
        bare = cells[name].str.strip()
        cells[name] = (cells[name] if name in passed else bare).mask(bare.isin(missing))
    return _File(cells)


def _passes(cells: pd.DataFrame, row_filter: RowFilter, where: str) -> pd.Series[bool]:
    """Return a mask of the rows that a filter keeps; shape (n,)."""
    if row_filter.column not in cells:
        raise missing_column(row_filter.column, cells.columns, where)
    column = cells[row_filter.column]
    keep = column.notna() & ~column.isin(row_filter.none_of)
    if row_filter.minimum is not None or row_filter.maximum is not None:
        numbers = parsed_numbers(column)
        low, high = row_filter.minimum, row_filter.maximum
        keep &= numbers.between(-np.inf if low is None else low, np.inf if high is None else high)
    return keep


def _categories(column: pd.Series[Any], name: str, feature: Feature, where: str) -> pd.Series[Any]:
    """Return texts of a file as a categorical column with the declared values."""
    values = feature.values or []
    texts = with_declared_numbers(column, {*values, *(feature.map or {})})
    if feature.map is not None:
        texts = renamed(texts, feature.map)
    check_cells(
        texts,
        texts.notna() & ~texts.isin(values),
        lambda row, text: (
            f"the value {text!r} (row {row}) is not among the declared values of {name!r}"
        ),
        where=where,
        remedy="add it to `values` or correct the data",
        feature=name,
    )
    return pd.Series(pd.Categorical(texts, categories=values), index=column.index)


def _numbers(
    column: pd.Series[Any], name: str, feature: Feature, where: str, *, decimal: bool
) -> pd.Series[Any]:
    """Return texts of a file as numbers, of type int64 for an integer feature if possible.

    `decimal`: a comma in them is known to be one of decimals.
    """
    floats = parsed_numbers(column)
    if (floats.isna() & column.notna()).any():
        numbers = _with_commas(column, feature, decimal=decimal)
        floats = floats if numbers is None else numbers.astype(np.float64)
    check_cells(
        column,
        floats.isna() & column.notna(),
        lambda row, text: f"{name!r} is {feature.type}, but row {row} holds {text!r}",
        where=where,
        remedy=f"correct the data, list that text under `missing` in [parse], or change the type "
        f"of {name!r}",
        feature=name,
    )
    # Beyond 2**53 floats skip whole numbers; infinity and such are left to the check of the range.
    whole = (floats % 1 == 0) & (floats.abs() < 2**53)
    return floats.astype(np.int64) if feature.type == "integer" and whole.all() else floats


def _with_commas(column: pd.Series[Any], feature: Feature, *, decimal: bool) -> Any:
    """Return texts such as ``1,304`` or ``57,5`` as numbers; None if one is not written so."""
    if decimal:
        numbers = numbers_with_decimal_commas(column, certain=True)
        # A description that was written for thousands has whole numbers, or another range.
        if numbers is not None and _fits(numbers.to_numpy(dtype=np.float64), feature):
            return numbers
    numbers = formatted_numbers(column)
    return numbers_with_decimal_commas(column) if numbers is None else numbers


def _fits(numbers: NDArray[np.float64], feature: Feature) -> bool:
    """Return whether all numbers that are known can be those of a feature."""
    known = numbers[~np.isnan(numbers)]
    low, high = feature.range or (-np.inf, np.inf)
    is_whole = feature.type != "integer" or bool((known % 1 == 0).all())
    return is_whole and bool(((known >= low) & (known <= high)).all())

"""The query that counts the rows of a warehouse as a description reads them.

Names of columns and of values, missing values, labels and filters are those of the description, so
that the counts are those of its rows. Only the values of the rows themselves are not checked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from testsgd.auditing import check_not_sensitive, check_one_use
from testsgd.data import DatasetSpecification, Feature, Label, RowFilter
from testsgd.data.cell_texts import PLAIN_NUMBER
from testsgd.data.schema_parts import is_number
from testsgd.errors import ParameterError
from testsgd.metrics.counting import Bins
from testsgd.metrics.queries import (
    Key,
    check_dialect,
    grouped_query,
    is_missing_number,
    is_no_number,
    keys_of_bins,
    number_text,
    quoted,
)
from testsgd.rules import bin_edges

_TEXT = {"duckdb": "VARCHAR", "postgres": "VARCHAR", "spark": "STRING"}
# What NaN of a column of floats is as a text, by the engine.
_NO_NUMBER = ("NaN", "nan")


def described_counts_query(
    specification: DatasetSpecification,
    *,
    table: str,
    predictions: str,
    label: str | None = None,
    weights: str | None = None,
    threshold: float | None = None,
    dialect: str = "duckdb",
) -> str:
    """Return the SQL query that counts rows as a description reads them.

    Parameters
    ----------
    specification : DatasetSpecification
        Its sensitive features are counted by, numbers in their bins.
    table : str
        The name of the table, as SQL has it.
    predictions : str
        The column with predictions. They are renamed as the labels are.
    label, weights : str, optional
        The columns with the true labels, and with weights.
    threshold : float, optional
        The predictions are scores, and one above it is the favourable label. If the description
        has several other labels, or names none, these are counted under one name.
    dialect : {"duckdb", "postgres", "spark"}
        How names, texts and types are written.

    Returns
    -------
    str

    Raises
    ------
    ParameterError
        If a column cannot be counted by, or something of the description is not to be said in SQL.

    Examples
    --------
    >>> specification = DatasetSpecification.model_validate({
    ...     "dataset": {"name": "loans"},
    ...     "parse": {"missing": []},
    ...     "label": {"column": "granted", "favourable": "yes"},
    ...     "features": {
    ...         "gender": {"type": "categorical", "column": "sex", "values": ["f", "m"],
    ...                    "sensitive": True},
    ...     },
    ... })
    >>> print(described_counts_query(specification, table="loans", predictions="granted"))
    SELECT
      TRIM(CAST("sex" AS VARCHAR)) AS "gender",
      "granted",
      COUNT(*) AS "rows"
    FROM loans
    GROUP BY 1, 2
    """
    check_dialect(dialect)
    columns = {"predictions": predictions, "label": label, "weights": weights}
    _check_columns(specification, columns, threshold=threshold)
    if specification.data is not None:
        raise ParameterError(
            f"rows of one {specification.data.cluster!r} are one unit, which counts of rows "
            "cannot say",
            where="cluster under [data]",
            remedy="audit the rows themselves, or leave the key out if each row is a unit",
        )
    missing = [
        spelling for text in specification.parse.missing for spelling in _spellings(text.strip())
    ]
    writer = _Writer(dialect, tuple(dict.fromkeys(missing)))
    sensitive = [(name, specification.features[name]) for name in specification.sensitive]
    keys: list[Key] = []
    for name, feature in sensitive:
        column = specification.column_of(name)
        if feature.continuous:
            bins = Bins(column=name, edges=bin_edges(feature))
            keys += keys_of_bins(
                bins, column=column, dialect=dialect, missing=writer.missing_numbers
            )
        else:
            keys.append(Key(name=name, sql=writer.category(column, feature)))
    predicted = writer.prediction(predictions, specification)
    if threshold is not None:
        predicted = writer.decision(predictions, specification, threshold)
    keys.append(Key(name=predictions, sql=predicted))
    if label is not None:
        true = writer.prediction(label, specification)
        if threshold is not None and _other_label(specification.label) is None:
            true = writer.favourable_or_not(label, specification)
        keys.append(Key(name=label, sql=true))
    return grouped_query(
        table=table,
        keys=keys,
        weights=weights,
        dialect=dialect,
        conditions=[line for item in specification.filters for line in writer.conditions(item)],
    )


def _check_columns(
    specification: DatasetSpecification,
    columns: dict[str, str | None],
    *,
    threshold: float | None,
) -> None:
    """Refuse columns that rows cannot be counted by, as far as the description tells."""
    check_one_use(columns)
    check_not_sensitive(columns, list(specification.sensitive))
    check_not_sensitive(
        columns, [specification.column_of(name) for name in specification.sensitive]
    )
    predictions = columns["predictions"]
    if threshold is not None and predictions == specification.label.column:
        raise ParameterError(
            f"{predictions!r} is the label of the description, and no score",
            where="threshold",
            remedy="leave it out, or name the column of the scores as predictions",
        )
    numbers = {
        specification.column_of(name)
        for name, feature in specification.features.items()
        if feature.type == "decimal"
    }
    if threshold is None and predictions in numbers:
        raise ParameterError(
            f"{predictions!r} is a column of decimals, and rows are counted by classes",
            where="predictions",
            remedy="count scores above a number as the favourable label, such as --threshold 0.5",
        )


@dataclass(frozen=True)
class _Writer:
    """What a description says of cells, as expressions of SQL."""

    dialect: str
    missing: tuple[str, ...]

    @property
    def missing_numbers(self) -> tuple[float, ...]:
        """The numbers that stand for a missing value; of NaN it is known."""
        numbers = [float(text) for text in self.missing if re.fullmatch(PLAIN_NUMBER, text)]
        return tuple(dict.fromkeys(number for number in numbers if math.isfinite(number)))

    def missing_texts(self, declared: Sequence[str]) -> list[str]:
        """Return the texts of missing cells of a column of which some values are declared.

        A column of codes may be one of floats, and have NaN.
        """
        may_be_floats = not declared or any(is_number(value) for value in declared)
        if may_be_floats and set(_NO_NUMBER).isdisjoint(declared):
            return list(dict.fromkeys([*self.missing, *_NO_NUMBER]))
        return list(self.missing)

    def literal(self, text: str) -> str:
        """Return a text in quotation marks."""
        if self.dialect == "spark":
            # Two marks in a row would be the end of one text and the beginning of another.
            return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
        return "'" + text.replace("'", "''") + "'"

    def listed(self, texts: Iterable[str]) -> str:
        """Return texts as what stands behind IN."""
        return f"({', '.join(self.literal(text) for text in texts)})"

    def text(self, column: str) -> str:
        """Return a cell as text, also one of a column of numbers."""
        return f"TRIM(CAST({quoted(column, self.dialect)} AS {_TEXT[self.dialect]}))"

    def category(self, column: str, feature: Feature) -> str:
        """Return a cell of a categorical feature by its name in reports."""
        names = {value: value for value in feature.values or [] if _spellings(value) != [value]}
        declared = [*(feature.values or []), *(feature.map or {})]
        return self._renamed(
            column,
            {**names, **(feature.map or {})},
            missing=self.missing_texts(declared),
            other=self.text(column),
        )

    def prediction(self, column: str, specification: DatasetSpecification) -> str:
        """Return a label, or a prediction, by its name in reports."""
        label = specification.label
        cell = quoted(column, self.dialect)
        if label.map:
            missing = self.missing_texts([*label.map, *(label.values or [])])
            return self._renamed(column, label.map, missing=missing, other=self.text(column))
        if label.above is not None and label.values is not None and column == label.column:
            above, other = label.values
            return self._cut(column, label.above, self.literal(above), self.literal(other))
        # NaN stays what it is, as NULL does.
        return self._renamed(column, {}, missing=self.missing, other=cell)

    def decision(self, column: str, specification: DatasetSpecification, threshold: float) -> str:
        """Return which label a score gives."""
        names = specification.label.favourable, _name_of_others(specification.label)
        return self._cut(column, threshold, *map(self.literal, names))

    def favourable_or_not(self, column: str, specification: DatasetSpecification) -> str:
        """Return whether a label is the favourable one, by the names that decisions have."""
        label = specification.label
        renamed_so = [old for old, new in (label.map or {}).items() if new == label.favourable]
        favourable = dict.fromkeys([label.favourable, *renamed_so], label.favourable)
        declared = [*favourable, *(label.map or {}), *(label.values or [])]
        named = self._renamed(
            column,
            favourable,
            missing=self.missing_texts(declared),
            other=self.literal(_name_of_others(label)),
        )
        return f"CASE WHEN {quoted(column, self.dialect)} IS NOT NULL THEN {named} END"

    def conditions(self, row_filter: RowFilter) -> list[str]:
        """Return what is true of the rows that a filter keeps."""
        cell = quoted(row_filter.column, self.dialect)
        found = [f"{cell} IS NOT NULL"]
        if row_filter.minimum is not None or row_filter.maximum is not None:
            found.append(f"NOT {is_no_number(row_filter.column, self.dialect)}")
        ruled_out = self.missing_texts(row_filter.none_of)
        for value in row_filter.none_of:
            ruled_out += _spellings(value)
        if ruled_out:
            found.append(f"{self.text(row_filter.column)} NOT IN {self.listed(ruled_out)}")
        if row_filter.minimum is not None:
            found.append(f"{cell} >= {number_text(row_filter.minimum)}")
        if row_filter.maximum is not None:
            found.append(f"{cell} <= {number_text(row_filter.maximum)}")
        return found

    def _cut(self, column: str, limit: float, above: str, other: str) -> str:
        """Return one of two values, by whether a number is above a limit."""
        cell = quoted(column, self.dialect)
        unknown = is_missing_number(column, self.dialect, self.missing_numbers)
        return (
            f"CASE WHEN {unknown} THEN NULL\n"
            f"    WHEN {cell} > {number_text(limit)} THEN {above}\n"
            f"    ELSE {other} END"
        )

    def _renamed(
        self, column: str, names: dict[str, str], *, missing: Sequence[str], other: str
    ) -> str:
        """Return a cell by its name, NULL where it is missing, and `other` where it has none."""
        text = self.text(column)
        cases = []
        if missing:
            cases.append(f"WHEN {text} IN {self.listed(missing)} THEN NULL")
        for old, new in names.items():
            cases.append(f"WHEN {text} IN {self.listed(_spellings(old))} THEN {self.literal(new)}")
        if not cases:
            return other
        return "\n    ".join(["CASE " + cases[0], *cases[1:], f"ELSE {other} END"])


def _other_label(label: Label) -> str | None:
    """Return the label besides the favourable one; None if there are several, or none is known."""
    favourable = {label.favourable, *label.together}
    renamed = dict.fromkeys(label.map.values() if label.map else ())
    others = label.others or [name for name in renamed if name not in favourable]
    return others[0] if len(others) == 1 else None


def _name_of_others(label: Label) -> str:
    """Return what all labels besides the favourable one are called.

    Examples
    --------
    >>> label = Label(column="granted", values=["yes", "no"], favourable="yes")
    >>> _name_of_others(label), _name_of_others(Label(column="granted", favourable="yes"))
    ('no', 'not yes')
    """
    opposite = {"0": "1", "1": "0"}.get(label.favourable, f"not {label.favourable}")
    return _other_label(label) or opposite


def _spellings(value: str) -> Sequence[str]:
    """Return the texts that engines give of a value, by the type of its column.

    Examples
    --------
    >>> _spellings("1"), _spellings("True"), _spellings("F")
    (['1', '1.0'], ['True', 'true'], ['F'])
    """
    if value == _NO_NUMBER[0]:
        return list(_NO_NUMBER)
    if value.removeprefix("-").isdecimal():
        return [value, f"{value}.0"]
    if value in {"True", "False"}:
        return [value, value.lower()]
    return [value]

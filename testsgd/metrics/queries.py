"""The query that counts rows in a warehouse, for those who may only send SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from testsgd.errors import ParameterError
from testsgd.metrics.counting import ROWS, WEIGHT, WEIGHT_SQUARED, Bins, upper_limits

_QUOTES = {"duckdb": '"', "postgres": '"', "spark": "`"}
DIALECTS = tuple(_QUOTES)
"""The dialects in which the query of counts can be written."""

_DOUBLE = {"duckdb": "DOUBLE", "postgres": "DOUBLE PRECISION", "spark": "DOUBLE"}


@dataclass(frozen=True, kw_only=True)
class Key:
    """A column that rows are grouped by: its name in the result, and the SQL that computes it."""

    name: str
    sql: str


def counts_query(
    *,
    table: str,
    categories: Sequence[str],
    bins: Sequence[Bins],
    predictions: str,
    label: str | None = None,
    weights: str | None = None,
    dialect: str = "duckdb",
) -> str:
    """Return the SQL query that counts rows, to be sent by hand.

    Parameters
    ----------
    table : str
        The name of the table, as SQL has it.
    categories : sequence of str
        Sensitive features that are grouped by as they are.
    bins : sequence of Bins
        Those that are brought into bins. Beside the lower edge of a bin, a column that is called
        like the feature, with ``_below`` behind, has the upper one.
    predictions : str
        The column with predictions.
    label, weights : str, optional
        The columns with the true labels, and with weights.
    dialect : {"duckdb", "postgres", "spark"}
        How names are quoted.

    Returns
    -------
    str

    Raises
    ------
    ParameterError
        If the dialect is unknown, or two columns of the result would have one name.

    Examples
    --------
    >>> print(counts_query(
    ...     table="decisions", categories=["sex"], bins=[], predictions="approved"))
    SELECT
      "sex",
      "approved",
      COUNT(*) AS "rows"
    FROM decisions
    GROUP BY 1, 2
    """
    check_dialect(dialect)
    keys = [Key(name=name, sql=quoted(name, dialect)) for name in categories]
    for item in bins:
        keys += keys_of_bins(item, column=item.column, dialect=dialect)
    others = [name for name in (predictions, label) if name is not None]
    keys += [Key(name=name, sql=quoted(name, dialect)) for name in others]
    return grouped_query(table=table, keys=keys, weights=weights, dialect=dialect)


def check_dialect(dialect: str) -> None:
    """Raise a :class:`ParameterError` if queries are not written in a dialect."""
    if dialect not in _QUOTES:
        raise ParameterError(
            f"there is no dialect {dialect!r}",
            where="dialect",
            remedy=f"choose one of {', '.join(DIALECTS)}",
        )


def quoted(name: str, dialect: str) -> str:
    """Return the name of a column as a dialect writes it.

    Examples
    --------
    >>> quoted("age", "duckdb"), quoted("age", "spark")
    ('"age"', '`age`')
    """
    mark = _QUOTES[dialect]
    return f"{mark}{name.replace(mark, mark * 2)}{mark}"


def number_text(number: float) -> str:
    """Return a number as SQL writes it, with all of its digits.

    Examples
    --------
    >>> number_text(18.0), number_text(0.1), number_text(1234567890123.0)
    ('18', '0.1', '1234567890123')
    """
    return str(int(number)) if float(number).is_integer() else repr(float(number))


def is_no_number(column: str, dialect: str) -> str:
    """Return what is true of the cells of a column of numbers that are NaN, as SQL.

    Of whole numbers and decimals no cell is, and in some dialects they are not even to be compared
    with NaN, so they are made floats first. In all dialects NaN is equal to itself, and larger than
    every number.

    Examples
    --------
    >>> print(is_no_number("age", "duckdb"))
    CAST("age" AS DOUBLE) = CAST('NaN' AS DOUBLE)
    """
    double = _DOUBLE[dialect]
    return f"CAST({quoted(column, dialect)} AS {double}) = CAST('NaN' AS {double})"


def is_missing_number(column: str, dialect: str, missing: Sequence[float] = ()) -> str:
    """Return what is true of the cells of a column of numbers that are missing, as SQL.

    Parameters
    ----------
    column : str
        The column.
    dialect : {"duckdb", "postgres", "spark"}
        How names and types are written.
    missing : sequence of float
        Numbers that stand for a missing value, beside NULL and NaN.

    Returns
    -------
    str

    Examples
    --------
    >>> print(is_missing_number("age", "duckdb", [-999.0]))
    "age" IS NULL OR CAST("age" AS DOUBLE) = CAST('NaN' AS DOUBLE) OR "age" IN (-999)
    """
    cell = quoted(column, dialect)
    found = [f"{cell} IS NULL", is_no_number(column, dialect)]
    if missing:
        found.append(f"{cell} IN ({', '.join(map(number_text, missing))})")
    return " OR ".join(found)


def keys_of_bins(
    bins: Bins, *, column: str, dialect: str, missing: Sequence[float] = ()
) -> list[Key]:
    """Return the lower and the upper edge of the bin that a number of a column falls into.

    Both are NULL of a missing number, see :func:`is_missing_number`.

    Examples
    --------
    >>> ages = Bins(column="age", edges=(18.0, 40.0, 65.0))
    >>> [key.name for key in keys_of_bins(ages, column="years", dialect="duckdb")]
    ['age', 'age_below']
    """
    number = quoted(column, dialect)
    unknown = is_missing_number(column, dialect, missing)
    lower = _edge_of_bin(number, bins, bins.lower, unknown=unknown)
    upper = _edge_of_bin(number, bins, bins.upper, unknown=unknown)
    return [Key(name=bins.column, sql=lower), Key(name=upper_limits(bins.column), sql=upper)]


def _edge_of_bin(number: str, bins: Bins, edges: Sequence[float], *, unknown: str) -> str:
    """Write one edge of the bin of a number as an expression of SQL."""
    lines = [f"CASE WHEN {unknown} THEN NULL"]
    lines += [
        f"    WHEN {number} < {number_text(end)} THEN {number_text(edge)}"
        for end, edge in zip(bins.upper[:-1], edges[:-1], strict=True)
    ]
    lines.append(f"    ELSE {number_text(edges[-1])} END")
    return "\n".join(lines)


def grouped_query(
    *,
    table: str,
    keys: Sequence[Key],
    weights: str | None,
    dialect: str,
    conditions: Sequence[str] = (),
) -> str:
    """Return the query that counts the rows of each combination of some keys.

    Parameters
    ----------
    table : str
        The name of the table, as SQL has it.
    keys : sequence of Key
        What rows are grouped by.
    weights : str, optional
        The column with weights.
    dialect : {"duckdb", "postgres", "spark"}
        How names are quoted.
    conditions : sequence of str
        What is true of the rows that are counted, as SQL.

    Returns
    -------
    str

    Raises
    ------
    ParameterError
        If two columns of the result would have one name.
    """
    sums = [Key(name=ROWS, sql="COUNT(*)")]
    if weights is not None:
        weight = quoted(weights, dialect)
        sums.append(Key(name=WEIGHT, sql=f"SUM({weight})"))
        sums.append(Key(name=WEIGHT_SQUARED, sql=f"SUM({weight} * {weight})"))
    _check_names([*keys, *sums])
    lines = ["SELECT"]
    lines.append(",\n".join(f"  {_selected(item, dialect)}" for item in (*keys, *sums)))
    lines.append(f"FROM {table}")
    if conditions:
        lines.append("WHERE " + "\n  AND ".join(conditions))
    numbers = ", ".join(str(index) for index in range(1, len(keys) + 1))
    if weights is not None:
        # Rows of weight 0 do not count for a metric, so they are lines of their own.
        numbers += f", {quoted(weights, dialect)} > 0"
    lines.append(f"GROUP BY {numbers}")
    return "\n".join(lines)


def _selected(item: Key, dialect: str) -> str:
    name = quoted(item.name, dialect)
    return name if item.sql == name else f"{item.sql} AS {name}"


def _check_names(columns: Sequence[Key]) -> None:
    """Refuse two columns of one name; some engines take Rows and rows for one."""
    known = set()
    for column in columns:
        name = column.name.casefold()
        if name in known:
            raise ParameterError(
                f"two columns of the counts would be called {column.name!r}",
                where="cells-sql",
                remedy="name another column, or give it another name in the table",
                column=column.name,
            )
        known.add(name)

"""Rows that an engine computes when they are asked for: fetched, or refused beside other arrays."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import pandas as pd

from testsgd.errors import DataError

# Engines within this process, with the method that computes the rows.
_FETCHING = {"polars": "collect", "duckdb": "df"}
# Those of other engines, which a user calls.
_COLLECTING = {**_FETCHING, "dask": "compute", "ibis": "to_pandas"}


def is_lazy(data: Any) -> bool:
    """Return whether data are a lazy frame or a relation, whose rows are not in memory.

    Parameters
    ----------
    data : object
        Anything.

    Returns
    -------
    bool
        True for lazy frames of Polars, relations of DuckDB, and frames of Dask, Ibis and PySpark.

    Examples
    --------
    >>> import polars
    >>> is_lazy(polars.LazyFrame({"age": [30]})), is_lazy([30])
    (True, False)
    """
    return _engine(data) is not None


def fetched(data: Any) -> Any:
    """Return the rows of a lazy frame or a relation as a frame in memory; other data as they are.

    Parameters
    ----------
    data : object
        A lazy frame of Polars, a relation of DuckDB, or anything else.

    Returns
    -------
    object
        A frame of Polars or pandas, or `data` itself.

    Raises
    ------
    DataError
        If the engine fails, or is none of this process (Dask, Ibis, PySpark).

    Examples
    --------
    >>> import polars
    >>> fetched(polars.LazyFrame({"age": [30]}))["age"].to_list()
    [30]
    """
    engine = _engine(data)
    if engine is None:
        return data
    if engine not in _FETCHING:
        raise DataError(
            f"the rows are a {type(data).__name__} of {engine}, which is not in memory",
            where="data",
            remedy=f"give a frame in memory, or {_BY_COLUMN}",
        )
    try:
        return getattr(data, _FETCHING[engine])()
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(
            f"{engine} could not compute the rows ({reason})",
            where="data",
            remedy="check the query, and that its data can be read",
        ) from error


def lazy_columns(data: Any) -> list[str]:
    """Return the names of the columns of a lazy frame or a relation; none of other data.

    Parameters
    ----------
    data : object
        Anything.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import polars
    >>> lazy_columns(polars.LazyFrame({"age": [30]})), lazy_columns([30])
    (['age'], [])
    """
    return nw.from_native(data).collect_schema().names() if is_lazy(data) else []


def collecting(data: Any) -> str:
    """Return how a user fetches the rows of a lazy frame or a relation, as a call of a method.

    Examples
    --------
    >>> import polars
    >>> collecting(polars.LazyFrame({"age": [30]}))
    '.collect()'
    """
    return f".{_COLLECTING.get(_engine(data) or '', 'toPandas')}()"


def check_row_order(data: Any, *, where: str, of_model: bool = False) -> None:
    """Refuse a lazy frame or a relation beside other columns, with which it may not align.

    Parameters
    ----------
    data : object
        Anything.
    where : str
        The parameter that an error names.
    of_model : bool
        Whether a model is asked about the rows, which then cannot stay where they are.

    Raises
    ------
    DataError
        If `data` are a lazy frame or a relation.

    Examples
    --------
    >>> check_row_order([30, 40], where="sensitive_features")
    """
    if is_lazy(data):
        raise DataError(
            f"the rows of a {type(data).__name__} have no fixed order, and may not align with the "
            "other columns",
            where=where,
            remedy=f"collect the rows first ({collecting(data)}), and give columns of these"
            if of_model
            else f"collect it together with these first, or {_BY_COLUMN}",
        )


_BY_COLUMN = (
    "name the column of the predictions: testsgd.metrics.audit_rows_elsewhere(rows, "
    'predictions="...", ...)'
)


def _engine(data: Any) -> str | None:
    """Return the name of the engine of a lazy frame or a relation, None of other data."""
    # A frame of pandas may have two columns of one name, which narwhals refuses.
    if isinstance(data, pd.DataFrame):
        return None
    try:
        frame = nw.from_native(data, pass_through=True)
    except nw.exceptions.DuplicateError:
        # Of lazy frames it does not look at the names here.
        return None
    return frame.implementation.value if isinstance(frame, nw.LazyFrame) else None

"""Tables too long for memory: written piece by piece, as CSV or as Parquet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from testsgd.errors import ParameterError
from testsgd.io.spreadsheets import csv_of
from testsgd.io.writing import atomic_path, import_pyarrow

if TYPE_CHECKING:
    import pandas as pd

_ENDINGS = (".csv", ".parquet")


def check_table_name(target: Path, *, where: str) -> None:
    """Raise an error if a file's name ends in neither .csv nor .parquet, or pyarrow is missing.

    Parameters
    ----------
    target : Path
        The file.
    where : str
        What names it, for the message.

    Raises
    ------
    ParameterError
        If its kind is not known by its name.
    MissingExtraError
        If it is Parquet and there is no pyarrow.
    """
    if target.suffix not in _ENDINGS:
        raise ParameterError(
            f"the kind of the file is not known by its name, {target.name!r}",
            where=where,
            remedy="end it in .csv or .parquet",
            name=where,
        )
    if target.suffix == ".parquet":
        import_pyarrow()


@contextmanager
def table_file(target: Path) -> Iterator[Callable[[pd.DataFrame], None]]:
    r"""Return a function that adds the rows of a frame; the file appears whole or not at all.

    Parameters
    ----------
    target : Path
        A file whose name ends in .csv or .parquet.

    Yields
    ------
    callable
        Takes frames, all with the same columns of the same types.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "squares.csv"
    ...     with table_file(path) as add:
    ...         for start in (0, 2):
    ...             add(pd.DataFrame({"square": [start**2, (start + 1) ** 2]}))
    ...     path.read_text()
    'square\n0\n1\n4\n9\n'
    """
    check_table_name(target, where=str(target))
    with atomic_path(target) as temporary:
        if target.suffix == ".csv":
            with temporary.open("w", encoding="utf-8", newline="\n") as stream:
                is_first = True

                def add(rows: pd.DataFrame) -> None:
                    nonlocal is_first
                    stream.write(csv_of(rows, header=is_first))
                    is_first = False

                yield add
            return
        import_pyarrow()
        from pyarrow import Table
        from pyarrow.parquet import ParquetWriter

        writer = None

        def add_group(rows: pd.DataFrame) -> None:
            nonlocal writer
            table = Table.from_pandas(rows, preserve_index=False)
            if writer is None:
                writer = ParquetWriter(temporary, table.schema)
            writer.write_table(table)

        try:
            yield add_group
        finally:
            if writer is not None:
                writer.close()

"""Rows of several CSV files in DuckDB, read by the rules by which one file is read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from testsgd.data.categories import MISSING
from testsgd.data.cell_texts import DECIMAL_COMMA, LIST_OF_TWO, OF_THOUSANDS, PLAIN_NUMBER
from testsgd.data.frames import MISSING_TEXTS, WITH_DECIMAL_COMMAS, parsing_of
from testsgd.errors import DataError

_BLANKS = r" \t\r\n"
_BOOLEANS = ("True", "False", "true", "false")
# Beyond it floats skip whole numbers, and identifiers are often that long.
_LARGEST = 2**53


def read_texts(duckdb: Any, files: Sequence[str], columns: Collection[str] | None = None) -> Any:
    """Return the rows of CSV files as one relation, each column with the type that its cells show.

    Parameters
    ----------
    duckdb : module
        DuckDB, or a connection.
    files : sequence of str
        Names of files, or patterns.
    columns : collection of str, optional
        Those whose types are looked for, in one pass over the files; the others stay texts. All if
        not given.

    Returns
    -------
    duckdb.DuckDBPyRelation

    Raises
    ------
    DataError
        If the files have not the same columns.
    """
    separator, skipped = _separator(duckdb, files)
    options: dict[str, Any] = {
        "header": True,
        "all_varchar": True,
        "sep": separator,
        "quotechar": '"',
        "escapechar": '"',
        "skiprows": skipped,
    }
    _check_one_table(duckdb, files, options)
    texts = duckdb.read_csv(list(files), union_by_name=True, **options)
    known = texts.project(", ".join(_known(name) for name in texts.columns))
    asked = [name for name in known.columns if columns is None or name in columns]
    if not asked:
        return known
    cells = _cells_of(known, asked)
    certain = separator == ";" or (separator == "\t" and _has_decimal_commas(known, cells))
    typed = []
    for name in known.columns:
        of_column = cells.get(name)
        may_have_commas = separator in WITH_DECIMAL_COMMAS
        if of_column is None:
            typed.append(_quoted(name))
        elif may_have_commas and of_column.are_decimal_commas(certain=certain):
            typed.append(_cast(name, "DOUBLE", with_commas=True))
        else:
            typed.append(_cast(name, of_column.kind))
    return known.project(", ".join(typed))


def _separator(duckdb: Any, files: Sequence[str]) -> tuple[str, int]:
    """Return what stands between the cells of the files, and how many lines before the header.

    The first lines of the first file say it.
    """
    try:
        parsing = parsing_of(Path(_names(duckdb, files)[0]))
    except (OSError, ValueError, IndexError):
        # It is not there, empty, or at an address that only DuckDB reads.
        return "\t" if files[0].lower().endswith(".tsv") else ",", 0
    return (",", 0) if parsing is None else (parsing.separator, parsing.skip_rows)


def _names(duckdb: Any, files: Sequence[str]) -> list[str]:
    """Return the names of files that patterns are about, in the order of the patterns."""
    names = []
    for file in files:
        found = duckdb.execute("SELECT file FROM glob(?) ORDER BY file", [file]).fetchall()
        names += [str(name) for (name,) in found]
    return names


def _check_one_table(duckdb: Any, files: Sequence[str], options: dict[str, Any]) -> None:
    """Refuse files of which one lacks a column of the first one, or has another."""
    names = _names(duckdb, files)
    if len(names) < 2:
        return
    expected = set(duckdb.read_csv([names[0]], **options).columns)
    for name in names[1:]:
        columns = set(duckdb.read_csv([name], **options).columns)
        if columns == expected:
            continue
        differing = sorted(expected - columns) or sorted(columns - expected)
        has = "has no" if expected - columns else "has a"
        raise DataError(
            f"the file {has} column {differing[0]!r}, unlike {names[0]}",
            where=name,
            remedy="give files with the same columns",
            column=differing[0],
        )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _known(name: str) -> str:
    """Return the cells of a column without blanks around them, null if they are missing."""
    bare = f"trim({_quoted(name)}, e'{_BLANKS}')"
    missing = ", ".join(map(_text, MISSING_TEXTS))
    return f"CASE WHEN {bare} NOT IN ({missing}) THEN {bare} END AS {_quoted(name.lstrip(' '))}"


class _Cells(NamedTuple):
    """What all present cells of a column are; None if there is none."""

    booleans: bool | None
    numbers: bool | None
    whole: bool | None
    # Numbers that may have a decimal comma, also if none has one.
    commas: bool | None
    have_comma: bool | None
    # The commas that there are may separate thousands, or these and codes.
    of_thousands: bool | None
    undecided: bool | None

    @property
    def kind(self) -> str | None:
        """The type in DuckDB without decimal commas, None for texts."""
        if self.booleans:
            return "BOOLEAN"
        if self.numbers:
            return "BIGINT" if self.whole else "DOUBLE"
        return None

    def are_decimal_commas(self, *, certain: bool) -> bool:
        """Return whether the cells are numbers, some with decimal commas.

        By the rules of :func:`testsgd.data.cells.numbers_with_decimal_commas`.
        """
        if self.booleans or self.numbers or not self.commas:
            return False
        if self.have_comma:
            return certain or not self.of_thousands
        return not self.undecided


def _checks(name: str) -> tuple[str, ...]:
    """Return the conditions on all present cells of a column, in the order of :class:`_Cells`."""
    cell = _quoted(name)
    booleans = ", ".join(map(_text, _BOOLEANS))
    has_comma = f"contains({cell}, ',')"
    of_thousands = f"regexp_full_match({cell}, {_text(OF_THOUSANDS)})"
    first, second = (f"TRY_CAST(split_part({cell}, ',', {part}) AS DOUBLE)" for part in (1, 2))
    of_codes = f"(regexp_full_match({cell}, {_text(LIST_OF_TWO)}) AND {first} < {second})"
    conditions = (
        f"{cell} IN ({booleans})",
        f"regexp_full_match({cell}, {_text(PLAIN_NUMBER)}) AND {_is_small(cell)}",
        f"regexp_full_match({cell}, '-*[0-9]+')",
        f"regexp_full_match({cell}, {_text(DECIMAL_COMMA)}) AND {_is_small(_with_point(cell))}",
        has_comma,
        f"(NOT {has_comma} OR {of_thousands})",
        f"(NOT {has_comma} OR {of_thousands} OR {of_codes})",
    )
    of_present = f"FILTER ({cell} <> {_text(MISSING)})"
    return tuple(f"bool_and({condition}) {of_present}" for condition in conditions)


def _cells_of(known: Any, names: Sequence[str]) -> dict[str, _Cells]:
    """Return by column what all its present cells are."""
    if not names:
        return {}
    checks = [check for name in names for check in _checks(name)]
    answers = iter(known.aggregate(", ".join(checks)).fetchall()[0])
    return {name: _Cells(*(next(answers) for _ in _Cells._fields)) for name in names}


def _has_decimal_commas(known: Any, cells: dict[str, _Cells]) -> bool:
    """Return whether some column has commas that can only be those of decimals."""

    def are_certain(found: dict[str, _Cells]) -> bool:
        return any(of_column.are_decimal_commas(certain=False) for of_column in found.values())

    if are_certain(cells):
        return True
    if not any(of_column.are_decimal_commas(certain=True) for of_column in cells.values()):
        # No column waits for what the others say.
        return False
    others = [name for name in known.columns if name not in cells]
    return are_certain(_cells_of(known, others))


def _is_small(number: str) -> str:
    return f"coalesce(abs(TRY_CAST({number} AS DOUBLE)) < {_LARGEST}, false)"


def _with_point(cell: str) -> str:
    return f"replace(replace({cell}, '.', ''), ',', '.')"


def _cast(name: str, kind: str | None, *, with_commas: bool = False) -> str:
    """Return a column with cells of a type in DuckDB, texts where that is None."""
    cell = _quoted(name)
    if kind is None:
        return cell
    present = f"nullif({cell}, {_text(MISSING)})"
    if with_commas:
        present = _with_point(present)
    return f"CAST({present} AS {kind}) AS {cell}"

"""Tables as plain texts: the same cells in every view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from testsgd.reporting.markup import escape, table
from testsgd.reporting.parts import RuleSummary

Kind = Literal["text", "name", "number", "strong"]


class Ruled(Protocol):
    """Anything that rules describe."""

    @property
    def rules(self) -> Sequence[RuleSummary]:
        """The rules; all hold."""
        ...


@dataclass(frozen=True)
class Column:
    """A column: its heading, and what stands in it; `name` heads its row."""

    heading: str
    kind: Kind = "text"


@dataclass(frozen=True)
class Row:
    """Cells of a table; `emphasis` marks the row that the eye should find.

    `note` is a word beside the row's name, `about` a sentence below it. If the name is that of a
    group, `group` has its rules.
    """

    cells: tuple[str, ...]
    emphasis: bool = False
    note: str = ""
    about: str = ""
    group: Ruled | None = None


@dataclass(frozen=True)
class Grid:
    """A table as plain texts, not escaped for any view."""

    label: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...] = field(default=())


def grid_markdown(grid: Grid, limit: int, *, about: bool) -> str:
    """Write a table as Markdown.

    Parameters
    ----------
    grid : Grid
        The table.
    limit : int
        Cut longer texts.
    about : bool
        Write below each row's name what is said about it.

    Examples
    --------
    >>> columns = (Column("Who", "name"), Column("Rate", "strong"))
    >>> row = Row(("all", "23%"), emphasis=True, note="before", about="As it was.")
    >>> print(grid_markdown(Grid("Rates", columns, (row,)), 80, about=True))
    | Who | Rate |
    | --- | ---: |
    | **all** (before)<br>As it was. | **23%** |
    """
    right = [
        place for place, column in enumerate(grid.columns) if column.kind in ("number", "strong")
    ]
    rows = [
        [
            _cell(text, column, row, limit, about=about)
            for text, column in zip(row.cells, grid.columns, strict=True)
        ]
        for row in grid.rows
    ]
    return table([column.heading for column in grid.columns], rows, right=right)


def _cell(text: str, column: Column, row: Row, limit: int, *, about: bool) -> str:
    written = escape(text, limit)
    if written and row.emphasis and column.kind in ("strong", "name"):
        written = f"**{written}**"
    if column.kind == "name":
        written += f" ({escape(row.note)})" if row.note else ""
        written += f"<br>{escape(row.about, limit)}" if about and row.about else ""
    return written

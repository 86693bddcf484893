"""Tables of like items: what each column says of an item stands beside its heading."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from testsgd.report.blocks import Cell, Column, Row, Table

Item = TypeVar("Item")
Shown = TypeVar("Shown", contravariant=True)


@dataclass(frozen=True)
class Listed(Generic[Shown]):
    """A column of a table of items; one that is not `shown` is left out."""

    heading: str
    text: Callable[[Shown], str | Cell]
    content: Literal["text", "name", "number", "strong", "group"] = "number"
    short: str = ""
    shown: bool = True
    under: str = ""
    view: Literal["", "html", "markdown"] = ""


def listing(
    label: str,
    items: Iterable[Item],
    columns: Sequence[Listed[Item]],
    *,
    row: Callable[[Item], dict[str, Any]] | None = None,
    **options: Any,
) -> Table:
    """Return a table with a row an item.

    `row`: further parts of an item's :class:`Row`, by name. `options`: those of the :class:`Table`.
    """
    shown = [column for column in columns if column.shown]
    return Table(
        label,
        tuple(
            Column(
                column.heading,
                column.content,
                under=column.under,
                short=column.short,
                view=column.view,
            )
            for column in shown
        ),
        tuple(
            Row(tuple(column.text(item) for column in shown), **(row(item) if row else {}))
            for item in items
        ),
        **options,
    )

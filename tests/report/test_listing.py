"""Tables of like items: columns that are shown, what rows have besides cells."""

from __future__ import annotations

from testsgd.report.listing import Listed, listing


def test_a_column_stands_beside_its_cells() -> None:
    table = listing(
        "Numbers",
        [2, 3],
        (
            Listed("Number", str, "name", short="number"),
            Listed("Its square", lambda number: str(number**2)),
        ),
    )
    assert [(column.heading, column.content, column.short) for column in table.columns] == [
        ("Number", "name", "number"),
        ("Its square", "number", ""),
    ]
    assert [row.cells for row in table.rows] == [("2", "4"), ("3", "9")]


def test_what_is_not_shown_is_not_asked_for() -> None:
    hidden = Listed[int]("One over it", lambda number: str(1 / number), shown=False)
    table = listing("Numbers", [0], (Listed("Number", str), hidden))
    assert [column.heading for column in table.columns] == ["Number"]
    assert [row.cells for row in table.rows] == [("0",)]


def test_rows_and_tables_have_more_than_cells() -> None:
    table = listing(
        "Numbers",
        [1, 2],
        (Listed("Number", str),),
        row=lambda number: {"emphasis": number > 1, "note": "even" if number == 2 else ""},
        title="Some numbers",
        open_rows=1,
    )
    assert [(row.emphasis, row.note) for row in table.rows] == [(False, ""), (True, "even")]
    assert (table.title, table.open_rows) == ("Some numbers", 1)


def test_without_items_there_are_no_rows() -> None:
    assert listing("Nothing", list[int](), (Listed("Number", str),)).rows == ()

"""Unknown keys in a TOML document: the known key that was meant is named."""

from __future__ import annotations

import pytest

from testsgd.data.schema_parts import Part
from testsgd.data.toml_document import parse_toml, validated
from testsgd.errors import SpecificationError


class Column(Part):
    name: str = ""
    weight: float = 1


class Table(Part):
    title: str = ""
    first: Column | None = None
    columns: tuple[Column, ...] = ()
    by_name: dict[str, Column] | None = None


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("titel = 'x'", "title"),
        ("colums = []", "columns"),
        ("[first]\nnaem = 'x'", "name"),
        ("[[columns]]\n[[columns]]\nwieght = 2", "weight"),
        ("[by_name.any]\nwieght = 2", "weight"),
    ],
)
def test_the_key_that_was_meant(text: str, meant: str) -> None:
    with pytest.raises(SpecificationError, match=f"did you mean '{meant}'"):
        validated(Table, parse_toml(text, where="x"), text=text, where="x")


@pytest.mark.parametrize(
    # A key of another table is not what was meant here.
    "text",
    ["purpose = 'x'", "wieght = 2", "[first]\ntitel = 'x'"],
)
def test_no_known_key_is_like_it(text: str) -> None:
    with pytest.raises(SpecificationError, match="remove it or correct its name"):
        validated(Table, parse_toml(text, where="x"), text=text, where="x")


def test_decimals_as_they_stand_there() -> None:
    assert str(parse_toml("x = 0.10", where="x", exact=True)["x"]) == "0.10"
    assert type(parse_toml("x = 0.10", where="x")["x"]) is float

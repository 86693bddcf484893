"""Where a description may come from: a file, a text, a mapping; and its JSON Schema."""

from __future__ import annotations

import copy
import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from plain_description import TEXT, description

from testsgd.data import (
    catalogue,
    load_specification,
    parse_specification,
    specification_from_mapping,
    specification_schema,
)
from testsgd.data.specification import read_specification
from testsgd.errors import ParameterError, SpecificationError

VALIDATOR = jsonschema.Draft202012Validator(specification_schema())


def test_file_text_and_mapping_mean_the_same(tmp_path: Path) -> None:
    path = tmp_path / "loans.toml"
    path.write_text(TEXT)
    from_file = read_specification(path)
    assert from_file == parse_specification(TEXT)
    assert from_file == specification_from_mapping(tomllib.loads(TEXT))
    assert from_file == load_specification(path) == load_specification(str(path))
    assert from_file.sensitive == ("gender",)
    assert from_file.insensitive == ("age", "ratio")


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "loans.toml"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())
    assert read_specification(path) == parse_specification(TEXT)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecificationError, match="there is no such file") as caught:
        read_specification(tmp_path / "nothing.toml")
    assert caught.value.where == str(tmp_path / "nothing.toml")


@pytest.mark.parametrize("content", [b"\x93NUMPY\x01\x00\xff\xfe", b"\xff\xfe[\x00d\x00]\x00"])
def test_a_binary_file_is_no_text(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "data.npy"
    path.write_bytes(content)
    with pytest.raises(SpecificationError, match="cannot be read as text") as caught:
        read_specification(path)
    assert caught.value.where == str(path)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(SpecificationError, match="cannot be read"):
        read_specification(tmp_path)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[dataset", 1),
        ('[dataset]\nname = "loans', 2),
        ("[dataset]\n[dataset]", 2),
        ("a = 1\nb = 2\na = 3", 3),
        ("[dataset]\n\nname = loans", 3),
    ],
)
def test_invalid_toml_is_named_by_its_line(text: str, line: int) -> None:
    with pytest.raises(SpecificationError) as caught:
        parse_specification(text + "\n", where="x.toml")
    assert str(caught.value).startswith("x.toml: not valid TOML: ")
    assert f"line {line}, column" in str(caught.value)


def test_a_mistake_in_a_mapping_is_named_by_its_key_without_a_line() -> None:
    with pytest.raises(SpecificationError) as caught:
        description(label={"column": "y", "favourable": "yes", "colour": "red"})
    assert str(caught.value).startswith("specification: label.colour: unknown key")


def test_an_empty_mapping_lacks_three_parts() -> None:
    with pytest.raises(SpecificationError) as caught:
        specification_from_mapping({})
    keys = [mistake["key"] for mistake in caught.value.details["mistakes"]]
    assert keys == ["dataset", "label", "features"]


def test_reading_a_mapping_leaves_it_as_it_was() -> None:
    document = tomllib.loads(TEXT)
    before = copy.deepcopy(document)
    specification_from_mapping(document)
    assert document == before


def test_a_mapping_may_hold_numbers_of_numpy() -> None:
    ages = np.array([18, 79])
    specification = description(
        features={
            "age": {"type": "integer", "range": [ages.min(), np.float32(79)], "bins": ages[0]},
            "gender": {"type": "categorical", "values": ages, "sensitive": np.True_}
            | {"values": list(ages)},
        }
    )
    assert specification.features["age"].range == (18.0, 79.0)
    assert specification.features["gender"].values == ["18", "79"]


def test_categories_become_texts() -> None:
    specification = description(
        label={"column": "y", "favourable": 1, "values": [0, True, 1, 2.5, "x"]}
    )
    assert specification.label.favourable == "1"
    assert specification.label.values == ["0", "True", "1", "2.5", "x"]


def test_a_description_cannot_be_changed() -> None:
    specification = parse_specification(TEXT)
    with pytest.raises(ValueError, match="frozen"):
        specification.label.favourable = "no"


def test_a_name_that_is_unknown_lists_the_known_ones() -> None:
    with pytest.raises(ParameterError) as caught:
        load_specification("cencus")
    assert "there is no data set 'cencus'" in str(caught.value)
    assert all(name in caught.value.remedy for name in catalogue())


def test_the_schema_is_a_schema_and_survives_json() -> None:
    jsonschema.Draft202012Validator.check_schema(specification_schema())
    assert json.loads(json.dumps(specification_schema())) == specification_schema()


@pytest.mark.parametrize("name", catalogue())
def test_the_schema_accepts_the_catalogue(name: str) -> None:
    VALIDATOR.validate(tomllib.loads(catalogue()[name].read_text()))


@pytest.mark.parametrize(
    ("line", "written"),
    [
        (2, 'name = "loans"\ncolour = "red"'),
        (5, 'column = "y"\ncolour = "red"'),
        (12, "sensitive = true\nsensitiv = true"),
        (12, 'sensitive = "yes"'),
        (10, 'type = "word"'),
        (6, ""),
        (16, "range = [0]"),
        (16, "range = [0, 1, 2]"),
        (16, 'range = ["0", 1]'),
        (11, 'values = "female"'),
        (7, "values = [[1]]"),
        (16, "range = [0, 100]\nbins = 0"),
        (16, "range = [0, 100]\nbins = 201"),
        (16, "range = [0, 100]\nstep = 0"),
        (3, "[parse]\nskip_rows = -1"),
        (3, "[[files]]\nurl = 'x'"),
    ],
)
def test_schema_and_reader_reject_the_same(line: int, written: str) -> None:
    lines = TEXT.splitlines()
    lines[line - 1] = written
    document: dict[str, Any] = tomllib.loads("\n".join(lines))
    assert not VALIDATOR.is_valid(document)
    with pytest.raises(SpecificationError):
        specification_from_mapping(document)


def test_schema_and_reader_accept_numbers_and_booleans_as_categories() -> None:
    document = tomllib.loads(TEXT) | {
        "label": {"column": "y", "favourable": 1, "values": [0, 1], "map": {"a": 0, "b": 1}},
        "filters": [{"column": "z", "none_of": [-1, True, "x"]}],
    }
    VALIDATOR.validate(document)
    assert specification_from_mapping(document).label.map == {"a": "0", "b": "1"}

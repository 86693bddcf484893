"""Mistakes in a description: each is named by its key and by the line it stands in."""

from __future__ import annotations

from typing import Any

import pytest
from plain_description import TEXT, description

from testsgd.data import DatasetSpecification, parse_specification
from testsgd.errors import SpecificationError


def mistake(line: int, written: str) -> SpecificationError:
    """Write something else in one line of the description and give the error."""
    lines = TEXT.splitlines()
    lines[line - 1] = written
    with pytest.raises(SpecificationError) as caught:
        parse_specification("\n".join(lines), where="loans.toml")
    return caught.value


# The line to replace, what is written there (the mistake is in its last line), the key that must
# be named, and words that must be in the message.
MISTAKES = [
    # unknown keys
    (2, 'name = "loans"\ntitel = "Loans"', "dataset.titel", "unknown key"),
    (3, "[sources]", "sources", "unknown key"),
    (12, "sensitive = true\nrole = 1", "features.gender.role", "unknown key"),
    # wrong types
    (2, "name = 3", "dataset.name", "valid string (seen: 3)"),
    (6, 'favourable = ["yes"]', "label.favourable", "a text, a number or a boolean"),
    (7, 'values = "yes"', "label.values", "valid list (seen: 'yes')"),
    (10, 'type = "word"', "features.gender.type", "(seen: 'word')"),
    (11, 'values = ["female", ["male"]]', "features.gender.values.1", "a text, a number"),
    (12, 'sensitive = "yes"', "features.gender.sensitive", "valid boolean (seen: 'yes')"),
    (12, "sensitive = 1", "features.gender.sensitive", "valid boolean (seen: 1)"),
    (16, "range = 100", "features.age.range", "(seen: 100)"),
    (16, 'range = ["0", 100]', "features.age.range.0", "valid number (seen: '0')"),
    (16, "range = [0, true]", "features.age.range.1", "valid number (seen: True)"),
    (16, 'range = [0, 100]\nbins = "3"', "features.age.bins", "valid integer (seen: '3')"),
    (16, "range = [0, 100]\nbins = 2.5", "features.age.bins", "(seen: 2.5)"),
    # bad ranges
    (16, "range = [0]", "features.age.range", "too short"),
    (16, "range = [0, 1, 2]", "features.age.range", "at most 2"),
    (16, "range = [100, 0]", "features.age.range", "[100, 0] is empty"),
    (16, "range = [5, 5]", "features.age.range", "[5, 5] is empty"),
    (16, "range = [0, inf]", "features.age.range.1", "finite number (seen: inf)"),
    (16, "range = [nan, 1]", "features.age.range.0", "finite number (seen: nan)"),
    # bad bins, edges and steps
    (16, "range = [0, 100]\nbins = 0", "features.age.bins", "(seen: 0)"),
    (16, "range = [0, 100]\nbins = 201", "features.age.bins", "(seen: 201)"),
    (16, "range = [0, 100]\nedges = [100]", "features.age.edges", "two limits"),
    (16, "range = [0, 100]\nedges = [0, 50, 50, 100]", "features.age.edges", "ascending"),
    (16, "range = [0, 100]\nedges = [1, 100]", "features.age.edges", "1 to 100 do not cover"),
    (16, "range = [0, 100]\nedges = [0, 99]", "features.age.edges", "0 to 99 do not cover"),
    (16, "range = [0, 100]\nedges = [0, inf]", "features.age.edges.1", "finite"),
    (16, "range = [0, 100]\nbins = 2\nedges = [0, 100]", "features.age.edges", "not both"),
    (16, "range = [0, 100]\nstep = 0", "features.age.step", "(seen: 0)"),
    (16, "range = [0, 100]\nstep = inf", "features.age.step", "(seen: inf)"),
    # keys that go with another type of feature
    (16, 'range = [0, 100]\nvalues = ["a"]', "features.age.values", "categorical"),
    (16, 'range = [0, 100]\nmap = { a = "b" }', "features.age.map", "categorical"),
    (12, "sensitive = true\nrange = [0, 1]", "features.gender.range", "integer and decimal"),
    (12, "sensitive = true\nbins = 3", "features.gender.bins", "integer and decimal"),
    (12, "sensitive = true\nedges = [0, 1]", "features.gender.edges", "integer and decimal"),
    (12, "sensitive = true\nstep = 1", "features.gender.step", "integer and decimal"),
    # values
    (11, "values = []", "features.gender.values", "list of all its values"),
    (11, 'values = ["female", "male", "male"]', "features.gender.values", "'male' twice"),
    (11, 'values = [1, "1"]', "features.gender.values", "'1' twice"),
    (11, 'values = ["female", "missing"]', "features.gender.values", "kept for missing"),
    (12, 'sensitive = true\nmap = { F = "fem" }', "features.gender.map", "leads to 'fem'"),
    # the label
    (6, 'favourable = "maybe"', "label.favourable", "'maybe' is not among"),
    (6, "favourable = true", "label.favourable", "'True' is not among"),
    (7, 'values = ["no", "yes"]\nmap = { 1 = "ja" }', "label.map", "leads to 'ja'"),
    (7, 'values = ["yes"]', "label.values", "two labels"),
    (7, 'values = ["yes", "no", "no"]', "label.values", "'no' twice"),
    (7, 'values = ["yes", "no"]\nmap = { yes = "no", no = "yes" }', "label.map", "renames 'yes'"),
    (7, "above = 3", "label.above", "two `values`"),
    (7, 'values = ["yes", "no", "unknown"]\nabove = 3', "label.above", "two `values`"),
    (7, 'values = ["yes", "no"]\nmap = { 1 = "no" }\nabove = 3', "label.above", "not both"),
    (7, 'above = 3\nvalues = ["yes", "1"]', "label.values", "a label must be a word, not '1'"),
    (7, 'values = ["no", "yes"]\nabove = nan', "label.above", "finite"),
    # parsing
    (3, '[parse]\nseparator = "||"', "parse.separator", "(seen: '||')"),
    (3, '[parse]\nseparator = ""', "parse.separator", "one character"),
    (3, "[parse]\nseparator = '\"'", "parse.separator", "not a quote"),
    (3, '[parse]\nencoding = "klingon"', "parse.encoding", "(seen: 'klingon')"),
    (3, '[parse]\nencoding = "rot13"', "parse.encoding", "(seen: 'rot13')"),
    (3, "[parse]\nskip_rows = -1", "parse.skip_rows", "(seen: -1)"),
    (3, '[parse]\ncolumns = ["a"]', "parse.columns", "header = false"),
    (3, '[parse]\nheader = false\ncolumns = ["a", "a"]', "parse.columns", "'a' twice"),
    (3, '[parse]\nheader = "no"', "parse.header", "boolean (seen: 'no')"),
    # files and filters
    (3, '[[files]]\nname = "a"\nsha256 = "ABC"', "files.0.sha256", "64 hexadecimal digits"),
    (3, '[[files]]\nname = "a"\n[[files]]\nname = "b/c"', "files.1.name", "without folders"),
    (3, '[[files]]\nname = ".."', "files.0.name", "plain file name"),
    (3, '[[files]]\nname = ""', "files.0.name", "plain file name"),
    (3, '[[filters]]\ncolumn = "a"\nmaximum = 1\nminimum = 2', "filters.0.minimum", "no row"),
    (3, '[[filters]]\ncolumn = "a"\nnone_of = [[1]]', "filters.0.none_of.0", "a text, a number"),
    # the data set
    (2, 'name = "two words"', "dataset.name", "(seen: 'two words')"),
    (2, 'name = "../up"', "dataset.name", "(seen: '../up')"),
    (2, 'name = "x"\ngenerator = "loans"', "dataset.generator", "(seen: 'loans')"),
    (14, "[features.granted]", "features.granted", "label column 'granted'"),
]


@pytest.mark.parametrize(("line", "written", "key", "words"), MISTAKES)
def test_a_mistake_is_named_by_key_and_line(line: int, written: str, key: str, words: str) -> None:
    error = mistake(line, written)
    expected = line + written.count("\n")
    assert error.where == f"loans.toml, line {expected}"
    assert error.what.startswith(f"{key}: ")
    assert words in str(error)
    assert error.details["mistakes"][0]["key"] == key
    assert error.details["mistakes"][0]["line"] == expected


# Of a key that is not there, the line of the table that should have it.
ABSENT = [
    (2, "dataset.name", 1),
    (5, "label.column", 4),
    (6, "label.favourable", 4),
    (10, "features.gender.type", 9),
    (11, "features.gender.values", 9),
    (16, "features.age.range", 14),
    (12, "features", 9),
]


@pytest.mark.parametrize(("line", "key", "expected"), ABSENT)
def test_a_missing_key_is_named_by_the_line_of_its_table(
    line: int, key: str, expected: int
) -> None:
    error = mistake(line, "")
    assert error.where == f"loans.toml, line {expected}"
    assert error.what.startswith(f"{key}: ")


def test_a_file_without_header_needs_names() -> None:
    error = mistake(3, "[parse]\nheader = false")
    assert str(error).startswith("loans.toml, line 3: parse.columns: ")


def test_two_files_of_one_name() -> None:
    error = mistake(3, '[[files]]\nname = "a"\n[[files]]\nname = "a"')
    assert str(error).startswith("loans.toml, line 3: files: two files are called 'a'")


def test_a_feature_may_not_read_the_label_column_under_another_name() -> None:
    error = mistake(15, 'type = "integer"\ncolumn = "granted"')
    assert str(error).startswith("loans.toml, line 14: features.age: this is the label column")


def test_a_part_without_any_feature() -> None:
    with pytest.raises(SpecificationError, match="features: describe each input"):
        description(features={})


def test_the_first_of_several_mistakes_is_shown_and_all_are_kept() -> None:
    error = mistake(16, 'range = "wide"\nbins = 0')
    assert error.remedy.endswith("(and 1 more mistake)")
    assert [(item["key"], item["line"]) for item in error.details["mistakes"]] == [
        ("features.age.range", 16),
        ("features.age.bins", 17),
    ]
    worse = mistake(16, 'range = "wide"\nbins = 0\nstep = 0')
    assert worse.remedy.endswith("(and 2 more mistakes)")


def test_a_mistake_that_stands_in_a_line_comes_before_a_missing_key() -> None:
    error = mistake(5, 'colum = "granted"')
    assert str(error).startswith("loans.toml, line 5: label.colum: unknown key")
    assert [item["key"] for item in error.details["mistakes"]] == ["label.colum", "label.column"]


@pytest.mark.parametrize(
    "part",
    [
        {"parse": {"separator": "\t"}},
        {"parse": {"separator": "whitespace", "encoding": "latin-1"}},
        {"label": {"column": "granted", "favourable": 1, "values": [0, 1]}},
        {"label": {"column": "granted", "favourable": True, "values": [False, True]}},
        {"label": {"column": "granted", "favourable": "a", "map": {"1": "a", "a": "a"}}},
        {"filters": [{"column": "age", "minimum": 3, "maximum": 3}]},
    ],
)
def test_what_is_unusual_but_right_is_accepted(part: dict[str, Any]) -> None:
    assert isinstance(description(**part), DatasetSpecification)

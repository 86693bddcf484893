"""Descriptions of texts: told apart from those of tables, mistakes named by key and line."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from plain_description import TEXT as LOANS
from plain_description import description
from plain_texts import COMMENTS, REVIEWS, comments, reviews

from testsgd.data import (
    DatasetSpecification,
    TextSpecification,
    load_specification,
    load_table,
    parse_specification,
    specification_from_mapping,
    specification_schema,
)
from testsgd.data.text import load_terms, load_texts
from testsgd.errors import ParameterError, SpecificationError

VALIDATOR = jsonschema.Draft202012Validator(specification_schema())

MARKS = {"name": "marks.tsv", "role": "annotations", "columns": {"key": "id"}}
MARKED = {
    "label": {"column": "y", "favourable": "rude", "values": ["rude", "fine"], "above": 0.5},
    "files": [{"name": "texts.tsv", "columns": {"key": "id"}}, MARKS],
}


def test_a_text_table_makes_a_description_one_of_texts(tmp_path: Path) -> None:
    path = tmp_path / "comments.toml"
    path.write_text(COMMENTS)
    assert isinstance(parse_specification(LOANS), DatasetSpecification)
    assert isinstance(parse_specification(COMMENTS), TextSpecification)
    assert parse_specification(COMMENTS) == load_specification(path) == comments()
    assert comments().name == "comments"
    assert comments().text.column == "comment"


def test_the_column_of_the_texts_is_called_text_if_not_said_otherwise() -> None:
    assert comments(text={}).text.column == "text"


def test_the_layout_follows_from_what_is_described() -> None:
    assert comments().layout == "columns"
    assert reviews().layout == "archive"
    assert comments(**MARKED).layout == "annotations"


MISTAKES = [
    (5, 'colum = "comment"', "text.colum", "unknown key"),
    (5, 'column = ""', "text.column", "name of the column"),
    (5, 'column = "rude"', "text.column", "label column 'rude', which the model must not see"),
    (5, 'column = "c"\nfolder = "/"', "text.folder", "folder inside the archive"),
    (5, 'column = "c"\nescapes = { "" = "x" }', "text.escapes", "stands for nothing"),
    (2, 'name = "c"\ngenerator = "demo"', "dataset.generator", "texts are not generated"),
    (9, 'favourable = "no"', "label.favourable", "'no' is not among"),
    (3, '[parse]\nseparator = "whitespace"', "parse.separator", "blanks stand in the texts"),
    (3, '[parse]\nmissing = ["-"]', "parse.missing", "unknown key"),
    (3, '[[files]]\nname = "a"\npart = "dev"', "files.0.part", "(seen: 'dev')"),
    (
        3,
        '[[files]]\nname = "a"\ncolumns = { part = "p" }\npart = "train"',
        "files.0.part",
        "not both",
    ),
    (3, '[[files]]\nname = "a"\nrole = "annotations"\ncolumns = {}', "files.0.columns", "`key`"),
    (3, '[[files]]\nname = "a"\ntraining = "yes"', "files.0.training", "valid boolean"),
    (3, '[[files]]\nname = "a"\nalternatives = [{ name = "b/c" }]', "files.0.alternatives.0.name",
     "without folders"),
    (3, "[audit]\ntheta = 0", "audit.theta", "(seen: 0)"),
    (3, "[audit]\ntheta = 1.0", "audit.theta", "(seen: 1.0)"),
    (3, '[audit]\ntheta = "5%"', "audit.theta", "valid number"),
    (3, "[audit]\ntheta = 0.1\nbins = 3", "audit.bins", "unknown key"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "written", "key", "words"), MISTAKES)
def test_a_mistake_is_named_by_key_and_line(line: int, written: str, key: str, words: str) -> None:
    lines = COMMENTS.splitlines()
    lines[line - 1] = written
    with pytest.raises(SpecificationError) as caught:
        parse_specification("\n".join(lines), where="c.toml")
    error = caught.value
    assert error.where == f"c.toml, line {line + written.count(chr(10))}"
    assert error.what.startswith(f"{key}: ")
    assert words in str(error)


def test_features_have_no_place_beside_texts() -> None:
    with pytest.raises(SpecificationError) as caught:
        parse_specification(COMMENTS + '[features.age]\ntype = "integer"\n', where="c.toml")
    assert str(caught.value).startswith("c.toml, line 11: features: ")
    assert "[text]" in str(caught.value)


@pytest.mark.parametrize(
    ("base", "parts", "words"),
    [
        (comments, {"files": [{"name": "a"}, {"name": "a"}]}, "two files are called 'a'"),
        (
            comments,
            {"files": [{"name": "a"}, {"name": "b", "alternatives": [{"name": "a"}]}]},
            "two files are called 'a'",
        ),
        (comments, {"files": [{"name": "a", "training": True}]}, "nothing is left to audit"),
        (reviews, {"label": {"column": "y", "favourable": "1"}}, "label: an archive needs `map`"),
        (
            reviews,
            {"files": [{"name": "a.tar", "columns": {"key": "id"}}]},
            "files.0: an archive has no columns",
        ),
        (reviews, {"files": [{"name": "a.tar", "part": "train"}]}, "an archive has no columns"),
        (comments, MARKED | {"label": {"column": "y", "favourable": "1"}}, "need `above`"),
        (comments, MARKED | {"files": [MARKS]}, "exactly one file of texts"),
        (comments, MARKED | {"files": [{"name": "a"}, MARKS]}, "the texts too need `columns.key`"),
    ],
)
def test_parts_that_do_not_go_together(base: Any, parts: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecificationError) as caught:
        base(**parts)
    assert words in str(caught.value)


def test_the_path_of_the_terms_is_seen_from_the_description(tmp_path: Path) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "mine.toml").write_text('[terms]\nname = "mine"\n[categories.a]\nold = []\n')
    path = folder / "comments.toml"
    path.write_text('terms = "mine.toml"\n' + COMMENTS)
    specification = load_specification(path)
    assert isinstance(specification, TextSpecification)
    assert load_terms(specification.terms).name == "mine"
    path.write_text(f'terms = "{folder / "mine.toml"}"\n' + COMMENTS)
    assert load_specification(path) == specification, "an absolute path stays"
    assert comments().terms is None
    assert load_terms(comments().terms).name == load_terms().name


@pytest.mark.parametrize("described", [comments, description])
def test_what_an_audit_should_use_is_said_for_texts_and_tables(described: Any) -> None:
    audit = described(audit={"theta": 0.01, "why": "texts are short"}).audit
    assert (audit.theta, audit.why) == (0.01, "texts are short")
    assert described().audit is None


def test_texts_are_no_table_and_a_table_is_no_texts() -> None:
    with pytest.raises(ParameterError, match="'comments' is made of texts, not of rows"):
        load_table(comments())  # type: ignore[arg-type]  # the mistake
    with pytest.raises(ParameterError, match="'loans' is made of rows, not of texts"):
        load_texts(description())  # type: ignore[arg-type]  # the mistake


@pytest.mark.parametrize("text", [COMMENTS, REVIEWS, LOANS])
def test_the_schema_accepts_both_kinds(text: str) -> None:
    VALIDATOR.validate(tomllib.loads(text))


@pytest.mark.parametrize(
    "parts",
    [
        {"text": {"colum": "a"}},
        {"text": "comment"},
        {"features": {}},
        {"audit": {"theta": 1}},
        {"audit": {"thet": 0.1}},
        {"files": [{"name": "a", "role": "x"}]},
        {"parse": {"missing": [""]}},
    ],
)
def test_schema_and_reader_reject_the_same(parts: dict[str, Any]) -> None:
    document = tomllib.loads(COMMENTS) | parts
    assert not VALIDATOR.is_valid(document)
    with pytest.raises(SpecificationError):
        specification_from_mapping(document)

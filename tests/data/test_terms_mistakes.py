"""Mistakes in a list of terms: each is named by its key and by the line it stands in."""

from __future__ import annotations

from pathlib import Path

import pytest

from testsgd.data.text import load_terms, terms_from_mapping
from testsgd.errors import SpecificationError

# The line numbers are what the tests go by.
TEXT = """\
[terms]
name = "two"

[categories.age]
old = { ambiguous = "also of things" }
"middle aged" = { spellings = ["middle-aged"] }

[categories.faith]
sikh = ["sikhs"]
"""

MISTAKES = [
    # The same form twice, in whatever letters and at whatever places.
    (9, 'old = ["elders"]', "categories.faith.old", "'old' is in two categories, 'age'"),
    (9, 'OLD = ["elders"]', "categories.faith.OLD", "in two categories"),
    (9, 'sikh = ["old"]', "categories.faith.sikh.plural", "in two categories"),
    (
        9,
        'sikh = { plural = ["sikhs"], spellings = ["Middle-Aged"] }',
        "categories.faith.sikh.spellings",
        "'middle-aged' is in two categories, 'age' and 'faith'",
    ),
    (6, '"middle aged" = ["old"]', "categories.age.middle aged.plural", "stands twice, at 'old'"),
    (5, 'old = {}\n"old " = {}', "categories.age.old ", "'old' stands twice"),
    (9, 'sikh = ["sikhs", "sikhs"]', "categories.faith.sikh.plural", "'sikhs' stands twice"),
    (9, 'sikh = ["sikh"]', "categories.faith.sikh.plural", "'sikh' stands twice"),
    (9, "", "categories.faith", "a category needs at least one term"),
    # Nothing that could be found in a text.
    (9, '"" = ["sikhs"]', "categories.faith.", "'' is no term"),
    (9, '" - " = {}', "categories.faith. - ", "'-' is no term: it has no letter and no digit"),
    (9, 'sikh = ["!"]', "categories.faith.sikh.plural", "'!' is no term"),
    (9, 'sikh = { spellings = [""] }', "categories.faith.sikh.spellings", "'' is no term"),
    (8, '[categories." "]', "categories. ", "a category needs a name"),
    (2, 'name = " "', "terms.name", "give the list a name"),
    # Keys and types.
    (9, 'sikh = "sikhs"', "categories.faith.sikh", "(seen: 'sikhs')"),
    (9, "sikh = [1]", "categories.faith.sikh.plural.0", "valid string (seen: 1)"),
    (9, 'sikh = { plurals = ["sikhs"] }', "categories.faith.sikh.plurals", "unknown key"),
    (9, 'sikh = { article = "the" }', "categories.faith.sikh.article", "(seen: 'the')"),
    (8, "[category.faith]", "category", "unknown key"),
]


@pytest.mark.parametrize(("line", "written", "key", "words"), MISTAKES)
def test_a_mistake_is_named_by_key_and_line(
    tmp_path: Path, line: int, written: str, key: str, words: str
) -> None:
    lines = TEXT.splitlines()
    lines[line - 1] = written
    path = tmp_path / "mine.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(SpecificationError) as caught:
        load_terms(path)
    error = caught.value
    # Of a category without terms, the line of its table.
    expected = 8 if written == "" else line + written.count("\n")
    assert error.where == f"{path}, line {expected}"
    assert error.what.startswith(f"{key}: ")
    assert words in str(error)
    assert len(str(error).splitlines()) == 1


def test_the_list_without_a_mistake_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(TEXT, encoding="utf-8")
    assert load_terms(path).names == ("age", "faith")


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"categories": {"age": {"old": {}}}}, "terms: this key is missing"),
        ({"terms": {"name": "n"}}, "categories: this key is missing"),
        ({"terms": {"name": "n"}, "categories": {}}, "categories: list the terms"),
        ({"terms": {"name": "n"}, "categories": {"age": {}}}, "at least one term"),
        ({"terms": {}, "categories": {"age": {"old": {}}}}, "terms.name: this key is missing"),
    ],
)
def test_what_a_list_must_have(document: dict[str, object], words: str) -> None:
    with pytest.raises(SpecificationError, match=words) as caught:
        terms_from_mapping(document)
    assert caught.value.where == "terms"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[terms\n", "not valid TOML"),
        (b"\xff\xfe[\x00t\x00", "cannot be read as text"),
        (None, "there is no such file"),
    ],
)
def test_what_is_no_list_of_terms(tmp_path: Path, content: bytes | None, words: str) -> None:
    path = tmp_path / "mine.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SpecificationError, match=words) as caught:
        load_terms(path)
    assert caught.value.where == str(path)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ('["old"]', "'old' is a form of the term 'old' of 'age'"),
        ('["year-old", "Year-Old"]', "'year-old' stands twice"),
        ('["-"]', "'-' is no term"),
        ('"year-old"', "list"),
    ],
)
def test_mistakes_in_exceptions_are_named(tmp_path: Path, written: str, words: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(TEXT.replace('"two"', f'"two"\nexceptions = {written}'), encoding="utf-8")
    with pytest.raises(SpecificationError) as caught:
        load_terms(path)
    assert caught.value.where == f"{path}, line 3"
    assert words in caught.value.what

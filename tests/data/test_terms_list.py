"""The list of terms that is shipped: the paper's Table 1, with forms, articles and remarks."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from plain_texts import comments

from testsgd.data import catalogue
from testsgd.data.text import (
    SensitiveTerms,
    Term,
    load_terms,
    resolve_terms,
    terms_file,
    terms_from_mapping,
)
from testsgd.errors import ParameterError

# Copied from the paper by hand.
TABLE_1 = {
    "gender": (
        "lesbian, gay, bisexual, transgender, trans, queer, lgbt, lgbtq, homosexual, straight, "
        "heterosexual, male, female, nonbinary"
    ),
    "race": (
        "african, african american, black, white, european, hispanic, latino, latina, latinx, "
        "mexican, canadian, american, asian, indian, middle eastern, chinese, japanese"
    ),
    "religion": (
        "christian, muslim, jewish, buddhist, catholic, protestant, sikh, taoist, atheist"
    ),
    "age": "old, older, young, younger, teenage, millennial, middle aged, elderly",
}


@pytest.fixture(scope="module")
def terms() -> SensitiveTerms:
    return load_terms()


@pytest.fixture(scope="module")
def by_name(terms: SensitiveTerms) -> dict[str, Term]:
    return {term.name: term for category in terms.categories for term in category.terms}


def test_the_terms_are_those_of_the_paper_in_its_order(terms: SensitiveTerms) -> None:
    seen = {category.name: [term.name for term in category.terms] for category in terms.categories}
    assert seen == {name: row.split(", ") for name, row in TABLE_1.items()}
    assert terms.names == tuple(TABLE_1)
    assert terms.sizes == (14, 17, 9, 8)
    assert sum(terms.sizes) == 48
    assert "TestSGD" in terms.source
    assert "Dixon" in terms.source


def test_no_form_stands_twice_and_all_are_written_plainly(terms: SensitiveTerms) -> None:
    forms = [
        form for category in terms.categories for term in category.terms for form in term.forms
    ]
    assert len(set(forms)) == len(forms)
    for form in forms:
        assert form == form.lower()
        assert form.split(" ") == form.split()


def test_plurals_are_regular(by_name: dict[str, Term]) -> None:
    for term in by_name.values():
        for plural in term.plural:
            if plural != f"{term.name} people":
                assert plural.endswith("s")
                assert term.name == "teenage" or plural[:-1] in _singulars(term)


def _singulars(term: Term) -> tuple[str, ...]:
    return tuple(form.replace("eastern", "easterner") for form in (term.name, *term.spellings))


def test_exceptions_contain_a_term_or_stand_before_one(terms: SensitiveTerms) -> None:
    words = {word for group in terms.categories for term in group.terms for word in term.forms}
    assert {"native american", "year old"} <= set(terms.exceptions)
    for written in terms.exceptions:
        assert written not in words
        parts = written.replace("-", " ").split()
        assert words & {*parts, " ".join(parts[-2:])}


@pytest.mark.parametrize(
    ("name", "forms"),
    [
        ("gay", {"gays"}),
        ("african american", {"african-american", "african americans", "african-americans"}),
        ("middle aged", {"middle-aged", "middle aged people"}),
        ("middle eastern", {"middle-eastern", "middle easterners", "middle-easterners"}),
        ("nonbinary", {"non-binary", "non binary", "nonbinary people"}),
        ("millennial", {"millenial", "millennials", "millenials"}),
        ("chinese", set()),
        ("jewish", {"jew", "jews"}),
        ("lgbtq", {"lgbtq people"}),
    ],
)
def test_other_forms(by_name: dict[str, Term], name: str, forms: set[str]) -> None:
    assert set(by_name[name].forms) - {name} == forms
    assert by_name[name].forms[0] == name


def test_articles_follow_the_sound(by_name: dict[str, Term]) -> None:
    """By ear, term by term: a European, an LGBT group, an old, an elderly, an Indian."""
    with_an = {
        *("lgbt", "lgbtq", "african", "african american", "american", "asian", "indian"),
        *("atheist", "old", "older", "elderly"),
    }
    assert {name for name, term in by_name.items() if term.article == "an"} == with_an


def test_terms_that_often_speak_of_something_else_are_marked(by_name: dict[str, Term]) -> None:
    for name in ("black", "white", "straight", "old", "young", "trans", "christian", "catholic"):
        assert by_name[name].ambiguous
    for name in ("lesbian", "muslim", "atheist", "elderly", "latina"):
        assert not by_name[name].ambiguous


def test_the_list_is_no_data_set() -> None:
    assert terms_file().is_file()
    assert "table-1" not in catalogue()


def test_a_copy_of_the_list_is_the_same_list(tmp_path: Path, terms: SensitiveTerms) -> None:
    copy = tmp_path / "mine.toml"
    copy.write_bytes(b"\xef\xbb\xbf" + terms_file().read_bytes())
    for source in (copy, str(copy)):
        assert load_terms(source) == terms
        assert load_terms(source).fingerprint() == terms.fingerprint()


def test_a_list_is_given_as_it_is_as_a_file_or_as_what_it_holds(tmp_path: Path) -> None:
    document = {"terms": {"name": "ages"}, "categories": {"age": {"old": {}, "young": {}}}}
    path = tmp_path / "terms.toml"
    path.write_text('terms.name = "ages"\n[categories.age]\nold = {}\nyoung = {}\n')
    expected = terms_from_mapping(document)
    specification = comments()
    for given in (document, path, str(path), expected):
        assert resolve_terms(given, specification) == expected
    assert load_terms(document) == expected
    for wrong in (["old"], 3):
        with pytest.raises(ParameterError) as raised:
            resolve_terms(wrong, specification)  # type: ignore[arg-type]
        assert raised.value.where == "terms"
        assert type(wrong).__name__ in str(raised.value)


def test_the_fingerprint_tells_lists_apart(terms: SensitiveTerms) -> None:
    """Every change of the content changes it, even one that moves a letter elsewhere."""
    old = {"plural": ["olds"], "spellings": ["auld"], "article": "an", "ambiguous": "of things"}
    document = {
        "terms": {"name": "n", "source": "s", "exceptions": ["x y"]},
        "categories": {"age": {"old": old}},
    }
    lists = [terms, terms_from_mapping(document)]
    changes = {"plural": [], "spellings": ["ol"], "article": "a", "ambiguous": ""}
    for key, value in changes.items():
        changed = {"age": {"old": old | {key: value}}}
        lists.append(terms_from_mapping(document | {"categories": changed}))
    headers = ({"name": "ns"}, {"name": "n", "source": ""}, {"name": "n", "source": "s"})
    lists.extend(terms_from_mapping(document | {"terms": header}) for header in headers)
    lists.append(dataclasses.replace(terms, categories=terms.categories[::-1]))
    assert len({item.fingerprint() for item in lists}) == len(lists)
    assert all(len(item.fingerprint()) == 64 for item in lists)


def test_what_a_person_writes_is_written_plainly() -> None:
    terms = terms_from_mapping(
        {
            "terms": {"name": "n"},
            "categories": {
                "a": {
                    " African\t American ": {"plural": ["African  Americans"]},
                    "Old": [],
                    "ÜBER": {"article": "a", "spellings": ["Ueber"]},
                    "50+": {},
                }
            },
        }
    )
    first, second, third, fourth = terms.categories[0].terms
    assert first == Term("african american", plural=("african americans",), article="an")
    assert second == Term("old", article="an")
    assert third == Term("über", spellings=("ueber",))
    assert fourth == Term("50+")
    assert terms.source == ""

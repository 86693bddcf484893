"""Sensitive terms: the words that say which group a text speaks of, in categories."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from testsgd.data.lookup import bundled_folder
from testsgd.data.schema_parts import Flag, Part, mistake
from testsgd.data.text.schema import TextSpecification
from testsgd.data.toml_document import parse_toml, read_toml_text, validated
from testsgd.errors import ParameterError


def plain_form(text: str) -> str:
    """Return a form of a term in lower case, its words apart by one blank."""
    return " ".join(text.lower().split())


class TermsHeader(Part):
    """What a list of terms is called and where it is from."""

    name: str = Field(description="the list's name, for the report")
    source: str = Field("", description="where the list is from, for the report")
    exceptions: list[str] = Field(
        default=[],
        description="fixed expressions in which no term is looked for, such as native american; "
        "a hyphen may stand for a blank",
    )
    neutral: dict[str, list[str]] = Field(
        default={},
        description="category -> neutral words that its terms are compared with, in the singular; "
        "if a category is not named: person, where its terms have plurals",
    )


class TermEntry(Part):
    """The forms of one term."""

    plural: list[str] = Field(
        default=[], description="forms of the plural; the first is written in place of a plural"
    )
    spellings: list[str] = Field(default=[], description="other ways to write the singular")
    article: Literal["a", "an"] | None = Field(
        None, description="indefinite article (an before a, e, i, o, u, else a)"
    )
    acronym: Flag = Field(
        False, description="spelled with capitals, which then do not say that a text shouts?"
    )
    ambiguous: str = Field("", description="what else the term may mean, for the report")


def _entry(value: Any) -> Any:
    return {"plural": value} if isinstance(value, list) else value


class TermsDocument(Part):
    """A list of sensitive terms: a table for each category, a key for each term."""

    terms: TermsHeader
    categories: dict[str, dict[str, Annotated[TermEntry, BeforeValidator(_entry)]]]

    @model_validator(mode="after")
    def _forms_are_distinct(self) -> TermsDocument:
        if not self.terms.name.strip():
            raise mistake(("terms", "name"), "give the list a name")
        if not self.categories:
            raise mistake("categories", "list the terms of each category under [categories.NAME]")
        seen: dict[str, tuple[str, str]] = {}
        for category, entries in self.categories.items():
            if not category.strip() or not entries:
                needed = "at least one term" if category.strip() else "a name"
                raise mistake(("categories", category), f"a category needs {needed}")
            for term, entry in entries.items():
                for key, form in _forms(term, entry):
                    where = ("categories", category, term, *key)
                    _check_form(form, where)
                    if form in seen:
                        first, twice = seen[form], f"{form!r} stands twice"
                        if first[0] != category:
                            twice = f"{form!r} is in two categories, {first[0]!r} and {category!r}"
                        elif first[1] != term:
                            twice = f"{twice}, at {first[1]!r} and at {term!r}"
                        raise mistake(where, twice)
                    seen[form] = (category, term)
        exceptions = [plain_form(written) for written in self.terms.exceptions]
        for number, form in enumerate(exceptions):
            at = ("terms", "exceptions", number)
            _check_form(form, at)
            if form in seen:
                category, term = seen[form]
                raise mistake(at, f"{form!r} is a form of the term {term!r} of {category!r}")
            if form in exceptions[:number]:
                raise mistake(at, f"{form!r} stands twice")
        self._neutral_words_are_usable(seen)
        return self

    def _neutral_words_are_usable(self, forms: Mapping[str, tuple[str, str]]) -> None:
        """Check that neutral words are of known categories and are no `forms` of terms."""
        for category, words in self.terms.neutral.items():
            where = ("terms", "neutral", category)
            if category not in self.categories:
                raise mistake(where, f"there is no category {category!r}")
            for number, word in enumerate(words):
                _check_form(plain_form(word), (*where, number))
                if plain_form(word) in forms:
                    raise mistake((*where, number), f"{word!r} is a term, and so not neutral")


def _forms(term: str, entry: TermEntry) -> list[tuple[tuple[str, ...], str]]:
    """Return each form of a term and the key it is written under."""
    spellings = [(("spellings",), plain_form(form)) for form in entry.spellings]
    plurals = [(("plural",), plain_form(form)) for form in entry.plural]
    return [((), plain_form(term)), *spellings, *plurals]


def _check_form(form: str, where: tuple[str | int, ...]) -> None:
    if not any(character.isalnum() for character in form):
        raise mistake(where, f"{form!r} is no term: it has no letter and no digit")


@dataclass(frozen=True)
class Term:
    """A sensitive term and the forms in which a text may have it.

    Examples
    --------
    >>> Term("teenager", plural=("teenagers",), spellings=("teen-ager",)).forms
    ('teenager', 'teen-ager', 'teenagers')
    """

    name: str  # The singular, in lower case, words apart by one blank.
    plural: tuple[str, ...] = ()  # The first is written where a plural is replaced.
    spellings: tuple[str, ...] = ()  # Other ways to write the singular.
    article: Literal["a", "an"] = "a"  # The indefinite article before the term.
    ambiguous: str = ""  # What else it may mean; empty if it nearly always speaks of people.
    acronym: bool = False  # True: its capitals are how it is spelled, not how loud the text is.

    @property
    def forms(self) -> tuple[str, ...]:
        """All forms: the name, its other spellings, the plurals."""
        return (self.name, *self.spellings, *self.plural)


@dataclass(frozen=True)
class TermCategory:
    """A category of sensitive terms, such as religion, with the neutral words for them."""

    name: str
    terms: tuple[Term, ...]  # In the order of the list.
    # Neutral words that the terms are compared with; None: the list names none.
    neutral: tuple[str, ...] | None = None


@dataclass(frozen=True)
class SensitiveTerms:
    """A list of sensitive terms by category, in which no form stands twice.

    :func:`load_terms` reads one from a TOML file, :func:`terms_from_mapping` from a mapping.

    Examples
    --------
    >>> ages = TermCategory("age", (Term("old", article="an"), Term("teenager", ("teenagers",))))
    >>> terms = SensitiveTerms("two ages", "an example", (ages,))
    >>> terms.names, terms.sizes
    (('age',), (2,))
    """

    name: str
    source: str  # Where it is from.
    categories: tuple[TermCategory, ...]  # In the order of the list.
    # Fixed expressions that contain a term and do not count as a mention of it.
    exceptions: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the categories, in their order."""
        return tuple(category.name for category in self.categories)

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms, in the order of the categories."""
        return tuple(term for category in self.categories for term in category.terms)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of terms of each category."""
        return tuple(len(category.terms) for category in self.categories)

    def fingerprint(self) -> str:
        """Return the sha256 of the whole content."""
        document = asdict(self)
        for category in document["categories"]:
            # Lists that name no neutral words have the fingerprint that they had without them.
            if category["neutral"] is None:
                del category["neutral"]
        content = json.dumps(document, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(content.encode()).hexdigest()


def terms_file() -> Path:
    """Return the path of the list that is shipped with the package, to be copied and changed.

    It is Table 1 of the TestSGD paper.

    Returns
    -------
    pathlib.Path

    Examples
    --------
    >>> terms_file().name
    'table-1.toml'
    """
    return bundled_folder("datasets") / "terms" / "table-1.toml"


def load_terms(source: Mapping[str, Any] | str | Path | None = None) -> SensitiveTerms:
    """Read a list of sensitive terms.

    Parameters
    ----------
    source : mapping, str or path-like, optional
        A TOML file, or what it would hold, as :func:`terms_from_mapping` reads it; None for Table 1
        of the TestSGD paper, which is shipped with the package.

    Returns
    -------
    SensitiveTerms

    Raises
    ------
    SpecificationError
        If the file is missing or is no list of terms; the message names the key and the line.
    ParameterError
        If it is neither a file nor a mapping.

    References
    ----------
    Zhang, Sun, Wang and Sun, TestSGD: Interpretable Testing of Neural Networks Against Subtle Group
    Discrimination, Table 1.

    Examples
    --------
    >>> terms = load_terms()
    >>> dict(zip(terms.names, terms.sizes))
    {'gender': 14, 'race': 17, 'religion': 9, 'age': 8}
    >>> terms.categories[1].terms[1].forms
    ('african american', 'african-american', 'african americans', 'african-americans')
    """
    if isinstance(source, Mapping):
        return terms_from_mapping(source)
    if source is not None and not isinstance(source, str | os.PathLike):
        raise ParameterError(
            f"a list of terms is a TOML file or what it holds, not {type(source).__name__}",
            where="terms",
            remedy="give the path of a file, a mapping with the keys `terms` and `categories`, or "
            "what testsgd.load_terms returns",
        )
    path = terms_file() if source is None else Path(source)
    text = read_toml_text(path, purpose="lists sensitive terms")
    document = parse_toml(text, where=str(path))
    return _terms(validated(TermsDocument, document, text=text, where=str(path)))


def terms_from_mapping(document: Mapping[str, Any]) -> SensitiveTerms:
    """Read a list of sensitive terms from a mapping with the keys of the TOML format.

    Parameters
    ----------
    document : mapping
        ``"terms"``: what the list is called and where it is from. ``"categories"``: from each
        category to its terms, each with its plurals or a mapping of its forms.

    Returns
    -------
    SensitiveTerms

    Raises
    ------
    SpecificationError
        If it is no list of terms; the message names the key.

    Examples
    --------
    >>> terms = terms_from_mapping({
    ...     "terms": {"name": "two ages"},
    ...     "categories": {"age": {"old": {}, "teenager": ["teenagers"]}},
    ... })
    >>> [term.article for term in terms.categories[0].terms]
    ['an', 'a']
    """
    return _terms(validated(TermsDocument, dict(document), where="terms"))


def _terms(document: TermsDocument) -> SensitiveTerms:
    return SensitiveTerms(
        name=document.terms.name,
        source=document.terms.source,
        categories=tuple(
            TermCategory(
                name,
                tuple(_term(term, entry) for term, entry in entries.items()),
                _neutral(document.terms.neutral.get(name)),
            )
            for name, entries in document.categories.items()
        ),
        exceptions=tuple(map(plain_form, document.terms.exceptions)),
    )


def _neutral(words: list[str] | None) -> tuple[str, ...] | None:
    return None if words is None else tuple(map(plain_form, words))


def _term(name: str, entry: TermEntry) -> Term:
    plain = plain_form(name)
    return Term(
        name=plain,
        plural=tuple(map(plain_form, entry.plural)),
        spellings=tuple(map(plain_form, entry.spellings)),
        article=entry.article or ("an" if plain[0] in "aeiou" else "a"),
        ambiguous=entry.ambiguous,
        acronym=entry.acronym,
    )


def resolve_terms(
    terms: SensitiveTerms | Mapping[str, Any] | str | Path | None,
    specification: TextSpecification,
) -> SensitiveTerms:
    """Return the list of sensitive terms: the user's, the description's, or the paper's.

    Parameters
    ----------
    terms : SensitiveTerms, mapping, path-like or None
        The user's list, a TOML file of one, or what the file would hold.
    specification : TextSpecification
        The data set, whose own list is read where `terms` is None. If it names none, it is Table 1
        of the TestSGD paper.

    Returns
    -------
    SensitiveTerms

    Raises
    ------
    SpecificationError
        If the file is missing or is no list of terms.
    ParameterError
        If it is none of these.
    """
    if isinstance(terms, SensitiveTerms):
        return terms
    return load_terms(specification.terms if terms is None else terms)

"""The format of a list of sensitive terms."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from testsgd.data.schema_parts import Flag, Part, mistake


def plain_form(text: str) -> str:
    """Write a form of a term in lower case, its words apart by one blank.

    Examples
    --------
    >>> plain_form(" African  American ")
    'african american'
    """
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

    @model_validator(mode="after")
    def _has_a_name(self) -> TermsHeader:
        if not self.name.strip():
            raise mistake("name", "give the list a name")
        return self


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
    def _forms_are_told_apart(self) -> TermsDocument:
        if not self.categories:
            raise mistake("categories", "list the terms of each category under [categories.NAME]")
        seen: dict[str, tuple[str, str]] = {}
        for category, entries in self.categories.items():
            if not category.strip():
                raise mistake(("categories", category), "a category needs a name")
            if not entries:
                raise mistake(("categories", category), "a category needs at least one term")
            for term, entry in entries.items():
                for key, form in _forms(term, entry):
                    place = ("categories", category, term, *key)
                    _check_form(form, place)
                    if form in seen:
                        raise mistake(place, _twice(form, seen[form], (category, term)))
                    seen[form] = (category, term)
        excepted: set[str] = set()
        for number, written in enumerate(self.terms.exceptions):
            where = ("terms", "exceptions", number)
            form = plain_form(written)
            _check_form(form, where)
            if form in seen:
                category, term = seen[form]
                raise mistake(where, f"{form!r} is a form of the term {term!r} of {category!r}")
            if form in excepted:
                raise mistake(where, f"{form!r} stands twice")
            excepted.add(form)
        return self


def _forms(term: str, entry: TermEntry) -> list[tuple[tuple[str, ...], str]]:
    """Give each form of a term and the key it is written under."""
    return [
        ((), plain_form(term)),
        *((("spellings",), plain_form(form)) for form in entry.spellings),
        *((("plural",), plain_form(form)) for form in entry.plural),
    ]


def _check_form(form: str, place: tuple[str | int, ...]) -> None:
    if not any(character.isalnum() for character in form):
        raise mistake(place, f"{form!r} is no term: it has no letter and no digit")


def _twice(form: str, first: tuple[str, str], second: tuple[str, str]) -> str:
    if first[0] != second[0]:
        return f"{form!r} is in two categories, {first[0]!r} and {second[0]!r}"
    if first[1] != second[1]:
        return f"{form!r} stands twice, at {first[1]!r} and at {second[1]!r}"
    return f"{form!r} stands twice"

"""The parts of a summary about sensitive terms, and where texts mention them."""

from __future__ import annotations

from pydantic import Field

from testsgd.reporting.parts import Part


class Snippet(Part):
    """A place of a text at which a sensitive term stands."""

    before: str = Field(description="what stands before the term, cut at a blank")
    term: str = Field(description="the term, as the text writes it")
    after: str = Field(description="what stands after it, cut at a blank")


class TermSummary(Part):
    """One sensitive term, and how the texts use it."""

    term: str = Field(description="the term")
    forms: list[str] = Field(description="its plurals and other spellings, which count as it")
    ambiguous: str = Field("", description="what else it often means; empty if nothing is known")
    texts: int = Field(ge=0, description="texts that contain it")
    mentions: int = Field(ge=0, description="how often it stands in them")
    share: float = Field(ge=0, le=1, description="share of the mentions of its category")
    rate: float | None = Field(
        None, description="rate with this term in place; null if its category is not frequent"
    )
    as_nonsense: bool | None = Field(
        None,
        description="is every text answered with this term as with a nonsense word? null if that "
        "was not asked",
    )
    known_to_model: bool | None = Field(
        None, description="does the model know every word of it? null if the model does not say"
    )
    snippets: list[Snippet] = Field(default_factory=list, description="some of its places")


class TermCategorySummary(Part):
    """One category of sensitive terms."""

    name: str = Field(description="the category")
    texts: int = Field(ge=0, description="texts that contain a term of it")
    share: float = Field(ge=0, le=1, description="share of all texts")
    mentions: int = Field(ge=0, description="how often its terms stand in the texts")
    nonsense_rate: float | None = Field(
        None, ge=0, le=1, description="rate with a nonsense word in place; null if it was not asked"
    )
    terms: list[TermSummary] = Field(description="its terms, as listed")


class TermsSummary(Part):
    """The sensitive terms, and where the texts mention them."""

    name: str = Field(description="name of the list")
    source: str = Field(description="where the list is from")
    fingerprint: str = Field(description="sha256 of the list")
    nonsense: str | None = Field(None, description="the nonsense word; null if there was none")
    exceptions: list[str] = Field(
        default_factory=list, description="fixed expressions in which no term was looked for"
    )
    texts: int = Field(ge=0, description="texts that contain any of the terms")
    snippets_shown: bool = Field(description="false: the texts were not to be shown")
    categories: list[TermCategorySummary] = Field(description="in the order of the list")

"""The sensitive terms of texts, as they stand in the document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from testsgd.auditing.report.controls import ControlsSummary
from testsgd.report.summaries import (
    Count,
    Part,
    Share,
)

if TYPE_CHECKING:
    from testsgd.data.text import SensitiveTerms


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
    texts: Count = Field(description="texts that contain it")
    mentions: Count = Field(description="how often it stands in them")
    share: Share = Field(description="share of the mentions of its category")
    rate: Share | None = Field(
        None, description="rate with this term in place; null if its category is not frequent"
    )
    as_nonsense: bool | None = Field(
        None, description="is every text answered as with a nonsense word? null if not asked"
    )
    known_to_model: bool | None = Field(
        None,
        description="can the model tell it from a nonsense word, by its vocabulary? null if the "
        "model does not say",
    )
    snippets: list[Snippet] = Field(default_factory=list, description="some of its places")


class TermCategorySummary(Part):
    """One category of sensitive terms."""

    name: str = Field(description="the category")
    texts: Count = Field(description="texts that contain a term of it")
    share: Share = Field(description="share of all texts")
    mentions: Count = Field(description="how often its terms stand in the texts")
    nonsense_rate: Share | None = Field(
        None, description="rate with a nonsense word in place; null if it was not asked"
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
    texts: Count = Field(description="texts that contain any of the terms")
    snippets_shown: bool = Field(description="false: no places were asked for")
    categories: list[TermCategorySummary] = Field(description="in the order of the list")
    controls: ControlsSummary | None = Field(
        None, description="what the terms change against neutral words; null in old documents"
    )

    def as_listed(self) -> SensitiveTerms:
        """Return the list of terms, as far as texts are searched by it."""
        # Loaded by those who search texts, not by every command.
        from testsgd.data.text import SensitiveTerms, Term, TermCategory

        return SensitiveTerms(
            self.name,
            self.source,
            tuple(
                TermCategory(
                    category.name,
                    tuple(Term(item.term, spellings=tuple(item.forms)) for item in category.terms),
                )
                for category in self.categories
            ),
            tuple(self.exceptions),
        )

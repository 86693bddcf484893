"""How texts are spoken of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from testsgd.report.formatting import count, percent, plural, series
from testsgd.reporting.summary import GroupSummary, RuleSummary, TermsSummary
from testsgd.reporting.text.sentences import (
    ambiguity,
    not_known,
    of_the_terms,
    own_difference,
    unknown_words,
)
from testsgd.reporting.words import Described, Words


class TextWords(Words):
    """The words for texts, which need not be about people."""

    kind = "texts"
    one = "text"
    many = "texts"
    others = "other texts"
    every = "every text"
    no = "no text"
    rule = "term"
    rows_figure = "Texts"
    support = "the share of all texts that have a term of each category of the group"
    members = "The texts in it"
    nothing_frequent = "No category has a term in at least {} texts."
    nothing_outside = "no text is outside"
    exactly = "every seed was predicted with the group's terms, and every text as it is"
    feature = "term"
    features = "terms"
    frequent = "Frequent: at least {} texts have a term of each category"
    generated = "Generated texts that the texts allow, at most"
    estimands: ClassVar[Mapping[str, str]] = {
        "observed": "Among the texts as they are",
        "neighbourhood": "With terms put in place of others",
    }
    combination = "combination of categories of terms"
    combinations = "combinations of categories of terms"
    variation = "how sets of terms of the same categories differ in their effects"

    def target(self, group: Described) -> str:
        """Say which texts are in a group."""
        return f"texts with {group.text}"

    def sides(self, group: GroupSummary) -> str:
        """Say how many texts a group is generated from and how many are outside, without a verb."""
        texts = plural(group.n_in, "text")
        return f"the {texts} that the group is generated from and {count(group.n_out)} outside"

    def size(self, group: GroupSummary) -> str:
        """Say in a sentence what a group is generated from, and what is outside."""
        single = len(group.rules) == 1
        categories = series([rule.feature for rule in group.rules])
        have = "has" if group.n_in == 1 else "have"
        are = (
            "is the text that does"
            if group.n_out == 1
            else f"are the {count(group.n_out)} texts that do"
        )
        return (
            f"Generated from the {plural(group.n_in, 'text')} that {have} "
            f"{'a term' if single else 'terms'} of {categories}, {percent(group.support)} of all. "
            f"Outside {are} not contain {'the term' if single else 'all of these terms'}."
        )

    def rule_in_words(self, rule: RuleSummary) -> str:
        """Say what a rule puts into the texts, as a phrase."""
        return f"{rule.text} in place of every term of {rule.feature}" if rule.values else rule.text

    def own_part(self, group: GroupSummary, label: str) -> str:
        """Say how much of a group's difference is its terms' own."""
        return of_the_terms(group, label)

    def by_terms(self, group: GroupSummary, label: str) -> list[str]:
        """Say first what a group's terms change by themselves, then the difference from others."""
        return own_difference(group, label)

    def beside_top(
        self, group: GroupSummary, label: str, terms: TermsSummary | None, *, own: bool = True
    ) -> list[str]:
        """Say how much is the terms' own, and whether terms are ambiguous or unknown."""
        sentences = [self.own_part(group, label)] if own else []
        if terms is not None:
            sentences += [ambiguity(group, terms), unknown_words(group, terms), not_known(terms)]
        return [sentence for sentence in sentences if sentence]

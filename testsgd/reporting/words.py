"""How the kinds of data are spoken of: what differs between rows and texts in a report's words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Literal, Protocol

from testsgd.reporting.summary import GroupSummary, RuleSummary, TermsSummary


class Described(Protocol):
    """A group that says who is in it, whatever else is known of it."""

    @property
    def text(self) -> str:
        """Give the rules as people write them."""


class Words(ABC):
    """The words for one kind of data; what is said of both kinds alike is no part of it.

    Attributes
    ----------
    kind : {"rows", "texts"}
        The kind of data.
    one, many : str
        One piece of data, and several.
    others : str
        Who a group is compared with.
    every, no : str
        All that the model was asked about, and none of it.
    rule : str
        What a rule is called.
    rows_figure : str
        The name of the number of rows.
    support : str
        What a group's support is a share of.
    members : str
        The heading above the rules of a group.
    nothing_frequent : str
        What is said if there is no frequent group; holds a place for the smallest support.
    nothing_outside : str
        What is said where no row is outside.
    exactly : str
        Why an exact audit has no sampling margin.
    feature, features : str
        What rates are given by, one and several.
    frequent : str
        The name of the number of frequent rule sets; holds a place for the smallest support.
    generated : str
        The name of the number of rows that the data let an audit generate.
    estimands : mapping of str to str
        What rates are by each estimand, as the beginning of a sentence.
    combination, combinations : str
        What a rule set of single values is called, one and several.
    variation : str
        What explaining rules explain.
    """

    kind: ClassVar[Literal["rows", "texts"]]
    one: ClassVar[str]
    many: ClassVar[str]
    others: ClassVar[str]
    every: ClassVar[str]
    no: ClassVar[str]
    rule: ClassVar[str]
    rows_figure: ClassVar[str]
    support: ClassVar[str]
    members: ClassVar[str]
    nothing_frequent: ClassVar[str]
    nothing_outside: ClassVar[str]
    exactly: ClassVar[str]
    feature: ClassVar[str]
    features: ClassVar[str]
    frequent: ClassVar[str]
    generated: ClassVar[str]
    estimands: ClassVar[Mapping[str, str]]
    combination: ClassVar[str]
    combinations: ClassVar[str]
    variation: ClassVar[str]

    @abstractmethod
    def target(self, group: Described) -> str:
        """Say who is in a group, to stand behind "for"."""

    @abstractmethod
    def sides(self, group: GroupSummary) -> str:
        """Say how many rows there are inside a group and outside, without a verb."""

    @abstractmethod
    def size(self, group: GroupSummary) -> str:
        """Say in a sentence how large a group is."""

    @abstractmethod
    def rule_in_words(self, rule: RuleSummary) -> str:
        """Say what a rule asks for, as a phrase."""

    def own_part(self, group: GroupSummary, label: str) -> str:
        """Say how much of a group's difference is its terms' own; empty for rows."""
        return ""

    def beside_top(
        self, group: GroupSummary, label: str, terms: TermsSummary | None, *, own: bool = True
    ) -> list[str]:
        """Say what else to know of the first group, sentence by sentence.

        `own` is False where the terms' own part is told already.
        """
        return []

    def by_terms(self, group: GroupSummary, label: str) -> list[str]:
        """Say first what a group's terms change by themselves; rows have no terms."""
        return []

"""What the document says of looks beyond the search.

These are looks at groups of more features, at finer cuts of numbers, within slices of other
features, and among people who are alike.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from testsgd.auditing.findings import TableFindings
from testsgd.auditing.finer import FinerSearch
from testsgd.auditing.slices import WithinSlice
from testsgd.report.blocks import Block, Cell, Only, Paragraph
from testsgd.report.formatting import (
    brief_rules,
    confidence,
    count,
    how_often,
    interval,
    percent,
    plural,
    points,
    series,
)
from testsgd.report.listing import Listed, listing
from testsgd.report.summaries import (
    Count,
    Difference,
    Part,
    RuleSummary,
    Share,
    brief_group,
    check_equal_lengths,
)
from testsgd.rules import RuleSet
from testsgd.scoring import distinct_groups

# Groups that the document has within their slices, and of how many they are chosen.
_SHOWN = 10
_CANDIDATES = 200
_TEXT_LIMIT = 160


class WithinGroup(Part):
    """A group within the slice of other features in which it differs most."""

    text: str = Field(description="the group's rules as people write them")
    rules: list[RuleSummary] = Field(default_factory=list, description="the rules; all hold")
    slice: str = Field(description="the slice as people write it")
    n_in: Count = Field(description="rows of the slice in the group")
    n_out: Count = Field(description="rows of the slice in its complement")
    rate_in: Share = Field(description="selection rate of the former")
    rate_out: Share = Field(description="selection rate of the latter")
    difference: Difference = Field(description="the former rate minus the latter")
    confidence_interval: tuple[Difference, Difference] = Field(
        description="confidence interval of that difference"
    )
    lower_confidence_bound: Share = Field(description="of the size of the difference")
    overall_difference: Difference = Field(description="the group's difference over all rows")


class WithinSummary(Part):
    """What a search within slices of other features found."""

    features: list[str] = Field(description="features that slices are of")
    slices: Count = Field(description="slices in which groups were compared")
    depth: Count = Field(description="features that a slice is of, at most")
    compared: Count = Field(description="groups compared within slices; all intervals hold at once")
    largest: Share | None = Field(description="largest size of a difference; null if none")
    largest_bound: Share = Field(description="largest lower confidence bound")
    largest_allowed: Share = Field(description="largest difference that an interval allows")
    groups: list[WithinGroup] = Field(
        description="groups, each within its own slice, those with the largest bounds first, near "
        "copies left out"
    )

    @property
    def first(self) -> WithinGroup | None:
        """The group with the largest lower confidence bound, if one is above zero."""
        if not self.groups or self.groups[0].lower_confidence_bound <= 0:
            return None
        return self.groups[0]


class FurtherGroup(Part):
    """The group with the largest lower confidence bound of a further look."""

    compared: Count = Field(description="groups compared")
    confidence: Share = Field(description="confidence with which all intervals hold at once")
    text: str = Field(description="the group with the largest lower confidence bound")
    rules: list[RuleSummary] = Field(default_factory=list, description="its rules; all hold")
    n_in: Count = Field(description="rows in that group")
    rate_in: Share = Field(description="its rate")
    rate_out: Share = Field(description="that of its complement")
    difference: Difference = Field(description="the former rate minus the latter")
    confidence_interval: tuple[Difference, Difference] = Field(
        description="confidence interval of that difference"
    )
    lower_confidence_bound: Share = Field(description="of the size of the difference")

    @property
    def comparison_note(self) -> str:
        """How many groups were compared, and with which confidence."""
        return f"{plural(self.compared, 'group')}, with {confidence(self.confidence)} confidence"

    @property
    def first(self) -> str:
        """The group, if its difference is significant, to be put behind that none is larger."""
        if not self.lower_confidence_bound:
            return ""
        return f"; the first is {brief_group(self, _TEXT_LIMIT)}, {points(self.difference)}"

    @property
    def finding(self) -> str:
        """The group with its rates, as a part of a sentence."""
        return (
            f"the largest lower confidence bound is that for {brief_group(self, _TEXT_LIMIT)}: "
            f"{how_often(self.difference)} ({percent(self.rate_in)} against "
            f"{percent(self.rate_out)}), interval {interval(self.confidence_interval)}"
        )


class FinerSummary(FurtherGroup):
    """What a second look at sensitive numbers, with finer cuts, found."""

    features: list[str] = Field(description="the numbers")
    bins: list[Count] = Field(description="into how many bins each was cut")

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        check_equal_lengths({"features": self.features, "bins": self.bins})
        return self

    @property
    def cuts(self) -> str:
        """The numbers, with how many bins each has, as a part of a sentence."""
        numbers = zip(self.features, self.bins, strict=True)
        return series([f"{name} ({count(bins)} bins)" for name, bins in numbers])


class DeeperSummary(FurtherGroup):
    """What a look at groups of more features than were searched, by single values, found."""

    depth: Count = Field(description="features of the longest conjunctions that were compared")
    complete: bool = Field(description="whether all that have enough rows were")


def _rules_of(rule_set: RuleSet) -> list[RuleSummary]:
    return [RuleSummary.model_validate(rule.to_json()) for rule in rule_set.rules]


def finer_summary(search: FinerSearch | None) -> FinerSummary | None:
    """Return what finer cuts of numbers show; None if nothing was looked for."""
    if search is None or search.first is None:
        return None
    rates = search.first.rates
    return FinerSummary(
        features=list(search.features),
        bins=list(search.bins),
        compared=search.compared,
        confidence=search.confidence,
        text=search.first.rule_set.text,
        rules=_rules_of(search.first.rule_set),
        n_in=rates.rows_in,
        rate_in=rates.rate_in,
        rate_out=rates.rate_out,
        difference=rates.difference,
        confidence_interval=rates.interval,
        lower_confidence_bound=rates.lower_bound,
    )


def deeper_summary(findings: TableFindings) -> DeeperSummary | None:
    """Return what groups of more features show; None if nothing was looked for."""
    search = findings.deeper
    if search is None:
        return None
    rates = search.rates
    return DeeperSummary(
        depth=search.depth,
        complete=search.complete,
        compared=search.compared,
        confidence=search.confidence,
        text=search.rule_set.text,
        rules=_rules_of(search.rule_set),
        n_in=rates.rows_in,
        rate_in=rates.rate_in,
        rate_out=rates.rate_out,
        difference=rates.difference,
        confidence_interval=rates.interval,
        lower_confidence_bound=rates.lower_bound,
    )


def finer_sentences(finer: FinerSummary | None, *, over_all: float) -> list[str]:
    """Write what finer cuts show, if it is more than the bound over all; else how fine they are."""
    if finer is None:
        return []
    if finer.lower_confidence_bound > over_all:
        return [f"With finer cuts of {finer.cuts} {finer.finding} ({finer.comparison_note})."]
    nothing = f"With finer cuts of {finer.cuts} no group stands out more"
    return [f"{nothing}{finer.first} ({finer.comparison_note})."]


def deeper_sentences(deeper: DeeperSummary | None, *, searched: int, over_all: float) -> list[str]:
    """Write what groups of more features show, and which of them were looked at."""
    if deeper is None:
        return []
    looked = (
        f"Groups of more than {plural(searched, 'feature')} were looked at by single values, up to "
        f"{plural(deeper.depth, 'feature')}"
    )
    if not deeper.complete:
        looked += ", as those of more are too many"
    if deeper.lower_confidence_bound <= over_all:
        return [f"{looked}: none stands out more{deeper.first} ({deeper.comparison_note})."]
    return [f"{looked}: {deeper.finding} ({deeper.comparison_note})."]


class ConditionalSummary(Part):
    """All groups compared with others that are alike in chosen features."""

    features: list[str] = Field(description="the features whose mix is made the same")
    compared: Count = Field(description="groups compared; all intervals hold at once")
    text: str = Field(description="the group with the largest lower confidence bound")
    difference: Difference = Field(description="its rate less that of others alike")
    confidence_interval: tuple[Difference, Difference] = Field(
        description="confidence interval of that difference"
    )
    covered: Share = Field(description="share of its rows like which there are others outside")
    largest: Share = Field(description="largest size of a difference of all groups")
    largest_bound: Share = Field(description="largest lower confidence bound")
    largest_allowed: float = Field(description="largest difference that an interval allows")


def conditional_summary(findings: TableFindings) -> ConditionalSummary | None:
    """Return what the comparison with others alike shows; None if there was none."""
    search = findings.conditional
    if search is None or not len(search.compared):
        return None
    bounds = search.lower_bounds
    sizes = np.abs(search.difference[search.compared])
    # If no bound is above zero, the largest difference.
    first = int(search.compared[np.lexsort((-sizes, -bounds[search.compared]))[0]])
    return ConditionalSummary(
        features=list(search.features),
        compared=len(search.compared),
        text=findings.rule_set(first).text,
        difference=float(search.difference[first]),
        confidence_interval=search.interval(first),
        covered=float(search.covered[first]),
        largest=float(sizes.max()),
        largest_bound=float(bounds.max()),
        largest_allowed=float(np.max(sizes + search.margin[search.compared])),
    )


def conditional_sentences(conditional: ConditionalSummary | None) -> list[str]:
    """Write which group differs most from others that are alike; nothing if it is not known."""
    if conditional is None:
        return []
    alike = f"Compared with others of the same mix of {series(conditional.features)}"
    compared = plural(conditional.compared, "group")
    note = f"{compared} compared, whose intervals hold at once (Bonferroni)"
    if not conditional.largest_bound:
        return [f"{alike}, no group differs significantly ({note})."]
    return [
        f"{alike}, the largest lower confidence bound is that for "
        f"{brief_rules(conditional.text, _TEXT_LIMIT)}: {how_often(conditional.difference)}, "
        f"interval {interval(conditional.confidence_interval)} ({note})."
    ]


def within_summary(findings: TableFindings) -> WithinSummary | None:
    """Return what the search within slices shows; None if there was none."""
    search = findings.slices
    if search is None:
        return None
    observed = findings.estimates
    for other in findings.others:
        if other.estimand == "observed":
            observed = other.estimates
    groups = []
    for index in _distinct(findings, search.found[:_CANDIDATES]):
        item = search.found[index]
        groups.append(
            WithinGroup(
                text=findings.rule_set(item.group).text,
                rules=_rules_of(findings.rule_set(item.group)),
                slice=item.slice.text,
                n_in=item.rates.rows_in,
                n_out=item.rates.rows_out,
                rate_in=item.rates.rate_in,
                rate_out=item.rates.rate_out,
                difference=item.rates.difference,
                confidence_interval=item.rates.interval,
                lower_confidence_bound=item.rates.lower_bound,
                overall_difference=float(observed.difference[item.group]),
            )
        )
    ends = [abs(end) for item in search.found for end in item.rates.interval]
    return WithinSummary(
        features=list(search.features),
        slices=search.slices,
        depth=search.depth,
        compared=search.compared,
        largest=search.largest,
        largest_bound=search.largest_bound,
        largest_allowed=max(ends, default=0.0),
        groups=groups,
    )


def _distinct(findings: TableFindings, candidates: tuple[WithinSlice, ...]) -> list[int]:
    """Return the places of the first groups within slices, near copies of one before left out."""
    if not candidates:
        return []
    cell_of_row = findings.contingency.cell_of_row
    groups = np.array([item.group for item in candidates], dtype=np.intp)
    members = findings.rule_sets.members(groups, findings.contingency)
    in_slice = {item.slice: item.slice.matches(findings.table) for item in candidates}

    def rows(index: int) -> NDArray[np.bool_]:
        """Return which rows of the table are in a group within its slice, shape (rows,)."""
        return np.asarray(members[index][cell_of_row] & in_slice[candidates[index].slice])

    def overlaps(first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return Jaccard's index of each of the first with each of the second groups."""
        shares = np.zeros((len(first), len(second)))
        for column, second_group in enumerate(second):
            rows_second = rows(int(second_group))
            for row, first_group in enumerate(first):
                rows_first = rows(int(first_group))
                either = (rows_first | rows_second).sum()
                shares[row, column] = (rows_first & rows_second).sum() / max(1, either)
        return shares

    return distinct_groups(
        np.arange(len(candidates)),
        overlaps,
        overlap=findings.parameters.overlap,
        limit=_SHOWN,
        block=16,
    )


def within_sentences(within: WithinSummary, *, is_headline: bool) -> list[str]:
    """Write what a search within slices found, and what its intervals hold for."""
    searched = (
        f"Within {plural(within.slices, 'slice')} of {series(within.features)}"
        f"{', of up to two of them,' if within.depth > 1 else ''}"
    )
    if not within.compared:
        return [f"{searched} no group has enough rows on both sides to be compared."]
    note = f"{plural(within.compared, 'comparison')}, whose intervals hold at once (Bonferroni)"
    group = within.first
    if group is None:
        return [f"{searched} no group differs significantly ({note})."]
    if is_headline:
        return [
            "The confidence interval of the group's difference there is "
            f"{interval(group.confidence_interval)} points ({plural(group.n_in, 'row')} in the "
            f"group, {count(group.n_out)} others there; one of {note}). Over all rows the group's "
            f"difference is {points(group.overall_difference)}."
        ]
    return [
        f"{searched} the largest lower confidence bound is that for "
        f"{brief_group(group, _TEXT_LIMIT)} within {brief_rules(group.slice, _TEXT_LIMIT)}: "
        f"{how_often(group.difference)}, interval {interval(group.confidence_interval)} ({note})."
    ]


def within_blocks(within: WithinSummary) -> tuple[Block, ...]:
    """Lay a search within slices out for the report."""
    name = "Groups within the slices in which they differ most"
    on_page: list[Listed[WithinGroup]] = [
        Listed("Group, slice", lambda item: Cell(item.text, (f"within {item.slice}",)), "name"),
        Listed("Rows, others", lambda item: Cell(count(item.n_in), (count(item.n_out),))),
        Listed("Rate, others", lambda item: Cell(percent(item.rate_in), (percent(item.rate_out),))),
        Listed(
            "Difference, interval",
            lambda item: Cell(points(item.difference), (interval(item.confidence_interval),)),
            "strong",
        ),
        Listed("Over all rows", lambda item: points(item.overall_difference)),
    ]
    in_markdown: list[Listed[WithinGroup]] = [
        Listed("Group", lambda item: item.text, "name"),
        Listed("Within", lambda item: item.slice, "text"),
        Listed("Rows", lambda item: count(item.n_in)),
        Listed("Others", lambda item: count(item.n_out)),
        Listed("Rate", lambda item: percent(item.rate_in)),
        Listed("Of the others", lambda item: percent(item.rate_out)),
        Listed("Difference", lambda item: points(item.difference), "strong"),
        Listed("Interval", lambda item: interval(item.confidence_interval)),
        Listed("Over all rows", lambda item: points(item.overall_difference)),
    ]
    sentences = [Paragraph(text) for text in within_sentences(within, is_headline=False)]
    return (
        *sentences,
        Only("html", (listing(name, within.groups, on_page),)),
        Only("markdown", (listing(name, within.groups, in_markdown),)),
    )

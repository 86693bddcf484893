"""What the terms change by themselves, and what is doubtful about them, in sentences."""

from __future__ import annotations

from testsgd.report.formatting import (
    how_often,
    interval,
    is_nothing,
    percent,
    plural,
    series,
    signed,
    size_points,
)
from testsgd.reporting.summary import CounterfactualSummary, GroupSummary, TermsSummary, TermSummary

# Of ambiguous terms so many are named, those with most mentions.
_NAMED = 3


def of_the_terms(group: GroupSummary, label: str) -> str:
    """Say how much of a group's difference is the terms' own.

    The difference from other texts has two parts: what changes when the same texts get other terms,
    and what is left then. The second part is there whichever terms stand in these texts.

    Parameters
    ----------
    group : GroupSummary
        The group.
    label : str
        The favourable label.

    Returns
    -------
    str
        One or two sentences.
    """
    found = group.counterfactual
    categories = series([rule.feature for rule in group.rules])
    if found is None:
        return (
            f"How much of that is the {_terms(group)} own is not known: the same texts with other "
            f"terms of {categories} were not compared."
        )
    rates = percent(found.rate_other)
    if percent(found.rate_with) != percent(group.rate_in):
        # Drawn seeds: the pairs are a part of the samples that the group's rate comes from.
        rates += f" (against {percent(found.rate_with)} with {_them(group)})"
    return (
        f"With other terms of {categories} in place of {group.text}, the model predicts “{label}” "
        f"for {rates} of the same {plural(found.seeds, 'text')}{_conclusion(group, found, label)}"
    )


def own_difference(group: GroupSummary, label: str) -> list[str]:
    """Say what a group's terms change by themselves, then how the group differs from other texts.

    Parameters
    ----------
    group : GroupSummary
        The group.
    label : str
        The favourable label.

    Returns
    -------
    list of str
        The headline and two sentences; nothing if the terms were not compared with others.
    """
    found = group.counterfactual
    if found is None:
        return []
    low, high = found.interval
    nothing = low <= 0 <= high
    worth = ""
    if found.independent is not None:
        worth = f", which count as {plural(round(found.independent), 'independent one')},"
    within = " No difference at all is within that interval." if nothing else ""
    return [
        _nothing_by_terms(group, found, label) if nothing else _by_terms(group, found, label),
        f"Taken as a sample of a larger population, the {plural(found.seeds, 'text')}{worth} put "
        f"that difference at {interval(found.interval)} points.{within}",
        f"From all other texts ({percent(group.rate_out)}) the texts with {group.text} "
        f"({percent(group.rate_in)}) differ by {signed(group.difference)} points, which comes from "
        "what such texts are about and from the terms together.",
    ]


def _by_terms(group: GroupSummary, found: CounterfactualSummary, label: str) -> str:
    return (
        f"The model predicts “{label}” {how_often(found.difference)} with {group.text} "
        f"({percent(found.rate_with)}) than with other terms of {_categories(group)} in the same "
        f"texts ({percent(found.rate_other)})."
    )


def _nothing_by_terms(group: GroupSummary, found: CounterfactualSummary, label: str) -> str:
    """Write that no group's terms make a difference; `group` is the first of the ranking."""
    rates = (
        f"“{label}” is predicted for {percent(found.rate_with)} with {group.text} and for "
        f"{percent(found.rate_other)} with other terms of {_categories(group)} in the same texts"
    )
    if is_nothing(found.difference):
        return f"No term makes a difference by itself: {rates}."
    return f"No term makes a difference by itself that chance does not explain: {rates}."


def _categories(group: GroupSummary) -> str:
    return series([rule.feature for rule in group.rules])


def _conclusion(group: GroupSummary, found: CounterfactualSummary, label: str) -> str:
    own, whole = found.difference, group.difference
    low, high = found.interval
    categories = series([rule.feature for rule in group.rules])
    which = f"whichever terms of {categories} they have"
    if low <= 0 <= high:
        told = (
            f": by {_these(group)} no difference that can be told from none "
            f"({signed(own)} points, interval {interval(found.interval)})."
        )
        if is_nothing(whole):
            return told
        return (
            f"{told} As far as can be told, the difference comes with texts of this kind, {which}."
        )
    measured = f"interval {interval(found.interval)}"
    if own * whole < 0:
        return (
            f": by {_these(group)} it {how_often(own)} ({measured}), against the difference from "
            f"other texts. That one comes with texts of this kind, {which}."
        )
    # Of the numbers as they are written, so that they add up.
    rest = round(100 * abs(whole), 1) - round(100 * abs(own), 1)
    if rest < 0.05:
        return (
            f": the {_terms(group)} own difference is {signed(own)} points ({measured}), so what "
            "else these texts have in common does not explain it."
        )
    return (
        f": of the {size_points(abs(whole))}, {100 * abs(own):.1f} are the {_terms(group)} own "
        f"({measured}). The other {rest:.1f} come with texts of this kind, "
        f"{which}."
    )


def ambiguity(group: GroupSummary, terms: TermsSummary) -> str:
    """Say which terms of a group, or of the texts that it is generated from, are ambiguous.

    Parameters
    ----------
    group : GroupSummary
        The group.
    terms : TermsSummary
        The sensitive terms.

    Returns
    -------
    str
        Empty if none is known to be ambiguous.
    """
    chosen = [term for term in terms_of(group, terms) if term.ambiguous]
    remarks = [f"“{term.term}” is ambiguous: {_remark(term)}." for term in chosen]
    categories = {rule.feature for rule in group.rules}
    listed = [category for category in terms.categories if category.name in categories]
    mentions = sum(category.mentions for category in listed)
    doubtful = [
        term for category in listed for term in category.terms if term.ambiguous and term.mentions
    ]
    share = sum(term.mentions for term in doubtful) / mentions if mentions else 0.0
    if share > 0:
        most = sorted(doubtful, key=lambda term: -term.mentions)[:_NAMED]
        named = series([f"“{term.term}”" for term in most])
        above_all = f"above all {named}" if len(doubtful) > 1 else f"namely {named}"
        remarks.append(
            f"Of the mentions of {series([category.name for category in listed])} terms in the "
            f"texts, {percent(share)} are of ambiguous terms, {above_all}: texts of the group need "
            "not be about persons."
        )
    return " ".join(remarks)


def unknown_words(group: GroupSummary, terms: TermsSummary) -> str:
    """Say which terms of a group the model does not know; empty if it knows all or does not say."""
    unknown = [term for term in terms_of(group, terms) if term.known_to_model is False]
    if not unknown:
        return ""
    named = series([f"“{term.term}”" for term in unknown])
    return (
        f"The vocabulary of the model does not have every word of {named}; words that it does not "
        "have are all the same to it."
    )


def not_known(terms: TermsSummary) -> str:
    """Write which terms the model does not know at all; empty if it knows all or does not say."""
    listed = [term for category in terms.categories for term in category.terms]
    unknown = [term for term in listed if term.known_to_model is False]
    if not unknown or len(unknown) == len(listed):
        return ""
    rates = [
        f"{percent(category.nonsense_rate)} of the texts with a term of {category.name}"
        for category in terms.categories
        if category.nonsense_rate is not None
        and any(term.known_to_model is False for term in category.terms)
    ]
    control = ""
    if rates:
        control = (
            f" With the nonsense word “{terms.nonsense}” in place of the terms, the rate is "
            f"{series(rates)}."
        )
    return (
        f"{len(unknown)} of {plural(len(listed), 'term')} are not in the vocabulary of the model, "
        "which takes them all for one unknown word: groups with them come last, and neither the "
        f"headline nor the gate goes by them.{control}"
    )


def terms_of(group: GroupSummary, terms: TermsSummary) -> list[TermSummary]:
    """Find the terms of a group in the list of terms."""
    chosen = [(rule.feature, value) for rule in group.rules for value in rule.values or ()]
    return [
        term
        for category in terms.categories
        for term in category.terms
        if (category.name, term.term) in chosen
    ]


def _terms(group: GroupSummary) -> str:
    return "term's" if len(group.rules) == 1 else "terms'"


def _these(group: GroupSummary) -> str:
    return "itself, this term makes" if len(group.rules) == 1 else "themselves, these terms make"


def _them(group: GroupSummary) -> str:
    return "it" if len(group.rules) == 1 else "them"


def _remark(term: TermSummary) -> str:
    return term.ambiguous.rstrip(". ")

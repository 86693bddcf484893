"""How rows and texts are spoken of: all words that differ between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, Protocol

from testsgd.auditing.parameters import Estimand
from testsgd.auditing.report.summary import AuditSummary, CounterfactualSummary, GroupSummary
from testsgd.auditing.report.term_summary import TermsSummary, TermSummary
from testsgd.data import Outcome
from testsgd.report.formatting import (
    count,
    either,
    how_often,
    interval,
    is_nothing,
    number,
    percent,
    plural,
    series,
    signed,
)
from testsgd.report.summaries import RuleSummary, brief_group

# Characters of a group's rules in a sentence.
_TEXT_LIMIT = 160


class Described(Protocol):
    """A group with rules, and a text that describes its members."""

    @property
    def rules(self) -> Sequence[RuleSummary]:
        """Return the rules; all of them hold."""

    @property
    def text(self) -> str:
        """Return the rules as people write them."""


def _only_known(group: GroupSummary) -> str:
    """Write which rows a group is compared with, if a missing number leaves some out."""
    numbers = [rule.feature for rule in group.rules if (rule.low, rule.high) != (None, None)]
    rows = round(group.n_in / group.support) if group.support else 0
    if not numbers or group.n_in + group.n_out >= rows:
        return ""
    return (
        f"compared with rows whose {series(numbers)} {'is' if len(numbers) == 1 else 'are'} known"
    )


class Words:
    """The words for the rows of a table, which are about people; those for texts differ."""

    kind: Literal["rows", "texts"] = "rows"  # The kind of data
    outcome: Outcome = "benefit"  # What the label is for a person who is given it
    one, many = "row", "rows"
    others = "everybody else"  # Who a group is compared with
    every, no = "everybody", "nobody"  # All that the model was asked about, and none of it
    rule = "rule"  # What a rule is called
    rows_figure = "Rows in the file"  # The name of the number of rows
    support = "the share of all rows that are in the group"
    members = "Who is in it"  # The heading above the rules of a group
    # What is said if there is no frequent group; holds a place for the smallest support
    nothing_frequent = "No rule set has at least {} rows inside and outside."
    nothing_outside = "its complement is empty"
    exactly = "every perturbed row was predicted"  # Why an exact audit has no sampling margin
    rate = "Selection rate"  # What the rates are
    of_prediction = "one prediction of the model"  # What every rate is of
    deciding = "the model does"  # What is unknown of groups that are not judged
    judged = "the model"  # What is fair or unfair
    feature, features = "feature", "features"  # What rates are given by
    # The name of the number of frequent rule sets; holds a place for the smallest support
    frequent = "Frequent: at least {} rows inside and outside"
    generated = "Perturbed rows that the data set allows"
    # What rates are by each estimand, as the beginning of a sentence
    estimands: ClassVar[Mapping[str, str]] = {
        "observed": "Among the rows as they are",
        "neighbourhood": "Over the perturbation neighbourhood of the rows",
    }
    # What a rule set of single values is called
    combination = "combination of sensitive values"
    combinations = "combinations of sensitive values"
    variation = "how rates differ between combinations of sensitive values"  # What rules explain

    def predicate(self, label: str) -> str:
        """Write what is true of the rows that a rate counts, such as what the model predicts."""
        return f"the model predicts “{label}”"

    def observed(self, label: str) -> str:
        """Write which rows the observed rates are of, as the beginning of a sentence."""
        return self.estimands["observed"]

    def differences(self, label: str, estimand: Estimand) -> str:
        """Write what the differences of a table are, as its title."""
        return f"difference in the rate of “{label}”, in points ({estimand} rates)"

    def how_often(self, label: str) -> str:
        """Write what a rate says, as the title of a chart."""
        return f"How often predicted “{label}”"

    def sides_of_zero(self, label: str) -> str:
        """Write what a difference on either side of zero says, as a clause."""
        return (
            f"left of zero the group is predicted “{label}” less often than {self.others}, right "
            "of zero more often"
        )

    def target(self, group: Described) -> str:
        """Write who is in a group, to stand behind "for"."""
        return brief_group(group, _TEXT_LIMIT)

    def sides(self, group: GroupSummary) -> str:
        """Write how many rows there are inside a group and outside, without a verb."""
        within = f"; {known}" if (known := _only_known(group)) else ""
        inside, outside = plural(group.n_in, "row"), count(group.n_out)
        return f"{inside} in the group, {outside} in its complement{within}"

    def size(self, group: GroupSummary) -> str:
        """Write in a sentence how large a group is."""
        rows = plural(group.n_in, "row")
        within = f", {known}" if (known := _only_known(group)) else ""
        share = percent(group.support)
        outside = count(group.n_out)
        return f"{rows}, {share} of all; {outside} in its complement{within}."

    def rule_in_words(self, rule: RuleSummary) -> str:
        """Write what a rule asks for, as a phrase."""
        if rule.values:
            choice = "one of " if len(rule.values) > 2 else ""
            return f"{rule.feature} is {choice}{either(rule.values)}"
        if rule.low is not None and rule.high is not None:
            return f"{rule.feature} is at least {number(rule.low)} and below {number(rule.high)}"
        if rule.low is not None:
            return f"{rule.feature} is {number(rule.low)} or more"
        if rule.high is not None:
            return f"{rule.feature} is below {number(rule.high)}"
        return rule.text

    def effect(self, group: GroupSummary, label: str) -> str:
        """Write how much of a group's difference is a counterfactual effect; empty for rows."""
        return ""

    def remarks(
        self, group: GroupSummary, label: str, terms: TermsSummary | None, *, effect: bool = True
    ) -> list[str]:
        """Write what else to know of the first group; `effect`: whether its effect is untold."""
        return []

    def by_terms(self, group: GroupSummary, label: str, interval_name: str) -> list[str]:
        """Write the counterfactual effect of a group's terms first; rows have no terms."""
        return []


# Of ambiguous terms so many are named, those with most mentions.
_NAMED = 3


def effect_of_terms(group: GroupSummary, label: str, estimand: Estimand = "neighbourhood") -> str:
    """Write how much of a group's difference is there whichever terms stand in its texts.

    `estimand` is that of the group's rates.
    """
    effect = group.counterfactual
    categories = _categories(group)
    if effect is None:
        return (
            "The counterfactual effect of the terms is not known: the same texts with other terms "
            f"of {categories} were not compared."
        )
    rates = percent(effect.rate_other)
    if percent(effect.rate_with) != percent(group.rate_in):
        # Drawn seeds, or rates of texts as they are: the pairs are not all that the group's rate
        # comes from, or are other texts.
        rates += f" (against {percent(effect.rate_with)} with {group.text})"
    return (
        f"With other terms of {categories} in place of {group.text}, the model predicts “{label}” "
        f"for {rates} of the same {plural(effect.seeds, 'text')}: "
        f"{_conclusion(group, effect, estimand)}"
    )


def _categories(group: GroupSummary) -> str:
    return series([rule.feature for rule in group.rules])


def interval_sentence(name: str, ends: tuple[float, float], sizes: str) -> str:
    """Write where a difference lies, and from how many rows or texts that is known."""
    zero = ", which includes zero" if _holds_zero(ends) else ""
    return f"The {name} is {interval(ends)} points{zero} ({sizes})."


def _holds_zero(ends: tuple[float, float]) -> bool:
    return ends[0] <= 0 <= ends[1]


def _conclusion(group: GroupSummary, effect: CounterfactualSummary, estimand: Estimand) -> str:
    part, whole = effect.difference, _difference_with_terms(group, estimand)
    kind = f"texts of this kind, whichever terms of {_categories(group)} they have"
    measured = (
        f"the counterfactual effect is {signed(part)} points (confidence interval "
        f"{interval(effect.confidence_interval)})"
    )
    chance = _holds_zero(effect.confidence_interval)
    if whole is None:
        return f"{measured}{', not statistically significant' if chance else ''}."
    # A difference that was not spoken of before is given with its number.
    difference, against = "the difference", "the difference from other texts"
    explained, total = "it", signed(whole)
    if estimand == "observed":
        difference = (
            f"the difference of {signed(whole)} points between texts with {group.text} put in and "
            "other texts"
        )
        against = explained = total = difference
    if chance:
        sentence = f"{measured}, not statistically significant."
        if is_nothing(whole):
            return sentence
        return f"{sentence} As far as the data show, {difference} comes with {kind}."
    if part * whole < 0:
        return f"{measured}, against {against}, which comes with {kind}."
    # Of the numbers as they are written, so that they add up.
    rest = round(100 * abs(whole), 1) - round(100 * abs(part), 1)
    if rest < 0.05:
        return f"{measured}, so what else these texts have in common does not explain {explained}."
    return f"{measured} of {total}. The other {rest:.1f} points come with {kind}."


def _difference_with_terms(group: GroupSummary, estimand: Estimand) -> float | None:
    """Return how far the texts that a group's terms are put into differ from other texts.

    They are the texts of the counterfactual effect; texts as they are, are others. None if it is
    not known.
    """
    if estimand == "neighbourhood":
        return group.difference
    other = group.other
    known = other is not None and other.estimand == "neighbourhood" and other.decided
    return other.difference if other is not None and known else None


def ambiguity(group: GroupSummary, terms: TermsSummary) -> str:
    """Write which terms of a group, or of its texts, are ambiguous; empty if none is."""
    remarks = [
        f"“{term.term}” is ambiguous: {term.ambiguous.rstrip('. ')}."
        for term in _terms_of(group, terms)
        if term.ambiguous
    ]
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
    """Write which terms of a group the model does not know; empty if none, or unsaid."""
    unknown = [term for term in _terms_of(group, terms) if term.known_to_model is False]
    if not unknown:
        return ""
    named = series([f"“{term.term}”" for term in unknown])
    return (
        f"The vocabulary of the model does not have every word of {named}; words that it does not "
        "have are all the same to it."
    )


def not_known(terms: TermsSummary) -> str:
    """Write which terms the model does not know at all; empty if none, or if it does not say."""
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
    control = f" With the nonsense word “{terms.nonsense}” in place of the terms, the rate is "
    control += f"{series(rates)}."
    are = "is" if len(unknown) == 1 else "are"
    return (
        f"{len(unknown)} of {plural(len(listed), 'term')} {are} not in the vocabulary of "
        "the model, which takes them all for one unknown word: groups with them come last, and "
        f"neither the headline nor the gate goes by them.{control * bool(rates)}"
    )


def _terms_of(group: GroupSummary, terms: TermsSummary) -> list[TermSummary]:
    """Find the terms of a group in the list of terms."""
    chosen = [(rule.feature, value) for rule in group.rules for value in rule.values or ()]
    return [
        term
        for category in terms.categories
        for term in category.terms
        if (category.name, term.term) in chosen
    ]


class TextWords(Words):
    """The words for texts, which need not be about people."""

    kind = "texts"
    one, many = "text", "texts"
    others = "other texts"
    every, no = "every text", "no text"
    rule = "term"
    rows_figure = "Texts"
    support = "the share of all texts that have a term of each category of the group"
    members = "The texts in it"
    nothing_frequent = "No category has a term in at least {} texts."
    exactly = "every seed was predicted with the group's terms, and every text as it is"
    feature, features = "term", "terms"
    frequent = "Frequent: at least {} texts have a term of each category"
    generated = "Generated texts that the texts allow, at most"
    estimands: ClassVar[Mapping[str, str]] = {
        "observed": "Among the texts as they are",
        "neighbourhood": "With terms put in place of others",
    }
    combination = "combination of categories of terms"
    combinations = "combinations of categories of terms"
    variation = "how sets of terms of the same categories differ in their effects"
    estimand: Estimand = "neighbourhood"  # That of the groups' rates

    def target(self, group: Described) -> str:
        """Write which texts are in a group."""
        return f"texts with {group.text}"

    def sides(self, group: GroupSummary) -> str:
        """Write how many texts a group is generated from and how many are outside."""
        texts = plural(group.n_in, "text")
        return f"generated from {texts}, {count(group.n_out)} in its complement"

    def size(self, group: GroupSummary) -> str:
        """Write in a sentence what a group is generated from, and what is outside."""
        single = len(group.rules) == 1
        categories = _categories(group)
        have = "has" if group.n_in == 1 else "have"
        are = f"are the {count(group.n_out)} texts that do"
        if group.n_out == 1:
            are = "is the text that does"
        return (
            f"Generated from the {plural(group.n_in, 'text')} that {have} "
            f"{'a term' if single else 'terms'} of {categories}, {percent(group.support)} of all. "
            f"Its complement {are} not contain {'the term' if single else 'all of these terms'}."
        )

    def rule_in_words(self, rule: RuleSummary) -> str:
        """Write what a rule puts into the texts, as a phrase."""
        return f"{rule.text} in place of every term of {rule.feature}" if rule.values else rule.text

    def effect(self, group: GroupSummary, label: str) -> str:
        """Write the same of texts."""
        return effect_of_terms(group, label, self.estimand)

    def by_terms(self, group: GroupSummary, label: str, interval_name: str) -> list[str]:
        """Write the effect of the terms, if it was measured, then the difference from others."""
        effect = group.counterfactual
        categories = _categories(group)
        if effect is None:
            return []
        with_terms, with_other = percent(effect.rate_with), percent(effect.rate_other)
        # If the first group's effect is not significant, none is.
        headline = (
            f"The model predicts “{label}” {how_often(effect.difference)} with {group.text} "
            f"({with_terms}) than with other terms of {categories} in the same texts "
            f"({with_other})."
        )
        if _holds_zero(effect.confidence_interval):
            headline = (
                f"No term has a statistically significant counterfactual effect: “{label}” is "
                f"predicted for {with_terms} with {group.text} and for {with_other} with other "
                f"terms of {categories} in the same texts."
            )
        sizes = f"{plural(effect.seeds, 'text')} in both forms"
        if effect.effective_sample_size is not None:
            sizes += f"; effective sample size {count(round(effect.effective_sample_size))}"
        return [
            headline,
            interval_sentence(
                f"{interval_name} of this counterfactual effect", effect.confidence_interval, sizes
            ),
            f"From all other texts ({percent(group.rate_out)}) the texts with {group.text} "
            f"({percent(group.rate_in)}) differ by {signed(group.difference)} points, which comes "
            "from what such texts are about and from the terms together.",
        ]

    def remarks(
        self, group: GroupSummary, label: str, terms: TermsSummary | None, *, effect: bool = True
    ) -> list[str]:
        """Write the effect of the terms, and whether terms are ambiguous or unknown."""
        sentences = [self.effect(group, label)] if effect else []
        if terms is not None:
            sentences += [ambiguity(group, terms), unknown_words(group, terms), not_known(terms)]
        return [sentence for sentence in sentences if sentence]


class ObservedTextWords(TextWords):
    """The words for texts as they are: a group is those that have its terms."""

    estimand = "observed"
    support = "the share of all texts that have the terms of the group"
    exactly = "every text was predicted as it is"

    def sides(self, group: GroupSummary) -> str:
        """Write how many texts there are with the terms of a group and without, without a verb."""
        texts = plural(group.n_in, "text")
        return f"{texts} in the group, {count(group.n_out)} in its complement"

    def size(self, group: GroupSummary) -> str:
        """Write in a sentence how many texts have a group's terms, and how many do not."""
        return (
            f"{plural(group.n_in, 'text')} with {group.text}, {percent(group.support)} of all; "
            f"{count(group.n_out)} in its complement."
        )


def words_for(kind: Literal["rows", "texts"]) -> Words:
    """Return the words for one kind of data."""
    return TextWords() if kind == "texts" else Words()


class PredictionWords(Words):
    """The words for predictions that exist, and for metrics of them."""

    exactly = "every row has its prediction"
    of_prediction = "one prediction"
    deciding = "the predictions say"
    judged = "the predictions"

    def __init__(self, metric: str) -> None:
        self._metric = metric
        if metric != "selection_rate":
            self.rate = metric.replace("_", " ").capitalize()
            self.rows_figure = "Rows that count"

    def predicate(self, label: str) -> str:
        """Write what is true of the rows that a rate counts, such as what the model predicts."""
        if self._metric == "accuracy":
            return "the predictions are right"
        if self._metric == "precision":
            return f"the true label is “{label}”"
        return f"the predictions say “{label}”"

    def observed(self, label: str) -> str:
        """Write which rows the observed rates are of, as the beginning of a sentence."""
        return {
            "true_positive_rate": f"Among the rows whose true label is “{label}”",
            "false_positive_rate": f"Among the rows whose true label is not “{label}”",
            "precision": f"Among the rows whose prediction is “{label}”",
        }.get(self._metric, "Among the rows as they are")

    def differences(self, label: str, estimand: Estimand) -> str:
        """Write what the differences of a table are, as its title."""
        if self._metric == "selection_rate":
            return super().differences(label, estimand)
        among = self.observed(label)
        return f"difference in {self.rate.lower()}, in points ({among[0].lower()}{among[1:]})"

    def how_often(self, label: str) -> str:
        """Write what a rate says, as the title of a chart."""
        if self._metric == "selection_rate":
            return super().how_often(label)
        return f"How often {self.predicate(label)}"

    def sides_of_zero(self, label: str) -> str:
        """Write what a difference on either side of zero says, as a clause."""
        if self._metric not in ("accuracy", "precision"):
            return super().sides_of_zero(label)
        return (
            f"left of zero {self.predicate(label)} less often for the group than for "
            f"{self.others}, right of zero more often"
        )


def vocabulary(summary: AuditSummary) -> Words:
    """Return the words for the data of an audit."""
    of_metric = summary.parameters.metric != "selection_rate"
    if summary.data.predictions_given or of_metric:
        words: Words = PredictionWords(summary.parameters.metric)
    else:
        words = words_for(summary.data.kind)
        if words.kind == "texts" and summary.parameters.estimand == "observed":
            words = ObservedTextWords()
        if words.kind == "texts" and summary.parameters.ranked_by != "counterfactual":
            # The rules were chosen by what groups are ranked by.
            words.variation = "how sets of terms of the same categories differ in their rates"
    words.outcome = summary.data.label.outcome
    return words

"""Which of two sides is worse off, and who that is in everyday words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from testsgd.auditing.report.summary import AuditSummary, FeatureSummary
from testsgd.data import Outcome
from testsgd.report.formatting import (
    distinct_cuts,
    either,
    first_of,
    how_often,
    number,
    percent,
    shorten,
    whole_numbers,
)
from testsgd.report.summaries import RuleSummary

ALL_OTHERS = "everybody else"

# Values of a feature that a phrase names at most, and characters that it has at most.
_VALUES_NAMED = 4
_TEXT_LIMIT = 200
# Characters of a clause up to which base rates stand beside the predicted ones.
_CLAUSE_LIMIT = 180
# What stands before base rates in a clause.
_IN_THE_FILE = "in the file "
# Names of features, in lower case, whose values are nouns or years.
_SEX = frozenset({"sex", "gender"})
_AGE = frozenset({"age", "age_years", "age_in_years"})
_NOUNS = {
    "female": "women",
    "f": "women",
    "woman": "women",
    "women": "women",
    "male": "men",
    "m": "men",
    "man": "men",
    "men": "men",
}


@dataclass(frozen=True)
class Features:
    """What is known of the sensitive features: which are whole numbers, and all their values."""

    whole_numbers: frozenset[str] = frozenset()
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    # Values of features about sex that rows may have, where `values` does not say which they have.
    sexes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, summary: AuditSummary) -> Features:
        """Return what a summary says of its features; values are those that rows have."""
        return cls(
            whole_numbers=frozenset(
                feature.name for feature in summary.data.features if feature.type == "integer"
            ),
            values={
                rates.feature: [cell.label for cell in rates.cells if cell.n]
                for rates in summary.charts.features
            },
        )


def sexes_of(features: Iterable[FeatureSummary]) -> dict[str, Sequence[str]]:
    """Return the values of features about sex, as they are declared or were guessed."""
    return {
        feature.name: feature.domain.split(", ")
        for feature in features
        if feature.name.lower() in _SEX and feature.type == "categorical"
    }


@dataclass(frozen=True)
class Side:
    """One side of a comparison: who it is, in words, and the rate of the label."""

    people: str
    rate: float


@dataclass(frozen=True)
class Comparison:
    """A group and its complement, with the rate of each, and the base rates where known."""

    rules: Sequence[RuleSummary]  # The rules of the group; all of them hold.
    rate_in: float
    rate_out: float
    base_rate_in: float | None = None
    base_rate_out: float | None = None


def worse_off_clause(
    comparison: Comparison,
    label: str,
    features: Features,
    *,
    outcome: Outcome = "benefit",
    others: str = "",
) -> str:
    """Write who is worse off by a label, and than whom, without a full stop.

    Parameters
    ----------
    comparison : Comparison
        A group, its complement and their rates.
    label : str
        The label whose rate is compared.
    features : Features
        What is known of the sensitive features.
    outcome : {"benefit", "harm", "neither"}
        What it is for a person to be given the label.
    others : str
        What the complement is called, if not by the opposite of the group's rules.

    Returns
    -------
    str
        A clause that begins with a small letter. It names the side first that is worse off.

    Examples
    --------
    >>> rules = [
    ...     RuleSummary(feature="sex", values=["Female"], text="sex = Female"),
    ...     RuleSummary(feature="age", low=18, high=25, text="18 <= age < 25"),
    ... ]
    >>> worse_off_clause(Comparison(rules, 0.25, 0.51), "granted", Features(frozenset({"age"})))
    'women of 18 to 24 are predicted “granted” 26.0 points less often than everybody else (25.0% ...
    """
    group = Side(group_in_words(comparison.rules, features), comparison.rate_in)
    rest = Side(others or complement_in_words(comparison.rules, features), comparison.rate_out)
    turned = complement_is_worse_off(comparison, outcome)
    first, second = (rest, group) if turned else (group, rest)
    verb = "is" if first.people.startswith(ALL_OTHERS) else "are"
    often = how_often(first.rate - second.rate)
    clause = f"{first.people} {verb} predicted “{label}” {often} than {second.people} "
    rates = f"{percent(first.rate)} against {percent(second.rate)}"
    base = base_rates_clause(comparison, turned=turned)
    if base and len(clause) + len(rates) + len(base) <= _CLAUSE_LIMIT:
        rates = f"{rates}; {base}"
    return f"{clause}({rates})"


def base_rates_clause(comparison: Comparison, *, turned: bool) -> str:
    """Write how often the file itself has the label on each side; empty if that is not known."""
    inside, outside = comparison.base_rate_in, comparison.base_rate_out
    if inside is None or outside is None:
        return ""
    first, second = (outside, inside) if turned else (inside, outside)
    return f"{_IN_THE_FILE}{percent(first)} against {percent(second)}"


def base_rates_sentence(comparison: Comparison, label: str, clause: str, *, turned: bool) -> str:
    """Write the base rates for the sentence after a clause; empty if unknown, or if it has them.

    Parameters
    ----------
    comparison : Comparison
        A group, its complement and their rates.
    label : str
        The label whose rate is compared.
    clause : str
        The clause, or headline, that has the predicted rates.
    turned : bool
        Whether that begins with the complement.

    Returns
    -------
    str
        A sentence with both base rates in the order of the clause.

    Examples
    --------
    >>> comparison = Comparison([], 0.25, 0.51, base_rate_in=0.4, base_rate_out=0.45)
    >>> base_rates_sentence(comparison, "yes", "a long clause", turned=False)
    'The base rates, how often “yes” is the label in the file, are 40.0% against 45.0%, in the ...
    """
    base = base_rates_clause(comparison, turned=turned)
    if not base or base in clause:
        return ""
    rates = base.removeprefix(_IN_THE_FILE)
    return (
        f"The base rates, how often “{label}” is the label in the file, are {rates}, in the same "
        "order."
    )


def complement_is_worse_off(comparison: Comparison, outcome: Outcome) -> bool:
    """Return whether a clause on who is worse off begins with the complement.

    It begins with the group where neither side is worse off.

    Examples
    --------
    >>> complement_is_worse_off(Comparison([], 0.51, 0.25), "benefit")
    True
    """
    group_has_more = comparison.rate_in > comparison.rate_out
    return {"benefit": group_has_more, "harm": not group_has_more, "neither": False}[outcome]


def group_in_words(rules: Sequence[RuleSummary], features: Features) -> str:
    """Write who is in a group, such as "women of 18 to 24 with region North or East".

    Parameters
    ----------
    rules : sequence of RuleSummary
        The rules of the group; all of them hold.
    features : Features
        What is known of the sensitive features.

    Returns
    -------
    str
        A phrase that begins with a small letter. In long ones each value is cut.

    Examples
    --------
    >>> group_in_words([RuleSummary(feature="age", high=30, text="age < 30")], Features())
    'those under 30'
    """
    whole = _phrase(rules, features, _VALUES_NAMED, cut=False)
    if len(whole) <= _TEXT_LIMIT:
        return whole
    phrases = (_phrase(rules, features, most, cut=True) for most in range(_VALUES_NAMED, 0, -1))
    brief = next((phrase for phrase in phrases if len(phrase) <= _TEXT_LIMIT), "")
    return brief or shorten(_phrase(rules, features, 1, cut=True), _TEXT_LIMIT)


def _phrase(rules: Sequence[RuleSummary], features: Features, most: int, *, cut: bool) -> str:
    """Write who is in a group; at most `most` values of a feature, cut or whole."""
    noun = "those"
    ages = []
    others = []
    for rule in rules:
        if single := _noun(rule, features):
            noun = single
        elif rule.feature.lower() in _AGE and not rule.values:
            ages.append(_age(rule, features))
        else:
            others.append(_with(rule, features, most, cut=cut))
    named = f" with {' and '.join(others)}" if others else ""
    age = f" {' '.join(ages)}" if ages else ""
    return f"{noun}{age}{named}"


def complement_in_words(rules: Sequence[RuleSummary], features: Features) -> str:
    """Write who is not in a group: by the opposite of a single rule, or as all others.

    Parameters
    ----------
    rules : sequence of RuleSummary
        The rules of the group; all of them hold.
    features : Features
        What is known of the sensitive features; the values that a rule leaves are taken from it.

    Returns
    -------
    str
        A phrase that begins with a small letter.

    Examples
    --------
    >>> complement_in_words([RuleSummary(feature="age", high=30, text="age < 30")], Features())
    'those of 30 or older'
    """
    if len(rules) != 1:
        return ALL_OTHERS
    [rule] = rules
    opposite = _opposite(rule, features)
    return ALL_OTHERS if opposite is None else group_in_words([opposite], features)


def _opposite(rule: RuleSummary, features: Features) -> RuleSummary | None:
    """Return the rule that holds for the complement; None if it is not one rule of few values."""
    if rule.values:
        left = [
            value for value in features.values.get(rule.feature, ()) if value not in rule.values
        ]
        if not 0 < len(left) <= _VALUES_NAMED:
            return None
        return RuleSummary(feature=rule.feature, values=left, text="")
    if rule.low is not None and rule.high is None:
        return RuleSummary(feature=rule.feature, high=rule.low, text="")
    if rule.high is not None and rule.low is None:
        return RuleSummary(feature=rule.feature, low=rule.high, text="")
    return None


def _noun(rule: RuleSummary, features: Features) -> str:
    """Return what people of one sex are called; empty if a rule is about something else.

    It is so, too, if the rule leaves out a value of the feature that stands for the same word.
    """
    if rule.feature.lower() not in _SEX or not rule.values:
        return ""
    nouns = {_noun_of(value) for value in rule.values}
    if len(nouns) != 1:
        return ""
    [noun] = nouns
    known = features.values.get(rule.feature) or features.sexes.get(rule.feature, ())
    left = [value for value in known if value not in rule.values]
    return "" if noun in map(_noun_of, left) else noun


def _noun_of(value: str) -> str:
    """Return what people with a value are called, such as "women"; empty if that is not known."""
    return _NOUNS.get(value.strip().casefold(), "")


def _age(rule: RuleSummary, features: Features) -> str:
    """Write an interval of years, such as "of 18 to 24" or "under 30"."""
    if rule.low is None:
        return f"under {number(rule.high)}"
    if rule.high is None:
        return f"of {number(rule.low)} or older"
    if rule.feature in features.whole_numbers:
        return f"of {whole_numbers(rule.low, rule.high)}"
    return f"of {number(rule.low)} to under {number(rule.high)}"


def _with(rule: RuleSummary, features: Features, most: int, *, cut: bool) -> str:
    """Write what a rule asks for, to stand behind "with"."""
    if rule.values:
        known = features.values.get(rule.feature, ())
        values = distinct_cuts(rule.values, known) if cut else list(rule.values)
        if len(values) > most:
            values = first_of(values, max(most - 1, 1))
        return f"{rule.feature} {either(values)}"
    if rule.low is None and rule.high is None:
        return rule.text
    if rule.low is None:
        return f"{rule.feature} below {number(rule.high)}"
    if rule.high is None:
        return f"{rule.feature} of at least {number(rule.low)}"
    if rule.feature in features.whole_numbers:
        return f"{rule.feature} {whole_numbers(rule.low, rule.high)}"
    return f"{rule.feature} from {number(rule.low)} to below {number(rule.high)}"

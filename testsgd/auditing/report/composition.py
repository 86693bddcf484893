"""Of which values a group consists whose rule has several, for the sentence after a headline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from testsgd.auditing.report.further_looks import FurtherGroup, WithinGroup
from testsgd.auditing.report.summary import FEWEST_SHOWN, GroupSummary
from testsgd.data import Table
from testsgd.report.formatting import count, plural, series
from testsgd.report.summaries import RuleSummary
from testsgd.rules import IntervalRule, Rule, RuleSet, ValueRule

# Values that a sentence names with their counts.
_NAMED = 4


@dataclass(frozen=True)
class ValueCounts:
    """Rows of a group by the values that one of its rules allows."""

    feature: str
    counts: dict[str, int]


def composition(
    group: GroupSummary | FurtherGroup | WithinGroup, table: Table
) -> tuple[ValueCounts, ...]:
    """Count the rows of a group by the values of each of its rules that allows several.

    Nothing is counted if the rules alone do not give the group's rows, as within a slice.
    """
    rules = described_rule_set(group.rules)
    several = [rule for rule in group.rules if rule.values and len(rule.values) > 1]
    if not several:
        return ()
    inside = rules.matches(table)
    if int(inside.sum()) != group.n_in:
        return ()
    return tuple(
        ValueCounts(
            rule.feature,
            {
                value: int((inside & ValueRule(rule.feature, (value,)).matches(table)).sum())
                for value in rule.values or ()
            },
        )
        for rule in several
    )


def composition_sentences(
    parts: Sequence[ValueCounts], fewest: int, rows: str, *, group_name: str = ""
) -> list[str]:
    """Write which values of a group are too rare to be judged; nothing if none is.

    Parameters
    ----------
    parts : sequence of ValueCounts
        The rows of the group by the values of its rules.
    fewest : int
        The fewest rows that are judged.
    rows : str
        What the rows are called, such as "rows".
    group_name : str
        What the group is called, if it has to be said which it is.

    Returns
    -------
    list of str
        A sentence for each rule; counts below five are neither named nor can be computed from it.

    Examples
    --------
    >>> parts = [ValueCounts("race", {"A": 450, "B": 3, "C": 2})]
    >>> print(*composition_sentences(parts, 50, "rows"))
    Of the 455 rows in the group 450 are A (race); of the others there are too few to judge each.
    """
    members = f"{rows} in the group {group_name}".rstrip()
    return [text for part in parts if (text := _sentence(part, fewest, members))]


def _sentence(part: ValueCounts, fewest: int, members: str) -> str:
    """Write of one feature which values have enough rows; empty if all that occur have."""
    in_all = sum(part.counts.values())
    enough = {value: n for value, n in part.counts.items() if n >= max(fewest, FEWEST_SHOWN)}
    rest = in_all - sum(enough.values())
    if len(enough) == len(part.counts):
        return ""
    of_all = f"Of the {count(in_all)} {members}"
    if not enough:
        return f"{of_all} no value of {part.feature} has enough to be judged by itself."
    largest = sorted(enough, key=lambda value: -enough[value])
    if not rest:
        return f"{of_all} all are {series(largest)} ({part.feature})." if len(enough) == 1 else ""
    few = len(part.counts) - len(enough)
    each = "of the others there are too few to judge each"
    if few == 1:
        each = "of the other value there are too few to judge it"
    if rest < FEWEST_SHOWN:
        # The number of the others would follow from that of these.
        named = f"nearly all are {series(largest[:_NAMED])}"
    else:
        named = series([f"{count(enough[value])} are {value}" for value in largest[:_NAMED]])
    if (more := len(largest) - _NAMED) > 0:
        named += f" or {plural(more, 'other value')} with enough"
    return f"{of_all} {named} ({part.feature}); {each}."


def described_rule_set(rules: Sequence[RuleSummary]) -> RuleSet:
    """Return the rule set of a group of rows that a document describes.

    Examples
    --------
    >>> described_rule_set([RuleSummary(feature="age", high=30, text="age < 30")]).text
    'age < 30'
    """
    return RuleSet(tuple(_rule(rule) for rule in rules))


def _rule(rule: RuleSummary) -> Rule:
    """Return the rule that a document describes."""
    if rule.values is not None:
        return ValueRule(rule.feature, tuple(rule.values))
    return IntervalRule(rule.feature, rule.low, rule.high)

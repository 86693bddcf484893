"""How rows are spoken of."""

from __future__ import annotations

from collections.abc import Sequence

from testsgd.reporting.summary import GroupSummary, RuleSummary
from testsgd.reporting.wording import count, either, number, percent, plural, share
from testsgd.reporting.words import Described, Words


class RowWords(Words):
    """The words for the rows of a table, which are about people."""

    kind = "rows"
    one = "row"
    many = "rows"
    others = "everybody else"
    every = "everybody"
    no = "nobody"
    rule = "rule"
    rows_figure = "Rows in the file"
    support = "the share of all rows that are in the group"
    members = "Who is in it"
    nothing_frequent = (
        "No rule set is satisfied by at least {} of the rows with somebody outside it."
    )
    nothing_outside = "nobody is outside"
    exactly = "every perturbed row was predicted"
    feature = "feature"
    features = "features"
    frequent = "Frequent: at least {} of the rows, and somebody outside"
    generated = "Perturbed rows that the data set allows"
    near_copy = "A near copy selects almost the same rows as a distinct group above it."

    def target(self, group: Described) -> str:
        """Say who is in a group: its rules say it."""
        return group.text

    def sides(self, group: GroupSummary) -> str:
        """Say how many rows there are inside a group and outside, without a verb."""
        return f"the {plural(group.n_in, 'row')} inside and {count(group.n_out)} outside"

    def size(self, group: GroupSummary) -> str:
        """Say in a sentence how large a group is."""
        rows = plural(group.n_in, "row")
        return f"{rows}, {percent(group.support)} of all; {count(group.n_out)} outside."

    def rule_in_words(self, rule: RuleSummary) -> str:
        """Say what a rule asks for, as a phrase.

        Parameters
        ----------
        rule : RuleSummary
            The rule.

        Returns
        -------
        str
            Such as ``"age is at least 40 and below 60"``.
        """
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

    def too_small(self, number: int, theta: float, features: Sequence[str]) -> str:
        """Say how many combinations of values are too small to be judged."""
        return (
            f"{plural(number, 'combination')} of values {'has' if number == 1 else 'have'} less "
            f"than {share(theta)} of the rows: too few to judge, which does not make them fair."
        )

"""How rows are spoken of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from testsgd.report.formatting import count, either, number, percent, plural
from testsgd.reporting.summary import GroupSummary, RuleSummary
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
    nothing_frequent = "No rule set has at least {} rows inside and outside."
    nothing_outside = "nobody is outside"
    exactly = "every perturbed row was predicted"
    feature = "feature"
    features = "features"
    frequent = "Frequent: at least {} rows inside and outside"
    generated = "Perturbed rows that the data set allows"
    estimands: ClassVar[Mapping[str, str]] = {
        "observed": "Among the rows as they are",
        "neighbourhood": "Over the perturbation neighbourhood of the rows",
    }
    combination = "combination of sensitive values"
    combinations = "combinations of sensitive values"
    variation = "how rates differ between combinations of sensitive values"

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

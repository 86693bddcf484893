"""Rules and rule sets: who is in a group, written as people write it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from testsgd.data import MISSING, Table
from testsgd.expressions import written_in_rules

if TYPE_CHECKING:
    from testsgd.rules.text.term_rule import CategoryRule, TermRule


@dataclass(frozen=True)
class ValueRule:
    """A feature has one of some values; the value "missing" stands for a missing cell.

    Examples
    --------
    >>> ValueRule("race", ("Black", "Hispanic")).text
    'race in {Black, Hispanic}'
    >>> ValueRule("gender", ("male",)).text
    'gender = male'
    >>> ValueRule("race", ("Asian, other", "White")).text
    'race in {"Asian, other", White}'
    """

    feature: str
    values: tuple[str, ...]

    @property
    def text(self) -> str:
        """The rule as people write it; an expression that names the same values."""
        name = written_in_rules(self.feature)
        if len(self.values) == 1:
            return f"{name} = {written_in_rules(self.values[0])}"
        values = [written_in_rules(value, listed=True) for value in self.values]
        return f"{name} in {{{', '.join(values)}}}"

    def matches(self, table: Table) -> NDArray[np.bool_]:
        """Return a mask of the rows that satisfy the rule, shape (n,)."""
        feature = table.specification.features[self.feature]
        if feature.continuous:
            # Of a number only that it is missing is a value.
            return np.isnan(table.numbers(self.feature))
        declared = feature.values or []
        wanted = [declared.index(value) for value in self.values if value != MISSING]
        if MISSING in self.values:
            wanted.append(-1)
        return np.isin(table.codes(self.feature), wanted)

    def to_json(self) -> dict[str, Any]:
        """Return the rule as JSON-able data."""
        return {"feature": self.feature, "values": list(self.values), "text": self.text}


@dataclass(frozen=True)
class IntervalRule:
    """A feature lies in an interval: ``low`` included, ``high`` excluded, None where open.

    A row in which the feature is missing satisfies no such rule; it is in a group of its own.

    Examples
    --------
    >>> IntervalRule("age", 40, 60).text
    '40 <= age < 60'
    >>> IntervalRule("age", 40, None).text, IntervalRule("age (years)", None, 20.5).text
    ('age >= 40', '"age (years)" < 20.5')
    """

    feature: str
    low: float | None
    high: float | None

    @property
    def text(self) -> str:
        """The rule as people write it; an expression, too."""
        name = written_in_rules(self.feature, beside_number=True)
        if self.low is None:
            return f"{name} < {self.high:.10g}"
        if self.high is None:
            return f"{name} >= {self.low:.10g}"
        return f"{self.low:.10g} <= {name} < {self.high:.10g}"

    def matches(self, table: Table) -> NDArray[np.bool_]:
        """Return a mask of the rows that satisfy the rule, shape (n,)."""
        numbers = table.numbers(self.feature)
        low = -np.inf if self.low is None else self.low
        high = np.inf if self.high is None else self.high
        return (numbers >= low) & (numbers < high)

    def known(self, table: Table) -> NDArray[np.bool_]:
        """Return a mask of the rows in which the feature is known, shape (n,)."""
        return ~np.isnan(table.numbers(self.feature))

    def to_json(self) -> dict[str, Any]:
        """Return the rule as JSON-able data."""
        return {"feature": self.feature, "low": self.low, "high": self.high, "text": self.text}


# Written as text, for the rules over texts live in a package that builds on this module.
Rule: TypeAlias = "ValueRule | IntervalRule | TermRule | CategoryRule"


@dataclass(frozen=True)
class RuleSet:
    """Rules that all hold, at most one a feature: the description of a subgroup.

    Examples
    --------
    >>> RuleSet((ValueRule("gender", ("female",)), IntervalRule("age", 40, None))).text
    'gender = female and age >= 40'
    """

    rules: tuple[Rule, ...]

    @property
    def text(self) -> str:
        """The rule set as people write it."""
        return " and ".join(rule.text for rule in self.rules)

    def matches(self, table: Table) -> NDArray[np.bool_]:
        """Return a mask of the rows of a table that satisfy every rule, shape (n,)."""
        matching = np.ones(len(table), dtype=bool)
        for rule in self.rules:
            if not isinstance(rule, ValueRule | IntervalRule):
                raise TypeError(f"{rule.text} is a rule about texts, not about rows")
            matching &= rule.matches(table)
        return matching

    def complement(self, table: Table) -> NDArray[np.bool_]:
        """Return a mask of the rows that the group is compared with, shape (n,).

        All others, without those in which a number is missing that there is an interval of.
        """
        outside = ~self.matches(table)
        for rule in self.rules:
            if isinstance(rule, IntervalRule):
                outside &= rule.known(table)
        return outside

"""Groups that the user names, as expressions: which rows they are, and an audit of just these.

Nothing is searched (Zhang et al., TestSGD, Algorithm 2, is about one rule set). So the intervals
hold for the groups that are named, whatever others there are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import NoReturn

from testsgd.auditing.outcome import RowAudit
from testsgd.auditing.parameters import AuditParameters
from testsgd.data import MISSING, Feature, Table
from testsgd.errors import ExpressionError, ParameterError
from testsgd.expressions import Junction, Membership, Node, Ordering, parse, quoted, read_number
from testsgd.rules import IntervalRule, Rule, RuleSet, SmallGroup, ValueRule, groups_of_rule_sets

# Values or features that a message lists.
_LISTED = 20
_POSSIBLE = (
    "write comparisons of sensitive features joined by and, such as 'sex = female and "
    "18 <= age < 30' or 'race in {A, B}'"
)


def check_no_search(parameters: AuditParameters) -> None:
    """Raise a ParameterError for parameters of a search beside groups that are named."""
    asked = {
        "holdout": parameters.holdout is not None,
        "within": bool(parameters.within),
        "max_features": parameters.max_features is not None,
        "bins": parameters.bins is not None,
        "stability": bool(parameters.stability),
    }
    for name, is_asked in asked.items():
        if is_asked:
            raise ParameterError(
                f"{name} is of a search, and of groups that are named there is none",
                where=name,
                remedy="leave it out, or name no groups",
                name=name,
            )


def named_rule_sets(groups: Sequence[str], table: Table) -> tuple[RuleSet, ...]:
    """Return the rule sets that expressions name, each once.

    Parameters
    ----------
    groups : sequence of str
        Expressions, each a conjunction of comparisons of sensitive features.
    table : Table
        The rows, with the description of their features.

    Returns
    -------
    tuple of RuleSet
        One rule a feature, in the order of the description.

    Raises
    ------
    ParameterError
        If one is no expression, is no conjunction, or has an unknown feature or value.
    """
    return tuple(dict.fromkeys(_Reader(text, table).rule_set() for text in groups))


def read_reference(text: str, table: Table) -> str:
    """Return a reference as reports write the group that it names; as it is if it cannot be read.

    Parameters
    ----------
    text : str
        An expression as for :func:`named_rule_sets`.
    table : Table
        The rows, with the description of their features.

    Returns
    -------
    str

    Raises
    ------
    ParameterError
        If it is an expression that names no group.
    """
    try:
        parse(text)
    except ExpressionError:
        return text
    return _Reader(text, table, name="reference").rule_set().text


def check_named_groups(groups: Sequence[str], table: Table) -> None:
    """Raise a ParameterError for expressions that name no group, or one without two sides.

    Parameters
    ----------
    groups : sequence of str
        Expressions, each a conjunction of comparisons of sensitive features.
    table : Table
        The rows, with the description of their features.

    Raises
    ------
    ParameterError
        If one cannot be read, or no row is inside of a group, or none outside.
    """
    for text in groups:
        rule_set = _Reader(text, table).rule_set()
        inside = int(rule_set.matches(table).sum())
        if inside and rule_set.complement(table).any():
            continue
        many = f"{inside:,} of the {len(table):,} rows that are audited"
        missing = "no row to compare it with" if inside else "no row to compare"
        raise ParameterError(
            f"it has {many}, so there is {missing}",
            where=f"group {text!r}",
            remedy="name a group that has some of these rows and not all of them, or leave it out",
            name="groups",
            rows=inside,
            of=len(table),
        )


def with_named_groups(audit: RowAudit, rule_sets: Sequence[RuleSet]) -> RowAudit:
    """Return an audit of just the groups that are named and have enough rows on both sides.

    Parameters
    ----------
    audit : RowAudit
        With axes that have the rules of these groups.
    rule_sets : sequence of RuleSet
        The groups.

    Returns
    -------
    RowAudit
        Groups with too few rows are in ``too_small``.
    """
    judged = []
    too_small = []
    for rule_set in rule_sets:
        inside = int(rule_set.matches(audit.table).sum())
        outside = int(rule_set.complement(audit.table).sum())
        enough = inside >= max(1, audit.min_count) and outside >= max(1, audit.min_outside)
        if not enough:
            too_small.append(SmallGroup(rule_set, inside))
        else:
            judged.append(rule_set)
    given = replace(groups_of_rule_sets(audit.axes, judged), candidates=len(rule_sets))
    return replace(audit, given=given, named=True, too_small=tuple(too_small))


@dataclass(frozen=True)
class _Reader:
    """Reads the rule set that an expression is."""

    text: str
    table: Table
    name: str = "groups"  # The parameter by which it was given.

    def rule_set(self) -> RuleSet:
        """Return the rules, in the order of the sensitive features."""
        try:
            root = parse(self.text).root
        except ExpressionError as error:
            raise ParameterError(
                error.what,
                where=f"{self.name}: {error.where}",
                remedy=error.remedy,
                **error.details,
            ) from error
        comparisons: dict[str, list[Ordering | Membership]] = {}
        for comparison in self._comparisons(root):
            self._check_feature(comparison.name)
            comparisons.setdefault(comparison.name, []).append(comparison)
        sensitive = self.table.specification.sensitive
        return RuleSet(
            tuple(self._rule(name, comparisons[name]) for name in sensitive if name in comparisons)
        )

    def _fail(self, what: str, remedy: str = _POSSIBLE) -> NoReturn:
        if remedy == _POSSIBLE and self.name == "groups":
            remedy += "; name a further group by itself"
        called = self.name.removesuffix("s")
        raise ParameterError(what, where=f"{called} {self.text!r}", remedy=remedy, name=self.name)

    def _comparisons(self, node: Node) -> list[Ordering | Membership]:
        """Return the comparisons that all hold; anything else is refused."""
        if isinstance(node, Junction) and node.every:
            return [item for part in node.parts for item in self._comparisons(part)]
        if isinstance(node, Ordering) or (isinstance(node, Membership) and node.among):
            return [node]
        what = "or" if isinstance(node, Junction) else "not"
        if isinstance(node, Membership):
            what = "!=" if "!=" in self.text else "not in"
        return self._fail(f"a group is given by rules that all hold, without {what!r}")

    def _check_feature(self, name: str) -> None:
        specification = self.table.specification
        sensitive = specification.sensitive
        if name in sensitive:
            return
        listed = f"the sensitive features are {_listed(sensitive)}"
        if name in specification.features:
            self._fail(f"the feature {name!r} is not sensitive", listed)
        near = get_close_matches(name, list(specification.features), n=1)
        meant = f"{near[0]!r} is near; " if near else ""
        self._fail(f"there is no feature {name!r}", f"{meant}{listed}")

    def _rule(self, name: str, comparisons: Sequence[Ordering | Membership]) -> Rule:
        """Return the one rule over a feature that its comparisons are together."""
        feature = self.table.specification.features[name]
        orderings = [item for item in comparisons if isinstance(item, Ordering)]
        memberships = [item for item in comparisons if isinstance(item, Membership)]
        if not feature.continuous:
            if orderings:
                values = _listed([quoted(value) for value in feature.values or []])
                self._fail(
                    f"{name!r} has values that are not ordered",
                    f"compare by = or in {{...}}; the values are {values}",
                )
            return self._values(name, feature, memberships)
        if memberships:
            if orderings or len(memberships) > 1:
                self._fail(f"the rules on {name!r} do not make one interval", _POSSIBLE)
            return self._numbers(name, feature, memberships[0])
        low, high = -math.inf, math.inf
        for item in orderings:
            start, stop = self._interval(feature, item)
            low, high = max(low, start), min(high, stop)
        if low >= high:
            self._fail(f"the rules on {name!r} hold for no number", "correct the limits")
        return IntervalRule(
            name, None if math.isinf(low) else low, None if math.isinf(high) else high
        )

    def _interval(self, feature: Feature, item: Ordering) -> tuple[float, float]:
        """Return the interval of one comparison, its lower end included and the upper one not."""
        bound = float(item.bound)
        if not math.isfinite(bound):
            self._fail(f"{item.bound} is no finite number", "give another limit")
        if item.order in ("<=", ">"):
            if feature.type != "integer":
                other = "<" if item.order == "<=" else ">="
                self._fail(
                    f"an interval of {item.name!r} holds its lower limit and not its upper one, "
                    f"which {item.order} does not",
                    f"write {item.name} {other} {item.bound:g}",
                )
            # Of whole numbers those up to 40 are those below 41.
            bound = math.floor(bound) + 1.0
        return (-math.inf, bound) if item.order in ("<", "<=") else (bound, math.inf)

    def _numbers(self, name: str, feature: Feature, item: Membership) -> Rule:
        """Return the rule that a number is missing, or one of adjacent whole numbers."""
        if item.values == (None,):
            return ValueRule(name, (MISSING,))
        whole = {
            int(value)
            for value in item.values
            if isinstance(value, (int, float)) and float(value).is_integer()
        }
        numbers = sorted(whole)
        others = len(set(item.values)) - len(numbers)
        adjacent = bool(numbers) and numbers[-1] - numbers[0] == len(numbers) - 1
        if feature.type != "integer" or others or not adjacent:
            self._fail(
                f"the values of {name!r} are no interval",
                f"write an interval such as 18 <= {quoted(name)} < 25, or {quoted(name)} = missing",
            )
        return IntervalRule(name, float(numbers[0]), float(numbers[-1] + 1))

    def _values(self, name: str, feature: Feature, memberships: Sequence[Membership]) -> ValueRule:
        """Return the rule that a feature has one of the values that all comparisons allow."""
        declared = [*(feature.values or []), MISSING]
        sets = [
            {self._value(name, given, declared) for given in item.values} for item in memberships
        ]
        chosen = set.intersection(*sets)
        if not chosen:
            self._fail(f"the rules on {name!r} hold for no value", "correct the values")
        return ValueRule(name, tuple(value for value in declared if value in chosen))

    def _value(self, name: str, given: float | str | None, declared: Sequence[str]) -> str:
        """Return the declared value that is meant."""
        if given is None:
            return MISSING
        for value in declared:
            if value == str(given) or (not isinstance(given, str) and read_number(value) == given):
                return value
        # A boolean is written in one way in descriptions, and in several by people.
        same = [value for value in declared if value.lower() == str(given).lower()]
        if len(same) == 1 and same[0].lower() in ("true", "false"):
            return same[0]
        near = same or get_close_matches(str(given), declared, n=1)
        meant = f"{quoted(near[0])} is near; " if near else ""
        return self._fail(
            f"{name!r} has no value {str(given)!r}",
            f"{meant}the values are {_listed([quoted(value) for value in declared[:-1]])}",
        )


def _listed(names: Sequence[str]) -> str:
    more = f", ... ({len(names)} in all)" if len(names) > _LISTED else ""
    return f"{', '.join(names[:_LISTED])}{more}"

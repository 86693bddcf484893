"""Rules: groups of people given by conditions on sensitive features, and the search over them."""

from testsgd.rules.axes import Axis, CategoryAxis, IntervalAxis, bin_edges, sensitive_axes
from testsgd.rules.contingency import Contingency, lay_out
from testsgd.rules.lattice import candidate_count, feature_subsets, rule_set_sums
from testsgd.rules.mining import FrequentRuleSets, mine
from testsgd.rules.rule import IntervalRule, Rule, RuleSet, ValueRule
from testsgd.rules.small import SmallGroup, small_groups

__all__ = [
    "Axis",
    "CategoryAxis",
    "Contingency",
    "FrequentRuleSets",
    "IntervalAxis",
    "IntervalRule",
    "Rule",
    "RuleSet",
    "SmallGroup",
    "ValueRule",
    "bin_edges",
    "candidate_count",
    "feature_subsets",
    "lay_out",
    "mine",
    "rule_set_sums",
    "sensitive_axes",
    "small_groups",
]

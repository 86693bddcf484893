"""Rules: groups given by conditions on sensitive features or terms, and the search over them."""

from testsgd.rules.axes import Axis, CategoryAxis, IntervalAxis, bin_edges, sensitive_axes
from testsgd.rules.contingency import Contingency, lay_out
from testsgd.rules.lattice import candidate_count, feature_subsets, rule_set_sums
from testsgd.rules.mining import FrequentRuleSets, mine
from testsgd.rules.rule import IntervalRule, Rule, RuleSet, ValueRule
from testsgd.rules.small import SmallGroup, Unjudged, small_groups, unjudged_rows
from testsgd.rules.text import (
    CategoryRule,
    CategorySet,
    Mentions,
    TermRule,
    TermRuleSets,
    find_mentions,
    frequent_term_sets,
    small_category_sets,
)

__all__ = [
    "Axis",
    "CategoryAxis",
    "CategoryRule",
    "CategorySet",
    "Contingency",
    "FrequentRuleSets",
    "IntervalAxis",
    "IntervalRule",
    "Mentions",
    "Rule",
    "RuleSet",
    "SmallGroup",
    "TermRule",
    "TermRuleSets",
    "Unjudged",
    "ValueRule",
    "bin_edges",
    "candidate_count",
    "feature_subsets",
    "find_mentions",
    "frequent_term_sets",
    "lay_out",
    "mine",
    "rule_set_sums",
    "sensitive_axes",
    "small_category_sets",
    "small_groups",
    "unjudged_rows",
]

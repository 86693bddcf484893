"""Rules over texts: the sensitive terms in them, and the search for frequent sets of terms."""

from testsgd.rules.text.matching import Mentions, find_mentions
from testsgd.rules.text.near_copies import nearly_equal
from testsgd.rules.text.term_rule import CategoryRule, TermRule
from testsgd.rules.text.term_sets import (
    CategorySet,
    TermRuleSets,
    frequent_term_sets,
    small_category_sets,
    term_sets_over,
)

__all__ = [
    "CategoryRule",
    "CategorySet",
    "Mentions",
    "TermRule",
    "TermRuleSets",
    "find_mentions",
    "frequent_term_sets",
    "nearly_equal",
    "small_category_sets",
    "term_sets_over",
]

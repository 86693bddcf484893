"""Comparison: what several methods find on one model, and what each finds that the others miss."""

from testsgd.comparison.matching import NEAR, Split, alikeness, nearness, splits_of
from testsgd.comparison.methods import AUDIT, method_names, resolve_methods
from testsgd.comparison.outcome import (
    ComparedFinding,
    ComparedMethod,
    Comparison,
    InAudit,
    Nearest,
    Search,
    Side,
)
from testsgd.comparison.own import audit_as_method, time_search
from testsgd.comparison.run import RunBaseline, compare_methods
from testsgd.comparison.side_by_side import FIRST_FINDINGS, side_by_side
from testsgd.comparison.yardstick import side_of

__all__ = [
    "AUDIT",
    "FIRST_FINDINGS",
    "NEAR",
    "ComparedFinding",
    "ComparedMethod",
    "Comparison",
    "InAudit",
    "Nearest",
    "RunBaseline",
    "Search",
    "Side",
    "Split",
    "alikeness",
    "audit_as_method",
    "compare_methods",
    "method_names",
    "nearness",
    "resolve_methods",
    "side_by_side",
    "side_of",
    "splits_of",
    "time_search",
]

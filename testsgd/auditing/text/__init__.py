"""Auditing texts: what mentioning a sensitive term does to the model's answers."""

from testsgd.auditing.text.clustering import text_clusters
from testsgd.auditing.text.findings import Counterfactual, TextFindings
from testsgd.auditing.text.given import TermGroup, TermGroupMeasure, measure_term_groups
from testsgd.auditing.text.run import run_text_audit

__all__ = [
    "Counterfactual",
    "TermGroup",
    "TermGroupMeasure",
    "TextFindings",
    "measure_term_groups",
    "run_text_audit",
    "text_clusters",
]

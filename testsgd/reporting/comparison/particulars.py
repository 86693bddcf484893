"""Particulars of a comparison: data, model, settings and run, as facts with names."""

from __future__ import annotations

from testsgd.report.blocks import Facts
from testsgd.report.formatting import count, moment, number, percent, seconds, share
from testsgd.reporting.comparison.phrases import HOLDS_FOR, nearness
from testsgd.reporting.comparison.summary import ComparisonSummary
from testsgd.reporting.document_kind import time_facts, version_facts
from testsgd.reporting.particulars import data_facts, model_facts
from testsgd.reporting.vocabulary import words_for


def comparison_particulars(summary: ComparisonSummary) -> tuple[Facts, ...]:
    """List the particulars of the data, the model, the settings and the run.

    Parameters
    ----------
    summary : ComparisonSummary
        The comparison.

    Returns
    -------
    tuple of Facts
    """
    words, chosen = words_for(summary.data.kind), summary.settings
    limit = "none" if chosen.time_limit is None else seconds(chosen.time_limit)
    return (
        data_facts(summary.data, words),
        model_facts("Model", summary.model, words),
        Facts(
            "Settings",
            (
                ("Methods", ", ".join(chosen.methods)),
                ("Time limit of each method", limit),
                ("Smallest support (theta)", share(chosen.theta)),
                ("Features in a rule set, at most", count(chosen.max_features)),
                ("Bins", "as the data set says" if chosen.bins is None else count(chosen.bins)),
                (
                    "Confidence of intervals",
                    f"{number(chosen.confidence)}, {HOLDS_FOR[chosen.guarantee]}",
                ),
                ("Near: Jaccard's index, at least", nearness(chosen.near)),
                ("Copies of one method: at least", nearness(chosen.copies)),
                ("Seed", str(chosen.seed)),
            ),
        ),
        Facts(
            "Run",
            (
                ("Written", moment(summary.created)),
                ("Mode of the audit", summary.mode),
                (f"Rate of “{summary.data.label.favourable}”", percent(summary.overall_rate)),
                *time_facts(summary),
                *version_facts(summary),
            ),
        ),
    )

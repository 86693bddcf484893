"""Particulars of an audit: its data, model, steps, settings and run, as facts with names."""

from __future__ import annotations

from dataclasses import dataclass

from testsgd.reporting.summary import AuditSummary, TermsSummary
from testsgd.reporting.vocabulary import vocabulary
from testsgd.reporting.wording import (
    count,
    mode_name,
    moment,
    number,
    percent,
    seconds,
    share,
    size_points,
)


@dataclass(frozen=True)
class Section:
    """Facts under one title, each a name and a text; neither is escaped for any view."""

    title: str
    facts: tuple[tuple[str, str], ...]


def particulars(summary: AuditSummary) -> tuple[Section, ...]:
    """List the particulars of the data, the model, the steps, the settings and the run.

    Parameters
    ----------
    summary : AuditSummary
        The audit.

    Returns
    -------
    tuple of Section
        Facts that are not known are left out, but for licence and citation: their absence matters.
    """
    data, model, words = summary.data, summary.model, vocabulary(summary)
    return (
        _section(
            "Data",
            ("Name", data.name),
            ("Title", data.title),
            ("Description", data.description),
            (words.many.capitalize(), count(data.rows)),
            ("Source", data.source),
            ("Licence", data.licence or "not stated"),
            ("Citation", data.citation or "not stated"),
            ("Fingerprint (sha256)", data.fingerprint),
            *_list_of_terms(summary.terms),
        ),
        _section(
            "Model",
            ("Name", model.name),
            ("Kind", model.kind),
            ("Output", model.output),
            ("Threshold", "" if model.threshold is None else number(model.threshold)),
            (
                "Agrees with the labels in the file",
                ""
                if model.accuracy is None
                else f"for {percent(model.accuracy)} of the {words.many}",
            ),
            *model.card.items(),
            ("Fingerprint of its decisions (sha256)", model.fingerprint),
            ("File (sha256)", model.file_sha256 or ""),
        ),
        _steps(summary),
        _settings(summary),
        _section(
            "Run",
            ("Written", moment(summary.created)),
            (words.generated, count(summary.neighbourhood)),
            (f"{words.many.capitalize()} the model was asked about", count(summary.model_queries)),
            *((f"Time: {phase}", seconds(time)) for phase, time in summary.seconds.items()),
            *((f"Version: {name}", version) for name, version in summary.versions.items()),
        ),
    )


def _list_of_terms(terms: TermsSummary | None) -> tuple[tuple[str, str], ...]:
    if terms is None:
        return ()
    return (
        ("Sensitive terms", terms.name),
        ("Source of the terms", terms.source),
        ("Fingerprint of the terms (sha256)", terms.fingerprint),
    )


def _steps(summary: AuditSummary) -> Section:
    counts, words = summary.counts, vocabulary(summary)
    folded = "Groups, after folding rule sets that select the same rows"
    return _section(
        "From rule sets to groups",
        (f"Rule sets that the sensitive {words.features} allow", count(counts.candidates)),
        (words.frequent.format(share(summary.parameters.theta)), count(counts.frequent)),
        # Rule sets of texts never select the same texts, so nothing is folded there.
        (folded, count(counts.groups) if words.kind == "rows" else ""),
        ("Groups decided", count(counts.decided)),
        ("Frequent groups not decided", count(counts.undecided_frequent)),
        ("Groups too small to be judged", count(counts.undecided_small)),
    )


def _settings(summary: AuditSummary) -> Section:
    chosen = summary.parameters
    gate, words = chosen.fail_above, vocabulary(summary)
    bins = "as the data set says" if chosen.bins is None else count(chosen.bins)
    return _section(
        "Settings",
        ("Smallest support (theta)", share(chosen.theta)),
        ("Error margin", size_points(chosen.error_margin)),
        ("Confidence on each side", number(chosen.confidence)),
        ("Samples on each side, at least", count(chosen.min_samples)),
        ("Mode asked for", chosen.mode),
        ("Mode used", mode_name(summary)),
        ("Sampling asked for", chosen.sampling),
        ("Model queries, at most", count(chosen.max_queries)),
        (f"{words.features.capitalize()} in a rule set, at most", count(chosen.max_features)),
        ("Bins", bins if words.kind == "rows" else ""),
        ("Ranked by", chosen.rank_by if words.kind == "texts" else ""),
        ("Groups to report", count(chosen.top)),
        ("Overlap from which two groups are one finding", percent(chosen.overlap)),
        ("Fail above", "no gate" if gate is None else size_points(gate)),
        ("Seed", str(chosen.seed)),
    )


def _section(title: str, *facts: tuple[str, str]) -> Section:
    return Section(title, tuple((name, text) for name, text in facts if text))

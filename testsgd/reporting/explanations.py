"""What the numbers of an audit mean, and what else a reader must know of it, in words."""

from __future__ import annotations

from dataclasses import dataclass

from testsgd.reporting.summary import AuditSummary
from testsgd.reporting.wording import (
    count,
    mode_name,
    moment,
    number,
    percent,
    seconds,
    share,
    size_points,
    z_value,
)


@dataclass(frozen=True)
class Note:
    """One thing a reader must know.

    Attributes
    ----------
    term : str
        What the note is about.
    text : str
        Plain text, not escaped for any view.
    """

    term: str
    text: str


def meaning_notes(summary: AuditSummary) -> tuple[Note, ...]:
    """Explain the numbers of an audit.

    Parameters
    ----------
    summary : AuditSummary
        The audit; its settings appear in the explanations.

    Returns
    -------
    tuple of Note
        In the order in which a reader needs them.
    """
    label = summary.data.label.favourable
    overlap = percent(summary.parameters.overlap)
    return (
        Note(
            "Rate",
            f"How often the model predicts “{label}”. It is counted over perturbed rows: copies of "
            "the rows of the file in which one feature that is not sensitive has moved by one "
            "small step. Sensitive features stay as they are, so a row never changes its group.",
        ),
        Note(
            "Difference and score",
            "The difference is the rate in the group minus the rate outside it. A negative "
            "difference means that the group is given the favourable label less often. Outside are "
            "all other rows, not a chosen reference group. The score is the difference without its "
            "sign. One point is one percentage point.",
        ),
        Note("Sampling margin", _sampling_margin(summary)),
        Note("Population interval", _population_interval(summary)),
        Note(
            "Searching many groups",
            f"{count(summary.counts.groups)} groups were compared and the list begins with the "
            "largest differences. A group at the top is there partly by luck, so its difference is "
            "likely to be somewhat smaller in other data. Every interval is meant for one group; "
            "they do not hold for all groups at once. Rows that played no part in this audit are "
            "the way to confirm a finding.",
        ),
        Note(
            "Distinct groups",
            "Many rule sets select nearly the same rows. A group is called distinct if its rows "
            f"overlap (Jaccard) by less than {overlap} with each distinct group ranked above it.",
        ),
        Note(
            "Groups that are not judged",
            "A group with too few rows, or one whose sampling margin stayed too wide, is neither "
            "fair nor unfair here. What the model does to it is unknown.",
        ),
        Note(
            "What a difference does not show",
            "A difference is not by itself wrongdoing, and the TestSGD paper says so too: it may "
            "have causes, and whether they justify it is for people who know the field to judge. "
            "Nor does a small difference prove that a group is treated rightly. This report says "
            "where to look.",
        ),
        Note(
            "Decisions, not outcomes",
            "The rates describe what the model decides. They do not say what became of the people, "
            "and they do not say whether the decisions are right.",
        ),
    )


def _sampling_margin(summary: AuditSummary) -> str:
    if summary.mode == "exact":
        return (
            "How far a score may be off because the model was asked about samples only. This audit "
            f"is exact: all {count(summary.neighbourhood)} perturbed rows were predicted, so there "
            "is no sampling error and the margin is zero."
        )
    confidence = summary.parameters.confidence
    return (
        "How far a score may be off because the model was asked about samples only. The margins of "
        f"the rate inside and of the rate outside are added. Each side is given a confidence of "
        f"{number(confidence)} (z = {z_value(confidence)}), so both hold together with a "
        f"confidence of {number(confidence)} squared, which is {number(confidence**2)} (Theorem "
        "4.2 of the TestSGD paper by Zhang, Sun, Wang and Sun). The margin says nothing about the "
        "people who are missing from the file. A group is decided once its margin is at most "
        f"{size_points(summary.parameters.error_margin)}."
    )


def _population_interval(summary: AuditSummary) -> str:
    text = (
        "The people in the file are themselves a sample. The interval says, with a confidence of "
        f"{number(summary.parameters.confidence)}, where the difference may lie in the population "
        "they come from, if they were drawn from it at random. How wide it is depends on how many "
        "rows there are on each side. "
    )
    if summary.mode == "exact":
        return text + "Asking the model more often would not narrow it."
    return text + (
        "The error of sampling is part of it, so more queries of the model narrow it somewhat, "
        "but never below what the number of rows allows."
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
    data, model = summary.data, summary.model
    return (
        _section(
            "Data",
            ("Name", data.name),
            ("Title", data.title),
            ("Description", data.description),
            ("Rows", count(data.rows)),
            ("Source", data.source),
            ("Licence", data.licence or "not stated"),
            ("Citation", data.citation or "not stated"),
            ("Fingerprint (sha256)", data.fingerprint),
        ),
        _section(
            "Model",
            ("Name", model.name),
            ("Kind", model.kind),
            ("Output", model.output),
            ("Threshold", "" if model.threshold is None else number(model.threshold)),
            (
                "Agrees with the labels in the file",
                "" if model.accuracy is None else f"for {percent(model.accuracy)} of the rows",
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
            ("Perturbed rows that the data set allows", count(summary.neighbourhood)),
            ("Rows the model was asked about", count(summary.model_queries)),
            *((f"Time: {phase}", seconds(time)) for phase, time in summary.seconds.items()),
            *((f"Version: {name}", version) for name, version in summary.versions.items()),
        ),
    )


def _steps(summary: AuditSummary) -> Section:
    counts = summary.counts
    return _section(
        "From rule sets to groups",
        ("Rule sets that the sensitive features allow", count(counts.candidates)),
        (
            f"Frequent: at least {share(summary.parameters.theta)} of the rows, and somebody "
            "outside",
            count(counts.frequent),
        ),
        ("Groups, after folding rule sets that select the same rows", count(counts.groups)),
        ("Groups decided", count(counts.decided)),
        ("Frequent groups not decided", count(counts.undecided_frequent)),
        ("Groups too small to be judged", count(counts.undecided_small)),
    )


def _settings(summary: AuditSummary) -> Section:
    chosen = summary.parameters
    gate = chosen.fail_above
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
        ("Features in a rule set, at most", count(chosen.max_features)),
        ("Bins", "as the data set says" if chosen.bins is None else count(chosen.bins)),
        ("Groups to report", count(chosen.top)),
        ("Overlap from which two groups are one finding", percent(chosen.overlap)),
        ("Fail above", "no gate" if gate is None else size_points(gate)),
        ("Seed", str(chosen.seed)),
    )


def _section(title: str, *facts: tuple[str, str]) -> Section:
    return Section(title, tuple((name, text) for name, text in facts if text))

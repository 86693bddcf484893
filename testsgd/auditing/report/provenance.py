"""Where an audit is from: its data, model, steps, settings and run, as facts with names."""

from __future__ import annotations

from testsgd.auditing.report.summary import AuditSummary, DataSummary, ModelSummary
from testsgd.auditing.report.vocabulary import Words, vocabulary
from testsgd.auditing.report.wording import ADJUSTMENTS, inside_only, mode_name
from testsgd.data.categories import equal_labels
from testsgd.report.blocks import Facts
from testsgd.report.formatting import count, moment, number, percent, series, share, size_points
from testsgd.report.summaries import time_facts, version_facts

_GUARANTEES = {
    "per-group": "one group at a time",
    "simultaneous": "all groups at once",
    "fdr": "discoveries",
}


def particulars(summary: AuditSummary) -> tuple[Facts, ...]:
    """List the particulars of the data, the model, the steps, the settings and the run.

    Facts that are not known are left out, but for licence and citation: their absence matters.
    """
    words = vocabulary(summary)
    terms = summary.terms
    listed: list[tuple[str, str]] = []
    if terms is not None:
        listed += ("Sensitive terms", terms.name), ("Source of the terms", terms.source)
        listed.append(("Fingerprint of the terms (sha256)", terms.fingerprint))
    existing = summary.data.predictions_given
    asked = f"{words.many.capitalize()} the model was asked about"
    return (
        data_facts(summary.data, words, *listed),
        model_facts("Model", summary.model, words),
        _steps(summary),
        _settings(summary),
        Facts(
            "Run",
            (
                ("Written", moment(summary.created)),
                (words.generated, "" if existing else count(summary.neighbourhood)),
                (asked, "" if existing else count(summary.model_queries)),
                *time_facts(summary),
                *version_facts(summary),
            ),
        ),
    )


def data_facts(data: DataSummary, words: Words, *more: tuple[str, str]) -> Facts:
    """List what is known of the rows or texts, and more facts about them."""
    return Facts(
        "Data",
        (
            ("Name", data.name),
            ("Title", data.title),
            ("Description", data.description),
            (words.many.capitalize(), count(data.rows)),
            ("Source", data.source),
            ("Licence", data.licence or "not stated"),
            ("Citation", data.citation or "not stated"),
            ("Fingerprint (sha256)", data.fingerprint),
            *more,
        ),
    )


def model_facts(title: str, model: ModelSummary, words: Words) -> Facts:
    """List what is known of a model."""
    changing = f"for {percent(model.changing)} of the first {words.many}" if model.changing else ""
    if model.changing is None:
        changing = "not looked at: its answers are kept"
    agrees = "" if model.accuracy is None else f"for {percent(model.accuracy)} of the {words.many}"
    if agrees and len(model.other_labels) > 1:
        agrees += ", as to the favourable label or another"
    return Facts(
        title,
        (
            ("Name", model.name),
            ("Kind", model.kind),
            ("Output", model.output),
            ("Threshold", "" if model.threshold is None else number(model.threshold)),
            ("Features it is not given", series(model.not_given)),
            ("Columns passed through to it, never perturbed", series(model.passed_through)),
            ("Its answers are read", _reading(model)),
            ("Answers otherwise when asked again", changing),
            ("Agrees with the labels in the file", agrees),
            # Cards of made-up data have keys without a value.
            *((name, "" if text == "None" else text) for name, text in model.card.items()),
            ("Fingerprint of its decisions (sha256)", model.fingerprint),
            ("File (sha256)", model.file_sha256 or ""),
        ),
    )


def _reading(model: ModelSummary) -> str:
    """Return the sentence that says how a model's labels are read; empty if there is nothing."""
    if model.read_as:
        words = [f"{text} as “{word}”" for text, word in model.read_as.items()]
        if model.read_as == equal_labels(model.read_as.values()):
            return f"{series(words)}, which is the same label."
        return f"{series(words)}, as the description says of its labels."
    if model.other_labels:
        others = series([f"“{word}”" for word in model.other_labels])
        return f"The favourable label is compared with all others together: {others}."
    return ""


def _frequent(summary: AuditSummary) -> str:
    """Name the number of frequent rule sets."""
    name = vocabulary(summary).frequent.format(count(summary.unjudged.fewest))
    return inside_only(name, summary)


def _steps(summary: AuditSummary) -> Facts:
    counts = summary.counts
    words = vocabulary(summary)
    if summary.parameters.groups:
        return Facts(
            "Groups that were named, without a search",
            (
                ("Groups named", count(counts.candidates)),
                (_frequent(summary), count(counts.frequent)),
                ("Groups decided", count(counts.decided)),
                ("Large enough and not decided", count(counts.undecided_frequent)),
                ("Groups too small to be judged", count(counts.undecided_small)),
                (
                    "Own effects of the sensitive features are not known",
                    summary.own_effects_unknown,
                ),
            ),
        )
    unjudged = summary.unjudged
    not_judged = f"{count(unjudged.unjudged)} of {count(unjudged.combinations)}"
    only = f"{count(unjudged.rows)} ({percent(unjudged.share)})"
    folded = "Groups, after folding rule sets that select the same rows"
    return Facts(
        "From rule sets to groups",
        (
            (f"Rule sets that the sensitive {words.features} allow", count(counts.candidates)),
            (_frequent(summary), count(counts.frequent)),
            # Rule sets of texts never select the same texts, so nothing is folded there.
            (folded, count(counts.groups) if words.kind == "rows" else ""),
            ("Groups decided", count(counts.decided)),
            ("Frequent groups not decided", count(counts.undecided_frequent)),
            ("Groups too small to be judged", count(counts.undecided_small)),
            (f"{words.combinations.capitalize()} not judged", not_judged),
            (f"{words.many.capitalize()} in such combinations", only),
            ("Own effects of the sensitive features are not known", summary.own_effects_unknown),
        ),
    )


def _settings(summary: AuditSummary) -> Facts:
    chosen = summary.parameters
    gate = chosen.fail_above
    words = vocabulary(summary)
    guarantee = summary.guarantee
    critical = guarantee.critical_value
    draws = chosen.nondeterministic
    answers = "" if draws is None else count(draws)
    bins = "as the data set says" if chosen.bins is None else count(chosen.bins)
    if chosen.groups:
        bins = "at the limits that are named, else as the data set says"
    sides = "on each side" if chosen.theta_side == "both" else "inside, and 1 outside"
    return Facts(
        "Settings",
        (
            ("Estimand", chosen.estimand),
            ("Support threshold (theta)", "" if chosen.theta is None else share(chosen.theta)),
            (f"{words.many.capitalize()} {sides}, at least", count(summary.unjudged.fewest)),
            ("Error margin", size_points(chosen.error_margin)),
            ("Confidence on each side", number(chosen.confidence)),
            ("Samples on each side, at least", count(chosen.min_samples)),
            ("Confidence intervals hold for", _GUARANTEES[guarantee.kind]),
            ("Method", ADJUSTMENTS[guarantee.method]),
            ("Critical value", "" if critical is None else f"{critical:.2f}"),
            ("Bootstrap samples", count(guarantee.replicates) if guarantee.replicates else ""),
            ("Mode asked for", chosen.mode),
            ("Mode used", mode_name(summary)),
            ("Sampling asked for", chosen.sampling),
            ("Margin asked for", "" if summary.mode == "exact" else chosen.interval),
            ("Model queries, at most", count(chosen.max_queries or 0)),
            (f"{words.features.capitalize()} in a rule set, at most", count(chosen.depth)),
            ("Groups named", "; ".join(chosen.groups)),
            ("Bins", bins if words.kind == "rows" else ""),
            ("Ranked by", chosen.ranked_by),
            ("Groups to report", count(chosen.top)),
            ("Overlap from which groups are near-duplicates", percent(chosen.overlap)),
            ("Held out", "" if chosen.holdout is None else share(chosen.holdout)),
            ("Conditional on", series(chosen.condition_on)),
            ("Within slices of", series(chosen.within)),
            ("Only rows with", chosen.rows or ""),
            ("Answers to each question, of which means are taken", answers),
            ("Fail above", "no gate" if gate is None else size_points(gate)),
            (
                "Fail below the ratio",
                "" if chosen.fail_below_ratio is None else number(chosen.fail_below_ratio),
            ),
            ("Strict", f"at most {share(chosen.max_unjudged)} not judged" if chosen.strict else ""),
            ("Seed", str(chosen.seed)),
            ("Runs, each with the next seed", "" if chosen.runs == 1 else count(chosen.runs)),
        ),
    )

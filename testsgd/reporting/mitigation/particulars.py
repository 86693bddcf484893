"""Particulars of a mitigation: data, split, models, settings and run, as facts with names."""

from __future__ import annotations

from testsgd.report.formatting import count, moment, seconds, series, share, size_points
from testsgd.reporting.mitigation.phrases import KINDS, budget, estimated
from testsgd.reporting.mitigation.summary import MitigationSummary
from testsgd.reporting.particulars import Section, data_section, model_section, section
from testsgd.reporting.vocabulary import words_for

SIDES = {
    "auto": "the smaller side, if it has less than a tenth, or else of both",
    "group": "the group",
    "rest": "everybody else",
    "both": "the group and everybody else",
}
FALLBACKS = {
    "nearest": "relabel those nearest to the decision boundary",
    "none": "go on with fewer",
}


def mitigation_particulars(summary: MitigationSummary) -> tuple[Section, ...]:
    """List the particulars of the data, the split, the models, the settings and the run.

    Parameters
    ----------
    summary : MitigationSummary
        The mitigation.

    Returns
    -------
    tuple of Section
    """
    words = words_for(summary.data.kind)
    split, many = summary.split, words.many
    retrained = (
        ()
        if summary.retrained is None
        else (model_section("Retrained model", summary.retrained, words),)
    )
    return (
        data_section(summary.data, words),
        section(
            "Split",
            (f"Training {many}", count(split.training)),
            (f"Validation {many}", count(split.validation)),
            (f"Held-out {many}", count(split.held_out)),
            ("Left out, as they repeat others", count(split.repeats) if split.repeats else ""),
            ("Where the split is from", split.source),
            (
                "The group was found on",
                f"the {many} that are not held out" if split.unseen else f"all {many}",
            ),
            ("What candidates lose is judged by", _judged_by(summary)),
            ("What is doubtful about it", split.warning),
        ),
        _settings(summary),
        model_section("Original model", summary.original, words),
        *retrained,
        section(
            "Run",
            ("Written", moment(summary.created)),
            *((f"Time: {phase}", seconds(time)) for phase, time in summary.seconds.items()),
            *((f"Version: {name}", version) for name, version in summary.versions.items()),
        ),
    )


def _settings(summary: MitigationSummary) -> Section:
    chosen, words = summary.settings, words_for(summary.data.kind)
    return section(
        "Settings",
        ("Group", "" if chosen.group is None else f"rank {chosen.group} of the audit"),
        (
            "All groups above",
            "" if chosen.all_above is None else size_points(chosen.all_above),
        ),
        ("Accuracy that may be lost", budget(chosen.max_accuracy_drop)),
        ("Balanced accuracy that may be lost", budget(chosen.max_balanced_drop)),
        ("Runs", count(chosen.runs)),
        ("Kinds of samples tried", _kinds(summary)),
        ("Numbers of samples tried in a run", count(chosen.steps)),
        ("Samples in the first step", count(chosen.fewest_samples)),
        (f"In the last step, of the training {words.many}", share(chosen.largest_share)),
        ("Samples are of", SIDES[chosen.side].replace("everybody else", words.others)),
        ("If there are too few", FALLBACKS[chosen.fallback]),
        ("Samples drawn for a target, at most", count(chosen.max_draws)),
        ("Retrained", summary.refitted_as),
        ("Networks learn", "softened labels" if chosen.soften else "the labels as they are"),
        ("Seed", str(chosen.seed)),
    )


def _judged_by(summary: MitigationSummary) -> str:
    many = words_for(summary.data.kind).many
    if summary.split.judged_by == "cross-validation":
        return f"repeated cross-validation on all {many} but the held-out"
    if estimated(summary.split):
        return f"the larger loss by labels of validation {many} and by cross-fitted probabilities"
    return f"the labels of validation {many}"


def _kinds(summary: MitigationSummary) -> str:
    if summary.settings.samples != "auto":
        return summary.settings.samples
    tried = {candidate.kind for candidate in summary.candidates}
    return series([kind for kind in KINDS if kind in tried])

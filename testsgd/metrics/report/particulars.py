"""The particulars of an audit of metrics: data, model, settings and run."""

from __future__ import annotations

from testsgd.auditing.report.provenance import data_facts
from testsgd.auditing.report.vocabulary import PredictionWords
from testsgd.metrics.report import wording
from testsgd.metrics.report.summary import MetricsSummary
from testsgd.report.blocks import Block, Bullets, Facts
from testsgd.report.formatting import count, moment, number, share
from testsgd.report.summaries import time_facts, version_facts

_WORDS = PredictionWords("selection_rate")


def particulars(summary: MetricsSummary) -> tuple[Block, ...]:
    """List the particulars of the data, the predictions, the settings and the run."""
    parameters = summary.parameters
    guarantee = (
        "all groups and metrics at once"
        if parameters.guarantee == "simultaneous"
        else "one group and metric at a time"
    )
    notes: tuple[Block, ...] = ()
    if summary.data.notes:
        notes = (Bullets(tuple(summary.data.notes)),)
    return (
        data_facts(summary.data, _WORDS),
        *_model_facts(summary),
        *notes,
        Facts(
            "Settings",
            (
                ("Metrics", ", ".join(metric.name for metric in summary.metrics)),
                ("Predictions", summary.predictions),
                ("Reference", wording.reference_words(parameters.reference)),
                ("Compared by", parameters.measure),
                ("Fewest rows that count, on each side", count(parameters.min_rows)),
                ("Rules in a rule set, at most", count(parameters.depth)),
                ("Confidence", f"{number(parameters.confidence)}, {guarantee}"),
                ("Bootstrap samples", count(summary.replicates)),
                ("Bootstrap samples for stability", count(summary.stability_samples)),
                *(
                    (("Held out", share(parameters.holdout)),)
                    if parameters.holdout is not None
                    else ()
                ),
                *(
                    (("Strict", f"at most {share(parameters.max_unjudged)} not judged"),)
                    if parameters.strict
                    else ()
                ),
                ("Seed", str(parameters.seed)),
                *(
                    (f"Error rate of an interval: {metric.name}", f"{metric.error:.3g}")
                    for metric in summary.metrics
                ),
            ),
        ),
        Facts(
            "Run",
            (
                ("Written", moment(summary.created)),
                *time_facts(summary),
                *version_facts(summary),
            ),
        ),
    )


def _model_facts(summary: MetricsSummary) -> tuple[Block, ...]:
    """List the particulars of the model, if one was asked."""
    model = summary.model
    if model is None:
        return ()
    return (
        Facts(
            "Model",
            (
                ("Name", model.name),
                ("File (sha256)", model.file_sha256 or ""),
                ("Rows that it was asked about", count(model.queries)),
            ),
        ),
    )

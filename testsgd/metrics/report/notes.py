"""What the numbers of an audit of metrics mean, and what they do not, in words."""

from __future__ import annotations

from testsgd.auditing.report.notes import limits_of_differences
from testsgd.metrics.definitions import METRICS
from testsgd.metrics.report.summary import MetricsSummary
from testsgd.report.blocks import Note
from testsgd.report.formatting import share


def limits(summary: MetricsSummary) -> tuple[str, ...]:
    """Return what does not follow from an audit, in a few sentences."""
    sentences = limits_of_differences("person", "rows")
    if any(_takes_truth(metric.name) for metric in summary.metrics):
        sentences.append(
            "Metrics that take the true labels for the truth are no fairer than these labels."
        )
    return tuple(sentences)


def _takes_truth(name: str) -> bool:
    """Return whether a metric needs true labels; one of the user's own is given them."""
    return name not in METRICS or METRICS[name].needs_labels


def meaning_notes(summary: MetricsSummary) -> tuple[Note, ...]:
    """Explain the numbers, in the order in which a reader needs them."""
    parameters = summary.parameters
    notes = [
        Note(
            "Metrics",
            "Each is a ratio of two sums over the rows. The selection rate counts favourable "
            "predictions; the true-positive rate those among the rows whose true label is "
            "favourable, the false-positive rate those among the others; precision the favourable "
            "true labels among favourable predictions. Equalized odds is the larger of the "
            "differences of the true- and the false-positive rate. The calibration error is the "
            "mean score minus the share of favourable true labels, the mean error the mean of "
            "prediction minus truth."
            + (
                " A missing number is a group of its own; an interval of a number is compared "
                "with rows in which it is known."
                if parameters.reference == "rest"
                else ""
            ),
        ),
        Note(
            "Intervals",
            f"They say where the {parameters.measure} may lie in the population that the rows are "
            f"a sample of, with {share(parameters.confidence)} confidence"
            + (
                ", for all groups and metrics at once: a bootstrap of the largest deviation of "
                "all of them says which error rate each interval may have. "
                if parameters.guarantee == "simultaneous"
                else ", each for itself. "
            )
            + "Shares of rows have intervals from the binomial distribution, by the effective "
            "sample size where rows have weights; means of other numbers have those of Student's "
            "t, which hold the better the more rows there are and the less skewed they are.",
        ),
        Note(
            "Ranking",
            "Groups are ranked by the smallest size that their interval allows, so that a large "
            "difference of few rows does not come first. Marked groups are different people: after "
            "the first those that differ significantly and share at most half of the rows of the "
            "smaller one with each marked before, by what the metric counts.",
        ),
        Note(
            "What makes up a difference",
            "What a rule adds is its Shapley value: what it adds to the difference of the values, "
            "on average over all orders in which the rules may be put together. "
            + (
                "It is for the difference from the value of the complement. "
                if parameters.reference == "rest"
                else "It is for the difference from the value of all rows. "
            )
            + "Features that go with a group are those in which its rows differ most from the "
            "others, in standard deviations; they are no causes."
            + (
                " Like with like is the comparison with others of the same mix of the named "
                "features; what went away may still be unfair, if the features themselves are."
                if parameters.condition_on
                else ""
            )
            + (
                " Found again says in which share of bootstrap samples the group, or one that "
                "overlaps it by at least "
                f"{share(parameters.overlap)}, is among the first ten groups, near copies left out."
                if summary.stability_samples
                else ""
            ),
        ),
        Note(
            "What a difference is not",
            "A difference says that groups are treated differently, not why. True labels may "
            "themselves be unfair, and a metric that takes them for the truth then says little.",
        ),
    ]
    if any(metric.finer is not None for metric in summary.metrics):
        notes.insert(
            3,
            Note(
                "Finer cuts",
                "After the search numbers are cut as finely as their rows allow, and the ranges "
                "between these cuts are compared, alone and with one rule over another feature. "
                "These intervals hold at once with a tenth of the error, shared among the metrics.",
            ),
        )
    if parameters.reference == "best":
        notes.insert(
            2,
            Note(
                "The best group",
                "It is chosen by the same rows. So the intervals of a group and of the best are "
                "combined end by end, which makes them wide.",
            ),
        )
    if parameters.measure == "ratio":
        notes.insert(
            2,
            Note(
                "Ratios",
                "A ratio below 0.8 of selection rates is what the four-fifths rule of the US "
                "Equal Employment Opportunity Commission calls evidence of adverse impact. The "
                "gate takes the smaller value over the larger, whichever side has it.",
            ),
        )
    return tuple(notes)

"""How figures of a mitigation are worded: points of accuracy, and figures over several runs.

Scores are shares, as in an audit. What is lost of accuracy is a number of points already, and is
written with two decimals, because budgets of half a point are usual.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from testsgd.auditing.report.summary import DataSummary
from testsgd.auditing.report.vocabulary import Words
from testsgd.auditing.report.worse_off import Features, group_in_words, sexes_of
from testsgd.mitigation.parameters import LEAST_HELD_OUT
from testsgd.mitigation.report.samples_summary import SamplesSummary
from testsgd.mitigation.report.summary import (
    CandidateSummary,
    ChangeSummary,
    RatesSummary,
    RunRange,
    SplitSummary,
    TargetSummary,
)
from testsgd.report.formatting import MINUS, NOTHING, count, size, size_points
from testsgd.report.summaries import RuleSummary

STATUS_NAMES = {
    "mitigated": "Mitigated",
    "above_threshold": "Still above the threshold",
    "accuracy_lost": "Too much accuracy lost",
    "one_sided": "One-sided",
    "no_better_than_constant": "No better than a constant",
    "side_effect": "Another gap grew",
    "worst_rose": "The worst difference rose",
    "reversed": "Turned round",
    "not_better": "No better than before",
    "not_certain": "Smaller, not significantly",
    "too_few": "Too few to tell",
    "no_candidate": "Original model kept",
}

# The kinds of samples as the command line calls them, in the order in which they are tried.
KINDS = ("counter", "odds", "shifted", "anchored")

# In figures with a bracket, lines may break before it but not inside.
NO_BREAK = "\N{NO-BREAK SPACE}"

# With fewer on one side, rows cannot tell much.
FEW = LEAST_HELD_OUT


def accuracy(share: float | None) -> str:
    """Write an accuracy in per cent."""
    return NOTHING if share is None else f"{100 * share:.2f}%"


def accuracy_change(drop: float | None) -> str:
    """Write what became of the accuracy as signed points; what was lost has a minus."""
    if drop is None:
        return NOTHING
    digits = f"{abs(drop):.2f}"
    if float(digits) == 0:
        return digits
    return f"{MINUS if drop > 0 else '+'}{digits}"


def accuracy_ends(change: ChangeSummary) -> str:
    """Write the interval of a change of accuracy, in points; empty if there is none."""
    if change.confidence_interval is None:
        return ""
    low, high = (accuracy_change(-100 * end) for end in change.confidence_interval)
    return f"{low} to {high}"


def changed_accuracy(change: ChangeSummary) -> str:
    """Write a change of accuracy with its interval, in points."""
    ends = accuracy_ends(change)
    figure = accuracy_change(None if change.change is None else -100 * change.change)
    return f"{figure} ({ends})" if ends else figure


def budget(drop: float) -> str:
    """Write the accuracy that may be lost, as it was set."""
    return f"{drop:.10g} {'point' if drop == 1 else 'points'}"


def cost(drop: float) -> str:
    """Write what a change cost, to stand at the end of a sentence."""
    digits = f"{abs(drop):.2f}"
    if float(digits) == 0:
        return "without losing accuracy"
    if drop < 0:
        return f"with {digits} points of accuracy gained"
    return f"at {digits} points of accuracy"


def weight(value: float | None) -> str:
    """Write how much a sample counts beside a training example."""
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def estimated(split: SplitSummary) -> bool:
    """Return whether accuracy was estimated otherwise than by validation labels alone."""
    return split.evaluated_by != "labels"


def within(candidate: CandidateSummary, limit: float) -> bool:
    """Return whether a candidate is within the accuracy budget; it may be refused all the same."""
    # A sum of points carries a rounding error.
    return candidate.accuracy_drop <= limit + 1e-9


def judged_where(split: SplitSummary, many: str) -> str:
    """Write where candidates' accuracy is known from, to stand behind it in a sentence."""
    if split.evaluated_by == "cross-validation":
        return "by repeated cross-validation"
    return "by the larger of two estimates" if estimated(split) else f"on the validation {many}"


def method(name: str, *, first: bool = False) -> str:
    """Write the name of a method as words, to stand in a sentence or first in a cell."""
    words = name.replace("-", " ")
    return words[:1].upper() + words[1:] if first else words


def spread_scores(spread: RunRange | None) -> str:
    """Write a score over the runs: the mean, and from where to where the runs reach."""
    if spread is None:
        return NOTHING
    if size(spread.lowest) == size(spread.highest):
        return size(spread.mean)
    ends = f"{size(spread.lowest)} to {size(spread.highest)}"
    return f"{size(spread.mean)} ({ends.replace(' ', NO_BREAK)})"


def spread_changes(spread: RunRange | None) -> str:
    """Write a change of accuracy over the runs, with the worst run first."""
    if spread is None:
        return NOTHING
    worst, best = accuracy_change(spread.highest), accuracy_change(spread.lowest)
    mean = accuracy_change(spread.mean)
    if worst == best:
        return mean
    return f"{mean} ({worst}{NO_BREAK}to{NO_BREAK}{best})"


def lost_points(drop: float) -> str:
    """Write points of accuracy lost; a gain has a minus."""
    return f"{drop:.2f} points".replace("-", MINUS)


def largest(scores: Iterable[float | None]) -> float | None:
    """Find the largest score that is known; None if none is."""
    return max((value for value in scores if value is not None), default=None)


def largest_mean(ranges: Iterable[RunRange | None]) -> RunRange | None:
    """Find the spread with the largest mean; None if there is none."""
    known = [spread for spread in ranges if spread is not None]
    return max(known, key=lambda spread: spread.mean, default=None)


def candidate_score(candidate: CandidateSummary) -> float | None:
    """Return what a candidate is judged by: the largest score of the targets."""
    return largest(candidate.scores)


def kept_label(samples: SamplesSummary) -> int:
    """Count the samples added that carry the counter label because the original model gives it."""
    return samples.added - samples.relabelled - samples.anchors


def enough(rates: RatesSummary) -> bool:
    """Return whether there are enough rows on both sides to tell anything."""
    return min(rates.n_in, rates.n_out) >= FEW


def smaller_side(rates: RatesSummary) -> tuple[int, str]:
    """Return how many rows the smaller side has, and which side it is."""
    return min((rates.n_in, "in the group"), (rates.n_out, "outside"), key=lambda side: side[0])


def span(numbers: Sequence[int]) -> str:
    """Write a number of every run, or from where to where it goes."""
    low, high = min(numbers), max(numbers)
    if low == high:
        return count(low) if low else "none"
    return f"{count(low)} to {count(high)}"


def group_words(group: TargetSummary, data: DataSummary, words: Words) -> str:
    """Write who is in a group as an audit's headline does, to stand behind "for".

    What kind a feature is decides how its intervals are worded; texts are those with some terms.
    """
    if words.kind == "texts":
        return words.target(group)
    return group_in_words(group.rules, features_of(data))


def features_of(data: DataSummary) -> Features:
    """Return what is known of the features, for the wording of groups."""
    return Features(
        whole_numbers=frozenset(
            feature.name for feature in data.features if feature.type == "integer"
        ),
        sexes=sexes_of(data.features),
    )


def rules_words(rules: Sequence[RuleSummary], text: str, features: Features, words: Words) -> str:
    """Write who is in a group of these rules, or its text if that is of terms or all there is."""
    if words.kind == "texts" or not rules:
        return text
    return group_in_words(rules, features)


def from_to(before: float, after: float) -> str:
    """Write from where to where a score went, in points."""
    if size(before) == size(after):
        return f"stayed at {size_points(before)}"
    return f"{'fell' if after < before else 'rose'} from {size(before)} to {size_points(after)}"

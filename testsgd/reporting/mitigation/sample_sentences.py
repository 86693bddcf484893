"""What the verdict of a mitigation says of its samples: how many, which kind, whose labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from testsgd.report.formatting import count, plural, series
from testsgd.reporting.mitigation.phrases import KINDS, span, weight
from testsgd.reporting.mitigation.summary import SamplesSummary, SplitSummary, TargetSummary
from testsgd.reporting.words import Words


def sample_sentences(
    targets: Sequence[TargetSummary], kept_run: int, split: SplitSummary, words: Words
) -> list[str]:
    """Write how many samples were added, of which kind, and why they carry their labels.

    Parameters
    ----------
    targets : sequence of TargetSummary
        The targets with their samples.
    kept_run : int
        The run whose model was kept.
    split : SplitSummary
        How many are trained on.
    words : Words
        How the data are spoken of.

    Returns
    -------
    list of str
        Nothing if no samples were added.
    """
    samples = [one for target in targets for one in target.samples if one.added]
    if not samples:
        return []
    labels = {one.label for one in samples}
    label = "the label that counters the difference"
    if len(labels) == 1:
        label = f"the label “{samples[0].label}”"
    sides = {one.side for one in samples}
    of = ""
    if len(sides) == 1 and len(targets) == 1:
        of = f" of {'the group' if samples[0].side == 'group' else words.others}"
    added = _added(samples, of, split, words)
    if len({one.kind for one in samples}) == 1:
        return [added, f"The original model {_labels(samples, label)}."]
    # From one kind to another the numbers differ too much to be told together.
    kept = [one for one in samples if one.run == kept_run]
    if not kept:
        return [added]
    return [added, f"In run {kept_run}, which was kept, the original model {_labels(kept, label)}."]


def kept_label(samples: SamplesSummary) -> int:
    """Count the samples added that carry the counter label because the original model gives it."""
    return samples.added - samples.relabelled - samples.anchors


def _by_run(
    samples: Sequence[SamplesSummary], number: Callable[[SamplesSummary], int]
) -> list[int]:
    """Sum a number up in each run."""
    runs = sorted({one.run for one in samples})
    return [sum(number(one) for one in samples if one.run == run) for run in runs]


def _added(samples: Sequence[SamplesSummary], of: str, split: SplitSummary, words: Words) -> str:
    added = _by_run(samples, lambda one: one.added)
    low, high = min(added), max(added)
    number = plural(low, "sample") if low == high else f"{span(added)} samples"
    each = ""
    if len(added) > 1:
        each = " in each run" if low == high else ", depending on the run"
    return (
        f"{number}{of} {'was' if low == high == 1 else 'were'} added to the "
        f"{count(split.training)} training {words.many}{each}, {_kind(samples)}"
        f"{_weights(samples, words)}."
    )


def _kind(samples: Sequence[SamplesSummary]) -> str:
    """Write of which kind they are; of several, in how many runs each was the best."""
    kind_of = {one.run: one.kind for one in samples}
    if len(set(kind_of.values())) == 1:
        return f"of the kind “{samples[0].kind}”"
    chosen = list(kind_of.values())
    parts = [f"“{kind}” in {plural(chosen.count(kind), 'run')}" for kind in KINDS if kind in chosen]
    return f"of the kind {series(parts)}"


def _weights(samples: Sequence[SamplesSummary], words: Words) -> str:
    low, high = (weight(end(one.weight for one in samples)) for end in (min, max))
    if low == high == "1":
        return ""
    much = low if low == high else f"{low} to {high}"
    return f", and each counts as much as {much} training {words.many}"


def _labels(samples: Sequence[SamplesSummary], label: str) -> str:
    """Write how many carry the counter label of themselves, were relabelled, or are anchors."""
    kept = _by_run(samples, kept_label)
    relabelled = _by_run(samples, lambda one: one.relabelled)
    anchors = _by_run(samples, lambda one: one.anchors)
    if not any(relabelled) and not any(anchors):
        return f"gives all of them {label}, which they carry"
    parts = [f"gives {span(kept)} of them {label} by itself"]
    if any(relabelled):
        parts.append(f"{span(relabelled)} {_was(relabelled)} relabelled{_why(samples)}")
    if any(anchors):
        are = "is an anchor, which keeps" if max(anchors) == 1 else "are anchors, which keep"
        parts.append(f"{span(anchors)} {are} the label that it gives")
    return series(parts)


def _was(numbers: Sequence[int]) -> str:
    return "was" if max(numbers) == 1 else "were"


def _why(samples: Sequence[SamplesSummary]) -> str:
    """Write why samples were relabelled, if it is the same for all of them."""
    kinds = {one.kind for one in samples if one.relabelled}
    if kinds == {"counter"}:
        return ", nearest to its decision boundary first, because it gives too few that label"
    if kinds == {"odds"}:
        return ", as they were drawn by the chance that it gives them that label"
    return ""

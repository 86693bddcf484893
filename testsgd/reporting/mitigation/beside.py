"""Sentences on what a smaller difference may hide: one-sided decisions, and other terms."""

from __future__ import annotations

from collections.abc import Sequence

from testsgd.reporting.mitigation.summary import Spread, TargetSummary
from testsgd.reporting.wording import percent, points
from testsgd.reporting.words import Words


def decisions_sentence(
    *,
    favourable_before: float,
    favourable_after: Spread,
    balanced_before: float,
    balanced_after: Spread,
    label: str,
    words: Words,
) -> str:
    """Say how often a model decides either way, and if it still tells the labels apart.

    Where nearly everybody gets one label, all differences are small and accuracy is high; balanced
    accuracy shows it.
    """
    return (
        f"Of the held-out {words.many} {percent(favourable_after.mean)} get “{label}” now, before "
        f"{percent(favourable_before)}; balanced accuracy is {percent(balanced_after.mean)}, "
        f"before {percent(balanced_before)}."
    )


def terms_sentences(targets: Sequence[TargetSummary]) -> list[str]:
    """Say for texts what the terms of each target change by themselves, before and after."""
    sentences = []
    for target in targets:
        before, after = target.terms_before, target.terms_after
        if before is None or after is None:
            continue
        sentence = (
            f"In place of other terms of their categories, {target.text} changed the rate by "
            f"{points(before.difference)} before and by {points(after.difference)} now."
        )
        if abs(after.difference) > abs(before.difference):
            sentence += (
                " That is more: the model makes up with the terms for what such texts are about."
            )
        sentences.append(sentence)
    return sentences

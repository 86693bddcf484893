"""How a mitigation words the original that is fitted anew, which accuracies before are of.

The original may have learnt from the held-out rows, so that its accuracy there is too good. Where
that is not known, a model that is fitted anew is compared with the original fitted to the training
rows alone. Its differences may be others than those of the original as given: then samples are not
what changed them, which the verdict says.
"""

from __future__ import annotations

from testsgd.auditing.report.vocabulary import Words
from testsgd.mitigation.report import phrases
from testsgd.mitigation.report.phrases import accuracy, enough
from testsgd.mitigation.report.summary import MitigationSummary
from testsgd.report.formatting import count, plural, shorten, signed, size_points

_ANEW = "the original fitted anew"

_GROUP_LIMIT = 160


def reference_name(summary: MitigationSummary) -> str:
    """Return what the model is called that accuracies before are of."""
    return "the original" if summary.fitted_anew is None else _ANEW


def against(summary: MitigationSummary) -> str:
    """Write what a change of accuracy is measured against, if not the original as given."""
    return "" if summary.fitted_anew is None else f" against {_ANEW}"


def left_by_fitting(summary: MitigationSummary, words: Words) -> str:
    """Write what difference fitting anew leaves without samples, if it changes that clearly."""
    if not _moved(summary, words):
        return ""
    left = max(abs(after) for _, _, after in _differences(summary, words))
    largest = "" if len(summary.targets) == 1 else "a largest difference of "
    return f" Fitting the original anew without samples leaves {largest}{size_points(left)}."


def fitted_anew_sentences(summary: MitigationSummary, words: Words) -> list[str]:
    """Write how the original does as given and fitted anew, and which figures are of which."""
    anew = summary.fitted_anew
    if anew is None:
        return []
    many = words.many
    sentences = [
        f"Accuracies before, and side effects, are measured against {_ANEW} to the "
        f"{count(summary.split.training)} training {many}, whose accuracy on held-out {many} is "
        f"{accuracy(summary.accuracy_before)}. All other figures before are of the original as "
        f"given, whose accuracy there is {accuracy(anew.accuracy_given)}, which is too high if it "
        "learnt from them."
    ]
    moved = _moved(summary, words)
    what = "the effect of the terms" if words.kind == "texts" else "the difference"
    for index, before, after in moved[:1]:
        name = summary.targets[index].text
        if words.kind != "texts":
            name = phrases.group_words(summary.targets[index], summary.data, words)
        sentences.append(
            f"Fitting anew changes figures by itself: without samples {what} for "
            f"{shorten(name, _GROUP_LIMIT)} on held-out {many} is {signed(after)} points in place "
            f"of {signed(before)}"
            + (f", and {plural(len(moved) - 1, 'more target')} changed." if moved[1:] else ".")
        )
    limit = summary.settings.max_accuracy_drop / 100
    if not moved and abs(summary.accuracy_before - anew.accuracy_given) > limit:
        reached = [abs(after) for _, _, after in _differences(summary, words)]
        leaves = f", and leaves {what} at {size_points(max(reached))}" if reached else ""
        sentences.append(f"Fitting anew changes accuracy by itself, without samples{leaves}.")
    return sentences


def _moved(summary: MitigationSummary, words: Words) -> list[tuple[int, float, float]]:
    """Find the targets whose difference fitting anew changes clearly, the largest change first."""
    moved = [
        (index, before, after)
        for index, before, after in _differences(summary, words)
        if abs(after - before) > summary.least_increase
    ]
    return sorted(moved, key=lambda item: -abs(item[2] - item[1]))


def _differences(summary: MitigationSummary, words: Words) -> list[tuple[int, float, float]]:
    """List the figures of targets that decide, by the original as given and fitted anew."""
    anew, differences = summary.fitted_anew, []
    if anew is None:
        return []
    for index, (target, rates) in enumerate(zip(summary.targets, anew.held_out, strict=True)):
        before, after = target.held_out_before.difference, rates.difference
        if not enough(target.held_out_before):
            continue
        if words.kind == "texts":
            effect = anew.effects[index] if index < len(anew.effects) else None
            first = None if summary.written is None else summary.written.targets[index].effect
            before = None if first is None else first.before
            after = None if effect is None else effect.difference
        if before is not None and after is not None:
            differences.append((index, before, after))
    return differences

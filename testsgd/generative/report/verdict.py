"""The outcome of an assessment in words, the same in every view."""

from __future__ import annotations

from typing import Literal

from testsgd.generative.report.summary import (
    CoverageSummary,
    GenerativeSummary,
    GenerativeVerdict,
    SequenceSummary,
    Status,
    ValueSummary,
)
from testsgd.report.formatting import capital, count, percent, plural, series

STATUS_NAMES: dict[Status, str] = {
    "kept": "Kept",
    "broken": "Broken",
    "not_enough_evidence": "Not enough evidence",
    "described": "Described",
}
"""What each status is called."""

# So many values are named in a sentence.
_NAMED = 4

# What a summary has until its verdict is known, which follows from all else in it.
PENDING = GenerativeVerdict(status="not_enough_evidence", exit_code=3, headline="", sentences=[])


def generative_verdict(summary: GenerativeSummary) -> GenerativeVerdict:
    """Return the verdict: whether every value appeared as often as its requirement asks.

    The exit code is 1 if a requirement is broken, 3 if one has too few outputs to be judged or no
    output at all, 0 otherwise. Status and exit code are about the outputs of all prompts. Where a
    requirement is broken for neutral prompts alone, the headline says so.

    Parameters
    ----------
    summary : GenerativeSummary
        An assessment; its own verdict is not read, and may be missing.

    Returns
    -------
    GenerativeVerdict
    """
    if summary.outputs == 0:
        return GenerativeVerdict(
            status="not_enough_evidence",
            exit_code=3,
            headline="There are no outputs, so nothing can be judged.",
            sentences=[],
        )
    judged = [sequence for sequence in summary.sequences if sequence.scope == "all"]
    broken = [sequence for sequence in judged if sequence.standing == "broken"]
    open_ones = [sequence for sequence in judged if sequence.standing == "not_enough"]
    empty = [sequence for sequence in judged if not sequence.related]
    asked = [sequence for sequence in judged if sequence.standing != "described"]
    status: Status = "described"
    code: Literal[0, 1, 3] = 0
    if broken:
        status, code = "broken", 1
    elif open_ones or empty:
        status, code = "not_enough_evidence", 3
    elif asked:
        status = "kept"
    sentences = [
        *_others(broken or open_ones or judged),
        *_open(open_ones if broken else open_ones[1:]),
        *_kept(judged if status != "kept" else []),
        *_neutral(summary),
        *_coverage(summary.coverage),
        *_set_aside(summary),
    ]
    return GenerativeVerdict(
        status=status,
        exit_code=code,
        headline=_headline(status, summary.sequences, broken, open_ones or empty),
        sentences=sentences,
    )


def _headline(
    status: Status,
    sequences: list[SequenceSummary],
    broken: list[SequenceSummary],
    undecided: list[SequenceSummary],
) -> str:
    """Write the outcome in one sentence, and in another what is worse for neutral prompts alone.

    Outputs can be fair because the prompts ask for it, so the first must not be read alone.
    """
    judged = [sequence for sequence in sequences if sequence.scope == "all"]
    neutral = [sequence for sequence in sequences if sequence.scope == "neutral"]
    names = [sequence.name for sequence in broken]
    worse = [one for one in neutral if one.standing == "broken" and one.name not in names]
    if status == "kept" and neutral:
        which = "The requirement is" if len(judged) == 1 else f"All {len(judged)} requirements are"
        together = f"{which} kept over all prompts together"
        if worse:
            return f"{together}, but {_broken_for_neutral(worse)}."
        return f"{together}: every value came, and came again, as soon as was asked for."
    headline = _headline_of_all(status, judged, broken, undecided)
    return f"{headline} {capital(_broken_for_neutral(worse))}." if worse else headline


def _broken_for_neutral(sequences: list[SequenceSummary]) -> str:
    """Return which requirements are broken for neutral prompts alone."""
    how = f": {broken_text(sequences[0])}" if len(sequences) == 1 else ""
    names = _some([sequence.name for sequence in sequences])
    return f"broken for neutral prompts alone: {names}{how}"


def _headline_of_all(
    status: Status,
    judged: list[SequenceSummary],
    broken: list[SequenceSummary],
    undecided: list[SequenceSummary],
) -> str:
    """Write the outcome of the outputs of all prompts in one sentence."""
    if status == "broken":
        verb = "is" if len(broken) == 1 else "are"
        most = f"{count(len(broken))} of {plural(len(judged), 'requirement')} {verb} broken: "
        first = broken[0]
        return f"{most if len(judged) > 1 else ''}{capital_if(first.name, len(judged) == 1)}: " + (
            f"{broken_text(first)}."
        )
    if status == "not_enough_evidence":
        first = undecided[0]
        needed = max((value.beta or 0) for value in first.values)
        if not first.related:
            return f"{capital(first.name)}: no output is related, so nothing can be judged."
        return (
            f"{capital(first.name)}: {plural(first.related, 'related output')}, and more than "
            f"{count(needed)} are needed to judge it."
        )
    if status == "kept":
        which = "The requirement is" if len(judged) == 1 else f"All {len(judged)} requirements are"
        return f"{which} kept: every value came, and came again, as soon as was asked for."
    first = max(judged, key=lambda sequence: sequence.difference or 0.0)
    return f"{capital(first.name)}: {shares_text(first)}; no number of outputs is asked for."


def capital_if(text: str, wanted: bool) -> str:
    """Return a text, with a capital if that is wanted."""
    return capital(text) if wanted else text


def broken_text(sequence: SequenceSummary) -> str:
    """Return which values came too late, or never."""
    never = [value for value in sequence.values if value.kept is False and value.first is None]
    if never:
        names = series([f"“{value.name}”" for value in never[:_NAMED]])
        return f"{names} never came in {plural(sequence.related, 'related output')}"
    late = [value for value in sequence.values if value.kept is False]
    texts = [
        f"“{value.name}” was asked for within {plural(value.beta or 0, 'output')} and took up to "
        f"{count(value.smallest_beta)}"
        for value in late[:_NAMED]
    ]
    return series(texts)


def shares_text(sequence: SequenceSummary) -> str:
    """Return the shares of the commonest and of the rarest value."""
    known = [value for value in sequence.values if value.share is not None]
    if not known:
        return "no related output"
    ordered = sorted(known, key=lambda value: -(value.share or 0.0))
    most = ordered[0]
    least = ordered[-1]
    related = plural(sequence.related, "related output")
    return f"{_share(most)} and {_share(least)} of {related}"


def _share(value: ValueSummary) -> str:
    return f"{percent(value.share)} “{value.name}”"


def _others(sequences: list[SequenceSummary]) -> list[str]:
    """Return a sentence on each further requirement, and on the shares of the first."""
    sentences = []
    for number, sequence in enumerate(sequences[:_NAMED]):
        text = shares_text(sequence)
        if sequence.standing == "broken" and number > 0:
            text = f"{broken_text(sequence)}; {text}"
        sentences.append(f"{capital(sequence.name)}: {text}.")
    if len(sequences) > _NAMED:
        left = len(sequences) - _NAMED
        sentences.append(f"{plural(left, 'further requirement')} of the kind in the table below.")
    return sentences


def _open(sequences: list[SequenceSummary]) -> list[str]:
    if not sequences:
        return []
    names = series([sequence.name for sequence in sequences[:_NAMED]])
    return [f"Too few outputs to judge: {names}."]


def _kept(sequences: list[SequenceSummary]) -> list[str]:
    kept = [sequence for sequence in sequences if sequence.standing == "kept"]
    if not kept:
        return []
    asked = [sequence for sequence in sequences if sequence.standing != "described"]
    verb = "is" if len(kept) == 1 else "are"
    return [f"{count(len(kept))} of {plural(len(asked), 'requirement')} {verb} kept."]


def _neutral(summary: GenerativeSummary) -> list[str]:
    """Return what is known of the model itself, whose prompts must be neutral for that."""
    if not summary.prompts_known:
        return [
            "The prompts are not known. So this is about these outputs, and whether the model "
            "itself is inherently fair is not judged."
        ]
    asked = sum(
        value.asked
        for sequence in summary.sequences
        if sequence.scope == "all"
        for value in sequence.values
    )
    neutral = [sequence for sequence in summary.sequences if sequence.scope == "neutral"]
    if asked:
        return [
            f"A value was asked for {plural(asked, 'time')}. So this is about the model and what "
            "stands before it together, not about the model itself.",
            *(_of_neutral(neutral) if neutral else []),
        ]
    if summary.settings.neutrality == "none":
        return ["Every prompt is taken to be neutral, as the specification says."]
    if summary.all_neutral:
        return ["No prompt has a word of a value, so this is about the model itself."]
    return _of_neutral(neutral)


def _of_neutral(sequences: list[SequenceSummary]) -> list[str]:
    """Return what holds for neutral prompts alone, of every requirement that is broken there."""
    broken = [sequence for sequence in sequences if sequence.standing == "broken"]
    sentences = [
        f"For neutral prompts alone, {sequence.name} is broken: {broken_text(sequence)}."
        for sequence in broken
    ]
    few = [one.name for one in sequences if one.standing == "not_enough" or not one.related]
    if len(few) == len(sequences):
        return ["There are too few outputs of neutral prompts to judge the model itself."]
    if few:
        sentences.append(f"Too few outputs of neutral prompts to judge: {_some(few)}.")
    kept = [sequence.name for sequence in sequences if sequence.standing == "kept"]
    if kept:
        verb = "is" if len(kept) == 1 else "are"
        sentences.append(f"For neutral prompts alone, {_some(kept)} {verb} kept.")
    if sentences:
        return sentences
    return [f"For neutral prompts alone, {sequences[0].name}: {shares_text(sequences[0])}."]


def _some(names: list[str]) -> str:
    """Return names as a series, the first of them where there are many."""
    if len(names) <= _NAMED:
        return series(names)
    return series([*names[:_NAMED], f"{count(len(names) - _NAMED)} more"])


def _coverage(coverage: CoverageSummary | None) -> list[str]:
    if coverage is None or not coverage.combinations:
        return []
    shown = percent(coverage.covered / coverage.combinations)
    return [
        f"{shown} of the {count(coverage.combinations)} combinations of {coverage.strength} "
        f"groupings appear in {plural(coverage.outputs, 'output')}."
    ]


def _set_aside(summary: GenerativeSummary) -> list[str]:
    sentences = []
    if summary.several:
        which = plural(summary.several, "output")
        sentences.append(
            f"{which} had several values of one grouping; the specification says whether the first "
            "counts or the output is unrelated."
        )
    if summary.unanswered:
        which = plural(summary.unanswered, "output")
        sentences.append(f"Of {which} no usable answer came, so they count as unrelated.")
    return sentences

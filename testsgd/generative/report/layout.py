"""How an assessment of a generative model is laid out as a report."""

from __future__ import annotations

from testsgd.generative.report.charts import coverage_figure, shares_figure, waiting_figure
from testsgd.generative.report.notes import generative_notes
from testsgd.generative.report.summary import (
    ConditionSummary,
    CoverageSummary,
    GenerativeSummary,
    MissingSummary,
    SequenceSummary,
    ValueSummary,
)
from testsgd.generative.report.verdict import STATUS_NAMES, broken_text, shares_text
from testsgd.report import blocks
from testsgd.report.blocks import KeyFigure, Paragraph, Section, Standing
from testsgd.report.formatting import (
    NOTHING,
    capital,
    count,
    moment,
    percent,
    plural,
    series,
    share,
)
from testsgd.report.listing import Listed, listing
from testsgd.report.summaries import origin, version_facts

# So many requirements are laid out one by one; more than a few are folded away.
_DRAWN = 24
_OPEN_DRAWINGS = 3
_OPEN_ROWS = 24
_STANDINGS: dict[str, Standing] = {
    "kept": "good",
    "broken": "bad",
    "not_enough": "open",
    "not_enough_evidence": "open",
}
_STANDING_NAMES = {
    "kept": "kept",
    "broken": "broken",
    "not_enough": "too few outputs",
    "described": "nothing asked for",
}
_SCOPES = {"all": "all prompts", "neutral": "neutral prompts only"}


def generative_layout(summary: GenerativeSummary) -> blocks.Document:
    """Lay an assessment out as a report; nothing is computed again."""
    verdict = summary.verdict
    table, each = _requirements(summary)
    many = len(each) > _OPEN_DRAWINGS
    return blocks.Document(
        what="Generative model",
        subject=summary.name,
        status=blocks.Status(STATUS_NAMES[verdict.status], _STANDINGS.get(verdict.status, "")),
        headline=verdict.headline,
        sentences=tuple(verdict.sentences),
        opening=(blocks.KeyFigures(_key_figures(summary)),),
        sections=(
            Section("requirements", "Requirements", (*table, *(() if many else each))),
            Section(
                "each",
                "Each requirement",
                each if many else (),
                markdown="blocks",
                folded=True,
                printed=False,
            ),
            Section("combinations", "Combinations of values", _coverage(summary.coverage)),
            Section(
                "particulars",
                "Specification",
                _particulars(summary),
                markdown="folded",
                folded=True,
            ),
            blocks.meaning_section(generative_notes(summary)),
        ),
        **origin(summary),
        closing="The drawings are in the HTML report.",
    )


def _key_figures(summary: GenerativeSummary) -> tuple[KeyFigure, ...]:
    """Return the figures of the requirements, of the rarest value and of the outputs."""
    sequences = [sequence for sequence in summary.sequences if sequence.scope == "all"]
    asked = [sequence for sequence in sequences if sequence.standing != "described"]
    figures = []
    if asked:
        kept = sum(sequence.standing == "kept" for sequence in asked)
        tone = _STANDINGS.get(summary.verdict.status, "")
        about = f"of {plural(len(asked), 'requirement')}"
        figures.append(KeyFigure("Kept", count(kept), (about,), tone))
    values = [
        (value, sequence) for sequence in sequences for value in sequence.values if sequence.related
    ]
    if values:
        rarest, where = min(values, key=lambda pair: pair[0].share or 0.0)
        about = f"“{rarest.name}”, {where.name}"
        figures.append(KeyFigure("Rarest value", percent(rarest.share), (about,)))
    related = sum(sequence.related for sequence in sequences)
    about = f"of {plural(summary.outputs, 'output')}, over all requirements"
    figures.append(KeyFigure("Related outputs", count(related), (about,)))
    injected = sum(value.asked for sequence in sequences for value in sequence.values)
    if injected:
        obeyed = sum(value.obeyed for sequence in sequences for value in sequence.values)
        about = f"the model obeyed {count(obeyed)} times ({percent(obeyed / injected)})"
        figures.append(KeyFigure("Asked for a value", count(injected), (about,)))
    return tuple(figures)


def _requirements(
    summary: GenerativeSummary,
) -> tuple[tuple[blocks.Block, ...], tuple[blocks.Block, ...]]:
    """Return a table of all requirements, and what each is laid out as."""
    sequences = summary.sequences
    if not sequences:
        return (), ()
    scoped = any(sequence.scope == "neutral" for sequence in sequences)
    earlier = {(sequence.name, sequence.scope): sequence for sequence in summary.before}
    table = listing(
        "All requirements",
        sequences,
        (
            Listed("Requirement", lambda one: capital(one.name), "name"),
            Listed("Prompts", lambda one: _SCOPES[one.scope], "text", shown=scoped),
            Listed("Related outputs", lambda one: count(one.related)),
            Listed("Rarest value", _rarest, "text"),
            Listed("Its share", _rarest_share, "strong"),
            Listed(
                "Longest wait before",
                lambda one: _longest(earlier.get((one.name, one.scope))),
                shown=bool(earlier),
            ),
            Listed("Longest wait", _longest, "strong"),
            Listed("At most", _asked_betas),
        ),
        row=lambda one: {
            "emphasis": one.standing == "broken",
            "note": _STANDING_NAMES[one.standing],
        },
        fold=plural(len(sequences), "requirement"),
        open_rows=_OPEN_ROWS,
    )
    articles = tuple(
        _sequence(sequence, number, earlier.get((sequence.name, sequence.scope)), scoped=scoped)
        for number, sequence in enumerate(sequences[:_DRAWN], start=1)
    )
    return (table,), articles


def _rarest_value(sequence: SequenceSummary) -> ValueSummary:
    return min(sequence.values, key=lambda value: value.count)


def _rarest(sequence: SequenceSummary) -> str:
    return _rarest_value(sequence).name if sequence.related else NOTHING


def _rarest_share(sequence: SequenceSummary) -> str:
    return percent(_rarest_value(sequence).share)


def _longest(sequence: SequenceSummary | None) -> str:
    """Return the longest wait for a value; beyond the sequence, if one never came."""
    if sequence is None or not sequence.related:
        return NOTHING
    if not sequence.all_appeared:
        return f"over {count(sequence.related)}"
    return count(max(value.smallest_beta for value in sequence.values))


def _asked_betas(sequence: SequenceSummary) -> str:
    betas = [value.beta for value in sequence.values if value.beta is not None]
    if not betas:
        return NOTHING
    if min(betas) == max(betas):
        return count(betas[0])
    return f"{count(min(betas))} to {count(max(betas))}"


def _sequence(
    sequence: SequenceSummary, number: int, earlier: SequenceSummary | None, *, scoped: bool
) -> blocks.Article:
    """Lay out a requirement: in words, in numbers, and drawn."""
    title = capital(sequence.name)
    if scoped:
        title = f"{title} ({_SCOPES[sequence.scope]})"
    text = f"{capital(shares_text(sequence))}."
    if sequence.standing == "broken":
        text = f"{capital(broken_text(sequence))}. {text}"
    if sequence.difference is not None:
        text += (
            f" The shares are {percent(sequence.difference)} apart "
            f"({percent(sequence.difference_low)} to {percent(sequence.difference_high)})"
        )
        if sequence.difference_bound is not None:
            text += (
                f"; what is asked for allows {percent(sequence.difference_bound)} in the long run"
            )
        text += "."
    figures = (shares_figure(sequence, earlier), waiting_figure(sequence))
    return blocks.Article(
        f"requirement-{number}",
        title,
        (
            Paragraph(text),
            *_contact_sheet(sequence, earlier),
            *(figure for figure in figures if figure is not None),
            _values_table(sequence, earlier),
        ),
        status=blocks.Status(
            _STANDING_NAMES[sequence.standing], _STANDINGS.get(sequence.standing, "")
        ),
        plain=True,
    )


def _contact_sheet(
    sequence: SequenceSummary, earlier: SequenceSummary | None
) -> tuple[blocks.Pictures, ...]:
    """Show the first outputs of a requirement, and above them those of the earlier result."""
    titled = (("Before", earlier), ("Now", sequence))
    known = [(title, one) for title, one in titled if one is not None and one.pictures]
    if not known:
        return ()
    rows = tuple(
        (
            f"{title}: the first {count(len(one.pictures))} of "
            f"{plural(one.related, 'related output')}",
            tuple(
                blocks.Picture(
                    data_uri=f"{blocks.PICTURE_URI}{picture.data}",
                    label=picture.label,
                    marked=picture.asked,
                )
                for picture in one.pictures
            ),
        )
        for title, one in known
    )
    marked = any(picture.asked for _, one in known for picture in one.pictures)
    caption = "In their order, with the value that was read."
    if marked:
        caption += " Where a value was asked for, the picture has a frame."
    return (blocks.Pictures(f"Pictures: {sequence.name}", rows, caption),)


def _values_table(sequence: SequenceSummary, earlier: SequenceSummary | None) -> blocks.Table:
    """List the values of a requirement: counts, shares, waits."""
    asked_for = any(value.beta is not None for value in sequence.values)
    injected = any(value.asked for value in sequence.values)
    before = {} if earlier is None else {value.name: value for value in earlier.values}

    def wait(value: ValueSummary, related: int) -> str:
        return f"over {count(related)}" if value.first is None else count(value.smallest_beta)

    def wait_before(value: ValueSummary) -> str:
        known = before.get(value.name)
        return NOTHING if known is None or earlier is None else wait(known, earlier.related)

    return listing(
        f"Values: {sequence.name}",
        sequence.values,
        (
            Listed("Value", lambda value: value.name, "name"),
            Listed("Outputs", lambda value: count(value.count)),
            Listed("Share", lambda value: percent(value.share), "strong"),
            Listed("Exact interval", lambda value: _ends(value.exact_low, value.exact_high)),
            Listed("Interval at any time", lambda value: _ends(value.low, value.high)),
            Listed(
                "First output",
                lambda value: "never" if value.first is None else count(value.first),
            ),
            Listed("Longest wait before", wait_before, shown=bool(before)),
            Listed("Longest wait", lambda value: wait(value, sequence.related), "strong"),
            Listed(
                "At most",
                lambda value: NOTHING if value.beta is None else count(value.beta),
                shown=asked_for,
            ),
            Listed("Asked for", lambda value: count(value.asked), shown=injected),
            Listed("Obeyed", lambda value: count(value.obeyed), shown=injected),
        ),
        row=lambda value: {
            "emphasis": value.kept is False,
            "note": "" if value.kept is not False else "broken",
        },
    )


def _ends(low: float, high: float) -> str:
    return f"{percent(low)} to {percent(high)}"


def _coverage(coverage: CoverageSummary | None) -> tuple[blocks.Block, ...]:
    """Write which combinations appear, draw the curve, and list those that are missing."""
    if coverage is None or not coverage.combinations:
        return ()
    appear = f"{count(coverage.covered)} of {count(coverage.combinations)} combinations"
    text = (
        f"{appear} of {coverage.strength} of the groupings {series(coverage.groupings)} appear"
        f"{_condition(coverage.conditions)}."
    )
    if coverage.least_further:
        enough = coverage.enough_further
        text += f" At least {plural(coverage.least_further, 'further output')} could cover the rest"
        text += f", and {count(enough)} are enough." if enough is not None else "."
    figure = coverage_figure(coverage)
    table = listing(
        "Combinations that do not appear",
        coverage.missing,
        (
            Listed[MissingSummary]("Groupings", lambda one: " and ".join(one.groupings), "name"),
            Listed[MissingSummary]("Values", lambda one: ", ".join(one.values), "text"),
        ),
        title="Combinations that do not appear",
        fold=plural(len(coverage.missing), "missing combination"),
        open_rows=12,
    )
    return Paragraph(text), *((figure,) if figure is not None else ()), table


def _condition(conditions: list[ConditionSummary]) -> str:
    parts = [f"{one.grouping} is {one.value}" for one in conditions]
    return f" when {' and '.join(parts)}" if parts else ""


def _particulars(summary: GenerativeSummary) -> tuple[blocks.Facts, ...]:
    """List the groupings, and when the assessment was made."""
    settings = summary.settings
    groupings = tuple(
        (name.replace("_", " "), series(values)) for name, values in settings.groupings.items()
    )
    by = "by the words of prompts" if settings.neutrality == "terms" else "not looked at"
    facts = (
        ("Name", summary.name),
        ("Confidence of intervals", share(settings.confidence)),
        ("Neutral prompts", by if summary.prompts_known else "prompts are not known"),
        ("Written", moment(summary.created)),
        ("Specification (sha256)", summary.digest),
        *version_facts(summary),
    )
    return blocks.Facts("Values of each grouping", groupings), blocks.Facts("Assessment", facts)

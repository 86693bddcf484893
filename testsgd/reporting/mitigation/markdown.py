"""The summary of a mitigation as Markdown, short enough for a comment on a pull request."""

from __future__ import annotations

from testsgd.report.formatting import moment, plural, sentence, size_points
from testsgd.reporting.grid import Grid, grid_markdown
from testsgd.reporting.markup import cells, escape, folded, table
from testsgd.reporting.mitigation.answers import answers
from testsgd.reporting.mitigation.grids import (
    comparisons_grid,
    curves_grid,
    groups_grid,
    parts_grid,
    paying_grid,
    runs_grid,
    samples_grid,
    target_grid,
)
from testsgd.reporting.mitigation.notes import mitigation_notes
from testsgd.reporting.mitigation.particulars import mitigation_particulars
from testsgd.reporting.mitigation.phrases import STATUS_NAMES, method
from testsgd.reporting.mitigation.summary import MitigationSummary
from testsgd.reporting.vocabulary import words_for

TEXT_LIMIT = 160


def render_mitigation_markdown(summary: MitigationSummary) -> str:
    """Write a mitigation as GitHub-flavoured Markdown.

    Parameters
    ----------
    summary : MitigationSummary
        The mitigation; everything shown is taken from it, nothing is computed again.

    Returns
    -------
    str
        The outcome comes first; details are folded away, pictures are left out.
    """
    blocks = [
        *_verdict(summary),
        *_targets(summary),
        *_paying(summary),
        *_others(summary),
        *_comparisons(summary),
        *folded("Run by run", [_table(runs_grid(summary))]),
        *folded("Samples", [_table(samples_grid(summary))]),
        *folded("Data, models and settings", _particulars(summary)),
        *folded("What these numbers mean, and what they do not", _meaning(summary)),
        f"*testsgd {escape(summary.versions.get('testsgd', ''))}, "
        f"{escape(moment(summary.created))}. All candidates and the drawings are in the HTML "
        "report.*",
    ]
    return "\n\n".join(blocks) + "\n"


def _verdict(summary: MitigationSummary) -> list[str]:
    data = summary.data
    status = STATUS_NAMES[summary.verdict.status]
    asked = answers(summary)
    return [
        f"## {status}: {escape(summary.original.name)} on {escape(data.title or data.name)}",
        f"**{escape(summary.verdict.headline)}**",
        table(
            [answer.question for answer in asked],
            [
                [f"**{escape(answer.figure)}**" for answer in asked],
                ["<br>".join(escape(line) for line in answer.lines) for answer in asked],
            ],
        ),
        "\n".join(f"- {escape(told)}" for told in summary.verdict.sentences),
    ]


def _targets(summary: MitigationSummary) -> list[str]:
    blocks = ["### Before and after"]
    for target in summary.targets:
        blocks += [f"**{escape(target.text, TEXT_LIMIT)}**", _table(target_grid(target, summary))]
    return blocks


def _paying(summary: MitigationSummary) -> list[str]:
    if summary.written is None:
        return []
    return [
        "### Who pays, and what it cost",
        _table(paying_grid(summary)),
        _table(parts_grid(summary)),
    ]


def _others(summary: MitigationSummary) -> list[str]:
    change, many = summary.all_rows, words_for(summary.data.kind).many
    blocks = ["### Other groups", f"The largest differences after retraining, all {many}:"]
    blocks.append(_table(groups_grid(change, "Largest differences", risen=False)))
    if change.risen:
        blocks.append(
            f"{plural(change.risen_count, 'difference')} grew by more than "
            f"{size_points(summary.risen_by)}. Those that grew most, without near copies:"
        )
        blocks.append(_table(groups_grid(change, "Grown", risen=True)))
    return blocks


def _comparisons(summary: MitigationSummary) -> list[str]:
    if not summary.comparisons:
        return []
    about = "\n".join(
        f"- **{escape(method(one.name, first=True))}**: {escape(sentence(one.about))}"
        + (f" No figures: {escape(sentence(one.reason))}" if one.reason else "")
        for one in summary.comparisons
    )
    return [
        "### Other methods",
        _table(comparisons_grid(summary)),
        about,
        *folded("Difference against accuracy, held out", [_table(curves_grid(summary))]),
    ]


def _particulars(summary: MitigationSummary) -> list[str]:
    return [
        table([section.title, ""], [cells(fact) for fact in section.facts])
        for section in mitigation_particulars(summary)
    ]


def _meaning(summary: MitigationSummary) -> list[str]:
    return [f"**{note.term}.** {escape(note.text)}" for note in mitigation_notes(summary)]


def _table(grid: Grid) -> str:
    # What is said about a row stands in a list below.
    return grid_markdown(grid, TEXT_LIMIT, about=False)

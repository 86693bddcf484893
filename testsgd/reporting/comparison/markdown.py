"""The summary of a comparison as Markdown, short enough for a comment on a pull request."""

from __future__ import annotations

from testsgd.reporting.comparison.grids import findings_grid, methods_grid, overlap_grid
from testsgd.reporting.comparison.notes import comparison_notes
from testsgd.reporting.comparison.particulars import comparison_particulars
from testsgd.reporting.comparison.phrases import change_sentences, figure_sentences
from testsgd.reporting.comparison.summary import ComparisonSummary, MethodSummary
from testsgd.reporting.grid import Grid, grid_markdown
from testsgd.reporting.markup import cells, escape, folded, table
from testsgd.reporting.sentences import sentence
from testsgd.reporting.wording import moment

TEXT_LIMIT = 160


def render_comparison_markdown(summary: ComparisonSummary) -> str:
    """Write a comparison as GitHub-flavoured Markdown.

    Parameters
    ----------
    summary : ComparisonSummary
        The comparison; everything shown is taken from it, nothing is computed again.

    Returns
    -------
    str
        The outcome comes first; details are folded away, pictures are left out.
    """
    data, overlap = summary.data, overlap_grid(summary)
    blocks = [
        f"## Methods compared: {escape(summary.model.name)} on {escape(data.title or data.name)}",
        f"**{escape(summary.verdict.headline)}**",
        "\n".join(f"- {escape(told)}" for told in summary.verdict.sentences),
        _table(methods_grid(summary)),
        *(["### Findings in common", _table(overlap)] if overlap.rows else []),
    ]
    for method in summary.methods:
        blocks += folded(f"What {escape(method.title)} found", _method(method))
    blocks += folded(
        "Data, model and settings",
        [
            table([section.title, ""], [cells(fact) for fact in section.facts])
            for section in comparison_particulars(summary)
        ],
    )
    blocks += folded(
        "What these numbers mean, and what they do not",
        [f"**{escape(note.term)}.** {escape(note.text)}" for note in comparison_notes(summary)],
    )
    blocks.append(
        f"*testsgd {escape(summary.versions.get('testsgd', ''))}, "
        f"{escape(moment(summary.created))}. The drawing is in the HTML report.*"
    )
    return "\n\n".join(block for block in blocks if block) + "\n"


def _method(method: MethodSummary) -> list[str]:
    grid = findings_grid(method)
    said = [f"- {escape(told)}" for told in change_sentences(method)]
    said += [f"- **{escape(name)}.** {escape(told)}" for name, told in figure_sentences(method)]
    blocks = [escape(sentence(method.measure)) if method.available else ""]
    blocks += [escape(sentence(method.note)), _table(grid) if grid.rows else "", "\n".join(said)]
    return [block for block in blocks if block]


def _table(grid: Grid) -> str:
    return grid_markdown(grid, TEXT_LIMIT, about=True)

"""The summary of a certification as Markdown, short enough for a comment on a pull request."""

from __future__ import annotations

from dataclasses import replace

from testsgd.report.formatting import moment
from testsgd.reporting.certification.figures import between, proved_texts
from testsgd.reporting.certification.grids import (
    counterexamples_grid,
    inputs_grid,
    regions_grid,
)
from testsgd.reporting.certification.notes import certification_notes
from testsgd.reporting.certification.particulars import certification_particulars
from testsgd.reporting.certification.phrases import STATUS_NAMES, estimate_title
from testsgd.reporting.certification.summary import CertificationSummary
from testsgd.reporting.grid import Grid, grid_markdown
from testsgd.reporting.markup import cells, escape, folded, table

TEXT_LIMIT = 160


def render_certification_markdown(summary: CertificationSummary) -> str:
    """Write a certification as GitHub-flavoured Markdown.

    Parameters
    ----------
    summary : CertificationSummary
        The certification; everything shown is taken from it, nothing is computed again.

    Returns
    -------
    str
        The outcome comes first; details are folded away, pictures are left out.
    """
    verdict = summary.verdict
    regions, cases = regions_grid(summary), counterexamples_grid(summary)
    blocks = [
        f"## Certification: {escape(summary.network.name)} on {escape(summary.domain.name)}",
        f"**{escape(verdict.headline)}**",
        f"{STATUS_NAMES[verdict.status]}.",
        "\n".join(f"- {escape(told)}" for told in verdict.sentences),
        _shares(summary),
        *(["### Where unfairness sits", _table(regions)] if regions.rows else []),
        *folded(
            "Counterexamples: rows of a case differ in the protected inputs only",
            [_table(cases)] if cases.rows else [],
        ),
        *folded(
            "Domain, network and settings",
            [
                *(
                    table([section.title, ""], [cells(fact) for fact in section.facts])
                    for section in certification_particulars(summary)
                ),
                _table(inputs_grid(summary)),
            ],
        ),
        *folded(
            "What these numbers mean, and what they do not",
            [
                f"**{escape(note.term)}.** {escape(note.text)}"
                for note in certification_notes(summary)
            ],
        ),
        f"*testsgd {escape(summary.versions.get('testsgd', ''))}, "
        f"{escape(moment(summary.created))}. The drawings are in the HTML report.*",
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _shares(summary: CertificationSummary) -> str:
    texts, found = proved_texts(summary.proved), summary.estimated
    proved = [
        ["Proved fair, at least", texts.certified],
        ["Proved unfair, at least", texts.falsified],
        ["Undecided, at most", texts.undecided],
    ]
    shares = table(["Proved", "Share of the domain"], [cells(row) for row in proved], right=[1])
    if found is None:
        return shares
    part = between(found.low, found.high)
    domain = between(found.domain_unfair_low, found.domain_unfair_high)
    estimated = [
        ["Unfair share of the undecided part", " to ".join(part)],
        ["Unfair share of the domain", " to ".join(domain)],
    ]
    rows = [cells(row) for row in estimated]
    return f"{shares}\n\n{table([estimate_title(summary), 'Share'], rows, right=[1])}"


def _table(grid: Grid) -> str:
    # Inputs head columns, and may be called anything.
    columns = tuple(
        replace(column, heading=escape(column.heading, TEXT_LIMIT)) for column in grid.columns
    )
    return grid_markdown(replace(grid, columns=columns), TEXT_LIMIT, about=True)

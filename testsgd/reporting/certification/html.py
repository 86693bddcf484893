"""The summary of a certification as one HTML file: it asks for no other file, runs no script."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from testsgd.reporting import mitigation
from testsgd.reporting.certification import drawings, grids
from testsgd.reporting.certification.figures import between, proved_texts
from testsgd.reporting.certification.notes import certification_notes
from testsgd.reporting.certification.particulars import certification_particulars
from testsgd.reporting.certification.phrases import (
    STATUS_NAMES,
    bound,
    compared_text,
    estimate_title,
    people,
    people_counts,
    people_number,
)
from testsgd.reporting.certification.summary import CertificationSummary
from testsgd.reporting.grid import Grid, Row
from testsgd.reporting.pages import page_environment

# Longer tables are folded away.
OPEN_ROWS = 12

_TEMPLATES = Path(__file__).parent / "templates"
# Its tables are drawn as those of a mitigation.
_PIECES = Path(mitigation.__file__).parent / "templates"


def render_certification_html(summary: CertificationSummary) -> str:
    """Write a certification as a self-contained HTML document.

    Parameters
    ----------
    summary : CertificationSummary
        The certification; everything shown is taken from it, nothing is computed again.

    Returns
    -------
    str
        The document. It works offline, contains no script and asks for no other file.
    """
    # Those that are drawn make the scale: one of the others may be much larger.
    scale, bars = drawings.region_bars(summary.regions[:OPEN_ROWS])
    cases = grids.counterexamples_grid(summary)
    found = summary.estimated
    return (
        page_environment(_TEMPLATES, _PIECES)
        .get_template("certification.html.j2")
        .render(
            summary=summary,
            network=summary.network,
            domain=summary.domain,
            status=STATUS_NAMES[summary.verdict.status],
            people=people(summary.domain),
            compared=compared_text(summary.domain),
            texts=proved_texts(summary.proved),
            bound=bound,
            people_counts=people_counts(summary.proved, summary.domain, summary.method),
            people_number=people_number(summary.domain.points),
            stack=drawings.proved_stack(summary),
            spread=drawings.estimated_spread(summary),
            part_ends=between(found.low, found.high) if found else None,
            domain_ends=(
                between(found.domain_unfair_low, found.domain_unfair_high) if found else None
            ),
            estimate_title=estimate_title(summary),
            time=drawings.over_time(summary.moments),
            region_scale=scale,
            region_bars=bars,
            regions=grids.regions_grid(summary),
            cases_grid=cases,
            cases=_cases(cases),
            inputs=grids.inputs_grid(summary),
            open_rows=OPEN_ROWS,
            particulars=certification_particulars(summary),
            notes=certification_notes(summary),
        )
    )


def _cases(grid: Grid) -> list[list[Row]]:
    """Put the rows of a counterexample together."""
    return [list(rows) for _, rows in groupby(grid.rows, key=lambda row: row.cells[0])]

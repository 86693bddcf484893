"""The summary of a comparison as one HTML file that needs nothing else: no network, no script."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from testsgd.reporting import mitigation
from testsgd.reporting.comparison import grids
from testsgd.reporting.comparison.drawings import drawn_methods
from testsgd.reporting.comparison.notes import comparison_notes
from testsgd.reporting.comparison.particulars import comparison_particulars
from testsgd.reporting.comparison.phrases import change_sentences, figure_sentences
from testsgd.reporting.comparison.summary import ComparisonSummary, MethodSummary
from testsgd.reporting.grid import Grid
from testsgd.reporting.pages import page_environment
from testsgd.reporting.sentences import sentence
from testsgd.reporting.vocabulary import words_for

_TEMPLATES = Path(__file__).parent / "templates"
# Its tables are drawn as those of a mitigation.
_PIECES = Path(mitigation.__file__).parent / "templates"


@dataclass(frozen=True)
class _Method:
    """A method with its table."""

    method: MethodSummary
    measure: str
    note: str
    grid: Grid
    sentences: tuple[str, ...]
    figures: tuple[tuple[str, str], ...]


def render_comparison_html(summary: ComparisonSummary) -> str:
    """Write a comparison as a self-contained HTML document.

    Parameters
    ----------
    summary : ComparisonSummary
        The comparison; everything shown is taken from it, nothing is computed again.

    Returns
    -------
    str
        The document. It works offline, contains no script and asks for no other file.
    """
    scale, drawn = drawn_methods(summary)
    return (
        page_environment(_TEMPLATES, _PIECES)
        .get_template("comparison.html.j2")
        .render(
            summary=summary,
            words=words_for(summary.data.kind),
            data=summary.data,
            label=summary.data.label,
            scale=scale,
            drawn=drawn,
            methods_grid=grids.methods_grid(summary),
            overlap=grids.overlap_grid(summary),
            methods=[
                _Method(
                    method,
                    sentence(method.measure),
                    sentence(method.note),
                    grids.findings_grid(method),
                    change_sentences(method),
                    figure_sentences(method),
                )
                for method in summary.methods
            ],
            particulars=comparison_particulars(summary),
            notes=comparison_notes(summary),
        )
    )

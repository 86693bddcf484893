"""A result as a part of another page, such as a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from testsgd.report.blocks import Block, Document, KeyFigures, Only
from testsgd.report.html import page_template

# What a notebook shows of a report: its file is kept with every output in it.
_SENTENCES = 6
_CHARACTERS = 1500


def render_fragment(document: Document, blocks: Sequence[Block] = ()) -> str:
    """Return a result in short as HTML: its status, its headline, its sentences and key figures.

    It takes its colours from the page that it stands on, so it can be read on a dark one too. Its
    style changes nothing else of that page, and it has no script.

    Parameters
    ----------
    document : Document
        The report.
    blocks : sequence of blocks
        What follows the key figures. They have no links, as the report's sections are not there.

    Returns
    -------
    str
    """
    return page_template("fragment.html.j2").render(
        document=document,
        sentences=document.sentences[:_SENTENCES],
        left_out=max(0, len(document.sentences) - _SENTENCES),
        longest=_CHARACTERS,
        blocks=[*_key_figures((*document.figures, *document.opening)), *blocks],
    )


def _key_figures(blocks: Iterable[Block]) -> Iterator[KeyFigures]:
    """Yield the key figures that a page shows among some blocks."""
    for block in blocks:
        if isinstance(block, KeyFigures):
            yield block
        elif isinstance(block, Only) and block.view == "html":
            yield from _key_figures(block.blocks)

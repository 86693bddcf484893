"""A document as one HTML file that needs nothing else: no network, and no script to be read.

Where a table can be searched, the file has one small script. The file's content security policy
lets no other run: it names the script by its hash.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from testsgd.report import geometry
from testsgd.report.blocks import (
    Article,
    Beside,
    Block,
    Boxed,
    Details,
    Document,
    Only,
    Table,
    shown,
)
from testsgd.report.charts import Chart
from testsgd.report.formatting import cut_inside, moment, shorten
from testsgd.report.scales import Scale

_TEMPLATES = Path(__file__).parent / "templates"
# Longer names of rows are cut.
_NAME = 240
# Steps of heat maps on each side.
_STEPS = 4

# Where a narrow column may break a figure.
_BREAKS = re.compile(r"(?<=[),]) | (?=\()|(?<=%) (?=to )(?![^(]*\))")

# Paths drawn before the status, by whether it is good.
_ICONS = {
    "good": "M3 8.5 6.5 12 13 4.5",
    "bad": "M4 4l8 8M12 4l-8 8",
    "open": "M5 6a3 3 0 1 1 4.2 2.7C8.2 9.2 8 9.6 8 10.5M8 13.2v.1",
    "": "M3 4h10M3 8h10M3 12h6",
}


@dataclass(frozen=True)
class _Script:
    """A script of a page, and the hash by which the page's policy allows it."""

    text: Markup
    hash: str

    @classmethod
    def read(cls, name: str) -> _Script:
        """Read a script that is among the templates."""
        text = (_TEMPLATES / name).read_text(encoding="utf-8")
        digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
        return cls(Markup(text), f"sha256-{digest}")


def render_html(document: Document) -> str:
    """Return a document as an HTML page that works offline, without other files."""
    sections = [section for section in document.sections if shown(section.blocks, "html")]
    blocks = [block for section in sections for block in _all_blocks(section.blocks)]
    searchable = any(isinstance(block, Table) and block.searchable for block in blocks)
    template = _environment().get_template("document.html.j2")
    return template.render(
        document=document,
        sections=sections,
        icons=_ICONS,
        script=_Script.read("search.js") if searchable else None,
    )


def page_template(name: str) -> Template:
    """Return a template by the name of its file; what it prints is escaped."""
    return _environment().get_template(name)


def _all_blocks(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield blocks, and those inside of them."""
    for block in blocks:
        yield block
        if isinstance(block, (Article, Beside, Boxed, Details, Only)):
            yield from _all_blocks(block.blocks)


def draw(chart: Chart, level: int = 3) -> Markup:
    """Return a chart as HTML; its own headings are of some level."""
    macros: Any = _environment().get_template("charts.html.j2").module
    return Markup(macros.draw(chart, level))


def text_units(text: str, units: Iterable[str]) -> Markup:
    """Write the name of a group; where it fits, a line never breaks inside a rule."""
    units = tuple(units)
    if len(text) > _NAME or " and ".join(units) != text:
        return Markup("{}").format(shorten(text, _NAME))
    return Markup(" ").join(
        Markup('<span class="unit">{}{}</span>').format("and " if number else "", unit)
        for number, unit in enumerate(units)
    )


def breakable(text: str) -> Markup:
    """Write a figure so that a narrow column breaks it between its parts, and nowhere else."""
    parts = _BREAKS.split(text)
    if len(parts) == 1:
        return Markup("{}").format(text)
    return Markup(" ").join(Markup('<span class="unit">{}</span>').format(part) for part in parts)


def shade(steps: int | None) -> str:
    """Name a shade: l4 (far below) to l1, z, m1 to m4 (far above); no without a value."""
    if steps is None:
        return "no"
    clipped = max(-_STEPS, min(_STEPS, steps))
    return f"{'l' if clipped < 0 else 'm'}{abs(clipped)}" if clipped else "z"


def place(value: float, scale: Scale) -> float:
    """Return where a value lies on a scale, in per cent."""
    return scale.place(value)


@lru_cache
def _environment() -> Environment:
    """Return the environment that templates are rendered in: what they print is escaped."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (
        breakable,
        cut_inside,
        moment,
        place,
        shade,
        shorten,
        text_units,
        geometry.line_ends,
        geometry.named_lines,
        geometry.names_beside,
        geometry.outline,
        geometry.placed_highlights,
        geometry.tiles,
    )
    environment.filters |= {function.__name__: function for function in filters}
    return environment

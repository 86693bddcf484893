"""A document as one HTML file that needs nothing else: no network, no script."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from testsgd.report.blocks import Document, shown
from testsgd.report.charts import Chart, HeatKeys, HeatMap, Plane, RateBars, Stack, Strips
from testsgd.report.formatting import moment
from testsgd.report.planes import plane
from testsgd.report.svg import heat_keys, heat_map, rate_bars, stack, strips, text_units

_TEMPLATES = Path(__file__).parent / "templates"

# Paths drawn before the status, by whether it is good.
_ICONS = {
    "good": "M3 8.5 6.5 12 13 4.5",
    "bad": "M4 4l8 8M12 4l-8 8",
    "open": "M5 6a3 3 0 1 1 4.2 2.7C8.2 9.2 8 9.6 8 10.5M8 13.2v.1",
    "": "M3 4h10M3 8h10M3 12h6",
}


def render_html(document: Document) -> str:
    """Return a document as an HTML page that works offline, without script or other files."""
    sections = [section for section in document.sections if shown(section.blocks, "html")]
    template = _environment().get_template("document.html.j2")
    return template.render(document=document, sections=sections, icons=_ICONS)


def draw(chart: Chart, level: int = 3) -> Markup:
    """Return a chart as HTML; its own headings are of some level."""
    match chart:
        case Strips():
            return strips(chart, level)
        case Stack():
            return stack(chart)
        case Plane():
            return plane(chart)
        case RateBars():
            return rate_bars(chart)
        case HeatMap():
            return heat_map(chart)
        case HeatKeys():
            return heat_keys(chart)


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
    environment.filters |= {"draw": draw, "moment": moment, "text_units": text_units}
    return environment

"""Parts of a page as trees of elements, to ask what is drawn where."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

Element = ET.Element


def section(page: str, key: str) -> Element:
    """Return a section of a page; nothing that it may contain is left unclosed."""
    found = re.search(f'<section id="{key}".*?</section>', page, re.DOTALL)
    assert found is not None, key
    return ET.fromstring(found.group())


def drawing(markup: str) -> Element:
    """Return what a chart is drawn as."""
    return ET.fromstring(f"<div>{markup}</div>")


def of_class(element: Element, name: str, tag: str | None = None) -> Iterator[Element]:
    """Find the elements of a class within one."""
    for inner in element.iter(tag):
        if name in inner.get("class", "").split():
            yield inner


def extent(rect: Element) -> tuple[float, float]:
    """Return where a rectangle begins and ends, in per cent of its drawing."""
    start = number(rect, "x") if "x" in rect.attrib else 0.0
    return start, start + number(rect, "width")


def number(element: Element, attribute: str) -> float:
    """Return an attribute in per cent."""
    return float(element.attrib[attribute].removesuffix("%"))


def text(element: Element) -> str:
    """Return all that an element says."""
    return " ".join("".join(element.itertext()).split())

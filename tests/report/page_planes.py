"""What is drawn on the planes of a page, read from its elements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

Attributes = dict[str, str]


class Plane:
    """The elements of one plane and of what stands around it; positions are in per cent."""

    def __init__(self) -> None:
        self.elements: list[tuple[str, str, Attributes]] = []
        self.texts: dict[str, list[tuple[Attributes, str]]] = {}

    def marks(self, part: str, tag: str, kind: str = "") -> list[Attributes]:
        """Return the elements of a part of the plane, of one tag and class."""
        return [
            attributes
            for where, name, attributes in self.elements
            if where == part and name == tag and kind in ("", attributes.get("class"))
        ]

    def numbers(self, part: str, tag: str, kind: str, *names: str) -> list[tuple[float, ...]]:
        """Return attributes of marks as numbers."""
        return [
            tuple(float(mark[name].rstrip("%")) for name in names)
            for mark in self.marks(part, tag, kind)
        ]

    def lines(self, part: str = "lines") -> list[tuple[str, list[tuple[float, float]]]]:
        """Return the colour of each line, or area, with its corners."""
        return [(path["class"], corners(path["d"])) for path in self.marks(part, "path")]

    @property
    def heights(self) -> list[float]:
        """The numbers of the axis upwards."""
        return [float(text) for _, text in self.texts["y-axis"]]

    @property
    def names(self) -> list[tuple[float, str]]:
        """What is written at the right, with its height from the top."""
        return [(float(mark["y"][:-1]), text) for mark, text in self.texts.get("names", [])]


def corners(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"[ML]([-\d.]+) ([-\d.]+)", path)]


def planes_of(page: str) -> list[Plane]:
    """Return the planes of a page, in their order."""
    return _Reader(page).planes


class _Reader(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.planes: list[Plane] = []
        self.open: list[tuple[str, Attributes]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attributes}
        if known.get("class") == "plot":
            self.planes.append(Plane())
        if part := next(self._parts(), ""):
            self.planes[-1].elements.append((part, tag, known))
        if tag not in ("meta", "link"):
            self.open.append((tag, known))

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        if (part := next(self._parts(), "")) and self.open[-1][0] == "text":
            self.planes[-1].texts.setdefault(part, []).append((self.open[-1][1], data))

    def _parts(self) -> Iterator[str]:
        """Name the innermost drawing within a plot that is open, then those around it."""
        kinds = [known.get("class", "") for _, known in self.open]
        if "plot" in kinds:
            inner = self.open[kinds.index("plot") + 1 :]
            yield from (known.get("class", "") for tag, known in reversed(inner) if tag == "svg")

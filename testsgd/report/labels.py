"""Where the labels of marks in a chart go: where they cover nothing, if there is room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True)
class Label:
    """The label of a mark, moved by `dx`, `dy` pixels from it; empty if there is no room."""

    text: str
    dx: int
    dy: int
    anchor: Anchor


def place_labels(places: Sequence[tuple[float, float]], texts: Sequence[str]) -> tuple[Label, ...]:
    """Place the label of each mark where it covers no mark and no other label, if there is room.

    Parameters
    ----------
    places : sequence of tuple of float
        Where the marks are, in per cent from the left and from the top.
    texts : sequence of str
        Their labels.

    Returns
    -------
    tuple of Label
        Room is judged at the width of a phone, where it is scarcest. A label without room is empty.
    """
    width, height = 280.0, 320.0
    centres = [(x * width / 100, y * height / 100) for x, y in places]
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in centres]
    labels = []
    for text, (centre_x, centre_y) in zip(texts, centres, strict=True):
        placed = Label("", 0, 0, "middle")
        length = 8 * len(text)
        for dx, dy, anchor, left in _LABEL_PLACES:
            box_left = centre_x + dx - left * length
            box = (box_left, centre_y + dy - 10, box_left + length, centre_y + dy + 1)
            # Left of the plane stand the numbers of the axis; what is right of it may be cut off.
            inside = box_left >= 0 and box[2] <= width + _LABEL_BEYOND
            if inside and not any(_overlap(box, other) for other in taken):
                placed = Label(text, dx, dy, anchor)
                taken.append(box)
                break
        labels.append(placed)
    return tuple(labels)


_Box = tuple[float, float, float, float]
# Room right of the plane, in pixels.
_LABEL_BEYOND = 20
# Offset of the label, its anchor, and the share of its length that lies left of the offset.
_LABEL_PLACES: tuple[tuple[int, int, Anchor, float], ...] = (
    (9, 4, "start", 0.0),
    (-9, 4, "end", 1.0),
    (0, -10, "middle", 0.5),
    (0, 19, "middle", 0.5),
    (8, -7, "start", 0.0),
    (8, 15, "start", 0.0),
    (-8, -7, "end", 1.0),
    (-8, 15, "end", 1.0),
)


def _overlap(one: _Box, other: _Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]

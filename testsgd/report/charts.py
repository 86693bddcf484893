"""Charts as data: what is drawn, in units of the data; a template draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from testsgd.report.scales import Scale

Side = Literal["less", "more"]
# What is not decided is open; what is only estimated is pale.
Tone = Literal["less", "more", "soft", "ink", "open", "pale"]
Shape = Literal["cross", "circle", "square", "triangle", "wedge"]


@dataclass(frozen=True)
class Mark:
    """A value with its intervals, in a row of :class:`Strips`."""

    value: float
    # Ends of the thin line, and of the thick band.
    interval: tuple[float, float] | None = None
    margin: tuple[float, float] | None = None
    # ``"dot"``, ``"ring"``, ``"rest"`` for what a dot is compared with, or ``"was"`` for
    # where it was before.
    shape: Literal["dot", "ring", "rest", "was"] = "dot"
    # Written beside it: at the left of the lowest mark of a row, at the right of others.
    text: str = ""
    # The colour; without one it is that of its sign where zero is marked, else that of the row.
    side: Side | None = None


@dataclass(frozen=True)
class Segment:
    """A part of a bar, or of a row of :class:`Strips`."""

    # Where it begins and ends; without any length it is not drawn.
    start: float
    end: float
    tone: Tone
    # Of a :class:`Stack`: its name and number in the key, and what is said before the name;
    # the key leaves out what has no name.
    name: str = ""
    value: str = ""
    remark: str = ""


@dataclass(frozen=True)
class StripRow:
    """A row of marks on a scale."""

    label: str  # What it is about.
    value: str  # The number at the right.
    title: str = ""  # What the drawing says to those who do not see it.
    marks: tuple[Mark, ...] = ()
    # Ends of a line between marks; to where a mark was, it is dotted.
    line: tuple[float, float] | None = None
    side: Side = "more"  # The colour.
    levels: bool = False  # Whether the marks are below each other, not on one line.
    detail: str = ""  # Said below the label, smaller.
    note: str = ""  # A word beside the label.
    to: str = ""  # The key of a section that the label leads to.
    units: tuple[str, ...] = ()  # Parts of the label between which a line may break.
    together: bool = False  # Whether it sums up the rows above.
    segments: tuple[Segment, ...] = ()  # Parts of a bar, later ones above earlier ones.
    faint: bool = False  # Whether the eye should pass over it.


@dataclass(frozen=True)
class Strips:
    """Rows of marks on one scale."""

    kind: ClassVar = "strips"

    parts: tuple[tuple[str, tuple[StripRow, ...]], ...]  # Rows below headings, which may be empty.
    scale: Scale  # Of signed differences, with zero marked, or of shares.
    zero: bool = True  # Whether zero is marked.


@dataclass(frozen=True)
class Stack:
    """A whole as one bar, with a key of its parts."""

    kind: ClassVar = "stacks"

    title: str  # What it says to those who do not see it.
    scale: Scale  # Of shares of the whole.
    segments: tuple[Segment, ...]  # Its parts; later ones are above earlier ones.
    name: str = ""  # What is drawn, above the drawing.
    # What is not known but estimated, with both of its ends marked.
    estimate: Segment | None = None
    mark: Mark | None = None  # A value on the bar.
    side: Side = "more"  # The colour of the mark.
    # Ends of the part that is drawn larger in what follows.
    zoom: tuple[float, float] | None = None
    axis: bool = False  # Whether the scale is written below.


@dataclass(frozen=True)
class Bar:
    """A bar of a plane, from `start` to `end` across and from the ground to `height`."""

    start: float
    end: float
    height: float
    title: str
    tone: Tone = "more"


@dataclass(frozen=True)
class Line:
    """A line through points of a plane."""

    # Across and upwards. The line has gaps where there is no value, and runs out of the
    # drawing where values lie beyond the scale.
    points: tuple[tuple[float, float | None], ...]
    tone: Tone = "soft"  # The colour; soft lines are thin.
    # If not empty, the line ends in a dot with this name beside it, unless the last point has
    # no value. Of many lines only those are named that are not soft.
    name: str = ""


@dataclass(frozen=True)
class Area:
    """A part of a plane, tinted or `solid`; `corners` are across and upwards."""

    corners: tuple[tuple[float, float], ...]
    tone: Tone = "less"
    solid: bool = False


@dataclass(frozen=True)
class Span:
    """A part of the upper edge of a plane that is marked."""

    start: float
    end: float
    title: str


@dataclass(frozen=True)
class Flag:
    """An upright line of a plane where something happened; one with a title bears a flag."""

    at: float
    title: str = ""


@dataclass(frozen=True)
class Threshold:
    """A dashed line across a plane, with its name; `upright` from the ground upwards."""

    value: float
    name: str = ""
    upright: bool = False


@dataclass(frozen=True)
class Symbol:
    """A point whose shape shows its kind; refused ones are soft."""

    x: float
    y: float
    shape: Shape
    tone: Tone = "more"


@dataclass(frozen=True)
class Highlight:
    """A point that is singled out, with its label; a ring is what others are compared with."""

    x: float
    y: float
    label: str
    title: str
    side: Side
    shape: Literal["diamond", "ring"] = "diamond"


@dataclass(frozen=True)
class Tile:
    """Several points as a tile around a point; the `share` of the darkest makes its shade."""

    x: float
    y: float
    share: float


@dataclass(frozen=True)
class Plane:
    """A drawing with two axes."""

    kind: ClassVar = "planes"

    title: str  # What it says to those who do not see it.
    # The scales.
    across: Scale
    upwards: Scale
    name: str = ""  # What is drawn upwards, above the drawing; the part in `strong` stands out.
    strong: str = ""  # The end of the name.
    below: str | None = None  # What is drawn across; without it the axis across is not written.
    # What is drawn, most of it in this order, the last above all others.
    areas: tuple[Area, ...] = ()
    spans: tuple[Span, ...] = ()
    flags: tuple[Flag, ...] = ()
    bars: tuple[Bar, ...] = ()
    points: tuple[tuple[float, float], ...] = ()
    tiles: tuple[Tile, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    highlights: tuple[Highlight, ...] = ()
    lines: tuple[Line, ...] = ()
    thresholds: tuple[Threshold, ...] = ()
    interval: tuple[float, float] | None = None  # Ends of an upright line at the right end.
    height: float = 22.0  # In lines of the page's text (rem).
    about: str = ""  # More for those who do not see it.
    # The shapes of symbols with what they stand for, below the drawing.
    keys: tuple[tuple[Shape, str], ...] = ()
    keys_name: str = ""  # What all of these are.


@dataclass(frozen=True)
class RateBar:
    """A rate as a bar from zero; `detail` is written behind the rate."""

    label: str
    rate: float | None
    value: str
    detail: str = ""
    tone: Literal["less", "more", "soft", "ring-less", "ring-more"] = "soft"


@dataclass(frozen=True)
class RateBars:
    """Rates as bars below a heading, with a line across them at `overall`."""

    kind: ClassVar = "rate-bars"

    title: str
    bars: tuple[RateBar, ...]
    scale: Scale
    overall: float | None = None
    detail: str = ""


@dataclass(frozen=True)
class HeatCell:
    """A cell of a heat map."""

    text: str  # What is written in it.
    steps: int | None  # How many steps it is above the centre, -4 to 4; None without a value.
    title: str  # What pointing at it shows.
    few: bool = False  # Whether it rests on little.


@dataclass(frozen=True)
class HeatMap:
    """Values over two features."""

    kind: ClassVar = "heat"

    down: str
    across: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell, ...]], ...]
    detail: str = ""


@dataclass(frozen=True)
class HeatKeys:
    """The colours of heat maps with what they stand for, from -4 to 4 steps."""

    kind: ClassVar = "heat-keys"

    title: str
    labels: tuple[str, ...]


def stairs(
    values: Sequence[tuple[float, float]], *, ground: float
) -> tuple[tuple[float, float], ...]:
    """Return the corners of the area between a ground and values that hold until the next.

    Of each value it is given where it begins across, ascending, and how high it is.
    """
    corners = [(values[0][0], ground)]
    height = values[0][1]
    for across, upwards in values:
        corners += [(across, height), (across, upwards)]
        height = upwards
    return tuple(dict.fromkeys([*corners, (values[-1][0], ground)]))


Chart: TypeAlias = Strips | Stack | Plane | RateBars | HeatMap | HeatKeys

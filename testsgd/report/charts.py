"""Charts as data: what is drawn, in units of the data; :mod:`testsgd.report.svg` draws it."""

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
    """A value with its intervals, in a row of :class:`Strips`.

    Attributes
    ----------
    value : float
        Where the mark is.
    interval, margin : tuple of float or None
        Ends of the thin line, and of the thick band.
    shape : str
        ``"dot"``, ``"ring"``, ``"rest"`` for what a dot is compared with, or ``"was"`` for where
        it was before.
    text : str
        Written beside it: at the left of the lowest mark of a row, at the right of others.
    """

    value: float
    interval: tuple[float, float] | None = None
    margin: tuple[float, float] | None = None
    shape: Literal["dot", "ring", "rest", "was"] = "dot"
    text: str = ""


@dataclass(frozen=True)
class Segment:
    """A part of a bar, or of a row of :class:`Strips`.

    Attributes
    ----------
    start, end : float
        Where it begins and ends; without any length it is not drawn.
    tone : str
        Its colour.
    name, value, remark : str
        Of a :class:`Stack`: its name and number in the key, and what is said before the name; the
        key leaves out what has no name.
    """

    start: float
    end: float
    tone: Tone
    name: str = ""
    value: str = ""
    remark: str = ""


@dataclass(frozen=True)
class StripRow:
    """A row of marks on a scale.

    Attributes
    ----------
    label : str
        What it is about.
    value : str
        The number at the right.
    title : str
        What the drawing says to those who do not see it.
    marks : tuple of Mark
        The marks.
    line : tuple of float or None
        Ends of a line between marks; to where a mark was, it is dotted.
    side : str
        The colour.
    levels : bool
        Whether the marks are below each other, not on one line.
    detail : str
        Said below the label, smaller.
    note : str
        A word beside the label.
    to : str
        The key of a section that the label leads to.
    units : tuple of str
        Parts of the label between which a line may break.
    together : bool
        Whether it sums up the rows above.
    segments : tuple of Segment
        Parts of a bar, later ones above earlier ones.
    faint : bool
        Whether the eye should pass over it.
    """

    label: str
    value: str
    title: str = ""
    marks: tuple[Mark, ...] = ()
    line: tuple[float, float] | None = None
    side: Side = "more"
    levels: bool = False
    detail: str = ""
    note: str = ""
    to: str = ""
    units: tuple[str, ...] = ()
    together: bool = False
    segments: tuple[Segment, ...] = ()
    faint: bool = False


@dataclass(frozen=True)
class Strips:
    """Rows of marks on one scale.

    Attributes
    ----------
    parts : tuple of (str, tuple of StripRow)
        Rows below headings, which may be empty.
    scale : Scale
        Of signed differences, with zero marked, or of shares.
    zero : bool
        Whether zero is marked.
    """

    kind: ClassVar = "strips"

    parts: tuple[tuple[str, tuple[StripRow, ...]], ...]
    scale: Scale
    zero: bool = True


@dataclass(frozen=True)
class Stack:
    """A whole as one bar, with a key of its parts.

    Attributes
    ----------
    title : str
        What it says to those who do not see it.
    scale : Scale
        Of shares of the whole.
    segments : tuple of Segment
        Its parts; later ones are above earlier ones.
    name : str
        What is drawn, above the drawing.
    estimate : Segment or None
        What is not known but estimated, with both of its ends marked.
    mark : Mark or None
        A value on the bar.
    side : str
        The colour of the mark.
    zoom : tuple of float or None
        Ends of the part that is drawn larger in what follows.
    axis : bool
        Whether the scale is written below.
    """

    kind: ClassVar = "stacks"

    title: str
    scale: Scale
    segments: tuple[Segment, ...]
    name: str = ""
    estimate: Segment | None = None
    mark: Mark | None = None
    side: Side = "more"
    zoom: tuple[float, float] | None = None
    axis: bool = False


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
    """A line through points of a plane.

    Attributes
    ----------
    points : tuple of (float, float or None)
        Across and upwards. The line has gaps where there is no value, and runs out of the drawing
        where values lie beyond the scale.
    tone : str
        The colour; soft lines are thin.
    name : str
        If not empty, the line ends in a dot with this name beside it, unless the last point has no
        value. Of many lines only those are named that are not soft.
    """

    points: tuple[tuple[float, float | None], ...]
    tone: Tone = "soft"
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
    """A point of one kind of several, told apart by their shapes; refused ones are soft."""

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
    """A drawing with two axes.

    Attributes
    ----------
    title : str
        What it says to those who do not see it.
    across, upwards : Scale
        The scales.
    name : str
        What is drawn upwards, above the drawing; the part in `strong` stands out.
    strong : str
        The end of the name.
    below : str
        What is drawn across; without it the axis across is not written.
    areas, spans, flags, bars, points, symbols, tiles, lines, thresholds, highlights : tuple
        What is drawn, most of it in this order, the last above all others.
    about : str
        More for those who do not see it.
    keys : tuple of (str, str)
        The shapes of symbols with what they stand for, below the drawing.
    keys_name : str
        What all of these are.
    interval : tuple of float or None
        Ends of an upright line at the right end.
    height : float
        In lines of the page's text (rem).
    """

    kind: ClassVar = "planes"

    title: str
    across: Scale
    upwards: Scale
    name: str = ""
    strong: str = ""
    below: str | None = None
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
    interval: tuple[float, float] | None = None
    height: float = 22.0
    about: str = ""
    keys: tuple[tuple[Shape, str], ...] = ()
    keys_name: str = ""


@dataclass(frozen=True)
class RateBar:
    """A rate as a bar from zero; `detail` is said behind the rate."""

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
    """A cell of a heat map.

    Attributes
    ----------
    text : str
        What is written in it.
    steps : int or None
        How many steps it is above the centre, -4 to 4; None without a value.
    title : str
        What pointing at it shows.
    few : bool
        Whether it rests on little.
    """

    text: str
    steps: int | None
    title: str
    few: bool = False


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

    Parameters
    ----------
    values : sequence of (float, float)
        Where each begins across, ascending, and how high it is.
    ground : float
        How high the other side of the area is.

    Examples
    --------
    >>> stairs([(0, 1), (4, 3)], ground=0)
    ((0, 0), (0, 1), (4, 1), (4, 3), (4, 0))
    """
    corners, height = [(values[0][0], ground)], values[0][1]
    for across, upwards in values:
        corners += [(across, height), (across, upwards)]
        height = upwards
    return tuple(dict.fromkeys([*corners, (values[-1][0], ground)]))


Chart: TypeAlias = Strips | Stack | Plane | RateBars | HeatMap | HeatKeys

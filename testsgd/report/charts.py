"""Charts as data: what is drawn, in units of the data; :mod:`testsgd.report.svg` draws it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from testsgd.report.scales import Scale

Side = Literal["less", "more"]
Tone = Literal["less", "more", "soft", "ink"]


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
        ``"dot"``, ``"ring"``, or ``"rest"`` for what a dot is compared with.
    """

    value: float
    interval: tuple[float, float] | None = None
    margin: tuple[float, float] | None = None
    shape: Literal["dot", "ring", "rest", "was"] = "dot"


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
    line, step : tuple of float or None
        Ends of a line between marks, and of a bar.
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
    """

    label: str
    value: str
    title: str = ""
    marks: tuple[Mark, ...] = ()
    line: tuple[float, float] | None = None
    step: tuple[float, float] | None = None
    side: Side = "more"
    levels: bool = False
    detail: str = ""
    note: str = ""
    to: str = ""
    units: tuple[str, ...] = ()
    together: bool = False


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
    """A tinted part of a plane; `corners` are across and upwards."""

    corners: tuple[tuple[float, float], ...]
    tone: Tone = "less"


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
    areas, spans, flags, bars, lines, thresholds : tuple
        What is drawn, most of it in this order, the last above all others.
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
    lines: tuple[Line, ...] = ()
    thresholds: tuple[Threshold, ...] = ()
    interval: tuple[float, float] | None = None
    height: float = 22.0


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


@dataclass(frozen=True)
class Diamond:
    """A point that is singled out, with its label."""

    x: float
    y: float
    label: str
    title: str
    side: Side


@dataclass(frozen=True)
class Tile:
    """Several points as a tile around a point; the `share` of the darkest makes its shade."""

    x: float
    y: float
    share: float


@dataclass(frozen=True)
class Scatter:
    """Points on a plane, or tiles where there are too many, with some that are singled out."""

    kind: ClassVar = "scatter"

    title: str
    name: str
    across: Scale
    upwards: Scale
    points: tuple[tuple[float, float], ...] = ()
    tiles: tuple[Tile, ...] = ()
    diamonds: tuple[Diamond, ...] = ()
    upright: float | None = None
    level: float | None = None


Chart: TypeAlias = Strips | Plane | RateBars | HeatMap | HeatKeys | Scatter

"""Charts as data: what is drawn, in units of the data; :mod:`testsgd.report.svg` draws it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from testsgd.report.scales import Scale

Side = Literal["less", "more"]
Tone = Literal["less", "more", "soft"]


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
    line : tuple of float or None
        Ends of a line between marks.
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
    bars : tuple of Bar
        Bars from the ground.
    thresholds : tuple of Threshold
        Dashed lines.
    low : bool
        Whether it is less high than others.
    """

    kind: ClassVar = "planes"

    title: str
    across: Scale
    upwards: Scale
    name: str = ""
    strong: str = ""
    below: str | None = None
    bars: tuple[Bar, ...] = ()
    thresholds: tuple[Threshold, ...] = ()
    low: bool = False


Chart: TypeAlias = Strips | Plane

"""Charts as data: what is drawn, in units of the data; :mod:`testsgd.report.svg` draws it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from testsgd.report.scales import Scale

Side = Literal["less", "more"]


@dataclass(frozen=True)
class Mark:
    """A value with its intervals.

    Attributes
    ----------
    value : float
        Where the dot is.
    title : str
        What it says to those who do not see it.
    interval, margin : tuple of float or None
        Ends of the thin line, and of the thick band.
    ring : bool
        A ring instead of a dot.
    """

    value: float
    title: str
    interval: tuple[float, float] | None = None
    margin: tuple[float, float] | None = None
    ring: bool = False

    @property
    def side(self) -> Side:
        """On which side of zero it is, which is its colour."""
        return "less" if self.value < 0 else "more"


@dataclass(frozen=True)
class StripRow:
    """A row of dots on a scale.

    Attributes
    ----------
    label : str
        What it is about.
    value : str
        The number at the right.
    marks : tuple of Mark
        Drawn one below the other.
    detail : str
        Said below the label, smaller.
    to : str
        The key of a section that the label leads to.
    units : tuple of str
        Parts of the label between which a line may break.
    together : bool
        Whether it sums up the rows above.
    """

    label: str
    value: str
    marks: tuple[Mark, ...] = ()
    detail: str = ""
    to: str = ""
    units: tuple[str, ...] = ()
    together: bool = False


@dataclass(frozen=True)
class Strips:
    """Rows of dots with whiskers on one scale of signed differences.

    Attributes
    ----------
    parts : tuple of (str, tuple of StripRow)
        Rows below headings, which may be empty.
    scale : Scale
        From :func:`testsgd.report.scales.difference_scale`.
    """

    kind: ClassVar = "strips"

    parts: tuple[tuple[str, tuple[StripRow, ...]], ...]
    scale: Scale


Chart: TypeAlias = Strips

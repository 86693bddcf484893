"""A figure of matplotlib that a notebook shows. Imported only where something is drawn."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure

# A notebook keeps its pictures in its file.
_DOTS_PER_INCH = 80


class ShownFigure(Figure):
    """A figure that a notebook shows where a cell ends with it.

    A notebook shows other figures only after pyplot was imported, or ``%matplotlib inline``. Where
    that was done it draws this one, too, in the way that was asked for.
    """

    def _repr_png_(self) -> bytes:
        """Return the figure as a picture; equal figures give equal bytes with any matplotlib."""
        picture = BytesIO()
        self.savefig(picture, format="png", dpi=_DOTS_PER_INCH, metadata={"Software": None})
        return picture.getvalue()

"""Heat maps of a report: which shade stands for which difference, and what each cell says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from testsgd.report.formatting import percent, plural, signed, tick_points
from testsgd.reporting.summary import HeatMap

# Below this many rows a rate says little; heat maps set it apart.
FEW_ROWS = 30
HEAT_STEPS = 4
_HEAT_SIZES = (0.0025, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.15, 0.2, 0.25)


@dataclass(frozen=True)
class HeatCell:
    """One cell of a heat map; `shade` names its colour and is empty without a rate."""

    text: str
    shade: str
    title: str
    few: bool


@dataclass(frozen=True)
class HeatTable:
    """A heat map as a table; `turned` if the column labels are too long to stand upright.

    `centre` is the rate that has no colour, `most` the largest number of rows in a cell.
    """

    row_feature: str
    column_feature: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell, ...]], ...]
    turned: bool
    centre: float
    most: int


@dataclass(frozen=True)
class HeatKey:
    """One shade of the heat maps and the difference in the middle of it."""

    shade: str
    label: str


def heat_step(maps: Sequence[HeatMap], overall: float) -> float:
    """Choose how large a difference from the overall rate one shade stands for.

    Parameters
    ----------
    maps : sequence of HeatMap
        All heat maps of the report; they share their shades.
    overall : float
        The rate that has no colour.

    Returns
    -------
    float
    """
    every = [
        (abs(rate - overall), n)
        for heat_map in maps
        for rates, counts in zip(heat_map.rates, heat_map.counts, strict=True)
        for rate, n in zip(rates, counts, strict=True)
        if rate is not None
    ]
    # A rate over three rows would stretch the colours for all others.
    reliable = [size for size, n in every if n >= FEW_ROWS] or [size for size, _ in every]
    needed = max(reliable, default=0.0) / HEAT_STEPS
    return next((size for size in _HEAT_SIZES if size >= needed - 1e-9), _HEAT_SIZES[-1])


def mean_rate(heat_map: HeatMap) -> float:
    """Give the mean of a heat map's rates, every cell counted once; 0 if it has none."""
    rates = [rate for line in heat_map.rates for rate in line if rate is not None]
    return sum(rates) / len(rates) if rates else 0.0


def heat_table(heat_map: HeatMap, overall: float, step: float, one: str = "row") -> HeatTable:
    """Choose the text and the shade of every cell of a heat map.

    Parameters
    ----------
    heat_map : HeatMap
        The rates and counts.
    overall : float
        The rate that has no colour.
    step : float
        From :func:`heat_step`.
    one : str
        What one piece of the data is called.

    Returns
    -------
    HeatTable
    """
    rows = tuple(
        (
            label,
            tuple(
                _heat_cell(rate, n, overall, step, one)
                for rate, n in zip(rates, counts, strict=True)
            ),
        )
        for label, rates, counts in zip(
            heat_map.row_labels, heat_map.rates, heat_map.counts, strict=True
        )
    )
    return HeatTable(
        row_feature=heat_map.row_feature,
        column_feature=heat_map.column_feature,
        columns=tuple(heat_map.column_labels),
        rows=rows,
        turned=any(len(label) > 6 for label in heat_map.column_labels),
        centre=overall,
        most=max((n for line in heat_map.counts for n in line), default=0),
    )


def heat_keys(step: float) -> tuple[HeatKey, ...]:
    """List the shades of the heat maps, from less often to more often."""
    indices = range(-HEAT_STEPS, HEAT_STEPS + 1)
    return tuple(HeatKey(_shade(index), tick_points(index * step)) for index in indices)


def _heat_cell(rate: float | None, n: int, overall: float, step: float, one: str) -> HeatCell:
    if rate is None:
        title = f"no {one}s" if n == 0 else f"no samples of {plural(n, one)}"
        return HeatCell("", "", title, few=False)
    index = round((rate - overall) / step)
    text = f"{100 * rate:.0f}" if rate == 0 or rate >= 0.0995 else f"{100 * rate:.1f}"
    title = f"{percent(rate)}, {signed(rate - overall)}, {plural(n, one)}"
    return HeatCell(text, _shade(index), title, few=n < FEW_ROWS)


def _shade(index: int) -> str:
    """Name a shade: l4 (far less often) to l1, z, m1 to m4 (far more often)."""
    clipped = max(-HEAT_STEPS, min(HEAT_STEPS, index))
    if clipped == 0:
        return "z"
    return f"{'l' if clipped < 0 else 'm'}{abs(clipped)}"

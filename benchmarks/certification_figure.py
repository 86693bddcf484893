"""The figure of docs/certification.md, computed by the search itself on a network of two inputs.

``python -m benchmarks.certification_figure`` writes docs/images/certification.svg.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.figure_style import COMMON_STYLE
from testsgd.certification.domain import Domain, IntegerInput
from testsgd.certification.network import (
    Decision,
    DenseLayer,
    FeedForward,
    InputColumns,
    NumberColumns,
)
from testsgd.certification.outcome import Shares
from testsgd.certification.proving import Prover, build_problem, counted_points
from testsgd.certification.proving.linear_bounds import bound
from testsgd.certification.search import BranchAndBound
from testsgd.certification.search.branch_and_bound import BINS
from testsgd.io import replacing_any_file, write_text

_FILE = Path(__file__).resolve().parent.parent / "docs" / "images" / "certification.svg"

_LAST = 39
_STEPS = 4
# A person of the open box that is drawn at the right, and through whom it is cut.
_INSIDE = (25, 25)

# What a point of the left picture is.
_UNDECIDED, _CERTIFIED, _FALSIFIED, _CERTIFIED_POINT, _FALSIFIED_POINT = range(5)
_CLASSES = ("open", "fair", "unfair", "fair-point", "unfair-point")

_TITLE = (
    "A domain of two inputs after four steps: whole boxes are proved fair or unfair, and parts of "
    "open boxes; at the right a cut through one open box, with the sum of each person "
    "between a lower and an upper line"
)


@dataclass(frozen=True)
class _Cut:
    """Along input a through an open box: sums and lines of both persons, shape (2, points)."""

    a: NDArray[np.float64]
    sums: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    box: tuple[NDArray[np.float64], NDArray[np.float64]]


def _network() -> FeedForward:
    number = NumberColumns(np.ones(1), np.zeros(1))
    return FeedForward(
        "two inputs",
        "made up",
        (
            DenseLayer(
                np.array(
                    [
                        [0.5, -0.5, -0.5, -1.1, -1.3],
                        [-1.6, 0.5, 1.1, 0.4, 0.3],
                        [2.7, -0.9, 9.0, -7.2, 9.9],
                    ]
                ),
                np.array([22.0, -10.0, -11.0, 34.0, 19.0]),
                "relu",
            ),
            DenseLayer(
                np.array(
                    [
                        [-0.4, 0.4, 1.0, 1.0],
                        [-0.7, -1.2, -1.1, -0.1],
                        [-2.0, 1.5, -0.7, -0.2],
                        [1.6, -1.0, 0.0, -0.7],
                        [0.6, -0.7, 0.3, -0.8],
                    ]
                ),
                np.array([8.0, -4.0, -10.0, 2.0]),
                "relu",
            ),
            DenseLayer(np.array([[-2.1], [1.6], [0.5], [0.3]]), np.array([1.0]), "linear"),
        ),
        tuple(InputColumns(name, number) for name in ("a", "b", "p")),
        Decision("threshold", 0.0, 0.0, ("no", "yes")),
        "float64",
    )


def _domain() -> Domain:
    inputs = (IntegerInput("a", 0, _LAST), IntegerInput("b", 0, _LAST), IntegerInput("p", 0, 1))
    return Domain("two inputs", inputs, ("p",), ((0.0,), (1.0,)))


def _grid() -> NDArray[np.float64]:
    ends = np.arange(_LAST + 1.0)
    return np.stack(np.meshgrid(ends, ends, indexing="ij"), axis=-1).reshape(-1, 2)


def _inside(
    points: NDArray[np.float64], lo: NDArray[np.float64], hi: NDArray[np.float64]
) -> NDArray[np.intp]:
    return np.flatnonzero(((points >= lo) & (points <= hi)).all(axis=1))


def _proved(search: BranchAndBound) -> NDArray[np.int64]:
    """Say of every point what is proved of it, shape (a, b)."""
    grid = _grid()
    kind = np.zeros(len(grid), dtype=np.int64)
    for los, his, statuses in search.closed:
        for lo, hi, status in zip(los, his, statuses, strict=True):
            kind[_inside(grid, lo, hi)] = status
    boxes = search.boxes
    for lo, hi, level in zip(boxes["lo"], boxes["hi"], boxes["level"], strict=True):
        bins = int(BINS[int(level)])
        analysed = search.prover.analyse(lo[None], hi[None], bins=bins, keep=True)
        assert analysed.forms is not None
        assert analysed.thresholds is not None
        places = _inside(grid, lo, hi)
        held = [
            counted_points(
                search.axes,
                np.broadcast_to(lo, (len(places), 2)),
                np.broadcast_to(hi, (len(places), 2)),
                np.broadcast_to(analysed.forms[0, space], (len(places), search.axes.width)),
                np.full(len(places), analysed.thresholds[0, space]),
                np.full(len(places), float(bins)),
                grid[places],
            )
            for space in range(4)
        ]
        kind[places[held[0] | held[1]]] = _CERTIFIED_POINT
        kind[places[held[2] & held[3]]] = _FALSIFIED_POINT
    return kind.reshape(_LAST + 1, _LAST + 1)


def _cut(search: BranchAndBound, network: FeedForward) -> _Cut:
    """Cut the open box of `_INSIDE` along a."""
    boxes = search.boxes
    person = np.array(_INSIDE, dtype=np.float64)
    place = int(np.flatnonzero(((boxes["lo"] <= person) & (boxes["hi"] >= person)).all(axis=1))[0])
    lo, hi = boxes["lo"][place].copy(), boxes["hi"][place].copy()
    bounds = bound(search.prover.problem, lo[None], hi[None])
    a = np.linspace(lo[0], hi[0], 91)
    points = np.column_stack([a, np.full(len(a), person[1])])
    sums = np.stack(
        [network.sums(np.column_stack([points, np.full(len(a), p)]))[:, 0] for p in (0.0, 1.0)]
    )
    lower = bounds.lower_form[0, :, 0] @ points.T + bounds.lower_constant[0]
    upper = bounds.upper_form[0, :, 0] @ points.T + bounds.upper_constant[0]
    return _Cut(a, sums, lower, upper, (lo, hi))


def draw() -> tuple[str, Shares]:
    """Search for a few steps and draw; give the shares too."""
    network, domain = _network(), _domain()
    # Without machine code: the picture does not depend on what is installed.
    with Prover(build_problem(network, domain), compiled=False) as prover:
        search = BranchAndBound(prover, keep_closed=True)
        search.begin()
        for _ in range(_STEPS):
            search.step()
        return _svg(search, _proved(search), _cut(search, network)), search.shares


_STYLE = (
    COMMON_STYLE
    + """    .drawing rect { shape-rendering: crispEdges; }
    .drawing .open { fill: var(--panel); }
    .drawing .fair { fill: var(--more); }
    .drawing .unfair { fill: var(--less); }
    .drawing .fair-point { fill: var(--more); opacity: 0.45; }
    .drawing .unfair-point { fill: var(--less); opacity: 0.5; }
    .drawing .edge { fill: none; stroke: var(--ink); stroke-width: 1; }
    .drawing .chosen { fill: none; stroke: var(--ink); stroke-width: 3; }
    .drawing .sum { fill: none; stroke: var(--ink); stroke-width: 2; }
    .drawing .bound { fill: none; stroke: var(--faint); stroke-width: 1.2; }
    .drawing .band { fill: var(--faint); opacity: 0.16; }
    .drawing .second { stroke-dasharray: 6 4; }
    .drawing .turn { stroke: var(--ink); stroke-width: 1; stroke-dasharray: 1 3; }
  </style>
"""
)
_CELL = 7
_LEFT, _TOP = 28, 40
_SIZE = _CELL * (_LAST + 1)
_RIGHT, _WIDTH = 366, 258
_STRIP = 14


def _svg(search: BranchAndBound, kinds: NDArray[np.int64], cut: _Cut) -> str:
    parts = [
        f'<svg class="drawing" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 424" role="img" '
        'aria-labelledby="certification-title">\n'
        f'  <title id="certification-title">{_TITLE}</title>\n{_STYLE}'
    ]
    parts += _domain_picture(search, kinds, cut)
    parts += _cut_picture(kinds, cut)
    parts += _legend()
    return "".join(parts) + "</svg>\n"


def _rectangle(kind: str, lo: NDArray[np.float64], hi: NDArray[np.float64]) -> str:
    x, y = _LEFT + _CELL * lo[0], _TOP + _CELL * (_LAST - hi[1])
    width, height = _CELL * (hi - lo + 1)
    return (
        f'  <rect class="{kind}" x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}"/>\n'
    )


def _text(x: float, y: float, words: str, kind: str = "") -> str:
    return f'  <text class="{kind}" x="{x:g}" y="{y:g}">{words}</text>\n'


def _domain_picture(search: BranchAndBound, kinds: NDArray[np.int64], cut: _Cut) -> list[str]:
    zero, last = np.zeros(2), np.full(2, float(_LAST))
    parts = [
        _text(_LEFT, 24, "The domain after four steps", "strong"),
        _rectangle("open", zero, last),
    ]
    for los, his, statuses in search.closed:
        parts += [
            _rectangle(_CLASSES[status], lo, hi)
            for lo, hi, status in zip(los, his, statuses, strict=True)
        ]
    boxes = search.boxes
    for lo, hi in zip(boxes["lo"], boxes["hi"], strict=True):
        parts += _runs(kinds, lo.astype(int), hi.astype(int))
    pairs = [(lo, hi) for los, his, _ in search.closed for lo, hi in zip(los, his, strict=True)]
    pairs += list(zip(boxes["lo"], boxes["hi"], strict=True))
    parts += [_rectangle("edge", lo, hi) for lo, hi in pairs]
    parts.append(_rectangle("chosen", *cut.box))
    y = _TOP + _CELL * (_LAST - _INSIDE[1]) + _CELL / 2
    one, two = (_LEFT + _CELL * (end[0] + more) for end, more in zip(cut.box, (0, 1), strict=True))
    parts.append(f'  <path class="sum" d="M{one:g} {y:g}H{two:g}"/>\n')
    parts += [
        _text(_LEFT, _TOP + _SIZE + 18, "0", "faint"),
        _text(_LEFT + _SIZE / 2, _TOP + _SIZE + 18, "input a", "faint middle"),
        _text(_LEFT + _SIZE, _TOP + _SIZE + 18, str(_LAST), "faint end"),
        _text(_LEFT - 8, _TOP + _SIZE / 2, "b", "faint end"),
        _text(_LEFT - 8, _TOP + 10, str(_LAST), "faint end"),
    ]
    return parts


def _runs(kinds: NDArray[np.int64], lo: NDArray[np.int64], hi: NDArray[np.int64]) -> list[str]:
    """Draw the counted points of an open box, equal neighbours of a row as one."""
    parts = []
    for b in range(lo[1], hi[1] + 1):
        row = kinds[lo[0] : hi[0] + 1, b]
        cuts = np.flatnonzero(np.diff(row)) + 1
        for start, stop in zip([0, *cuts], [*cuts, len(row)], strict=True):
            if row[start] != _UNDECIDED:
                ends = np.array([[lo[0] + start, b], [lo[0] + stop - 1, b]], dtype=np.float64)
                parts.append(_rectangle(_CLASSES[row[start]], ends[0], ends[1]))
    return parts


def _cut_picture(kinds: NDArray[np.int64], cut: _Cut) -> list[str]:
    lo, hi = cut.box
    every = np.concatenate([cut.lower, cut.upper, cut.sums])
    least, most = every.min(), every.max()
    height = _SIZE - _STRIP - 16

    def across(a: NDArray[np.float64]) -> NDArray[np.float64]:
        # Points are as wide as in the left picture, and half of one is left at each end.
        return _RIGHT + _WIDTH * (a - lo[0] + 0.5) / (hi[0] - lo[0] + 1)

    def up(value: NDArray[np.float64]) -> NDArray[np.float64]:
        return _TOP + 4 + (height - 8) * (most - value) / (most - least)

    def path(values: NDArray[np.float64]) -> str:
        return "L".join(f"{x:.1f} {y:.1f}" for x, y in zip(across(cut.a), up(values), strict=True))

    def straight(values: NDArray[np.float64]) -> str:
        xs, ys = across(cut.a[[0, -1]]), up(values[[0, -1]])
        return f"{xs[0]:.1f} {ys[0]:.1f}L{xs[1]:.1f} {ys[1]:.1f}"

    turn = float(up(np.array(0.0)))
    parts = [
        _text(_RIGHT, 24, "A cut through one open box", "strong"),
        f'  <rect class="open" x="{_RIGHT}" y="{_TOP}" width="{_WIDTH}" height="{height}"/>\n',
        f'  <path class="turn" d="M{_RIGHT} {turn:.1f}H{_RIGHT + _WIDTH}"/>\n',
    ]
    for person, dash in enumerate(("", " second")):
        lower, upper = straight(cut.lower[person]), straight(cut.upper[person])
        backwards = "L".join(reversed(upper.split("L")))
        parts.append(f'  <path class="band" d="M{lower}L{backwards}Z"/>\n')
        parts.append(f'  <path class="bound{dash}" d="M{lower}M{upper}"/>\n')
        parts.append(f'  <path class="sum{dash}" d="M{path(cut.sums[person])}"/>\n')
    step = _WIDTH / (hi[0] - lo[0] + 1)
    y = _TOP + _SIZE - _STRIP
    parts.append(
        f'  <rect class="open" x="{_RIGHT}" y="{y}" width="{_WIDTH}" height="{_STRIP}"/>\n'
    )
    for place, kind in enumerate(kinds[int(lo[0]) : int(hi[0]) + 1, _INSIDE[1]]):
        if kind != _UNDECIDED:
            parts.append(
                f'  <rect class="{_CLASSES[kind]}" x="{_RIGHT + place * step:.1f}" y="{y}" '
                f'width="{step:.1f}" height="{_STRIP}"/>\n'
            )
    parts.append(
        f'  <rect class="edge" x="{_RIGHT}" y="{y}" width="{_WIDTH}" height="{_STRIP}"/>\n'
    )
    below = _TOP + _SIZE + 18
    parts += [
        _text(_RIGHT + _WIDTH - 4, turn + 18, "threshold", "faint end"),
        _text(_RIGHT, below, f"{lo[0]:g}", "faint"),
        _text(_RIGHT + _WIDTH / 2, below, f"input a, at b = {_INSIDE[1]}", "faint middle"),
        _text(_RIGHT + _WIDTH, below, f"{hi[0]:g}", "faint end"),
    ]
    return parts


def _legend() -> list[str]:
    parts = []
    y = _TOP + _SIZE + 44
    for x, kinds, words in (
        (_LEFT, ("fair", "fair-point"), "proved fair"),
        (_LEFT + 146, ("unfair", "unfair-point"), "proved unfair"),
    ):
        for place, kind in enumerate(kinds):
            parts.append(
                f'  <rect class="{kind}" x="{x + 16 * place}" y="{y - 12}" '
                f'width="16" height="14"/>\n'
            )
        parts.append(_text(x + 38, y, words, "faint"))
    parts += [
        _text(_LEFT, y + 20, "full colour: whole boxes; faint: points of", "faint"),
        _text(_LEFT, y + 38, "open boxes; the rest is undecided", "faint"),
        f'  <path class="sum" d="M{_RIGHT} {y - 5}h30"/>\n',
        f'  <path class="sum second" d="M{_RIGHT + 130} {y - 5}h30"/>\n',
        _text(_RIGHT + 36, y, "p = 0", "faint"),
        _text(_RIGHT + 166, y, "p = 1", "faint"),
        f'  <rect class="band" x="{_RIGHT}" y="{y + 9}" width="30" height="13"/>\n',
        f'  <path class="bound" d="M{_RIGHT} {y + 9}h30m-30 13h30"/>\n',
        _text(_RIGHT + 36, y + 20, "between lower and upper line", "faint"),
    ]
    return parts


def main() -> int:
    """Write the picture and say what it shows."""
    drawing, shares = draw()
    with replacing_any_file():
        write_text(_FILE, drawing)
    print(
        f"Written: {_FILE} (certified {shares.certified:.4f}, falsified {shares.falsified:.4f}, "
        f"undecided {shares.undecided:.4f})"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

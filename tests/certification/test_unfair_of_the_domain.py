"""The unfair share of the whole domain: what draws tell of it is all of it, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from enumeration import Truth, truth_of
from searched_problems import searched
from searches_far_apart import MACHINE, far_apart, searched_for
from stressed_problems import Given, rarely_bent, with_persons

from testsgd.certification.proving import Prover, build_problem
from testsgd.certification.search import (
    BranchAndBound,
    draw_open,
    fingerprint,
    read_checkpoint,
    write_checkpoint,
)
from testsgd.certification.search.disjoint_cover import analyse_again, cut_boxes, decided


@dataclass
class Told:
    """What all points of all pieces together tell: shares of the domain."""

    beside: float = 0.0
    unfair: float = 0.0
    more: float = 0.0
    assumed: int = 0
    boxes_beside: int = 0
    boxes_inside: int = 0


def told_by_everybody(search: BranchAndBound, truth: Truth) -> Told:
    """Go through every person of every piece of every open box, instead of drawing some."""
    told = Told()
    if len(search.boxes) == 0:
        return told
    again = analyse_again(search, np.arange(len(search.boxes)))
    pieces = cut_boxes(again)
    share = search.boxes["share"]
    told.beside = float((again.bounds.unfair * share)[pieces.falsified_outside].sum())
    told.boxes_beside = int(pieces.falsified_outside.sum())
    told.boxes_inside = int(((again.bounds.unfair > 0) & ~pieces.falsified_outside).sum())
    told.assumed = int(np.isfinite(again.bounds.thresholds[:, 4:]).any(axis=1).sum())
    lows, highs = search.boxes.ends(np.arange(len(search.boxes)))
    for box, (lo, hi) in enumerate(zip(lows, highs, strict=True)):
        here = np.flatnonzero(((truth.people >= lo) & (truth.people <= hi)).all(axis=1))
        of = np.full(len(here), box, dtype=np.intp)
        held = again.holds(of, truth.people[here])
        undecided = ~np.logical_or(*decided(held))
        for place in range(pieces.shares.shape[1]):
            piece = np.full(len(here), place, dtype=np.intp)
            spaces = np.stack(pieces.spaces(of, piece))
            outside = np.where(spaces < 0, True, ~held[np.arange(len(here)), spaces]).all(axis=0)
            outside &= pieces.shares[box, place] > 0
            first = outside & (pieces.first_holding(of, held) == piece)
            more = outside & pieces.uncounted_falsified(of, piece, held, first)
            weights = truth.weights[here]
            told.unfair += float(weights[first & undecided & ~truth.fair[here]].sum())
            told.more += float(weights[more].sum())
    return told


def some_problems() -> Iterator[tuple[Given, bool]]:
    for seed in range(8):
        yield far_apart(rarely_bent(2 + seed % 2, seed), 8 if seed % 4 else 16), True
    for seed in (15, 17):
        yield far_apart(rarely_bent(2, seed), 8), True
    for seed in range(4):
        yield with_persons(3, seed, weighted=bool(seed % 2)), bool(seed < 2)
        yield far_apart(searched(seed, size=8, weighted=bool(seed % 2)), 16), bool(seed >= 2)


@pytest.mark.slow
def test_what_all_points_tell_is_the_unfair_share() -> None:
    seen = Told()
    for problem, compiled in some_problems():
        truth = truth_of(*problem)
        for steps in range(5):
            search = searched_for(problem, steps, compiled=compiled)
            told = told_by_everybody(search, truth)
            together = search.unfair + told.beside + told.unfair + told.more
            assert together == pytest.approx(truth.share(~truth.fair), abs=1e-10)
            seen.more += told.more
            seen.assumed += told.assumed
            seen.boxes_beside += told.boxes_beside
            seen.boxes_inside += told.boxes_inside
    # And all kinds of boxes were there.
    assert seen.more > 1
    assert min(seen.assumed, seen.boxes_beside) > 50
    assert seen.boxes_inside >= 3


@pytest.mark.parametrize("compiled", [False, MACHINE])
def test_what_the_search_keeps_says_where_the_falsified_lie(
    compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without a look at all boxes.
    monkeypatch.setattr("testsgd.certification.search.remainder._measured_again", None)
    beside = 0.0
    for seed in range(10, 20):
        search = searched_for(far_apart(rarely_bent(2, seed), 8), 4, compiled=compiled)
        again = analyse_again(search, np.arange(len(search.boxes)))
        kept = (again.bounds.unfair * search.boxes["share"])[
            cut_boxes(again).falsified_outside
        ].sum()
        draws = draw_open(search, 100, np.random.default_rng(seed))
        assert draws.falsified == pytest.approx(search.unfair + kept, abs=1e-12)
        assert draws.falsified_outside == (kept > 0)
        beside += kept
    assert beside > 0


@pytest.mark.parametrize("written_by_machine", [True, False])
def test_a_checkpoint_looked_at_in_another_way(tmp_path: Path, written_by_machine: bool) -> None:
    # What is falsified is another part of the box then, and so is what draws can tell.
    changed = 0
    for seed in range(6):
        problem = far_apart(rarely_bent(2, seed), 8)
        about = fingerprint(*problem)
        written = searched_for(problem, 4, compiled=written_by_machine)
        write_checkpoint(tmp_path / "checkpoint.npz", written, about, 1.0, [])
        search = BranchAndBound(Prover(build_problem(*problem), compiled=not written_by_machine))
        read_checkpoint(tmp_path / "checkpoint.npz", search, about)
        again = analyse_again(search, np.arange(len(search.boxes)))
        outside = cut_boxes(again).falsified_outside | (again.bounds.status == 2)
        beside = (again.bounds.unfair * search.boxes["share"])[outside].sum()
        draws = draw_open(search, 2_000, np.random.default_rng(seed))
        assert draws.falsified == pytest.approx(search.unfair + beside, abs=1e-12)
        changed += abs(beside - search.boxes["unfair"].sum()) > 1e-6
    assert changed > 0

"""Counter-labelled samples of rows: neighbours of training rows, which stay in their group."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data import Table, category_text
from testsgd.mitigation.choosing import find
from testsgd.mitigation.samples import CounterSamples, Fallback, Kind, Side
from testsgd.models import Model
from testsgd.sampling import Draws, drawn_neighbours


def sample_rows(
    model: Model,
    table: Table,
    seeds: NDArray[np.intp],
    *,
    favourable: bool,
    wanted: int,
    max_draws: int,
    fallback: Fallback,
    generator: np.random.Generator,
    side: Side,
    target: int,
    kind: Kind = "counter",
    share: float = 0.0,
    strength: float = 1.0,
) -> CounterSamples:
    """Generate samples from the perturbation neighbourhood of some rows.

    A sample is one of these rows with one feature that is not sensitive moved by one step, or the
    row itself where that move would leave the domain. Sensitive features stay, and with them the
    groups that the row is in.

    Parameters
    ----------
    model : Model
        The original model.
    table : Table
        All rows; never changed.
    seeds : numpy.ndarray of int
        The rows to start from, no place twice.
    favourable : bool
        The label wanted; True is the favourable one.
    wanted : int
        How many samples.
    max_draws : int
        Most neighbours to draw.
    fallback : {"nearest", "none"}
        If the model gives too few of them that label: add those that are nearest to the decision
        boundary, or give fewer.
    generator : numpy.random.Generator
        Same state, same samples; of the kind counter, asked for more, the same first ones.
    side : {"group", "rest"}
        Whose members the rows are.
    target : int
        The target's place among the targets.
    kind : {"counter", "odds", "shifted", "anchored"}
        How they are chosen: those that the model gives the counter label; by the chance that it
        does; or as they come, with what the model says moved. See
        :mod:`testsgd.mitigation.choosing`.
    share : float
        Of shifted samples, how many are to change their label.
    strength : float
        Of shifted samples, how many times the step is made that this takes.

    Returns
    -------
    CounterSamples

    References
    ----------
    Zhang et al., TestSGD, section 4.3 and RQ3.

    Examples
    --------
    >>> from testsgd.data import load_specification, load_table
    >>> from testsgd.models import load_model
    >>> demo = load_specification("demo")
    >>> table, model = load_table(demo), load_model(None, demo).model
    >>> samples = sample_rows(
    ...     model, table, np.arange(100), favourable=True, wanted=20, max_draws=1_000,
    ...     fallback="none", generator=np.random.default_rng(0), side="group", target=0,
    ... )
    >>> len(samples), bool(model.decisions(samples.inputs).all())
    (20, True)
    """
    source = _Neighbours(table, seeds)
    found = find(
        source,
        model,
        kind,
        favourable=favourable,
        wanted=wanted,
        share=share,
        strength=strength,
        max_draws=max_draws,
        fallback=fallback,
        generator=generator,
        seeds=len(seeds),
    )
    numbers = found.numbers
    draws = source.draws_of(numbers)
    frame, changed = drawn_neighbours(table, draws)
    return CounterSamples(
        inputs=frame,
        favourable=favourable,
        seeds=draws.rows,
        changes=_changes(table, draws, frame, changed),
        relabelled=found.relabelled,
        side=side,
        target=target,
        report=found.report,
        targets=found.targets,
        scores=found.scores,
        anchors=found.anchors,
        kind=kind,
    )


class _Neighbours:
    """The neighbours of some rows by number: row by row, for each feature down, then up."""

    def __init__(self, table: Table, seeds: NDArray[np.intp]) -> None:
        self._table = table
        self._seeds = seeds.astype(np.int64)
        # Where nothing may be moved, a row has itself for its neighbours.
        self._ways = 2 * max(1, len(table.specification.insensitive))
        self._itself = np.zeros(len(seeds), dtype=bool)

    @property
    def draws(self) -> int:
        """How many neighbours there are."""
        return len(self._seeds) * self._ways

    def draws_of(self, numbers: NDArray[np.int64]) -> Draws:
        """Give the row, the feature and the direction of some neighbours."""
        place, way = np.divmod(numbers, self._ways)
        return Draws(self._seeds[place], way // 2, 2 * (way % 2) - 1)

    def fresh(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], pd.DataFrame]:
        """Build neighbours, each row itself no more than once in all calls."""
        frame, changed = drawn_neighbours(self._table, self.draws_of(numbers))
        still = np.flatnonzero(~changed)
        places, first = np.unique(numbers[still] // self._ways, return_index=True)
        new = changed.copy()
        new[still[first]] = ~self._itself[places]
        self._itself[places] = True
        return (numbers, frame) if new.all() else (numbers[new], frame[new])

    def make(self, numbers: NDArray[np.int64]) -> pd.DataFrame:
        """Build neighbours again."""
        return drawn_neighbours(self._table, self.draws_of(numbers))[0]


def _changes(
    table: Table, draws: Draws, frame: pd.DataFrame, changed: NDArray[np.bool_]
) -> NDArray[np.object_]:
    """Say what was done to each seed row."""
    changes = np.full(len(draws), "", dtype=object)
    for place, name in enumerate(table.specification.insensitive):
        here = np.flatnonzero(changed & (draws.features == place))
        if len(here):
            before = _cell_texts(table.take(draws.rows[here]), name)
            after = _cell_texts(replace(table, frame=frame.iloc[here]), name)
            changes[here] = [
                f"{name}: {old} to {new}" for old, new in zip(before, after, strict=True)
            ]
    return changes


def _cell_texts(table: Table, name: str) -> list[str]:
    feature = table.specification.features[name]
    if feature.continuous:
        return [
            category_text(number) if number.is_integer() else f"{number:.10g}"
            for number in table.numbers(name).tolist()
        ]
    values = feature.values or []
    return [values[code] for code in table.codes(name).tolist()]

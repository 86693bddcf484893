"""Counter-labelled samples: drawn without repetition, asked about, kept or relabelled.

What is drawn, a neighbour of a row or a text with other terms, is the business of a
:class:`Source`. The order of the draws depends on the generator and on the source alone. So whoever
asks for more samples gets the same first ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.models.refitting import Inputs

Side = Literal["group", "rest"]
Fallback = Literal["nearest", "none"]
Kind = Literal["counter", "odds", "shifted", "anchored"]

# Samples that a model is asked about at once: never fewer than these, never more.
_FEWEST, _MOST = 256, 16_384
# So many draws, or so many times the draws allowed, are shuffled whole.
_SHUFFLED, _TIMES = 1 << 16, 4


@dataclass(frozen=True)
class SamplingReport:
    """How samples were found.

    Attributes
    ----------
    seeds : int
        Training rows or texts that samples can be made from.
    drawn : int
        Samples drawn; repetitions count.
    distinct : int
        Different ones among them.
    counter_labelled : int
        Different ones that the original model gives the counter label. Some may not be among the
        samples, for more were drawn at once than were still wanted.
    relabelled : int
        Samples that the original model labels otherwise.
    exhausted : bool
        True: all there is was drawn, or as much as was allowed.
    nearness : {"score", "unknown"}
        How the relabelled ones were chosen: by the model's scores, or, as it tells labels only, in
        the order drawn.
    """

    seeds: int
    drawn: int
    distinct: int
    counter_labelled: int
    relabelled: int
    exhausted: bool
    nearness: Literal["score", "unknown"] = "score"


@dataclass(frozen=True)
class CounterSamples:
    """Samples of one side of one target, with the label that counters its discrimination.

    They are in the order in which they should be added: as drawn; but of the kind ``"counter"``
    those to which the original model gives that label come first, then the relabelled ones, nearest
    to the decision boundary first.

    Attributes
    ----------
    inputs : pandas.DataFrame or tuple of str
        The samples, as the model takes them.
    favourable : bool
        Their label; True is the favourable one.
    seeds : numpy.ndarray of int64, shape (n,)
        The row or text that each was made from, as its place in all of the data.
    changes : numpy.ndarray of object, shape (n,)
        What was done to it, such as ``"hours: 40 to 41"`` or ``'"lesbian" to "gay"'``; empty if
        nothing was.
    relabelled : numpy.ndarray of bool, shape (n,)
        True where the original model gives another label.
    side : {"group", "rest"}
        Whose members they are.
    target : int
        The target's place among the targets.
    report : SamplingReport
        How they were found.
    targets : numpy.ndarray of float64, shape (n,)
        The share of the favourable label that is to be learnt: 1 or 0 by the label carried, or,
        of shifted samples, what the original model's score became.
    anchors : numpy.ndarray of bool, shape (n,)
        True where the other label is kept, as the original model has it.
    kind : {"counter", "odds", "shifted", "anchored"}
        How they were chosen.
    scores : numpy.ndarray of float64, shape (n,), or None
        Of anchored samples what the original model says of each; those that it labels otherwise
        come first.
    weights : numpy.ndarray of float64, shape (n,), or None
        How much each counts, where their seeds have weights; None: all 1.
    """

    inputs: Inputs
    favourable: bool
    seeds: NDArray[np.int64]
    changes: NDArray[np.object_]
    relabelled: NDArray[np.bool_]
    side: Side
    target: int
    report: SamplingReport
    targets: NDArray[np.float64]
    anchors: NDArray[np.bool_]
    kind: Kind = "counter"
    weights: NDArray[np.float64] | None = None
    scores: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.seeds)

    @property
    def available(self) -> int:
        """How many can be taken: of anchored samples those that change their label."""
        return len(self) if self.scores is None else int(self.relabelled.sum())

    def take(self, count: int) -> CounterSamples:
        """Give the first samples; of anchored ones all others too, as the model labels them."""
        if self.scores is not None:
            first = self.relabelled & (np.arange(len(self)) < count)
            return replace(
                self,
                relabelled=first,
                anchors=self.anchors | (self.relabelled & ~first),
                targets=np.where(first, float(self.favourable), self.scores),
            )
        return replace(
            self,
            inputs=self.inputs[:count],
            seeds=self.seeds[:count],
            changes=self.changes[:count],
            relabelled=self.relabelled[:count],
            targets=self.targets[:count],
            anchors=self.anchors[:count],
            weights=None if self.weights is None else self.weights[:count],
        )

    @property
    def carried(self) -> NDArray[np.bool_]:
        """Whether each carries the favourable label: all but anchors carry the counter label."""
        return np.asarray(self.anchors != self.favourable)


class Source(Protocol):
    """What samples are drawn from.

    Attributes
    ----------
    draws : int
        How many draws there are; they are numbered from 0.
    """

    @property
    def draws(self) -> int:
        """How many draws there are."""
        ...

    def fresh(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], Inputs]:
        """Make samples of draws, leaving out those that were made before.

        Returns
        -------
        numbers : numpy.ndarray of int64
            Which draws are left.
        inputs : pandas.DataFrame or tuple of str
            Their samples.
        """
        ...

    def make(self, numbers: NDArray[np.int64]) -> Inputs:
        """Make the samples of draws again."""
        ...


@dataclass(frozen=True)
class Found:
    """The draws that became samples, in the order in which they should be added.

    Attributes
    ----------
    numbers : numpy.ndarray of int64
        Which draws.
    relabelled : numpy.ndarray of bool
        True where the original model gives another label than the one carried.
    targets : numpy.ndarray of float64
        The share of the favourable label that is to be learnt: 1 or 0, or what a score became.
    anchors : numpy.ndarray of bool
        True where the other label is kept, as the original model has it.
    report : SamplingReport
        How they were found.
    scores : numpy.ndarray of float64 or None
        Of anchored samples what the original model says of each.
    """

    numbers: NDArray[np.int64]
    relabelled: NDArray[np.bool_]
    targets: NDArray[np.float64]
    anchors: NDArray[np.bool_]
    report: SamplingReport
    scores: NDArray[np.float64] | None = None


def find_samples(
    source: Source,
    model: Any,
    *,
    favourable: bool,
    wanted: int,
    max_draws: int,
    fallback: Fallback,
    generator: np.random.Generator,
    seeds: int,
) -> Found:
    """Draw samples until enough have the counter label, or there are no more.

    Parameters
    ----------
    source : Source
        Where they are drawn from.
    model : Model or TextModel
        The original model.
    favourable : bool
        The counter label.
    wanted : int
        How many samples.
    max_draws : int
        Most draws.
    fallback : {"nearest", "none"}
        If there are too few: add those with the other label that are nearest to the decision
        boundary, or give fewer.
    generator : numpy.random.Generator
        Decides the order of the draws.
    seeds : int
        For the report.

    Returns
    -------
    Found
    """
    order = drawing_order(generator, source.draws, max_draws)
    kept: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    others: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    drawn = count = 0
    while drawn < len(order) and count < wanted:
        size = min(_MOST, max(_FEWEST, 2 * (wanted - count)))
        numbers, inputs = source.fresh(order[drawn : drawn + size])
        drawn += min(size, len(order) - drawn)
        if not len(numbers):
            continue
        counter = model.decisions(inputs) == favourable
        kept.append(numbers[counter])
        others.append(numbers[~counter])
        count += int(counter.sum())
    all_kept, all_others = np.concatenate(kept), np.concatenate(others)
    relabelled, known = all_others[:0], True
    if count < wanted and fallback == "nearest":
        nearest, known = _nearest_first(source, model, all_others, favourable)
        relabelled = nearest[: wanted - count]
    report = SamplingReport(
        seeds=seeds,
        drawn=drawn,
        distinct=len(all_kept) + len(all_others),
        counter_labelled=count,
        relabelled=len(relabelled),
        exhausted=drawn == len(order),
        nearness="score" if known else "unknown",
    )
    numbers = np.concatenate([all_kept[:wanted], relabelled])
    return Found(
        numbers=numbers,
        relabelled=np.arange(len(numbers)) >= len(numbers) - len(relabelled),
        targets=np.full(len(numbers), float(favourable)),
        anchors=np.zeros(len(numbers), dtype=bool),
        report=report,
    )


def drawing_order(generator: np.random.Generator, draws: int, most: int) -> NDArray[np.int64]:
    """Give at most so many of the numbers of all draws, none twice, in random order."""
    if draws <= max(_SHUFFLED, _TIMES * most):
        return generator.permutation(draws)[:most].astype(np.int64)
    # Among four times as many numbers, two draws for each one wanted leave enough different ones.
    drawn = generator.integers(0, draws, 2 * most)
    return np.asarray(pd.unique(drawn)[:most], dtype=np.int64)


def scores_of(model: Any, inputs: Inputs) -> NDArray[np.float64] | None:
    """Ask a model for its scores of the favourable label; None if it tells labels only."""
    scorer: Callable[[Inputs], NDArray[np.float64] | None] | None = getattr(model, "scores", None)
    return None if scorer is None else scorer(inputs)


def _nearest_first(
    source: Source, model: Any, numbers: NDArray[np.int64], favourable: bool
) -> tuple[NDArray[np.int64], bool]:
    """Order draws that the model labels otherwise by how little is missing; say if it is known."""
    scores = np.zeros(len(numbers))
    for start in range(0, len(numbers), _MOST):
        part = slice(start, start + _MOST)
        found = scores_of(model, source.make(numbers[part]))
        if found is None:
            return numbers, False
        scores[part] = found
    # All lie on one side of the boundary: nearest is the one with the most of the counter label.
    return numbers[np.argsort(-scores if favourable else scores, kind="stable")], True

"""The kinds of samples, and how they are drawn.

Counter
    Those to which the model gives the counter label, as in the paper. They lie where it gives that
    label already, and change little where it does not; the other kinds move its boundary farther.

By odds
    A member is drawn with the chance that the model gives it the counter label, and carries that
    label. Where p is that chance, n such samples beside N members multiply the odds p / (1 - p) by
    about 1 + n / (N mean(p)), the same everywhere: the group's threshold moves, the order within
    the group stays. Of all ways to change as many decisions that costs the least accuracy.
Shifted
    Members are drawn as they come, and what the model says of each is moved: all log-odds by the
    same step, so large that as many decisions change as the gap asks for. Those that stay on the
    other side are anchors: they keep training from running past the goal.
Anchored
    All members are added every time. Those that the model labels otherwise get the counter label,
    nearest to the boundary first; all the others keep what the model says. For texts: few enough,
    and a network learns from a term in all of its texts.

Kamiran and Calders relabel ("massage") training rows in the order of a ranker's scores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.mitigation.parameters import Fallback, Kind, Side
from testsgd.mitigation.samples import CounterSamples, Found, SamplingReport, Source
from testsgd.models.refitting import Inputs

# Members drawn for each one wanted, and at least, so that there is a choice.
_CHOICE = 4
_AT_LEAST = 8_192
_BATCH = 16_384

# All members of a group of texts are fewer; of rows not all can be added every time.
MOST_ANCHORED = 20_000

# Scores nearer to 0 and 1 are taken for this: the odds of a certain one cannot be moved.
_CERTAIN = 1e-4

# How far beyond the boundary those go that just cross it, in log-odds.
_JUST = 1e-9

# No chance is smaller: else a member that the model is sure of could never be drawn.
_LEAST_CHANCE = 1e-9


# Samples that a model is asked about at once: never fewer than these, never more.
_FEWEST, _MOST = 256, 16_384
# This number of draws, or this multiple of the draws allowed, is shuffled whole.
_SHUFFLED, _TIMES = 1 << 16, 4


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

    If there are too few, the fallback ``"nearest"`` adds those with the other label that are
    nearest to the decision boundary. `favourable` is the counter label, `max_draws` the most draws;
    `seeds` is for the report alone.
    """
    order = drawing_order(generator, source.draws, max_draws)
    kept, others = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
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
    """Return at most `most` of the numbers 0 to `draws` - 1, none twice, in random order."""
    if draws <= max(_SHUFFLED, _TIMES * most):
        return generator.permutation(draws)[:most].astype(np.int64)
    # Among four times as many numbers, two draws for each one wanted leave enough different ones.
    drawn = generator.integers(0, draws, 2 * most)
    return np.asarray(pd.unique(drawn)[:most], dtype=np.int64)


def scores_of(model: Any, inputs: Inputs) -> NDArray[np.float64] | None:
    """Return a model's scores of the favourable label; None if it gives labels only."""
    scorer: Callable[[Inputs], NDArray[np.float64] | None] | None = getattr(model, "scores", None)
    return None if scorer is None else scorer(inputs)


def _nearest_first(
    source: Source, model: Any, numbers: NDArray[np.int64], favourable: bool
) -> tuple[NDArray[np.int64], bool]:
    """Return draws sorted by their distance to the decision boundary, and whether it is known."""
    scores = np.zeros(len(numbers))
    for start in range(0, len(numbers), _MOST):
        part = slice(start, start + _MOST)
        part_scores = scores_of(model, source.make(numbers[part]))
        if part_scores is None:
            return numbers, False
        scores[part] = part_scores
    # All lie on one side of the boundary: nearest is the one with the most of the counter label.
    return numbers[np.argsort(-scores if favourable else scores, kind="stable")], True


@dataclass(frozen=True)
class _Drawn:
    """Different members in the order drawn, which of them have the counter label, and scores."""

    numbers: NDArray[np.int64]
    counter: NDArray[np.bool_]
    # 1 and 0 by the decision where they are not known.
    scores: NDArray[np.float64]
    known: bool
    report: SamplingReport

    def found(
        self,
        chosen: NDArray[np.intp],
        relabelled: NDArray[np.bool_],
        targets: NDArray[np.float64],
        *,
        anchors: NDArray[np.bool_] | None = None,
        scores: NDArray[np.float64] | None = None,
    ) -> Found:
        """Return the members at the indices `chosen` as samples."""
        return Found(
            numbers=self.numbers[chosen],
            relabelled=relabelled,
            targets=targets,
            anchors=np.zeros(len(chosen), dtype=bool) if anchors is None else anchors,
            report=replace(self.report, relabelled=int(relabelled.sum())),
            scores=scores,
        )


def _draw(
    source: Source,
    model: Any,
    limit: int,
    *,
    favourable: bool,
    max_draws: int,
    generator: np.random.Generator,
    seeds: int,
) -> _Drawn:
    """Draw at most `limit` members, and ask the model about them."""
    order = drawing_order(generator, source.draws, min(limit, max_draws))
    kept = [np.zeros(0, dtype=np.int64)]
    decided = [np.zeros(0, dtype=bool)]
    scores = [np.zeros(0)]
    known = True
    for start in range(0, len(order), _BATCH):
        numbers, inputs = source.fresh(order[start : start + _BATCH])
        if not len(numbers):
            continue
        decisions = model.decisions(inputs)
        own = scores_of(model, inputs)
        known = own is not None
        kept.append(numbers)
        decided.append(decisions)
        scores.append(decisions.astype(np.float64) if own is None else own)
    distinct, counter = np.concatenate(kept), np.concatenate(decided) == favourable
    report = SamplingReport(
        seeds=seeds,
        drawn=len(order),
        distinct=len(distinct),
        counter_labelled=int(counter.sum()),
        relabelled=0,
        exhausted=len(order) == source.draws or len(order) >= max_draws,
        nearness="score" if known else "unknown",
    )
    return _Drawn(distinct, counter, np.concatenate(scores), known, report)


def find_by_odds(
    source: Source,
    model: Any,
    *,
    favourable: bool,
    wanted: int,
    max_draws: int,
    generator: np.random.Generator,
    seeds: int,
) -> Found:
    """Draw samples with the chance that the model gives them the counter label.

    A model that gives labels only has chances of 0 and 1. The arguments are those of
    :func:`find_samples`; the samples are in the order drawn.
    """
    drawn = _draw(
        source,
        model,
        max(_AT_LEAST, _CHOICE * wanted),
        favourable=favourable,
        max_draws=max_draws,
        generator=generator,
        seeds=seeds,
    )
    chance = np.maximum(drawn.scores if favourable else 1 - drawn.scores, _LEAST_CHANCE)
    # The largest of these keys are a weighted draw without repetition (Efraimidis and Spirakis).
    keys = np.log(generator.uniform(size=len(chance))) / chance
    chosen = np.argsort(-keys, kind="stable")[:wanted]
    if not drawn.known:
        chosen = chosen[drawn.counter[chosen]]
    targets = np.full(len(chosen), float(favourable))
    return drawn.found(chosen, ~drawn.counter[chosen], targets)


def find_shifted(
    source: Source,
    model: Any,
    *,
    favourable: bool,
    wanted: int,
    max_draws: int,
    generator: np.random.Generator,
    seeds: int,
    share: float,
    strength: float,
) -> Found:
    """Draw samples, and move what the model says of all of them towards the counter label.

    With the strength 1 the step is so large that `share` of all change to the counter label; the
    log-odds are moved by `strength` times that. Of a model that gives labels only there is nothing
    to move: as many as are to change are relabelled. The other arguments are those of
    :func:`find_samples`. The samples are in the order drawn, so any first ones are moved alike.
    """
    drawn = _draw(
        source,
        model,
        max(_AT_LEAST, 2 * wanted),
        favourable=favourable,
        max_draws=max_draws,
        generator=generator,
        seeds=seeds,
    )
    scores = drawn.scores[:wanted]
    counter = drawn.counter[:wanted]
    if drawn.known:
        threshold = getattr(model, "threshold", None)
        threshold = 0.5 if threshold is None else threshold
        targets = shifted(
            scores,
            counter,
            favourable=favourable,
            share=share,
            strength=strength,
            threshold=threshold,
        )
        relabelled = ((targets > threshold) == favourable) & ~counter
    else:
        relabelled = np.zeros(len(scores), dtype=bool)
        relabelled[np.flatnonzero(~counter)[: round(share * len(scores))]] = True
        targets = ((counter | relabelled) == favourable).astype(np.float64)
    anchors = ~counter & ~relabelled
    return drawn.found(np.arange(len(scores)), relabelled, targets, anchors=anchors)


def find_anchored(
    source: Source,
    model: Any,
    *,
    favourable: bool,
    max_draws: int,
    generator: np.random.Generator,
    seeds: int,
) -> Found:
    """Draw all members, those that the model labels otherwise first, nearest to its boundary.

    At most :data:`MOST_ANCHORED`; the arguments are those of :func:`find_samples`.
    """
    drawn = _draw(
        source,
        model,
        MOST_ANCHORED,
        favourable=favourable,
        max_draws=max_draws,
        generator=generator,
        seeds=seeds,
    )
    scores = drawn.scores
    counter = drawn.counter
    others = np.flatnonzero(~counter)
    nearest = others[np.argsort((-scores if favourable else scores)[others], kind="stable")]
    order = np.concatenate([nearest, np.flatnonzero(counter)])
    relabelled = ~counter[order]
    targets = np.where(relabelled, float(favourable), scores[order])
    return drawn.found(order, relabelled, targets, scores=scores[order])


def shifted(
    scores: NDArray[np.float64],
    counter: NDArray[np.bool_],
    *,
    favourable: bool,
    share: float,
    strength: float,
    threshold: float,
) -> NDArray[np.float64]:
    """Return scores with log-odds moved by `strength` times the step that changes a share of all.

    `counter` says which have the counter label, `favourable`, already.
    """
    odds = _log_odds(scores)
    towards = 1 if favourable else -1
    missing = np.sort(towards * (_log_odds(np.array([threshold])) - odds)[~counter])
    changed = min(round(share * len(scores)), len(missing))
    # As far as to the last of those that are to change, and just beyond.
    step = max(float(missing[changed - 1]), 0.0) + _JUST if changed else 0.0
    moved: NDArray[np.float64] = 1 / (1 + np.exp(-(odds + towards * strength * step)))
    return moved


def _log_odds(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    inside = np.clip(scores, _CERTAIN, 1 - _CERTAIN)
    odds: NDArray[np.float64] = np.log(inside / (1 - inside))
    return odds


def draw_samples(
    source: Source,
    model: Any,
    *,
    side: Side,
    target: int,
    kind: Kind = "counter",
    favourable: bool,
    wanted: int,
    max_draws: int,
    fallback: Fallback,
    generator: np.random.Generator,
    share: float = 0.0,
    strength: float = 1.0,
) -> CounterSamples:
    """Return samples of a kind, of one side of a target that is given by its index.

    `favourable` is their label. The same state of the generator gives the same samples; of the kind
    counter, asked for more, the same first ones (Zhang et al., TestSGD, section 4.3 and RQ3).
    """
    match kind:
        case "odds":
            found = find_by_odds(
                source,
                model,
                favourable=favourable,
                wanted=wanted,
                max_draws=max_draws,
                generator=generator,
                seeds=source.seeds,
            )
        case "anchored":
            found = find_anchored(
                source,
                model,
                favourable=favourable,
                max_draws=max_draws,
                generator=generator,
                seeds=source.seeds,
            )
        case "shifted":
            found = find_shifted(
                source,
                model,
                favourable=favourable,
                wanted=wanted,
                max_draws=max_draws,
                generator=generator,
                seeds=source.seeds,
                share=share,
                strength=strength,
            )
        case "counter":
            found = find_samples(
                source,
                model,
                favourable=favourable,
                wanted=wanted,
                max_draws=max_draws,
                fallback=fallback,
                generator=generator,
                seeds=source.seeds,
            )
    return CounterSamples.of(
        found, source, favourable=favourable, side=side, target=target, kind=kind
    )

"""More ways to choose samples, which move a decision boundary farther than kept ones do.

Samples to which the model gives the counter label already lie where it gives that label. To learn
them changes little where it does not. So there are other kinds.

By odds
    A member is drawn with the chance that the model gives it the counter label, and carries that
    label. Where p is that chance, n such samples beside N members multiply the odds p / (1 - p) by
    about 1 + n / (N mean(p)), the same everywhere: the group's threshold moves, the order within
    the group stays. Of all ways to change as many decisions that costs the least accuracy.
Shifted
    Members are drawn as they come, and what the model says of each is moved: all log-odds by the
    same step, so large that as many decisions change as the gap asks for. Those that stay on the
    other side are anchors: they keep training from running past the goal. It is what the drawn
    chances of the second kind come to on average, without their chance.

Anchored
    All members are added every time. Those that the model labels otherwise get the counter label,
    nearest to the boundary first; all the others keep what the model says. For texts: few enough,
    and a network learns from a term in all of its texts.

Kamiran and Calders relabel ("massage") training rows in the order of a ranker's scores.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.mitigation.samples import (
    Fallback,
    Found,
    Kind,
    SamplingReport,
    Source,
    drawing_order,
    find_samples,
    scores_of,
)

# Members drawn for each one wanted, and at least, so that there is a choice.
_TIMES = 4
_AT_LEAST = 8_192
_BATCH = 16_384

# All members of a group of texts are fewer; of rows not all can be added every time.
MOST_ANCHORED = 20_000

# Scores nearer to 0 and 1 are taken for this: the odds of a certain one cannot be moved.
_CERTAIN = 1e-4

# So far beyond the boundary go those that just cross it, in log-odds.
_JUST = 1e-9

# No chance is smaller: else a member that the model is sure of could never be drawn.
_LEAST_CHANCE = 1e-9


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

    Parameters
    ----------
    source, model, favourable, wanted, max_draws, generator, seeds
        As for :func:`testsgd.mitigation.samples.find_samples`. A model that tells labels only has
        chances of 0 and 1.

    Returns
    -------
    Found
        In the order drawn.
    """
    most = min(max_draws, max(_AT_LEAST, _TIMES * wanted))
    numbers, drawn, decided, scores, known = _drawn(source, model, most, generator)
    chance = np.maximum(scores if favourable else 1 - scores, _LEAST_CHANCE)
    # The largest of these keys are a weighted draw without repetition (Efraimidis and Spirakis).
    keys = np.log(generator.uniform(size=len(numbers))) / chance
    chosen = np.argsort(-keys, kind="stable")[:wanted]
    counter = decided == favourable
    if not known:
        chosen = chosen[counter[chosen]]
    return Found(
        numbers=numbers[chosen],
        relabelled=~counter[chosen],
        targets=np.full(len(chosen), float(favourable)),
        anchors=np.zeros(len(chosen), dtype=bool),
        report=SamplingReport(
            seeds=seeds,
            drawn=drawn,
            distinct=len(numbers),
            counter_labelled=int(counter.sum()),
            relabelled=int((~counter[chosen]).sum()),
            exhausted=drawn == source.draws or drawn >= max_draws,
            nearness="score" if known else "unknown",
        ),
    )


def find_shifted(
    source: Source,
    model: Any,
    *,
    favourable: bool,
    wanted: int,
    share: float,
    strength: float,
    max_draws: int,
    generator: np.random.Generator,
    seeds: int,
) -> Found:
    """Draw samples, and move what the model says of all of them towards the counter label.

    Parameters
    ----------
    source, model, favourable, wanted, max_draws, generator, seeds
        As for :func:`testsgd.mitigation.samples.find_samples`. Of a model that tells labels only
        there is nothing to move: as many as are to change are relabelled, in the order drawn.
    share : float
        How many of all are to change from the other label to the counter label, if the strength
        is 1.
    strength : float
        How many times the log-odds are moved by what that takes.

    Returns
    -------
    Found
        In the order drawn, so that any first ones are moved alike.
    """
    most = min(max_draws, max(_AT_LEAST, 2 * wanted))
    numbers, drawn, decided, scores, known = _drawn(source, model, most, generator)
    distinct, labelled = len(numbers), int((decided == favourable).sum())
    numbers, scores, counter = numbers[:wanted], scores[:wanted], decided[:wanted] == favourable
    if known:
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
        relabelled = np.zeros(len(numbers), dtype=bool)
        relabelled[np.flatnonzero(~counter)[: round(share * len(numbers))]] = True
        targets = ((counter | relabelled) == favourable).astype(np.float64)
    return Found(
        numbers=numbers,
        relabelled=relabelled,
        targets=targets,
        anchors=~counter & ~relabelled,
        report=SamplingReport(
            seeds=seeds,
            drawn=drawn,
            distinct=distinct,
            counter_labelled=labelled,
            relabelled=int(relabelled.sum()),
            exhausted=drawn == source.draws or drawn >= max_draws,
            nearness="score" if known else "unknown",
        ),
    )


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

    Parameters
    ----------
    source, model, favourable, max_draws, generator, seeds
        As for :func:`testsgd.mitigation.samples.find_samples`.

    Returns
    -------
    Found
        At most :data:`MOST_ANCHORED` members.
    """
    numbers, drawn, decided, scores, known = _drawn(
        source, model, min(max_draws, MOST_ANCHORED), generator
    )
    counter = decided == favourable
    others = np.flatnonzero(~counter)
    nearest = others[np.argsort((-scores if favourable else scores)[others], kind="stable")]
    order = np.concatenate([nearest, np.flatnonzero(counter)])
    relabelled = ~counter[order]
    return Found(
        numbers=numbers[order],
        relabelled=relabelled,
        targets=np.where(relabelled, float(favourable), scores[order]),
        anchors=np.zeros(len(order), dtype=bool),
        report=SamplingReport(
            seeds=seeds,
            drawn=drawn,
            distinct=len(numbers),
            counter_labelled=int(counter.sum()),
            relabelled=len(others),
            exhausted=drawn == source.draws or drawn >= max_draws,
            nearness="score" if known else "unknown",
        ),
        scores=scores[order],
    )


def shifted(
    scores: NDArray[np.float64],
    counter: NDArray[np.bool_],
    *,
    favourable: bool,
    share: float,
    strength: float,
    threshold: float = 0.5,
) -> NDArray[np.float64]:
    """Move the log-odds of scores so that a share of all changes from the other label.

    Parameters
    ----------
    scores : numpy.ndarray of float64, shape (n,)
        A model's scores of the favourable label.
    counter : numpy.ndarray of bool, shape (n,)
        Which it gives the counter label.
    favourable : bool
        The counter label.
    share : float
        How many of all are to change.
    strength : float
        How many times the step is made that this takes.
    threshold : float
        Larger scores get the favourable label.

    Returns
    -------
    numpy.ndarray of float64, shape (n,)

    Examples
    --------
    >>> scores = np.array([0.2, 0.4, 0.45, 0.6])
    >>> moved = shifted(scores, scores > 0.5, favourable=True, share=0.5, strength=1.0)
    >>> moved.round(3).tolist()
    [0.273, 0.5, 0.551, 0.692]
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


def _drawn(
    source: Source, model: Any, most: int, generator: np.random.Generator
) -> tuple[NDArray[np.int64], int, NDArray[np.bool_], NDArray[np.float64], bool]:
    """Draw different members; give them, how many draws, decisions, scores, and if these are known.

    Scores that are not known are 1 and 0 by the decision.
    """
    order = drawing_order(generator, source.draws, most)
    kept = [np.zeros(0, dtype=np.int64)]
    decided = [np.zeros(0, dtype=bool)]
    scores = [np.zeros(0)]
    known = True
    for start in range(0, len(order), _BATCH):
        numbers, inputs = source.fresh(order[start : start + _BATCH])
        if not len(numbers):
            continue
        decisions = model.decisions(inputs)
        found = scores_of(model, inputs)
        known = found is not None
        kept.append(numbers)
        decided.append(decisions)
        scores.append(decisions.astype(np.float64) if found is None else found)
    return (
        np.concatenate(kept),
        len(order),
        np.concatenate(decided),
        np.concatenate(scores),
        known,
    )


def find(
    source: Source,
    model: Any,
    kind: Kind,
    *,
    favourable: bool,
    wanted: int,
    share: float,
    strength: float,
    max_draws: int,
    fallback: Fallback,
    generator: np.random.Generator,
    seeds: int,
) -> Found:
    """Find samples of a kind; the parameters are those of the three ways."""
    common: dict[str, Any] = {
        "favourable": favourable,
        "wanted": wanted,
        "max_draws": max_draws,
        "generator": generator,
        "seeds": seeds,
    }
    if kind == "odds":
        return find_by_odds(source, model, **common)
    if kind == "anchored":
        del common["wanted"]
        return find_anchored(source, model, **common)
    if kind == "shifted":
        return find_shifted(source, model, share=share, strength=strength, **common)
    return find_samples(source, model, fallback=fallback, **common)

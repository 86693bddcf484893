"""The samples of a run: which kinds, of which sides, and how many of them to try."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from testsgd.errors import DataError
from testsgd.mitigation.data_splits import Material
from testsgd.mitigation.parameters import Dosage, Kind, MitigationParameters
from testsgd.mitigation.samples import CounterSamples
from testsgd.models import LoadedModel

# With fewer training rows on a side only the first kind of samples is tried.
FEW_SEEDS = 100


def draw_pools(
    original: LoadedModel[Any],
    material: Material,
    parameters: MitigationParameters,
    *,
    kind: Kind,
    gaps: Sequence[float],
    run: int,
    wanted: int,
) -> tuple[CounterSamples, ...]:
    """Generate the samples of a kind, so many wanted of each side of each target that gets some.

    `gaps` are the targets' scores, which shifted samples are to close; each run, from 1, draws
    others. Raises a :class:`DataError` if there is nothing to make samples from.
    """
    pools = []
    for index, target in enumerate(material.targets):
        sides = material.sides(target, parameters.side)
        inside = len(material.seeds(target, "group"))
        outside = len(material.seeds(target, "rest"))
        for side in sides:
            # Both sides move to the rate of all together, one side moves all the way.
            others = outside if side == "group" else inside
            share = others / (inside + outside) if len(sides) > 1 else 1.0
            pool = material.sample(
                original.model,
                index,
                side,
                kind=kind,
                wanted=wanted,
                share=share * gaps[index],
                parameters=parameters,
                generator=np.random.default_rng(
                    [parameters.seed, run, index, ("group", "rest").index(side)]
                ),
            )
            pools.append(pool)
        if not any(len(pool) for pool in pools if pool.target == index):
            raise DataError(
                "there are no samples that counter the discrimination of "
                f"{target.rule_set.text}: {pools[-1].report.seeds} of the training data to draw "
                f"from, {pools[-1].report.counter_labelled} counter-labelled samples",
                where=f"group {target.rank}",
                remedy="allow relabelling with --fallback nearest, or choose another group",
            )
    return tuple(pools)


def tried_of(material: Material, parameters: MitigationParameters, kind: Kind) -> Sequence[Dosage]:
    """Return the numbers and weights of samples to try of a kind."""
    dosages = parameters.dosages(material.training_size)
    # If only one kind is tried, it is tried in full.
    alone = len(kinds_of(material, parameters)) == 1
    return dosages if alone else material.tried(kind, dosages)


def kinds_of(material: Material, parameters: MitigationParameters) -> tuple[Kind, ...]:
    """Return the kinds of samples to try, in order."""
    if parameters.samples != "auto":
        return (parameters.samples,)
    seeds = min(
        len(material.seeds(target, side))
        for target in material.targets
        for side in material.sides(target, parameters.side)
    )
    # The other kinds move many members a little; of a few, they would be learnt by heart.
    return material.kinds if seeds >= FEW_SEEDS else material.kinds[:1]

"""Two small populations, for audits by the hundred."""

from __future__ import annotations

import numpy as np

from testsgd.rules import RuleSet, ValueRule
from testsgd.truth import Population
from testsgd.truth.populations import CategoryTrait

TRAITS = (
    CategoryTrait("gender", ("female", "male"), (0.5, 0.5)),
    CategoryTrait("region", ("north", "south", "west"), (0.5, 0.2, 0.3)),
)
GROUP = RuleSet((ValueRule("gender", ("female",)), ValueRule("region", ("west",))))


def small_population(step: int) -> Population:
    """One group of 15% of the people is `step` points below the others."""
    limits = np.full((2, 3), 49)
    limits[0, 2] += step
    return Population(
        name="null" if step == 0 else "band",
        title="small",
        traits=TRAITS,
        limits=limits,
        planted=() if step == 0 else (GROUP,),
        number=90 + step,
    )

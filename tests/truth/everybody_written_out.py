"""A population written out row by row: every content a row can have, and how frequent it is."""

from __future__ import annotations

import numpy as np
import pandas as pd

from testsgd.data import Table, check_table
from testsgd.truth import Population
from testsgd.truth.populations import CategoryTrait


def everybody(people: Population) -> tuple[pd.DataFrame, np.ndarray]:
    """Return all contents as rows, with the share of the people who have each.

    A number stands for its whole bin: nothing that decides reads more of it.
    """
    shape = (*people.shape, people.merits.shape[1], max(1, people.tenures))
    *cells, merit, tenure = np.unravel_index(np.arange(np.prod(shape)), shape)
    kinds = np.zeros(people.shape, dtype=int) if people.merit_of is None else people.merit_of
    chances = people.merits[kinds[tuple(cells)], merit]
    weights = people.masses[tuple(cells)] * chances / max(1, people.tenures)
    columns = {
        trait.name: np.array(trait.values, dtype=object)[cell]
        if isinstance(trait, CategoryTrait)
        else trait.low + trait.width * cell
        for trait, cell in zip(people.traits, cells, strict=True)
    }
    frame = pd.DataFrame({**columns, "merit": merit, "tenure": tenure})
    return (frame if people.tenures else frame.drop(columns="tenure")), weights


def answers(people: Population, frame: pd.DataFrame, estimand: str) -> np.ndarray:
    """Ask about the rows, or about their neighbours, which are built by hand."""
    if estimand == "observed":
        return people.decide(frame)
    last = {"merit": people.merits.shape[1] - 1}
    if people.tenures:
        last["tenure"] = people.tenures - 1
    total = np.zeros(len(frame))
    for name, largest in last.items():
        for step in (-1, 1):
            total += people.decide(frame.assign(**{name: (frame[name] + step).clip(0, largest)}))
    return total / (2 * len(last))


def as_table(people: Population, frame: pd.DataFrame) -> Table:
    """Check rows as an audit does."""
    return check_table(frame, people.specification)

"""An audit as simple as it can be: one rule set, one row, one neighbour after another."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

# A row as a mapping from features to cells; None is a missing cell.
Row = dict[str, Any]
Decide = Callable[[Row], bool]

GENDERS = ["female", "male", "other"]
HOUSINGS = ["rent", "own", "none"]
AGE_EDGES = [0, 2, 4, 6, 8]
MOST_OPEN_LOANS = 3

SPECIFICATION: dict[str, Any] = {
    "dataset": {"name": "plain"},
    "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
    "features": {
        "gender": {"type": "categorical", "values": GENDERS, "sensitive": True},
        "open_loans": {"type": "integer", "range": [0, MOST_OPEN_LOANS]},
        "age": {"type": "integer", "range": [0, 8], "bins": 4, "sensitive": True},
        "housing": {"type": "categorical", "values": HOUSINGS},
        "member": {"type": "categorical", "values": [False, True], "sensitive": True},
    },
}


def frame_of(rows: list[Row]) -> pd.DataFrame:
    """Rows as a data frame; whole numbers become floats where one is missing."""
    return pd.DataFrame({name: [row[name] for row in rows] for name in SPECIFICATION["features"]})


def rows_of(frame: pd.DataFrame) -> list[Row]:
    """A data frame as rows."""
    return [
        {name: None if pd.isna(cell) else cell for name, cell in row.items()}
        for row in frame.to_dict("records")
    ]


def as_model(decide: Decide) -> Callable[[pd.DataFrame], list[str]]:
    """A function of one row as a model of data frames."""
    return lambda frame: ["yes" if decide(row) else "no" for row in rows_of(frame)]


def neighbours(row: Row) -> Iterator[Row]:
    """Each feature that is not sensitive one step down and one step up, or where it was."""
    for direction in (-1, 1):
        loans = row["open_loans"]
        if loans is not None and 0 <= loans + direction <= MOST_OPEN_LOANS:
            loans = loans + direction
        yield row | {"open_loans": loans}
        housing = row["housing"]
        if housing is not None and 0 <= HOUSINGS.index(housing) + direction < len(HOUSINGS):
            housing = HOUSINGS[HOUSINGS.index(housing) + direction]
        yield row | {"housing": housing}


@dataclass(frozen=True)
class Rule:
    """One rule: its text, who satisfies it, and of whom it says nothing."""

    text: str
    holds: Callable[[Row], bool]
    unknown: Callable[[Row], bool] = lambda row: False


def value_rules(feature: str, declared: list[Any], rows: list[Row]) -> list[Rule]:
    """Every proper subset of the values that occur; a missing cell is a value of its own."""
    present = [value for value in [*declared, None] if value in {row[feature] for row in rows}]
    rules = []
    for size in range(1, len(present)):
        for chosen in itertools.combinations(present, size):
            names = ["missing" if value is None else str(value) for value in chosen]
            text = (
                f"{feature} = {names[0]}" if size == 1 else f"{feature} in {{{', '.join(names)}}}"
            )
            rules.append(Rule(text, lambda row, chosen=chosen: row[feature] in chosen))
    return rules


def age_rules(rows: list[Row]) -> list[Rule]:
    """Every proper run of adjacent bins; a missing age is a group of its own."""
    rules = []
    for low, high in itertools.combinations(AGE_EDGES, 2):
        if (low, high) == (AGE_EDGES[0], AGE_EDGES[-1]):
            continue
        text = f"{low} <= age < {high}"
        if low == AGE_EDGES[0]:
            text = f"age < {high}"
        if high == AGE_EDGES[-1]:
            text = f"age >= {low}"

        def holds(row: Row, low: int = low, high: int = high) -> bool:
            age = row["age"]
            # The last bin has its upper limit in it.
            return age is not None and (low <= age < high or age == high == AGE_EDGES[-1])

        rules.append(Rule(text, holds, lambda row: row["age"] is None))
    if any(row["age"] is None for row in rows):
        rules.append(Rule("age = missing", lambda row: row["age"] is None))
    return rules


@dataclass(frozen=True)
class Group:
    """Who satisfies a rule set, and the rates inside and outside, of neighbours and as observed."""

    members: frozenset[int]
    complement: frozenset[int]
    rate_in: float
    rate_out: float
    observed_in: float
    observed_out: float


def plain_audit(rows: list[Row], decide: Decide, fewest: int) -> dict[str, Group]:
    """Every rule set with enough rows on both sides, by its text."""
    favourable = [
        np.mean([decide(neighbour) for neighbour in neighbours(row)], dtype=float) for row in rows
    ]
    observed = [float(decide(row)) for row in rows]
    by_feature = [
        value_rules("gender", GENDERS, rows),
        age_rules(rows),
        value_rules("member", [False, True], rows),
    ]
    found = {}
    for chosen in itertools.product(*([None, *rules] for rules in by_feature)):
        rules = [rule for rule in chosen if rule is not None]
        inside = [all(rule.holds(row) for rule in rules) for row in rows]
        known = [not any(rule.unknown(row) for rule in rules) for row in rows]
        outside = [said and not yes for said, yes in zip(known, inside, strict=True)]
        if not rules or min(sum(inside), sum(outside)) < fewest:
            continue
        found[" and ".join(rule.text for rule in rules)] = Group(
            frozenset(place for place, yes in enumerate(inside) if yes),
            frozenset(place for place, yes in enumerate(outside) if yes),
            *(
                float(np.mean(list(itertools.compress(rates, side))))
                for rates in (favourable, observed)
                for side in (inside, outside)
            ),
        )
    return found

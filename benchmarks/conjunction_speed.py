"""All conjunctions of up to four conditions over every feature of Census, beside SliceLine.

Both find the slices in which the shipped model is most often wrong, by SliceLine's score: how much
higher the error is than over all rows, less how small the slice is. SliceLine looks at the most
promising slices alone; ours counts every conjunction with enough rows, then scores them.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.measure import memory_peak, side_by_side
from testsgd.auditing.compared_rates import compared_rates
from testsgd.data import Table, load_specification, load_table
from testsgd.models import load_model
from testsgd.rules import Contingency, Rule, ValueRule
from testsgd.rules.conjunctions import Conditions, Level

LONGEST = 4
SUPPORT = 0.01
# How much the error counts against the size; with SliceLine's default fewer than ten are good.
ALPHA = 0.95
BEST = 10
MANY_ROWS = 1_000_000


@dataclass(frozen=True)
class ValuesOnly:
    """A feature of which only single values are looked at."""

    feature: str
    labels: tuple[str, ...]
    rule_count: int = 1

    def cell_rule(self, cell: int) -> Rule | None:
        """Return the rule that selects one value."""
        return ValueRule(self.feature, (self.labels[cell],))


def coded(table: Table) -> pd.DataFrame:
    """Return each feature as whole numbers: values, or the fifths of a number."""
    columns = {}
    for name, feature in table.specification.features.items():
        if feature.continuous:
            numbers = table.numbers(name)
            limits = np.unique(np.nanquantile(numbers, [0.2, 0.4, 0.6, 0.8]))
            columns[name] = np.searchsorted(limits, numbers, side="right")
        else:
            columns[name] = table.codes(name).astype(np.int64) + 1
    # A feature of one value says nothing; with it SliceLine finds each slice several times.
    return pd.DataFrame({name: column for name, column in columns.items() if column.std() > 0})


def contingency_of(frame: pd.DataFrame) -> Contingency:
    """Return the rows with every feature, each row a combination of its own."""
    axes: list[Any] = [
        ValuesOnly(str(name), tuple(str(value) for value in range(int(column.max()) + 1)))
        for name, column in frame.items()
    ]
    coordinates = frame.to_numpy().astype(np.int16)
    return Contingency(tuple(axes), coordinates, np.arange(len(frame), dtype=np.int32))


def scan(frame: pd.DataFrame, wrong: np.ndarray) -> tuple[Conditions, list[Level], list[Any]]:
    """Count every conjunction with enough rows, and how many of its rows are wrong."""
    fewest = int(np.ceil(SUPPORT * len(frame)))
    conditions = Conditions.of(contingency_of(frame), min_rows=fewest)
    levels, _ = conditions.levels(min_rows=fewest, most=10_000_000, longest=LONGEST)
    return conditions, levels, [conditions.count(level, wrong) for level in levels]


def best_scores(frame: pd.DataFrame, wrong: np.ndarray) -> list[tuple[float, int]]:
    """Return the largest scores with the rows of their slices."""
    _, levels, errors = scan(frame, wrong)
    rows = np.concatenate([level.rows for level in levels]).astype(float)
    rate = np.concatenate(errors) / rows
    scores = ALPHA * (rate / wrong.mean() - 1) - (1 - ALPHA) * (len(frame) / rows - 1)
    first = np.argsort(-scores, kind="stable")[:BEST]
    return [(float(scores[index]), int(rows[index])) for index in first]


def sliceline_scores(frame: pd.DataFrame, wrong: np.ndarray) -> list[tuple[float, int]]:
    """Return what SliceLine finds."""
    finder = importlib.import_module("sliceline.slicefinder").Slicefinder(
        alpha=ALPHA, k=BEST, max_l=LONGEST, min_sup=SUPPORT, verbose=False
    )
    finder.fit(frame, wrong.astype(float))
    found = finder.top_slices_statistics_[:BEST]
    return [(float(item["slice_score"]), int(item["slice_size"])) for item in found]


def with_intervals(frame: pd.DataFrame, wrong: np.ndarray) -> int:
    """Scan, and compute the interval of every conjunction; return how many there are."""
    _, levels, errors = scan(frame, wrong)
    rows = np.concatenate([level.rows for level in levels]).astype(float)
    yes = np.concatenate(errors).astype(float)
    sums = np.array([rows, yes, len(frame) - rows, wrong.sum() - yes])
    return len(compared_rates(sums, error=0.05 / len(rows)))


def rows() -> list[list[str]]:
    """Measure, and return the rows of the page's table."""
    specification = load_specification("census")
    people = load_table(specification)  # type: ignore[arg-type]
    model = load_model(None, specification).model  # type: ignore[arg-type]
    assert people.labels is not None
    true = (people.labels == people.specification.label.favourable).to_numpy()
    wrong = model.decisions(people.frame) != true
    frame = coded(people)
    _, levels, _ = scan(frame, wrong)
    number = sum(len(level.rows) for level in levels)
    name = f"Census, all {frame.shape[1]} features: {number:,} conjunctions of up to {LONGEST}"
    written = []
    drawn = np.random.default_rng(0).integers(0, len(frame), MANY_ROWS)
    many, many_wrong = frame.iloc[drawn].reset_index(drop=True), wrong[drawn]
    times = side_by_side(1, many=lambda: with_intervals(many, many_wrong))
    peak = memory_peak() / 2**30
    written.append(
        [
            f"{MANY_ROWS:,} rows drawn from it, every conjunction with its interval",
            f"{times['many']}; the process had {peak:.1f} GiB at most",
            "seconds, 1 GB",
        ]
    )
    try:
        importlib.import_module("sliceline.slicefinder")
    except ImportError:
        times = side_by_side(5, ours=lambda: best_scores(frame, wrong))
        written.append([f"{name}, scored", f"{times['ours']}", ""])
    else:
        # SliceLine's own code for speed is compiled by a first run.
        theirs, ours = sliceline_scores(frame, wrong), best_scores(frame, wrong)
        same = len(ours) == len(theirs) and all(
            abs(first[0] - second[0]) < 1e-6 and first[1] == second[1]
            for first, second in zip(ours, theirs, strict=True)
        )
        times = side_by_side(
            1, ours=lambda: best_scores(frame, wrong), theirs=lambda: sliceline_scores(frame, wrong)
        )
        ratio = times["theirs"].median / times["ours"].median
        equal = "the ten best are the same" if same else "the ten best DIFFER"
        written.append([f"{name}, scored", f"{times['ours']}", ""])
        written.append(
            [f"SliceLine 0.3.0, the same; {equal}", f"{times['theirs']}: {ratio:,.0f} x", "100 x"]
        )
    return written


if __name__ == "__main__":
    for row in rows():
        print(" | ".join(row))

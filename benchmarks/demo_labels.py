"""The planted demo, mitigated and judged by labels with and without the refusal, on new people.

``python -m benchmarks.demo_labels`` lowers the worst difference of the demo's network, which has
learnt the refusal, and puts a table into docs/mitigation.md: all figures are of many people who had
no part in it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.marked_page import Marks, fill_marked, percent, table
from testsgd import fair_frontier, generate_demo
from testsgd.data import DatasetSpecification, check_table, load_specification
from testsgd.mitigation.compared_rates import (
    FALSE_POSITIVE_RATE,
    SELECTION_RATE,
    TRUE_POSITIVE_RATE,
    ComparedRates,
)
from testsgd.rules import lay_out, sensitive_axes

PAGE = Path(__file__).resolve().parent.parent / "docs" / "mitigation.md"
MARKS: Marks = (
    "<!-- demo labels: python -m benchmarks.demo_labels -->",
    "<!-- demo labels end -->",
)
NEW_PEOPLE = 300_000
SEED = 77
MIN_SHARE = 0.05
HEADING = [
    "labels", "worst difference in selection rate", "in true-positive rate",
    "in false-positive rate", "accuracy",
]  # fmt: skip


def figures_of(models: list[Any], *, discriminated: bool) -> list[list[float]]:
    """Return each model's worst differences, and its accuracy, on new people."""
    specification = load_specification("demo")
    assert isinstance(specification, DatasetSpecification)
    people = generate_demo(rows=NEW_PEOPLE, seed=SEED, discriminated=discriminated)
    rows = check_table(people, specification, source="new people")
    labels = np.asarray(rows.labels == specification.label.favourable)
    contingency = lay_out(rows, sensitive_axes(rows))
    found = []
    for model in models:
        decisions = model.decisions(rows.frame)
        figures = []
        for name in (SELECTION_RATE, TRUE_POSITIVE_RATE, FALSE_POSITIVE_RATE):
            rates = ComparedRates.of(
                name,
                contingency,
                labels,
                np.ones(len(labels), dtype=bool),
                min_rows=MIN_SHARE,
                max_rules=None,
            )
            figures.append(float(np.abs(rates.differences(decisions)).max()))
        found.append([*figures, float((decisions == labels).mean())])
    return found


def row_of(*, discriminated: bool) -> list[str]:
    """Mitigate the demo's network by some labels, and write what becomes of it as a row."""
    people = generate_demo(discriminated=discriminated)
    outcome = fair_frontier(None, people, "demo").outcome
    assert outcome is not None
    assert outcome.chosen is not None
    model = outcome.points[outcome.chosen].model
    before, after = figures_of(
        [outcome.problem.loaded.model, model.black_box], discriminated=discriminated
    )
    pairs = [
        f"{percent(first, sign='')} to {percent(last, sign='')}"
        for first, last in zip(before, after, strict=True)
    ]
    name = "the demo's, which refuse the group" if discriminated else "without the refusal"
    return [name, *pairs]


def main() -> None:
    """Measure, print and write."""
    rows = [row_of(discriminated=discriminated) for discriminated in (True, False)]
    text = (
        f"In points; accuracy in per cent. {NEW_PEOPLE:,} new people; groups of at least 5% of "
        f"those that a rate counts.\n\n{table(HEADING, rows)}"
    )
    print(text)
    fill_marked(PAGE, {MARKS: text})


if __name__ == "__main__":
    main()

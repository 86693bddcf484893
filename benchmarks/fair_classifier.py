"""What `FairClassifier` costs and brings on rows that it never saw.

``python -m benchmarks.fair_classifier`` fits a gradient boosting alone and inside the classifier,
five times on two thirds of census and of compas, and prints a table in Markdown about the others.
``--repetitions 3`` takes fewer.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from benchmarks.marked_page import table
from testsgd.data import DatasetSpecification, load_specification, load_table
from testsgd.mitigation import FairClassifier
from testsgd.mitigation.play import ComparedGroups
from testsgd.mitigation.retrained_estimator import rows_table
from testsgd.rules import lay_out, sensitive_axes

REPETITIONS = 5
HEADING = [
    "data set", "accuracy", "accuracy after", "lost", "worst of all groups", "worst after",
    "share left", "in the cross-fitting", "kept plain", "seconds",
]  # fmt: skip


def learner() -> Any:
    """Return a gradient boosting that knows the categories by their numbers."""
    encoder = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1
    )
    encode = make_column_transformer(
        (encoder, make_column_selector(dtype_include=["category", "object", "string"])),
        remainder="passthrough",
    )
    return make_pipeline(encode, HistGradientBoostingClassifier(random_state=0))


def measured(name: str, seed: int) -> list[float]:
    """Fit to two thirds of a data set, measure on the others."""
    specification = load_specification(name)
    assert isinstance(specification, DatasetSpecification)
    people = load_table(specification)
    y = np.asarray(people.labels == specification.label.favourable)
    X, sensitive = people.frame[list(specification.features)], specification.sensitive
    train, held_out, y_train, labels = train_test_split(
        X, y, test_size=1 / 3, stratify=y, random_state=seed
    )
    plain = learner().fit(train, y_train)
    started = time.perf_counter()
    fair = FairClassifier(learner(), sensitive_features=sensitive, random_state=seed)
    fair.fit(train, y_train)
    seconds = time.perf_counter() - started
    rows = rows_table(held_out[list(sensitive)].reset_index(drop=True), labels, sensitive)
    assert rows is not None
    groups = ComparedGroups.of(
        lay_out(rows, sensitive_axes(rows)),
        np.ones(len(labels), dtype=bool),
        min_rows=int(np.ceil(0.05 * len(labels))),
    )
    decisions = np.stack([plain.predict(held_out), fair.predict(held_out)]).astype(bool)
    before, after = (decisions == labels).mean(axis=1)
    worst, left = np.abs(groups.differences(decisions)).max(axis=1)
    chosen = fair.chosen_
    validated = np.nan if chosen is None else chosen.worst_after / chosen.worst_before
    return [
        100 * before, 100 * after, 100 * (before - after), 100 * worst, 100 * left,
        100 * left / worst, 100 * abs(validated), float(chosen is None), seconds,
    ]  # fmt: skip


def mean_text(numbers: Any) -> str:
    """Write a mean and its 95% interval."""
    half = student.ppf(0.975, len(numbers) - 1) * np.std(numbers, ddof=1) / len(numbers) ** 0.5
    return f"{np.mean(numbers):.2f} ± {half:.2f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=["compas", "census"])
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    given = parser.parse_args()
    rows = []
    for name in given.names:
        found = []
        for seed in range(given.repetitions):
            found.append(measured(name, seed))
            print(name, seed, *(f"{number:.2f}" for number in found[-1]), flush=True)
        columns = pd.DataFrame(found, columns=HEADING[1:])
        texts = [mean_text(columns[each].dropna()) for each in HEADING[1:8]]
        kept = f"{columns['kept plain'].sum():.0f} of {given.repetitions}"
        rows.append([name, *texts, kept, f"{columns['seconds'].mean():.0f}"])
    print(table(HEADING, rows))


if __name__ == "__main__":
    main()

"""What thresholds by cell cost and bring on rows that they were not chosen on.

``python -m benchmarks.fair_thresholds`` fits a gradient boosting to two thirds of census, bank and
compas, five times, chooses thresholds by its cross-fitted scores, calibrated, and prints a table in
Markdown about the other rows. The bins of numbers are those of all rows.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import numpy as np
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split

from benchmarks.fair_classifier import REPETITIONS, learner, mean_text
from benchmarks.marked_page import table
from testsgd.data import DatasetSpecification, load_specification, load_table
from testsgd.mitigation import fair_thresholds
from testsgd.mitigation.play import ComparedGroups
from testsgd.rules import lay_out, sensitive_axes

BUDGETS = (0.0025, 0.005)
HEADING = ["data set", "budget", "lost", "worst of all groups", "worst after", "seconds"]


def measured(name: str, seed: int) -> list[list[float]]:
    """Choose thresholds on two thirds of a data set for each budget, measure on the others."""
    specification = load_specification(name)
    assert isinstance(specification, DatasetSpecification)
    people = load_table(specification)
    labels = np.asarray(people.labels == specification.label.favourable)
    features = people.frame[list(specification.features)]
    contingency = lay_out(people, sensitive_axes(people))
    train, held_out = train_test_split(
        np.arange(len(labels)), test_size=1 / 3, stratify=labels, random_state=seed
    )
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    examples, known = features.iloc[train], labels[train]
    scores = cross_val_predict(learner(), examples, known, cv=folds, method="predict_proba")[:, 1]
    chances = IsotonicRegression(out_of_bounds="clip").fit(scores, known).predict(scores)
    model = learner().fit(examples, known)
    new_scores = model.predict_proba(features.iloc[held_out])[:, 1]

    def groups_of(rows: np.ndarray) -> ComparedGroups:
        part = replace(contingency, cell_of_row=contingency.cell_of_row[rows])
        everything = np.ones(len(rows), dtype=bool)
        fewest = int(np.ceil(0.05 * len(rows)))
        return ComparedGroups.of(part, everything, min_rows=fewest, max_rules=3)

    searched, judged = groups_of(train), groups_of(held_out)
    plain = new_scores >= 0.5
    found = []
    for budget in BUDGETS:
        started = time.perf_counter()
        chosen = fair_thresholds(
            scores,
            chances,
            scores >= 0.5,
            searched.contingency,
            searched.rule_sets,
            budget=budget,
        )
        seconds = time.perf_counter() - started
        # A combination of values that no training row has keeps the usual threshold.
        limits = np.where(np.isnan(chosen.thresholds), 0.5, chosen.thresholds)
        fair = new_scores >= limits[judged.contingency.cell_of_row]
        worst, left = np.abs(judged.differences(np.stack([plain, fair]))).max(axis=1)
        lost = (plain == labels[held_out]).mean() - (fair == labels[held_out]).mean()
        found.append([100 * lost, 100 * worst, 100 * left, seconds])
    return found


def main() -> None:
    """Measure and print."""
    rows = []
    for name in sys.argv[1:] or ["census", "bank", "compas"]:
        found = np.array([measured(name, seed) for seed in range(REPETITIONS)])
        for index, budget in enumerate(BUDGETS):
            lost, worst, left, seconds = found[:, index].T
            texts = [mean_text(each) for each in (lost, worst, left)]
            rows.append([name, f"{100 * budget:g}", *texts, f"{seconds.mean():.1f}"])
    print(table(HEADING, rows))


if __name__ == "__main__":
    main()

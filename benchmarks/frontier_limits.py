"""How far the worst difference could be lowered by rules that know every row's chance.

``python -m benchmarks.frontier_limits`` estimates the chance of the favourable label of each row of
a data set, by several learners that were not fitted to it, and lets the linear programme over the
combinations of sensitive values choose thresholds for these chances, on all rows. No other decision
by the same features makes as few errors for the same number of favourable decisions in each
combination; and nothing had to be learnt from some rows for others. Then both rules, the original
and this one, are measured on a fifth of the rows, as frontiers are. A table is printed and written
into docs/mitigation.md. Names of data sets and ``--repetitions 3`` measure fewer.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.fair_classifier import learner
from benchmarks.frontiers import PAGE, points_text
from benchmarks.marked_page import Marks, fill_marked, table
from testsgd.data import DatasetSpecification, Table, load_specification, load_table
from testsgd.mitigation.frontiers.parameters import FrontierParameters
from testsgd.mitigation.frontiers.problem import Problem
from testsgd.mitigation.inputs import mitigation_inputs
from testsgd.mitigation.play import ComparedGroups
from testsgd.mitigation.thresholds import fair_thresholds
from testsgd.rules import Contingency, candidate_count, lay_out, sensitive_axes

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

MARKS: Marks = (
    "<!-- frontier limits: python -m benchmarks.frontier_limits -->",
    "<!-- frontier limits end -->",
)
# Where frontiers keep more than 70% of the worst difference, or chance explains what changes.
NAMES = ("compas", "crime", "credit")
REPETITIONS = 3
FOLDS = 5
# Random fifths of the rows of each repetition, for boosting; networks have held-out rows.
FIFTHS = 10
# Points of accuracy that may be lost, as the strengths of frontiers are chosen by.
ALLOWED = 0.005
# Budgets of the programme, beyond what the original loses against the chances themselves.
BUDGETS = (0.0, 0.0025, 0.005, 0.0075, 0.01, 0.02)
MIN_SHARE = 0.05
# As frontiers have it: more rule sets are not compared, which may limit how many rules a group has.
MOST_RULE_SETS = 250_000
HEADING = [
    "data set", "original", "runs", "area under the curve", "worst before", "worst left",
    "share left, %",
]  # fmt: skip
ABOUT = (
    "Thresholds for the combinations of sensitive values, chosen by the programme on all rows with "
    "the chances of a boosting, a logistic regression and a forest together, cross-fitted and made "
    "right on average; read where half a point of accuracy is expected to be lost. Differences in "
    "selection rate in points, on a fifth of the rows: the held-out rows of the committed "
    "networks, or ten random fifths of each run for boosting, which is cross-fitted. Means over "
    "the runs, each with other folds, with 95% intervals by Student's t. A group and its "
    "complement have 5% of the rows at least."
)


def learners() -> list[Any]:
    """Return classifiers with a smoother answer than the boosting that is mitigated."""
    encoder = learner().steps[0][1]
    gentle = HistGradientBoostingClassifier(
        learning_rate=0.03,
        max_iter=150,
        max_leaf_nodes=8,
        min_samples_leaf=30,
        l2_regularization=1.0,
        random_state=0,
    )
    forest = RandomForestClassifier(300, min_samples_leaf=5, random_state=0)
    return [
        make_pipeline(encoder, gentle),
        make_pipeline(encoder, SimpleImputer(), forest),
        make_pipeline(_Dummies(), LogisticRegression(C=0.3, max_iter=5000)),
    ]


class _Dummies:
    """Categories as columns of 0 and 1, numbers standardised, for a logistic regression."""

    def fit(self, X: pd.DataFrame, y: Any = None) -> _Dummies:
        """Learn the categories, means and spreads."""
        numbers = X.select_dtypes("number").columns
        self.numbers = list(numbers)
        self.others = [name for name in X.columns if name not in self.numbers]
        self.scaler = make_pipeline(SimpleImputer(), StandardScaler()).fit(X[self.numbers])
        self.encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        self.encoder.fit(X[self.others].astype(str))
        return self

    def transform(self, X: pd.DataFrame) -> Floats:
        """Return the numbers."""
        dummies = self.encoder.transform(X[self.others].astype(str))
        return np.hstack([self.scaler.transform(X[self.numbers]), dummies])


def cross_fitted(model: Any, X: pd.DataFrame, y: Bools, seed: int) -> Floats:
    """Return each row's probability by a model that was fitted to the other folds."""
    from sklearn.base import clone

    found = np.zeros(len(y))
    for train, rest in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y):
        fitted = clone(model, safe=False).fit(X.iloc[train], y[train])
        found[rest] = fitted.predict_proba(X.iloc[rest])[:, 1]
    return found


def chances_of(X: pd.DataFrame, y: Bools, seed: int) -> Floats:
    """Return each row's chance of the favourable label, calibrated by other rows."""
    mean = np.mean([cross_fitted(model, X, y, seed) for model in learners()], axis=0)
    found = np.zeros(len(y))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed + 1_000)
    for train, rest in folds.split(X, y):
        monotone = IsotonicRegression(y_min=0.001, y_max=0.999, out_of_bounds="clip")
        found[rest] = monotone.fit(mean[train], y[train]).predict(mean[rest])
    # Ties of the steps are broken by the mean itself.
    return np.asarray(0.999 * found + 0.001 * mean)


@dataclass(frozen=True)
class Rules:
    """The original's decisions, and those of thresholds by several budgets, on all rows."""

    contingency: Contingency
    depth: int
    chances: Floats
    before: Bools
    after: list[Bools]

    def measured(self, rows: Bools) -> tuple[float, float]:
        """Return the worst difference among some rows, before and where the loss is as allowed."""
        groups = ComparedGroups.of(
            self.contingency,
            rows,
            min_rows=max(30, int(np.ceil(MIN_SHARE * rows.sum()))),
            max_rules=self.depth,
        )
        worst = np.abs(groups.differences(np.stack([self.before, *self.after]))).max(axis=1)
        right = [np.where(each, self.chances, 1 - self.chances)[rows].mean() for each in self.after]
        own = np.where(self.before, self.chances, 1 - self.chances)[rows].mean()
        lost = own - np.array(right)
        order = np.argsort(lost)
        return float(worst[0]), float(np.interp(ALLOWED, lost[order], worst[1:][order]))


def rules_of(people: Table, chances: Floats, before: Bools) -> Rules:
    """Let the programme choose thresholds on all rows, for several budgets."""
    contingency = lay_out(people, sensitive_axes(people))
    depth = 1
    while depth < len(contingency.axes):
        if candidate_count(contingency.axes, depth + 1) > MOST_RULE_SETS:
            break
        depth += 1
    groups = ComparedGroups.of(
        contingency,
        np.ones(len(before), dtype=bool),
        min_rows=int(np.ceil(MIN_SHARE * len(before))),
        max_rules=depth,
    )
    best = chances >= 0.5
    gained = (np.where(best, chances, 1 - chances) - np.where(before, chances, 1 - chances)).mean()
    after = []
    for budget in BUDGETS:
        found = fair_thresholds(
            chances, chances, best, contingency, groups.rule_sets, budget=gained + budget
        )
        thresholds = np.nan_to_num(found.thresholds, nan=np.inf)
        after.append(chances >= thresholds[contingency.cell_of_row])
    return Rules(contingency, depth, chances, before, after)


def measured(name: str, seed: int) -> Iterator[tuple[str, float, float, float]]:
    """Yield for each original the area under the curve, and the worst before and after."""
    specification = load_specification(name)
    assert isinstance(specification, DatasetSpecification)
    people = load_table(specification)
    X = people.frame[list(specification.features)]
    y = np.asarray(people.labels == specification.label.favourable)
    chances = chances_of(X, y, seed)
    area = float(roc_auc_score(y, chances))
    inputs = mitigation_inputs(None, None, name, seed=seed)
    problem = Problem(
        loaded=inputs.loaded,
        material=inputs.material,  # type: ignore[arg-type]  # of a table, as the data are
        parameters=FrontierParameters(seed=seed),
    )
    held_out = np.zeros(len(y), dtype=bool)
    held_out[problem.held_out] = True
    network = problem.material.decisions(inputs.loaded.model, np.arange(len(y)))
    yield "network", area, *rules_of(people, chances, network).measured(held_out)
    boosting = cross_fitted(learner(), X, y, seed) >= 0.5
    rules = rules_of(people, chances, boosting)
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(FIFTHS):
        rows = np.zeros(len(y), dtype=bool)
        rows[generator.permutation(len(y))[: len(y) // 5]] = True
        found.append(rules.measured(rows))
    before, after = np.mean(found, axis=0)
    yield "boosting", area, float(before), float(after)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    given = parser.parse_args()
    rows = []
    for name in given.names or NAMES:
        runs: dict[str, list[tuple[float, float, float]]] = {}
        for seed in range(given.repetitions):
            for original, *numbers in measured(name, seed):
                runs.setdefault(original, []).append(tuple(numbers))
                print(name, seed, original, *(f"{each:.4f}" for each in numbers), flush=True)
        for original, numbers_of_runs in runs.items():
            area, before, after = np.array(numbers_of_runs).T
            rows.append([
                name, original, f"{len(area)}", f"{area.mean():.3f}", points_text(before),
                points_text(after), points_text(after / before),
            ])  # fmt: skip
    text = f"{ABOUT}\n\n{table(HEADING, rows)}"
    print(text)
    if not given.names:
        fill_marked(PAGE, {MARKS: text})


if __name__ == "__main__":
    main()

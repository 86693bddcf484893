"""What a frontier over all groups costs and brings, on rows that are held out.

``python -m benchmarks.frontiers --what networks`` lowers the worst difference of the committed
networks by the penalty and by thresholds; ``--what boosting`` that of gradient boosting by the play
and by thresholds; ``--what others`` puts other packages' methods beside them, on the same splits.
Each prints a table in Markdown and writes it into docs/mitigation.md. Names of data sets and
``--repetitions 3`` measure fewer. Each run is kept in benchmarks/frontier_results and not repeated
while it is there; ``--table`` writes the tables from these alone.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fair_classifier import learner
from benchmarks.kept_results import as_json
from benchmarks.marked_page import Marks, fill_marked, table
from benchmarks.penalty import balanced, mean_text
from testsgd import fair_frontier
from testsgd.data import DatasetSpecification, load_specification, load_table
from testsgd.io import replacing_any_file, write_text
from testsgd.mitigation.frontiers.parameters import FrontierParameters, Method
from testsgd.mitigation.frontiers.problem import Problem
from testsgd.mitigation.inputs import mitigation_inputs
from testsgd.models.refitting.estimators import seeded_clone

PAGE = Path(__file__).resolve().parent.parent / "docs" / "mitigation.md"
KEPT = Path(__file__).resolve().parent / "frontier_results"
MARKS: dict[str, Marks] = {
    what: (
        f"<!-- frontiers {what}: python -m benchmarks.frontiers --what {what} -->",
        f"<!-- frontiers {what} ends -->",
    )
    for what in ("networks", "boosting", "others")
}
METHODS: dict[str, tuple[Method, ...]] = {
    "networks": ("penalty", "thresholds", "ensemble"),
    "boosting": ("play", "thresholds", "ensemble"),
}
NAMES = {
    "networks": ("census", "compas", "law", "bank", "crime", "credit"),
    "boosting": ("census", "compas", "law", "bank", "crime", "credit"),
    "others": ("census", "compas"),
}
REPETITIONS = 5
HEADING = [
    "data set", "method", "runs", "accuracy", "lost", "balanced lost", "worst before",
    "worst after", "share left, %", "thresholds at that loss", "verdicts (exit code)", "seconds",
]  # fmt: skip
OTHERS_HEADING = [
    "data set", "method", "runs", "lost", "worst before", "worst after", "play at that loss",
    "thresholds at that loss", "outside the play's", "seconds",
]  # fmt: skip
_ALL = (
    "Held-out rows; accuracy, losses and differences in selection rate in points, means over the "
    "runs with 95% intervals by Student's t (none of a single run). A group and its complement "
    "have 5% of the rows at least. The strength was chosen without the held-out rows, to lose at "
    "most 0.5 points of accuracy and 5 of balanced accuracy; where none was, the original stays, "
    "which loses nothing. Thresholds with the original's scores are read at the loss of each run, "
    "on the line between their points on the held-out rows; beyond the last they are that point. "
    "Seconds are of a shared machine with two processors, on one of them."
)
ABOUT = {
    "networks": f"The committed networks. {_ALL} All runs of a data set are about the same "
    "held-out rows, those of the network's training, so the intervals are about the seeds alone: "
    "they do not hold how much other rows would differ.",
    "boosting": f"Histogram gradient boosting. {_ALL} Each seed draws a split of its own.",
    "others": "Histogram gradient boosting, the same splits as above. One target: the group that "
    "the original treats worst among the rows that are not held out. Half of the rows: a coin "
    "decides which rows get the new decision. All cells: each combination of sensitive values, "
    "those with one label only together. Half: the bound is half the target's difference, in "
    "place of 0.01; ten iterations at most. Play and thresholds are read at the loss of each run, "
    "on the line between their points on the held-out rows; beyond their last point they are that "
    "point, and the column before the last counts the runs for which that is so of the play.",
}

Row = dict[str, Any]


def kept(what: str, name: str) -> list[Row]:
    """Return the runs that were measured before."""
    path = KEPT / f"{what}-{name}.json"
    if not path.is_file():
        return []
    runs: list[Row] = json.loads(path.read_text(encoding="utf-8"))["runs"]
    return runs


def keep(what: str, name: str, run: Row) -> None:
    """Put a run beside those that are kept."""
    KEPT.mkdir(exist_ok=True)
    path = KEPT / f"{what}-{name}.json"
    with replacing_any_file():
        write_text(path, as_json({"runs": [*kept(what, name), run]}))


def boosting(name: str) -> Any:
    """Fit a gradient boosting to all rows of a data set."""
    specification = load_specification(name)
    assert isinstance(specification, DatasetSpecification)
    people = load_table(specification)
    return learner().fit(people.frame[list(specification.features)], people.labels)


def run_of(what: str, name: str, method: Method, seed: int) -> Row:
    """Return what a frontier comes to: that which is kept, or else measured now."""
    for run in kept(what, name):
        if (run["method"], run["seed"]) == (method, seed):
            return run
    model = boosting(name) if what == "boosting" else None
    started = time.perf_counter()
    result = fair_frontier(model, None, name, method=method, seed=seed, jobs=1)
    seconds = time.perf_counter() - started
    summary = result.summary
    run = {
        "method": method,
        "seed": seed,
        "status": summary.verdict.status,
        "exit": summary.verdict.exit_code,
        "accuracy": summary.before.accuracy,
        "worst": summary.worst_before.size,
        "groups": summary.groups,
        "held out": summary.split.held_out,
        "chosen": summary.chosen,
        "points": [
            [point.accuracy.drop, point.accuracy.balanced_drop, point.worst.size]
            for point in summary.points
        ],
        "expected": [
            [each.accuracy_drop, each.balanced_drop, abs(each.worst_after)]
            for each in (point.expected for point in summary.points)
        ],
        "headline": summary.verdict.headline,
        "seconds": seconds,
    }
    keep(what, name, run)
    print(what, name, method, seed, f"{seconds:.0f} s", summary.verdict.headline, flush=True)
    return run


def chosen_point(run: Row) -> list[float]:
    """Return the losses and the worst difference of what is written; the original's if nothing."""
    if run["chosen"] is None:
        return [0.0, 0.0, run["worst"]]
    point: list[float] = run["points"][run["chosen"]]
    return point


def points_text(shares: Any) -> str:
    """Write the mean of shares in points."""
    return mean_text(100 * np.asarray(shares))


def frontier_rows(what: str, name: str, method: str) -> list[list[str]]:
    """Write the runs of a data set and a method as a row."""
    runs = sorted(
        (run for run in kept(what, name) if run["method"] == method), key=lambda run: run["seed"]
    )
    if not runs:
        return []
    lost, balanced_lost, after = np.array([chosen_point(run) for run in runs]).T
    before = np.array([run["worst"] for run in runs])
    beside = ""
    if method != "thresholds":
        others = {run["seed"]: run for run in kept(what, name) if run["method"] == "thresholds"}
        if all(run["seed"] in others for run in runs):
            read = [at_loss(others[run["seed"]], chosen_point(run)[0]) for run in runs]
            beside = points_text(read)
    verdicts = Counter(f"{run['status'].replace('_', ' ')} ({run['exit']})" for run in runs)
    counts = ", ".join(f"{key}: {n}" for key, n in verdicts.items())
    return [[
        name, method, f"{len(runs)}", points_text([run["accuracy"] for run in runs]),
        points_text(lost), points_text(balanced_lost), points_text(before), points_text(after),
        points_text(after / before), beside, counts,
        f"{np.mean([run['seconds'] for run in runs]):.0f}",
    ]]  # fmt: skip


def other_methods(
    problem: Any, seed: int, plain: Any
) -> Iterator[tuple[str, Callable[[], list[tuple[str, Any]]]]]:
    """Name other methods, each with a call that returns its held-out decisions by name.

    `plain`: the fitted boosting that they are compared with.
    """
    from pandas import DataFrame
    from sklearn.base import clone

    from testsgd.mitigation import CounterSampleClassifier

    seen, held_out = problem.seen, problem.held_out
    specification = problem.material.specification
    features, sensitive = list(specification.features), list(specification.sensitive)
    X, X_new = problem.frame(seen)[features], problem.frame(held_out)[features]
    y = problem.favourable[seen].astype(int)
    before = plain.predict(X_new).astype(bool)
    [rate] = problem.rates(seen).rates
    differences = rate.differences(plain.predict(X).astype(bool))[0]
    index = int(np.abs(differences).argmax())
    cells = rate.groups.rule_sets.members(np.array([index]), problem.contingency)[0]
    member = cells[problem.contingency.cell_of_row].astype(int)
    coin = np.random.default_rng(seed).random(len(held_out)) < 0.5
    weight_name = f"{plain.steps[-1][0]}__sample_weight"

    def dropped() -> list[tuple[str, Any]]:
        rest = [each for each in features if each not in sensitive]
        return [("", clone(plain).fit(X[rest], y).predict(X_new[rest]))]

    def samples() -> list[tuple[str, Any]]:
        fair = CounterSampleClassifier(
            clone(plain), sensitive_features=sensitive, random_state=seed
        )
        return [("", fair.fit(X, y).predict(X_new))]

    def reweighed() -> list[tuple[str, Any]]:
        from aif360.algorithms.preprocessing import Reweighing
        from aif360.datasets import BinaryLabelDataset

        rows = DataFrame({"member": member[seen], "label": y})
        sides = [{"member": 0}], [{"member": 1}]
        dataset = BinaryLabelDataset(
            df=rows, label_names=["label"], protected_attribute_names=["member"]
        )
        method = Reweighing(unprivileged_groups=sides[0], privileged_groups=sides[1])
        weights = method.fit_transform(dataset).instance_weights
        return [
            (kind, clone(plain).fit(X, y, **{weight_name: weights**power}).predict(X_new))
            for kind, power in (("", 1.0), (", square root", 0.5))
        ]

    def optimised(values: Any) -> list[tuple[str, Any]]:
        from fairlearn.postprocessing import ThresholdOptimizer

        method = ThresholdOptimizer(
            estimator=clone(plain), constraints="demographic_parity", predict_method="predict_proba"
        )
        method.fit(X, y, sensitive_features=values[seen])
        fair = method.predict(X_new, sensitive_features=values[held_out], random_state=seed)
        return [("", fair), (", half of the rows", np.where(coin, fair, before))]

    def of_cells() -> list[tuple[str, Any]]:
        cell_of_row = problem.contingency.cell_of_row
        both = np.stack([
            np.bincount(cell_of_row[seen][y == label], minlength=problem.contingency.cells)
            for label in (0, 1)
        ])  # fmt: skip
        # It refuses cells whose rows all have the same label: these are one together, with the
        # smallest other cell.
        fewest = both.min(axis=0)
        together = (fewest == 0) | (fewest == fewest[fewest > 0].min())
        return optimised(np.where(together[cell_of_row], -1, cell_of_row))

    def gradient() -> list[tuple[str, Any]]:
        from fairlearn.reductions import DemographicParity, ExponentiatedGradient

        found = []
        for kind, bound in (("", 0.01), (", half", abs(differences[index]) / 2)):
            method = ExponentiatedGradient(
                clone(plain),
                DemographicParity(difference_bound=bound),
                max_iter=10,
                sample_weight_name=weight_name,
            )
            method.fit(X, y, sensitive_features=member[seen])
            found.append((kind, method.predict(X_new, random_state=seed)))
        return found

    yield "without the sensitive inputs", dropped
    yield "testsgd, samples", samples
    if find_spec("aif360") is not None:
        yield "AIF360 Reweighing, one target", reweighed
    if find_spec("fairlearn") is not None:
        yield "fairlearn ThresholdOptimizer, one target", lambda: optimised(member)
        yield "fairlearn ThresholdOptimizer, all cells", of_cells
        yield "fairlearn ExponentiatedGradient, one target", gradient


def measure_others(name: str, seed: int) -> None:
    """Measure other methods on the split of a run of the frontier, and keep what they come to."""
    frontiers = [run_of("boosting", name, method, seed) for method in METHODS["boosting"]]
    inputs = mitigation_inputs(boosting(name), None, name, seed=seed)
    problem = Problem(
        loaded=inputs.loaded,
        material=inputs.material,  # type: ignore[arg-type]  # of a table, as the data are
        parameters=FrontierParameters(seed=seed),
    )
    specification = problem.material.specification
    assert isinstance(specification, DatasetSpecification)
    features = list(specification.features)
    labels, rates = problem.favourable[problem.held_out], problem.rates(problem.held_out)
    plain = seeded_clone(learner(), seed).fit(
        problem.frame(problem.seen)[features], problem.favourable[problem.seen].astype(int)
    )
    before = plain.predict(problem.frame(problem.held_out)[features]).astype(bool)
    worst = float(np.abs(rates.differences(before)).max())
    first = frontiers[0]
    found = (float((before == labels).mean()), worst)
    if not np.allclose(found, (first["accuracy"], first["worst"]), atol=1e-5):
        raise SystemExit(f"{name} {seed}: {found} is not the original of the frontier's run")
    measured = [run["method"] for run in kept("others", name) if run["seed"] == seed]
    for method, call in other_methods(problem, seed, plain):
        if any(each.startswith(method) for each in measured):
            continue
        started = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            decided = call()
        seconds = (time.perf_counter() - started) / len(decided)
        for kind, given in decided:
            after = np.asarray(given).astype(bool)
            keep("others", name, {
                "method": method + kind,
                "seed": seed,
                "lost": float((before == labels).mean() - (after == labels).mean()),
                "balanced lost": balanced(before, labels) - balanced(after, labels),
                "worst before": worst,
                "worst": float(np.abs(rates.differences(after)).max()),
                "seconds": seconds,
            })  # fmt: skip
            print(name, seed, json.dumps(kept("others", name)[-1]), flush=True)


def at_loss(run: Row, lost: float) -> float:
    """Return the worst difference along a frontier's held-out points at a loss of accuracy.

    Between points it is on the line; beyond the last it is that of the last.
    """
    points = sorted([[0.0, run["worst"]], *([drop, worst] for drop, _, worst in run["points"])])
    drops, worst = np.array(points).T
    return float(np.interp(lost, drops, worst))


def other_rows(name: str) -> list[list[str]]:
    """Write what other methods come to, a row each, beside the frontier at the same accuracy."""
    runs = kept("others", name)
    rows = []
    for method in dict.fromkeys(run["method"] for run in runs):
        own = [run for run in runs if run["method"] == method]
        columns: dict[Method, list[float]] = {kind: [] for kind in METHODS["boosting"]}
        beyond = 0
        for run in own:
            for kind, read in columns.items():
                frontier = run_of("boosting", name, kind, run["seed"])
                read.append(at_loss(frontier, run["lost"]))
                losses = [0.0, *(point[0] for point in frontier["points"])]
                beyond += kind == "play" and not min(losses) <= run["lost"] <= max(losses)
        rows.append([
            name, method, f"{len(own)}",
            *(points_text([run[key] for run in own]) for key in ("lost", "worst before", "worst")),
            *(points_text(read) for read in columns.values()),
            f"{beyond}", f"{np.mean([run['seconds'] for run in own]):.1f}",
        ])  # fmt: skip
    return rows


def beyond_expected(name: str) -> str:
    """Write how much more the points of plays lost on the held-out rows than was expected."""
    gaps = [
        np.mean(np.array(run["points"])[:, 0] - np.array(run["expected"])[:, 0])
        for run in kept("boosting", name)
        if run["method"] == "play"
    ]
    return f"{name} {points_text(gaps)}"


def write_tables(what: str) -> None:
    """Print a table of all runs that are kept, and write it into the page."""
    if what == "others":
        heading, rows = OTHERS_HEADING, [row for name in NAMES[what] for row in other_rows(name)]
    else:
        heading = HEADING
        rows = [
            row
            for name in NAMES[what]
            for method in METHODS[what]
            for row in frontier_rows(what, name, method)
        ]
    text = f"{ABOUT[what]}\n\n{table(heading, rows)}"
    if what == "boosting":
        gaps = ", ".join(beyond_expected(name) for name in NAMES[what])
        text += f"\n\nMore accuracy lost than was expected, means of all points of a play: {gaps}."
    print(text)
    fill_marked(PAGE, {MARKS[what]: text})


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--what", choices=list(MARKS), required=True)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    for name in () if given.table else given.names or NAMES[given.what]:
        for seed in range(given.repetitions):
            if given.what == "others":
                measure_others(name, seed)
                continue
            for method in METHODS[given.what]:
                run_of(given.what, name, method, seed)
    write_tables(given.what)


if __name__ == "__main__":
    main()

"""Audits of predictions by metrics: seconds, memory, and other packages on the same groups.

``python -m benchmarks.metric_cases`` measures everything and puts the tables into
docs/benchmarks.md; ``--only census,own_effects,command`` some of it, by the names in ``CASES``.
Census needs the real data (TESTSGD_DATA_HOME). Streaming writes a Parquet file of 100 million
rows into a temporary folder.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

import testsgd
from benchmarks.conjunction_speed import rows as conjunctions
from benchmarks.marked_page import Marks, fill_marked, table
from benchmarks.measure import machine, memory_now, memory_peak, side_by_side
from testsgd.data import load_specification, load_table
from testsgd.metrics.cells import DENOMINATOR, NUMERATOR, MetricCells, cells_of_rows
from testsgd.metrics.definitions import resolve_metrics
from testsgd.metrics.given_predictions import read_predictions
from testsgd.metrics.shared_steps import table_of
from testsgd.models import load_model
from testsgd.rules import lay_out, sensitive_axes

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
MARKS: Marks = (
    "<!-- metrics: python -m benchmarks.metric_cases -->",
    "<!-- metrics end -->",
)
METRICS = ["selection_rate", "true_positive_rate", "false_positive_rate", "precision", "accuracy"]
ROWS = 10_000_000
STREAMED = 100_000_000
HEADING = ["what", "measured", "aim"]

# A process of its own, so that its peak of memory is that of the audit alone.
_STREAM = """
import sys, time, resource
import duckdb
from testsgd.metrics import audit_rows_elsewhere
duckdb.execute(f"SET memory_limit = '1GB'; SET threads = {sys.argv[2]}")
started = time.perf_counter()
result = audit_rows_elsewhere(
    duckdb.read_parquet(sys.argv[1]),
    predictions="approved", label="repaid", sensitive_features=["sex", "race", "age"],
    metrics=["selection_rate", "equalized_odds"],
)
seconds = time.perf_counter() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(f"{seconds:.1f} {peak:.2f} {result.summary.data.rows}")
"""


def counting() -> list[list[str]]:
    """Count rows of three sensitive features in memory."""
    source = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            name: pd.Categorical.from_codes(source.integers(0, size, ROWS), list("ABCDEFGH")[:size])
            for name, size in (("sex", 2), ("race", 5), ("age", 6))
        }
    )
    said, true = source.random(ROWS) < 0.4, source.random(ROWS) < 0.5
    people = table_of(frame, features=None, name="people")
    predictions = read_predictions(said, true, rows=ROWS)
    axes = sensitive_axes(people)

    def count(names: list[str]) -> Callable[[], Any]:
        return lambda: cells_of_rows(lay_out(people, axes), predictions, resolve_metrics(names))

    times = side_by_side(5, one=count(METRICS[:1]), five=count(METRICS))
    aims = {"one": "20 million rows a second", "five": ""}
    words = {"one": "selection rate", "five": "five metrics"}
    return [
        [
            f"counting {ROWS:,} rows, 3 sensitive features, {words[name]}, one thread",
            f"{taken.median:.2f} s: {ROWS / taken.median / 1e6:.1f} million rows a second",
            aims[name],
        ]
        for name, taken in times.items()
    ]


# The first call of a process, of predictions and sensitive features that are in memory.
_FIRST_CALL = """
import sys, time
import pandas as pd
import testsgd
people = pd.read_csv(sys.argv[1])
said, true = people.pop("said"), people.pop("true")
started = time.perf_counter()
testsgd.audit_predictions(said, true, sensitive_features=people, metrics=sys.argv[2].split(","))
print(time.perf_counter() - started)
"""


def streaming() -> list[list[str]]:
    """Count 100 million rows of a Parquet file that is not read into memory."""
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "decisions.parquet"
        duckdb.execute(
            f"COPY (SELECT CASE WHEN random() < 0.5 THEN 'f' ELSE 'm' END AS sex, "
            f"CAST(floor(random() * 5) AS INTEGER) AS race, "
            f"CAST(18 + floor(random() * 70) AS INTEGER) AS age, "
            f"random() < 0.4 AS approved, random() < 0.5 AS repaid "
            f"FROM range({STREAMED})) TO '{path}' (FORMAT parquet)"
        )
        size = path.stat().st_size / 2**20
        found = {threads: _streamed(path, threads) for threads in (1, 2)}
    return [
        [
            f"{rows:,} rows of Parquet ({size:,.0f} MiB), 3 sensitive features, 3 metrics, "
            f"counted by DuckDB on {threads} thread{'s' if threads > 1 else ''}",
            f"{seconds:.1f} s, peak of memory {peak:.2f} GiB",
            "60 s, 2 GB" if threads > 1 else "",
        ]
        for threads, (seconds, peak, rows) in found.items()
    ]


def _streamed(path: Path, threads: int) -> tuple[float, float, int]:
    """Audit a file in a process of its own; return seconds, the peak of memory in GiB, rows."""
    finished = subprocess.run(
        [sys.executable, "-c", _STREAM, str(path), str(threads)],
        check=True,
        capture_output=True,
        text=True,
    )
    # DuckDB may show its progress before it.
    seconds, peak, rows = finished.stdout.split()[-3:]
    return float(seconds), float(peak), int(rows)


def _census() -> tuple[pd.DataFrame, Any, Any]:
    specification = load_specification("census")
    people = load_table(specification)  # type: ignore[arg-type]
    model = load_model(None, specification).model  # type: ignore[arg-type]
    assert people.labels is not None
    sensitive = people.frame[list(people.specification.sensitive)]
    true = (people.labels == people.specification.label.favourable).to_numpy()
    return sensitive.reset_index(drop=True), model.decisions(people.frame), true


def census() -> list[list[str]]:
    """Audit Census by one metric and by five."""
    sensitive, said, true = _census()

    def audit(names: list[str]) -> Callable[[], Any]:
        return lambda: testsgd.audit_metrics(
            said, true, sensitive_features=sensitive, metrics=names
        )

    times = side_by_side(
        5,
        whole=lambda: testsgd.audit_predictions(said, sensitive_features=sensitive),
        one=audit(METRICS[:1]),
        five=audit(METRICS),
    )
    whole, one, five = times["whole"], times["one"], times["five"]
    groups = audit(METRICS)().summary.groups_compared
    return [
        ["Census, selection rate alone: `audit_predictions`, no metric named", f"{whole}", ""],
        [f"Census, selection rate alone, {groups:,} groups with intervals", f"{one}", ""],
        [
            "Census, five metrics with intervals",
            f"{five}: {five.median / whole.median:.2f} x the audit of the selection rate, "
            f"{five.median / one.median:.2f} x that of metrics with one",
            "",
        ],
    ]


def first_call() -> list[list[str]]:
    """Audit Census by one metric and by five, each as the first call of a process."""
    sensitive, said, true = _census()
    seconds: dict[int, list[float]] = {1: [], len(METRICS): []}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        sensitive.assign(said=said.astype(int), true=true.astype(int)).to_csv(path, index=False)
        for _ in range(7):
            for many, measured in seconds.items():
                script = [sys.executable, "-c", _FIRST_CALL, str(path), ",".join(METRICS[:many])]
                ran = subprocess.run(script, check=True, capture_output=True, text=True)
                measured.append(float(ran.stdout))
    one, five = (median(measured) for measured in seconds.values())
    return [
        ["the first call of a process, selection rate alone, with intervals", f"{one:.2f} s", ""],
        [
            "the first call of a process, five metrics with intervals",
            f"{five:.2f} s: {five / one:.2f} x that of selection rate alone",
            "2 x",
        ],
    ]


def peers() -> list[list[str]]:
    """Compute the metrics of the groups of single values beside other packages."""
    from fairlearn.metrics import (
        MetricFrame,
        false_positive_rate,
        selection_rate,
        true_positive_rate,
    )
    from sklearn.metrics import accuracy_score, precision_score

    sensitive, said, true = _census()
    people = table_of(sensitive, features=None, name="census")
    axes = sensitive_axes(people)
    binned = pd.DataFrame(
        {axis.feature: np.array(axis.labels)[axis.cells(people)] for axis in axes}
    )
    functions = {
        "selection_rate": selection_rate,
        "true_positive_rate": true_positive_rate,
        "false_positive_rate": false_positive_rate,
        "precision": lambda y_true, y_pred: precision_score(y_true, y_pred, zero_division=0),
        "accuracy": accuracy_score,
    }

    def by_fairlearn() -> Any:
        return MetricFrame(
            metrics=functions, y_true=true, y_pred=said, sensitive_features=binned
        ).by_group

    def by_testsgd() -> Any:
        predictions = read_predictions(said, true, rows=len(said))
        return cells_of_rows(lay_out(people, axes), predictions, resolve_metrics(METRICS))

    actions: dict[str, Callable[[], Any]] = {"fairlearn": by_fairlearn, "testsgd": by_testsgd}
    try:
        from divexplorer import DivergenceExplorer
    except ImportError:
        pass
    else:
        items = binned.assign(said=said.astype(int))

        def by_divexplorer() -> Any:
            return DivergenceExplorer(items).get_pattern_divergence(
                min_support=1e-9, attributes=list(binned.columns), boolean_outcomes=["said"]
            )

        actions["divexplorer"] = by_divexplorer
    counted = by_testsgd()
    what = {}
    try:
        from aequitas.group import Group
    except ImportError:
        pass
    else:
        # Aequitas takes texts as objects only.
        crossed = binned.astype(object).assign(score=said.astype(int), label_value=true.astype(int))

        def by_aequitas() -> Any:
            # It changes the frame that it is given.
            return Group().get_crosstabs(crossed.copy(), attr_cols=list(binned.columns))[0]

        actions["aequitas"] = by_aequitas
        groups, gap = _largest_gap(by_aequitas(), counted)
        what["aequitas"] = (
            f"Aequitas' crosstabs, the {groups} groups of single values, all its metrics; its "
            "selection rates, true and false positive rates differ from testsgd's by at most "
            f"{gap:.1g}"
        )
    times = side_by_side(3, **actions)
    cells = counted.contingency.cells
    ours = times["testsgd"].median
    what |= {
        "fairlearn": f"fairlearn's MetricFrame, the {cells} intersections of Census, 5 metrics",
        "divexplorer": "DivExplorer, all itemsets of the same, selection rate only",
        "testsgd": f"testsgd, the {cells} intersections, 5 metrics, from the checked table",
    }
    return [
        [what[name], f"{taken}: {taken.median / ours:,.0f} x", ""] for name, taken in times.items()
    ]


# What Aequitas calls the first three metrics. Its "ppr" is another: the group's share of all rows
# that are selected.
_AEQUITAS = ("pprev", "tpr", "fpr")


def _largest_gap(crosstabs: pd.DataFrame, counted: MetricCells) -> tuple[int, float]:
    """Compare the values of Aequitas with those of testsgd; return the groups and the largest gap.

    A group that is not in both is an error, and so is a gap that is more than rounding.
    """
    contingency = counted.contingency
    theirs = crosstabs.set_index(["attribute_name", "attribute_value"])
    groups, gaps = 0, []
    for place, axis in enumerate(contingency.axes):
        for cell, label in enumerate(axis.labels):
            inside = contingency.coordinates[:, place] == cell
            if not inside.any():
                continue
            groups += 1
            row = theirs.loc[(axis.feature, label)]
            for metric, name in enumerate(_AEQUITAS):
                sums = counted.sums[metric][:, inside].sum(axis=1)
                gaps.append(abs(float(row[name]) - float(sums[NUMERATOR] / sums[DENOMINATOR])))
    # NaN, if a value is unknown to one of them.
    largest = float(np.max(gaps))
    if groups != len(theirs) or not largest < 1e-9:
        raise AssertionError(f"{groups} groups and {len(theirs)}; values differ by {largest}")
    return groups, largest


def command() -> list[list[str]]:
    """Audit a column of predictions of Census from the shell, by one metric and by all."""
    sensitive, said, true = _census()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        people = sensitive.assign(
            approved=np.where(said, "yes", "no"), income=np.where(true, "yes", "no")
        )
        people.to_csv(path, index=False)

        def audit(*options: str) -> Callable[[], Any]:
            arguments = [
                *("--predictions", "approved", "--sensitive", ",".join(sensitive.columns)),
                *("--label", "income", "--out", folder, "--force", "--quiet", *options),
            ]
            command = [sys.executable, "-m", "testsgd", "audit", str(path), *arguments]
            return lambda: subprocess.run(command, check=True)

        times = side_by_side(
            5,
            whole=audit(),
            one=audit("--metrics", METRICS[0]),
            every=audit("--metrics", ",".join(METRICS)),
        )
    whole, one, every = times["whole"], times["one"], times["every"]
    ratio = every.median / one.median
    return [
        [
            "`testsgd audit people.csv --predictions approved` on Census, process start to report",
            f"{whole}",
            "3 s",
        ],
        [
            f"the same with `--metrics {METRICS[0]}`: selection rate alone, with intervals",
            f"{one}",
            "",
        ],
        [
            f"the same with the {len(METRICS)} metrics of decisions and labels, with intervals",
            f"{every}: {ratio:.2f} x that of selection rate alone",
            "2 x",
        ],
    ]


def depth() -> list[list[str]]:
    """Audit decisions by chance as deep as the default goes with four sensitive features."""
    source, rows = np.random.default_rng(0), 30_000
    sizes = {"sex": 2, "race": 5, "marital": 5}
    people = pd.DataFrame(
        {name: source.choice(list("ABCDE")[:size], rows) for name, size in sizes.items()}
    ).assign(age=source.integers(18, 90, rows))
    said = source.integers(0, 2, rows)

    def audit(metrics: list[str] | None) -> Callable[[], Any]:
        return lambda: testsgd.audit_predictions(said, sensitive_features=people, metrics=metrics)

    times = side_by_side(3, one=audit(None), metrics=audit(METRICS[:1]))
    summary = audit(None)().summary
    sets = f"{summary.counts.candidates:,} rule sets of up to {summary.parameters.depth} features"
    return [
        [f"audit of one rate, 30,000 rows, {sets}", f"{times['one']}", ""],
        ["audit of metrics, selection rate, the same", f"{times['metrics']}", ""],
    ]


def own_effects() -> list[list[str]]:
    """Ask the committed network of Census with the sensitive values of all combinations."""
    results = [
        testsgd.audit(None, None, "census", estimand="observed", min_rows=50, progress=False)
        for _ in range(3)
    ]
    seconds = sorted(result.summary.seconds["own effects"] for result in results)
    groups = results[0].summary.counts.groups
    combinations = results[0].findings.own_effects.queries // results[0].summary.data.rows
    return [
        [
            f"Census, the own effect of the sensitive features for all {groups:,} groups: the "
            f"network is asked about each row with the values of {combinations} combinations",
            f"{seconds[1]:.2f} s ({seconds[0]:.2f} to {seconds[2]:.2f})",
            "5 s",
        ]
    ]


CASES: dict[str, Callable[[], list[list[str]]]] = {
    "counting": counting,
    "streaming": streaming,
    "census": census,
    "first_call": first_call,
    "own_effects": own_effects,
    "peers": peers,
    "command": command,
    "depth": depth,
    "conjunctions": conjunctions,
}


def main(arguments: list[str]) -> None:
    """Measure some cases or all, and write the page if all were measured."""
    names = arguments[1].split(",") if arguments[:1] == ["--only"] else list(CASES)
    memory_now()
    rows: list[list[str]] = []
    for name in names:
        print(f"{name} ...", flush=True)
        found = CASES[name]()
        rows += found
        for row in found:
            print(" | ".join(row), flush=True)
    if names != list(CASES):
        return
    about = (
        "Medians of several runs in turn, in one process; the command and the file of 100 million "
        "rows each in a process of its own. Written by `python -m benchmarks.metric_cases`. "
        f"Measured on: {machine()}; the process's peak of memory was "
        f"{memory_peak() / 2**30:.1f} GiB."
    )
    fill_marked(PAGE, {MARKS: f"{about}\n\n{table(HEADING, rows)}"})


if __name__ == "__main__":
    main(sys.argv[1:])

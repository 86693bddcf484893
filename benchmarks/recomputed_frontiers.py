"""Whether the figures of written frontiers are those of their written models.

``python -m benchmarks.recomputed_frontiers`` lowers the worst difference of each committed network
as ``testsgd mitigate NAME`` does, writes the result and the model into a temporary folder, and
recomputes the figures from these files in a second process. It writes a table into
docs/mitigation.md. Names of data sets try fewer, and then the page stays as it is.

``--result reports/census-mitigated/result.json --model models/census-mitigated`` recomputes the
figures of a run that was made before, and prints each. The exit code is 1 if any figure differs.
What counts the figures is `benchmarks.recomputed_figures`; here testsgd reads the data and asks the
models.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.marked_page import Marks, fill_marked, table
from benchmarks.recomputed_figures import (
    Bools,
    Decide,
    Figure,
    SensitiveFeature,
    bin_edges,
    cell_names,
    recomputed_figures,
)
from testsgd.data import DatasetSpecification, load_specification, load_table
from testsgd.models import load_model

PAGE = Path(__file__).resolve().parent.parent / "docs" / "mitigation.md"
MARKS: Marks = (
    "<!-- recomputed: python -m benchmarks.recomputed_frontiers -->",
    "<!-- recomputed ends -->",
)
NAMES = ("census", "bank", "law", "compas", "crime", "credit")
MODEL_FILES = ("model.keras", "model.skops")
THRESHOLDS_FILE = "thresholds.json"
HEADING = [
    "data set", "accuracy, change", "balanced accuracy", "worst of all groups before", "after",
    "share left", "exit code", "recomputed",
]  # fmt: skip
ABOUT = (
    "One run each of the committed networks with the code as it is (`testsgd mitigate NAME`), on "
    "{day}. Held-out rows; changes and differences in selection rate in points; groups on crime "
    "have at most two rules, since more are not possible within 250,000 rule sets. Recomputed from "
    "the written files, in another process and by brute force over all groups, are which rows are "
    "held out, the number of groups, and accuracy, balanced accuracy and worst difference, before "
    "and after. Equal means to nine decimals. The exit code is not recomputed."
)


def sensitive_features(specification: DatasetSpecification) -> list[SensitiveFeature]:
    """Return what the sensitive features of a data set can be, from its description."""
    found = []
    for name in specification.sensitive:
        feature = specification.features[name]
        if feature.type == "categorical":
            found.append(SensitiveFeature(name))
            continue
        if feature.edges is not None:
            edges = tuple(feature.edges)
        else:
            low, high = feature.range or (0.0, 1.0)
            edges = bin_edges(
                low, high, bins=feature.bins or 10, whole_numbers=feature.type == "integer"
            )
        found.append(SensitiveFeature(name, edges=edges))
    return found


def with_thresholds(scores: Decide, file: Path, features: list[SensitiveFeature]) -> Decide:
    """Return what decides by scores and the thresholds of each combination of sensitive values."""
    content = json.loads(file.read_text(encoding="utf-8"))
    # Null: no score is enough.
    limits = {
        tuple(item["values"][feature.name] for feature in features): np.inf
        if item["threshold"] is None
        else item["threshold"]
        for item in content["thresholds"]
    }

    def decide(rows: pd.DataFrame) -> Bools:
        names = zip(*(cell_names(rows, feature) for feature in features), strict=True)
        return np.asarray(scores(rows) >= np.array([limits[each] for each in names], dtype=float))

    return decide


def recompute(result: Path, model_folder: Path) -> list[Figure]:
    """Recompute the figures of a run of a data set of the catalogue from its files.

    Parameters
    ----------
    result : pathlib.Path
        Its result.json.
    model_folder : pathlib.Path
        Where the model was written.

    Returns
    -------
    list of Figure

    Raises
    ------
    SystemExit
        If the files do not say enough.
    """
    summary: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    if not str(summary.get("schema")).startswith("testsgd.frontier/"):
        raise SystemExit(f"{result} is no result of a frontier")
    name = summary["data"]["name"]
    specification = load_specification(name)
    if not isinstance(specification, DatasetSpecification):
        raise SystemExit(f"{result}: {name} has texts, and a frontier is of rows")
    people = load_table(specification)
    people = people.sample(summary["data"]["rows"], seed=summary["settings"]["seed"])
    features = sensitive_features(specification)
    files = [model_folder / file for file in MODEL_FILES if (model_folder / file).is_file()]
    written: Any = load_model(files[0], specification).model if files else None
    thresholds = model_folder / THRESHOLDS_FILE
    # Thresholds of a refit are written beside it, and the refit is the model before.
    if summary["original"]["refitted"] and not thresholds.is_file():
        raise SystemExit(f"{result}: figures before are of a refit, which is not written")
    refit = written if summary["original"]["refitted"] else None
    original: Any = refit or load_model(None, specification).model
    after: Decide | None = None
    if thresholds.is_file():
        after = with_thresholds((written or original).scores, thresholds, features)
    elif written is not None:
        after = written.decisions
    return recomputed_figures(
        summary,
        people.frame,
        np.asarray(people.labels == specification.label.favourable),
        features,
        before=original.decisions,
        after=after,
    )


def print_figures(figures: list[Figure]) -> None:
    """Print each figure, and the recomputed one beside it."""
    rows = [
        [figure.name, f"{figure.printed}", f"{figure.recomputed}", "yes" if figure.equal else "NO"]
        for figure in figures
    ]
    print(table(["figure", "printed", "recomputed", "equal"], rows))


@dataclass(frozen=True)
class MeasuredRow:
    """A data set's row of the table."""

    cells: list[str]
    equal: bool  # Whether all figures are.


def measured_row(name: str, folder: Path) -> MeasuredRow:
    """Return a data set's row: run a frontier, and recompute its figures in a second process."""
    # The second process must not import what it checks, so the first does it here.
    from testsgd import fair_frontier

    result = fair_frontier(None, None, name)
    report, model = folder / f"{name}-report", folder / f"{name}-model"
    result.write(report)
    result.write_model(model)
    command = [sys.executable, "-m", "benchmarks.recomputed_frontiers", "--json"]
    files = ["--result", str(report / "result.json"), "--model", str(model)]
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run(
        [*command, *files], cwd=root, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode not in (0, 1) or not done.stdout:
        raise SystemExit(f"{name}: the figures could not be recomputed")
    figures = [Figure(**each) for each in json.loads(done.stdout)]
    print(f"\n{name}\n")
    print_figures(figures)
    differing = [each.name for each in figures if not each.equal]
    outcome = f"differs: {', '.join(differing)}" if differing else f"all {len(figures)} equal"
    summary = result.summary
    drops, after = (0.0, 0.0), summary.worst_before.size
    if summary.point is not None:
        drops = summary.point.accuracy.drop, summary.point.accuracy.balanced_drop
        after = summary.point.worst.size
    row = [
        name,
        *(f"{-100 * drop + 0.0:+.2f}" for drop in drops),
        f"{100 * summary.worst_before.size:.1f}",
        f"{100 * after:.1f}",
        f"{after / summary.worst_before.size:.0%}",
        f"{summary.verdict.exit_code}: {summary.verdict.status.replace('_', ' ')}",
        outcome,
    ]
    return MeasuredRow(row, equal=not differing)


def main() -> int:
    """Run, recompute, print and write; return 1 if a figure differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="data sets of the catalogue")
    parser.add_argument("--result", type=Path, help="result.json of a run that was made before")
    parser.add_argument("--model", type=Path, help="the folder that its model was written into")
    parser.add_argument("--json", action="store_true", help="print figures as JSON, with --result")
    given = parser.parse_args()
    if (given.result is None) != (given.model is None):
        parser.error("--result and --model belong together")
    if given.result is not None:
        try:
            figures = recompute(given.result, given.model)
        except ValueError as error:
            raise SystemExit(f"{given.result}: {error}") from error
        if given.json:
            print(json.dumps([vars(figure) for figure in figures]))
        else:
            print_figures(figures)
        return int(not all(figure.equal for figure in figures))

    with tempfile.TemporaryDirectory() as folder:
        measured = [measured_row(name, Path(folder)) for name in given.names or NAMES]
    day = date.today()
    about = ABOUT.format(day=f"{day.day} {day:%B %Y}")
    text = f"{about}\n\n{table(HEADING, (row.cells for row in measured))}"
    print(f"\n{text}")
    if not given.names:
        fill_marked(PAGE, {MARKS: text})
    return int(not all(row.equal for row in measured))


if __name__ == "__main__":
    sys.exit(main())

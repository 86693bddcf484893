"""The generated parts of docs/shields.md: tables between marks, and the figure."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.marked_page import fill_marked, percent, table
from benchmarks.shield_experiments.figure import draw
from benchmarks.shield_experiments.tasks import REMARKS, TASKS, Task
from testsgd.io import replacing_any_file, write_text

Row = dict[str, Any]

PROPERTIES = {
    "demographic_parity": "demographic parity",
    "equal_opportunity": "equal opportunity",
}
SHIELDS = {
    "static-fair": "Static-Fair",
    "static-bounded-welfare": "Static-BW",
    "dynamic": "Dynamic",
}
METHODS = ("ERM", "DiffDP", "HSIC")

# Table 9 of the paper: quantiles, mean, standard deviation, share above; over its five methods.
_PAPER_BIAS = {
    ("demographic_parity", "none"): "0.38, 0.83, 1.59; 1.22 ± 1.29; 42.46%",
    ("demographic_parity", "finite"): "0.18, 0.42, 0.74; 0.46 ± 0.31; 0.00%",
    ("equal_opportunity", "none"): "0.67, 1.76, 3.62; 2.76 ± 3.01; 65.06%",
    ("equal_opportunity", "finite"): "0.00, 0.21, 0.50; 0.27 ± 0.28; 0.00%",
}
# Tables 5 to 8 of the paper, of plain training, in percent: what _FIGURES names.
_PAPER_ERM = {
    "census-race": (85.2, 78.8, 91.2, 66.4, 10.9, 6.1),
    "census-gender": (85.2, 78.6, 91.1, 65.7, 16.5, 9.6),
    "bank-age": (91.3, 62.0, 94.2, 56.8, 10.5, 3.7),
    "compas-gender": (65.3, 62.8, 68.6, 58.6, 16.5, 18.1),
    "compas-race": (64.8, 63.3, 69.1, 59.8, 14.3, 15.5),
    "credit-gender": (75.5, 87.1, 77.4, 82.7, 5.3, 5.5),
    "credit-age": (74.7, 86.3, 76.1, 82.2, 13.8, 14.7),
}
_FIGURES = {
    "accuracy": "accuracy",
    "average_precision": "average precision",
    "area_under_curve": "AUC",
    "f1": "F1",
    "parity_gap": "gap of demographic parity",
    "opportunity_gap": "gap of equal opportunity",
}
# At which the table by data set is.
_ONE_THRESHOLD = 0.1


def fill(docs: Path, results: Row) -> list[Path]:
    """Write the figure, and the tables between their marks; give the files written.

    Raises
    ------
    SystemExit
        If the page is missing or lacks a pair of marks.
    """
    page = docs / "shields.md"
    fill_marked(page, {marks(name): part for name, part in tables(results).items()})
    picture = docs / "images" / "shields.svg"
    with replacing_any_file():
        write_text(picture, draw(results["one_period"]))
    return [page, picture]


def marks(name: str) -> tuple[str, str]:
    """Give the lines between which a table stands."""
    return f"<!-- {name}: make shields -->", f"<!-- {name} ends -->"


def tables(results: Row) -> dict[str, str]:
    """Make all tables, by the name in their marks."""
    one, several = results["one_period"], results["several_periods"]
    return {
        "shield settings": _settings_list(results),
        "shield groups": _groups(results["classifiers"]),
        "shield classifiers": _classifiers(results["classifiers"]),
        "shield fairness": _fairness(one),
        "shield bias": _bias(results["bias"]),
        "shield utility": _utility(one),
        "shield periods": _periods(several),
        "shield periods by bound": _by_threshold(several),
        "shield periods by data": _by_task(several),
        "shield utility by period": _utility_by_period(several),
    }


def _settings_list(results: Row) -> str:
    training, size = results["training"], results["size"]
    parity, opportunity = (size["dynamic_runs"][fairness] for fairness in PROPERTIES)
    lines = [
        f"- Networks: layers of 512, 256 and 64 units, Adam with {training['learning_rate']:g}, "
        f"{training['steps']} steps of 1,024 rows (German: 128); the penalty of DiffDP has weight "
        f"{training['diffdp']:g}, that of HSIC {training['hsic']:g}.",
        f"- Runs of one period: {size['runs']:,} for each classifier, property and bound.",
        f"- Runs of {size['periods']} periods, for each data set, property and bound: "
        f"{size['runs']:,}; of Dynamic shields {parity} (demographic parity) and {opportunity} "
        "(equal opportunity).",
        *(f"- {name}: {remark}." for name, remark in REMARKS.items()),
    ]
    wrapped = [
        part
        for line in lines
        for part in textwrap.wrap(line, 100, subsequent_indent="  ", break_on_hyphens=False)
    ]
    return "\n".join(wrapped)


def _groups(rows: list[Row]) -> str:
    lines = []
    for task in TASKS:
        first = next(row for row in rows if row["task"] == task.name)
        shares = [first["first_share"], 1 - first["first_share"]]
        groups = " / ".join(
            f"{group} {percent(share)}" for group, share in zip(task.groups, shares, strict=True)
        )
        label = percent(first["label_share"])
        lines.append([_name(task), groups, label, f"{first['test_rows']:,}"])
    return table(["data", "groups", "label 1", "test rows"], lines)


def _classifiers(rows: list[Row]) -> str:
    lines = []
    for task in TASKS:
        for method in METHODS:
            (row,) = _of(rows, task=task.name, method=method)
            figures = [percent(row[figure], sign="") for figure in _FIGURES]
            lines.append([_name(task), method, *figures])
        paper = [f"{value:.1f}" for value in _PAPER_ERM[task.name]]
        lines.append([_name(task), "ERM in the paper", *paper])
    return table(["data", "training", *_FIGURES.values()], lines)


def _name(task: Task) -> str:
    return f"{task.data}, {task.attribute}"


def _fairness(rows: list[Row]) -> str:
    lines = []
    for fairness, bound in _settings(rows):
        cells = []
        for method in METHODS:
            here = _of(rows, fairness=fairness, bound=bound, method=method)
            cells.append(percent(_mean(here, "above_unshielded")))
        here = _of(rows, fairness=fairness, bound=bound)
        runs = sum(row["runs"] for row in here)
        above = round(sum(row["above"] * row["runs"] for row in here))
        changed = percent(_mean(here, "cost"))
        lines.append(
            [PROPERTIES[fairness], f"{bound:g}", *cells, f"{above:,} of {runs:,}", changed]
        )
    heading = [
        "property",
        "bound",
        *(f"above it, {method}" for method in METHODS),
        "above it with the shield",
        "decisions changed",
    ]
    return table(heading, lines)


def _bias(rows: list[Row]) -> str:
    lines = []
    for row in rows:
        shield = "none" if row["shield"] == "none" else "FinHzn"
        quantiles = ", ".join(f"{value:.2f}" for value in row["quantiles"])
        lines.append(
            [
                PROPERTIES[row["fairness"]],
                shield,
                f"{quantiles}; {row['mean']:.2f} ± {row['deviation']:.2f}; "
                f"{100 * row['above']:.2f}%",
                _PAPER_BIAS[row["fairness"], row["shield"]],
            ]
        )
    return table(["property", "shield", "here", "paper"], lines)


def _utility(rows: list[Row]) -> str:
    lines = []
    for fairness, bound in _settings(rows):
        cells = [
            percent(
                _mean(
                    _of(rows, fairness=fairness, bound=bound, method=method),
                    "utility_loss",
                ),
                digits=2,
                sign="",
            )
            for method in METHODS
        ]
        lines.append([PROPERTIES[fairness], f"{bound:g}", *cells])
    return table(["property", "bound", *METHODS], lines)


def _periods(rows: list[Row]) -> str:
    lines = []
    for fairness, shield in _kinds(rows):
        here = _of(rows, fairness=fairness, shield=shield)
        lines.append(
            [
                PROPERTIES[fairness],
                SHIELDS[shield],
                "yes" if shield == "dynamic" else "no",
                f"{sum(row['runs'] for row in here):,}",
                percent(_mean(here, "assumption")),
                percent(_mean(here, "assumption_of_periods")),
                percent(1 - _mean(here, "above")),
                percent(_mean(here, "fair_periods")),
                percent(_mean(here, "fair_periods_unshielded")),
                f"{sum(row['broken'] for row in here)}",
                percent(_mean(here, "cost")),
                percent(_mean(here, "utility_loss"), digits=2, sign=""),
            ]
        )
    heading = [
        "property", "shield", "solved anew", "runs", "assumption held in all periods of a run",
        "in a period", "fair after every period", "after a period", "without a shield",
        "unfair where guaranteed", "decisions changed", "utility loss, points",
    ]  # fmt: skip
    return table(heading, lines)


def _by_threshold(rows: list[Row]) -> str:
    bounds = sorted({row["bound"] for row in rows})

    def cell(here: list[Row], bound: float) -> str:
        at = _of(here, bound=bound)
        return (
            f"{percent(1 - _mean(at, 'above'))} / {percent(_mean(at, 'assumption'))} / "
            f"{percent(_mean(at, 'utility_loss'), digits=2, sign='')}"
        )

    lines = [
        [
            PROPERTIES[fairness],
            SHIELDS[shield],
            *(cell(_of(rows, fairness=fairness, shield=shield), bound) for bound in bounds),
        ]
        for fairness, shield in _kinds(rows)
    ]
    caption = (
        "By bound: runs that are fair after every period / runs in which the assumption held "
        "in every period / utility loss in points."
    )
    heading = ["property", "shield", *(f"{value:g}" for value in bounds)]
    return f"{caption}\n\n{table(heading, lines)}"


def _by_task(rows: list[Row]) -> str:
    lines = []
    for fairness, shield in _kinds(rows):
        here = _of(rows, fairness=fairness, shield=shield, bound=_ONE_THRESHOLD)
        cells = []
        for task in TASKS:
            at = _of(here, task=task.name)
            cells.append(f"{percent(1 - _mean(at, 'above'))} / {percent(_mean(at, 'assumption'))}")
        lines.append([PROPERTIES[fairness], SHIELDS[shield], *cells])
    caption = (
        f"By data set, at bound {_ONE_THRESHOLD:g}: runs that are fair after every period / "
        "runs in which the assumption held in every period."
    )
    heading = ["property", "shield", *map(_name, TASKS)]
    return f"{caption}\n\n{table(heading, lines)}"


def _utility_by_period(rows: list[Row]) -> str:
    lines = []
    for fairness, shield in _kinds(rows):
        here = _of(rows, fairness=fairness, shield=shield)
        losses = np.mean([row["utility_loss_of_periods"] for row in here], axis=0)
        cells = [percent(value, digits=2, sign="") for value in losses]
        lines.append([PROPERTIES[fairness], SHIELDS[shield], *cells])
    periods = len(rows[0]["utility_loss_of_periods"])
    heading = ["property", "shield", *(str(1 + period) for period in range(periods))]
    return f"Utility loss by period, in points.\n\n{table(heading, lines)}"


def _settings(rows: list[Row]) -> list[tuple[str, float]]:
    return list(dict.fromkeys((row["fairness"], row["bound"]) for row in rows))


def _kinds(rows: list[Row]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((row["fairness"], row["shield"]) for row in rows))


def _of(rows: list[Row], **wanted: Any) -> list[Row]:
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def _mean(rows: list[Row], figure: str) -> float:
    return float(np.mean([row[figure] for row in rows]))

"""Summaries to render: a small audit of made-up census rows, whose numbers all agree."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import cache
from itertools import product
from math import sqrt
from typing import Any

from testsgd.auditing.report.summary import AuditSummary

LABEL = ">50K"
GENDERS = {"Female": 0.33, "Male": 0.67}
RACES = {
    "White": 0.85,
    "Black": 0.096,
    "Asian-Pac-Islander": 0.031,
    "Amer-Indian-Eskimo": 0.010,
    "Other": 0.013,
}
AGES = {0: 0.055, 20: 0.245, 30: 0.265, 40: 0.215, 50: 0.135, 60: 0.06, 70: 0.02, 80: 0.005}
ROWS = 48_842
ALL_RACES = tuple(RACES)

Cell = tuple[str, str, int]


def _cells() -> dict[Cell, tuple[int, float]]:
    """Rows and rate for each gender, race and decade of age."""
    by_age = {0: 0.0, 20: 0.05, 30: 0.22, 40: 0.34, 50: 0.33, 60: 0.2, 70: 0.12, 80: 0.09}
    by_race = {"White": 1.0, "Black": 0.45, "Asian-Pac-Islander": 1.1}
    cells = {}
    for (gender, race, age), share in {
        (g, r, a): GENDERS[g] * RACES[r] * AGES[a] for g, r, a in product(GENDERS, RACES, AGES)
    }.items():
        rate = by_age[age] * by_race.get(race, 0.5) * (1.3 if gender == "Male" else 0.3)
        cells[gender, race, age] = (round(ROWS * share), min(rate, 0.95))
    return cells


CELLS = _cells()
TOTAL = sum(n for n, _ in CELLS.values())


def _rate(chosen: list[Cell]) -> tuple[int, float | None]:
    n = sum(CELLS[cell][0] for cell in chosen)
    if n == 0:
        return 0, None
    return n, sum(CELLS[cell][0] * CELLS[cell][1] for cell in chosen) / n


OVERALL = _rate(list(CELLS))[1] or 0.0


def _age_rule(low: int, high: int) -> dict[str, Any]:
    ends = {"low": low or None, "high": None if high == 90 else high}
    if low == 0:
        return {"feature": "age", "text": f"age < {high}", **ends}
    if high == 90:
        return {"feature": "age", "text": f"age >= {low}", **ends}
    return {"feature": "age", "text": f"{low} <= age < {high}", **ends}


def _rule_options() -> list[list[tuple[dict[str, Any], Callable[[Cell], bool]] | None]]:
    def value(feature: str, position: int, values: tuple[str, ...]) -> Any:
        joined = ", ".join(values)
        text = f"{feature} = {joined}" if len(values) == 1 else f"{feature} in {{{joined}}}"
        rule = {"feature": feature, "values": list(values), "text": text}
        return rule, lambda cell: cell[position] in values

    def age(low: int, high: int) -> Any:
        return _age_rule(low, high), lambda cell: low <= cell[2] < high

    pairs = (("White", "Asian-Pac-Islander"), ("Black", "Amer-Indian-Eskimo", "Other"))
    bounds = (*AGES, 90)
    spans = [(a, b) for a, b in product(bounds, bounds) if a < b and (a, b) != (0, 90)]
    return [
        [None, *(value("gender", 0, (gender,)) for gender in GENDERS)],
        [None, *(value("race", 1, values) for values in [*((r,) for r in RACES), *pairs])],
        [None, *(age(low, high) for low, high in spans)],
    ]


def _compare(rules: list[Any]) -> dict[str, Any]:
    inside = [cell for cell in CELLS if all(test(cell) for _, test in rules)]
    outside = [cell for cell in CELLS if cell not in inside]
    (n_in, rate_in), (n_out, rate_out) = _rate(inside), _rate(outside)
    text = " and ".join(rule["text"] for rule, _ in rules)
    return {
        "text": text,
        "n_in": n_in,
        "n_out": n_out,
        "rate_in": rate_in,
        "rate_out": rate_out,
        "difference": None if rate_in is None or rate_out is None else rate_in - rate_out,
        "cells": set(inside),
    }


def _overlap(one: set[Cell], other: set[Cell]) -> float:
    def rows(cells: set[Cell]) -> int:
        return sum(CELLS[cell][0] for cell in cells)

    return rows(one & other) / rows(one | other)


def _groups(top: int = 40) -> tuple[list[dict[str, Any]], list[dict[str, Any]], int, int]:
    """Find the frequent groups as an audit would, from the cells alone."""
    found, candidates = [], 0
    for choice in product(*_rule_options()):
        rules = [option for option in choice if option is not None]
        if not rules:
            continue
        candidates += 1
        measured = _compare(rules)
        if measured["n_in"] < 0.05 * TOTAL or measured["difference"] is None:
            continue
        found.append((rules, measured))
    found.sort(key=lambda item: -abs(item[1]["difference"]))
    groups: list[dict[str, Any]] = []
    distinct: list[set[Cell]] = []
    for rank, (rules, measured) in enumerate(found, start=1):
        cells = measured.pop("cells")
        new = all(_overlap(cells, other) < 0.5 for other in distinct)
        if new:
            distinct.append(cells)
        if rank <= top or (new and len(distinct) <= 12):
            groups.append(_group(rank, rules, measured, new))
    scatter = [
        {"support": m["n_in"] / TOTAL, "score": abs(m["difference"]), "n": 1} for _, m in found
    ]
    return groups, scatter, candidates, len(found)


def _group(rank: int, rules: list[Any], measured: dict[str, Any], distinct: bool) -> dict[str, Any]:
    p, q, n, m = (measured[key] for key in ("rate_in", "rate_out", "n_in", "n_out"))
    half = 1.96 * sqrt(p * (1 - p) / n + q * (1 - q) / m)
    alone = []
    for rule in rules:
        part = _compare([rule])
        keys = ("text", "n_in", "rate_in", "rate_out", "difference")
        alone.append({key: part[key] for key in keys})
    return measured | {
        "rank": rank,
        "rules": [rule for rule, _ in rules],
        "support": n / TOTAL,
        "score": abs(measured["difference"]),
        "margin": 0.0,
        "margin_method": "none",
        "confidence_interval": (measured["difference"] - half, measured["difference"] + half),
        "exact": True,
        "samples_in": n * 22,
        "samples_out": m * 22,
        "decided": True,
        "distinct": distinct,
        "rules_alone": alone,
    }


def _charts(scatter: list[dict[str, Any]]) -> dict[str, Any]:
    axes: list[tuple[str, list[tuple[str, Any]]]] = [
        ("gender", [(g, g) for g in GENDERS]),
        ("race", [(r, r) for r in RACES]),
        ("age", [(_age_rule(a, a + 10)["text"] if a else "age < 20", a) for a in AGES]),
    ]

    def rates(chosen: dict[int, Any]) -> tuple[int, float | None]:
        return _rate([cell for cell in CELLS if all(cell[i] == v for i, v in chosen.items())])

    features, maps = [], []
    for i, (feature, values) in enumerate(axes):
        cells = []
        for label, value in values:
            n, rate = rates({i: value})
            cells.append({"label": label, "n": n, "rate": rate})
        features.append({"feature": feature, "cells": cells})
        for j in range(i + 1, len(axes)):
            pairs = [[rates({i: v, j: w}) for _, w in axes[j][1]] for _, v in values]
            maps.append(
                {
                    "row_feature": feature,
                    "column_feature": axes[j][0],
                    "row_labels": [label for label, _ in values],
                    "column_labels": [label for label, _ in axes[j][1]],
                    "rates": [[rate for _, rate in row] for row in pairs],
                    "counts": [[n for n, _ in row] for row in pairs],
                }
            )
    return {"scatter": scatter, "scatter_binned": False, "features": features, "heat_maps": maps}


def _features() -> list[dict[str, Any]]:
    numeric = {
        "education_num": "1 to 16",
        "hours_per_week": "1 to 99",
        "capital_gain": "0 to 99999",
    }
    rows: list[dict[str, Any]] = [
        {"name": "age", "type": "integer", "sensitive": True, "domain": "0 to 90", "missing": 0},
        {"name": "gender", "type": "categorical", "sensitive": True, "domain": ", ".join(GENDERS)},
        {"name": "race", "type": "categorical", "sensitive": True, "domain": ", ".join(RACES)},
    ]
    for name, domain in numeric.items():
        rows.append({"name": name, "type": "integer", "sensitive": False, "domain": domain})
    rows.append(
        {
            "name": "workclass",
            "type": "categorical",
            "sensitive": False,
            "domain": "Private, Self-emp-not-inc, Local-gov, State-gov, Federal-gov, Without-pay",
            "missing": 2799,
        }
    )
    return [{"missing": 0} | row for row in rows]


def _undecided() -> list[dict[str, Any]]:
    small = [
        ("Female", "Amer-Indian-Eskimo", 80, 90),
        ("Male", "Other", 70, 90),
        ("Female", "Other", 60, 90),
    ]
    rows = []
    for gender, race, low, high in small:
        rules = [
            {"feature": "gender", "values": [gender], "text": f"gender = {gender}"},
            {"feature": "race", "values": [race], "text": f"race = {race}"},
            _age_rule(low, high),
        ]
        n = sum(
            CELLS[c][0] for c in CELLS if c[0] == gender and c[1] == race and low <= c[2] < high
        )
        text = " and ".join(str(rule["text"]) for rule in rules)
        reason = f"{n} row{'' if n == 1 else 's'}, fewer than the 100 asked for"
        rows.append(
            {"text": text, "rules": rules, "n_in": n, "support": n / TOTAL, "reason": reason}
        )
    return rows


def census_document() -> dict[str, Any]:
    """The audit as the JSON document has it, free to be changed by a test."""
    return deepcopy(_census_document())


# To find its groups takes a tenth of a second, and some hundred tests begin with it.
@cache
def _census_document() -> dict[str, Any]:
    groups, scatter, candidates, frequent = _groups()
    top = groups[0]
    direction = "less often" if top["difference"] < 0 else "more often"
    gap = f"{100 * top['score']:.1f} points {direction}"
    return {
        "schema": "testsgd.audit/2",
        "created": "2026-03-02T14:07:31Z",
        "mode": "exact",
        "sampling": None,
        "parameters": {
            "estimand": "neighbourhood",
            "rank_by": "score",
            "guarantee": "per-group",
            "interval": "wald",
            "stability": 0,
            "theta": 0.05,
            "error_margin": 0.05,
            "min_samples": 1000,
            "confidence": 0.95,
            "mode": "auto",
            "sampling": "pooled",
            "max_queries": 5_000_000,
            "max_features": 3,
            "bins": None,
            "top": 40,
            "seed": 0,
            "overlap": 0.5,
            "fail_above": None,
        },
        "guarantee": {
            "kind": "per-group",
            "confidence": 0.95,
            "method": "each",
            "groups": 1,
            "replicates": 0,
            "significant": 3,
            "significant_complete": True,
            "largest_bound_rank": 1,
        },
        "unjudged": {"fewest": 50, "combinations": 40, "unjudged": 0, "rows": 0, "share": 0.0},
        "versions": {"testsgd": "0.1.0", "python": "3.11.2", "numpy": "2.4.6", "pandas": "3.1.1"},
        "data": {
            "name": "census",
            "title": "Census income",
            "description": "People in the 1994 census of the United States and their income.",
            "licence": "CC BY 4.0",
            "citation": "Becker and Kohavi (1996): Adult. UCI. https://doi.org/10.24432/C5XW20",
            "source": "adult.data, adult.test",
            "fingerprint": "9f2b7c1e" * 8,
            "rows": TOTAL,
            "label": {
                "column": "income",
                "favourable": LABEL,
                "meaning": "the person earns more than 50,000 dollars a year",
            },
            "features": _features(),
            "notes": ["2,799 rows have no workclass; they are kept, with missing as a value."],
        },
        "model": {
            "name": "census-mlp",
            "kind": "scikit-learn MLPClassifier",
            "output": "scores",
            "threshold": 0.5,
            "fingerprint": "03ad55e0" * 8,
            "file_sha256": "7be1d2aa" * 8,
            "accuracy": 0.8514,
            "card": {"architecture": "six layers", "trained on": "adult.data, 32,561 rows"},
        },
        "overall_rate": OVERALL,
        "counts": {
            "candidates": candidates,
            "frequent": frequent + 4,
            "groups": frequent,
            "decided": frequent,
            "undecided_frequent": 0,
            "undecided_small": 3,
        },
        "neighbourhood": TOTAL * 22,
        "model_queries": TOTAL * 22,
        "seconds": {"read": 0.41, "rules": 0.08, "predict": 14.2, "compare": 1.93},
        "verdict": {
            "status": "reported",
            "exit_code": 0,
            "headline": f"The model predicts “{LABEL}” {gap} for {top['text']}.",
            "sentences": [
                f"Of {frequent} groups, this is the one treated most differently.",
                "Three groups were too small to be judged; nothing is known about them.",
            ],
        },
        "groups": groups,
        "undecided": _undecided(),
        "charts": _charts(scatter),
    }


def sampled_document() -> dict[str, Any]:
    """The same audit from samples, behind a gate, with two groups that stayed undecided."""
    document = census_document()
    document |= {"mode": "sampled", "sampling": "pooled", "model_queries": 412_000}
    document["parameters"] |= {"mode": "sampled", "fail_above": 0.1}
    document["counts"] |= {"undecided_frequent": 2}
    document["verdict"] |= {"status": "gate_failed", "exit_code": 1}
    for position, group in enumerate(document["groups"]):
        group |= {
            "exact": False,
            "margin": 0.031 + 0.001 * (position % 7),
            "margin_method": "wald" if position % 3 else "wilson",
            "samples_in": 1000 + 10 * position,
            "samples_out": 1000,
        }
        if position in (5, 12):
            group |= {"decided": False, "margin": 0.072}
    return document


def empty_document() -> dict[str, Any]:
    """An audit that found no group large enough, of a file that says nothing about itself."""
    document = census_document()
    document["groups"] = []
    document["charts"] = {"scatter": [], "scatter_binned": False, "features": [], "heat_maps": []}
    document["counts"] |= {"frequent": 0, "groups": 0, "decided": 0}
    document["data"] |= dict.fromkeys(["title", "description", "licence", "citation"], "")
    document["data"]["label"]["meaning"] = ""
    document["data"]["notes"] = []
    document["model"] |= {"card": {}, "accuracy": None, "file_sha256": None, "threshold": None}
    document["verdict"] = {
        "status": "not_enough_evidence",
        "exit_code": 3,
        "headline": "No group is large enough to be judged.",
        "sentences": [],
    }
    return document


def crime_document() -> dict[str, Any]:
    """Ten sensitive features of ten cells each: 45 heat maps, and a binned scatter chart."""
    document = census_document()
    names = [f"racePctGroup{i}" for i in range(10)]
    labels = [f"[{i / 10:g}, {(i + 1) / 10:g})" for i in range(10)]
    maps = []
    for i, one in enumerate(names):
        for j, other in enumerate(names[i + 1 :], start=i + 1):
            counts = [[(7 * a * i + 11 * b * j) % 83 for b in range(10)] for a in range(10)]
            rates = [
                [None if n == 0 else ((a * 5 + b * j) % 97) / 97 for b, n in enumerate(row)]
                for a, row in enumerate(counts)
            ]
            maps.append(
                {
                    "row_feature": one,
                    "column_feature": other,
                    "row_labels": labels,
                    "column_labels": labels,
                    "rates": rates,
                    "counts": counts,
                }
            )
    cells = [{"label": label, "n": 200, "rate": i / 11} for i, label in enumerate(labels)]
    scatter = [
        {"support": 0.05 + s / 42, "score": t / 80, "n": 1 + (s * t * t) % 900}
        for s in range(40)
        for t in range(40)
        if s + t < 45
    ]
    document["charts"] = {
        "scatter": scatter,
        "scatter_binned": True,
        "features": [{"feature": name, "cells": cells} for name in names],
        "heat_maps": maps,
    }
    return document


def as_summary(document: dict[str, Any]) -> AuditSummary:
    """Check a document and make it an object."""
    return AuditSummary.model_validate(document)

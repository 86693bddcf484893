"""What a bootstrap sample of the stability of rules takes, beside what is reckoned with.

``python -m benchmarks.stability_seconds`` prints processor seconds, which other programs on the
machine hardly change. The constants in :mod:`testsgd.auditing.stability` come from this table; no
row takes far more than is reckoned with.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.marked_page import table
from testsgd.auditing import AuditParameters, TableFindings, run_audit
from testsgd.auditing.stability import affordable, group_stability, seconds_a_sample
from testsgd.data import check_table, load_specification, load_table, specification_from_mapping
from testsgd.models import load_model

DATA_SETS = ("bank", "credit", "law", "census", "compas")
# Sensitive features of so many bins each, and rows: more candidates, or more cells.
MADE_UP = ((4, 6, 20_000), (3, 10, 20_000), (4, 8, 5_000), (3, 12, 100_000))

_SAMPLES = 5
_QUICK: dict[str, Any] = {"stability": 0, "replicates": 19}


def data_set(name: str) -> TableFindings:
    """Audit a data set of the paper as by default."""
    specification = load_specification(name)
    rows, model = load_table(specification), load_model(None, specification)
    return run_audit(model, rows, AuditParameters(**_QUICK))


def made_up(features: int, bins: int, rows: int) -> TableFindings:
    """Audit a model that is kinder to two groups of made-up people."""
    numbers = {"type": "decimal", "range": [0, 1], "bins": bins, "sensitive": True}
    names = [f"f{place}" for place in range(features)]
    specification = specification_from_mapping(
        {
            "dataset": {"name": "made-up"},
            "label": {"column": "y", "favourable": "yes", "values": ["no", "yes"]},
            "features": dict.fromkeys(names, numbers)
            | {"points": {"type": "integer", "range": [0, 100]}},
        }
    )
    generator = np.random.default_rng(0)
    frame = pd.DataFrame({name: generator.random(rows) for name in names})
    frame["points"] = generator.integers(0, 101, rows)

    def decide(people: pd.DataFrame) -> Any:
        kinder = 30 * ((people["f0"] < 0.4) & (people["f1"] > 0.5)) + 15 * (people["f2"] < 0.3)
        return np.where(people["points"] + kinder > 60, "yes", "no")

    people = check_table(frame, specification)
    return run_audit(load_model(decide, specification), people, AuditParameters(**_QUICK))


def costs(name: str, findings: TableFindings) -> list[str]:
    """Return a row of the table."""
    assert findings.guarantee is not None
    assert findings.row_favourable is not None
    candidates, cells = findings.rule_sets.candidates, findings.contingency.cells
    started = time.process_time()
    group_stability(
        findings.contingency,
        findings.row_favourable,
        findings.row_samples,
        findings.rule_sets,
        findings.explaining,
        min_count=findings.parameters.fewest_rows(findings.rows),
        max_features=findings.parameters.max_features,
        overlap=findings.parameters.overlap,
        critical=findings.guarantee.critical_value,
        samples=_SAMPLES,
        seed=0,
    )
    taken = (time.process_time() - started) / _SAMPLES
    return [
        name, f"{candidates:,}", f"{cells:,}", f"{len(findings.rules)}", f"{1000 * taken:.1f} ms",
        f"{1000 * seconds_a_sample(candidates, cells):.1f} ms", f"{affordable(candidates, cells)}",
    ]  # fmt: skip


def main() -> None:
    """Measure, and print the table."""
    rows = [costs(name, data_set(name)) for name in DATA_SETS]
    rows += [
        costs(f"{features} features of {bins} bins", made_up(features, bins, count))
        for features, bins, count in MADE_UP
    ]
    heading = ["data", "candidates", "cells", "rules", "a sample", "reckoned with", "samples"]
    print(table(heading, rows))


if __name__ == "__main__":
    main()

"""How often the verdict of the earlier defaults is wrong, in worlds of ``testsgd bench truth``.

``python -m benchmarks.earlier_defaults`` audits the same people as ``testsgd bench truth --worlds``
does and puts a table into docs/ground-truth.md. The earlier defaults: rates over the neighbourhood,
groups of at least 5% of the people with anybody outside, the first by score, and a gate that looks
at nothing but these rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import joblib

from benchmarks.marked_page import Marks, fill_marked, percent, table
from testsgd.auditing import AuditParameters, TableFindings, run_audit
from testsgd.truth import WORLD_SIZES, WORLDS, world
from testsgd.truth.verdicts import (
    FAILED,
    PASSED,
    UNDECIDED,
    Wrong,
    claimed_difference,
    errors_of_verdict,
    is_evaluable,
)

PAGE = Path(__file__).resolve().parent.parent / "docs" / "ground-truth.md"
MARKS: Marks = (
    "<!-- earlier: python -m benchmarks.earlier_defaults -->",
    "<!-- earlier ends -->",
)
RUNS = 200
SEED = 0
THETA = 0.05
HEADING = [
    "population",
    "people",
    "runs",
    "earlier defaults: wrong headline",
    "earlier defaults: wrong gate",
    "earlier defaults: not enough evidence",
]


def judge_earlier(name: str, rows: int, number: int, *, seed: int = SEED) -> Wrong:
    """Return the errors of the earlier verdict about a sample of a world's people."""
    people = world(name)
    sample = people.table(rows, seed=seed, run=number)
    parameters = AuditParameters(
        estimand="neighbourhood",
        theta=THETA,
        theta_side="inside",
        rank_by="score",
        # As of the verdicts of today: enough for every size, and no search in bootstrap samples.
        max_queries=1_000_000_000,
        stability=0,
        seed=number,
        jobs=1,
    )
    findings = run_audit(people.model(), sample, parameters, own_effects=False)
    return errors_of_verdict(
        claimed_difference(findings, people),
        partial(earlier_gate, findings),
        people,
        evaluable=is_evaluable(people, sample),
    )


def earlier_gate(findings: TableFindings, limit: float) -> str:
    """Return the status of a gate that looks at the rates over the neighbourhood only.

    It passes if no score is above the limit, and fails if a simultaneous lower bound is.
    """
    if not len(findings.rule_sets):
        return UNDECIDED
    if findings.guarantee.largest_bound > limit:
        return FAILED
    return PASSED if findings.estimates.score.max() <= limit else UNDECIDED


def row_of(name: str, rows: int, runs: Sequence[Wrong]) -> list[str]:
    """Write the shares of runs with a wrong headline, a wrong gate, and not enough evidence."""
    return [
        name,
        f"{rows:,}",
        f"{len(runs):,}",
        percent(sum(run.headline for run in runs) / len(runs)),
        percent(sum(run.gate for run in runs) / len(runs)),
        percent(sum(run.undecided for run in runs) / len(runs)),
    ]


def main() -> None:
    """Audit all worlds at all sizes, and fill the table."""
    workers = joblib.Parallel(n_jobs=-1)
    rows = []
    for name in WORLDS:
        for size in WORLD_SIZES:
            runs = workers(
                joblib.delayed(judge_earlier)(name, size, number) for number in range(RUNS)
            )
            rows.append(row_of(name, size, runs))
            print(*rows[-1], sep=" | ", flush=True)
    fill_marked(PAGE, {MARKS: table(HEADING, rows)})
    print(f"Written: {PAGE}")


if __name__ == "__main__":
    main()

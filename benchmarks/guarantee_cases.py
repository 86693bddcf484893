"""What a guarantee for the whole search costs, beside the audit that it is for."""

from __future__ import annotations

from typing import Any

from benchmarks.measure import memory_now, memory_peak, side_by_side, timed
from testsgd.auditing import AuditParameters, run_audit
from testsgd.data import load_specification, load_table
from testsgd.models import load_model

Row = list[str]

# As in the paper: its estimand, bound and ranking, ...
PAPER: dict[str, Any] = {"estimand": "neighbourhood", "theta": 0.05, "rank_by": "score"}
# ... and a confidence for one group at a time, and nothing else.
PLAIN: dict[str, Any] = {**PAPER, "guarantee": "per-group", "stability": 0}


def guarantees() -> list[Row]:
    """Audit each data set with each guarantee, in turn."""
    rows = []
    for name in ("census", "bank", "credit", "compas", "law"):
        specification = load_specification(name)
        table = load_table(specification)
        model = load_model(None, specification)

        def run(model: Any = model, table: Any = table, **settings: Any) -> Any:
            return run_audit(model, table, AuditParameters(**PAPER | settings))

        times = side_by_side(
            5,
            plain=lambda run=run: run(**PLAIN),
            simultaneous=lambda run=run: run(guarantee="simultaneous", stability=0),
            fdr=lambda run=run: run(guarantee="fdr", stability=0),
            stability=lambda run=run: run(guarantee="per-group"),
            holdout=lambda run=run: run(holdout=0.5, stability=0),
        )
        findings = run()
        guarantee = findings.guarantee
        rows.append(
            [
                name,
                f"{guarantee.groups:,}",
                *(str(times[key]) for key in ("plain", "simultaneous", "fdr", "stability")),
                str(times["holdout"]),
                f"{guarantee.critical:.2f}",
                f"{guarantee.significant:,}",
            ]
        )
    return rows


def guarantee_of_crime() -> list[Row]:
    """Audit crime with a guarantee for its three million groups."""
    specification = load_specification("crime")
    table = load_table(specification)
    model = load_model(None, specification)
    before = memory_now()
    seconds, findings = timed(lambda: run_audit(model, table, AuditParameters(**PAPER)))
    guarantee = findings.guarantee
    assert guarantee is not None
    assert guarantee.critical is not None
    return [
        [
            f"{guarantee.groups:,}",
            f"{guarantee.replicates:,}",
            f"{seconds:.1f} s",
            f"{findings.seconds['guarantee']:.1f} s",
            f"{guarantee.critical:.2f}",
            f"{(memory_peak() - before) / 2**20:,.0f} MiB",
        ]
    ]

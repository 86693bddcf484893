"""The cases: each is run in a process of its own and returns rows for the page's tables."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.certification import at_its_time, longer, small
from benchmarks.divexplorer_speed import divexplorer_cells, divexplorer_rules
from benchmarks.guarantee_cases import PLAIN, guarantee_of_crime, guarantees
from benchmarks.measure import memory_now, memory_peak, side_by_side, timed
from benchmarks.mitigation_cases import mitigations
from benchmarks.monitor_stream import stream_beside_sqlite, stream_long
from benchmarks.shield_memory import memory
from benchmarks.shield_serving import endpoint
from benchmarks.shield_synthesis import deciding, synthesis
from benchmarks.text_cases import network_speed, parts, reviews, text_training
from testsgd.auditing import AuditParameters, run_audit
from testsgd.data import check_table, load_specification, load_table, specification_from_mapping
from testsgd.models import NetworkModel, load_model, train_network
from testsgd.sampling import moved

Row = list[str]

STRUCTURED = ("census", "bank", "credit", "compas", "crime", "law")


def exact_against_forward_pass() -> list[Row]:
    """Exact Census audit, beside a forward pass over all the rows it asks about."""
    specification = load_specification("census")
    table = load_table(specification)
    model = load_model(None, specification)
    network = model.model
    assert isinstance(network, NetworkModel)
    inputs = np.concatenate(
        [
            network.encoding.encode(
                table.frame.assign(
                    **{name: moved(table.frame[name], specification.features[name], name, by)[0]}
                )
            )
            for name in specification.insensitive
            for by in (-1, 1)
        ]
    )

    def whole_batch() -> None:
        """One matrix product a layer over all rows."""
        sums = inputs
        for place, layer in enumerate(network.layers):
            sums = sums @ layer.weights + layer.bias
            if place < len(network.layers) - 1:
                np.maximum(sums, 0, out=sums)

    times = side_by_side(
        9,
        whole=whole_batch,
        blocked=lambda: network.output_sums(inputs),
        audit=lambda: run_audit(model, table, AuditParameters(**PLAIN)),
        pooled=lambda: run_audit(
            model, table, AuditParameters(mode="sampled", interval="wald", **PLAIN)
        ),
    )
    seconds, findings = timed(
        lambda: run_audit(
            model, table, AuditParameters(mode="sampled", sampling="independent", **PLAIN)
        )
    )
    audit = times["audit"].median
    return [
        [f"forward pass over the {len(inputs):,} rows, whole batch", str(times["whole"]), ""],
        [
            "forward pass, in blocks that fit the cache",
            str(times["blocked"]),
            f"{times['whole'].median / times['blocked'].median:.2f} x faster",
        ],
        [
            "exact audit, all frequent rule sets",
            str(times["audit"]),
            f"{audit / times['whole'].median:.2f} x the whole-batch pass, "
            f"{audit / times['blocked'].median:.2f} x the blocked one",
        ],
        ["sampled audit, pooled", str(times["pooled"]), ""],
        [
            f"sampled audit, independent ({findings.queries:,} queries)",
            f"{seconds:.2f} s",
            f"{seconds / audit:.0f} x the exact audit",
        ],
    ]


def crime_triples() -> list[Row]:
    """Audit crime with up to three of its ten sensitive features."""
    specification = load_specification("crime")
    table = load_table(specification)
    model = load_model(None, specification)
    before = memory_now()
    seconds, findings = timed(lambda: run_audit(model, table, AuditParameters(**PLAIN)))
    return [
        [
            f"{findings.rule_sets.candidates:,}",
            f"{findings.rule_sets.frequent:,}",
            f"{len(findings.rule_sets):,}",
            f"{seconds:.1f} s",
            f"{memory_peak() / 2**20:,.0f} MiB",
            f"{(memory_peak() - before) / 2**20:,.0f} MiB",
        ]
    ]


def rows_million(millions: int, mode: str) -> list[Row]:
    """Audit a cheap model on synthetic rows: 5 sensitive features and 20 others."""
    rows = millions * 1_000_000
    specification = specification_from_mapping(
        {
            "dataset": {"name": "synthetic"},
            "label": {"column": "y", "favourable": 1, "values": [0, 1]},
            "features": {
                **{
                    f"s{place}": {"type": "integer", "range": [0, 9], "sensitive": True}
                    for place in range(5)
                },
                **{f"x{place}": {"type": "decimal", "range": [0, 1]} for place in range(20)},
            },
        }
    )
    generator = np.random.default_rng(0)
    columns: dict[str, Any] = {
        f"s{place}": generator.integers(0, 10, rows, dtype=np.int8) for place in range(5)
    }
    for place in range(20):
        columns[f"x{place}"] = generator.random(rows, dtype=np.float32)
    frame = pd.DataFrame(columns, copy=False)
    del columns

    def cheap(people: pd.DataFrame) -> Any:
        return (people["x0"] + 0.1 * (people["s0"] > 4) > 0.55).to_numpy().astype(np.int8)

    before = memory_now()

    def audit() -> Any:
        table = check_table(frame, specification)
        model = load_model(cheap, specification)
        return run_audit(
            model,
            table,
            AuditParameters(mode=mode, max_queries=10**9, **PLAIN),  # type: ignore[arg-type]
        )

    seconds, findings = timed(audit)
    data = frame.memory_usage(deep=True).sum()
    return [
        [
            f"{rows:,}",
            mode,
            f"{findings.queries:,}",
            f"{seconds:.1f} s",
            f"{seconds / millions:.2f} s",
            f"{data / 2**20:,.0f} MiB",
            f"{(memory_peak() - before) / 2**20:,.0f} MiB",
        ]
    ]


def every_data_set() -> list[Row]:
    """Exact audit of each data set, beside the paper's Table 5."""
    rows = []
    for name in STRUCTURED:
        specification = load_specification(name)
        table = load_table(specification)
        model = load_model(None, specification)
        times = side_by_side(
            3 if name == "crime" else 7,
            audit=lambda m=model, t=table: run_audit(m, t, AuditParameters(**PLAIN)),
        )
        findings = run_audit(model, table, AuditParameters(**PLAIN))
        paper = specification.paper
        assert paper is not None
        assert paper.seconds is not None
        rows.append(
            [
                name,
                f"{len(table):,}",
                f"{findings.rule_sets.candidates:,}",
                f"{findings.rule_sets.frequent:,}",
                f"{len(findings.rule_sets):,}",
                str(times["audit"]),
                f"{paper.rule_sets:,}",
                f"{paper.seconds:,.0f} s",
                f"{paper.seconds / times['audit'].median:,.0f} x",
            ]
        )
    return rows


def starting() -> list[Row]:
    """Whole processes: how long a user waits for the first word, and for the first report."""
    python = sys.executable

    def run(*command: str) -> Callable[[], object]:
        return lambda: subprocess.run(command, check=True, capture_output=True)

    with tempfile.TemporaryDirectory() as folder:
        times = side_by_side(
            5,
            imported=run(python, "-c", "import testsgd"),
            help=run(python, "-m", "testsgd", "--help"),
            demo=run(python, "-m", "testsgd", "audit", "demo", "--out", folder),
        )
    return [
        ["`import testsgd`", str(times["imported"])],
        ["`testsgd --help`", str(times["help"])],
        ["`testsgd audit demo`, with its reports", str(times["demo"])],
    ]


def training() -> list[Row]:
    """Train the network of every real data set."""
    rows = []
    for name in STRUCTURED:
        table = load_table(load_specification(name))
        with tempfile.TemporaryDirectory() as folder:
            seconds, report = timed(lambda t=table, f=folder: train_network(t, Path(f)))
        paper = f"{report.paper_accuracy:.1%}" if report.paper_accuracy else ""
        rows.append([name, f"{seconds:.1f} s", f"{report.test_accuracy:.1%}", paper])
    return rows


CASES: dict[str, Callable[[], list[Row]]] = {
    "census": exact_against_forward_pass,
    "crime": crime_triples,
    "rows-exact-1": lambda: rows_million(1, "exact"),
    "rows-exact-10": lambda: rows_million(10, "exact"),
    "rows-sampled-1": lambda: rows_million(1, "sampled"),
    "rows-sampled-10": lambda: rows_million(10, "sampled"),
    "sets": every_data_set,
    "guarantees": guarantees,
    "guarantee-crime": guarantee_of_crime,
    "divexplorer-cells": divexplorer_cells,
    "divexplorer-rules": divexplorer_rules,
    "starting": starting,
    "training": training,
    "mitigation": mitigations,
    "reviews-5": lambda: reviews(0.05),
    "reviews-2": lambda: reviews(0.02),
    "text-parts": parts,
    "text-network": network_speed,
    "text-training": text_training,
    "certification-anchor": at_its_time,
    "certification-longer": longer,
    "certification-small": small,
    "shield-synthesis": synthesis,
    "shield-memory": memory,
    "shield-deciding": deciding,
    "shield-serving": endpoint,
    "monitor-sqlite": stream_beside_sqlite,
    "monitor-long": stream_long,
}

"""Certification of the published networks, beside FairQuant's C program.

The networks are found in the folder that the environment variable FAIRIFY names; by default
``models/fairify`` beside the folder of the data sets (TESTSGD_DATA_HOME). For the other program see
:mod:`benchmarks.fairquant`.

Each run is a process of its own, held to as many processors as it has jobs:
``python -m benchmarks.certification NETWORK DOMAIN SECONDS JOBS``. Seconds are those of the search,
as the other program's are; loading the machine code, about a second, comes before, and is told in
the last column. It was compiled before.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fairquant import KNOWN, NETWORKS, Anchor, executable, run_fairquant
from benchmarks.measure import memory_peak, timed
from testsgd.certification import Certification, CertificationParameters, certify_network
from testsgd.certification.domain import Domain, find_domain
from testsgd.certification.network import (
    Decision,
    DenseLayer,
    FeedForward,
    InputColumns,
    NumberColumns,
    find_network,
)

Row = list[str]

RUNS = 3
EARLY = 10.0
# The bank's published domain lists its inputs in another order than the networks take them.
CORRECTED = "fairify/bank"
WIDE = "10 x 1,000"

AT_ITS_TIME = [
    "network", "FairQuant: time", "certified / falsified / undecided",
    "testsgd, 1 processor", "time", "testsgd, 2 processors", "time",
    "undecided, of FairQuant's: 1 / 2 processors", "whole call",
]  # fmt: skip
LONGER = [
    "network", "domain", "10 s", "boxes", "60 s", "time", "boxes", "peak memory",
]  # fmt: skip
SMALL = ["network", "people", "method", "certified / falsified / undecided", "time", "peak memory"]


def at_its_time() -> list[Row]:
    """Give each network FairQuant's own time, on one processor and on two, in turn with it."""
    program = executable()
    rows, ahead, thirds = [], 0, 0
    for name in NETWORKS:
        anchors: list[Anchor] = []
        ours: dict[int, list[dict[str, Any]]] = {1: [], 2: []}
        for _ in range(RUNS):
            if program is None:
                anchors.append(KNOWN[name])
            else:
                anchors.append(run_fairquant(program, _network(name), _published(name)))
            for jobs, results in ours.items():
                results.append(_in_a_process(name, "published", anchors[-1].seconds, jobs))
        anchor = sorted(anchors, key=lambda run: run.seconds)[RUNS // 2]
        middle = {jobs: _middle(results) for jobs, results in ours.items()}
        theirs, undecided = anchor.undecided, 100 * middle[2]["undecided"]
        # They print two digits, cut off, so that 0.01 of a percent point is no difference.
        ahead += 100 - undecided >= anchor.certified + anchor.falsified - 0.005
        thirds += undecided <= theirs / 3
        rows.append(
            [
                name,
                f"{anchor.seconds:.2f} s",
                f"{anchor.certified:.2f} / {anchor.falsified:.2f} / {anchor.undecided:.2f}",
                *(part for jobs in (1, 2) for part in (_shares(middle[jobs]), _time(middle[jobs]))),
                " / ".join(
                    f"{100 * middle[jobs]['undecided'] / theirs:.0%}" if theirs else "0 of 0"
                    for jobs in (1, 2)
                ),
                f"{middle[2]['whole']:.2f} s",
            ]
        )
    source = "measured in turn" if program else "known figures"
    total = f"{ahead} of {len(rows)} at least as much, {thirds} at most a third undecided"
    return [*rows, [f"all (FairQuant: {source})", *[""] * 6, total, ""]]


def longer() -> list[Row]:
    """Give each network 10 s and 60 s on two processors; the bank's on both its domains."""
    rows = []
    for name in NETWORKS:
        for domain in ("published", CORRECTED) if name.startswith("BM-") else ("published",):
            long = _in_a_process(name, domain, 60, 2)
            rows.append(
                [
                    name,
                    "corrected" if domain == CORRECTED else "published",
                    _shares(long["early"]),
                    f"{long['early']['boxes']:,}",
                    _shares(long),
                    _time(long),
                    f"{long['boxes']:,}",
                    _memory(long),
                ]
            )
    return rows


def small() -> list[Row]:
    """Enumerate small domains; a large random network on one. One processor."""
    rows = []
    for name in ("compas-1", "compas-2", "compas-3", WIDE):
        runs = [_in_a_process(name, "published", 60, 1) for _ in range(RUNS)]
        result = _middle(runs, by="seconds")
        rows.append(
            [
                name,
                f"{result['points']:,}",
                result["method"],
                _shares(result),
                _time(result),
                _memory(result),
            ]
        )
    return rows


def wide_network(seed: int = 0) -> FeedForward:
    """Make a network of 10 hidden layers of 1,000 units for the compas domain.

    The weights are random, of float32 and of He's variance, so that the sums neither vanish nor
    grow from layer to layer; the last one is shifted so that both decisions occur.
    """
    generator = np.random.default_rng(seed)
    inputs = len(_published(WIDE).inputs)
    sizes = (inputs, *[1000] * 10, 1)
    layers = []
    for before, units in pairwise(sizes):
        drawn = generator.normal(0, np.sqrt(2 / before), (before, units))
        layers.append(
            DenseLayer(
                drawn.astype(np.float32).astype(np.float64),
                np.zeros(units),
                "linear" if units == 1 else "relu",
            )
        )
    columns = NumberColumns(np.ones(1), np.zeros(1))
    network = FeedForward(
        WIDE,
        "random network",
        tuple(layers),
        tuple(InputColumns(f"x{place}", columns) for place in range(inputs)),
        Decision("threshold", 0.0, 0.0, ("below", "above")),
        "float32",
    )
    some = np.column_stack(
        [generator.integers(0, size, 64) for size in (2, 39, *[2] * (inputs - 2))]
    )
    shift = -np.median(network.sums(some), axis=0).astype(np.float64)
    return replace(network, layers=(*layers[:-1], replace(layers[-1], bias=shift)))


def _folder() -> Path:
    given = os.environ.get("FAIRIFY")
    return Path(given or Path(os.environ["TESTSGD_DATA_HOME"]).parent / "models" / "fairify")


def _network(name: str) -> FeedForward:
    return wide_network() if name == WIDE else find_network(_folder() / f"{name}.h5")


def _published(name: str) -> Domain:
    key = "compas" if name == WIDE else name.partition("-")[0]
    return find_domain(f"{_folder() / 'domains.json'}:{key}", protected=None)


def _middle(results: list[dict[str, Any]], by: str = "undecided") -> dict[str, Any]:
    return sorted(results, key=lambda result: result[by])[len(results) // 2]


def _shares(result: dict[str, Any]) -> str:
    parts = (result["certified"], result["falsified"], result["undecided"])
    return " / ".join(f"{100 * part:.2f}" for part in parts)


def _time(result: dict[str, Any]) -> str:
    seconds = result["seconds"]
    return f"{1000 * seconds:.0f} ms" if seconds < 0.1 else f"{seconds:.2f} s"


def _memory(result: dict[str, Any]) -> str:
    return f"{result['memory'] / 2**20:,.0f} MiB"


def _in_a_process(name: str, domain: str, seconds: float, jobs: int) -> dict[str, Any]:
    processors = sorted(os.sched_getaffinity(0))[:jobs]
    finished = subprocess.run(
        [
            *("taskset", "--cpu-list", ",".join(map(str, processors))),
            *(sys.executable, "-m", "benchmarks.certification"),
            *(name, domain, str(seconds), str(jobs)),
        ],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    result: dict[str, Any] = json.loads(finished.stdout.splitlines()[-1])
    return result


def _run(name: str, where: str, seconds: float, jobs: int) -> dict[str, Any]:
    """Certify once, in this process."""
    network = _network(name)
    domain = _published(name)
    if where != "published":
        domain = find_domain(where, protected=None, network=network)
    parameters = CertificationParameters(time_limit=seconds, jobs=jobs, samples=0)
    others = _largest_child()
    taken, outcome = timed(lambda: certify_network(network, domain, parameters))
    # At most `jobs` processes of the largest one's size, if the call has started any.
    workers = _largest_child() if _largest_child() > others else 0
    return {
        "certified": outcome.shares.certified,
        "falsified": outcome.shares.falsified,
        "undecided": outcome.shares.undecided,
        "boxes": outcome.boxes,
        "early": _at(outcome, EARLY),
        "points": outcome.points,
        "method": outcome.method,
        "stopped": outcome.stopped,
        "seconds": outcome.seconds,
        "whole": taken,
        "memory": memory_peak() + jobs * workers,
    }


def _at(outcome: Certification, seconds: float) -> dict[str, Any]:
    """Give what was proved at some time of a run."""
    moment = max(
        (moment for moment in outcome.moments if moment.seconds <= seconds),
        key=lambda moment: moment.seconds,
        default=outcome.moments[0],
    )
    return {**asdict(moment.shares), "boxes": moment.boxes}


def _largest_child() -> int:
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


def main() -> None:
    """Run once, and print the result as JSON."""
    name, where, seconds, jobs = sys.argv[1:]
    print(json.dumps(_run(name, where, float(seconds), int(jobs))))


if __name__ == "__main__":
    main()

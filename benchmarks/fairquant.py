"""FairQuant's C program on the published networks: run it, or tell what it is known to give.

The program is not ours and not here. Where the environment variable FAIRQUANT names its executable
(``network_test``, built with ``gcc -O3`` and OpenBLAS), it is run in turn with testsgd; it times
itself, without reading the network, and uses one thread. Without it the figures of an earlier
measurement stand in: the same program, on a machine of the same kind. Its shares do not depend on
the machine, as it stops at a depth and not at a time.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from testsgd.certification.domain import Domain, IntegerInput
from testsgd.certification.network import FeedForward

# It prints hundredths of a second.
LEAST_SECONDS = 0.005


@dataclass(frozen=True)
class Anchor:
    """One run: seconds, and shares in percent as it prints them."""

    seconds: float
    certified: float
    falsified: float
    undecided: float


KNOWN = {
    "BM-1": Anchor(2.12, 94.23, 0.0, 5.76),
    "BM-3": Anchor(0.60, 95.69, 0.0, 4.30),
    "BM-5": Anchor(0.52, 96.27, 0.0, 3.72),
    "BM-6": Anchor(0.11, 96.44, 0.0, 3.55),
    "BM-8": Anchor(7.10, 90.75, 0.0, 9.24),
    "GC-1": Anchor(4.79, 32.67, 0.0, 67.32),
    "GC-3": Anchor(2.69, 58.44, 0.0, 41.55),
    "GC-4": Anchor(0.06, 99.65, 0.0, 0.34),
    "AC-1": Anchor(1.05, 90.68, 0.0, 9.31),
    "AC-3": Anchor(15.99, 33.29, 0.0, 66.70),
    "AC-8": Anchor(3.59, 66.50, 0.0, 33.49),
    "AC-9": Anchor(0.84, 91.13, 0.0, 8.86),
    "AC-10": Anchor(1.51, 87.65, 0.0, 12.33),
    "AC-12": Anchor(0.25, 70.82, 0.0, 29.17),
    "compas-1": Anchor(LEAST_SECONDS, 97.27, 2.72, 0.0),
    "compas-2": Anchor(LEAST_SECONDS, 97.59, 2.40, 0.0),
    "compas-3": Anchor(0.13, 98.07, 1.92, 0.0),
}
NETWORKS = tuple(KNOWN)

_PRINTED = re.compile(
    r"([\d.]+) sec .*?cer_rate: ([\d.]+)%, fal_rate: ([\d.]+)%, und_rate: ([\d.]+)%", re.DOTALL
)


def executable() -> Path | None:
    """Give the program's executable, if there is one."""
    path = os.environ.get("FAIRQUANT")
    return Path(path).resolve() if path else None


def run_fairquant(program: Path, network: FeedForward, domain: Domain) -> Anchor:
    """Run the program once on a network of plain numbers with one protected number."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "res").mkdir()
        file = Path(folder) / "network.nnet"
        file.write_text(nnet_text(network, domain), encoding="ascii")
        position = domain.names.index(domain.protected[0])
        finished = subprocess.run(
            [str(program), str(file), str(position)],
            cwd=folder,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    found = _PRINTED.search(finished.stdout)
    assert found is not None, finished.stdout
    seconds, certified, falsified, undecided = (float(number) for number in found.groups())
    return Anchor(max(seconds, LEAST_SECONDS), certified, falsified, undecided)


def nnet_text(network: FeedForward, domain: Domain) -> str:
    """Write a network and its domain in the text format `.nnet`, with digits for exact float32."""
    bounds = []
    for item in domain.inputs:
        assert isinstance(item, IntegerInput)
        bounds.append((item.low, item.high))
    low, high = np.array(bounds).T
    sizes = [len(bounds), *(len(layer.bias) for layer in network.layers)]
    header = [
        [len(network.layers), sizes[0], sizes[-1], max(sizes)],
        sizes,
        [0],
        low,
        high,
        # Means and ranges of the inputs and of the output.
        [*low, 0],
        [*(high - low), 1],
    ]
    lines = ["// as testsgd reads it", *(",".join(map(str, row)) + "," for row in header)]
    for layer in network.layers:
        lines += [",".join(f"{weight:.9e}" for weight in unit) + "," for unit in layer.weights.T]
        lines += [f"{number:.9e}," for number in layer.bias]
    return "\n".join(lines) + "\n"

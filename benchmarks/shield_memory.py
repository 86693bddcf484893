"""The memory that ``testsgd shield synthesize`` says before, beside the peak of its process.

``python -m benchmarks --only shield-memory`` writes the table. Each synthesis is a process of its
own, and its peak is what the system says of it from its start to its end.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from testsgd.report.formatting import bytes_text

Row = list[str]

MEMORY = ["property", "groups", "horizon", "storage", "threads", "said", "peak", "said / peak"]

_CASES: list[tuple[str, int, int, str, int]] = [
    ("demographic_parity", 2, 20, "whole", 1),
    ("demographic_parity", 2, 100, "whole", 1),
    ("demographic_parity", 2, 200, "whole", 2),
    ("demographic_parity", 2, 400, "whole", 2),
    ("demographic_parity", 2, 500, "whole", 2),
    ("demographic_parity", 3, 40, "whole", 2),
    ("demographic_parity", 2, 300, "windows", 1),
    ("demographic_parity", 2, 450, "windows", 2),
    ("demographic_parity", 3, 60, "windows", 2),
    ("equal_opportunity", 2, 60, "whole", 1),
]
# A process counts what the one that started it took, so a small program starts each.
_LAUNCHER = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


def memory() -> list[Row]:
    """Synthesise all cases."""
    rows = []
    for name, groups, horizon, storage, threads in _CASES:
        said, peak = _said_and_peak(name, groups, horizon, storage, threads)
        rows.append([
            name.replace("_", " "),
            str(groups),
            f"{horizon:,}",
            storage,
            str(threads),
            bytes_text(said),
            bytes_text(peak),
            f"{said / peak:.2f}",
        ])  # fmt: skip
    return rows


def _said_and_peak(
    name: str, groups: int, horizon: int, storage: str, threads: int
) -> tuple[int, int]:
    """Return the bytes that are predicted, and the most that the process took."""
    names = [chr(ord("a") + group) for group in range(groups)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "case.toml")
        path.write_text(
            f'[fairness]\nproperty = "{name}"\nbound = "1/4"\n'
            f"[groups]\nnames = {json.dumps(names)}\n[horizon]\nlength = {horizon}\n"
        )
        command = [sys.executable, "-m", "testsgd", "shield", "synthesize", str(path)]
        command += ["--storage", storage, "--jobs", str(threads), "--memory-limit", "20GB"]
        command += ["--shield", f"{folder}/case.npz", "--out", f"{folder}/reports", "--quiet"]
        launched = subprocess.run(
            [sys.executable, "-c", _LAUNCHER, *command],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        (result,) = Path(folder, "reports").glob("*.json")
        said = json.loads(result.read_text())["synthesis"]["predicted_bytes"]
    return int(said), int(launched.stdout)

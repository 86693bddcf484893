"""The same commands run in several processes, which differ in what must not matter."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import result_writers

_HERE = Path(__file__).parent
_ROOT = _HERE.parent.parent
# Python runs a module of this name first in every process, those that are started for jobs too.
_RUN_FIRST = "sitecustomize.py"
_WITHOUT_NUMBA = 'import sys\n\nsys.modules["numba"] = None\n'
# A machine that many share is slow.
_MOST_SECONDS = 900


@dataclass(frozen=True)
class Variant:
    """What a process runs on."""

    jobs: str = "1"
    environment: Mapping[str, str] = field(default_factory=dict)
    has_numba: bool = True


FIRST = Variant(environment={"PYTHONHASHSEED": "1"})
TWO_PROCESSORS = Variant(jobs="2", environment={"PYTHONHASHSEED": "2"})
NO_MACHINE_CODE = Variant(environment={"PYTHONHASHSEED": "3", "NUMBA_DISABLE_JIT": "1"})
NO_NUMBA = Variant(environment={"PYTHONHASHSEED": "4"}, has_numba=False)


def write_results(kind: str, variants: Mapping[str, Variant], folder: Path) -> dict[str, Path]:
    """Run the commands of a kind under each variant; return the folders written, by its name."""
    without_numba = folder / "without-numba"
    without_numba.mkdir()
    (without_numba / _RUN_FIRST).write_text(_WITHOUT_NUMBA, encoding="utf-8")
    written = {name: folder / f"results-{place}" for place, name in enumerate(variants)}
    processes: list[subprocess.Popen[str]] = []
    try:
        for name, variant in variants.items():
            written[name].mkdir()
            modules = [str(_ROOT), str(_HERE)]
            if not variant.has_numba:
                modules.insert(0, str(without_numba))
            known = {**os.environ, "PYTHONPATH": os.pathsep.join(modules), **variant.environment}
            process = subprocess.Popen(
                [sys.executable, result_writers.__file__, kind, variant.jobs, _ROOT / "examples"],
                cwd=written[name],
                env=known,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            processes.append(process)
        for process in processes:
            _, told = process.communicate(timeout=_MOST_SECONDS)
            assert process.returncode == 0, told
    finally:
        for process in processes:
            process.kill()
            process.communicate()
    return written


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all files in a folder by their paths, but for what Python compiled."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.parent.name != "__pycache__"
    }


def different_files(folder: Path, other: Path) -> list[str]:
    """Return the files of two folders that are in one only, or not of the same bytes."""
    first, second = contents(folder), contents(other)
    names = sorted(first.keys() | second.keys())
    return [name for name in names if first.get(name) != second.get(name)]

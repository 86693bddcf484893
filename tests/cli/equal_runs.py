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


class Results:
    """The folders that the commands of a kind write under each variant, run when first asked for.

    Tests side by side have processes of their own, and not each of them looks at all variants.
    """

    def __init__(self, kind: str, variants: Mapping[str, Variant], folder: Path) -> None:
        self._kind = kind
        self._variants = variants
        self._folder = folder
        self._written: dict[str, Path] = {}
        self._without_numba = folder / "without-numba"
        self._without_numba.mkdir()
        (self._without_numba / _RUN_FIRST).write_text(_WITHOUT_NUMBA, encoding="utf-8")

    def folders(self, *names: str) -> list[Path]:
        """Return the folders of some variants; those that are missing are written side by side."""
        missing = [name for name in names if name not in self._written]
        started: dict[str, subprocess.Popen[str]] = {}
        try:
            for name in missing:
                started[name] = self._start(name)
            for name, process in started.items():
                _, told = process.communicate(timeout=_MOST_SECONDS)
                assert process.returncode == 0, told
                self._written[name] = self._place(name)
        finally:
            for process in started.values():
                process.kill()
                process.communicate()
        return [self._written[name] for name in names]

    def _place(self, name: str) -> Path:
        return self._folder / f"results-{list(self._variants).index(name)}"

    def _start(self, name: str) -> subprocess.Popen[str]:
        variant = self._variants[name]
        self._place(name).mkdir()
        modules = [str(_ROOT), str(_HERE)]
        if not variant.has_numba:
            modules.insert(0, str(self._without_numba))
        known = {**os.environ, "PYTHONPATH": os.pathsep.join(modules), **variant.environment}
        return subprocess.Popen(
            [sys.executable, result_writers.__file__, self._kind, variant.jobs, _ROOT / "examples"],
            cwd=self._place(name),
            env=known,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )


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

"""Equal runs write equal bytes with --reproducible, whatever they run on."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import result_writers

_HERE = Path(__file__).parent
_ROOT = _HERE.parent.parent
# What must not matter: processors, the seed of Python's hashes, machine code.
_VARIANTS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "first": ("1", {"PYTHONHASHSEED": "1"}),
    "other seed, two processors": ("2", {"PYTHONHASHSEED": "2"}),
    "no machine code": ("1", {"PYTHONHASHSEED": "3", "NUMBA_DISABLE_JIT": "1"}),
}
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
# Measured ones have a fraction here; a time limit is a setting, and stays.
_DURATION = re.compile(r"\d\.\d+ s\b")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders that each of the variants has written, by its name."""
    written = {name: tmp_path_factory.mktemp("results") for name in _VARIANTS}
    script = [sys.executable, result_writers.__file__]
    processes = []
    for name, (jobs, environment) in _VARIANTS.items():
        known = {**os.environ, "PYTHONPATH": f"{_ROOT}:{_HERE}", **environment}
        process = subprocess.Popen(
            [*script, jobs, str(_ROOT / "examples")],
            cwd=written[name],
            env=known,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
    for process in processes:
        _, told = process.communicate(timeout=300)
        assert process.returncode == 0, told
    return written


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_bytes_are_equal_on_other_processors_and_seeds(folders: dict[str, Path]) -> None:
    first = contents(folders["first"])
    other = contents(folders["other seed, two processors"])
    assert first.keys() == other.keys()
    assert [name for name in first if first[name] != other[name]] == []


def test_bytes_are_equal_without_machine_code(folders: dict[str, Path]) -> None:
    first = contents(folders["first"])
    other = contents(folders["no machine code"])
    assert first.keys() == other.keys()
    different = [name for name in first if first[name] != other[name]]
    assert different == []


def test_every_command_wrote_its_result(folders: dict[str, Path]) -> None:
    results = sorted(path.parent.name for path in folders["first"].rglob("result.json"))
    assert len(results) == len(result_writers.command_lines("1", Path()))


def test_a_saved_result_is_rendered_again_alike(folders: dict[str, Path]) -> None:
    exact = folders["first"] / "exact"
    again = folders["first"] / "again"
    for name in ("result.json", "report.html", "report.md"):
        assert (again / name).read_bytes() == (exact / name).read_bytes()


def test_no_view_tells_a_time_or_none(folders: dict[str, Path]) -> None:
    for path in folders["first"].rglob("report.*"):
        text = path.read_text(encoding="utf-8")
        # Events that a monitor reads have times of their own, and those stay.
        if path.parent.name != "monitored":
            assert _MOMENT.search(text) is None, path
        assert _DURATION.search(text) is None, path
        assert "None" not in text, path


def test_documents_have_null_for_the_moment(folders: dict[str, Path]) -> None:
    for path in folders["first"].rglob("result.json"):
        document = json.loads(path.read_text(encoding="utf-8"))
        assert document["created"] is None
        assert document.get("seconds", {}) in (None, {})

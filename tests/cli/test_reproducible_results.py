"""Equal runs write equal bytes with --reproducible, whatever they run on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import equal_runs
import pytest
import result_writers

# What must not matter: processors, the seed of Python's hashes, machine code.
_VARIANTS = {
    "first": equal_runs.FIRST,
    "other seed, two processors": equal_runs.TWO_PROCESSORS,
    "no machine code": equal_runs.NO_MACHINE_CODE,
    "no numba": equal_runs.NO_NUMBA,
}
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
# Measured ones have a fraction here; a time limit is a setting, and stays.
_DURATION = re.compile(r"\d\.\d+ s\b")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> equal_runs.Results:
    return equal_runs.Results(result_writers.RESULTS, _VARIANTS, tmp_path_factory.mktemp("results"))


@pytest.fixture
def first(results: equal_runs.Results) -> Path:
    """The folder that the first of the variants has written."""
    (folder,) = results.folders("first")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in _VARIANTS if name != "first"])
def test_bytes_are_equal(results: equal_runs.Results, name: str) -> None:
    first, other = results.folders("first", name)
    assert equal_runs.different_files(first, other) == []


def test_every_command_wrote_its_result(first: Path) -> None:
    lines = result_writers.command_lines(result_writers.RESULTS, "1", Path())
    results = sorted(path.parent.name for path in first.rglob("result.json"))
    assert len(results) == len(lines)


def test_a_saved_result_is_rendered_again_alike(first: Path) -> None:
    exact = first / "exact"
    again = first / "again"
    for name in ("result.json", "report.html", "report.md"):
        assert (again / name).read_bytes() == (exact / name).read_bytes()


def test_no_view_tells_a_time_or_none(first: Path) -> None:
    for path in first.rglob("report.*"):
        text = path.read_text(encoding="utf-8")
        # Events that a monitor reads have times of their own, and those stay.
        if path.parent.name != "monitored":
            assert _MOMENT.search(text) is None, path
        assert _DURATION.search(text) is None, path
        assert "None" not in text, path


def test_documents_have_null_for_the_moment(first: Path) -> None:
    for path in first.rglob("result.json"):
        document = json.loads(path.read_text(encoding="utf-8"))
        assert document["created"] is None
        assert document.get("seconds", {}) in (None, {})

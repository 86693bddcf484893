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
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders that each of the variants has written, by its name."""
    return equal_runs.write_results(
        result_writers.RESULTS, _VARIANTS, tmp_path_factory.mktemp("results")
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in _VARIANTS if name != "first"])
def test_bytes_are_equal(folders: dict[str, Path], name: str) -> None:
    assert equal_runs.different_files(folders["first"], folders[name]) == []


def test_every_command_wrote_its_result(folders: dict[str, Path]) -> None:
    lines = result_writers.command_lines(result_writers.RESULTS, "1", Path())
    results = sorted(path.parent.name for path in folders["first"].rglob("result.json"))
    assert len(results) == len(lines)


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

"""Equal mitigations write equal bytes with --reproducible: their results and their models."""

from __future__ import annotations

import json
from pathlib import Path

import equal_runs
import pytest
import result_writers

pytestmark = [pytest.mark.skops, pytest.mark.tensorflow]

# They differ in everything that must not matter: processors, the seed of Python's hashes, numba.
# Each of these alone is tried with results that write no model.
_VARIANTS = {
    "two processors": equal_runs.TWO_PROCESSORS,
    "no numba": equal_runs.NO_NUMBA,
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> equal_runs.Results:
    pytest.importorskip("skops")
    return equal_runs.Results(
        result_writers.MITIGATIONS, _VARIANTS, tmp_path_factory.mktemp("mitigations")
    )


@pytest.mark.slow
def test_bytes_are_equal(results: equal_runs.Results) -> None:
    first, other = results.folders("two processors", "no numba")
    assert equal_runs.different_files(first, other) == []


def test_every_mitigation_wrote_a_result_and_a_model(results: equal_runs.Results) -> None:
    (written,) = results.folders("no numba")
    for name in result_writers.command_lines(result_writers.MITIGATIONS, "1", Path()):
        document = json.loads((written / name / "result.json").read_text(encoding="utf-8"))
        assert document["created"] is None
        model = {path.suffix for path in (written / result_writers.MODELS / name).iterdir()}
        assert ".json" in model
        assert model & {".keras", ".skops"}, name

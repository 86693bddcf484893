"""Damaged files of every kind: a documented exit code, one line, and nothing half-written."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from file_kinds import KINDS
from mutations import ODD_VALUES, change_document

CASES = int(os.environ.get("TESTSGD_FUZZ_CASES", "300"))
RUNNER = Path(__file__).with_name("case_runner.py")

# Kinds that still show faults, or that were not tried enough.
# A case is repeated by: python tests/fuzz/case_runner.py KIND NUMBER
OPEN: dict[str, str] = {}


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(KINDS.keys() - OPEN.keys()))
def test_damaged_files_are_said_in_one_line(kind: str) -> None:
    if lacking := KINDS[kind].lacks:
        pytest.skip(f"{', '.join(lacking)} not installed")
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    words = [sys.executable, str(RUNNER), kind, "0", str(CASES - 1)]
    finished = subprocess.run(
        words, capture_output=True, text=True, check=False, env={**os.environ, **single}
    )
    assert finished.returncode == 0, finished.stderr[-2000:]
    *faulty, summary = finished.stdout.splitlines()
    assert json.loads(summary)["cases"] == CASES
    repeated = f"python tests/fuzz/case_runner.py {kind}"
    told = [
        f"{repeated} {case['number']}: {'; '.join(case['faults'])}\n  {case['err'][:300]}"
        for case in map(json.loads, faulty[:10])
    ]
    assert not faulty, f"{len(faulty)} of {CASES} cases:\n" + "\n".join(told)


def test_a_damaged_document_depends_on_its_number_alone() -> None:
    document = json.dumps({"groups": ["a", "b"], "bounds": {"low": 1, "high": [2, 3]}}).encode()
    before = repr(ODD_VALUES)
    # A change may be inside of an odd value that the one before it has put there.
    for number in range(3_000):
        change_document(document, random.Random(number))
    assert repr(ODD_VALUES) == before

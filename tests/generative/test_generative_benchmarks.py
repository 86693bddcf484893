"""The benchmarks of this room run; what they measure is no test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.serve]


def test_quick_run_works_and_writes_nothing():
    page, results = (
        ROOT / "docs" / "benchmarks.md",
        ROOT / "benchmarks" / "generative_results.json",
    )
    before = page.read_bytes(), results.read_bytes()
    command = [sys.executable, "-m", "benchmarks.generative_cases", "--quick"]
    finished = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert finished.returncode == 0
    for case in ("obedient", "requests", "disobedient", "assessment", "enforcer", "serving"):
        assert f"{case} ...\n" in finished.stdout
    assert (page.read_bytes(), results.read_bytes()) == before

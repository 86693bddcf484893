"""Damaged files of every kind: a documented exit code, one line, and nothing half-written."""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pytest
from file_kinds import KINDS
from mutations import ODD_VALUES, change_document

CASES = int(os.environ.get("TESTSGD_FUZZ_CASES", "300"))
SERVER = Path(__file__).with_name("kind_server.py")

# Kinds that still show faults, or that were not tried enough.
# A case is repeated by: python tests/fuzz/case_runner.py KIND NUMBER
OPEN: dict[str, str] = {}


@pytest.fixture(scope="module")
def server() -> Iterator[Popen[str]]:
    """Start the process whose forks run the cases."""
    settings = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    # In large pages, where there are any: a fork copies a table of all pages.
    settings |= {"PYTHONMALLOC": "malloc", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
    words = [sys.executable, str(SERVER)]
    environment = {**os.environ, **settings}
    with Popen(words, stdin=PIPE, stdout=PIPE, text=True, env=environment) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def answer(server: Popen[str], words: list[str]) -> dict[str, Any]:
    """Have the words of ``case_runner.py`` run; return how that ended, and what it wrote."""
    assert server.stdin is not None
    assert server.stdout is not None
    print(json.dumps(words), file=server.stdin, flush=True)
    answered: dict[str, Any] = json.loads(server.stdout.readline())
    return answered


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(KINDS.keys() - OPEN.keys()))
def test_damaged_files_are_said_in_one_line(kind: str, server: Popen[str]) -> None:
    if lacking := KINDS[kind].lacks:
        pytest.skip(f"{', '.join(lacking)} not installed")
    finished = answer(server, [kind, "0", str(CASES - 1)])
    assert finished["code"] == 0, finished["err"][-2000:]
    *faulty, summary = finished["out"].splitlines()
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

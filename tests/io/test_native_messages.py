"""Messages of libraries in machine code are kept from the standard error, Python's own are not."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import os, sys
from testsgd.io import without_native_messages
os.write(2, b"before ")
try:
    with without_native_messages():
        os.write(2, b"native ")
        print("python", end=" ", file=sys.stderr, flush=True)
        {inside}
except ValueError:
    pass
print("after", file=sys.stderr)
os.write(2, b"end")
"""


@pytest.mark.parametrize("inside", ["pass", "raise ValueError"])
def test_only_what_python_prints_is_seen(inside: str) -> None:
    program = PROGRAM.format(inside=inside)
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert finished.stderr.split() == [b"before", b"python", b"after", b"end"]


def test_a_quiet_training_says_nothing(tmp_path: object) -> None:
    pytest.importorskip("tensorflow")
    words = ["-m", "testsgd", "train", "demo", "--epochs", "1", "--limit", "300", "--quiet"]
    words += ["--out", f"{tmp_path}/model"]
    finished = subprocess.run([sys.executable, *words], capture_output=True, check=False)
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, b"", b"")

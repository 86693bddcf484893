"""The process whose children are killed, and a folder for each test."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen

import pytest
from killing import Killer, start_server


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder: they take long, and there is no SIGKILL on Windows."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL"))


@pytest.fixture(scope="session")
def server() -> Iterator[Popen[str]]:
    with start_server() as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture
def killer(server: Popen[str], tmp_path: Path) -> Iterator[Killer]:
    killer = Killer(tmp_path, server)
    yield killer
    print(f"{killer.kills} kills, {killer.seconds:.1f} s")

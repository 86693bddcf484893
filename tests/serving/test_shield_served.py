"""A real server in its own process: killed at any moment, it goes on where it was."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import small_shields

pytest.importorskip("uvicorn")
pytestmark = pytest.mark.serve


@pytest.fixture
def shield_file(tmp_path: Path) -> Path:
    path = tmp_path / "shield.npz"
    small_shields.shield().save(path)
    return path


@contextmanager
def served(path: Path) -> Iterator[tuple[http.client.HTTPConnection, subprocess.Popen[str]]]:
    command = [sys.executable, "-m", "testsgd", "shield", "serve", str(path), "--port", "0"]
    command += ["--journal", str(path.with_name("journal"))]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().rpartition("//")[2].strip()
            connection = http.client.HTTPConnection(address, timeout=60)
            yield connection, process
            connection.close()
        finally:
            process.kill()


def posted(connection: http.client.HTTPConnection, event: dict[str, Any]) -> dict[str, Any]:
    connection.request("POST", "/decide", json.dumps(event))
    answer = connection.getresponse()
    assert answer.status == 200
    found: dict[str, Any] = json.loads(answer.read())
    return found


@pytest.mark.slow
def test_a_killed_server_goes_on_where_it_was(shield_file: Path) -> None:
    twin = small_shields.shield()
    person = 0
    for wanted in (3, 4):
        with served(shield_file) as (connection, process):
            if person:
                # The answer may have been lost: asked again, nothing is counted twice.
                last = {"group": "a", "recommendation": 1, "id": str(person - 1)}
                assert posted(connection, last)["step"] == person
            for _ in range(wanted):
                event = {"group": "a", "recommendation": 1, "id": str(person)}
                assert posted(connection, event)["decision"] == twin.decide("a", 1)
                person += 1
            process.kill()
            process.wait()
    with served(shield_file) as (connection, process):
        connection.request("GET", "/state")
        state = json.loads(connection.getresponse().read())
        assert (state["step"], state["interventions"]) == (7, twin.interventions)
        process.terminate()
        assert process.wait() in (0, -15)


def test_a_port_that_is_taken_is_one_line(shield_file: Path) -> None:
    with served(shield_file) as (connection, _):
        command = [sys.executable, "-m", "testsgd", "shield", "serve", str(shield_file)]
        finished = subprocess.run(
            [*command, "--port", str(connection.port)], capture_output=True, text=True, check=False
        )
    assert (finished.returncode, finished.stdout, finished.stderr.count("\n")) == (2, "", 1)
    assert "cannot listen there" in finished.stderr

"""A real server in its own process: killed at any moment, it goes on where it was."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import impatient_program
import pytest
import small_shields

from testsgd.serving.connections import MOST_CONNECTIONS
from testsgd.serving.guard import BODY_SECONDS

pytest.importorskip("uvicorn")
pytestmark = pytest.mark.serve

PROGRAM = ("-m", "testsgd")
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def shield_file(tmp_path: Path) -> Path:
    path = tmp_path / "shield.npz"
    small_shields.shield().save(path)
    return path


@contextmanager
def served(
    path: Path, *options: str, program: Sequence[str] = PROGRAM
) -> Iterator[tuple[http.client.HTTPConnection, subprocess.Popen[str]]]:
    command = [sys.executable, *program, "shield", "serve", str(path), "--port", "0"]
    command += ["--journal", str(path.with_name("journal")), *options]
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
    connection.request("POST", "/decide", json.dumps(event), JSON)
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


def test_who_may_ask(shield_file: Path, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("a-long-secret\n")
    person = json.dumps({"group": "a", "recommendation": 1})
    right = {"Authorization": "Bearer a-long-secret"}
    allowed = ("--token-file", str(token), "--allow-host", "shields.example")
    with served(shield_file, *allowed) as (connection, _):

        def status(method: str, path: str, **headers: str) -> int:
            given = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, person if method == "POST" else None, given)
            answer = connection.getresponse()
            answer.read()
            return answer.status

        assert status("GET", "/healthz") == 200
        assert status("GET", "/readyz") == 200
        assert status("GET", "/state") == 401
        assert status("GET", "/state", Authorization="Bearer another") == 401
        assert status("GET", "/state", **right) == 200
        assert status("GET", "/state", Host="evil.example", **right) == 421
        assert status("GET", "/state", Host="shields.example", **right) == 200
        assert status("POST", "/decide", Content_Type="text/plain", **right) == 415
        origin = {"Origin": "http://evil.example"}
        assert status("POST", "/decide", **JSON, **right, **origin) == 403
        origin = {"Origin": f"http://{connection.host}:{connection.port + 1}"}
        assert status("POST", "/decide", **JSON, **right, **origin) == 403
        origin = {"Origin": f"http://{connection.host}:{connection.port}"}
        assert status("POST", "/decide", **JSON, **right, **origin) == 200
        # A proxy leaves out its port.
        behind = {"Host": "shields.example", "Origin": "https://shields.example:8443"}
        assert status("GET", "/state", **right, **behind) == 200
        connection.request("GET", "/state", headers=right)
        assert json.loads(connection.getresponse().read())["step"] == 1


@pytest.mark.slow
def test_connections_that_say_nothing_do_not_keep_others_out(shield_file: Path) -> None:
    impatient = (impatient_program.__file__,)
    with served(shield_file, program=impatient) as (connection, process):
        address = (connection.host, connection.port)
        begun = b"POST /decide HTTP/1.1\r\nHost: localhost\r\n"
        head = begun + b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
        beginnings = [b"", begun, head]
        answers = []
        with ExitStack() as stack:
            held = [
                stack.enter_context(socket.create_connection(address, timeout=60))
                for _ in range(3 * MOST_CONNECTIONS // 2)
            ]
            for number, one in enumerate(held):
                with suppress(OSError):  # Beyond the limit they are closed.
                    one.sendall(beginnings[number % 3])
            time.sleep(impatient_program.HEAD_SECONDS + impatient_program.BODY_SECONDS)
            assert posted(connection, {"group": "a", "recommendation": 1})["step"] == 1
            for one in held:
                with suppress(OSError):
                    answers.append(one.recv(100))
        assert any(answer.startswith(b"HTTP/1.1 408") for answer in answers)
        process.terminate()
        _, errors = process.communicate()
        assert "Traceback" not in errors


def test_a_client_that_leaves_is_no_traceback(shield_file: Path) -> None:
    with served(shield_file) as (connection, process):
        head = b"POST /decide HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        for _ in range(5):
            with socket.create_connection((connection.host, connection.port)) as leaving:
                leaving.sendall(head + b"Content-Length: 100\r\n\r\n{")
                time.sleep(0.05)
        assert posted(connection, {"group": "a", "recommendation": 1})["step"] == 1
        process.terminate()
        _, errors = process.communicate()
        assert "Traceback" not in errors


@pytest.mark.parametrize("length", [b"99999999999", b"9" * 5_000])
def test_a_body_that_is_said_to_be_too_long_is_not_waited_for(
    length: bytes, shield_file: Path
) -> None:
    with served(shield_file) as (connection, process):
        head = b"POST /decide HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        with socket.create_connection((connection.host, connection.port), timeout=60) as asking:
            started = time.monotonic()
            asking.sendall(head + b"Content-Length: " + length + b"\r\n\r\n{")
            status = asking.recv(100)[:12]
            # A length that is no number of 64 bits is refused by the parser of the head.
            assert status in (b"HTTP/1.1 413", b"HTTP/1.1 400")[: 1 + (len(length) > 19)]
            assert time.monotonic() - started < BODY_SECONDS / 2
        assert posted(connection, {"group": "a", "recommendation": 1})["step"] == 1
        process.terminate()
        _, errors = process.communicate()
        assert "Traceback" not in errors


@pytest.mark.slow
def test_several_shields_have_journals_and_addresses_of_their_own(tmp_path: Path) -> None:
    paths = [tmp_path / "loans.npz", tmp_path / "jobs.npz"]
    for path in paths:
        small_shields.shield().save(path)
    with served(paths[0], str(paths[1])) as (connection, _):
        person = json.dumps({"group": "a", "recommendation": 1})
        connection.request("POST", "/shields/loans/decide", person, JSON)
        assert json.loads(connection.getresponse().read())["step"] == 1
        connection.request("GET", "/shields/jobs/state")
        assert json.loads(connection.getresponse().read())["step"] == 0
    assert sorted(path.name for path in (tmp_path / "journal").iterdir()) == [
        "jobs.journal",
        "loans.journal",
    ]

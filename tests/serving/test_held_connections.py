"""Requests that never end, more of them than a server may hold, keep nobody else out."""

from __future__ import annotations

import http.client
import itertools
import json
import random
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
import small_shields

pytest.importorskip("uvicorn")
from fake_model import FakeModel, running, standing_before
from test_generative_served import served as served_before
from test_shield_served import JSON, posted, served

from testsgd.serving.connections import (
    WaitingConnections,
    bounded_protocol,
    connections_with_files,
)

pytestmark = pytest.mark.serve

HELD = 400
BEGUN = b"POST /decide HTTP/1.1\r\nHost: localhost\r\n"
WITHOUT_BODY = BEGUN + b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
CHUNKED = BEGUN + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"
BEGINNINGS = [b"", BEGUN, WITHOUT_BODY, CHUNKED]
PERSON = {"group": "a", "recommendation": 1}
# Far below the ten seconds after which a server gives up an unfinished request by itself.
PROMPT = 5.0


@contextmanager
def held(host: str, port: int, number: int = HELD) -> Iterator[list[socket.socket]]:
    """Begin requests that never end, of each kind."""
    with ExitStack() as stack:
        connections = []
        for _, beginning in zip(range(number), itertools.cycle(BEGINNINGS), strict=False):
            one = stack.enter_context(socket.create_connection((host, port), timeout=60))
            with suppress(OSError):  # It may be closed already.
                one.sendall(beginning)
            connections.append(one)
        yield connections


@pytest.fixture
def shield_file(tmp_path: Path) -> Path:
    path = tmp_path / "shield.npz"
    small_shields.shield().save(path)
    return path


def test_unfinished_requests_keep_nobody_out(shield_file: Path) -> None:
    with served(shield_file, "--max-connections", "20") as (connection, process):
        with held(connection.host, connection.port):
            for step in range(1, 4):
                # Each of these is a new connection.
                for path in ("/healthz", "/readyz"):
                    asking = http.client.HTTPConnection(
                        connection.host, connection.port, timeout=PROMPT
                    )
                    asking.request("GET", path)
                    assert asking.getresponse().status == 200
                    asking.close()
                asking = http.client.HTTPConnection(
                    connection.host, connection.port, timeout=PROMPT
                )
                assert posted(asking, PERSON)["step"] == step
                asking.close()
        process.terminate()
        _, errors = process.communicate()
        assert "Traceback" not in errors


def test_unfinished_requests_keep_nobody_from_a_model(tmp_path: Path) -> None:
    options = ("--max-connections", "20")
    with (
        running(FakeModel().app) as upstream,
        served_before(tmp_path, upstream, *options) as (address, process),
    ):
        host, port = address.split(":")
        with held(host, int(port)):
            for _ in range(3):
                asking = http.client.HTTPConnection(host, int(port), timeout=PROMPT)
                asking.request("POST", "/v1/completions", json.dumps({"prompt": "A nurse"}))
                assert asking.getresponse().status == 200
                asking.close()
        process.terminate()
        _, errors = process.communicate()
        assert "Traceback" not in errors


def test_what_is_being_answered_is_not_closed_for_others() -> None:
    model = FakeModel()
    model.fails = "stuck"
    with running(model.app, http=bounded_protocol(10)) as address:
        host, port = address.rpartition("/")[2].split(":")
        asking = http.client.HTTPConnection(host, int(port), timeout=PROMPT)
        body = json.dumps({"messages": [], "stream": True})
        asking.request("POST", "/v1/chat/completions", body, JSON)
        answer = asking.getresponse()
        assert answer.readline().startswith(b"data:")
        with held(host, int(port), 100):
            other = http.client.HTTPConnection(host, int(port), timeout=PROMPT)
            other.request("GET", "/v1/models")
            assert other.getresponse().status == 200
            other.close()
            asking.sock.settimeout(0.2)
            # The answer goes on: nothing comes yet, but the connection is not closed.
            with pytest.raises(TimeoutError):
                answer.read()
        asking.close()


def test_unfinished_bodies_take_no_place_of_a_model() -> None:
    begun = WITHOUT_BODY.replace(b"/decide", b"/v1/completions")
    with standing_before(FakeModel(), max_requests=1) as (_, address), ExitStack() as stack:
        host, port = address.rpartition("/")[2].split(":")
        for _ in range(5):
            one = stack.enter_context(socket.create_connection((host, int(port)), timeout=60))
            one.sendall(begun)
        asking = http.client.HTTPConnection(host, int(port), timeout=60)
        asking.request("POST", "/v1/completions", json.dumps({"prompt": "A nurse"}))
        assert asking.getresponse().status == 200
        asking.close()


def test_the_client_with_most_waiting_connections_loses_its_oldest() -> None:
    waiting = WaitingConnections()
    order: list[tuple[int, str]] = []
    chance = random.Random(36)
    for number in range(2_000):
        if order and chance.random() < 0.4:
            gone = chance.choice(order)
            order.remove(gone)
            waiting.discard(*gone)
            waiting.discard(*gone)
        else:
            client = chance.choice("aabc")
            order.append((number, client))
            waiting.add(number, client)
            waiting.add(*chance.choice(order))
        assert len(waiting) == len(order)
        names = [client for _, client in order]
        oldest = waiting.oldest()
        if oldest is None:
            assert not order
            continue
        (client,) = [name for number, name in order if number == oldest]
        assert names.count(client) == max(names.count(name) for name in names)
        assert oldest == min(number for number, name in order if name == client)


def test_there_are_files_for_the_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    limits = [(1_024, 1_048_576)]
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda _, wanted: limits.append(wanted))
    assert connections_with_files(100) == 100
    assert len(limits) == 1
    assert connections_with_files(2_100) == 2_100
    assert 4_200 < limits[-1][0] <= limits[-1][1] == 1_048_576
    limits.append((1_024, 1_024))
    fewer = connections_with_files(2_100)
    assert 100 < fewer < 1_024 // 2


def test_a_head_without_end_is_not_kept(shield_file: Path) -> None:
    with served(shield_file) as (connection, _):
        address = (connection.host, connection.port)
        with socket.create_connection(address, timeout=PROMPT) as asking:
            asking.sendall(BEGUN + b"X-Long: ")
            with pytest.raises((ConnectionResetError, BrokenPipeError)):
                asking.sendall(b"a" * 100_000_000)
        assert posted(connection, PERSON)["step"] == 1


def test_a_refusal_is_read_by_who_sends_a_long_body(shield_file: Path, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("a-long-secret")
    with served(shield_file, "--token-file", str(token)) as (connection, _):
        for headers, wanted in [
            (JSON, 401),
            ({**JSON, "Host": "evil.example"}, 421),
            ({**JSON, "Authorization": "bearer a-long-secret"}, 413),
        ]:
            connection.request("POST", "/decide", b" " * 10_000_000, headers)
            answer = connection.getresponse()
            assert answer.status == wanted
            answer.read()
            # The connection goes on with the next request.
            connection.request("GET", "/healthz")
            assert connection.getresponse().read()

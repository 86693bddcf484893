"""What fails between a client and a model, before a value was passed on, changes no state."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("httpx")
pytest.importorskip("starlette")
from fake_model import FakeModel, standing_before

from testsgd.errors import StateError
from testsgd.generative import Enforcer

pytestmark = pytest.mark.serve

SECRET = "Bearer sk-very-secret"
PROMPT = {"model": "fake", "prompt": "A nurse"}


def asked(
    address: str, body: Any, *, path: str = "/v1/completions", method: str = "POST"
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(address.rpartition("/")[2], timeout=30)
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        connection.request(method, path, content, {"Authorization": SECRET})
        answer = connection.getresponse()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, headers, answer.read()
    finally:
        connection.close()


def error_of(body: bytes) -> dict[str, Any]:
    error: dict[str, Any] = json.loads(body)["error"]
    assert error["message"]
    assert "\n" not in error["message"]
    return error


def counts(enforcer: Enforcer) -> list[tuple[Any, ...]]:
    return [
        (one.state.counters, one.state.counts, one.state.misses, len(one.state.slots))
        for one in enforcer.status()
    ]


UNTOUCHED = [((3, 3), (0, 0), (0, 0), 0)]


def until(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.02)
    return holds()


@pytest.mark.parametrize(
    ("fails", "status"), [("500", 500), ("html", 502), ("null", 502), ("slow", 504)]
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_model_that_fails_changes_nothing(fails: str, status: int, stream: bool) -> None:
    model = FakeModel()
    model.fails = fails
    quick = {"upstream": {"timeout": 0.3}}
    with standing_before(model, specification=quick) as (enforcer, address):
        found, _, body = asked(address, {**PROMPT, "stream": stream})
        assert (found, counts(enforcer)) == (status, UNTOUCHED)
        assert (
            error_of(body) if fails != "500" else body == b'{"error":{"message":"out of memory"}}'
        )
        model.fails = ""
        assert asked(address, PROMPT)[0] == 200


def test_a_model_that_is_down_changes_nothing() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        nowhere = f"http://127.0.0.1:{port}/v1"
        with standing_before(FakeModel(), upstream=nowhere) as (enforcer, address):
            for stream in (False, True):
                status, _, body = asked(address, {**PROMPT, "stream": stream})
                assert (status, counts(enforcer)) == (502, UNTOUCHED)
                assert error_of(body)["type"] == "server_error"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"nope", 400),
        (b"[1]", 400),
        (b'"a"', 400),
        (b"[" * 100_000, 400),
        (b"\xff{}", 400),
        ({}, 400),
        ({"prompt": ["a", "b"]}, 400),
        ({"prompt": [1, 2]}, 400),
        ({**PROMPT, "n": 2}, 400),
        ({**PROMPT, "echo": True}, 400),
        ({"prompt": "a" * 1_048_576}, 413),
    ],
    ids=lambda given: str(given)[:20],
)
def test_a_wrong_request_is_refused(body: Any, status: int) -> None:
    model = FakeModel()
    with standing_before(model) as (enforcer, address):
        found, _, content = asked(address, body)
        assert (found, counts(enforcer), model.requests) == (status, [], [])
        assert error_of(content)["type"] == "invalid_request_error"


@pytest.mark.parametrize("messages", [None, [], "Hello", [1]])
def test_a_chat_without_messages_is_refused(messages: Any) -> None:
    with standing_before(FakeModel()) as (enforcer, address):
        body = {"messages": messages}
        assert asked(address, body, path="/v1/chat/completions")[0] == 400
        assert counts(enforcer) == []


def test_a_long_prompt_is_passed_on() -> None:
    with standing_before(FakeModel()) as (enforcer, address):
        assert asked(address, {"prompt": "A nurse. " * 110_000})[0] == 200
        assert counts(enforcer)[0][1] == (1, 0)


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_goes_before_the_answer_changes_nothing(stream: bool) -> None:
    model = FakeModel()
    model.fails = "slow"
    with standing_before(model) as (enforcer, address):
        connection = http.client.HTTPConnection(address.rpartition("/")[2])
        connection.request("POST", "/v1/completions", json.dumps({**PROMPT, "stream": stream}))
        assert until(lambda: bool(model.requests))
        connection.close()
        assert until(lambda: counts(enforcer) == UNTOUCHED)
        assert until(
            lambda: b'status="499"' in asked(address, b"", path="/metrics", method="GET")[2]
        )


@pytest.mark.parametrize("stream", [False, True])
def test_a_classifier_that_fails_changes_nothing(stream: bool) -> None:
    def classify(output: str) -> str:
        raise RuntimeError(output)

    with standing_before(FakeModel(), classify={"gender": classify}) as (enforcer, address):
        status, _, body = asked(address, {**PROMPT, "stream": stream})
        assert counts(enforcer) == UNTOUCHED
        assert status == (200 if stream else 502)
        assert b"classifier" in body


def test_it_is_ready_while_its_state_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    with standing_before(FakeModel()) as (enforcer, address):
        assert asked(address, None, path="/readyz", method="GET")[0] == 200

        def fail() -> None:
            raise StateError("the state cannot be read")

        monkeypatch.setattr(enforcer, "status", fail)
        status, _, body = asked(address, None, path="/readyz", method="GET")
        assert (status, error_of(body)["code"]) == (503, "state_unavailable")
        assert asked(address, None, path="/healthz", method="GET")[0] == 200


def test_a_state_that_cannot_be_written_is_503(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise StateError("the disc is full")

    with standing_before(FakeModel()) as (enforcer, address):
        monkeypatch.setattr(enforcer.store, "update", fail)
        status, _, body = asked(address, PROMPT)
        assert status == 503
        assert error_of(body)["message"] == "the disc is full"


def test_content_that_is_said_not_to_be_json_is_refused() -> None:
    with standing_before(FakeModel()) as (enforcer, address):
        connection = http.client.HTTPConnection(address.rpartition("/")[2], timeout=30)
        for kind, wanted in [
            ("text/plain", 415),
            ("application/x-www-form-urlencoded", 415),
            ("application/json; charset=utf-8", 200),
        ]:
            connection.request(
                "POST", "/v1/completions", json.dumps(PROMPT), {"Content-Type": kind}
            )
            answer = connection.getresponse()
            answer.read()
            assert answer.status == wanted
        connection.close()
        assert sum(sum(one.state.counts) for one in enforcer.status()) == 1


def test_too_many_requests_at_a_time_are_refused() -> None:
    model = FakeModel()
    model.fails = "slow"
    with standing_before(model, max_requests=1) as (_, address):
        connection = http.client.HTTPConnection(address.rpartition("/")[2])
        connection.request("POST", "/v1/completions", json.dumps(PROMPT))
        assert until(lambda: bool(model.requests))
        status, _, body = asked(address, PROMPT)
        assert (status, error_of(body)["code"]) == (503, "overloaded")
        connection.close()


def test_the_secret_of_a_client_is_kept_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    with standing_before(FakeModel()) as (enforcer, address):
        asked(address, PROMPT)
        shown = "".join(
            asked(address, b"", path=path, method="GET")[2].decode()
            for path in ("/state", "/metrics", "/")
        )
        kept = [*enforcer.store.read(), *enforcer.store.read().values(), *enforcer.store.journal()]
        (status,) = enforcer.status()
        assert len(status.tenant) == 16
    for text in (shown, *kept, caplog.text):
        assert "very-secret" not in text


def test_tenants_have_their_own_sequences() -> None:
    with standing_before(FakeModel()) as (enforcer, address):
        for tenant in ("a", "b", "a"):
            connection = http.client.HTTPConnection(address.rpartition("/")[2])
            connection.request(
                "POST", "/v1/completions", json.dumps(PROMPT), {"X-Testsgd-Tenant": tenant}
            )
            assert connection.getresponse().status == 200
            connection.close()
        found = {one.tenant: one.state.outputs for one in enforcer.status()}
        assert found == {"a": 2, "b": 1}


def test_cookies_and_hops_stay_where_they_belong() -> None:
    model = FakeModel()
    with standing_before(model) as (_, address):
        connection = http.client.HTTPConnection(address.rpartition("/")[2])
        headers = {"X-Hop": "1", "Connection": "x-hop", "X-Testsgd-Tenant": "a", "X-Kept": "1"}
        connection.request("POST", "/v1/completions", json.dumps(PROMPT), headers)
        assert connection.getresponse().status == 200
        connection.close()
    (sent,) = model.headers
    assert sent["x-kept"] == "1"
    assert not {"x-hop", "x-testsgd-tenant"} & sent.keys()


def test_metrics_count_chats_that_pass_as_they_are_not_neutral() -> None:
    with standing_before(FakeModel()) as (_, address):
        for role in ("system", "assistant"):
            asked_again = {"role": "user", "content": "The nurse was tired"}
            chat = {"messages": [{"role": role, "content": "She is here."}, asked_again]}
            asked(address, {"model": "fake", **chat}, path="/v1/chat/completions")
        text = asked(address, b"", path="/metrics", method="GET")[2].decode()
    assert 'testsgd_not_neutral_total{requirement="gender"} 2.0' in text


def test_metrics_count_what_happened() -> None:
    with standing_before(FakeModel()) as (_, address):
        for _ in range(3):
            asked(address, PROMPT)
        text = asked(address, b"", path="/metrics", method="GET")[2].decode()
        state = json.loads(asked(address, b"", path="/state", method="GET")[2])
    assert 'testsgd_requests_total{endpoint="completions",status="200"} 3.0' in text
    assert 'testsgd_injections_total{requirement="gender",value="male"} 1.0' in text
    assert "testsgd_added_seconds_count 3.0" in text
    (sequence,) = state["sequences"]
    assert (sequence["recent"], sequence["open"]) == ([1, 1, -2], 0)
    assert sequence["deadlines_left"] == {"female": 2, "male": 3}

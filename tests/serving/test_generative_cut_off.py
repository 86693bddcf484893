"""A stream that is cut off counts, if a value was passed on to the client before."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("httpx")
pytest.importorskip("starlette")
from fake_model import SPECIFICATION, FakeModel, running, standing_before

from testsgd.generative import Enforcer
from testsgd.serving import generative_app

pytestmark = pytest.mark.serve

BETA = 3
# The first piece of a completion has a value; that of a chat is empty.
COMPLETION = ("/v1/completions", {"prompt": "A nurse"})
CHAT = ("/v1/chat/completions", {"messages": [{"role": "user", "content": "A nurse"}]})


class Client:
    """A client that asks for a stream and reads of it as much as it likes."""

    def __init__(self, address: str, asked: tuple[str, dict[str, Any]]) -> None:
        path, body = asked
        self._connection = http.client.HTTPConnection(address.rpartition("/")[2], timeout=30)
        self._connection.request("POST", path, json.dumps({**body, "stream": True}))
        self._answer = self._connection.getresponse()
        assert self._answer.status == 200

    def event(self) -> bytes:
        """Return the next event of the stream, without its end."""
        event = self._answer.readline()
        self._answer.readline()
        return event

    def rest(self) -> bytes:
        return self._answer.read()

    def stop(self) -> None:
        self._answer.close()
        self._connection.close()


def text_of(event: bytes) -> str:
    choice = json.loads(event.removeprefix(b"data: "))["choices"][0]
    text: str = choice["delta"].get("content", "") if "delta" in choice else choice["text"]
    return text


def until(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.02)
    return holds()


def state(enforcer: Enforcer) -> Any:
    (status,) = enforcer.status()
    return status.state


def recounted(received: list[str], *, beta: int = BETA) -> tuple[list[int], int]:
    """Return how many texts have each value, and how often a value is away for too long."""
    labels = ["she" in text.split() for text in received]
    windows = [labels[start : start + beta] for start in range(len(labels) - beta + 1)]
    missed = sum(len(set(window)) < len({True, False}) for window in windows)
    return [labels.count(True), labels.count(False)], missed


def test_twelve_clients_that_stop_after_the_value_keep_the_bound() -> None:
    model = FakeModel()
    model.fails = "stuck"
    received = []
    with standing_before(model) as (enforcer, address):
        for _ in range(12):
            client = Client(address, COMPLETION)
            received.append(text_of(client.event()))
            client.stop()
        counts, missed = recounted(received)
        assert missed == 0
        assert until(lambda: not state(enforcer).slots)
        assert list(state(enforcer).counts) == counts
        assert (state(enforcer).returned, state(enforcer).misses) == (0, (0, 0))


@pytest.mark.parametrize("fails", ["broken", "error"])
def test_a_model_that_breaks_off_after_the_value_keeps_the_bound(fails: str) -> None:
    model = FakeModel()
    model.fails = fails
    received = []
    with standing_before(model) as (enforcer, address):
        for _ in range(7):
            client = Client(address, COMPLETION)
            received.append(text_of(client.event()))
            rest = client.rest()
            assert b'"error"' in rest
            assert b"[DONE]" not in rest
            client.stop()
        counts, missed = recounted(received)
        assert missed == 0
        assert list(state(enforcer).counts) == counts
        assert state(enforcer).slots == ()


@pytest.mark.parametrize("fails", ["broken", "error", "stuck"])
def test_a_stream_without_a_value_is_given_back_and_the_deadline_stays(fails: str) -> None:
    model = FakeModel()
    with standing_before(model) as (enforcer, address):
        for _ in range(BETA - 1):
            whole = Client(address, COMPLETION)
            whole.rest()
            whole.stop()
        before = state(enforcer)
        model.fails = fails
        for tries in (1, 2):
            client = Client(address, CHAT)
            assert text_of(client.event()) == ""
            if fails != "stuck":
                client.rest()
            client.stop()
            assert until(lambda tries=tries: state(enforcer).returned == tries)
        after = state(enforcer)
        assert (after.counters, after.counts, after.asked) == (
            before.counters,
            before.counts,
            before.asked,
        )
        model.fails = ""
        last = Client(address, COMPLETION)
        assert text_of(last.event()) == "he"
        last.rest()
        last.stop()
        assert state(enforcer).misses == (0, 0)


def test_a_beginning_that_was_put_before_an_empty_piece_counts() -> None:
    texts = {"ask": {"prefix": {"female": " she", "male": " he"}}}
    grouping = {**SPECIFICATION["groupings"]["gender"], **texts}
    specification = {"groupings": {"gender": grouping}, "enforcement": {"way": "prefix"}}
    model = FakeModel()
    with standing_before(model, specification=specification) as (enforcer, address):
        for _ in range(BETA - 1):
            whole = Client(address, COMPLETION)
            whole.rest()
            whole.stop()
        model.fails = "broken"
        client = Client(address, CHAT)
        assert text_of(client.event()) == " he"
        client.rest()
        client.stop()
        assert state(enforcer).counts == (BETA - 1, 1)


def test_a_classifier_that_fails_gives_a_cut_off_stream_back() -> None:
    def classify(output: str) -> str:
        raise RuntimeError(output)

    model = FakeModel()
    model.fails = "broken"
    with standing_before(model, classify={"gender": classify}) as (enforcer, address):
        client = Client(address, COMPLETION)
        client.rest()
        client.stop()
        assert (state(enforcer).returned, state(enforcer).slots) == (1, ())


def test_a_classifier_that_waits_counts_though_the_client_has_gone() -> None:
    def classify(output: str) -> str:
        time.sleep(0.2)
        return "female" if "she" in output else "male"

    model = FakeModel()
    model.fails = "stuck"
    with standing_before(model, classify={"gender": classify}) as (enforcer, address):
        client = Client(address, COMPLETION)
        client.event()
        client.stop()
        assert until(lambda: state(enforcer).counts == (1, 0))


def test_a_server_that_ends_counts_what_was_passed_on(tmp_path: Path) -> None:
    def classify(output: str) -> str:
        time.sleep(0.2)
        return "female" if "she" in output else "male"

    model = FakeModel()
    model.fails = "stuck"
    enforcer = Enforcer(SPECIFICATION, state=tmp_path / "s.sqlite", classify={"gender": classify})
    with running(model.app) as upstream:
        with running(generative_app(enforcer, upstream=f"{upstream}/v1")) as address:
            client = Client(address, COMPLETION)
            client.event()
        # The server has ended.
        found = state(enforcer)
        enforcer.close()
        client.stop()
    assert (found.counts, found.slots) == ((1, 0), ())


def test_a_ticket_that_expired_counts_at_the_end_of_the_sequence() -> None:
    model = FakeModel()
    model.fails = "stuck"
    quick = {"enforcement": {"ticket_seconds": 0.05}}
    with standing_before(model, specification=quick) as (enforcer, address):
        client = Client(address, COMPLETION)
        client.event()
        time.sleep(0.1)
        enforcer.finish(enforcer.begin("A nurse"), "he slept.")
        assert state(enforcer).expired == 1
        client.stop()
        assert until(lambda: state(enforcer).counts == (1, 1))

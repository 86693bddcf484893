"""The client of OpenAI against a server that stands before a model."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest

pytest.importorskip("httpx")
pytest.importorskip("starlette")
pytest.importorskip("openai")
import openai
from fake_model import ASKED, FakeModel, standing_before

from testsgd.generative import Enforcer

pytestmark = pytest.mark.serve

KEY = "sk-very-secret"
PREFIX = {
    "groupings": {
        "gender": {
            "values": ["female", "male"],
            "terms": {"female": ["she"], "male": ["he"]},
            "ask": {"prefix": {"female": "she, ", "male": "he, "}},
        }
    },
    "enforcement": {"way": "prefix"},
}


def client(address: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{address}/v1", api_key=KEY, max_retries=0)


def state(enforcer: Enforcer) -> Any:
    (status,) = enforcer.status()
    return status.state


def test_chat_keeps_the_deadlines() -> None:
    model = FakeModel()
    with standing_before(model) as (enforcer, address), client(address) as asked:
        texts = []
        for _ in range(9):
            answer = asked.chat.completions.create(
                model="fake", messages=[{"role": "user", "content": "Tell of a nurse."}]
            )
            texts.append(answer.choices[0].message.content)
        assert texts == ["she slept.", "she slept.", "he slept."] * 3
        assert state(enforcer).misses == (0, 0)
        assert state(enforcer).obeyed == (0, 3)
        assert [model.data[0].id for model in [asked.models.list()]] == ["fake"]
    assert [ASKED in str(body) for body in model.requests] == [False, False, True] * 3
    assert all(sent["authorization"] == f"Bearer {KEY}" for sent in model.headers)


def test_a_chat_that_names_a_value_earlier_passes_unchanged() -> None:
    model = FakeModel()
    messages: list[Any] = [
        {"role": "user", "content": "Tell of a nurse."},
        {"role": "assistant", "content": "She slept."},
        {"role": "user", "content": "And then?"},
    ]
    with standing_before(model) as (enforcer, address), client(address) as asked:
        for _ in range(4):
            answer = asked.chat.completions.create(model="fake", messages=messages)
            assert answer.choices[0].message.content == "she slept."
        assert enforcer.status() == ()
    assert [body["messages"] for body in model.requests] == [messages] * 4


def test_completions_say_what_was_asked() -> None:
    with standing_before(FakeModel()) as (_, address), client(address) as asked:
        heard = [
            asked.completions.with_raw_response.create(model="fake", prompt=["A nurse"])
            for _ in range(3)
        ]
        assert [one.headers.get("x-testsgd-asked") for one in heard] == [
            None,
            None,
            "gender=male",
        ]
        assert [one.parse().choices[0].text for one in heard][2] == "he slept."


def test_a_model_that_disobeys_is_asked_again_and_then_delivered() -> None:
    model = FakeModel()
    model.obeys = False
    with standing_before(model) as (enforcer, address), client(address) as asked:
        heard = [
            asked.completions.with_raw_response.create(model="fake", prompt="A nurse")
            for _ in range(3)
        ]
        assert [one.headers["x-testsgd-tries"] for one in heard] == ["1", "1", "3"]
        assert (state(enforcer).retries, state(enforcer).misses) == (2, (0, 1))
    assert len(model.requests) == 5


def test_a_prefix_stands_before_the_text() -> None:
    with standing_before(FakeModel(), specification=PREFIX) as (enforcer, address):
        with client(address) as asked:
            texts = [
                asked.completions.create(model="fake", prompt="A nurse").choices[0].text
                for _ in range(2)
            ]
            texts += [
                "".join(
                    chunk.choices[0].text
                    for chunk in asked.completions.create(
                        model="fake", prompt="A nurse", stream=True
                    )
                )
            ]
        assert texts == ["she slept.", "she slept.", "he, she slept."]
        assert state(enforcer).outputs == 2


@pytest.mark.parametrize("way", ["chat", "completions"])
def test_streams_are_judged_at_their_end(way: str) -> None:
    with standing_before(FakeModel()) as (enforcer, address), client(address) as asked:
        texts = []
        for _ in range(6):
            if way == "chat":
                chunks = asked.chat.completions.create(
                    model="fake", messages=[{"role": "user", "content": "A nurse"}], stream=True
                )
                pieces = [chunk.choices[0].delta.content or "" for chunk in chunks]
            else:
                stream = asked.completions.create(model="fake", prompt="A nurse", stream=True)
                pieces = [chunk.choices[0].text for chunk in stream]
            texts.append("".join(pieces))
            assert len(pieces) >= 3
        assert texts == ["she slept.", "she slept.", "he slept."] * 2
        assert (state(enforcer).counts, state(enforcer).slots) == ((4, 2), ())


def test_streams_of_the_asynchronous_client() -> None:
    async def texts(address: str) -> list[str]:
        found = []
        async with openai.AsyncOpenAI(base_url=f"{address}/v1", api_key=KEY) as asked:
            for _ in range(3):
                chunks = await asked.chat.completions.create(
                    model="fake", messages=[{"role": "user", "content": "A nurse"}], stream=True
                )
                found.append("".join([one.choices[0].delta.content or "" async for one in chunks]))
        return found

    with standing_before(FakeModel()) as (enforcer, address):
        assert asyncio.run(texts(address))[2] == "he slept."
        assert state(enforcer).misses == (0, 0)


def test_pictures_are_judged_by_their_bytes() -> None:
    def classify(picture: bytes) -> str:
        return "male" if picture.startswith(b"he ") else "female"

    with standing_before(FakeModel(), classify={"gender": classify}) as (enforcer, address):
        with client(address) as asked:
            made = [
                asked.images.generate(model="fake", prompt="A nurse", response_format="b64_json")
                for _ in range(3)
            ]
            assert state(enforcer).counts == (2, 1)
            asked.images.generate(model="fake", prompt="A nurse", response_format="url")
        assert (state(enforcer).counts, state(enforcer).unrelated) == ((2, 1), 1)
    assert base64.b64decode(made[2].data[0].b64_json) == b"he slept."


def test_many_requests_at_a_time_keep_the_deadlines(tmp_path: Any) -> None:
    async def ask_all(address: str) -> None:
        async with openai.AsyncOpenAI(base_url=f"{address}/v1", api_key=KEY) as asked:
            asking = [asked.completions.create(model="fake", prompt="A nurse") for _ in range(200)]
            await asyncio.gather(*asking)

    with standing_before(FakeModel(), state=tmp_path / "fair.sqlite") as (enforcer, address):
        asyncio.run(ask_all(address))
        found = state(enforcer)
        assert (found.outputs, found.misses, found.slots) == (200, (0, 0), ())
        assert KEY.encode() not in (tmp_path / "fair.sqlite").read_bytes()

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from typing import Any

import pytest
from openai_upstream import FEMALE, MALE, SPECIFICATION, Upstream, upstream

from testsgd.generative import Enforcer

openai = pytest.importorskip("openai")

PROMPT = "The nurse was tired, so"


@pytest.fixture
def model() -> Iterator[Upstream]:
    with upstream() as model:
        yield model


def enforcer_with(**enforcement: Any) -> Enforcer:
    return Enforcer({**SPECIFICATION, "enforcement": {"tries": 0, **enforcement}})


def state(enforcer: Enforcer) -> Any:
    (status,) = enforcer.status()
    return status.state


def ask(client: Any, endpoint: str, *, stream: bool) -> Any:
    """Return the answer of any endpoint, or the awaitable of it."""
    if endpoint == "chat":
        return client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": PROMPT}], stream=stream
        )
    if endpoint == "completions":
        return client.completions.create(model="m", prompt=PROMPT, stream=stream)
    return client.images.generate(model="m", prompt=PROMPT, response_format="b64_json")


def text_of(answer: Any, endpoint: str) -> str:
    if endpoint == "chat":
        return str(answer.choices[0].message.content)
    if endpoint == "completions":
        return str(answer.choices[0].text)
    return base64.b64decode(answer.data[0].b64_json).decode()


def piece_text(piece: Any, endpoint: str) -> str:
    choice = piece.choices[0]
    return (choice.delta.content if endpoint == "chat" else choice.text) or ""


def ask_sync(model: Upstream, enforcer: Enforcer, endpoint: str, *, stream: bool) -> list[str]:
    texts = []
    with openai.OpenAI(base_url=model.url, api_key="x", max_retries=0) as client:
        wrapped = enforcer.wrap(client)
        for _ in range(3):
            answer = ask(wrapped, endpoint, stream=stream)
            if stream:
                texts.append("".join(piece_text(piece, endpoint) for piece in answer))
            else:
                texts.append(text_of(answer, endpoint))
    return texts


def ask_async(model: Upstream, enforcer: Enforcer, endpoint: str, *, stream: bool) -> list[str]:
    async def run() -> list[str]:
        texts = []
        async with openai.AsyncOpenAI(base_url=model.url, api_key="x", max_retries=0) as client:
            wrapped = enforcer.wrap(client)
            for _ in range(3):
                answer = await ask(wrapped, endpoint, stream=stream)
                if stream:
                    read = [piece_text(piece, endpoint) async for piece in answer]
                    texts.append("".join(read))
                else:
                    texts.append(text_of(answer, endpoint))
        return texts

    return asyncio.run(run())


# A picture of the test is its text, which a function reads.
def gender_of(output: bytes | str) -> str:
    text = output.decode() if isinstance(output, bytes) else output
    return "female" if text.startswith("she") else "male"


@pytest.mark.parametrize("asking", [ask_sync, ask_async])
@pytest.mark.parametrize(
    ("endpoint", "stream"),
    [
        ("chat", False),
        ("chat", True),
        ("completions", False),
        ("completions", True),
        ("images", False),
    ],
)
def test_the_third_request_asks_for_the_missing_value(
    model: Upstream, asking: Any, endpoint: str, stream: bool
) -> None:
    classify = {"gender": gender_of} if endpoint == "images" else None
    enforcer = Enforcer(SPECIFICATION, classify=classify)
    texts = asking(model, enforcer, endpoint, stream=stream)
    assert texts == [FEMALE, FEMALE, MALE]
    assert [prompt == PROMPT for prompt in model.prompts] == [True, True, False]
    assert state(enforcer).counts == (2, 1)
    assert state(enforcer).misses == (0, 0)


@pytest.mark.parametrize("asking", [ask_sync, ask_async])
def test_a_disobedient_model_is_asked_again_and_then_delivered(
    model: Upstream, asking: Any
) -> None:
    model.obeys = False
    enforcer = enforcer_with(tries=2)
    assert asking(model, enforcer, "chat", stream=False) == [FEMALE] * 3
    assert len(model.bodies) == 3 + 2
    assert state(enforcer).retries == 2
    assert state(enforcer).misses == (0, 1)


@pytest.mark.parametrize("asking", [ask_sync, ask_async])
def test_a_stream_is_never_asked_for_again(model: Upstream, asking: Any) -> None:
    model.obeys = False
    enforcer = enforcer_with(tries=2)
    asking(model, enforcer, "chat", stream=True)
    assert len(model.bodies) == 3
    assert state(enforcer).misses == (0, 1)


@pytest.mark.parametrize("asking", [ask_sync, ask_async])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_a_beginning_that_the_model_got_is_put_before_its_text(
    model: Upstream, asking: Any, stream: bool, endpoint: str
) -> None:
    enforcer = enforcer_with(way="prefix")
    texts = asking(model, enforcer, endpoint, stream=stream)
    assert texts == [FEMALE, FEMALE, " he" + FEMALE]


@pytest.mark.parametrize("asking", [ask_sync, ask_async])
@pytest.mark.parametrize("stream", [False, True])
def test_a_request_that_fails_is_given_back(model: Upstream, asking: Any, stream: bool) -> None:
    model.fails = True
    enforcer = enforcer_with()
    with pytest.raises(openai.BadRequestError):
        asking(model, enforcer, "chat", stream=stream)
    assert state(enforcer).slots == ()
    assert state(enforcer).returned == 1


def stop_sync(model: Upstream, enforcer: Enforcer, *, closed: bool) -> list[str]:
    """Return the first piece of each of twelve streams, and a whole text."""
    texts = []
    with openai.OpenAI(base_url=model.url, api_key="x") as client:
        wrapped = enforcer.wrap(client)
        for _ in range(12):
            stream = ask(wrapped, "chat", stream=True)
            texts.append(piece_text(next(stream), "chat"))
            if closed:
                stream.close()
        del stream
        texts.append(text_of(ask(wrapped, "chat", stream=False), "chat"))
    return texts


def stop_async(model: Upstream, enforcer: Enforcer, *, closed: bool) -> list[str]:
    async def run() -> list[str]:
        texts = []
        async with openai.AsyncOpenAI(base_url=model.url, api_key="x") as client:
            wrapped = enforcer.wrap(client)
            for _ in range(12):
                stream = await ask(wrapped, "chat", stream=True)
                texts.append(piece_text(await anext(stream), "chat"))
                if closed:
                    await stream.close()
            del stream
            texts.append(text_of(await ask(wrapped, "chat", stream=False), "chat"))
        return texts

    return asyncio.run(run())


@pytest.mark.parametrize("stopping", [stop_sync, stop_async])
@pytest.mark.parametrize("closed", [True, False])
def test_streams_that_are_not_read_to_their_end_keep_the_bound(
    model: Upstream, stopping: Any, closed: bool
) -> None:
    enforcer = enforcer_with()
    women = ["she" in text for text in stopping(model, enforcer, closed=closed)]
    assert all(len(set(women[start : start + 3])) == 2 for start in range(11))
    assert state(enforcer).counts == (women.count(True), women.count(False))
    assert (state(enforcer).slots, state(enforcer).misses) == ((), (0, 0))


def test_a_stream_that_is_closed_unread_is_given_back(model: Upstream) -> None:
    enforcer = enforcer_with()
    with openai.OpenAI(base_url=model.url, api_key="x") as client:
        with ask(enforcer.wrap(client), "chat", stream=True):
            pass
        assert (state(enforcer).returned, state(enforcer).slots) == (1, ())


def test_the_client_itself_is_not_changed(model: Upstream) -> None:
    enforcer = enforcer_with()
    with openai.OpenAI(base_url=model.url, api_key="x") as client:
        before = dict(vars(client))
        wrapped = enforcer.wrap(client)
        ask(wrapped, "chat", stream=False)
        ask(client, "chat", stream=False)
        assert vars(client).keys() - {"chat", "completions", "images"} <= before.keys()
        assert wrapped.base_url == client.base_url
        assert wrapped.models is client.models
    assert state(enforcer).outputs == 1


def test_a_copy_of_a_wrapped_client_is_wrapped(model: Upstream) -> None:
    enforcer = enforcer_with()
    with openai.OpenAI(base_url=model.url, api_key="x") as client:
        ask(enforcer.wrap(client).with_options(timeout=9), "chat", stream=False)
    assert state(enforcer).outputs == 1


def test_several_prompts_at_once_pass_unchanged(model: Upstream) -> None:
    enforcer = enforcer_with()
    with openai.OpenAI(base_url=model.url, api_key="x") as client:
        enforcer.wrap(client).completions.create(model="m", prompt=[PROMPT, PROMPT])
    assert enforcer.status() == ()


def test_tenants_have_sequences_of_their_own(model: Upstream) -> None:
    enforcer = enforcer_with()
    with openai.OpenAI(base_url=model.url, api_key="x") as client:
        for tenant in ("a", "b", "a", "b"):
            ask(enforcer.wrap(client, tenant=tenant), "chat", stream=False)
    assert [status.tenant for status in enforcer.status()] == ["a", "b"]
    assert model.prompts == [PROMPT] * 4

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import metadata
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from openai_upstream import FEMALE, SPECIFICATION

from testsgd.errors import ConfigurationError
from testsgd.generative import Enforcer

PROMPT = "The nurse was tired, so"
KEY = SimpleNamespace(team_id=None, token="hash-1")


class StubLogger:
    """In the place of LiteLLM's own class."""


@pytest.fixture
def _stub(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("litellm", "litellm.integrations", "litellm.integrations.custom_logger"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    module = sys.modules["litellm.integrations.custom_logger"]
    monkeypatch.setattr(module, "CustomLogger", StubLogger, raising=False)
    monkeypatch.setattr(metadata, "version", lambda _: "1.106.12")


def hook_of(enforcer: Enforcer) -> Any:
    from testsgd.generative.litellm import FairnessHook

    return FairnessHook(enforcer)


def begin(hook: Any, call: str, *, key: Any = KEY, kind: str = "acompletion") -> dict[str, Any]:
    data: dict[str, Any] = {"litellm_call_id": call, "model": "m"}
    if kind == "acompletion":
        data["messages"] = [{"role": "user", "content": PROMPT}]
    else:
        data["prompt"] = PROMPT
    if kind == "image_generation":
        data["messages"] = [{"role": "user", "content": PROMPT}]
    asyncio.run(hook.async_pre_call_hook(key, None, data, kind))
    return data


def chat(text: str | None) -> Any:
    return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=text))])


def finish(hook: Any, data: dict[str, Any], text: str | None = FEMALE, *, key: Any = KEY) -> Any:
    return asyncio.run(hook.async_post_call_success_hook(data, key, chat(text)))


def state(enforcer: Enforcer) -> Any:
    (status,) = enforcer.status()
    return status.state


@pytest.mark.usefixtures("_stub")
def test_a_hook_is_of_the_class_that_litellm_wants() -> None:
    hook = hook_of(Enforcer(SPECIFICATION))
    assert isinstance(hook, StubLogger)
    # LiteLLM calls no hook that is inherited.
    names = {name for name in dir(type(hook)) if name.startswith("async_")}
    assert len(names) == 4
    assert names <= vars(type(hook)).keys()


@pytest.mark.usefixtures("_stub")
def test_a_chat_asks_for_what_is_missing() -> None:
    enforcer = Enforcer(SPECIFICATION)
    hook = hook_of(enforcer)
    for call in "ab":
        data = begin(hook, call)
        assert data["messages"][0]["content"] == PROMPT
        finish(hook, data)
    assert "male" in begin(hook, "c")["messages"][0]["content"]


@pytest.mark.usefixtures("_stub")
def test_a_chat_whose_system_message_names_a_value_passes_unchanged() -> None:
    enforcer = Enforcer(SPECIFICATION)
    hook = hook_of(enforcer)
    sent = [
        {"role": "system", "content": "She is the heroine."},
        {"role": "user", "content": PROMPT},
    ]
    for call in "abc":
        data: dict[str, Any] = {"litellm_call_id": call, "model": "m", "messages": list(sent)}
        asyncio.run(hook.async_pre_call_hook(KEY, None, data, "acompletion"))
        finish(hook, data)
        assert data["messages"] == sent
    assert enforcer.status() == ()


@pytest.mark.usefixtures("_stub")
def test_the_messages_beside_the_prompt_of_a_picture_are_changed_too() -> None:
    hook = hook_of(Enforcer(SPECIFICATION))
    for call in "ab":
        finish(hook, begin(hook, call))
    data = begin(hook, "c", kind="image_generation")
    assert data["prompt"] == data["messages"][0]["content"] != PROMPT


@pytest.mark.usefixtures("_stub")
@pytest.mark.parametrize("kind", ["embeddings", "aresponses", "anthropic_messages"])
def test_other_requests_pass(kind: str) -> None:
    enforcer = Enforcer(SPECIFICATION)
    assert begin(hook_of(enforcer), "a", kind=kind)["prompt"] == PROMPT
    assert enforcer.status() == ()


@pytest.mark.usefixtures("_stub")
def test_a_call_of_a_tool_is_unrelated() -> None:
    enforcer = Enforcer(SPECIFICATION)
    hook = hook_of(enforcer)
    finish(hook, begin(hook, "a"), None)
    assert (state(enforcer).unrelated, state(enforcer).slots) == (1, ())


@pytest.mark.usefixtures("_stub")
def test_a_failure_gives_the_ticket_back() -> None:
    enforcer = Enforcer(SPECIFICATION)
    hook = hook_of(enforcer)
    data = begin(hook, "a")
    asyncio.run(hook.async_post_call_failure_hook(data, ValueError(), KEY))
    assert (state(enforcer).returned, state(enforcer).slots) == (1, ())


async def pieces(texts: Sequence[str | None], failure: Exception | None = None) -> Any:
    for text in texts:
        delta = SimpleNamespace(content=text)
        yield SimpleNamespace(choices=[SimpleNamespace(index=0, delta=delta)])
    if failure is not None:
        raise failure


def streamed(
    hook: Any,
    call: str,
    texts: Sequence[str | None],
    *,
    failure: Exception | None = None,
    most: int = 99,
) -> str:
    """Return what a client read of a stream of an obedient model, `most` pieces at most."""
    data = begin(hook, call)
    if "must be male" in data["messages"][0]["content"]:
        texts = ["he" if text == "she" else text for text in texts]

    async def run() -> str:
        read = []
        source = pieces(texts, failure)
        stream = hook.async_post_call_streaming_iterator_hook(KEY, source, data)
        with suppress(ConnectionError):
            async for piece in stream:
                read.append(piece.choices[0].delta.content or "")
                if len(read) == most:
                    break
        await stream.aclose()
        return "".join(read)

    return asyncio.run(run())


@pytest.mark.usefixtures("_stub")
@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_stream_is_passed_on_and_counted_even_if_it_is_cut_off(most: int) -> None:
    enforcer = Enforcer(SPECIFICATION)
    streamed(hook_of(enforcer), "a", ["she", " slept", None], most=most)
    assert state(enforcer).counts == (1, 0)
    assert state(enforcer).slots == ()


@pytest.mark.usefixtures("_stub")
@pytest.mark.parametrize("failure", [None, ConnectionError()])
def test_streams_that_are_cut_off_keep_the_bound(failure: Exception | None) -> None:
    enforcer = Enforcer(SPECIFICATION)
    hook = hook_of(enforcer)
    most = 1 if failure is None else 99
    received = [
        streamed(hook, str(number), ["she", " went"], failure=failure, most=most)
        for number in range(12)
    ]
    women = [text.startswith("she") for text in received]
    assert all(len(set(women[start : start + 3])) == 2 for start in range(10))
    assert state(enforcer).counts == (women.count(True), women.count(False))
    assert state(enforcer).misses == (0, 0)


@pytest.mark.usefixtures("_stub")
@pytest.mark.parametrize("texts", [[None], ["", None], ["It was"]])
@pytest.mark.parametrize("way", ["sentence_after", "prefix"])
def test_a_stream_without_a_value_is_given_back(texts: list[str | None], way: str) -> None:
    enforcer = Enforcer({**SPECIFICATION, "enforcement": {"tries": 0, "way": way}})
    hook = hook_of(enforcer)
    for call in "ab":
        finish(hook, begin(hook, call))
    before = state(enforcer)
    received = streamed(hook, "c", texts, failure=ConnectionError())
    # A beginning that the model got is passed on with its first text, and has a value.
    served = int("he" in received.split())
    assert state(enforcer).returned == 1 - served
    assert state(enforcer).counts == (2, served)
    if not served:
        assert state(enforcer).counters == before.counters
    assert state(enforcer).slots == ()


@pytest.mark.usefixtures("_stub")
def test_teams_have_sequences_of_their_own_and_keys_without_a_team_too() -> None:
    enforcer = Enforcer(SPECIFICATION)
    hook = hook_of(enforcer)
    keys = [
        SimpleNamespace(team_id="t", token="hash-1"),
        SimpleNamespace(team_id="t", token="hash-2"),
        KEY,
    ]
    for key in keys:
        # The same name of a call, which a client may choose.
        finish(hook, begin(hook, "a", key=key), key=key)
    assert {one.tenant: one.state.outputs for one in enforcer.status()} == {"t": 2, "hash-1": 1}


@pytest.mark.usefixtures("_stub")
def test_a_call_whose_name_is_used_again_gives_the_first_ticket_back() -> None:
    enforcer = Enforcer(SPECIFICATION)
    hook = hook_of(enforcer)
    begin(hook, "a")
    finish(hook, begin(hook, "a"))
    assert (state(enforcer).returned, state(enforcer).outputs) == (1, 1)


@pytest.mark.usefixtures("_stub")
def test_an_output_is_delivered_even_if_the_model_disobeys() -> None:
    enforcer = Enforcer({**SPECIFICATION, "enforcement": {"tries": 2}})
    hook = hook_of(enforcer)
    for call in "abc":
        finish(hook, begin(hook, call))
    assert (state(enforcer).retries, state(enforcer).misses) == (0, (0, 1))


@pytest.mark.parametrize("version", ["1.82.7", "1.82.8"])
def test_releases_that_steal_credentials_are_not_imported(
    monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setattr(metadata, "version", lambda _: version)
    monkeypatch.setitem(sys.modules, "litellm.integrations.custom_logger", None)
    with pytest.raises(ConfigurationError):
        hook_of(Enforcer(SPECIFICATION))


def test_the_package_imports_neither_litellm_nor_openai() -> None:
    code = (
        "import sys, testsgd.generative, testsgd.generative.litellm, testsgd.serving;"
        "from testsgd.generative import Enforcer;"
        "import testsgd.generative.openai_client;"
        "sys.exit('litellm' in sys.modules or 'openai' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.usefixtures("_stub")
def test_the_hook_of_the_environment_is_made_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    from testsgd.generative import litellm as module

    file = tmp_path / "people.toml"
    file.write_text('[groupings.gender]\nvalues = ["female", "male"]\n')
    monkeypatch.setenv("TESTSGD_SPEC", str(file))
    monkeypatch.delenv("TESTSGD_STATE", raising=False)
    try:
        assert module.fairness_hook is module.fairness_hook
    finally:
        vars(module).pop("fairness_hook", None)


def test_without_a_specification_there_is_no_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    from testsgd.generative import litellm as module

    monkeypatch.delenv("TESTSGD_SPEC", raising=False)
    with pytest.raises(ConfigurationError):
        _ = module.fairness_hook

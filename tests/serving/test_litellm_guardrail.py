from __future__ import annotations

from typing import Any

import pytest

from testsgd.errors import ParameterError
from testsgd.generative import Enforcer
from testsgd.serving.guardrail import PATH, Guardrail, guardrail_app

SPECIFICATION: dict[str, Any] = {
    "groupings": {
        "gender": {"values": ["female", "male"], "terms": {"female": ["she"], "male": ["he"]}}
    },
    "requirements": [{"grouping": "gender", "beta": 2}],
}
PROMPT = "The nurse slept, so"
SYSTEM = {"role": "system", "content": "Be brief."}


def request_of(call: str, messages: list[dict[str, Any]], *, team: str = "t") -> dict[str, Any]:
    texts = []
    for message in messages:
        content = message["content"]
        parts = [content] if isinstance(content, str) else [part["text"] for part in content]
        texts += parts
    return {
        "input_type": "request",
        "litellm_call_id": call,
        "texts": texts,
        "structured_messages": messages,
        "request_data": {"user_api_key_team_id": team, "user_api_key_hash": "h"},
    }


def response_of(call: str, *texts: str, team: str = "t") -> dict[str, Any]:
    return {**request_of(call, [], team=team), "input_type": "response", "texts": list(texts)}


def after_a_woman(enforcer: Enforcer, messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the answer to a request after an output about a woman; of two, one is a man."""
    guardrail = Guardrail(enforcer)
    guardrail.answer(request_of("a", messages))
    guardrail.answer(response_of("a", "she ate."))
    return guardrail.answer(request_of("b", messages))


@pytest.mark.parametrize(
    "content", [PROMPT, [{"type": "text", "text": "Look."}, {"type": "text", "text": PROMPT}]]
)
def test_the_last_text_of_the_user_is_changed_and_no_other(content: Any) -> None:
    messages = [SYSTEM, {"role": "user", "content": content}]
    sent = request_of("b", messages)["texts"]
    answer = after_a_woman(Enforcer(SPECIFICATION), messages)
    assert answer["action"] == "GUARDRAIL_INTERVENED"
    assert answer["texts"][:-1] == sent[:-1]
    assert answer["texts"][-1].startswith(PROMPT)
    assert "male" in answer["texts"][-1]


def test_a_message_more_is_sent_as_messages() -> None:
    messages = [{"role": "user", "content": PROMPT}]
    enforcer = Enforcer({**SPECIFICATION, "enforcement": {"way": "system"}})
    answer = after_a_woman(enforcer, messages)
    assert "texts" not in answer
    assert [one["role"] for one in answer["structured_messages"]] == ["system", "user"]
    assert answer["structured_messages"][1:] == messages


@pytest.mark.parametrize(
    "part",
    [
        {"enforcement": {"way": "prefix"}},
        {"enforcement": {"way": "logit_bias"}},
        {"upstream": {"endpoint": "images"}},
    ],
)
def test_what_litellm_does_not_pass_on_is_refused(part: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        Guardrail(Enforcer({**SPECIFICATION, **part}))


def test_a_text_without_messages_may_be_a_picture_and_passes() -> None:
    enforcer = Enforcer(SPECIFICATION)
    body = {**request_of("a", []), "texts": [PROMPT]}
    assert Guardrail(enforcer).answer(body) == {"action": "NONE"}
    assert enforcer.status() == ()


def test_an_answer_of_another_team_does_not_finish_a_request() -> None:
    enforcer = Enforcer(SPECIFICATION)
    guardrail = Guardrail(enforcer)
    guardrail.answer(request_of("a", [{"role": "user", "content": PROMPT}]))
    guardrail.answer(response_of("a", "he ate.", team="other"))
    (status,) = enforcer.status()
    assert (status.state.outputs, len(status.state.slots)) == (0, 1)


def test_an_answer_without_a_text_is_unrelated() -> None:
    enforcer = Enforcer(SPECIFICATION)
    guardrail = Guardrail(enforcer)
    guardrail.answer(request_of("a", [{"role": "user", "content": PROMPT}]))
    guardrail.answer(response_of("a"))
    (status,) = enforcer.status()
    assert (status.state.unrelated, status.state.slots) == (1, ())


@pytest.mark.serve
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"input_type": "request", "texts": [], "request_data": {}}', 200),
        (b'{"input_type": "request", "texts": [1]}', 400),
        (b'{"input_type": "request", "texts": ["a"], "request_data": 7}', 400),
        (b'{"input_type": "request", "texts": ["a"], "structured_messages": [7]}', 400),
        (b'{"input_type": "other"}', 400),
        (b"[]", 400),
        (b"\xff", 400),
        (b"{", 400),
    ],
)
def test_a_body_that_is_no_request_is_refused(body: bytes, status: int) -> None:
    import asyncio

    import httpx

    async def run() -> int:
        transport = httpx.ASGITransport(app=guardrail_app(Enforcer(SPECIFICATION)))
        async with httpx.AsyncClient(transport=transport, base_url="http://guardrail") as client:
            return (await client.post(PATH, content=body)).status_code

    assert asyncio.run(run()) == status

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from openai_upstream import FEMALE, MALE, SPECIFICATION, upstream
from real_proxy import ask, base_config, guardrail, proxy

from testsgd.generative import Enforcer

pytestmark = [
    pytest.mark.integration,
    # Not by importing it: that fetches a list of prices.
    pytest.mark.skipif(find_spec("litellm") is None, reason="run: make integration"),
]

PROMPT = "The nurse was tired, so"


@pytest.fixture(scope="module", params=["chat", "completions"])
def gateway(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    enforcer = Enforcer({**SPECIFICATION, "upstream": {"endpoint": request.param}})
    with upstream() as model, guardrail(enforcer) as address:
        config = base_config(model)
        config["guardrails"] = [
            {
                "guardrail_name": "fairness",
                "litellm_params": {
                    "guardrail": "generic_guardrail_api",
                    "mode": ["pre_call", "post_call"],
                    "api_base": address,
                    "default_on": True,
                    "streaming_end_of_stream_only": True,
                    "unreachable_fallback": "fail_closed",
                },
            }
        ]
        with proxy(config, tmp_path_factory.mktemp("gateway")) as url:
            yield url, model, enforcer


# LiteLLM does not show a guardrail the answer of a completion that streams.
@pytest.mark.parametrize(
    ("endpoint", "stream"), [("chat", False), ("chat", True), ("completions", False)]
)
def test_every_window_of_three_has_both(gateway: Any, endpoint: str, stream: bool) -> None:
    url, model, enforcer = gateway
    if endpoint == "completions" and enforcer.specification.upstream.endpoint == "chat":
        pytest.skip("these may be pictures")
    model.prompts.clear()
    texts = [ask(url, endpoint, PROMPT, stream=stream) for _ in range(6)]
    added = [prompt != PROMPT for prompt in model.prompts]
    assert [text == MALE for text in texts] == added
    assert set(texts) == {FEMALE, MALE}
    assert all(any(added[start : start + 3]) for start in range(4))
    (status,) = enforcer.status()
    assert status.state.slots == ()
    assert status.state.misses == (0, 0)
    assert status.tenant


def test_pictures_pass_a_guardrail_for_chats_unchanged(gateway: Any) -> None:
    url, model, enforcer = gateway
    if enforcer.specification.upstream.endpoint != "chat":
        pytest.skip("completions are enforced")
    before = enforcer.status()
    model.prompts.clear()
    assert [ask(url, "images", PROMPT) for _ in range(4)] == [FEMALE] * 4
    assert model.prompts == [PROMPT] * 4
    assert enforcer.status() == before

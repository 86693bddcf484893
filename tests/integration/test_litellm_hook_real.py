from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from openai_upstream import FEMALE, MALE, SPECIFICATION, Upstream, upstream
from real_proxy import CLASSIFIER, ask, base_config, post, proxy

from testsgd.generative import Enforcer

pytestmark = [
    pytest.mark.integration,
    # Not by importing it: that fetches a list of prices.
    pytest.mark.skipif(find_spec("litellm") is None, reason="run: make integration"),
]

PROMPT = "The nurse was tired, so"
ENDPOINTS = [
    ("chat", False),
    ("chat", True),
    ("completions", False),
    ("completions", True),
    ("images", False),
]


def specification(way: str) -> str:
    enforcement = f'tries = 0\nway = "{way}"'
    return f"""
[groupings.gender]
values = ["female", "male"]
classify = "picture_reader:gender_of"
ask.prefix.female = " she"
ask.prefix.male = " he"
[[requirements]]
grouping = "gender"
beta = 3
[enforcement]
{enforcement}
"""


class Gateway:
    def __init__(self, url: str, model: Upstream, folder: Path) -> None:
        self.url = url
        self.model = model
        self._folder = folder

    def state(self) -> Any:
        reader = Enforcer(
            {**SPECIFICATION, "groupings": {"gender": {"values": ["female", "male"]}}},
            state=self._folder / "state.sqlite",
        )
        try:
            (status,) = reader.status()
        finally:
            reader.close()
        return status.state


@pytest.fixture(scope="module", params=["sentence_after", "prefix"])
def gateway(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gateway]:
    folder = tmp_path_factory.mktemp("gateway")
    (folder / "picture_reader.py").write_text(CLASSIFIER)
    (folder / "people.toml").write_text(specification(request.param))
    with upstream() as model:
        config = base_config(model)
        config["litellm_settings"] = {"callbacks": "testsgd.generative.litellm.fairness_hook"}
        state = folder / "state.sqlite"
        spec = str(folder / "people.toml")
        with proxy(config, folder, TESTSGD_SPEC=spec, TESTSGD_STATE=str(state)) as url:
            gateway = Gateway(url, model, folder)
            gateway.way = request.param
            yield gateway


@pytest.mark.parametrize(("endpoint", "stream"), ENDPOINTS)
def test_every_window_of_three_has_both(gateway: Any, endpoint: str, stream: bool) -> None:
    if endpoint == "images" and gateway.way == "prefix":
        pytest.skip("a picture has no beginning")
    gateway.model.prompts.clear()
    # The sequence is shared by all endpoints: so many requests that each window is inside.
    texts = [ask(gateway.url, endpoint, PROMPT, stream=stream) for _ in range(6)]
    added = [prompt != PROMPT for prompt in gateway.model.prompts]
    assert any(added)
    assert not all(added)
    expected = " he" + FEMALE if gateway.way == "prefix" else MALE
    assert [text == expected for text in texts] == added
    assert set(texts) == {FEMALE, expected}
    assert all(any(added[start : start + 3]) for start in range(4))
    assert gateway.state().slots == ()


def test_a_failing_model_gives_the_tickets_back(gateway: Any) -> None:
    before = gateway.state().returned
    gateway.model.fails = True
    try:
        body = {"model": "writer", "messages": [{"role": "user", "content": PROMPT}]}
        status, answer = post(f"{gateway.url}/v1/chat/completions", body)
    finally:
        gateway.model.fails = False
    assert status >= 400, json.loads(answer)
    assert gateway.state().returned == before + 1
    assert gateway.state().slots == ()

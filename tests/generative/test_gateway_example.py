from __future__ import annotations

from pathlib import Path

import pytest

from testsgd.generative import Enforcer
from testsgd.serving.guardrail import Guardrail

EXAMPLES = Path(__file__).parents[2] / "examples" / "generative"


@pytest.mark.parametrize(
    ("prompt", "counted"),
    [
        ("The nurse was tired, so", True),
        ("The engineer was tired, so", True),
        ("The cook was tired, so", False),
        ("The nurse was tired, so she", False),
    ],
)
def test_the_specification_for_a_gateway_concerns_nurses_and_engineers(
    prompt: str, counted: bool
) -> None:
    enforcer = Enforcer(EXAMPLES / "gateway.toml")
    assert enforcer.specification.enforcement.tries == 0
    assert Guardrail(enforcer)
    assert enforcer.begin(prompt).is_counted == counted


@pytest.mark.parametrize("name", ["litellm_hook.yaml", "litellm_guardrail.yaml"])
def test_a_configuration_names_the_specification(name: str) -> None:
    assert "gateway.toml" in (EXAMPLES / name).read_text(encoding="utf-8")

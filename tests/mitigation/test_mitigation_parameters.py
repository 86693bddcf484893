"""What a user may ask of a mitigation, and what is refused."""

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import testsgd
from testsgd.cli.mitigate import mitigate
from testsgd.errors import ParameterError
from testsgd.mitigation import ALTERNATIVES, MitigationParameters
from testsgd.mitigation.alternatives import resolve_alternatives
from testsgd.mitigation.inputs import mitigation_inputs


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"group": 0}, "group: 0 is not at least 1"),
        ({"group": 1.5}, "group: 1.5 is not a whole number"),
        ({"group": 1, "all_above": 0.1}, "both asked for"),
        ({"all_above": 0.0}, "all_above: 0.0 is not between 0 and 1"),
        ({"all_above": 10}, "all_above: 10 is not between 0 and 1"),
        ({"max_accuracy_drop": -0.1}, "max_accuracy_drop: -0.1 is not between 0 and 100"),
        ({"max_accuracy_drop": "0.5"}, "is not a number"),
        ({"runs": 0}, "runs: 0 is not at least 1"),
        ({"runs": True}, "runs: True is not a whole number"),
        ({"steps": 0}, "steps: 0 is not at least 1"),
        ({"fewest_samples": 0}, "fewest_samples: 0 is not at least 1"),
        ({"largest_share": 0}, "largest_share: 0 is not in"),
        ({"largest_share": 1.1}, "largest_share: 1.1 is not in"),
        ({"max_draws": 0}, "max_draws: 0 is not at least 1"),
        ({"seed": -1}, "seed: -1 is not between 0 and"),
        ({"side": "left"}, "side: 'left' is not known"),
        ({"fallback": "maybe"}, "fallback: 'maybe' is not known"),
    ],
)
def test_refused(given_: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message.replace("(", "\\(")):
        MitigationParameters(**given_)


def test_the_first_group_is_meant_if_none_is_named() -> None:
    assert MitigationParameters().rank == 1
    assert MitigationParameters(group=4).rank == 4
    assert MitigationParameters(all_above=0.1).rank is None


@given(
    training=st.integers(1, 100_000),
    steps=st.integers(1, 12),
    fewest=st.integers(1, 500),
    share=st.floats(0.001, 1.0),
)
def test_sizes_grow_from_the_fewest_to_the_share(
    training: int, steps: int, fewest: int, share: float
) -> None:
    parameters = MitigationParameters(steps=steps, fewest_samples=fewest, largest_share=share)
    sizes = parameters.sizes(training)
    most = max(1, round(share * training))
    assert 1 <= len(sizes) <= steps
    assert list(sizes) == sorted(set(sizes))
    assert sizes[0] == min(fewest, most)
    assert sizes[-1] == (most if steps > 1 else min(fewest, most))


def test_every_method_of_the_help_is_known() -> None:
    help_text = inspect.signature(mitigate).parameters["compare"].annotation.__metadata__[0].help
    named = help_text.partition("some of ")[2].rstrip(".").split(",")
    assert set(resolve_alternatives(named)) == set(ALTERNATIVES)


def test_labels_that_are_favourable_together_are_taken_from_an_audit(tmp_path: Path) -> None:
    source = np.random.default_rng(0)
    rows = pd.DataFrame({"woman": source.integers(0, 2, 400), "points": source.integers(0, 9, 400)})
    grades = np.array(["c", "b", "a"])[(rows["points"] // 3).to_numpy()]
    people = rows.assign(grade=grades)
    features = {"type": "integer", "range": [0, 8]}
    label = {"column": "grade", "values": ["a", "b", "c"], "favourable": "a"}
    spec = {
        "dataset": {"name": "grades"},
        "label": label,
        "features": {"woman": {**features, "range": [0, 1], "sensitive": True}, "points": features},
    }

    def model(asked: pd.DataFrame) -> Any:
        return np.where(asked["points"] - asked["woman"] >= 3, "b", "c")

    testsgd.audit(model, people, spec, favourable=["b", "a"]).write(tmp_path, ["json"])
    inputs = mitigation_inputs(model, people, spec, audit=tmp_path / "result.json")
    by_hand = people.assign(grade=np.where(grades == "c", "c", "b"))
    joined = {**spec, "label": {**label, "values": ["b", "c"], "favourable": "b"}}
    expected = mitigation_inputs(model, by_hand, joined)
    decided, by_hand_decided = (one.loaded.model.decisions(rows) for one in (inputs, expected))
    assert decided.tolist() == by_hand_decided.tolist()
    assert inputs.material.favourable.tolist() == expected.material.favourable.tolist()
    assert inputs.material.favourable.tolist() == (grades != "c").tolist()

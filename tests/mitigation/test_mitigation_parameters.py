"""What a user may ask of a mitigation, and what is refused."""

import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd.cli.mitigate import mitigate
from testsgd.errors import ParameterError
from testsgd.mitigation import ALTERNATIVES, MitigationParameters
from testsgd.mitigation.alternatives import resolve_alternatives


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
        ({"seed": -1}, "seed: -1 is not at least 0"),
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

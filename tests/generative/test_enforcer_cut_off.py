"""What an enforcer makes of an output that was cut off."""

from __future__ import annotations

from typing import Any

import pytest

from testsgd.errors import ModelError
from testsgd.generative import Enforcer
from testsgd.generative.sequence_state import SequenceState

GENDER = {"values": ["female", "male"], "terms": {"female": ["she"], "male": ["he"]}}
AGE = {"values": ["young", "old"], "terms": {"young": ["young"], "old": ["old"]}}
PROMPT = "Go on with the story."


def enforcer_of(**further: Any) -> Enforcer:
    return Enforcer(
        {
            "groupings": {"gender": GENDER, "age": AGE},
            "requirements": [{"grouping": "gender", "beta": 3}, {"grouping": "age", "beta": 4}],
        },
        **further,
    )


def states(enforcer: Enforcer) -> dict[str, SequenceState]:
    return {one.requirement.grouping: one.state for one in enforcer.status()}


@pytest.mark.parametrize(
    ("output", "counts"),
    [
        (None, {"gender": (0, 0), "age": (0, 0)}),
        ("", {"gender": (0, 0), "age": (0, 0)}),
        ("The nurse", {"gender": (0, 0), "age": (0, 0)}),
        ("She was", {"gender": (1, 0), "age": (0, 0)}),
        ("An old", {"gender": (0, 0), "age": (0, 1)}),
        ("She was old", {"gender": (1, 0), "age": (0, 1)}),
    ],
)
def test_each_grouping_counts_its_value_or_has_its_ticket_back(
    output: str | None, counts: dict[str, tuple[int, int]]
) -> None:
    enforcer = enforcer_of()
    enforcer.finish_cut_off(enforcer.begin(PROMPT), output)
    for grouping, state in states(enforcer).items():
        assert state.counts == counts[grouping]
        assert state.returned == 1 - sum(counts[grouping])
        assert (state.unrelated, state.slots) == (0, ())
        # A restart for the value that came, one less for the other.
        other = state.betas[0] - sum(state.counts)
        wanted = tuple(state.betas[0] if count else other for count in state.counts)
        assert state.counters == wanted


def test_a_prompt_that_is_not_neutral_counts_nowhere() -> None:
    enforcer = enforcer_of()
    ticket = enforcer.begin("She is young.")
    assert enforcer.finish_cut_off(ticket, "she").labels == {}
    assert enforcer.status() == ()


def test_a_value_that_disobeys_is_counted_and_not_asked_for_again() -> None:
    enforcer = enforcer_of()
    for _ in range(2):
        enforcer.finish(enforcer.begin(PROMPT), "she slept")
    finished = enforcer.finish_cut_off(enforcer.begin(PROMPT), "she")
    assert finished.is_delivered
    assert finished.missed == (("gender", "male"),)


def test_it_waits_for_requests_that_began_before() -> None:
    enforcer = enforcer_of()
    first = enforcer.begin(PROMPT)
    enforcer.finish_cut_off(enforcer.begin(PROMPT), "she")
    assert states(enforcer)["gender"].counts == (0, 0)
    enforcer.finish(first, "he slept")
    assert states(enforcer)["gender"].counts == (1, 1)
    # In the order of the beginnings: the woman came last.
    assert states(enforcer)["gender"].counters == (3, 2)


def test_it_counts_once_though_it_is_finished_twice() -> None:
    enforcer = enforcer_of()
    ticket = enforcer.begin(PROMPT)
    enforcer.finish_cut_off(ticket, "she")
    enforcer.finish_cut_off(ticket, "she")
    enforcer.give_back(ticket)
    assert states(enforcer)["gender"].counts == (1, 0)
    assert states(enforcer)["gender"].returned == 0


def test_a_ticket_that_expired_is_put_at_the_end() -> None:
    moment = [0.0]
    enforcer = enforcer_of(clock=lambda: moment[0])
    ticket = enforcer.begin(PROMPT)
    moment[0] = 10_000.0
    enforcer.finish(enforcer.begin(PROMPT), "he slept")
    enforcer.finish_cut_off(ticket, "she")
    assert states(enforcer)["gender"].recent == (2, 1)


def test_a_classifier_that_fails_gives_the_ticket_back() -> None:
    def classify(output: str) -> str:
        raise RuntimeError(output)

    enforcer = enforcer_of(classify={"gender": classify})
    with pytest.raises(ModelError):
        enforcer.finish_cut_off(enforcer.begin(PROMPT), "she")
    assert [(state.returned, state.slots) for state in states(enforcer).values()] == [(1, ())] * 2

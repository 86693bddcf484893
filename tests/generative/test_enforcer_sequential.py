"""The enforcer, one request after another: deadlines, disobedience, and what is left alone."""

from __future__ import annotations

import random
from typing import Any

import pytest
from enforced_models import (
    NaturalModel,
    agrees,
    enforcer,
    label_of,
    made,
    names,
    obedient,
    only,
    people,
    recount,
    wanted_label,
)

from testsgd.errors import ModelError, ParameterError, SpecificationError
from testsgd.generative import Enforcer, GenerativeSpecification, ModelRequest


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_an_obedient_model_never_misses_a_deadline(seed: int, overlapping: bool) -> None:
    choose = random.Random(seed)
    values = choose.randint(2, 6)
    betas = [choose.randint(values, choose.choice([values + 1, 12, 60])) for _ in range(values)]
    enforced = enforcer(betas, overlapping=overlapping)
    model = NaturalModel(values, seed=seed)
    labels = []
    for _ in range(1000):
        ticket = enforced.begin("Draw")
        output = obedient(ticket, model.label())
        finished = enforced.finish(ticket, output)
        assert finished.is_delivered
        assert not finished.missed
        labels.append(label_of(output))
    assert recount(labels, betas).misses == (0,) * values
    assert agrees(only(enforced), labels)


def test_a_fair_model_is_left_alone() -> None:
    enforced = enforcer([8, 8, 8, 8])
    for label in [1, 2, 3, 4] * 10:
        ticket = enforced.begin("Draw")
        assert not ticket.is_changed
        enforced.finish(ticket, f"v{label}")
    assert only(enforced).state.injections == 0


def figure_2(look_ahead: str, **keys: Any) -> Enforcer:
    """Example 7: four values within 50 outputs, of business leaders only."""
    specification = GenerativeSpecification.from_dict(
        {
            "groupings": {
                "demographics": {"values": names(4)},
                "job": {"values": ["business leader", "cook"], "reads": "prompt"},
            },
            "requirements": [
                {"grouping": "demographics", "when": {"job": "business leader"}, "beta": 50}
            ],
            "enforcement": {"look_ahead": look_ahead, **keys},
        }
    )
    return Enforcer(specification, classify={"demographics": label_of}, random_state=3)


@pytest.mark.parametrize("look_ahead", ["paper", "corrected"])
@pytest.mark.parametrize("overlapping", [False, True])
def test_figure_2_of_the_paper_step_by_step(look_ahead: str, overlapping: bool) -> None:
    enforced = figure_2(look_ahead, overlapping=overlapping)
    cook = enforced.begin("Generate a cook")
    assert not cook.is_changed
    assert not cook.is_counted
    assert enforced.finish(cook, "v2").is_delivered
    assert enforced.status() == ()
    counters = [50, 50, 50, 50]
    for _ in range(47):
        ticket = enforced.begin("Generate business leader")
        assert not ticket.is_changed
        enforced.finish(ticket, "v1")
        counters = [50, *(counter - 1 for counter in counters[1:])]
        assert only(enforced).state.counters == tuple(counters)
    assert counters == [50, 3, 3, 3]
    asked = []
    for left in (2, 1, 0):
        ticket = enforced.begin("Generate business leader")
        assert ticket.is_changed
        value = wanted_label(ticket, "demographics")
        asked.append(value)
        assert enforced.finish(ticket, f"v{value}").is_delivered
        counters = [50 if index == value else counter - 1 for index, counter in
                    enumerate(counters, start=1)]  # fmt: skip
        assert only(enforced).state.counters == tuple(counters)
        assert counters.count(left) == left
    assert sorted(asked) == [2, 3, 4]
    # They are now due one after the other, in the order in which they came.
    for _ in range(47):
        ticket = enforced.begin("Generate business leader")
        assert not ticket.is_changed
        enforced.finish(ticket, "v1")
    for value in asked:
        ticket = enforced.begin("Generate business leader")
        assert wanted_label(ticket, "demographics") == value
        enforced.finish(ticket, f"v{value}")
    state = only(enforced).state
    assert state.misses == (0, 0, 0, 0)
    assert state.counts == (94, 2, 2, 2)
    assert state.injections == 6


def test_the_choice_of_the_paper_is_random_but_repeatable() -> None:
    def first(seed: int) -> int:
        enforced = enforcer([3, 3, 3], look_ahead="paper")
        enforced._random = random.Random(seed)
        return wanted_label(enforced.begin("Draw"))

    found = [first(seed) for seed in range(30)]
    assert set(found) == {1, 2, 3}
    assert found == [first(seed) for seed in range(30)]


def test_the_look_ahead_of_the_paper_misses_where_the_corrected_one_does_not() -> None:
    # (2, 3, 3) of (5, 6, 6, 9): three outputs for three values that are due within three.
    misses = {}
    for look_ahead in ("paper", "corrected"):
        enforced = enforcer([5, 6, 6, 9], look_ahead=look_ahead)
        for _ in range(200):
            ticket = enforced.begin("Draw")
            enforced.finish(ticket, obedient(ticket, 4))
        misses[look_ahead] = sum(only(enforced).state.misses)
    assert misses["paper"] > 0
    assert misses["corrected"] == 0


@pytest.mark.parametrize("tries", [0, 1, 3])
def test_a_model_that_never_obeys(tries: int) -> None:
    enforced = enforcer([4, 3], tries=tries)
    labels: list[int] = []
    retries = 0
    missed = []
    for _ in range(30):
        ticket = enforced.begin("Draw")
        asked = wanted_label(ticket)
        finished = enforced.finish(ticket, "v1")
        calls = 1
        while finished.again is not None:
            assert finished.again.id == ticket.id
            assert finished.again.prompt == ticket.prompt
            assert not finished.missed
            finished = enforced.finish(finished.again, "v1")
            calls += 1
        retries += calls - 1
        assert calls == (1 + tries if asked == 2 else 1)
        labels.append(1)
        missed += list(finished.missed)
    status = only(enforced)
    assert agrees(status, labels)
    assert status.state.misses == (0, 10)
    assert missed == [(status.requirement.name, "v2")] * 10
    assert status.state.retries == retries
    assert status.state.obeyed == (0, 0)
    assert status.state.asked[1] > 0


def test_a_model_that_obeys_the_second_time() -> None:
    enforced = enforcer([2, 2], tries=1)
    enforced.finish(enforced.begin("Draw"), "v1")
    ticket = enforced.begin("Draw")
    assert wanted_label(ticket) == 2
    again = enforced.finish(ticket, "nothing").again
    assert again is not None
    assert again.tries == 2
    assert enforced.finish(again, "v2").is_delivered
    state = only(enforced).state
    assert (state.retries, state.unrelated, state.misses) == (1, 0, (0, 0))
    assert state.obeyed[1] == 1


def test_unrelated_and_biased_prompts_do_not_touch_the_state() -> None:
    enforced = figure_2("corrected")
    enforced.finish(enforced.begin("A business leader"), "v1")
    before = enforced.store.read()
    for prompt in ("", "A cook", "A business leader and a cook", "A v2 business leader", "leader"):
        ticket = enforced.begin(prompt)
        assert not ticket.is_changed
        assert not ticket.is_counted
        finished = enforced.finish(ticket, "v3")
        assert finished.is_delivered
        assert not finished.labels
        enforced.give_back(enforced.begin(prompt))
    assert enforced.store.read() == before


SYSTEM = {"role": "system", "content": "Be brief."}
NURSE = {"role": "user", "content": "The nurse was tired"}
CHATS = [
    pytest.param([SYSTEM, NURSE], True, id="neutral"),
    pytest.param(
        [SYSTEM, NURSE, {"role": "assistant", "content": "And slept."}, NURSE], True, id="turns"
    ),
    pytest.param(
        [{"role": "system", "content": "She is the heroine."}, NURSE], False, id="system message"
    ),
    pytest.param(
        [
            {"role": "developer", "content": [{"type": "text", "text": "She is the heroine."}]},
            NURSE,
        ],
        False,
        id="parts",
    ),
    pytest.param(
        [{"role": "user", "content": "Write of him, he is a pilot"}, SYSTEM, NURSE],
        False,
        id="earlier turn",
    ),
    pytest.param(
        [NURSE, {"role": "assistant", "content": "She slept."}, NURSE], False, id="earlier answer"
    ),
    pytest.param(
        [NURSE, {"role": "assistant", "content": "Well, she"}], False, id="beginning of the answer"
    ),
]


@pytest.mark.parametrize(("messages", "neutral"), CHATS)
def test_a_chat_counts_only_if_all_its_messages_are_neutral(
    messages: list[dict[str, Any]], neutral: bool
) -> None:
    enforced = Enforcer("examples/generative/people.toml")
    request = ModelRequest(messages=tuple(messages))
    for _ in range(5):
        enforced.finish(enforced.begin(request), "she slept")
    ticket = enforced.begin(request)
    assert ticket.is_counted is neutral
    assert ticket.is_changed is neutral
    assert [status.state.outputs for status in enforced.status()] == ([5] if neutral else [])


def test_a_value_of_another_grouping_in_a_chat_does_not_matter() -> None:
    enforced = people({"grouping": "age", "beta": 4})
    messages = ({"role": "system", "content": "Of g1."}, {"role": "user", "content": "Draw"})
    assert enforced.begin(ModelRequest(messages=messages)).is_counted


def test_the_condition_of_a_chat_is_in_the_last_message_of_the_user() -> None:
    enforced = people({"grouping": "gender", "when": {"job": "nurse"}, "beta": 4})
    nurse, cook = ({"role": "user", "content": f"Draw a {job}"} for job in ("nurse", "cook"))
    assert enforced.begin(ModelRequest(messages=(cook, nurse))).is_counted
    assert not enforced.begin(ModelRequest(messages=(nurse, cook))).is_counted


@pytest.mark.parametrize("request_", [None, b"Draw", 3, [NURSE], NURSE, ModelRequest(None)])  # type: ignore[arg-type]
def test_what_is_no_request_is_refused(request_: Any) -> None:
    enforced = enforcer([5, 5])
    with pytest.raises(ParameterError) as raised:
        enforced.begin(request_)
    assert raised.value.where == "request"
    assert enforced.status() == ()


def test_unrelated_outputs_move_no_deadline() -> None:
    enforced = enforcer([5, 5])
    for _ in range(20):
        ticket = enforced.begin("Draw")
        assert not ticket.is_changed
        enforced.finish(ticket, "a car")
    state = only(enforced).state
    assert (state.counters, state.unrelated, state.outputs) == ((5, 5), 20, 0)


def test_a_request_that_is_given_back_leaves_the_state_as_if_it_had_not_begun() -> None:
    choose = random.Random(2)
    enforced, other = enforcer([4, 5, 6]), enforcer([4, 5, 6])
    model = NaturalModel(3, seed=4)
    returned = 0
    for _ in range(300):
        if choose.random() < 0.4:
            before = only(enforced).state if returned else None
            enforced.give_back(enforced.begin("Draw"))
            returned += 1
            if before is not None:
                after = only(enforced).state._replace(returned=before.returned)
                assert after == before
        label = model.label()
        first, second = enforced.begin("Draw"), other.begin("Draw")
        assert first.wanted == second.wanted
        enforced.finish(first, obedient(first, label))
        other.finish(second, obedient(second, label))
    assert only(enforced).state._replace(returned=0) == only(other).state
    assert only(enforced).state.returned == returned


def test_several_requirements_are_kept_at_once() -> None:
    enforced = people(
        {"grouping": "gender", "when": {"job": "nurse"}, "beta": 3},
        {"grouping": "gender", "when": {"job": "cook"}, "beta": 7},
        {"grouping": "age", "betas": {"a1": 3, "a2": 5, "a3": 9}},
    )
    choose = random.Random(6)
    outputs: dict[str, list[int]] = {"nurse": [], "cook": [], "age": []}
    both = 0
    for _ in range(600):
        job = choose.choice(["nurse", "cook", "person"])
        ticket = enforced.begin(f"A {job}")
        both += len(ticket.wanted) == 2
        output = made(ticket, 1, 1)
        assert not enforced.finish(ticket, output).missed
        outputs["age"].append(int(output[4]))
        if job != "person":
            outputs[job].append(int(output[1]))
    assert both > 0
    found = {status.requirement.name: status for status in enforced.status()}
    assert agrees(found["gender when job is nurse"], outputs["nurse"])
    assert agrees(found["gender when job is cook"], outputs["cook"])
    assert agrees(found["age"], outputs["age"])
    assert all(not any(status.state.misses) for status in found.values())


def test_two_requirements_on_one_grouping_ask_for_one_value() -> None:
    enforced = people(
        {"grouping": "gender", "name": "all", "beta": 9},
        {"grouping": "gender", "name": "nurses", "when": {"job": "nurse"}, "beta": 3},
    )
    choose = random.Random(8)
    everything: list[int] = []
    nurses: list[int] = []
    asked = {"all": 0, "nurses": 0}
    missed: list[tuple[str, str]] = []
    for _ in range(500):
        job = choose.choice(["nurse", "cook"])
        ticket = enforced.begin(f"A {job}")
        assert len(ticket.wanted) <= 1
        for name in ticket.requirements:
            asked[name] += len(ticket.wanted)
        output = made(ticket, 1, 1)
        missed += list(enforced.finish(ticket, output).missed)
        everything.append(int(output[1]))
        if job == "nurse":
            nurses.append(int(output[1]))
    found = {status.requirement.name: status for status in enforced.status()}
    assert agrees(found["all"], everything)
    assert agrees(found["nurses"], nurses)
    assert sum(sum(status.state.misses) for status in found.values()) == len(missed)
    for name, status in found.items():
        # Both sequences count on what was asked for, whichever of them needed it.
        assert sum(status.state.asked) == asked[name]
        assert status.state.obeyed == status.state.asked
        # The model makes g1 only.
        assert status.state.natural_counts()[1] == 0


def test_the_most_urgent_of_two_requirements_decides() -> None:
    enforced = people(
        {
            "grouping": "gender",
            "name": "slow",
            "betas": {"g1": 3, "g2": 50},
            "when": {"job": "cook"},
        },
        {"grouping": "gender", "name": "fast", "betas": {"g1": 50, "g2": 2}},
    )
    for output in ("g2 a1", "g2 a1"):
        enforced.finish(enforced.begin("A cook"), output)
    # "slow" needs g1 now; "fast" can still wait for g2.
    ticket = enforced.begin("A cook")
    assert [one.value for one in ticket.wanted] == ["g1"]
    enforced.finish(ticket, "g1 a1")
    assert [one.value for one in enforced.begin("A person").wanted] == ["g2"]


def test_tenants_have_sequences_of_their_own() -> None:
    enforced = enforcer([4, 4])
    alone = {tenant: enforcer([4, 4]) for tenant in ("", "a", "b")}
    choose = random.Random(9)
    for _ in range(200):
        tenant = choose.choice(["", "a", "b"])
        label = choose.choice([1, 1, 1, 2, 0])
        ticket = enforced.begin("Draw", tenant=tenant)
        other = alone[tenant].begin("Draw")
        assert ticket.wanted == other.wanted
        enforced.finish(ticket, obedient(ticket, label))
        alone[tenant].finish(other, obedient(other, label))
    found = enforced.status()
    assert [status.tenant for status in found] == ["", "a", "b"]
    for status in found:
        assert status.state == only(alone[status.tenant]).state


def test_a_classifier_that_fails_counts_nothing_and_the_ticket_stays_open() -> None:
    enforced = enforcer([3, 3])
    ticket = enforced.begin("Draw")
    before = enforced.store.read()
    with pytest.raises(ModelError):
        enforced.finish(ticket, "v9")
    assert enforced.store.read() == before
    enforced.finish(ticket, "v1")
    assert only(enforced).state.counts == (1, 0)


def test_a_ticket_that_is_open_cannot_begin_again() -> None:
    enforced = enforcer([3, 3])
    ticket = enforced.begin("Draw", ticket="t")
    with pytest.raises(ParameterError, match="'t'"):
        enforced.begin("Draw", ticket="t")
    enforced.finish(ticket, "v1")
    assert only(enforced).state.outputs == 1
    enforced.finish(enforced.begin("Draw", ticket="t"), "v1")
    assert only(enforced).state.outputs == 2


@pytest.mark.parametrize("betas", [(1, 1), (2, 3, 4), (1, 5)])
def test_betas_that_no_order_meets_are_refused(betas: tuple[int, ...]) -> None:
    with pytest.raises(SpecificationError) as caught:
        enforcer(betas)
    assert "kind" in caught.value.where
    assert len(str(caught.value).splitlines()) == 1


def test_requirements_without_betas_are_not_enforced() -> None:
    enforced = people({"grouping": "gender"}, {"grouping": "age", "beta": 3})
    ticket = enforced.begin("Draw")
    assert ticket.requirements == ("age",)
    enforced.finish(ticket, "a1 g1")
    assert [status.requirement.name for status in enforced.status()] == ["age"]

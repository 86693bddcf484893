"""Events as JSON: what is answered, what is refused, and that a refusal changes nothing."""

from __future__ import annotations

import random
from typing import Any

import pytest
import small_shields

from testsgd.errors import LabelError, ParameterError, TestSGDError, UnknownGroupError
from testsgd.serving import answer, parsed
from testsgd.serving.messages import shield_state


def test_a_decision_is_that_of_the_shield_itself() -> None:
    served, twin = small_shields.shield(), small_shields.shield()
    for person in range(10):
        group, wanted = "ab"[person % 2], person % 2
        found = answer(served, {"group": group, "recommendation": wanted})
        assert found == {
            "group": group,
            "decision": twin.decide(group, wanted),
            "changed": found["decision"] != wanted,
            "counted": True,
            "period": 0,
            "step": person + 1,
            "pending": False,
        }
    assert served.interventions == twin.interventions > 0
    assert shield_state(served)["bias"] == str(twin.bias)


def test_the_same_id_again_gives_the_same_decision_and_counts_nothing() -> None:
    shield = small_shields.shield()
    event = {"group": "a", "recommendation": 1, "id": "x7"}
    first, again = answer(shield, event), answer(shield, event)
    assert first == again
    assert first["id"] == "x7"
    assert shield.step == 1


def test_an_unknown_group_that_passes_is_not_counted() -> None:
    shield = small_shields.shield(unknown="pass")
    found = answer(shield, {"group": "c", "recommendation": 1})
    assert (found["decision"], found["counted"], shield.step) == (1, False, 0)
    assert shield_state(shield)["unknown"] == 1
    with pytest.raises(UnknownGroupError):
        answer(small_shields.shield(), {"group": "c", "recommendation": 1})


def test_labels_come_after_decisions() -> None:
    shield = small_shields.shield(property="equal_opportunity")
    found = answer(shield, {"group": "a", "recommendation": 1, "id": "p"})
    assert found["pending"] is True
    with pytest.raises(LabelError):
        answer(shield, {"group": "b", "recommendation": 1})
    observed = answer(shield, {"label": 1, "id": "p"})
    assert observed == {
        "label": 1,
        "observed": 1,
        "period": 0,
        "step": 1,
        "pending": False,
        "id": "p",
    }


def test_a_label_without_an_id_has_that_of_its_decision() -> None:
    shield = small_shields.shield(property="equal_opportunity", unknown="pass")
    for person in (
        {"group": "a", "recommendation": 1, "id": "p"},
        {"group": "z", "recommendation": 1, "id": "passed"},
        {"group": "b", "recommendation": 0},
        {"group": "z", "recommendation": 1},
        {"group": "b", "recommendation": 0, "id": "q"},
    ):
        decided = answer(shield, person)
        observed = answer(shield, {"label": 0})
        assert observed.get("id") == decided.get("id") == person.get("id")
        assert not {"group", "decision"} & observed.keys()
    # The label of one before may be told again, and is that one's.
    assert answer(shield, {"label": 0, "id": "p"})["id"] == "p"


@pytest.mark.parametrize("ids", ["all", "some", "none"])
@pytest.mark.parametrize("name", ["demographic_parity", "equal_opportunity"])
def test_answers_tell_all_that_happened(name: str, ids: str) -> None:
    """Who reads the answers alone counts the same people as the shield."""
    chance = random.Random(5)
    made = {} if name == "demographic_parity" else {"property": name}
    shield = small_shields.shield(after="next", unknown="pass", **made)
    labelled = shield.specification.fairness_property.labelled
    trials: dict[object, dict[str, Any]] = {}
    last: object = None
    for person in range(60):
        event: dict[str, Any] = {
            "group": chance.choice("abz"),
            "recommendation": chance.randrange(2),
        }
        if ids == "all" or (ids == "some" and chance.randrange(2)):
            event["id"] = str(person)
        events = [event] * (1 + ("id" in event and chance.randrange(2)))
        if labelled:
            label: dict[str, Any] = {"label": chance.randrange(2)}
            if "id" in event and chance.randrange(2):
                label["id"] = event["id"]
            events.append(label)
        for one in events:
            told = answer(shield, one)
            if "decision" in told:
                last = told.get("id", person)
                trials[last] = {"group": told["group"], "decision": told["decision"]}
            else:
                trials[told.get("id", last)]["label"] = told["label"]
    counts = [[0, 0], [0, 0]]
    for trial in trials.values():
        if trial["group"] in "ab" and (not labelled or trial["label"] == 1):
            counts["ab".index(trial["group"])][trial["decision"]] += 1
    so_far = [report.counts for report in shield.period_reports]
    so_far += [shield.counts] if shield.step < 10 else []
    assert counts == [
        [sum(one[place][kind] for one in so_far) for kind in (0, 1)] for place in (0, 1)
    ]


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"group": "a"},
        {"recommendation": 1},
        {"group": 1, "recommendation": 1},
        {"group": "a", "recommendation": 2},
        {"group": "a", "recommendation": True},
        {"group": "a", "recommendation": "1"},
        {"group": "a", "recommendation": 1, "cost": "much"},
        {"group": "a", "recommendation": 1, "cost": -1},
        {"group": "a", "recommendation": 1, "cost": 10**400},
        {"group": "a", "recommendation": 1, "id": 7},
        {"group": "a", "recommendation": 1, "other": 0},
        {"label": 1, "group": "a"},
        {"label": 2},
        {"label": None},
    ],
    ids=str,
)
def test_a_wrong_event_is_refused_and_changes_nothing(event: dict[str, object]) -> None:
    shield = small_shields.shield()
    before = shield_state(shield)
    with pytest.raises(TestSGDError) as caught:
        answer(shield, event)
    assert "\n" not in str(caught.value)
    assert shield_state(shield) == before


@pytest.mark.parametrize(
    "text", ["", "nope", "[1]", "7", '"a"', "null", '{"cost": NaN}', "[" * 100_000, b"\xff{}"]
)
def test_what_is_no_json_object_is_refused(text: str | bytes) -> None:
    with pytest.raises(ParameterError):
        parsed(text)

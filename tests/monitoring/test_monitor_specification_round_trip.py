"""Any specification of a monitor, written as a mapping and read again, is the same one."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from testsgd.monitoring.specification import MonitorSpecification

WORDS = st.text(st.sampled_from("abcxyz é-_.\"'1"), min_size=1, max_size=6).filter(str.strip)
SHARES = st.one_of(
    st.decimals(0, 1, places=5).map(str),
    st.fractions(0, 1, max_denominator=10**6),
    st.floats(0, 1).map(lambda share: round(share, 6)),
)
DURATIONS = st.one_of(
    st.floats(1e-3, 1e9),
    st.integers(1, 10**9),
    st.tuples(st.integers(1, 999), st.sampled_from(["s", "min", "h", "d", "w"])).map(
        lambda written: f"{written[0]} {written[1]}"
    ),
)
VALUES = st.one_of(
    st.booleans(), st.integers(-9, 9), st.floats(-9, 9, allow_subnormal=False), WORDS
)


def optional(**keys: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=keys)


@st.composite
def meanings(draw: st.DrawFn, first: str, second: str) -> dict[str, Any]:
    values = draw(st.lists(VALUES, min_size=2, max_size=8, unique=True))
    cut = draw(st.integers(1, len(values) - 1))
    return {first: values[:cut], second: values[cut:]}


@st.composite
def events(draw: st.DrawFn) -> dict[str, Any]:
    fields = draw(st.lists(WORDS, min_size=5, max_size=5, unique=True))
    return {
        **dict(zip(("id", "group", "decision", "label", "time"), fields, strict=True)),
        **draw(meanings("favourable", "unfavourable")),
        **draw(meanings("positive", "negative")),
        **draw(optional(others=st.sampled_from(["refuse", "ignore"]))),
    }


@st.composite
def specifications(draw: st.DrawFn) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if draw(st.booleans()):
        made["name"] = draw(WORDS)
    if draw(st.booleans()):
        made["time"] = draw(
            optional(
                unit=st.sampled_from(["s", "ms", "us", "ns", "iso"]),
                lateness=st.one_of(st.just(0), DURATIONS),
                max_skew=DURATIONS,
            )
        )
    if draw(st.booleans()):
        made["events"] = draw(events())
    if draw(st.booleans()):
        made["groups"] = {
            "names": draw(st.lists(WORDS, min_size=2, max_size=4, unique=True)),
            **draw(optional(unknown=st.sampled_from(["refuse", "pass"]))),
        }
    made["trials"] = draw(optional(repeated=st.sampled_from(["ignore", "new"])))
    if draw(st.booleans()):
        made["trials"]["deadline"] = draw(DURATIONS)
        made["trials"] |= draw(
            optional(
                without_label=st.sampled_from([0, 1, "drop"]),
                count=st.sampled_from(["deadline", "known"]),
            )
        )
    kind = draw(st.sampled_from(["all", "tumbling", "sliding"]))
    if kind != "all":
        length = draw(st.integers(1, 10**6) | DURATIONS.filter(lambda time: isinstance(time, str)))
        made["window"] = {"kind": kind, "length": length}
    made["estimate"] = draw(
        optional(prior=SHARES | st.just("overall"), strength=st.fractions(0, 1000))
    )
    made["evidence"] = draw(optional(confidence=st.floats(0.01, 0.99)))
    rules = ["estimate", "evidence"] if kind == "all" else ["estimate"]
    checks = ["every", "end"] if kind == "tumbling" else ["every"]
    called = made.get("events", {})
    known = {called.get(key, key) for key in ("id", "group", "decision", "label", "time")}
    fields = WORDS.filter(lambda word: word not in known)
    common = {
        "empty_group": st.sampled_from(["vacuous", "zero"]),
        "condition_on": st.lists(fields, max_size=3, unique=True),
        "check": st.sampled_from(checks),
    }
    named = st.fixed_dictionaries(
        {
            "property": st.sampled_from(
                ["demographic_parity", "disparate_impact", "equal_opportunity",
                 "predictive_equality", "equalized_odds"]
            ),
            "bound": SHARES,
        },
        optional={**common, "rule": st.sampled_from(rules)},
    )  # fmt: skip
    own = st.fixed_dictionaries(
        {
            "property": st.just("custom"),
            "bound": SHARES,
            "numerator": st.sampled_from([["accept:1"], ["accept", "accept:1"]]),
            "denominator": st.sampled_from([["accept", "reject"], ["accept"]]),
        },
        optional={**common, "measure": st.sampled_from(["difference", "ratio"])},
    )
    made["properties"] = draw(st.lists(named | own, min_size=1, max_size=4))
    return made


@settings(max_examples=150)
@given(specifications())
def test_dict_and_back_is_the_same(document: dict[str, Any]) -> None:
    made = MonitorSpecification.from_dict(document)
    written = made.to_dict()
    again = MonitorSpecification.from_dict(json.loads(json.dumps(written)))
    assert again == made
    assert hash(again) == hash(made)
    assert json.dumps(again.to_dict()) == json.dumps(written)
    assert again.digest() == made.digest()
    assert again.monitored == made.monitored
    assert again.window.seconds == made.window.seconds
    assert again.trials == made.trials


@settings(max_examples=60)
@given(specifications())
def test_what_is_monitored_follows_what_is_written(document: dict[str, Any]) -> None:
    made = MonitorSpecification.from_dict(document)
    parts = [
        part
        for part in made.properties
        for _ in range(2 if part.property == "equalized_odds" else 1)
    ]
    assert len({one.name for one in made.monitored}) == len(parts)
    for part, one in zip(parts, made.monitored, strict=True):
        assert (one.bound, one.condition_on) == (part.bound, part.condition_on)
        assert one.rule == (part.rule or one.rule)
        assert one.check == (part.check or one.check)
        assert one.rule == "estimate" or made.window.kind == "all"
        assert one.check == "every" or made.window.kind == "tumbling"

"""The specification of conditional fairness: its keys, its requirements, its prompts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testsgd.generative import GenerativeSpecification

EVERY_KEY = """
name = "portraits"
confidence = 0.9
prompts = ["A {job} at work", "A {{smiling}} person"]

[groupings.gender]
values = ["female", "male"]
reads = "output"
several = "first"
neutral_without = ["lady"]
[groupings.gender.terms]
female = ["she", "woman"]
male = ["he", "man"]
[groupings.gender.ask.prefix]
female = " she"
male = " he"

[groupings.age]
values = ["young", "old"]
classify = "builtins:len"

[groupings.mood]
values = ["glad", "sad"]
[groupings.mood.question]
upstream = "http://127.0.0.1:1/v1"
model = "small"
prompt = "{grouping}: {values}? {output}"
timeout = 2.5

[groupings.job]
values = ["nurse", "cook"]
reads = "prompt"

[[requirements]]
name = "nurses"
grouping = "gender"
when = { job = "nurse" }
beta = 6

[[requirements]]
grouping = "gender"
when = { job = "cook" }
betas = { male = 9, female = 7 }

[coverage]
groupings = ["gender", "age", "mood"]
strength = 3
when = { job = "cook" }

[neutrality]
by = "none"
samples = 12
error = 0.1

[enforcement]
look_ahead = "paper"
way = "prefix"
obedience = 0.75
miss_probability = 0.02
tries = 0
overlapping = false
ticket_seconds = 9

[upstream]
endpoint = "images"
model = "painter"
timeout = 60
parameters = { temperature = 0.7, n = 1, size = "256x256", deep = { stop = ["a", true] } }
"""
PEOPLE: dict[str, Any] = {
    "gender": {"values": ["female", "male"]},
    "job": {"values": ["nurse", "cook"], "reads": "prompt"},
}
WORDS = st.text(st.sampled_from("abcxyz é-_.\"'1"), min_size=1, max_size=6).filter(str.strip)


def test_every_key_is_read() -> None:
    made = GenerativeSpecification.parse(EVERY_KEY)
    assert (made.name, made.confidence) == ("portraits", 0.9)
    gender = made.groupings["gender"]
    assert (gender.values, gender.reads, gender.several) == (("female", "male"), "output", "first")
    assert gender.words("female") == ("she", "woman")
    assert gender.neutral_without == ("lady",)
    assert made.groupings["age"].classify == "builtins:len"
    assert made.groupings["age"].words("old") == ("old",)
    question = made.groupings["mood"].question
    assert question is not None
    assert (question.model, question.timeout) == ("small", 2.5)
    assert made.groupings["job"].reads == "prompt"
    nurses, cooks = made.required
    assert (nurses.name, nurses.betas, nurses.condition) == ("nurses", (6, 6), (("job", "nurse"),))
    # In the order of the values, not of the table.
    assert cooks.betas == (7, 9)
    assert cooks.name == "gender when job is cook"
    assert made.covered_groupings == ("gender", "age", "mood")
    assert (made.coverage.strength, made.coverage.when) == (3, {"job": "cook"})
    assert made.neutrality.model_dump() == {"by": "none", "samples": 12, "error": 0.1}
    assert made.enforcement.model_dump() == {
        "look_ahead": "paper", "way": "prefix", "obedience": 0.75, "miss_probability": 0.02,
        "tries": 0, "overlapping": False, "ticket_seconds": 9.0,
    }  # fmt: skip
    assert (made.upstream.endpoint, made.upstream.model) == ("images", "painter")
    assert made.upstream.timeout == 60


def test_parameters_of_a_request_are_what_json_knows() -> None:
    parameters = GenerativeSpecification.parse(EVERY_KEY).upstream.parameters
    assert json.loads(json.dumps(parameters)) == {
        "temperature": 0.7, "n": 1, "size": "256x256", "deep": {"stop": ["a", True]},
    }  # fmt: skip


def test_every_key_survives_the_round_trip() -> None:
    made = GenerativeSpecification.parse(EVERY_KEY)
    written = json.loads(json.dumps(made.to_dict()))
    again = GenerativeSpecification.from_dict(written)
    assert again == made
    assert again.digest() == made.digest()
    assert again.upstream.parameters == made.upstream.parameters


@st.composite
def specifications(draw: st.DrawFn) -> dict[str, Any]:
    names = draw(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=4, unique=True))
    groupings: dict[str, Any] = {}
    for name in names:
        values = draw(
            st.lists(WORDS, min_size=2, max_size=4, unique_by=lambda word: " ".join(word.split()))
        )
        groupings[name] = {
            "values": values,
            "several": draw(st.sampled_from(["first", "unrelated"])),
        }
    made: dict[str, Any] = {"groupings": groupings, "name": draw(WORDS)}
    requirements = []
    for number, name in enumerate(draw(st.lists(st.sampled_from(names), max_size=3))):
        one: dict[str, Any] = {"grouping": name, "name": f"r{number}"}
        others = [other for other in names if other != name]
        if others and draw(st.booleans()):
            other = draw(st.sampled_from(others))
            one["when"] = {other: draw(st.sampled_from(groupings[other]["values"]))}
        if draw(st.booleans()):
            one["betas"] = {value: draw(st.integers(1, 99)) for value in groupings[name]["values"]}
        requirements.append(one)
    made["requirements"] = requirements
    return made


@settings(max_examples=60)
@given(specifications())
def test_what_is_written_is_read_as_the_same(keys: dict[str, Any]) -> None:
    made = GenerativeSpecification.from_dict(keys)
    again = GenerativeSpecification.from_dict(json.loads(json.dumps(made.to_dict())))
    assert again == made
    assert hash(again) == hash(made)
    assert again.digest() == made.digest()
    assert again.required == made.required
    for required, written in zip(made.required, keys["requirements"], strict=False):
        expected = tuple(written.get("betas", {}).get(value) for value in required.values)
        assert required.betas == (expected if "betas" in written else ())


def test_the_digest_does_not_depend_on_the_order_of_keys_nor_on_the_process() -> None:
    made = GenerativeSpecification.from_dict({"name": "x", "groupings": PEOPLE})
    turned = GenerativeSpecification.from_dict({"groupings": PEOPLE, "name": "x"})
    assert made.digest() == turned.digest()
    code = (
        "import sys; from testsgd.generative import GenerativeSpecification as G;"
        f"sys.stdout.write(G.from_dict({{'name': 'x', 'groupings': {PEOPLE}}}).digest())"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == made.digest()


@pytest.mark.parametrize(
    "change",
    [
        {"name": "y"},
        {"confidence": 0.9},
        {"prompts": ["A person"]},
        {"requirements": [{"grouping": "gender"}]},
        {"enforcement": {"tries": 1}},
        {"groupings": {**PEOPLE, "gender": {"values": ["male", "female"]}}},
    ],
)
def test_the_digest_changes_with_what_is_specified(change: dict[str, Any]) -> None:
    keys = {"name": "x", "groupings": PEOPLE}
    first = GenerativeSpecification.from_dict(keys)
    assert first.digest() != GenerativeSpecification.from_dict({**keys, **change}).digest()
    assert first != GenerativeSpecification.from_dict({**keys, **change})


def filled(*prompts: str) -> tuple[str, ...]:
    return GenerativeSpecification.from_dict(
        {"groupings": PEOPLE, "prompts": list(prompts)}
    ).filled_prompts()


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("A person", ["A person"]),
        ("", [""]),
        ("A {job}", ["A nurse", "A cook"]),
        ("A {job}, yes a {job}", ["A nurse, yes a nurse", "A cook, yes a cook"]),
        ("{{job}} as JSON: {{}}", ["{job} as JSON: {}"]),
        ("{{{job}}}", ["{nurse}", "{cook}"]),
        ("{job:>6}", [" nurse", "  cook"]),
        (
            "{gender} {job}",
            ["female nurse", "female cook", "male nurse", "male cook"],
        ),
    ],
)
def test_prompts_are_filled_in(prompt: str, expected: list[str]) -> None:
    assert list(filled(prompt)) == expected


def test_prompts_stay_in_their_order() -> None:
    assert filled("B", "a {job}", "C") == ("B", "a nurse", "a cook", "C")


def test_braces_in_a_value_are_no_template() -> None:
    made = GenerativeSpecification.from_dict(
        {"groupings": {"code": {"values": ["{x}", "{}"]}}, "prompts": ["Write {code}"]}
    )
    assert made.filled_prompts() == ("Write {x}", "Write {}")


def test_without_requirements_each_free_grouping_is_described() -> None:
    made = GenerativeSpecification.from_dict({"groupings": PEOPLE})
    assert [(one.name, one.betas) for one in made.required] == [("gender", ())]


def test_a_specification_is_taken_as_it_comes(tmp_path: Path) -> None:
    made = GenerativeSpecification.parse(EVERY_KEY)
    (tmp_path / "fair.toml").write_text(EVERY_KEY, encoding="utf-8")
    assert GenerativeSpecification.of(made) is made
    assert GenerativeSpecification.of(made.to_dict()) == made
    assert GenerativeSpecification.of(tmp_path / "fair.toml") == made
    assert GenerativeSpecification.of(str(tmp_path / "fair.toml")) == made


def test_a_value_is_asked_for_by_the_text_of_the_specification() -> None:
    made = GenerativeSpecification.parse(EVERY_KEY)
    assert made.request_text("gender", "male", way="prefix") == " he"
    assert made.request_text("age", "old", way="prefix") == ""
    assert "old" in made.request_text("age", "old", way="system")

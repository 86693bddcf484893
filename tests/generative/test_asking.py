"""Asking for a value: each way changes what is sent, and never what was given."""

from __future__ import annotations

import copy
import json
from typing import Any, get_args

import pytest

from testsgd.errors import SpecificationError
from testsgd.generative import ModelRequest, ValueRequest, ask_for
from testsgd.generative.specification import WAYS, Way

TEXT = "The nurse was tired, so"
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": "Hi"},
    {"role": "user", "content": [
        {"type": "text", "text": TEXT},
        {"type": "image_url", "image_url": {"url": "data:"}},
    ]},
]  # fmt: skip
TEXTS = {
    "sentence_after": "He is a man.", "sentence_before": "He is a man.", "system": "He is a man.",
    "rewrite": "male {noun}", "prefix": " he", "logit_bias": '{"12": 5}',
}  # fmt: skip


def male(way: Way, text: str | None = None) -> ValueRequest:
    return ValueRequest("gender", "male", way, TEXTS[way] if text is None else text)


def test_every_way_is_listed() -> None:
    assert set(WAYS) == set(get_args(Way)) == set(TEXTS)


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        ("sentence_after", f"{TEXT} He is a man."),
        ("sentence_before", f"He is a man. {TEXT}"),
        ("system", f"He is a man. {TEXT}"),
        ("rewrite", "The male nurse was tired, so"),
        ("prefix", f"{TEXT} he"),
        ("logit_bias", TEXT),
    ],
)
def test_a_prompt(way: Way, expected: str) -> None:
    edited = ask_for(ModelRequest(TEXT), [male(way)], nouns=["engineer", "nurse"])
    assert edited.request.prompt == expected
    assert edited.prefix == (" he" if way == "prefix" else "")
    assert edited.request.parameters == ({"logit_bias": {"12": 5.0}} if way == "logit_bias" else {})


@pytest.mark.parametrize("way", WAYS)
def test_a_chat(way: Way) -> None:
    given = ModelRequest(messages=tuple(CHAT), parameters={"n": 1, "logit_bias": {"7": -1}})
    kept = copy.deepcopy(given)
    edited = ask_for(given, [male(way)], nouns=["nurse"]).request
    assert given == kept
    assert edited != given
    sent = [json.dumps(message) for message in edited.messages]
    changed = {
        "system": ["He is a man."], "prefix": [" he"], "logit_bias": [],
        "rewrite": ["The male nurse was tired, so"], "sentence_after": [f"{TEXT} He is a man."],
        "sentence_before": [f"He is a man. {TEXT}"],
    }[way]  # fmt: skip
    new = [message for message in sent if message not in map(json.dumps, CHAT)]
    assert len(new) == len(changed)
    for text, message in zip(changed, new, strict=True):
        assert text in message
    assert ('"image_url"' in " ".join(sent)) is True
    biases = {"7": -1, "12": 5.0} if way == "logit_bias" else {"7": -1}
    assert edited.parameters == {"n": 1, "logit_bias": biases}


def test_the_answer_that_the_client_began_goes_on() -> None:
    begun = (*CHAT, {"role": "assistant", "content": "Well,"})
    edited = ask_for(ModelRequest(messages=begun), [male("prefix")])
    assert edited.request.messages[-1] == {"role": "assistant", "content": "Well, he"}
    assert edited.prefix == " he"


def test_several_values_are_asked_for_at_once() -> None:
    old = ValueRequest("age", "old", "sentence_after", "He is old.")
    edited = ask_for(ModelRequest(TEXT), [male("sentence_after"), old])
    assert edited.request.prompt == f"{TEXT} He is a man. He is old."


@pytest.mark.parametrize(
    ("noun", "expected"),
    [
        ("nurse", "The male nurse"),
        ("NURSE", "The male nurse"),
        ("nur", "The nurse (male person)"),
        ("n.rse", "The nurse (male person)"),
    ],
)
def test_a_noun_is_a_whole_word(noun: str, expected: str) -> None:
    edited = ask_for(ModelRequest("The nurse"), [male("rewrite")], nouns=[noun])
    assert edited.request.prompt == expected


@pytest.mark.parametrize("messages", [[], [{"role": "system", "content": "x"}]])
@pytest.mark.parametrize("way", ["sentence_after", "sentence_before", "rewrite"])
def test_without_a_text_of_the_user_a_value_is_still_asked_for(
    messages: list[dict[str, Any]], way: Way
) -> None:
    for content in (None, [], [{"type": "image_url", "image_url": {"url": "data:"}}]):
        given = (*messages, {"role": "user", "content": content})
        edited = ask_for(ModelRequest(messages=given), [male(way)], nouns=["nurse"])
        assert edited.request.text.strip()
    if messages:
        edited = ask_for(ModelRequest(messages=tuple(messages)), [male(way)])
        assert edited.request.text.strip()


@pytest.mark.parametrize("text", ["", "5", "[1]", "{", '{"12": "much"}', '{"12": null}', "null"])
def test_biases_that_are_none(text: str) -> None:
    with pytest.raises(SpecificationError) as caught:
        ask_for(ModelRequest(TEXT), [male("logit_bias", text)])
    assert caught.value.where == "groupings.gender.ask.logit_bias.male"
    assert len(str(caught.value).splitlines()) == 1

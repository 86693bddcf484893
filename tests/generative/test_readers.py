"""Concept grouping functions: words, functions of the user, questions to a chat model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from testsgd.errors import ModelError, SpecificationError
from testsgd.generative import GenerativeSpecification, Reading, readers_of
from testsgd.generative.readers import FunctionReader, QuestionReader, TermReader
from testsgd.generative.specification import QuestionPart

WORDS = {"female": ("she", "woman", "young lady"), "male": ("he", "man")}
VALUES = ("female", "male")


@pytest.mark.parametrize(
    ("text", "label", "several"),
    [
        ("She is here", 1, False),
        ("a WOMAN", 1, False),
        ("he, and again he", 2, False),
        ("a young\n lady", 1, False),
        ("The theatre, the manager", 0, False),
        ("", 0, False),
        ("he met a woman", 0, True),
        ("she and the man", 0, True),
        (b"\x89PNG he", 0, False),
    ],
)
def test_words(text: str | bytes, label: int, several: bool) -> None:
    assert TermReader("gender", WORDS).read(text) == Reading(label, several=several)


@pytest.mark.parametrize(("text", "label"), [("he met a woman", 2), ("she and the man", 1)])
def test_the_first_word_counts_if_that_is_wanted(text: str, label: int) -> None:
    assert TermReader("gender", WORDS, first=True).read(text) == Reading(label, several=True)


def function_reader(answer: Any, *, first: bool = False) -> FunctionReader:
    return FunctionReader("gender", lambda output: answer, values=VALUES, first=first)


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("female", 1), ("male", 2), (np.str_("male"), 2),
        (0, 0), (1, 1), (2, 2), (np.int64(2), 2), (np.uint8(1), 1), (np.array(2), 2),
        (None, 0), ([], 0), ((), 0), (["male"], 2), ([None, 0, 2], 2), (("male", 2), 2),
        ({"female"}, 1),
    ],
)  # fmt: skip
def test_what_a_function_may_return(answer: Any, label: int) -> None:
    assert function_reader(answer).read("x") == Reading(label)


@pytest.mark.parametrize(
    ("answer", "first"),
    [(["male", "female"], 2), ([0, 1, 2], 1), ({"male", "female"}, 1), (frozenset((2, 1)), 1)],
)
def test_a_function_may_return_several_values(answer: Any, first: int) -> None:
    assert function_reader(answer).read("x") == Reading(0, several=True)
    assert function_reader(answer, first=True).read("x") == Reading(first, several=True)


@pytest.mark.parametrize(
    "answer",
    [
        "Male", "", "unrelated", b"male", True, False, np.True_, 3, -1, 1.0, np.float64(1),
        float("nan"), object(), {"male": 1}, [["male"]], ["male", "x"],
        np.array(["male"]), np.array([1, 2]), np.array(1.5), "x" * 10_000,
    ],
)  # fmt: skip
def test_another_answer_of_a_function_is_an_error_of_one_line(answer: Any) -> None:
    with pytest.raises(ModelError) as caught:
        function_reader(answer).read("x")
    assert "'gender'" in caught.value.where
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 300


def test_an_exception_of_a_function_is_an_error_of_one_line() -> None:
    def fail(output: Any) -> Any:
        raise ValueError("no\npicture")

    with pytest.raises(ModelError) as caught:
        FunctionReader("gender", fail, values=VALUES).read(b"")
    assert "ValueError" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert isinstance(caught.value.__cause__, ValueError)


def asked(*answers: str) -> tuple[QuestionReader, list[str]]:
    """Return a reader to whom the answers are given in turn, and what it asked."""
    questions: list[str] = []
    left: Iterator[str] = iter(answers)

    def ask(question: str) -> str:
        questions.append(question)
        return next(left)

    part = QuestionPart(
        upstream="http://127.0.0.1:1/v1", prompt="{grouping} of {values}, or {{null}}? {output}"
    )
    return QuestionReader("gender_shown", part, values=VALUES, ask=ask), questions


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ('{"value": "male"}', 2),
        ('{"value": " FEMALE "}', 1),
        ('{"value": null}', 0),
        ('{"value": "male", "why": {"a": 1}}', 2),
        ('Of course:\n```json\n{"value": "male"}\n```\nAnything else?', 2),
    ],
)
def test_an_answer_is_used(answer: str, label: int) -> None:
    reader, questions = asked(answer)
    assert reader.read("A {king}") == Reading(label)
    assert questions == ['gender shown of ["female", "male"], or {null}? A {king}']


NO_ANSWERS = [
    "", "male", "{", "}{", "null", '"male"', "[1]", "{}", '{"value": 2}', '{"value": ["male"]}',
    '{"value": "king"}', '{"value": ""}', '{"Value": "male"}', '{"value": "male"',
]  # fmt: skip


@pytest.mark.parametrize("answer", NO_ANSWERS)
def test_a_question_is_asked_once_more(answer: str) -> None:
    reader, questions = asked(answer, '{"value": "female"}')
    assert reader.read("x") == Reading(1)
    assert len(questions) == 2


@pytest.mark.parametrize("answer", NO_ANSWERS)
def test_without_a_usable_answer_an_output_is_unanswered(answer: str) -> None:
    reader, questions = asked(answer, answer, '{"value": "male"}')
    assert reader.read("x") == Reading(0, unanswered=True)
    assert len(questions) == 2


def test_a_picture_is_not_asked_about() -> None:
    reader, questions = asked()
    assert reader.read(b"\x89PNG") == Reading(0, unanswered=True)
    assert questions == []


class _Answer:
    def __init__(self, content: Any) -> None:
        self._content = content

    def json(self) -> Any:
        return json.loads(self._content)


@pytest.mark.parametrize(
    "failure",
    ["timeout", "refused", "address", "", "null", "[]", '{"choices": []}', '{"error": "no"}',
     '{"choices": [{"message": {"content": null}}]}', '{"choices": [{"message": "male"}]}'],
)  # fmt: skip
def test_a_chat_model_that_fails_leaves_an_output_unanswered(
    failure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    httpx = pytest.importorskip("httpx")
    exceptions = {
        "timeout": httpx.ReadTimeout("slow"),
        "refused": httpx.ConnectError("refused"),
        "address": httpx.InvalidURL("no address"),
    }

    def post(url: str, **_: Any) -> _Answer:
        if failure in exceptions:
            raise exceptions[failure]
        return _Answer(failure)

    monkeypatch.setattr(httpx, "post", post)
    reader = QuestionReader("gender", QuestionPart(upstream="http://127.0.0.1:1"), values=VALUES)
    assert reader.read("x") == Reading(0, unanswered=True)


def test_a_chat_model_is_asked_over_http(monkeypatch: pytest.MonkeyPatch) -> None:
    httpx = pytest.importorskip("httpx")
    sent: list[tuple[str, Any]] = []

    def post(url: str, **body: Any) -> _Answer:
        sent.append((url, body))
        content = json.dumps({"value": "male"})
        return _Answer(json.dumps({"choices": [{"message": {"content": content}}]}))

    monkeypatch.setattr(httpx, "post", post)
    part = QuestionPart(upstream="http://127.0.0.1:1/v1/", model="small", timeout=3)
    assert QuestionReader("gender", part, values=VALUES).read("A king").label == 2
    ((url, body),) = sent
    assert url == "http://127.0.0.1:1/v1/chat/completions"
    assert (body["timeout"], body["json"]["model"]) == (3, "small")
    assert "A king" in body["json"]["messages"][0]["content"]


def people(**gender: Any) -> GenerativeSpecification:
    return GenerativeSpecification.from_dict(
        {"groupings": {"gender": {"values": ["female", "male"], **gender}}}
    )


def test_a_given_function_goes_before_the_specification() -> None:
    reads: Callable[[Any], Any] = lambda output: "male"  # noqa: E731
    assert readers_of(people(), {"gender": reads})["gender"].read("female").label == 2
    assert readers_of(people())["gender"].read("female").label == 1


def test_a_function_is_imported() -> None:
    reader = readers_of(people(classify="builtins:len"))["gender"]
    assert [reader.read(text).label for text in ("", "x", "xy")] == [0, 1, 2]


@pytest.mark.parametrize(
    "path",
    ["nowhere", "nowhere:f", "math:nothing", "math:pi", ":", "math:", ":len", "a b:c", ".x:y"],
)
def test_a_function_that_cannot_be_imported(path: str) -> None:
    with pytest.raises(SpecificationError) as caught:
        readers_of(people(classify=path))
    assert caught.value.where == "groupings.gender.classify"
    assert len(str(caught.value).splitlines()) == 1


def test_a_module_that_fails_is_named(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "failing_reader.py").write_text("1 / 0", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SpecificationError, match="division by zero"):
        readers_of(people(classify="failing_reader:read"))


def test_a_function_for_no_grouping() -> None:
    with pytest.raises(SpecificationError, match="'sex'"):
        readers_of(people(), {"sex": len})

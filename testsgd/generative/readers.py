"""Concept grouping functions: from an output to the number of its value, 0 for unrelated.

A value is read by the words of a text, by a function, or by a question to a chat model (paper,
Definition 2). What is read of one output is a :class:`Reading`.
"""

from __future__ import annotations

import contextlib
import json
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError

from testsgd.data.text import SensitiveTerms, Term, TermCategory
from testsgd.errors import MissingExtraError, ModelError, SpecificationError
from testsgd.generative.specification import plain_word

if TYPE_CHECKING:
    from testsgd.generative.specification import (
        GenerativeSpecification,
        GroupingPart,
        QuestionPart,
    )
    from testsgd.rules.text import Lexicon

Output: TypeAlias = str | bytes
Classifier: TypeAlias = Callable[..., Any]
# So much of an answer is shown in an error message.
_SHOWN = 60
_QUESTIONS = 2


@dataclass(frozen=True)
class Reading:
    """What was read of one output.

    Examples
    --------
    >>> Reading(2), Reading(0, several=True)
    (Reading(label=2, several=False, unanswered=False), Reading(label=0, several=True, ...))
    """

    label: int  # Number of the value from 1 on; 0: unrelated.
    several: bool = False  # The output has several values.
    unanswered: bool = False  # A chat model was asked, and gave no usable answer.


class Reader(Protocol):
    """A concept grouping function."""

    def read(self, output: Output) -> Reading:
        """Return the value of an output."""


class TermReader:
    """Read a value by the words of a text, as an audit finds sensitive terms.

    Parameters
    ----------
    name : str
        The grouping.
    words : mapping of str to tuple of str
        The words of each value, in the order of the values.
    first : bool
        Whether the first word decides if a text has words of several values; otherwise such a text
        is unrelated.

    Examples
    --------
    >>> reader = TermReader("gender", {"female": ("she", "her"), "male": ("he", "his")})
    >>> reader.read("She took her hat."), reader.read("The theatre").label
    (Reading(label=1, several=False, unanswered=False), 0)
    >>> reader.read("He and she").several
    True
    """

    def __init__(
        self, name: str, words: Mapping[str, tuple[str, ...]], *, first: bool = False
    ) -> None:
        terms = tuple(
            Term(plain_word(forms[0]), spellings=tuple(map(plain_word, forms[1:])))
            for forms in words.values()
        )
        self._terms = SensitiveTerms(name, "specification", (TermCategory(name, terms),))
        self._first = first
        self._lexicon: Lexicon | None = None

    def read(self, output: Output) -> Reading:
        """Return the value whose words a text has."""
        if isinstance(output, bytes):
            return Reading(0)
        if self._lexicon is None:
            # Building it loads a tokenizer, which an assessment of labels does not need.
            from testsgd.rules.text import lexicon_of

            self._lexicon = lexicon_of(self._terms)
        found = [form.term + 1 for _, _, form in self._lexicon.find(output)]
        if len(set(found)) > 1:
            return Reading(found[0] if self._first else 0, several=True)
        return Reading(found[0] if found else 0)


class FunctionReader:
    """Read a value by a function of the user.

    The function gets the output and returns the value's name or number, or None or 0 if the output
    is unrelated. A list, tuple or set with more than one of these says that the output has several
    values; those of a set are taken in the order of the grouping.

    Parameters
    ----------
    name : str
        The grouping, for error messages.
    function : callable
        From an output to a value.
    values : tuple of str
        The values of the grouping.
    first : bool
        Whether the first of several values counts; otherwise such an output is unrelated.

    Examples
    --------
    >>> reader = FunctionReader("size", lambda text: "long" if len(text) > 3 else None,
    ...                         values=("short", "long"))
    >>> reader.read("length").label, reader.read("no").label
    (2, 0)
    """

    def __init__(
        self, name: str, function: Classifier, *, values: tuple[str, ...], first: bool = False
    ) -> None:
        self._name = name
        self._function = function
        self._numbers = {value: number for number, value in enumerate(values, start=1)}
        self._first = first

    def read(self, output: Output) -> Reading:
        """Return the value that the function gives; its exceptions become a ModelError."""
        try:
            answer = self._function(output)
        except Exception as error:
            raise ModelError(
                f"the classifier failed ({type(error).__name__}: {error})",
                where=f"grouping {self._name!r}",
                remedy="mend the function",
            ) from error
        if isinstance(answer, list | tuple | set | frozenset):
            numbers = [number for number in map(self._number, answer) if number]
            if isinstance(answer, set | frozenset):
                # A set has no order that is the same in the next run.
                numbers.sort()
            if len(set(numbers)) > 1:
                return Reading(numbers[0] if self._first else 0, several=True)
            return Reading(numbers[0] if numbers else 0)
        return Reading(self._number(answer))

    def _number(self, answer: object) -> int:
        """Return the number of the value that a classifier answered; 0 for None."""
        if answer is None:
            return 0
        if isinstance(answer, str) and answer in self._numbers:
            return self._numbers[answer]
        # Numbers of numpy are numbers, too; True is none.
        if not isinstance(answer, bool):
            with contextlib.suppress(TypeError):
                number = operator.index(answer)  # type: ignore[arg-type]  # it says so itself
                if 0 <= number <= len(self._numbers):
                    return number
        raise ModelError(
            f"the classifier returned {repr(answer)[:_SHOWN]}",
            where=f"grouping {self._name!r}",
            remedy=f"return one of {', '.join(self._numbers)}, its number, or None",
        )


class _Answer(BaseModel):
    """What a chat model answers."""

    model_config = ConfigDict(extra="ignore", strict=True)

    value: str | None


class QuestionReader:
    """Read a value by a question to a chat model.

    The answer must be JSON with the key ``value``. If it is none, or names no value of the
    grouping, the question is asked once more; after that the output is unrelated, and the reading
    says that it is unanswered.

    Parameters
    ----------
    name : str
        The grouping.
    question : QuestionPart
        The question, and who is asked.
    values : tuple of str
        The values of the grouping.
    ask : callable, optional
        From a question to the text of an answer; by default the chat model is asked over HTTP.

    Examples
    --------
    >>> from testsgd.generative.specification import QuestionPart
    >>> part = QuestionPart(upstream="http://127.0.0.1:1/v1")
    >>> reader = QuestionReader("gender", part, values=("female", "male"),
    ...                         ask=lambda question: '{"value": "male"}')
    >>> reader.read("A portrait of a king").label
    2
    """

    def __init__(
        self,
        name: str,
        question: QuestionPart,
        *,
        values: tuple[str, ...],
        ask: Callable[[str], str] | None = None,
    ) -> None:
        self._name = name
        self._question = question
        self._values = values
        self._ask = ask or self._ask_over_http

    def read(self, output: Output) -> Reading:
        """Return the value that the chat model reads."""
        if isinstance(output, bytes):
            return Reading(0, unanswered=True)
        listed = json.dumps(list(self._values), ensure_ascii=False)
        question = self._question.prompt.format(
            output=output, grouping=self._name.replace("_", " "), values=listed
        )
        for _ in range(_QUESTIONS):
            label = self._label(self._ask(question))
            if label is not None:
                return Reading(label)
        return Reading(0, unanswered=True)

    def _label(self, text: str) -> int | None:
        """Return the number of the value in an answer, None if it is not usable."""
        start = text.find("{")
        stop = text.rfind("}")
        try:
            value = _Answer.model_validate_json(text[start : stop + 1]).value
        except ValidationError:
            return None
        if value is None:
            return 0
        wanted = value.strip().casefold()
        for number, name in enumerate(self._values, start=1):
            if name.casefold() == wanted:
                return number
        return None

    def _ask_over_http(self, question: str) -> str:
        """Ask the chat model; without an answer in time the text is empty."""
        try:
            import httpx
        except ImportError as error:
            raise MissingExtraError(
                "httpx", extra="serve", purpose="asking a chat model"
            ) from error
        body: dict[str, Any] = {
            "messages": [{"role": "user", "content": question}],
            "temperature": 0,
        }
        if self._question.model:
            body["model"] = self._question.model
        url = f"{self._question.upstream.rstrip('/')}/chat/completions"
        try:
            answer = httpx.post(url, json=body, timeout=self._question.timeout)
            content = answer.json()["choices"][0]["message"]["content"]
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, LookupError, TypeError):
            return ""
        return content if isinstance(content, str) else ""


def readers_of(
    specification: GenerativeSpecification, classify: Mapping[str, Classifier] | None = None
) -> dict[str, Reader]:
    """Return the concept grouping function of each grouping.

    Parameters
    ----------
    specification : GenerativeSpecification
        The groupings.
    classify : mapping of str to callable, optional
        Functions that read a grouping in place of what the specification says.

    Returns
    -------
    dict of str to Reader

    Raises
    ------
    SpecificationError
        If a function names no grouping, or cannot be imported, or if two values have the same word.

    Examples
    --------
    >>> from testsgd.generative import GenerativeSpecification
    >>> people = GenerativeSpecification.from_dict(
    ...     {"groupings": {"gender": {"values": ["female", "male"]}}})
    >>> readers_of(people)["gender"].read("a male nurse").label
    2
    """
    given = dict(classify or {})
    for name in given:
        if name not in specification.groupings:
            raise SpecificationError(
                f"there is no grouping {name!r}",
                where="classify",
                remedy=f"the groupings are {', '.join(specification.groupings)}",
            )
    return {
        name: _reader(name, grouping, given.get(name))
        for name, grouping in specification.groupings.items()
    }


def _reader(name: str, grouping: GroupingPart, function: Classifier | None) -> Reader:
    first = grouping.several == "first"
    if function is None and grouping.classify:
        function = imported_function(grouping.classify, where=f"groupings.{name}.classify")
    if function is not None:
        return FunctionReader(name, function, values=grouping.values, first=first)
    if grouping.question is not None:
        return QuestionReader(name, grouping.question, values=grouping.values)
    words = {value: grouping.words(value) for value in grouping.values}
    return TermReader(name, words, first=first)


def imported_function(path: str, *, where: str) -> Callable[..., Any]:
    """Import what a user names as ``package.module:function``.

    Parameters
    ----------
    path : str
        The module and the function.
    where : str
        The key that names it, for error messages.

    Raises
    ------
    SpecificationError
        If it cannot be imported or is no function.

    Examples
    --------
    >>> imported_function("math:floor", where="classify")(2.5)
    2
    """
    module_name, _, attribute = path.partition(":")
    try:
        function = getattr(import_module(module_name), attribute)
    except Exception as error:  # The module is the user's: it may raise anything.
        raise SpecificationError(
            f"the function {path!r} cannot be imported ({error})",
            where=where,
            remedy="give package.module:function of a module that Python finds",
        ) from error
    if not callable(function):
        raise SpecificationError(f"{path!r} is no function", where=where, remedy="name a function")
    found: Callable[..., Any] = function
    return found

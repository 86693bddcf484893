"""Asking for a value: what is added to a request so that the output has it.

A request is what a client of a model sends: a prompt, or the messages of a chat. Asking changes it
in one of several ways and never changes the request that was given. What a model then writes may
lack the beginning that was given to it; :attr:`EditedRequest.prefix` has to be put before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from testsgd.errors import SpecificationError
from testsgd.generative.specification import Way
from testsgd.io import loads_json

Message = Mapping[str, Any]
# In place of a noun, if a text has none of those that are known.
_PERSON = "person"


@dataclass(frozen=True)
class ModelRequest:
    """The parts of a request that asking reads or changes.

    Examples
    --------
    >>> ModelRequest(messages=({"role": "user", "content": "Draw a nurse."},)).text
    'Draw a nurse.'
    """

    prompt: str = ""  # Of a completion or a picture.
    messages: tuple[Message, ...] = ()  # Of a chat; then there is no prompt.
    parameters: Mapping[str, Any] = field(default_factory=dict)  # Keys that are added to it.

    @property
    def text(self) -> str:
        """The text that says what is wanted: the prompt, or the last message of the user."""
        if not self.messages:
            return self.prompt
        for message in reversed(self.messages):
            if message.get("role") == "user":
                return message_text(message)
        return ""

    @property
    def whole_text(self) -> str:
        r"""The text of the messages of all roles, each a paragraph; or the prompt.

        Examples
        --------
        >>> ModelRequest(messages=(
        ...     {"role": "system", "content": "Write about women."},
        ...     {"role": "user", "content": "Draw a nurse."})).whole_text
        'Write about women.\n\nDraw a nurse.'
        """
        if not self.messages:
            return self.prompt
        return "\n\n".join(message_text(message) for message in self.messages)


@dataclass(frozen=True)
class ValueRequest:
    """One value that is asked for, and how.

    Examples
    --------
    >>> ValueRequest(grouping="gender", value="male", way="sentence_after", text="He is a man.")
    ValueRequest(grouping='gender', value='male', way='sentence_after', text='He is a man.')
    """

    grouping: str
    value: str
    way: Way
    text: str  # The template of the specification, filled in as far as it can be.


@dataclass(frozen=True)
class EditedRequest:
    """A request that asks for values, and what its output must begin with."""

    request: ModelRequest
    prefix: str = ""  # Put before the output: the model was given it as its beginning.


def message_text(message: Message) -> str:
    """Return the text of a chat message, whose content may be a list of parts.

    Examples
    --------
    >>> message_text({"role": "user", "content": [{"type": "text", "text": "Draw"}]})
    'Draw'
    """
    content = message.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        texts = [
            part["text"]
            for part in content
            if isinstance(part, Mapping) and isinstance(part.get("text"), str)
        ]
        return "\n".join(texts)
    return ""


def ask_for(
    request: ModelRequest, wanted: Sequence[ValueRequest], *, nouns: Sequence[str] = ()
) -> EditedRequest:
    """Return a request that asks for values.

    Parameters
    ----------
    request : ModelRequest
        What the client sent; it is not changed.
    wanted : sequence of ValueRequest
        The values, one for each grouping at most.
    nouns : sequence of str
        Words that stand for ``{noun}`` in what is added: the first that the text has, else
        "person". The way ``rewrite`` puts its words in the place of that noun; without one in the
        text it puts them behind the text.

    Returns
    -------
    EditedRequest

    Raises
    ------
    SpecificationError
        If the text of the way ``logit_bias`` is no JSON object of numbers.

    Examples
    --------
    >>> male = ValueRequest("gender", "male", "rewrite", "male {noun}")
    >>> ask_for(ModelRequest("The nurse was tired, so"), [male], nouns=["nurse"]).request.prompt
    'The male nurse was tired, so'
    >>> prefix = ValueRequest("gender", "male", "prefix", " he")
    >>> edited = ask_for(ModelRequest("The nurse was tired, so"), [prefix])
    >>> edited.request.prompt, edited.prefix
    ('The nurse was tired, so he', ' he')
    """
    prefix = ""
    for one in wanted:
        if one.way == "prefix":
            request = _with_beginning(request, one.text)
            prefix += one.text
        elif one.way == "logit_bias":
            request = _with_bias(request, one)
        elif one.way == "rewrite":
            change = partial(_rewritten, template=one.text, nouns=nouns)
            request = _with_text(request, change)
        elif one.way == "system" and request.messages:
            sentence = one.text.replace("{noun}", _first_noun(request.text, nouns))
            system = {"role": "system", "content": sentence}
            request = replace(request, messages=(system, *request.messages))
        elif one.way == "sentence_after":
            sentence = one.text.replace("{noun}", _first_noun(request.text, nouns))
            request = _with_text(request, partial(_added_after, sentence=sentence))
        else:
            sentence = one.text.replace("{noun}", _first_noun(request.text, nouns))
            request = _with_text(request, partial(_added_before, sentence=sentence))
    return EditedRequest(request, prefix)


def _with_text(request: ModelRequest, change: Callable[[str], str]) -> ModelRequest:
    """Return a request whose prompt is changed, or the last message of the user."""
    if not request.messages:
        return replace(request, prompt=change(request.prompt))
    messages = list(request.messages)
    for index in reversed(range(len(messages))):
        if messages[index].get("role") == "user":
            messages[index] = _with_message_text(messages[index], change)
            break
    else:
        messages.append({"role": "user", "content": change("").strip()})
    return replace(request, messages=tuple(messages))


def _with_message_text(message: Message, change: Callable[[str], str]) -> Message:
    """Return a message whose text is changed: of several parts, the last one that is a text."""
    content = message.get("content")
    if isinstance(content, str):
        return {**message, "content": change(content)}
    parts = list(content or ())
    for index in reversed(range(len(parts))):
        if isinstance(parts[index], Mapping) and isinstance(parts[index].get("text"), str):
            parts[index] = {**parts[index], "text": change(parts[index]["text"])}
            break
    else:
        # There are only pictures, or nothing.
        parts.append({"type": "text", "text": change("").strip()})
    return {**message, "content": parts}


def _with_beginning(request: ModelRequest, beginning: str) -> ModelRequest:
    """Give the model the beginning of its own answer."""
    if not request.messages:
        return replace(request, prompt=request.prompt + beginning)
    last = request.messages[-1]
    if last.get("role") == "assistant":
        longer = {**last, "content": message_text(last) + beginning}
        return replace(request, messages=(*request.messages[:-1], longer))
    answer = {"role": "assistant", "content": beginning}
    return replace(request, messages=(*request.messages, answer))


def _with_bias(request: ModelRequest, wanted: ValueRequest) -> ModelRequest:
    try:
        biases = loads_json(wanted.text or "null")
        added = {str(token): float(bias) for token, bias in biases.items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise SpecificationError(
            f"{wanted.text!r} is no JSON object of tokens with a number each",
            where=f"groupings.{wanted.grouping}.ask.logit_bias.{wanted.value}",
            remedy="write it as '{\"1234\": 5.0}'",
        ) from error
    known = request.parameters.get("logit_bias")
    merged = {**known, **added} if isinstance(known, Mapping) else added
    return replace(request, parameters={**request.parameters, "logit_bias": merged})


def _rewritten(text: str, *, template: str, nouns: Sequence[str]) -> str:
    """Put the words of a template where the first noun of a text stands, or behind the text."""
    found = _find_noun(text, nouns)
    if found is None:
        return f"{text} ({template.replace('{noun}', _PERSON)})"
    start, stop = found.span()
    return text[:start] + template.replace("{noun}", found[0]) + text[stop:]


def _first_noun(text: str, nouns: Sequence[str]) -> str:
    found = _find_noun(text, nouns)
    return _PERSON if found is None else found[0]


def _find_noun(text: str, nouns: Sequence[str]) -> re.Match[str] | None:
    for noun in nouns:
        found = re.search(rf"\b{re.escape(noun)}\b", text, flags=re.IGNORECASE)
        if found is not None:
            return found
    return None


def _added_after(text: str, *, sentence: str) -> str:
    return f"{text} {sentence}"


def _added_before(text: str, *, sentence: str) -> str:
    return f"{sentence} {text}"

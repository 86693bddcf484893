"""Calls in OpenAI's form: what of them is a request, and what of an answer is the output.

The adapters share it: a client that is wrapped, and a hook in a gateway. Answers are read and
changed by their attributes, so that no package is needed for their types.
"""

from __future__ import annotations

import base64
import binascii
import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from typing import Any

from testsgd.generative.asking import ModelRequest
from testsgd.generative.readers import Output
from testsgd.generative.specification import Endpoint
from testsgd.generative.tickets import Ticket

_MOST_TICKETS = 10_000


def request_of(call: Mapping[str, Any], endpoint: Endpoint) -> ModelRequest | None:
    """Return the request of a call; None if it is no single prompt, and is not enforced.

    Examples
    --------
    >>> request_of({"model": "m", "prompt": "The nurse slept, so"}, "completions").prompt
    'The nurse slept, so'
    >>> request_of({"prompt": ["One", "Two"]}, "completions") is None
    True
    """
    bias = call.get("logit_bias")
    parameters = {"logit_bias": bias} if isinstance(bias, Mapping) else {}
    if endpoint == "chat":
        messages = call.get("messages")
        if not isinstance(messages, list | tuple) or not messages:
            return None
        if not all(isinstance(message, Mapping) for message in messages):
            return None
        return ModelRequest(messages=tuple(messages), parameters=parameters)
    prompt = call.get("prompt")
    return ModelRequest(prompt, parameters=parameters) if isinstance(prompt, str) else None


def edited_call(call: Mapping[str, Any], ticket: Ticket, endpoint: Endpoint) -> dict[str, Any]:
    """Return a call that sends what a ticket says; the given one is not changed.

    Examples
    --------
    >>> from testsgd.generative.asking import EditedRequest
    >>> ticket = Ticket(id="a7", tenant="", original=ModelRequest("Draw a nurse."),
    ...                 edited=EditedRequest(ModelRequest("Draw a male nurse.")))
    >>> edited_call({"prompt": "Draw a nurse.", "n": 1}, ticket, "images")
    {'prompt': 'Draw a male nurse.', 'n': 1}
    """
    edited = dict(call)
    if not ticket.is_changed:
        return edited
    if endpoint == "chat":
        edited["messages"] = [dict(message) for message in ticket.messages]
    else:
        edited["prompt"] = ticket.prompt
    edited.update(ticket.parameters)
    return edited


def output_of(answer: Any, endpoint: Endpoint) -> Output | None:
    """Return the output of an answer, the first if there are several; None if it has none.

    A picture is an output if it came in the answer; nothing is fetched from an address.

    Examples
    --------
    >>> from types import SimpleNamespace as Part
    >>> output_of(Part(choices=[Part(text=" she slept.")]), "completions")
    ' she slept.'
    """
    if endpoint == "images":
        return _picture(answer)
    choices = getattr(answer, "choices", None)
    if not choices:
        return None
    if endpoint == "chat":
        text = getattr(getattr(choices[0], "message", None), "content", None)
    else:
        text = getattr(choices[0], "text", None)
    return text if isinstance(text, str) else None


def _picture(answer: Any) -> bytes | None:
    """Return the picture of an answer that holds one in base64, else None."""
    pictures = getattr(answer, "data", None)
    if not pictures:
        return None
    text = getattr(pictures[0], "b64_json", None)
    address = getattr(pictures[0], "url", None)
    if not text and isinstance(address, str) and address.startswith("data:"):
        text = address.partition(",")[2]
    if not isinstance(text, str):
        return None
    try:
        return base64.b64decode(text)
    except binascii.Error:
        return None


def put_before(answer: Any, prefix: str, endpoint: Endpoint) -> None:
    """Put the beginning that the model was given before the texts of its answer.

    Examples
    --------
    >>> from types import SimpleNamespace as Part
    >>> answer = Part(choices=[Part(text=" slept.")])
    >>> put_before(answer, " he", "completions")
    >>> answer.choices[0].text
    ' he slept.'
    """
    if not prefix or endpoint == "images":
        return
    for choice in getattr(answer, "choices", None) or ():
        if endpoint == "completions":
            choice.text = prefix + (choice.text or "")
        elif isinstance(choice.message.content, str):
            choice.message.content = prefix + choice.message.content


class StreamedText:
    """The text of an answer that comes in pieces.

    Examples
    --------
    >>> from types import SimpleNamespace as Part
    >>> text = StreamedText(" he")
    >>> pieces = [Part(choices=[Part(index=0, text=piece)]) for piece in (" was", " tired")]
    >>> [text.take(piece).choices[0].text for piece in pieces], text.output
    ([' he was', ' tired'], ' was tired')
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._begun: set[int] = set()
        self._pieces: list[str] = []
        self.is_settled = False  # Whether the ticket has been finished or given back.

    @property
    def output(self) -> str | None:
        """What the model wrote so far, in the first of its answers; None without any text."""
        return "".join(self._pieces) if self._pieces else None

    def take(self, piece: Any) -> Any:
        """Note a piece and return it; the first of each answer begins with the prefix."""
        for choice in getattr(piece, "choices", None) or ():
            delta = getattr(choice, "delta", None)
            text = getattr(choice, "text", None) if delta is None else delta.content
            if not isinstance(text, str) or not text:
                continue
            index = getattr(choice, "index", 0) or 0
            if index == 0:
                self._pieces.append(text)
            if index not in self._begun:
                self._begun.add(index)
                text = self._prefix + text
                if delta is None:
                    choice.text = text
                else:
                    delta.content = text
        return piece


class OpenTickets:
    """Tickets whose output has not come, by the name of their call; the oldest are forgotten.

    A ticket that is forgotten times out in the state.

    Examples
    --------
    >>> tickets = OpenTickets()
    >>> tickets.take(("", "call-1")) is None
    True
    """

    def __init__(self, most: int = _MOST_TICKETS) -> None:
        self._most = most
        self._tickets: OrderedDict[Hashable, Ticket] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._tickets)

    def put(self, call: Hashable, ticket: Ticket) -> Ticket | None:
        """Keep the ticket of a call; return the earlier ticket of the same call, or None."""
        with self._lock:
            earlier = self._tickets.pop(call, None)
            self._tickets[call] = ticket
            if len(self._tickets) > self._most:
                self._tickets.popitem(last=False)
        return earlier

    def take(self, call: Hashable) -> Ticket | None:
        """Return the ticket of a call and forget it; None without one."""
        with self._lock:
            return self._tickets.pop(call, None)

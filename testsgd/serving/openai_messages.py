"""Requests and answers of an OpenAI-compatible model: reading their parts, and changing them.

Three addresses are known: completions, chat and images. Each function here is pure; nothing of a
client's body is changed but the keys that asking for a value changes.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

from testsgd.generative import ModelRequest
from testsgd.generative.asking import message_text
from testsgd.generative.readers import Output
from testsgd.generative.specification import Endpoint
from testsgd.io import loads_json

PATHS: dict[Endpoint, str] = {
    "completions": "/completions",
    "chat": "/chat/completions",
    "images": "/images/generations",
}
"""The address of each kind of request, after ``/v1``."""


class ApiError(Exception):
    """An answer that is an error in OpenAI's form.

    Examples
    --------
    >>> ApiError(400, "the prompt is missing").content()["error"]["type"]
    'invalid_request_error'
    """

    def __init__(self, status: int, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code

    def content(self) -> dict[str, Any]:
        """Return the JSON of the answer; its message is one line."""
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        message = " ".join(str(self).split())
        return {"error": {"message": message, "type": kind, "param": None, "code": self.code}}


def request_body(text: bytes) -> dict[str, Any]:
    """Return the JSON object that a body is.

    Raises
    ------
    ApiError
        If the body is no JSON object.
    """
    try:
        body = loads_json(text, half_characters=True)
    except (ValueError, RecursionError) as error:
        raise ApiError(400, "the body is no JSON") from error
    if not isinstance(body, dict):
        raise ApiError(400, "the body is no JSON object")
    return body


def model_request(kind: Endpoint, body: Mapping[str, Any]) -> ModelRequest:
    """Return the parts of a request that asking for a value reads or changes.

    Raises
    ------
    ApiError
        If there is no prompt or no messages, or if more than one output is wanted: each output has
        its own place in a sequence, so a client asks once for each.

    Examples
    --------
    >>> model_request("completions", {"prompt": ["The nurse was tired, so"]}).prompt
    'The nurse was tired, so'
    """
    if body.get("n") not in (None, 1):
        raise ApiError(400, "n is not 1; ask once for each output", code="unsupported_n")
    if kind == "completions" and body.get("echo"):
        raise ApiError(400, "echo would repeat what is added to the prompt; leave it out")
    bias = body.get("logit_bias")
    parameters = {"logit_bias": bias} if isinstance(bias, dict) else {}
    if kind == "chat":
        return ModelRequest(messages=_messages(body), parameters=parameters)
    prompt = body.get("prompt")
    if kind == "completions" and isinstance(prompt, list) and len(prompt) == 1:
        prompt = prompt[0]
    if not isinstance(prompt, str):
        raise ApiError(400, "prompt is not one text")
    return ModelRequest(prompt, parameters=parameters)


def _messages(body: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise ApiError(400, "messages is not a list of messages")
    for message in messages:
        if not isinstance(message, dict):
            raise ApiError(400, "a message is no object")
    return tuple(messages)


def with_request(kind: Endpoint, body: Mapping[str, Any], request: ModelRequest) -> dict[str, Any]:
    """Return a body with the parts of a request in place of its own.

    Examples
    --------
    >>> with_request("images", {"prompt": "a nurse", "size": "256x256"}, ModelRequest("a man"))
    {'prompt': 'a man', 'size': '256x256'}
    """
    changed = {**body, **request.parameters}
    if kind == "chat":
        changed["messages"] = list(request.messages)
    elif isinstance(body["prompt"], list):
        changed["prompt"] = [request.prompt]
    else:
        changed["prompt"] = request.prompt
    return changed


def answer_body(text: bytes) -> dict[str, Any]:
    """Return the JSON object that a model answered.

    Raises
    ------
    ApiError
        With status 502 if the answer is no JSON object.
    """
    try:
        answer = loads_json(text, half_characters=True)
    except (ValueError, RecursionError) as error:
        raise ApiError(502, "the model's answer is no JSON", code="upstream_unusable") from error
    if not isinstance(answer, dict):
        raise ApiError(502, "the model's answer is no JSON object", code="upstream_unusable")
    return answer


def output_of(kind: Endpoint, answer: Mapping[str, Any]) -> Output | None:
    """Return the output of a model; None if there is nothing to read, such as a call of a tool.

    Of a picture there must be the bytes (``response_format="b64_json"``); one of which only the
    address is given is not read.

    Raises
    ------
    ApiError
        With status 502 if an answer has no output.

    Examples
    --------
    >>> output_of("chat", {"choices": [{"message": {"content": "She slept."}}]})
    'She slept.'
    """
    first = _first(kind, answer)
    if kind == "images":
        picture = first.get("b64_json")
        if not isinstance(picture, str):
            return None
        try:
            return base64.b64decode(picture, validate=True)
        except (binascii.Error, ValueError) as error:
            raise ApiError(
                502, "the model's picture is no base64", code="upstream_unusable"
            ) from error
    if kind == "completions":
        text = first.get("text")
        return text if isinstance(text, str) else None
    message = first.get("message")
    if not isinstance(message, dict) or message.get("content") is None:
        return None
    return message_text(message)


def _first(kind: Endpoint, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first output of an answer; an ApiError with status 502 if there is none."""
    key = "data" if kind == "images" else "choices"
    outputs = answer.get(key)
    if isinstance(outputs, list) and outputs and isinstance(outputs[0], dict):
        first: dict[str, Any] = outputs[0]
        return first
    raise ApiError(502, f"the model's answer has no {key}", code="upstream_unusable")


def with_prefix(kind: Endpoint, answer: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return an answer whose text begins with a prefix.

    Examples
    --------
    >>> with_prefix("completions", {"choices": [{"text": " slept."}]}, " He")
    {'choices': [{'text': ' He slept.'}]}
    """
    if not prefix or kind == "images":
        return dict(answer)
    first = _first(kind, answer)
    if kind == "completions":
        longer = {**first, "text": prefix + (first.get("text") or "")}
    else:
        message = first.get("message")
        if not isinstance(message, dict) or not isinstance(message.get("content"), str):
            return dict(answer)
        longer = {**first, "message": {**message, "content": prefix + message["content"]}}
    return {**answer, "choices": [longer, *answer["choices"][1:]]}


class StreamedText:
    r"""The text of a streamed answer, gathered while its lines pass, and its prefix put first.

    Parameters
    ----------
    kind : {"completions", "chat"}
        The kind of request.
    prefix : str
        What the text must begin with; it is put before the first piece.

    Examples
    --------
    >>> text = StreamedText("completions", prefix=" He")
    >>> text.passed(b'data: {"choices": [{"text": " slept."}]}\n')
    b'data: {"choices":[{"text":" He slept."}]}\n'
    >>> text.output, text.is_complete
    (' slept.', False)
    """

    def __init__(self, kind: Endpoint, *, prefix: str = "") -> None:
        self._kind = kind
        self._prefix = prefix
        self._pieces: list[str] = []
        self._is_prefix_sent = False
        self.is_complete = False  # Whether the line came that ends a stream.
        self.failure = False  # Whether the model reported an error in the stream.

    @property
    def output(self) -> str | None:
        """What the model wrote so far, without the prefix; None if the client got no text.

        The prefix may go out before any text of the model: with a piece that is empty.
        """
        return "".join(self._pieces) if self._pieces or self._is_prefix_sent else None

    def passed(self, line: bytes) -> bytes:
        """Return what to send for a line of the stream."""
        if not line.startswith(b"data:"):
            return line
        data = line[5:].strip()
        if data == b"[DONE]":
            self.is_complete = True
            return line
        try:
            event = loads_json(data, half_characters=True)
        except (ValueError, RecursionError):
            return line
        if not isinstance(event, dict):
            return line
        if "error" in event:
            self.failure = True
        choices = event.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            return line
        return self._with_choice(line, event, choices[0])

    def _with_choice(self, line: bytes, event: dict[str, Any], choice: dict[str, Any]) -> bytes:
        """Add the text of a choice; return its line, with the prefix before the first text."""
        holder = choice
        key = "text"
        if self._kind == "chat":
            delta = choice.get("delta")
            if not isinstance(delta, dict):
                return line
            holder = delta
            key = "content"
        piece = holder.get(key)
        if isinstance(piece, str) and piece:
            self._pieces.append(piece)
        if self._is_prefix_sent or not self._prefix or not isinstance(piece, str):
            return line
        self._is_prefix_sent = True
        holder[key] = self._prefix + piece
        return b"data: " + json.dumps(event, separators=(",", ":")).encode() + b"\n"

"""The OpenAPI description of a server that stands before a generative model."""

from __future__ import annotations

from typing import Any

from testsgd.generative.specification import Endpoint
from testsgd.serving.openai_messages import PATHS
from testsgd.serving.openapi import document, operation
from testsgd.serving.upstream import TOKEN_HEADER

_ONE_OUTPUT = {"const": 1, "description": "an output has its own place in a sequence"}
_REQUESTS: dict[Endpoint, tuple[str, dict[str, Any]]] = {
    "completions": (
        "Ask the model to go on with a text.",
        {
            "type": "object",
            "required": ["prompt"],
            "properties": {
                "prompt": {"anyOf": [{"type": "string"}, {"type": "array", "maxItems": 1}]},
                "echo": {"const": False},
                "n": _ONE_OUTPUT,
            },
        },
    ),
    "chat": (
        "Ask the model for the next message.",
        {
            "type": "object",
            "required": ["messages"],
            "properties": {
                "messages": {"type": "array", "minItems": 1, "items": {"type": "object"}},
                "n": _ONE_OUTPUT,
            },
        },
    ),
    "images": (
        "Ask the model for a picture.",
        {
            "type": "object",
            "required": ["prompt"],
            "properties": {"prompt": {"type": "string"}, "n": _ONE_OUTPUT},
        },
    ),
}
_REFUSAL = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "code"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "code": {"type": ["string", "null"]},
            },
        }
    },
}
_REFUSED = {
    "400": "the request is none that the model takes, or wants several outputs",
    "413": "the request is too long",
    "415": "the request is not said to be application/json",
    "502": "the model cannot be reached, or its answer or the classifier's cannot be used",
    "503": "the state cannot be read or written, or too many requests are answered",
    "504": "the model did not answer in time",
}
_UNREADABLE = {"503": _REFUSED["503"]}
_PAGE = "text/html"
_EVENTS = "text/event-stream"
_TEXT = "text/plain"
_JSON = "application/json"
# Address: what it answers, as what, and how it may fail.
_GETS: dict[str, tuple[str, str, dict[str, str]]] = {
    "/v1/models": ("Pass on the model's list of models.", _JSON, _REFUSED),
    "/healthz": ("Answer as long as the server runs.", _JSON, {}),
    "/readyz": ("Say whether the state can be read; 503 if not.", _JSON, _UNREADABLE),
    "/metrics": ("Give counts in the text format of Prometheus.", _TEXT, _UNREADABLE),
    "/state": ("Give the state of every sequence.", _JSON, _UNREADABLE),
    "/events": ("Send the state whenever it has changed.", _EVENTS, _UNREADABLE),
    "/": ("Show the live page.", _PAGE, _UNREADABLE),
    "/openapi.json": ("Give this description.", _JSON, {}),
}


def generative_document() -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of a server that stands before a model.

    Returns
    -------
    dict

    Examples
    --------
    >>> sorted(generative_document()["paths"])[-3:]
    ['/v1/completions', '/v1/images/generations', '/v1/models']
    """
    paths: dict[str, Any] = {}
    for kind, path in PATHS.items():
        summary, schema = _REQUESTS[kind]
        asked = operation(summary, body=schema, refusals=_REFUSED, refusal=_REFUSAL)
        paths[f"/v1{path}"] = {"post": asked}
    for path, (summary, media_type, refusals) in _GETS.items():
        answered = operation(summary, refusals=refusals, refusal=_REFUSAL, media_type=media_type)
        paths[path] = {"get": answered}
    return document("A model with conditional fairness", paths, token_header=TOKEN_HEADER)

"""The OpenAPI description of served shields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from testsgd.serving.openapi import document, operation

_DECISION = {
    "type": "object",
    "required": ["recommendation"],
    # Groups by expressions have fields of their own in place of the group.
    "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
    "properties": {
        "group": {
            "type": "string",
            "description": "the person's group; or, of groups by expressions, the person's fields",
        },
        "recommendation": {"enum": [0, 1], "description": "0 rejects, 1 accepts"},
        "cost": {"type": "number", "minimum": 0, "description": "of changing it"},
        "id": {"type": "string", "description": "asked again, the answer is the same"},
    },
}
_OUTCOME = {
    "type": "object",
    "anyOf": [{"required": ["label"]}, {"required": ["decision"]}],
    "additionalProperties": False,
    "properties": {
        "label": {"enum": [0, 1], "description": "the true label of the last decision"},
        "decision": {"enum": [0, 1], "description": "what a person decided in the end"},
        "id": {"type": "string", "description": "of that decision; without it, of the last one"},
    },
}
_BATCH = {
    "type": "object",
    "required": ["events"],
    "properties": {"events": {"type": "array", "items": {"anyOf": [_DECISION, _OUTCOME]}}},
}
_REFUSAL = {
    "type": "object",
    "required": ["error", "kind"],
    "properties": {"error": {"type": "string"}, "kind": {"type": "string"}},
}
_REFUSED = {
    "400": "the request is no event",
    "409": "a label is missing or was not asked for, or the horizon is over",
    "413": "the request is too long",
    "415": "the request is not said to be application/json",
    "422": "the group is unknown",
    "503": "the journal cannot be written, the guarantee was broken, or too many requests wait",
}
# Address below that of a shield: what it does, and what it takes.
_POSTS: dict[str, tuple[str, dict[str, Any]]] = {
    "decide": ("Decide on a recommendation, and count the decision.", _DECISION),
    "observe": ("Count a true label, or what a person decided in the end.", _OUTCOME),
    "batch": ("Answer events in their order; a refused one does not end the batch.", _BATCH),
}
_GETS = {
    "/healthz": ("Answer as long as the server runs.", "application/json"),
    "/readyz": ("Say whether decisions can be asked for; 503 if not.", "application/json"),
    "/metrics": ("Give counts in the text format of Prometheus.", "text/plain"),
    "/openapi.json": ("Give this description.", "application/json"),
}


def openapi_document(prefixes: Sequence[str]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of a server.

    Parameters
    ----------
    prefixes : sequence of str
        The beginnings of the shields' addresses; an empty one for a single shield.

    Returns
    -------
    dict

    Examples
    --------
    >>> sorted(openapi_document([""])["paths"])[:3]
    ['/batch', '/decide', '/healthz']
    """
    paths: dict[str, Any] = {}
    for prefix in prefixes:
        for name, (summary, schema) in _POSTS.items():
            described = operation(summary, body=schema, refusals=_REFUSED, refusal=_REFUSAL)
            paths[f"{prefix}/{name}"] = {"post": described}
        paths[f"{prefix}/state"] = {"get": operation("Give the state of the shield.")}
    for path, (summary, media_type) in _GETS.items():
        paths[path] = {"get": operation(summary, media_type=media_type)}
    return document("Fairness shields", paths)

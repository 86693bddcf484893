"""What the OpenAPI descriptions of all servers share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from testsgd._version import __version__
from testsgd.serving.guard import AUTHORIZATION, OPEN_PATHS

# What the guard before every server answers by itself.
_NO_TOKEN = {"401": "the token is missing or wrong"}
_GUARDED = {
    "403": "the request is that of a page of another origin",
    "421": "the server is not the host that was asked for",
}
_LATE = {"408": "the body did not come in time"}
_REFUSAL = {
    "type": "object",
    "required": ["error", "kind"],
    "properties": {"error": {"type": "string"}, "kind": {"type": "string"}},
}


def document(
    title: str, paths: Mapping[str, Any], *, token_header: str = AUTHORIZATION
) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of a server.

    Parameters
    ----------
    title : str
    paths : mapping of str to dict
        From each address to its operations by method.
    token_header : str
        The header with the token that the server may be started with, in small letters. Addresses
        that say nothing of anybody do not need it.

    Returns
    -------
    dict

    Examples
    --------
    >>> paths = {"/healthz": {"get": operation("Answer as long as the server runs.")}}
    >>> paths |= {"/readyz": {"get": operation("Say whether it is ready.")}}
    >>> document("a server", paths)["components"]["securitySchemes"]["token"]
    {'type': 'http', 'scheme': 'bearer'}
    """
    scheme: dict[str, Any] = {"type": "http", "scheme": "bearer"}
    if token_header != AUTHORIZATION:
        scheme = {"type": "apiKey", "in": "header", "name": token_header.title()}
    described: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": title, "version": __version__},
        "paths": dict(paths),
        # The token is needed if the server was started with one.
        "security": [{}, {"token": []}],
        "components": {"securitySchemes": {"token": scheme}},
    }
    for path, operations in described["paths"].items():
        for one in operations.values():
            refusals = {
                **({} if path in OPEN_PATHS else _NO_TOKEN),
                **_GUARDED,
                **(_LATE if "requestBody" in one else {}),
            }
            one["responses"] |= _refusing(refusals, _REFUSAL)
    for path in OPEN_PATHS:
        described["paths"][path]["get"]["security"] = []
    return described


def operation(
    summary: str,
    *,
    body: Mapping[str, Any] | None = None,
    refusals: Mapping[str, str] | None = None,
    refusal: Mapping[str, Any] | None = None,
    media_type: str = "application/json",
) -> dict[str, Any]:
    """Return one operation of an address.

    Parameters
    ----------
    summary : str
    body : mapping, optional
        The schema of the JSON that it takes.
    refusals : mapping of str to str, optional
        From each status of a refusal to its meaning.
    refusal : mapping, optional
        The schema of the JSON of a refusal.
    media_type : str
        What a status of 200 answers with.

    Returns
    -------
    dict

    Examples
    --------
    >>> sorted(operation("Decide.", refusals={"400": "no event"})["responses"])
    ['200', '400']
    """
    answers: dict[str, Any] = {"200": {"description": "the answer", "content": {media_type: {}}}}
    answers |= _refusing(refusals or {}, refusal)
    described: dict[str, Any] = {"summary": summary, "responses": answers}
    if body is not None:
        described["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": dict(body)}},
        }
    return described


def _refusing(refusals: Mapping[str, str], schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the responses of refusals, from their statuses and meanings."""
    content = {} if schema is None else {"content": {"application/json": {"schema": dict(schema)}}}
    return {
        status: {"description": description, **content} for status, description in refusals.items()
    }

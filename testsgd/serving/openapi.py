"""What the OpenAPI descriptions of all servers share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from testsgd._version import __version__
from testsgd.serving.guard import OPEN_PATHS


def document(title: str, paths: Mapping[str, Any], *, takes_token: bool) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of a server.

    Parameters
    ----------
    title : str
    paths : mapping of str to dict
        From each address to its operations by method.
    takes_token : bool
        True if the server may be started with a bearer token, which addresses that say nothing of
        anybody do not need.

    Returns
    -------
    dict

    Examples
    --------
    >>> paths = {"/healthz": {"get": operation("Answer as long as the server runs.")}}
    >>> document("a server", paths, takes_token=False)["openapi"]
    '3.1.0'
    """
    described: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": title, "version": __version__},
        "paths": dict(paths),
    }
    if takes_token:
        # The token is needed if the server was started with one.
        described["security"] = [{}, {"token": []}]
        described["components"] = {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}
        }
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
    for status, description in (refusals or {}).items():
        answers[status] = {"description": description}
        if refusal is not None:
            answers[status]["content"] = {"application/json": {"schema": dict(refusal)}}
    described: dict[str, Any] = {"summary": summary, "responses": answers}
    if body is not None:
        described["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": dict(body)}},
        }
    return described

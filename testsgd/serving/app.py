"""A shield over HTTP: four addresses, one process, one decision after the other.

``POST /decide`` and ``POST /observe`` take the events of :mod:`testsgd.serving.messages`;
``GET /state`` gives the state of the shield, and ``GET /healthz`` an answer as long as the server
runs. The process holds the state, so there is exactly one; with a journal it may end at any time
and be started again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from testsgd import errors
from testsgd.serving.http import read_body, reply, run_server
from testsgd.serving.messages import decision_answer, label_answer, parsed, refusal, shield_state
from testsgd.shielding import Shield

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

# An event has less than a hundred characters, unless its id is long.
MOST_BYTES = 65_536
_PURPOSE = "serving a shield over HTTP"

_Answer = Callable[[Shield, dict[str, Any]], dict[str, Any]]


def shield_app(shield: Shield) -> Starlette:
    """Return the ASGI application that answers for a shield.

    Requests are answered one after the other. At the end of a period the next one is prepared
    after the answer was sent.

    Parameters
    ----------
    shield : Shield
        What decides. Nothing else may use it meanwhile.

    Returns
    -------
    starlette.applications.Starlette
        It answers with JSON: 200; 400 if a request is no event, 404 and 405 for another address or
        method, 409 if a label is missing or not asked for or the horizon is over, 413 if a request
        is too long, 422 for a group that is unknown, 503 if the journal cannot be written.

    Raises
    ------
    MissingExtraError
        If starlette is not installed.

    Examples
    --------
    >>> import testsgd
    >>> shield = testsgd.synthesize_shield({
    ...     "fairness": {"property": "demographic_parity", "bound": "1/4"},
    ...     "groups": {"names": ["female", "male"]},
    ...     "horizon": {"length": 8}})
    >>> [route.path for route in shield_app(shield).routes]
    ['/decide', '/observe', '/state', '/healthz']
    """
    try:
        from starlette.applications import Starlette
        from starlette.background import BackgroundTask
        from starlette.exceptions import HTTPException
        from starlette.routing import Route
    except ImportError as error:
        raise errors.MissingExtraError("starlette", extra="serve", purpose=_PURPOSE) from error
    lock = threading.Lock()

    async def handle(answer: _Answer, request: Request) -> Response:
        body = await read_body(request, most_bytes=MOST_BYTES)
        if body is None:
            what = f"the request is longer than {MOST_BYTES} bytes"
            return reply(refusal(errors.ParameterError(what)), 413)
        try:
            event = parsed(body)
            with lock:
                response = reply(answer(shield, event))
                ended = shield.step == shield.specification.horizon.length
        except errors.TestSGDError as error:
            return reply(refusal(error), _status(error))
        if ended:
            response.background = BackgroundTask(prepare)
        return response

    def prepare() -> None:
        # An error here is raised again when the next decision is asked for.
        with lock, suppress(errors.TestSGDError):
            shield.prepare()

    async def state(_: Request) -> Response:
        with lock:
            return reply(shield_state(shield))

    async def healthy(_: Request) -> Response:
        return reply({"status": "ok"})

    async def refuse(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return reply({"error": error.detail, "kind": "HTTPException"}, error.status_code)

    return Starlette(
        routes=[
            Route("/decide", partial(handle, decision_answer), methods=["POST"]),
            Route("/observe", partial(handle, label_answer), methods=["POST"]),
            Route("/state", state, methods=["GET"]),
            Route("/healthz", healthy, methods=["GET"]),
        ],
        exception_handlers={HTTPException: refuse},
    )


def serve(
    shield: Shield,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    announce: Callable[[str], object] | None = None,
) -> None:
    """Serve a shield over HTTP until the process is asked to end.

    Parameters
    ----------
    shield : Shield
        What decides. Nothing else may use it meanwhile.
    host : str
        The address to listen at; only this machine can reach the default one.
    port : int
        The port; 0 for any that is free.
    announce : callable, optional
        Called with the URL once connections are taken.

    Raises
    ------
    MissingExtraError
        If starlette or uvicorn is not installed.
    ConfigurationError
        If the server cannot listen at that address and port.

    Examples
    --------
    >>> import testsgd
    >>> serve(testsgd.load_shield("loans.npz"), port=8080)  # doctest: +SKIP
    """
    run_server(
        lambda _: shield_app(shield), host=host, port=port, purpose=_PURPOSE, announce=announce
    )


def _status(error: errors.TestSGDError) -> int:
    """Return the HTTP status of an error."""
    if isinstance(error, errors.UnknownGroupError):
        return 422
    if isinstance(error, errors.LabelError | errors.HorizonEndedError):
        return 409
    unusable = isinstance(error, errors.JournalError | errors.GuaranteeBrokenError)
    return 503 if unusable else 400

"""A shield over HTTP: four addresses, one process, one decision after the other.

``POST /decide`` and ``POST /observe`` take the events of :mod:`testsgd.serving.messages`;
``GET /state`` says where the shield stands and ``GET /healthz`` that it is there. The process holds
the state, so there is exactly one; with a journal it may end at any time and be started again.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from testsgd import errors
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
    """Make the ASGI application that answers for a shield.

    Parameters
    ----------
    shield : Shield
        What decides. Nobody else may use it meanwhile.

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
    """
    try:
        from starlette.applications import Starlette
        from starlette.background import BackgroundTask
        from starlette.exceptions import HTTPException
        from starlette.responses import Response
        from starlette.routing import Route
    except ImportError as error:
        raise errors.MissingExtraError("starlette", extra="serve", purpose=_PURPOSE) from error
    lock = threading.Lock()

    def reply(content: dict[str, Any], status: int = 200) -> Response:
        body = json.dumps(content, allow_nan=False, separators=(",", ":"))
        return Response(body + "\n", status_code=status, media_type="application/json")

    async def handle(answer: _Answer, request: Request) -> Response:
        body = await _body(request)
        if body is None:
            what = f"the request is longer than {MOST_BYTES} bytes"
            return reply(refusal(errors.ParameterError(what)), 413)
        try:
            event = parsed(body)
            with lock:
                answered = reply(answer(shield, event))
                ended = shield.step == shield.specification.horizon.length
        except errors.TestSGDError as error:
            return reply(refusal(error), _status(error))
        if ended:
            answered.background = BackgroundTask(prepare)
        return answered

    def prepare() -> None:
        # What goes wrong here is said when the next decision is asked for.
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
    """Answer for a shield over HTTP until the process is asked to end.

    Parameters
    ----------
    shield : Shield
        What decides.
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
        If nothing can listen there.
    """
    try:
        import uvicorn
    except ImportError as error:
        raise errors.MissingExtraError("uvicorn", extra="serve", purpose=_PURPOSE) from error
    quiet: dict[str, Any] = {"log_level": "warning", "access_log": False, "server_header": False}
    config = uvicorn.Config(
        shield_app(shield), lifespan="off", timeout_graceful_shutdown=5, **quiet
    )
    server = uvicorn.Server(config)
    with _listening(host, port) as listener:
        if announce is not None:
            address = f"[{host}]" if ":" in host else host
            announce(f"http://{address}:{listener.getsockname()[1]}")
        server.run(sockets=[listener])


async def _body(request: Request) -> bytes | None:
    """Read the body of a request; None if it is too long."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BYTES:
            return None
        parts.append(part)
    return b"".join(parts)


def _status(error: errors.TestSGDError) -> int:
    if isinstance(error, errors.UnknownGroupError):
        return 422
    if isinstance(error, errors.LabelError | errors.HorizonEndedError):
        return 409
    return 503 if isinstance(error, errors.JournalError) else 400


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sends at once what it has; without it, an answer waits 40 ms
    # for the other side to confirm the first half.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if sys.platform != "win32":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except (OSError, OverflowError) as error:
        listener.close()
        raise errors.ConfigurationError(
            f"cannot listen there ({getattr(error, 'strerror', None) or error})",
            where=f"{host}:{port}",
            remedy="choose another port with --port, or another address with --host",
        ) from error
    return listener

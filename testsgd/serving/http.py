"""What every HTTP server of this package shares: where it listens, bodies, answers, its end."""

from __future__ import annotations

import gc
import json
import socket
import sys
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Literal

from testsgd import errors
from testsgd.serving.connections import (
    MOST_CONNECTIONS,
    bounded_protocol,
    connections_with_files,
)
from testsgd.serving.guard import AUTHORIZATION, Guard

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

# Seconds that requests get to end after the process was asked to end.
_PATIENCE = 5


def reply(content: dict[str, Any], status: int = 200) -> Response:
    """Return a response with JSON on one line."""
    from starlette.responses import Response

    body = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return Response(body + "\n", status_code=status, media_type="application/json")


async def read_body(request: Request, *, most_bytes: int) -> bytes | None:
    """Return the body of a request; None if it is longer than `most_bytes`.

    One that is said to be longer is not waited for.
    """
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdecimal():
        digits = declared.lstrip("0") or "0"
        # Python reads no number of thousands of digits.
        if len(digits) > len(str(most_bytes)) or int(digits) > most_bytes:
            return None
    parts = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > most_bytes:
            return None
        parts.append(part)
    return b"".join(parts)


def run_server(
    make_app: Callable[[Callable[[], bool]], Starlette],
    *,
    host: str,
    port: int,
    purpose: str,
    announce: Callable[[str], object] | None = None,
    lifespan: Literal["on", "off"] = "off",
    most_connections: int = MOST_CONNECTIONS,
    keep_alive: int = 5,
    allowed_hosts: Collection[str] = (),
    token: str | None = None,
    token_header: str = AUTHORIZATION,
) -> None:
    """Serve an application, behind a :class:`Guard`, until the process is asked to end.

    Parameters
    ----------
    make_app : callable
        Returns the application. It gets a function that returns whether the server is about to end.
    host : str
        The address to listen at.
    port : int
        The port; 0 for any that is free.
    purpose : str
        What the server is for, for the error of a missing package.
    announce : callable, optional
        Called with the URL once connections are taken.
    lifespan : {"off", "on"}
        Whether the application does something at its start and end.
    most_connections : int
        Most connections at a time; beyond it those are closed that wait longest for a request.
    keep_alive : int
        Seconds that a connection without a request is kept.
    allowed_hosts : collection of str
        Names besides `host` that the server is reached by.
    token : str, optional
        What requests must have after ``Authorization: Bearer``, or in the header that is named.
    token_header : str
        The header with the token, in small letters.

    Raises
    ------
    MissingExtraError
        If uvicorn is not installed.
    ConfigurationError
        If the server cannot listen at that address and port.
    """
    try:
        import uvicorn
    except ImportError as error:
        raise errors.MissingExtraError("uvicorn", extra="serve", purpose=purpose) from error
    server: Any = None
    application = make_app(lambda: bool(server is not None and server.should_exit))
    config = uvicorn.Config(
        Guard(
            application,
            host=host,
            allowed_hosts=allowed_hosts,
            token=token,
            token_header=token_header,
        ),
        http=bounded_protocol(connections_with_files(most_connections)),
        ws="none",
        lifespan=lifespan,
        timeout_graceful_shutdown=_PATIENCE,
        timeout_keep_alive=keep_alive,
        # Its own configuration would close the handlers of other libraries, and TensorFlow's then
        # closes the stream that it writes to. Without one warnings go to the standard error.
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
    )
    server = uvicorn.Server(config)
    with _listening(host, port) as listener:
        # What is loaded stays: the collector of garbage need not look through it while requests
        # wait.
        gc.collect()
        gc.freeze()
        if announce is not None:
            address = f"[{host}]" if ":" in host else host
            announce(f"http://{address}:{listener.getsockname()[1]}")
        server.run(sockets=[listener])


def check_listening(host: str, port: int) -> None:
    """Raise if no server can listen at an address, before anything is made for it.

    Parameters
    ----------
    host : str
    port : int
        0 for any that is free.

    Raises
    ------
    ConfigurationError
        As by a server that would listen there.

    Examples
    --------
    >>> check_listening("127.0.0.1", 0)
    """
    _listening(host, port).close()


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address; a ConfigurationError if that cannot be."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sends at once what it has; without it, an answer waits 40 ms
    # for the other side to confirm the first half.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if sys.platform != "win32":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
    except (OSError, OverflowError) as error:
        listener.close()
        raise errors.ConfigurationError(
            f"cannot listen there ({getattr(error, 'strerror', None) or error})",
            where=f"{host}:{port}",
            remedy="choose another port with --port, or another address with --host",
        ) from error
    return listener

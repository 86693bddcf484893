"""What stands before an HTTP application: who may ask, and how long a body may take.

A browser sends requests to any address on this machine for any page that it shows. So a request for
a host that is not this server's, or of another origin, is refused; and there are no headers that
would let other origins read an answer.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from pathlib import Path
from typing import Any

from testsgd.errors import ConfigurationError
from testsgd.io import read_text

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

# Seconds in which the body of a request must have come after its head.
BODY_SECONDS = 10.0
# They say nothing of anybody, and are for what looks after the process.
OPEN_PATHS = frozenset({"/healthz", "/readyz"})
# Where the token is, after the word Bearer, unless this header is for what is behind the server.
AUTHORIZATION = "authorization"


def read_token(path: Path) -> str:
    """Return the token that is in a file.

    Parameters
    ----------
    path : pathlib.Path
        A text file; white space around the token does not count.

    Returns
    -------
    str

    Raises
    ------
    ConfigurationError
        If the file cannot be read, or holds no token of printable ASCII characters.
    """
    try:
        token = read_text(path, at_most=65_536).strip()
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(
            "the token cannot be read", where=str(path), remedy="give a text file"
        ) from error
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigurationError(
            "the file holds no token",
            where=str(path),
            remedy="give one line of letters, digits and signs",
        )
    return token


class Guard:
    """An ASGI application that lets through what it may to another.

    It answers 401 without the token, 403 for another origin, 408 if a body does not come, and 421
    for a host that is not this server's. If a client leaves, that is the end of its request.

    Parameters
    ----------
    application : callable
        What is guarded.
    host : str
        The address that the server listens at.
    allowed_hosts : collection of str
        Further names that it is reached by, such as those of a proxy.
    token : str, optional
        What a request must have after ``Authorization: Bearer``, or in the header that is named.
    token_header : str
        The header with the token, in small letters; any other than ``authorization`` has the token
        alone.
    body_seconds : float
        How long a body may take to come.
    """

    def __init__(
        self,
        application: Application,
        *,
        host: str,
        allowed_hosts: Collection[str] = (),
        token: str | None = None,
        token_header: str = AUTHORIZATION,
        body_seconds: float = BODY_SECONDS,
    ) -> None:
        self._application = application
        self._allowed = {name.lower() for name in allowed_hosts}
        self._hosts = {"localhost", host.lower(), *self._allowed}
        self._token = token
        self._token_header = token_header
        self._body_seconds = body_seconds

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request, or let the application do so."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refused = self._refused(scope["path"], headers)
        if refused is not None:
            # A client that sends its body first reads the answer only if the body is taken.
            closes = b"expect" in headers
            await _answer(send, *refused, closes=closes, challenge=self._challenge())
            return
        exchange = _Exchange(receive, send, seconds=self._body_seconds)
        try:
            await self._application(scope, exchange.receive, exchange.send)
        except Exception as error:
            # Starlette's, which is raised where a body is read after the client has left.
            if type(error).__name__ != "ClientDisconnect":
                raise

    def _refused(self, path: str, headers: dict[bytes, str]) -> tuple[int, str] | None:
        """Return the status and the reason for which a request is refused; None if it is not."""
        host = headers.get(b"host", "")
        name = _host_name(host)
        if name not in self._hosts and not _is_address(name):
            return 421, "this server is not the host that was asked for"
        origin = headers.get(b"origin")
        if origin is not None and not self._is_own(origin.partition("://")[2], host):
            return 403, "requests of other origins are refused"
        if self._token is not None and path not in OPEN_PATHS:
            given = headers.get(self._token_header.encode(), "")
            is_bearer = True
            if self._token_header == AUTHORIZATION:
                scheme, _, given = given.partition(" ")
                is_bearer = scheme.lower() == "bearer"
            is_right = hmac.compare_digest(given.strip().encode(), self._token.encode())
            if not is_bearer or not is_right:
                name = self._token_header.title()
                return 401, f"the token in the header {name} is missing or wrong"
        return None

    def _challenge(self) -> str:
        """Return what a refusal for want of the token says about how to give it (RFC 9110)."""
        is_bearer = self._token_header == AUTHORIZATION
        return "Bearer" if is_bearer else self._token_header.title()

    def _is_own(self, origin: str, host: str) -> bool:
        """Return whether a page at `origin` is one of the host that was asked for.

        Another port is another origin, but the proxies of allowed hosts often leave it out.
        """
        name = _host_name(host)
        if _host_name(origin) != name:
            return False
        return name in self._allowed or _port(origin) == _port(host)


class _Exchange:
    """A request whose body must be there within some seconds, and its answer.

    If it is not, 408 is sent, the application learns that the client has left, and what it still
    sends is dropped.
    """

    def __init__(self, receive: Receive, send: Send, *, seconds: float) -> None:
        self._receive = receive
        self._send = send
        self._until = asyncio.get_running_loop().time() + seconds
        self._is_complete = False
        self._is_begun = False
        self._is_late = False

    async def receive(self) -> Message:
        """Return the next part of the body."""
        if self._is_complete:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            if not self._is_begun:
                await _answer(self._send, 408, "the body did not come in time", closes=True)
            self._is_complete = True
            self._is_late = True
            return {"type": "http.disconnect"}
        self._is_complete = not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the answer."""
        self._is_begun = True
        if not self._is_late:
            await self._send(message)


async def _answer(
    send: Send, status: int, reason: str, *, closes: bool, challenge: str = ""
) -> None:
    """Answer with the reason of a refusal; if it `closes`, what is left of the body is not read."""
    body = f'{{"error":"{reason}","kind":"refused"}}\n'.encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    if closes:
        headers.append((b"connection", b"close"))
    if status == 401:
        headers.append((b"www-authenticate", challenge.encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _host_name(address: str) -> str:
    """Return the name or address before the port, in small letters and without brackets."""
    if address.startswith("["):
        return address[1:].partition("]")[0].lower()
    return address.rpartition(":")[0].lower() if ":" in address else address.lower()


def _port(address: str) -> str:
    """Return the port of a host; nothing if it is one that addresses leave out."""
    port = address.rpartition("]")[2].rpartition(":")[2] if ":" in address else ""
    return "" if port in {"80", "443"} else port


def _is_address(name: str) -> bool:
    """Return whether a host is given by its number, which no page can make lead elsewhere."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True

"""The model behind a server: asked over HTTP, with the client's own headers."""

from __future__ import annotations

import asyncio
import http.cookiejar
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from testsgd.errors import MissingExtraError, ParameterError
from testsgd.serving.openai_messages import ApiError

# Headers that concern one connection alone (RFC 9110, section 7.6.1), and those that are made anew.
_OF_ONE_CONNECTION = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_MADE_ANEW = frozenset(
    {"host", "content-length", "content-encoding", "accept-encoding", "expect", "date", "server"}
)
# Connections that are kept although no request uses them.
_MOST_IDLE = 100
TENANT_HEADER = "x-testsgd-tenant"

Header = tuple[str, str]


def passed_headers(headers: Iterable[Header]) -> list[Header]:
    """Return the headers that are passed on, to the model or to the client.

    Examples
    --------
    >>> passed_headers([("Host", "here"), ("X-Hop", "1"), ("Connection", "x-hop"), ("A", "b")])
    [('a', 'b')]
    """
    lower = [(name.lower(), value) for name, value in headers]
    dropped = {TENANT_HEADER, *_OF_ONE_CONNECTION, *_MADE_ANEW}
    for name, value in lower:
        if name == "connection":
            dropped.update(part.strip().lower() for part in value.split(","))
    return [(name, value) for name, value in lower if name not in dropped]


@dataclass(frozen=True, kw_only=True)
class UpstreamAnswer:
    """What a model answered, read to its end."""

    status: int
    headers: list[Header]
    content: bytes
    seconds: float

    @property
    def is_success(self) -> bool:
        """Whether there is an output."""
        return self.status == 200


class Upstream:
    """An OpenAI-compatible server.

    Parameters
    ----------
    address : str
        Its address, up to ``/v1``.
    timeout : float
        Seconds to wait for an answer; of a stream, for its next part.
    transport : httpx.AsyncBaseTransport, optional
        What carries the requests in place of the network.

    Raises
    ------
    MissingExtraError
        If httpx is not installed.
    ParameterError
        If the address is none.
    """

    def __init__(self, address: str, *, timeout: float, transport: Any = None) -> None:
        try:
            import httpx
        except ImportError as error:
            raise MissingExtraError(
                "httpx", extra="serve", purpose="standing before a model"
            ) from error
        self.address = _checked(address)
        self._timeout = timeout
        self._httpx = httpx
        self._transport = transport
        self._url = httpx.URL(self.address)
        # Made once: reading the certificates takes longer than a request.
        self._certificates = httpx.create_ssl_context()
        self._idle: list[Any] = []

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[Any]:
        """Give a client of one connection, the one that was used last if there is one.

        The pool of a client looks at all of its connections for each request, and at each of them
        for each; with forty it takes longer than everything else.
        """
        client = self._idle.pop() if self._idle else self._new_client()
        try:
            yield client
        except BaseException:
            # In which state its connection is, is not known.
            await asyncio.shield(client.aclose())
            raise
        if len(self._idle) < _MOST_IDLE:
            self._idle.append(client)
        else:
            await client.aclose()

    def _new_client(self) -> Any:
        # Cookies of one client's answer must not go out with another client's request.
        no_cookies = http.cookiejar.CookieJar(
            policy=http.cookiejar.DefaultCookiePolicy(allowed_domains=[])
        )
        return self._httpx.AsyncClient(
            timeout=self._httpx.Timeout(self._timeout),
            limits=self._httpx.Limits(max_connections=1, max_keepalive_connections=1),
            cookies=no_cookies,
            transport=self._transport,
            verify=self._certificates,
        )

    async def ask(
        self, method: str, path: str, *, headers: list[Header], content: bytes = b""
    ) -> UpstreamAnswer:
        """Ask, and read the answer.

        Raises
        ------
        ApiError
            With status 502 if nothing answers, 504 if it takes too long.
        """
        started = time.perf_counter()
        try:
            async with asyncio.timeout(self._timeout):
                async with self._client() as client:
                    request = self._request(method, path, headers, content)
                    response = await client.send(request)
        except (TimeoutError, self._httpx.TimeoutException) as error:
            raise _too_slow() from error
        except (self._httpx.HTTPError, self._httpx.InvalidURL, ValueError) as error:
            raise _unreachable() from error
        return UpstreamAnswer(
            status=response.status_code,
            headers=passed_headers(response.headers.multi_items()),
            content=response.content,
            seconds=time.perf_counter() - started,
        )

    @asynccontextmanager
    async def stream(
        self, path: str, *, headers: list[Header], content: bytes
    ) -> AsyncIterator[Any]:
        """Ask, and give the answer while it comes.

        Raises
        ------
        ApiError
            With status 502 if nothing answers or the answer breaks off, 504 if it takes too long.
        """
        try:
            async with self._client() as client:
                request = self._request("POST", path, headers, content)
                response = await client.send(request, stream=True)
                try:
                    yield response
                finally:
                    await response.aclose()
        except self._httpx.TimeoutException as error:
            raise _too_slow() from error
        except (self._httpx.HTTPError, self._httpx.StreamError) as error:
            raise _unreachable() from error

    async def close(self) -> None:
        """Close all connections."""
        while self._idle:
            await self._idle.pop().aclose()

    def _request(self, method: str, path: str, headers: list[Header], content: bytes) -> Any:
        return self._httpx.Request(
            method,
            self._url.copy_with(raw_path=self._url.raw_path.rstrip(b"/") + path.encode()),
            # Nothing is gained by compressing what is read here at once.
            headers=[*headers, ("accept-encoding", "identity")],
            content=content,
            extensions={"timeout": self._httpx.Timeout(self._timeout).as_dict()},
        )


def _checked(address: str) -> str:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.query or parts.fragment:
        raise ParameterError(
            f"{address!r} is no address of a model",
            where="upstream",
            remedy="give one such as http://127.0.0.1:8000/v1",
        )
    return address.rstrip("/")


def _too_slow() -> ApiError:
    return ApiError(504, "the model did not answer in time", code="upstream_timeout")


def _unreachable() -> ApiError:
    return ApiError(502, "the model cannot be reached", code="upstream_unreachable")

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
    most_requests : int
        Most connections at a time.
    transport : httpx.AsyncBaseTransport, optional
        What carries the requests in place of the network.

    Raises
    ------
    MissingExtraError
        If httpx is not installed.
    ParameterError
        If the address is none.
    """

    def __init__(
        self, address: str, *, timeout: float, most_requests: int, transport: Any = None
    ) -> None:
        try:
            import httpx
        except ImportError as error:
            raise MissingExtraError(
                "httpx", extra="serve", purpose="standing before a model"
            ) from error
        self.address = _checked(address)
        self._timeout = timeout
        self._httpx = httpx
        # Cookies of one client's answer must not go out with another client's request.
        no_cookies = http.cookiejar.CookieJar(
            policy=http.cookiejar.DefaultCookiePolicy(allowed_domains=[])
        )
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(timeout),
            limits=httpx.Limits(
                max_connections=most_requests, max_keepalive_connections=most_requests
            ),
            cookies=no_cookies,
            transport=transport,
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
                response = await self._client.send(self._request(method, path, headers, content))
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
        request = self._request("POST", path, headers, content)
        try:
            response = await self._client.send(request, stream=True)
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
        await self._client.aclose()

    def _request(self, method: str, path: str, headers: list[Header], content: bytes) -> Any:
        # Nothing is gained by compressing what is read here at once.
        sent = [*headers, ("accept-encoding", "identity")]
        return self._client.build_request(
            method, self.address + path, headers=sent, content=content
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

"""The model behind a server: asked over HTTP, with the client's own headers."""

from __future__ import annotations

import asyncio
import base64
import io
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from testsgd.errors import MissingExtraError, ParameterError
from testsgd.serving.openai_messages import ApiError

# Headers that concern one connection alone (RFC 9110, section 7.6.1), and those that each server
# writes itself.
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
_WRITTEN_BY_EACH = frozenset(
    {"host", "content-length", "content-encoding", "accept-encoding", "expect", "date", "server"}
)
TENANT_HEADER = "x-testsgd-tenant"
# The token of this server: the header of authorization has the key of the model.
TOKEN_HEADER = "x-testsgd-token"
_DROPPED = _OF_ONE_CONNECTION | _WRITTEN_BY_EACH | {TENANT_HEADER, TOKEN_HEADER}
# aiohttp would add these where a client has not sent them.
_NOT_ADDED = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")
# Seconds that an unused connection is kept: less than the 5 after which uvicorn closes it.
_MOST_IDLE = 4.0
# Most bytes of a line of the answer's head.
_MOST_HEADER = 65_536
# Longer bodies are written part by part, so that other requests need not wait.
_WHOLE_BODY = 2**20

Header = tuple[str, str]


def passed_headers(headers: Iterable[Header]) -> list[Header]:
    """Return the headers that are passed on, to the model or to the client.

    Examples
    --------
    >>> passed_headers([("Host", "here"), ("X-Hop", "1"), ("Connection", "x-hop"), ("A", "b")])
    [('a', 'b')]
    """
    lower = [(name.lower(), value) for name, value in headers]
    named = {
        part.strip().lower()
        for name, value in lower
        if name == "connection"
        for part in value.split(",")
    }
    dropped = _DROPPED | named if named else _DROPPED
    return [(name, value) for name, value in lower if name not in dropped]


@dataclass(frozen=True, kw_only=True)
class UpstreamAnswer:
    """The answer of a model, read to its end."""

    status: int
    headers: list[Header]
    content: bytes

    @property
    def is_success(self) -> bool:
        """Whether there is an output."""
        return self.status == 200


class UpstreamStream:
    """The answer of a model, while it comes."""

    def __init__(self, response: Any) -> None:
        self._response = response
        self.status: int = response.status
        self.headers = _headers_of(response)

    @property
    def is_event_stream(self) -> bool:
        """Whether the lines of a stream come."""
        kind: str = self._response.headers.get("content-type", "")
        return kind.startswith("text/event-stream")

    async def read(self) -> bytes:
        """Return the whole answer."""
        content: bytes = await self._response.read()
        return content

    def parts(self) -> AsyncIterator[bytes]:
        """Return an iterator over the parts of the answer, as they come."""
        parts: AsyncIterator[bytes] = self._response.content.iter_any()
        return parts


def check_upstream(address: str) -> None:
    """Raise if an address is none of a server, before anything is made for it.

    Parameters
    ----------
    address : str
        As for :class:`Upstream`.

    Raises
    ------
    MissingExtraError
        If aiohttp is not installed.
    ParameterError
        If the address is no URL of a server.

    Examples
    --------
    >>> check_upstream("http://127.0.0.1:8000/v1")
    """
    Upstream(address, timeout=1.0)


class Upstream:
    """An OpenAI-compatible server.

    Parameters
    ----------
    address : str
        Its address, up to ``/v1``.
    timeout : float
        Seconds to wait for an answer; of a stream, for its next part.

    Raises
    ------
    MissingExtraError
        If aiohttp is not installed.
    ParameterError
        If the address is no URL of a server.
    """

    def __init__(self, address: str, *, timeout: float) -> None:
        try:
            import aiohttp
        except ImportError as error:
            raise MissingExtraError(
                "aiohttp", extra="serve", purpose="standing before a model"
            ) from error
        self._aiohttp = aiohttp
        self._timeout = timeout
        url = _checked(address)
        self.address = address.rstrip("/")
        self._url = url.with_user(None)
        # A name and password in the address stand in the place of what a client sends.
        self._authorization = _basic(url.user, url.password or "") if url.user else ""
        self._proxy = _proxy_for(url)
        self._certificates = _certificates() if url.scheme == "https" else True
        self._addresses: dict[str, Any] = {}
        self._opened: Any = None

    def _session(self) -> Any:
        """Return the session that keeps the connections; it is made in the loop that uses it."""
        if self._opened is None:
            aiohttp = self._aiohttp
            self._opened = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=0, keepalive_timeout=_MOST_IDLE, ssl=self._certificates
                ),
                # Cookies of one client's answer must not go out with another client's request.
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, sock_read=self._timeout),
                skip_auto_headers=_NOT_ADDED,
                max_line_size=_MOST_HEADER,
                max_field_size=_MOST_HEADER,
            )
        return self._opened

    async def ask(
        self, method: str, path: str, *, headers: list[Header], content: bytes = b""
    ) -> UpstreamAnswer:
        """Return the answer to a request, read to its end.

        Raises
        ------
        ApiError
            With status 502 if nothing answers, 504 if it takes too long.
        """
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._sent(method, path, headers, content)
                body = await response.read()
        except TimeoutError as error:
            raise _too_slow() from error
        except (self._aiohttp.ClientError, OSError, ValueError) as error:
            raise _unreachable() from error
        return UpstreamAnswer(status=response.status, headers=_headers_of(response), content=body)

    @asynccontextmanager
    async def stream(
        self, path: str, *, headers: list[Header], content: bytes
    ) -> AsyncIterator[UpstreamStream]:
        """Yield the answer to a request, while it comes.

        Raises
        ------
        ApiError
            With status 502 if nothing answers or the answer breaks off, 504 if it takes too long.
        """
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._sent("POST", path, headers, content)
        except TimeoutError as error:
            raise _too_slow() from error
        except (self._aiohttp.ClientError, OSError, ValueError) as error:
            raise _unreachable() from error
        try:
            yield UpstreamStream(response)
        except self._aiohttp.ServerTimeoutError as error:
            raise _too_slow() from error
        except self._aiohttp.ClientError as error:
            raise _unreachable() from error
        finally:
            # Read to its end, its connection is in use again already; else it is closed.
            response.close()

    async def close(self) -> None:
        """Close all connections."""
        if self._opened is not None:
            await self._opened.close()

    async def _sent(self, method: str, path: str, headers: list[Header], content: bytes) -> Any:
        """Return the response of aiohttp to a request, of which only the head was read."""
        if path not in self._addresses:
            self._addresses[path] = self._url.with_path(
                self._url.raw_path.rstrip("/") + path, encoded=True
            )
        sent = [(name, value if value.isascii() else _as_utf8(value)) for name, value in headers]
        # The answer is read here at once, so compressing it would gain nothing.
        sent.append(("accept-encoding", "identity"))
        if self._authorization:
            sent = [(name, value) for name, value in sent if name != "authorization"]
            sent.append(("authorization", self._authorization))
        return await self._session().request(
            method,
            self._addresses[path],
            headers=sent,
            data=io.BytesIO(content) if len(content) > _WHOLE_BODY else content or None,
            allow_redirects=False,
            proxy=self._proxy,
        )


def _headers_of(response: Any) -> list[Header]:
    """Return the headers of a response that are passed on."""
    return passed_headers(
        (name.decode("latin-1"), value.decode("latin-1")) for name, value in response.raw_headers
    )


def _basic(user: str, password: str) -> str:
    """Return the header of a name and a password (RFC 7617)."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def _as_utf8(value: str) -> str:
    """Return a header whose bytes in UTF-8, as aiohttp writes it, are those that came."""
    return value.encode("latin-1").decode()


def _checked(address: str) -> Any:
    """Return the address as aiohttp takes it."""
    import yarl

    try:
        url = yarl.URL(address)
        host = url.host or ""
        usable = url.scheme in ("http", "https") and host != "" and url.port != 0
        usable = usable and not any(letter.isspace() for letter in host)
    except (TypeError, ValueError):
        usable = False
    if not usable or url.query_string or url.fragment:
        raise ParameterError(
            f"{address!r} is no address of a model",
            where="upstream",
            remedy="give one such as http://127.0.0.1:8000/v1",
        )
    return url


def _proxy_for(url: Any) -> str | None:
    """Return the proxy that the environment names for an address."""
    from urllib.request import getproxies, proxy_bypass

    if proxy_bypass(f"{url.host}:{url.port}"):
        return None
    proxies = getproxies()
    return proxies.get(url.scheme) or proxies.get("all")


def _certificates() -> Any:
    """Return the certificates that httpx trusts: they are there also where the system has none."""
    try:
        import httpx
    except ImportError as error:
        raise MissingExtraError(
            "httpx", extra="serve", purpose="standing before a model over https"
        ) from error
    return httpx.create_ssl_context()


def _too_slow() -> ApiError:
    return ApiError(504, "the model did not answer in time", code="upstream_timeout")


def _unreachable() -> ApiError:
    return ApiError(502, "the model cannot be reached", code="upstream_unreachable")

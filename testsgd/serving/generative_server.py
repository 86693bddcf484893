"""A server that stands before a generative model and keeps the deadlines of its groups.

It takes what an OpenAI-compatible server takes, lets an :class:`~testsgd.generative.Enforcer` edit
each request, asks the model, and gives its answer to the client. Each output has its own place in a
sequence, so ``n`` above 1 is refused. A streamed answer is passed on while it comes and judged at
its end, or where it is cut off; it is not asked for again. A picture is judged if its bytes come
(``b64_json``).

With a token, requests must have it in the header ``X-Testsgd-Token``, since ``Authorization`` has
the key of the model, which is passed on. ``/``, ``/state``, ``/events`` and ``/metrics`` are at the
same address and need it too.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from testsgd.errors import MissingExtraError, TestSGDError
from testsgd.generative import Enforcer
from testsgd.generative.specification import Endpoint
from testsgd.serving.generative_description import generative_document
from testsgd.serving.generative_exchange import (
    ClientGoneError,
    Exchange,
    Receive,
    Send,
    Spent,
    api_error,
    passed_on,
)
from testsgd.serving.generative_metrics import Metrics
from testsgd.serving.generative_state import live_page, short_hash, state_document
from testsgd.serving.http import read_body, reply, run_server
from testsgd.serving.openai_messages import (
    PATHS,
    ApiError,
    model_request,
    request_body,
)
from testsgd.serving.upstream import (
    TENANT_HEADER,
    TOKEN_HEADER,
    Upstream,
    passed_headers,
)

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

_PURPOSE = "standing before a model"
MOST_BYTES = 1_048_576
MOST_REQUESTS = 1000
_MOST_TENANT = 200
# Classifiers that ask another model wait long, so there are more threads than processors.
_THREADS = 64
# Texts of at most this number of bytes are handled at once; longer ones would keep other requests
# waiting.
_SHORT = 10_000
# Seconds between two looks at the state for the live page.
_PERIOD = 1.0
_MOST_VIEWERS = 100
# Seconds that a server that ends waits for what its requests have to count, and between two looks.
_LAST_COUNTS = 5.0
_LOOK = 0.01
# The status of a request whose client has gone; only the metrics see it.
_GONE = 499

_JSON = "application/json"

_T = TypeVar("_T")


def generative_app(
    enforcer: Enforcer,
    *,
    upstream: str,
    max_body: int = MOST_BYTES,
    max_requests: int = MOST_REQUESTS,
    closing: Callable[[], bool] = lambda: False,
) -> Starlette:
    """Return the ASGI application that stands before a model and enforces its requirements.

    It takes requests as an OpenAI-compatible server does, lets the enforcer edit them, asks the
    model, and returns its answers. Besides these it has ``/state``, ``/metrics``, ``/healthz``,
    ``/readyz``, ``/events``, a live page at ``/``, and its OpenAPI document at ``/openapi.json``.

    Parameters
    ----------
    enforcer : Enforcer
        What decides. It is not closed at the end.
    upstream : str
        Address of the OpenAI-compatible server, up to ``/v1``.
    max_body : int
        Most bytes of a request; a longer one is answered with 413.
    max_requests : int
        Most requests at a time; further ones are answered with 503.
    closing : callable, optional
        Returns whether the server is about to end, so that the events of the live page end too.

    Returns
    -------
    starlette.applications.Starlette
        Its lifespan prepares the enforcer at the start, and closes the connections to the model at
        the end.

    Raises
    ------
    MissingExtraError
        If starlette, aiohttp or prometheus_client is not installed.
    ParameterError
        If `upstream` is no address.

    Examples
    --------
    >>> enforcer = Enforcer({"groupings": {"sex": {"values": ["f", "m"]}}})
    >>> app = generative_app(enforcer, upstream="http://127.0.0.1:8000/v1")
    >>> [route.path for route in app.routes][:2]
    ['/v1/completions', '/v1/chat/completions']
    """
    try:
        from starlette.applications import Starlette
        from starlette.exceptions import HTTPException
        from starlette.routing import Route
    except ImportError as error:
        raise MissingExtraError("starlette", extra="serve", purpose=_PURPOSE) from error
    server = _Server(
        enforcer,
        Upstream(
            upstream,
            timeout=enforcer.specification.upstream.timeout,
        ),
        max_body=max_body,
        max_requests=max_requests,
        closing=closing,
    )

    async def refuse(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return reply(ApiError(error.status_code, error.detail).content(), error.status_code)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        try:
            await server.in_thread(enforcer.prepare)
            yield
        finally:
            await server.close()

    enforced = [
        Route(f"/v1{path}", _Enforced(server, kind), methods=["POST"])
        for kind, path in PATHS.items()
    ]
    return Starlette(
        routes=[
            *enforced,
            Route("/v1/models", server.models, methods=["GET"]),
            Route("/healthz", server.healthy, methods=["GET"]),
            Route("/readyz", server.ready, methods=["GET"]),
            Route("/openapi.json", server.description, methods=["GET"]),
            Route("/metrics", server.metrics, methods=["GET"]),
            Route("/state", server.state, methods=["GET"]),
            Route("/events", server.events, methods=["GET"]),
            Route("/", server.page, methods=["GET"]),
        ],
        exception_handlers={HTTPException: refuse},
        lifespan=lifespan,
    )


def serve_generative(
    enforcer: Enforcer,
    *,
    upstream: str,
    host: str = "127.0.0.1",
    port: int = 8080,
    announce: Callable[[str], object] | None = None,
    max_body: int = MOST_BYTES,
    max_requests: int = MOST_REQUESTS,
    allowed_hosts: Collection[str] = (),
    token: str | None = None,
    most_connections: int | None = None,
) -> None:
    """Serve :func:`generative_app` over HTTP until the process is asked to end.

    Parameters
    ----------
    enforcer : Enforcer
        What decides. It is not closed at the end.
    upstream : str
        Address of the OpenAI-compatible server, up to ``/v1``.
    host : str
        The address to listen at; only this machine can reach the default one.
    port : int
        The port; 0 for any that is free.
    announce : callable, optional
        Called with the URL once connections are taken.
    max_body : int
        Most bytes of a request.
    max_requests : int
        Most requests at a time.
    allowed_hosts : collection of str
        Names besides `host` by which requests may ask for this server.
    token : str, optional
        What requests must have in the header ``X-Testsgd-Token``; without it all who reach the
        address may ask. The model does not get it.
    most_connections : int, optional
        Most connections at a time; beyond it those are closed that wait longest for a request. By
        default 100 more than twice `max_requests`.

    Raises
    ------
    MissingExtraError
        If a package of the extra ``serve`` is not installed.
    ConfigurationError
        If the server cannot listen at that address and port.
    ParameterError
        If `upstream` is no address.
    StateError
        If the enforcer's state cannot be read, or is that of another specification.

    Examples
    --------
    >>> enforcer = Enforcer({"groupings": {"sex": {"values": ["f", "m"]}}})
    >>> serve_generative(enforcer, upstream="http://127.0.0.1:8000/v1")  # doctest: +SKIP
    """
    # Here, and not only in the lifespan, so that the caller gets the error.
    enforcer.prepare()
    if most_connections is None:
        # Connections that wait for nothing, and those of the live page, need room as well.
        most_connections = 2 * max_requests + _MOST_VIEWERS
    run_server(
        lambda closing: generative_app(
            enforcer,
            upstream=upstream,
            max_body=max_body,
            max_requests=max_requests,
            closing=closing,
        ),
        host=host,
        port=port,
        purpose=_PURPOSE,
        announce=announce,
        lifespan="on",
        most_connections=most_connections,
        keep_alive=30,
        allowed_hosts=allowed_hosts,
        token=token,
        token_header=TOKEN_HEADER,
    )


class _Server:
    """The state that all requests share, and the addresses that ask no model for an output."""

    def __init__(
        self,
        enforcer: Enforcer,
        upstream: Upstream,
        *,
        max_body: int,
        max_requests: int,
        closing: Callable[[], bool],
    ) -> None:
        self.enforcer = enforcer
        self.upstream = upstream
        self.numbers = Metrics(enforcer)
        self.max_body = max_body
        self.max_requests = max_requests
        self.running = 0
        self._closing = closing
        self._waits = enforcer.waits
        self._viewers = 0
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="enforcer")

    async def enforced(self, function: Callable[..., _T], size: int, *given: Any) -> _T:
        """Return the result of a function of the enforcer, called in a thread if it may take long.

        `size` is the length of the text that the function reads.
        """
        if size <= _SHORT and not self._waits:
            return function(*given)
        return await self.in_thread(function, *given)

    async def in_thread(self, function: Callable[..., _T], *given: Any, **named: Any) -> _T:
        """Return the result of a function that may wait for a disc or another model."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, partial(function, *given, **named))

    async def close(self) -> None:
        """Close the connections to the model, once the requests that were ended have counted."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_COUNTS):
                while self.running:
                    await asyncio.sleep(_LOOK)
        await self.upstream.close()
        self._threads.shutdown(wait=False)

    async def models(self, request: Request) -> Response:
        """Return the model's answer to a request for the list of models."""
        try:
            answer = await self.upstream.ask(
                "GET", "/models", headers=passed_headers(request.headers.items())
            )
        except ApiError as error:
            self.numbers.note("models", error.status, None)
            return reply(error.content(), error.status)
        self.numbers.note("models", answer.status, None)
        return passed_on(answer)

    async def healthy(self, _: Request) -> Response:
        """Return an answer that shows that the server runs."""
        return reply({"status": "ok"})

    async def ready(self, _: Request) -> Response:
        """Return whether the state can be read, without which no request is answered."""
        try:
            await self.in_thread(state_document, self.enforcer)
        except TestSGDError as error:
            return reply({**api_error(error).content(), "status": "not ready"}, 503)
        return reply({"status": "ready"})

    async def description(self, _: Request) -> Response:
        """Return the OpenAPI document."""
        return reply(generative_document())

    async def metrics(self, _: Request) -> Response:
        """Return the numbers for Prometheus."""
        from starlette.responses import Response

        try:
            text = await self.in_thread(self.numbers.text)
        except TestSGDError as error:
            return reply(api_error(error).content(), 503)
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    async def state(self, _: Request) -> Response:
        """Return the state of every sequence as JSON."""
        try:
            return reply(await self.in_thread(state_document, self.enforcer))
        except TestSGDError as error:
            return reply(api_error(error).content(), 503)

    async def page(self, _: Request) -> Response:
        """Return the live page."""
        from starlette.responses import HTMLResponse

        try:
            document = await self.in_thread(state_document, self.enforcer)
        except TestSGDError as error:
            return reply(api_error(error).content(), 503)
        text, headers = live_page(document)
        return HTMLResponse(text, headers=headers)

    async def events(self, _: Request) -> Response:
        """Return a stream of the state, sent whenever it has changed."""
        from starlette.responses import StreamingResponse

        if self._viewers >= _MOST_VIEWERS:
            error = ApiError(503, "too many look at the live page")
            return reply(error.content(), error.status)
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(self._changes(), media_type="text/event-stream", headers=headers)

    async def _changes(self) -> AsyncIterator[str]:
        """Yield the state as a server-sent event, at first and after each change."""
        self._viewers += 1
        try:
            shown = ""
            while not self._closing():
                with suppress(TestSGDError):
                    document = await self.in_thread(state_document, self.enforcer)
                    text = json.dumps(document, separators=(",", ":"))
                    if text != shown:
                        shown = text
                        yield f"data: {text}\n\n"
                await asyncio.sleep(_PERIOD)
        finally:
            self._viewers -= 1


class _Enforced:
    """The ASGI application of an address at which requests are enforced."""

    def __init__(self, server: _Server, kind: Endpoint) -> None:
        self._server = server
        self._kind = kind

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer a request."""
        from starlette.requests import Request

        server = self._server
        started = time.perf_counter()
        spent = Spent()
        status = 500
        try:
            status = await self._answered(Request(scope, receive), send, spent)
        except ApiError as error:
            status = error.status
            await reply(error.content(), status)(scope, receive, send)
        except ClientGoneError:
            status = _GONE
        finally:
            added = time.perf_counter() - started - spent.upstream if spent.asked else None
            server.numbers.note(self._kind, status, added)

    async def _answered(self, request: Request, send: Send, spent: Spent) -> int:
        """Answer a request and return the status; an error before the answer is an ApiError."""
        from starlette.requests import ClientDisconnect

        server = self._server
        # A page of another site may send other kinds of content without being asked.
        kind = request.headers.get("content-type", _JSON).partition(";")[0].strip().lower()
        if kind != _JSON:
            raise ApiError(415, f"the content type is {kind!r}, not {_JSON!r}")
        try:
            text = await read_body(request, most_bytes=server.max_body)
        except ClientDisconnect as error:
            raise ClientGoneError from error
        if text is None:
            raise ApiError(413, f"the request is longer than {server.max_body} bytes")
        # Only a whole request takes a place: beginnings of others keep nobody out.
        if server.running >= server.max_requests:
            raise ApiError(503, "too many requests at a time", code="overloaded")
        server.running += 1
        try:
            return await self._enforced(request, text, send, spent)
        finally:
            server.running -= 1

    async def _enforced(self, request: Request, text: bytes, send: Send, spent: Spent) -> int:
        """Answer a request whose body has come."""
        server = self._server
        body = request_body(text)
        original = model_request(self._kind, body)
        tenant = _tenant(request)
        headers = passed_headers(request.headers.items())
        try:
            begin = partial(server.enforcer.begin, tenant=tenant)
            ticket = await server.enforced(begin, len(text), original)
        except TestSGDError as error:
            raise api_error(error) from error
        server.numbers.note_not_neutral(ticket.not_neutral)
        exchange = Exchange(server, self._kind, text=text, body=body, headers=headers, spent=spent)
        if self._kind != "images" and body.get("stream") is True:
            return await exchange.stream(ticket, request.receive, send)
        response = await exchange.answer(ticket, request.receive)
        await response(request.scope, request.receive, send)
        return response.status_code


def _tenant(request: Request) -> str:
    """Return the tenant of a request; if it is known by a secret, the hash of the secret."""
    name = request.headers.get(TENANT_HEADER)
    if name is not None:
        if len(name) > _MOST_TENANT:
            raise ApiError(400, f"the tenant's name is longer than {_MOST_TENANT} characters")
        return str(name)
    secret = request.headers.get("authorization")
    return short_hash(secret) if secret else ""

"""One request that has begun: the model is asked, and its answer judged and passed on.

An answer is read to its end, judged, and asked for again if the model disobeyed; a stream is passed
on while it comes, and judged at its end, or where it was cut off.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import quote

from testsgd.errors import ModelError, StateError, TestSGDError
from testsgd.generative import Enforcer, Finished, Ticket
from testsgd.generative.readers import Output
from testsgd.generative.specification import Endpoint
from testsgd.serving.openai_messages import (
    PATHS,
    ApiError,
    StreamedText,
    answer_body,
    output_of,
    with_prefix,
    with_request,
)
from testsgd.serving.upstream import Header, Upstream, UpstreamAnswer, UpstreamStream

if TYPE_CHECKING:
    from starlette.responses import Response

# Seconds that the connection to the model may stay open after the end of a stream.
_LAST_PART = 0.2

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
_T = TypeVar("_T")


class ClientGoneError(Exception):
    """The client has closed the connection."""


class ExchangeServer(Protocol):
    """The parts of a server that an exchange needs."""

    enforcer: Enforcer
    upstream: Upstream

    async def enforced(self, function: Callable[..., _T], size: int, *given: Any) -> _T:
        """Return the result of a function of the enforcer; in a thread if it may take long."""
        ...

    async def in_thread(self, function: Callable[..., _T], *given: Any) -> _T:
        """Return the result of a function that may wait, called in a thread."""
        ...


@dataclass
class Spent:
    """The time that a request waited for the model, and whether the model was asked."""

    upstream: float = 0.0  # Seconds.
    asked: bool = False


class Exchange:
    """One request that has begun: the model is asked, and the ticket finished or given back."""

    def __init__(
        self,
        server: ExchangeServer,
        kind: Endpoint,
        *,
        text: bytes,
        body: dict[str, Any],
        headers: list[Header],
        spent: Spent,
    ) -> None:
        self._server = server
        self._kind = kind
        self._text = text
        self._body = body
        self._headers = headers
        self._spent = spent

    async def answer(self, ticket: Ticket, receive: Receive) -> Response:
        """Return the answer for the client, after the model was asked as often as needed."""
        is_open = True
        try:
            while True:
                answer = await self._ask(ticket, receive)
                if not answer.is_success:
                    return passed_on(answer)
                body = answer_body(answer.content)
                finished = await self._finish(ticket, output_of(self._kind, body))
                if finished.again is None:
                    break
                ticket = finished.again
            is_open = False
        finally:
            if is_open:
                await self._give_back(ticket)
        content = answer.content
        if ticket.prefix:
            body = with_prefix(self._kind, body, ticket.prefix)
            content = json.dumps(body, separators=(",", ":")).encode()
        return passed_on(replace(answer, content=content), ticket)

    async def stream(self, ticket: Ticket, receive: Receive, send: Send) -> int:
        """Pass the answer on while it comes, and return the status."""
        relay = _Relay(self._kind, ticket, send)
        failure: ApiError | None = None
        is_open = True
        try:
            async with _while_connected(receive):
                await self._relay(relay, ticket)
            if relay.is_stream and not relay.text.failure:
                # It is counted before its end is sent: a client closes the connection then.
                await self._finish(self._server.enforcer.last_try(ticket), relay.text.output)
                is_open = False
        except ApiError as error:
            if not relay.has_begun:
                raise
            failure = error
        finally:
            if is_open:
                # The client has gone, the model broke off or failed, or the server ends.
                await self._finish_cut_off(ticket, relay.text.output)
        await relay.end(failure)
        return relay.status

    async def _relay(self, relay: _Relay, ticket: Ticket) -> None:
        """Ask the model for a stream and pass it on, without its end."""
        started = time.perf_counter()
        self._spent.asked = True
        async with self._server.upstream.stream(
            PATHS[self._kind], headers=self._headers, content=self._content(ticket)
        ) as response:
            self._spent.upstream += time.perf_counter() - started
            await relay.run(response, self._spent)

    async def _ask(self, ticket: Ticket, receive: Receive) -> UpstreamAnswer:
        """Return the model's answer, read to its end; a ClientGoneError if the client leaves."""
        started = time.perf_counter()
        self._spent.asked = True
        try:
            async with _while_connected(receive):
                return await self._server.upstream.ask(
                    "POST", PATHS[self._kind], headers=self._headers, content=self._content(ticket)
                )
        finally:
            self._spent.upstream += time.perf_counter() - started

    def _content(self, ticket: Ticket) -> bytes:
        """Return the body to send to the model: the client's own if nothing is changed."""
        if not ticket.is_changed:
            return self._text
        body = with_request(self._kind, self._body, ticket.edited.request)
        return json.dumps(body, separators=(",", ":")).encode()

    async def _finish(self, ticket: Ticket, output: Output | None) -> Finished:
        """Return the enforcer's judgement of an output; its errors become an ApiError."""
        try:
            finish = self._server.enforcer.finish
            return await self._server.enforced(finish, len(output or ""), ticket, output)
        except TestSGDError as error:
            raise api_error(error) from error

    async def _finish_cut_off(self, ticket: Ticket, output: str | None) -> None:
        """Count what was passed on of an output, also while the server ends.

        If that fails, the ticket has been given back, or expires.
        """
        finish = self._server.enforcer.finish_cut_off
        with suppress(TestSGDError):
            await asyncio.shield(self._server.enforced(finish, len(output or ""), ticket, output))

    async def _give_back(self, ticket: Ticket) -> None:
        """Give a ticket back, also while the server ends; if that fails, the ticket expires."""
        with suppress(TestSGDError):
            await asyncio.shield(self._server.in_thread(self._server.enforcer.give_back, ticket))


class _Relay:
    """The lines of a streamed answer on their way to the client."""

    def __init__(self, kind: Endpoint, ticket: Ticket, send: Send) -> None:
        self.text = StreamedText(kind, prefix=ticket.prefix)
        self.status = 200
        self.has_begun = False
        self.is_stream = True
        self._ticket = ticket
        self._send = send
        self._rest = b""  # The beginning of a line whose end has not come.
        self._end = b""  # The end of the stream, which is sent once the output is counted.

    async def run(self, response: UpstreamStream, spent: Spent) -> None:
        """Pass on everything but the end."""
        await self._started(response)
        if self.is_stream:
            parts = response.parts()
            while await self._passed(parts, spent):
                pass
            # Read to its end, a connection can be used again.
            with suppress(TimeoutError):
                await asyncio.wait_for(anext(parts, None), _LAST_PART)

    async def _started(self, response: UpstreamStream) -> None:
        """Send the status and headers; an answer that is no stream is sent as a whole."""
        self.status = response.status
        if self.status == 200 and not response.is_event_stream:
            raise ApiError(502, "the model's answer is no stream", code="upstream_unusable")
        if self.status != 200:
            content = await response.read()
            self.is_stream = False
            answer = UpstreamAnswer(status=self.status, headers=response.headers, content=content)
            self._end = content
            await self._begin(passed_on(answer).raw_headers)
            return
        headers = [
            (name.encode("latin-1"), value.encode("latin-1")) for name, value in response.headers
        ]
        headers += [
            (name.encode(), value.encode())
            for name, value in _request_headers(self._ticket).items()
        ]
        await self._begin(headers)

    async def _begin(self, headers: list[tuple[bytes, bytes]]) -> None:
        self.has_begun = True
        await self._send({"type": "http.response.start", "status": self.status, "headers": headers})

    async def _passed(self, parts: AsyncIterator[bytes], spent: Spent) -> bool:
        """Pass on the next part; return whether more may come."""
        started = time.perf_counter()
        part = await anext(parts, None)
        spent.upstream += time.perf_counter() - started
        if part is None:
            self._end += self.text.passed(self._rest) if self._rest else b""
            self._rest = b""
            return False
        *lines, self._rest = (self._rest + part).split(b"\n")
        sent = []
        for line in lines:
            # It is read before it is sent. If the client goes meanwhile, it counts nevertheless:
            # the client may have got it.
            shown = self.text.passed(line + b"\n")
            if self.text.is_complete:
                self._end += shown
            else:
                sent.append(shown)
        if sent:
            body = b"".join(sent)
            await self._send({"type": "http.response.body", "body": body, "more_body": True})
        return not self.text.is_complete

    async def end(self, error: ApiError | None = None) -> None:
        """Send the end of the stream, or an error, and end the answer."""
        body = self._end
        if error is not None:
            body = b"data: " + json.dumps(error.content()).encode() + b"\n\n"
        elif self.text.is_complete and not body.endswith(b"\n\n"):
            body += b"\n"
        await self._send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def _while_connected(receive: Receive) -> AsyncIterator[None]:
    """Cancel what the block awaits if the client closes the connection: a ClientGoneError."""
    task = asyncio.current_task()
    assert task is not None
    gone = False

    async def watch() -> None:
        nonlocal gone
        while (await receive())["type"] != "http.disconnect":
            pass
        gone = True
        task.cancel()

    watching = asyncio.ensure_future(watch())
    try:
        yield
        if gone:  # the block has finished nevertheless
            task.uncancel()
    except asyncio.CancelledError:
        # A server that ends cancels, too: then the cancellation goes on.
        if gone and task.uncancel() == 0:
            raise ClientGoneError from None
        raise
    finally:
        watching.cancel()


def _request_headers(ticket: Ticket) -> dict[str, str]:
    """Return the headers with the values that were asked for, and the number of tries."""
    asked = ", ".join(f"{quote(wanted.grouping)}={quote(wanted.value)}" for wanted in ticket.wanted)
    headers = {"x-testsgd-tries": str(ticket.tries)}
    return {"x-testsgd-asked": asked, **headers} if asked else headers


def passed_on(answer: UpstreamAnswer, ticket: Ticket | None = None) -> Response:
    """Return the answer of the model as one for the client."""
    from starlette.responses import Response

    response = Response(answer.content, status_code=answer.status)
    for name, value in answer.headers:
        response.headers.append(name, value)
    if ticket is not None:
        for name, value in _request_headers(ticket).items():
            response.headers[name] = value
    return response


def api_error(error: TestSGDError) -> ApiError:
    """Return the answer for an error of the enforcer or its state."""
    if isinstance(error, StateError):
        return ApiError(503, str(error), code="state_unavailable")
    if isinstance(error, ModelError):
        return ApiError(502, str(error), code="classifier_failed")
    return ApiError(500, str(error))

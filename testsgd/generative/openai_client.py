"""A client of the package openai whose calls go through an enforcer.

The client is recognised by its attributes; the package is not imported.
"""

from __future__ import annotations

import asyncio
import inspect
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

from testsgd.errors import ModelError
from testsgd.generative.asking import ModelRequest
from testsgd.generative.openai_calls import (
    StreamedText,
    edited_call,
    output_of,
    put_before,
    request_of,
)
from testsgd.generative.specification import Endpoint
from testsgd.generative.tickets import Enforcing, Ticket

# Streams that nothing refers to any more: their tickets, and what was read of them.
_Dropped: TypeAlias = deque[tuple[Ticket, StreamedText]]


def wrap(client: Any, enforcer: Enforcing, *, tenant: str = "") -> Any:
    """Return a client whose requests keep the deadlines of a specification.

    Parameters
    ----------
    client : openai.OpenAI or openai.AsyncOpenAI
        It is not changed, and may be used beside the new one.
    enforcer : Enforcer
        What decides.
    tenant : str
        Whose sequence the outputs belong to.

    Returns
    -------
    object
        It has ``chat.completions.create``, ``completions.create`` and ``images.generate``, which
        ask for values and, unless they stream, ask again if the model disobeys. Everything else is
        that of the client, also ``with_raw_response``, which is not enforced. Copies made by
        ``with_options`` are wrapped as well.

    Notes
    -----
    Of several answers to one request the first is counted. A picture has to come in the answer
    (``response_format="b64_json"``); one that has an address only
    is unrelated. Close a stream that is not read to its end: what was read of one that was only
    dropped is counted at the next call of the same wrapped client.

    Examples
    --------
    >>> from openai import OpenAI  # doctest: +SKIP
    >>> client = wrap(OpenAI(), Enforcer("people.toml"))  # doctest: +SKIP
    """
    calls = _AsyncCalls(enforcer, tenant) if _is_async(client) else _Calls(enforcer, tenant)

    def replaced(create: Any, endpoint: Endpoint) -> Callable[..., Any]:
        def call(**keywords: Any) -> Any:
            return calls.call(create, endpoint, keywords)

        return call

    def copied(copy: Any) -> Callable[..., Any]:
        def call(**keywords: Any) -> Any:
            return wrap(copy(**keywords), enforcer, tenant=tenant)

        return call

    parts: dict[str, Callable[[Any], Any]] = {
        "chat": lambda chat: _View(
            chat,
            {
                "completions": lambda completions: _View(
                    completions, {"create": lambda create: replaced(create, "chat")}
                )
            },
        ),
        "completions": lambda completions: _View(
            completions, {"create": lambda create: replaced(create, "completions")}
        ),
        "images": lambda images: _View(
            images, {"generate": lambda create: replaced(create, "images")}
        ),
        "with_options": copied,
        "copy": copied,
    }
    return _View(client, parts)


def _is_async(client: Any) -> bool:
    if type(client).__name__.startswith("Async"):
        return True
    # The package wraps its methods in plain functions.
    return inspect.iscoroutinefunction(inspect.unwrap(client.chat.completions.create))


class _View:
    """An object with some attributes replaced, made from what they are when they are asked for."""

    def __init__(self, target: Any, parts: Mapping[str, Callable[[Any], Any]]) -> None:
        self._target = target
        self._parts = parts

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._target, name)
        return self._parts[name](value) if name in self._parts else value

    def __enter__(self) -> _View:
        self._target.__enter__()
        return self

    def __exit__(self, *error: object) -> Any:
        return self._target.__exit__(*error)

    async def __aenter__(self) -> _View:
        await self._target.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> Any:
        return await self._target.__aexit__(*error)


class _Judging:
    """What calls of both kinds of client have in common."""

    def __init__(self, enforcer: Enforcing, tenant: str) -> None:
        self._enforcer = enforcer
        self._tenant = tenant
        self._dropped: _Dropped = deque()

    def _begin(self, request: ModelRequest) -> Ticket:
        """Return the ticket of a request, after streams that were dropped have been counted."""
        while True:
            try:
                ticket, text = self._dropped.popleft()
            except IndexError:  # Asking first would not do: another thread may take the last.
                break
            if not text.is_settled:
                # Its client has gone: a classifier that fails is not the fault of this request.
                with suppress(ModelError):
                    self._enforcer.finish_cut_off(ticket, text.output)
        return self._enforcer.begin(request, tenant=self._tenant)


class _Calls(_Judging):
    """Calls of a client that waits for its answers."""

    def call(self, create: Any, endpoint: Endpoint, keywords: dict[str, Any]) -> Any:
        """Answer a call."""
        request = request_of(keywords, endpoint)
        if request is None:
            return create(**keywords)
        ticket = self._begin(request)
        if not ticket.is_counted:
            return create(**keywords)
        try:
            answer = create(**edited_call(keywords, ticket, endpoint))
            if keywords.get("stream") is True:
                return _Stream(answer, self._enforcer, ticket, self._dropped)
            while True:
                finished = self._enforcer.finish(ticket, output_of(answer, endpoint))
                if finished.again is None:
                    put_before(answer, ticket.prefix, endpoint)
                    return answer
                ticket = finished.again
                answer = create(**edited_call(keywords, ticket, endpoint))
        except BaseException:
            self._enforcer.give_back(ticket)
            raise


class _AsyncCalls(_Judging):
    """Calls of a client whose answers are awaited; the enforcer works in a thread."""

    async def call(self, create: Any, endpoint: Endpoint, keywords: dict[str, Any]) -> Any:
        """Answer a call."""
        request = request_of(keywords, endpoint)
        if request is None:
            return await create(**keywords)
        ticket = await asyncio.to_thread(self._begin, request)
        if not ticket.is_counted:
            return await create(**keywords)
        try:
            answer = await create(**edited_call(keywords, ticket, endpoint))
            if keywords.get("stream") is True:
                return _AsyncStream(answer, self._enforcer, ticket, self._dropped)
            while True:
                output = output_of(answer, endpoint)
                finished = await asyncio.to_thread(self._enforcer.finish, ticket, output)
                if finished.again is None:
                    put_before(answer, ticket.prefix, endpoint)
                    return answer
                ticket = finished.again
                answer = await create(**edited_call(keywords, ticket, endpoint))
        except BaseException:
            await asyncio.shield(asyncio.to_thread(self._enforcer.give_back, ticket))
            raise


class _Judged:
    """A stream of pieces whose output is counted at its end, or where it was cut off."""

    def __init__(self, stream: Any, enforcer: Enforcing, ticket: Ticket, dropped: _Dropped) -> None:
        self._stream = stream
        self._enforcer = enforcer
        self._ticket = ticket
        self._text = StreamedText(ticket.prefix)
        # A loop may be left without closing the stream. Only noted here, as the collector of
        # garbage may come while the state is locked.
        weakref.finalize(self, dropped.append, (ticket, self._text)).atexit = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _settle(self, *, ended: bool) -> None:
        if self._text.is_settled:
            return
        self._text.is_settled = True
        if ended:
            final = self._enforcer.last_try(self._ticket)
            self._enforcer.finish(final, self._text.output)
        else:
            self._enforcer.finish_cut_off(self._ticket, self._text.output)


class _Stream(_Judged):
    """A stream of a client that waits."""

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return self._text.take(next(self._stream))
        except BaseException as error:
            self._settle(ended=isinstance(error, StopIteration))
            raise

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the stream; of what has not ended the value that was read is counted."""
        self._stream.close()
        self._settle(ended=False)


class _AsyncStream(_Judged):
    """A stream whose pieces are awaited."""

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        try:
            return self._text.take(await anext(self._stream))
        except BaseException as error:
            ended = isinstance(error, StopAsyncIteration)
            await asyncio.shield(asyncio.to_thread(self._settle, ended=ended))
            raise

    async def __aenter__(self) -> _AsyncStream:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the stream; of what has not ended the value that was read is counted."""
        await self._stream.close()
        await asyncio.to_thread(self._settle, ended=False)

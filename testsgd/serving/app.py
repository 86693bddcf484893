"""Shields over HTTP: one process, one decision of a shield after the other.

``POST /decide`` and ``POST /observe`` take the events of :mod:`testsgd.serving.messages`, and
``POST /batch`` a list of them; ``GET /state`` gives the state of the shield. With several shields
each has these addresses below ``/shields/NAME``. ``GET /healthz`` answers as long as the server
runs, ``GET /readyz`` says whether decisions can be asked for, ``GET /metrics`` counts for
Prometheus, and ``GET /openapi.json`` describes all of this. The process holds the state, so there
is exactly one; with a journal it may end at any time and be started again.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from testsgd import errors
from testsgd.serving.connections import MOST_CONNECTIONS
from testsgd.serving.http import read_body, reply, run_server
from testsgd.serving.messages import (
    answer,
    decision_answer,
    outcome_answer,
    parsed,
    refusal,
    shield_state,
)
from testsgd.serving.shield_description import openapi_document
from testsgd.serving.shield_metrics import ShieldMetrics
from testsgd.shielding import Shield

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

# An event has less than a hundred characters, unless its id is long.
MOST_BYTES = 65_536
MOST_BATCH_BYTES = 4_194_304
# After this many events of a batch, others that ask are answered.
_EVENTS_AT_A_TIME = 100
_PURPOSE = "serving a shield over HTTP"
_JSON = "application/json"

_Answer = Callable[[Shield, dict[str, Any]], dict[str, Any]]


class OverloadedError(errors.TestSGDError):
    """Too many requests wait for a shield."""


class _ServedShield:
    """A shield, and the lock that gives its requests an order.

    The lock is one of the event loop. While the next period of a dynamic shield is synthesised in
    another thread, requests for this shield wait, and the server answers all others.
    """

    def __init__(self, shield: Shield, *, most_waiting: int) -> None:
        self.shield = shield
        self._lock = asyncio.Lock()
        self._most_waiting = most_waiting
        self._waiting = 0
        self._is_preparing = False

    async def respond(self, answered: Callable[[Shield], Any]) -> Any:
        """Return what a function of the shield returns; the next period is begun first if due.

        If too many requests wait for the shield already, this one is not let in.
        """
        async with self._turn():
            await self._prepare()
            return answered(self.shield)

    async def state(self) -> dict[str, Any]:
        """Return the state of the shield, between two decisions."""
        async with self._turn():
            return shield_state(self.shield)

    async def prepare(self) -> None:
        """Begin the next period if one is due, after the answer to the last decision was sent."""
        async with self._lock:
            await self._prepare()

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        if self._waiting >= self._most_waiting:
            raise OverloadedError(
                f"{self._waiting} requests wait for this shield already", remedy="ask again later"
            )
        self._waiting += 1
        try:
            async with self._lock:
                yield
        finally:
            self._waiting -= 1

    def is_due(self) -> bool:
        """Return whether a period has ended and another one comes."""
        length = self.shield.specification.horizon.length
        return self.shield.step == length and not self.shield.pending and not self.shield.ended

    def is_ready(self) -> bool:
        """Return whether a decision can be asked for now, or once the last label is known."""
        return not self.shield.ended and not self._is_preparing

    async def _prepare(self) -> None:
        if not self.is_due():
            return
        self._is_preparing = True
        try:
            # An error here is raised again by the decision that needs the period.
            with suppress(errors.TestSGDError):
                await asyncio.to_thread(self.shield.prepare)
        finally:
            self._is_preparing = False


def shield_app(
    shield: Shield | Mapping[str, Shield], *, most_waiting: int = MOST_CONNECTIONS // 2
) -> Starlette:
    """Return the ASGI application that answers for a shield, or for several by name.

    The requests for a shield are answered one after the other. At the end of a period the next one
    is prepared after the answer was sent, in another thread.

    Parameters
    ----------
    shield : Shield or mapping of str to Shield
        What decides. Nothing else may use it meanwhile.
    most_waiting : int
        Most requests for these shields that may wait at a time, such as while a period is
        synthesised, each shield having an equal part; further ones are answered with 503.

    Returns
    -------
    starlette.applications.Starlette
        It answers with JSON: 200; 400 if a request is no event, 404 and 405 for another address or
        method, 409 if a label is missing or not asked for or the horizon is over, 413 if a request
        is too long, 415 if it is not said to be JSON, 422 for a group that is unknown, 503 if the
        journal cannot be written, the guarantee was broken or too many requests wait.

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
    >>> [route.path for route in shield_app(shield).routes][:4]
    ['/decide', '/observe', '/batch', '/state']
    >>> [route.path for route in shield_app({"loans": shield}).routes][:1]
    ['/shields/loans/decide']
    """
    try:
        from starlette.applications import Starlette
        from starlette.exceptions import HTTPException
        from starlette.routing import Route
    except ImportError as error:
        raise errors.MissingExtraError("starlette", extra="serve", purpose=_PURPOSE) from error
    by_prefix = {"": shield} if isinstance(shield, Shield) else _by_prefix(shield)
    share = max(1, most_waiting // max(1, len(by_prefix)))
    served = {prefix: _ServedShield(one, most_waiting=share) for prefix, one in by_prefix.items()}
    metrics = ShieldMetrics(by_prefix)

    async def state(one: _ServedShield, _: Request) -> Response:
        try:
            return reply(await one.state())
        except OverloadedError as error:
            return reply(refusal(error), _status(error))

    async def healthy(_: Request) -> Response:
        return reply({"status": "ok"})

    async def ready(_: Request) -> Response:
        is_ready = all(one.is_ready() for one in served.values())
        return reply({"status": "ready" if is_ready else "not ready"}, 200 if is_ready else 503)

    async def numbers(_: Request) -> Response:
        from starlette.responses import Response

        return Response(metrics.text(), media_type="text/plain; version=0.0.4")

    async def description(_: Request) -> Response:
        return reply(openapi_document(list(by_prefix)))

    async def refuse(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return reply({"error": error.detail, "kind": "HTTPException"}, error.status_code)

    routes = []
    for prefix, one in served.items():
        actions: dict[str, Callable[[Request], Awaitable[Response]]] = {
            "decide": partial(_answer_event, one, decision_answer),
            "observe": partial(_answer_event, one, outcome_answer),
            "batch": partial(_answer_batch, one),
        }
        for name, action in actions.items():
            counted = metrics.counted(prefix, name, action)
            routes.append(Route(f"{prefix}/{name}", counted, methods=["POST"]))
        routes.append(Route(f"{prefix}/state", partial(state, one), methods=["GET"]))
    routes += [
        Route("/healthz", healthy, methods=["GET"]),
        Route("/readyz", ready, methods=["GET"]),
        Route("/metrics", numbers, methods=["GET"]),
        Route("/openapi.json", description, methods=["GET"]),
    ]
    return Starlette(routes=routes, exception_handlers={HTTPException: refuse})


async def _answer_event(one: _ServedShield, answered: _Answer, request: Request) -> Response:
    """Return the response to a request with one event."""
    body, refused = await _json_body(request, most_bytes=MOST_BYTES)
    if refused is not None:
        return refused
    try:
        event = parsed(body)
        response = reply(await one.respond(lambda shield: answered(shield, event)))
    except errors.TestSGDError as error:
        return reply(refusal(error), _status(error))
    return _then_prepared(one, response)


async def _answer_batch(one: _ServedShield, request: Request) -> Response:
    """Return the response to a request with a list of events, which are answered in their order.

    Each answer is that of a request of its own, or the refusal with its status; a refused event
    does not end the batch, as it would not end a client that asks once for each. Like there, events
    of others may come between.
    """
    body, refused = await _json_body(request, most_bytes=MOST_BATCH_BYTES)
    if refused is not None:
        return refused
    try:
        events = parsed(body).get("events")
        if not isinstance(events, list):
            raise errors.ParameterError(
                "the batch has no list of events", remedy='give {"events": [{...}, {...}]}'
            )
        for place, event in enumerate(events, 1):
            if not isinstance(event, dict):
                raise errors.ParameterError(
                    f"event {place} of {len(events)} is no object: {json.dumps(event)[:80]}",
                    where="events",
                    remedy='give {"events": [{...}, {...}]}; none was answered',
                )
    except errors.TestSGDError as error:
        return reply(refusal(error), _status(error))
    answers = []
    for place, event in enumerate(events, 1):
        if place % _EVENTS_AT_A_TIME == 0:
            await asyncio.sleep(0)
        try:
            answers.append(await one.respond(partial(answer, event=event)))
        except errors.TestSGDError as error:
            answers.append({**refusal(error), "status": _status(error)})
    return _then_prepared(one, reply({"answers": answers}))


def _then_prepared(one: _ServedShield, response: Response) -> Response:
    """Return a response after which the next period is begun, if one is due."""
    from starlette.background import BackgroundTask

    if one.is_due():
        response.background = BackgroundTask(one.prepare)
    return response


async def _json_body(request: Request, *, most_bytes: int) -> tuple[bytes, Response | None]:
    """Return the body of a request whose content type is JSON, or the response that refuses it.

    Of the kinds of content that a page of another site may post without being asked, none is JSON.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _JSON:
        what = f"the content type is {kind!r}, not {_JSON!r}"
        return b"", reply(refusal(errors.ParameterError(what)), 415)
    body = await read_body(request, most_bytes=most_bytes)
    if body is None:
        what = f"the request is longer than {most_bytes} bytes"
        return b"", reply(refusal(errors.ParameterError(what)), 413)
    return body, None


def _by_prefix(shields: Mapping[str, Shield]) -> dict[str, Shield]:
    """Return shields by the beginning of their addresses."""
    for name in shields:
        if not name or not all(letter.isalnum() or letter in "-_." for letter in name):
            raise errors.ParameterError(
                f"the shield's name is {json.dumps(name)}",
                where="shields",
                remedy="give it a name of letters, digits, '-', '_' and '.'",
            )
    return {f"/shields/{name}": shield for name, shield in shields.items()}


def serve(
    shield: Shield | Mapping[str, Shield],
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    allowed_hosts: Collection[str] = (),
    token: str | None = None,
    most_connections: int = MOST_CONNECTIONS,
    announce: Callable[[str], object] | None = None,
) -> None:
    """Serve a shield, or several by name, over HTTP until the process is asked to end.

    Parameters
    ----------
    shield : Shield or mapping of str to Shield
        What decides. Nothing else may use it meanwhile.
    host : str
        The address to listen at; only this machine can reach the default one.
    port : int
        The port; 0 for any that is free.
    allowed_hosts : collection of str
        Names besides `host` by which requests may ask for this server.
    token : str, optional
        What requests must have after ``Authorization: Bearer``; without it anybody who reaches the
        address may ask.
    most_connections : int
        Most connections at a time; beyond it those are closed that wait longest for a request.
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
        # On the other connections all other addresses are answered.
        lambda _: shield_app(shield, most_waiting=most_connections // 2),
        host=host,
        port=port,
        purpose=_PURPOSE,
        announce=announce,
        allowed_hosts=allowed_hosts,
        token=token,
        most_connections=most_connections,
    )


def _status(error: errors.TestSGDError) -> int:
    """Return the HTTP status of an error."""
    if isinstance(error, errors.UnknownGroupError):
        return 422
    if isinstance(error, errors.LabelError | errors.HorizonEndedError):
        return 409
    unusable = isinstance(
        error, errors.JournalError | errors.GuaranteeBrokenError | OverloadedError
    )
    return 503 if unusable else 400

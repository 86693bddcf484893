"""An OpenAI-compatible server for tests: it obeys what it is asked for, and can fail."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from testsgd.generative import Enforcer
from testsgd.serving import generative_app

ASKED = "The gender of the person must be male."
SPECIFICATION: dict[str, Any] = {
    "groupings": {
        "gender": {
            "values": ["female", "male"],
            "terms": {"female": ["she"], "male": ["he"]},
        }
    },
    "requirements": [{"grouping": "gender", "beta": 3}],
}


class FakeModel:
    """It writes of women, unless it is asked for a man and obeys."""

    def __init__(self) -> None:
        self.fails = (
            ""  # How it fails: "500", "html", "slow", "broken", "stuck", "error", "null", "rude".
        )
        self.obeys = True
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        routes = [
            Route("/v1/chat/completions", self._chat, methods=["POST"]),
            Route("/v1/completions", self._completion, methods=["POST"]),
            Route("/v1/images/generations", self._picture, methods=["POST"]),
            Route("/v1/models", self._models, methods=["GET"]),
        ]
        self.app = Starlette(routes=routes)

    async def _read(self, request: Request) -> tuple[dict[str, Any], Response | None]:
        body = await request.json()
        self.requests.append(body)
        self.headers.append(dict(request.headers))
        if self.fails == "slow":
            await asyncio.sleep(30)
        failures = {
            "500": JSONResponse({"error": {"message": "out of memory"}}, 500),
            "html": HTMLResponse("<p>A page</p>"),
            "null": JSONResponse({"choices": []}),
        }
        return body, failures.get(self.fails)

    def _text(self, wanted: str) -> str:
        return "he slept." if self.obeys and ASKED in wanted else "she slept."

    async def _chat(self, request: Request) -> Response:
        body, failure = await self._read(request)
        if failure is not None:
            return failure
        text = self._text(json.dumps(body["messages"]))
        made = {"id": "c1", "created": 1, "model": "fake"}
        if body.get("stream"):
            pieces = [{"role": "assistant", "content": ""}]
            pieces += [{"content": piece} for piece in text.partition(" ")]
            events = [
                {
                    **made,
                    "object": "chat.completion.chunk",
                    "choices": [{"index": 0, "delta": piece, "finish_reason": None}],
                }
                for piece in pieces
            ]
            return self._stream(events)
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return JSONResponse({**made, "object": "chat.completion", "choices": [choice]})

    async def _completion(self, request: Request) -> Response:
        body, failure = await self._read(request)
        if failure is not None:
            return failure
        text = self._text(str(body["prompt"]))
        made = {"id": "t1", "created": 1, "model": "fake", "object": "text_completion"}
        if body.get("stream"):
            return self._stream(
                [
                    {**made, "choices": [{"index": 0, "text": piece, "finish_reason": None}]}
                    for piece in text.partition(" ")
                ]
            )
        choice = {"index": 0, "text": text, "finish_reason": "stop"}
        return JSONResponse({**made, "choices": [choice]})

    async def _picture(self, request: Request) -> Response:
        body, failure = await self._read(request)
        if failure is not None:
            return failure
        if body.get("response_format") == "url":
            return JSONResponse({"created": 1, "data": [{"url": "http://127.0.0.1/he.png"}]})
        picture = base64.b64encode(self._text(body["prompt"]).encode()).decode()
        return JSONResponse({"created": 1, "data": [{"b64_json": picture}]})

    async def _models(self, request: Request) -> Response:
        listed = [{"id": "fake", "object": "model", "created": 1, "owned_by": "tests"}]
        return JSONResponse({"object": "list", "data": listed})

    def _stream(self, events: list[dict[str, Any]]) -> Response:
        async def lines() -> Any:
            for place, event in enumerate(events):
                if self.fails == "broken" and place == 1:
                    raise ConnectionResetError
                if self.fails == "stuck" and place == 1:
                    await asyncio.sleep(30)
                if self.fails == "error" and place == 1:
                    yield 'data: {"error": {"message": "out of memory"}}\n\n'
                    return
                yield f"data: {json.dumps(event)}\n\n"
                await asyncio.sleep(0)
            yield "data: [DONE]\n\n"

        return StreamingResponse(lines(), media_type="text/event-stream")


@contextmanager
def running(app: Any, **options: Any) -> Iterator[str]:
    """Serve an application in a thread on a free port; gives its address."""
    import uvicorn

    class PromptServer(uvicorn.Server):
        """Looks ten times as often as uvicorn does whether it should stop."""

        async def main_loop(self) -> None:
            ticks = 0
            while not await self.on_tick(ticks):
                ticks += 1
                await asyncio.sleep(0.01)

    config = uvicorn.Config(
        app,
        host="127.0.0.1",
        port=0,
        log_level="critical",
        timeout_graceful_shutdown=1,
        loop="asyncio",
        **options,
    )
    server = PromptServer(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            threading.Event().wait(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def standing_before(model: FakeModel, **options: Any) -> Iterator[tuple[Enforcer, str]]:
    """Serve a model and the server before it; gives the enforcer and the address of the latter."""
    specification = {**SPECIFICATION, **options.pop("specification", {})}
    enforcer = Enforcer(
        specification, state=options.pop("state", None), classify=options.pop("classify", None)
    )
    try:
        with running(model.app) as address:
            upstream = options.pop("upstream", f"{address}/v1")
            app = generative_app(enforcer, upstream=upstream, **options)
            with running(app) as own:
                yield enforcer, own
    finally:
        enforcer.close()

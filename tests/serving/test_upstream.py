"""The model behind the server: what goes to it and what comes from it over HTTP."""

from __future__ import annotations

import asyncio
import base64
import gzip
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("aiohttp")
pytest.importorskip("starlette")
from fake_model import running
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from testsgd.errors import ParameterError
from testsgd.serving.upstream import Header, Upstream, UpstreamAnswer

pytestmark = pytest.mark.serve
Heard = list[tuple[list[tuple[bytes, bytes]], bytes]]


@pytest.fixture(name="model")
def _model(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Heard]]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    heard: Heard = []

    async def answer(request: Request) -> Response:
        heard.append((request.headers.raw, await request.body()))
        if request.url.path == "/v1/moved":
            return RedirectResponse("/v1/plain")
        if request.url.path == "/v1/packed":
            return Response(gzip.compress(b"slept"), headers={"content-encoding": "gzip"})
        if request.url.path == "/v1/wrongly_packed":
            return Response(b"slept", headers={"content-encoding": "gzip"})
        response = Response(b"slept")
        response.set_cookie("session", "secret")
        response.raw_headers.append((b"x-name", "Zoë".encode()))
        return response

    routes = [Route("/v1/{path}", answer, methods=["GET", "POST"])]
    with running(Starlette(routes=routes)) as address:
        yield f"{address}/v1", heard


def answers(
    address: str, *paths: str, headers: list[Header] | None = None, content: bytes = b"{}"
) -> list[UpstreamAnswer]:
    async def ask_all() -> list[UpstreamAnswer]:
        upstream = Upstream(address, timeout=20)
        try:
            return [
                await upstream.ask("POST", path, headers=headers or [], content=content)
                for path in paths
            ]
        finally:
            await upstream.close()

    return asyncio.run(ask_all())


def test_only_what_the_client_sent_is_sent(model: tuple[str, Heard]) -> None:
    address, heard = model
    answers(address, "/plain", headers=[("x-one", "1"), ("x-one", "2"), ("cookie", "a=b")])
    ((headers, content),) = heard
    assert content == b"{}"
    sent = [(name.lower(), value) for name, value in headers]
    assert sorted(name for name, _ in sent) == [
        b"accept-encoding", b"content-length", b"cookie", b"host", b"x-one", b"x-one",
    ]  # fmt: skip
    assert (b"cookie", b"a=b") in sent
    assert (b"accept-encoding", b"identity") in sent


def test_cookies_of_an_answer_are_passed_on_and_not_kept(model: tuple[str, Heard]) -> None:
    address, heard = model
    first, _ = answers(address, "/plain", "/plain")
    assert any(name == "set-cookie" for name, _ in first.headers)
    assert all(name.lower() != b"cookie" for headers, _ in heard for name, _ in headers)


def test_a_redirect_is_passed_on(model: tuple[str, Heard]) -> None:
    address, heard = model
    (answer,) = answers(address, "/moved")
    assert (answer.status, len(heard)) == (307, 1)


def test_a_compressed_answer_is_read(model: tuple[str, Heard]) -> None:
    (answer,) = answers(model[0], "/packed")
    assert answer.content == b"slept"
    assert all(name != "content-encoding" for name, _ in answer.headers)


def test_an_answer_that_cannot_be_read_is_502(model: tuple[str, Heard]) -> None:
    from testsgd.serving.openai_messages import ApiError

    with pytest.raises(ApiError) as caught:
        answers(model[0], "/wrongly_packed")
    assert caught.value.status == 502


def test_headers_keep_their_bytes(model: tuple[str, Heard]) -> None:
    address, heard = model
    latin = "Zoë".encode().decode("latin-1")
    (answer,) = answers(address, "/plain", headers=[("x-name", latin)])
    assert (b"x-name", "Zoë".encode()) in heard[0][0]
    assert ("x-name", latin) in answer.headers


def test_a_long_body_arrives(model: tuple[str, Heard]) -> None:
    address, heard = model
    content = b"a" * (2**20 + 1)
    answers(address, "/plain", content=content)
    assert heard[0][1] == content


def test_a_password_in_the_address_is_sent(model: tuple[str, Heard]) -> None:
    address, heard = model
    own = address.replace("//", "//me:p%40ss@")
    answers(own, "/plain", headers=[("authorization", "Bearer client")])
    sent = [value for name, value in heard[0][0] if name.lower() == b"authorization"]
    assert sent == [b"Basic " + base64.b64encode(b"me:p@ss")]


def test_a_proxy_of_the_environment_is_used(
    model: tuple[str, Heard], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, heard = model
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setenv("http_proxy", address.removesuffix("/v1"))
    (answer,) = answers("http://model.invalid/v1", "/plain")
    assert answer.content == b"slept"
    assert (b"host", b"model.invalid") in [(n.lower(), v) for n, v in heard[0][0]]


@pytest.mark.parametrize(
    "address",
    ["", "nowhere", "ftp://a/v1", "http://", "http:///v1", "http://a:b/v1", "http://a:0/v1",
     "http://a:99999/v1", "http://a/v1?b=c", "http://a/v1#b", "http://[::1/v1", "http://a b/v1"],
)  # fmt: skip
def test_what_is_no_address_is_refused(address: Any) -> None:
    with pytest.raises(ParameterError):
        Upstream(address, timeout=1)

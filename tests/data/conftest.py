"""Fixtures of this area: folders of files, and a server that never leaves this machine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from testsgd.data.lookup import HOME_VARIABLE


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an empty folder to be TESTSGD_DATA_HOME."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv(HOME_VARIABLE, str(folder))
    return folder


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an empty folder to be the user's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "testsgd"


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        content: bytes | None = self.server.contents.get(self.path)
        self.server.asked.append(self.path)
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        self.wfile.write(content or b"")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Site:
    """Files that can be had from an address of this machine."""

    def __init__(self, server: ThreadingHTTPServer) -> None:
        self.asked: list[str] = []
        self._contents: dict[str, bytes] = {}
        self._address = f"http://127.0.0.1:{server.server_address[1]}"
        server.contents = self._contents
        server.asked = self.asked

    def put(self, name: str, content: bytes) -> str:
        """Publish a file and give its address."""
        self._contents[f"/{name}"] = content
        return self.address(name)

    def address(self, name: str) -> str:
        """Give the address that a file has or would have."""
        return f"{self._address}/{name}"


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Serve files on this machine while a test runs."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield Site(server)
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """Play a machine without network; give the addresses that were asked for."""
    import requests

    asked: list[str] = []

    def refuse(_: object, method: str, url: str, **__: object) -> None:
        asked.append(url)
        # As requests words it: long, with the addresses of objects.
        raise requests.exceptions.ConnectionError(
            f"HTTPSConnectionPool(host='{url}', port=443): Max retries exceeded\n(Caused by "
            "NameResolutionError: <urllib3 object at 0x7f> Failed to resolve)"
        )

    monkeypatch.setattr(requests.Session, "request", refuse)
    return lambda: asked

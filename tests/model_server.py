"""A server on this machine that answers as an HTTP endpoint of a model does."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Reply:
    """An answer that is not a list of predictions."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Served:
    """A server that runs, and the requests that it got."""

    url: str
    requests: list[Rows] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return sum(len(rows) for rows in self.requests)


@contextlib.contextmanager
def served(answer: Callable[[Rows, int], Any]) -> Iterator[Served]:
    """Serve a function of the rows, and of how many requests came before, to an answer."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            rows = json.loads(content)["rows"]
            before = len(running.requests)
            running.requests.append(rows)
            running.headers.append(dict(self.headers))
            said = answer(rows, before)
            reply = said if isinstance(said, Reply) else Reply(json.dumps(said).encode())
            # A client that waited too long has gone.
            with contextlib.suppress(ConnectionError):
                self.send_response(reply.status)
                if "Content-Length" not in reply.headers:
                    self.send_header("Content-Length", str(len(reply.body)))
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(reply.body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running = Served(f"http://127.0.0.1:{server.server_port}/score")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

"""The portraits over HTTP, with the requests and answers of OpenAI's image interface.

``python -m benchmarks.generative_experiments.portraits.server --port 0`` prints its address, and
answers until it is interrupted. The same requests in the same order get the same pictures.
"""

from __future__ import annotations

import argparse
import base64
import json
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from benchmarks.generative_experiments.portraits.generator import Generator

MODEL = "portraits-1"
MOST_PICTURES = 10
_MOST_BYTES = 65_536
_SIZES = ("64x64", "128x128", "256x256", "512x512")
_PATHS = {"/v1/images/generations": "POST", "/v1/models": "GET"}


class BadRequest(Exception):  # noqa: N818 - the name of the status
    """A request that cannot be answered; ``parameter`` is the key at fault."""

    def __init__(self, message: str, *, parameter: str | None = None, status: int = 400) -> None:
        super().__init__(message)
        self.parameter = parameter
        self.status = status


class PortraitServer(ThreadingHTTPServer):
    """Serve a generator's portraits.

    Parameters
    ----------
    generator : Generator
        Nothing else may use it meanwhile.
    host : str
    port : int
        0 takes a free one.

    Examples
    --------
    >>> with PortraitServer(Generator(random_state=0)) as server:
    ...     server.address.startswith("http://127.0.0.1:")
    True
    """

    daemon_threads = True

    def __init__(self, generator: Generator, *, host: str = "127.0.0.1", port: int = 0) -> None:
        super().__init__((host, port), _Handler)
        self._generator = generator
        self._lock = threading.Lock()

    @property
    def address(self) -> str:
        """Return the address up to ``/v1``, for clients."""
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}/v1"

    def images(self, request: Any) -> dict[str, Any]:
        """Return the answer to a request for images.

        Parameters
        ----------
        request : dict
            ``prompt``, and if wanted ``n``, ``size`` and ``response_format``. Other keys are
            ignored, ``model`` too.

        Returns
        -------
        dict

        Raises
        ------
        BadRequest
            If a key is missing or its value is unusable.
        """
        if not isinstance(request, dict):
            raise BadRequest("the request must be a JSON object")
        prompt = request.get("prompt")
        if not isinstance(prompt, str) or not prompt.strip():
            raise BadRequest("prompt must be a text", parameter="prompt")
        count = request.get("n", 1)
        if type(count) is not int or not 1 <= count <= MOST_PICTURES:
            raise BadRequest(f"n must be a whole number from 1 to {MOST_PICTURES}", parameter="n")
        size = request.get("size", "128x128")
        if size not in _SIZES:
            raise BadRequest(f"size must be one of {', '.join(_SIZES)}", parameter="size")
        if request.get("response_format", "b64_json") != "b64_json":
            raise BadRequest("only b64_json is offered", parameter="response_format")
        pixels = int(size.partition("x")[0])
        with self._lock:
            drawn = [self._generator.generate(prompt, size=pixels) for _ in range(count)]
        data = [{"b64_json": base64.b64encode(one.picture).decode("ascii")} for one in drawn]
        return {"created": int(time.time()), "data": data}


class _Handler(BaseHTTPRequestHandler):
    server: PortraitServer
    protocol_version = "HTTP/1.1"
    # Seconds that a connection may be silent.
    timeout = 60

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def do_PUT(self) -> None:
        self._answer("PUT")

    def do_DELETE(self) -> None:
        self._answer("DELETE")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - inherited
        """Say nothing: the client sees the status."""

    def _answer(self, method: str) -> None:
        try:
            content = self._content(method)
            status = 200
        except BadRequest as error:
            status = error.status
            kind = "invalid_request_error"
            content = {
                "error": {
                    "message": str(error),
                    "type": kind,
                    "param": error.parameter,
                    "code": None,
                }
            }
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status != HTTPStatus.OK:
            # What is left of the request is not read.
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        self.wfile.write(body)

    def _content(self, method: str) -> dict[str, Any]:
        path = self.path.partition("?")[0]
        if path not in _PATHS:
            raise BadRequest(f"there is no {path}", status=404)
        if method != _PATHS[path]:
            raise BadRequest(f"{path} takes {_PATHS[path]}", status=405)
        if method == "GET":
            model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "testsgd"}
            return {"object": "list", "data": [model]}
        return self.server.images(self._request())

    def _request(self) -> Any:
        length = self.headers.get("Content-Length", "")
        # isdecimal alone takes the digits of other scripts.
        if not (length.isascii() and length.isdecimal()):
            raise BadRequest("a request needs a Content-Length", status=411)
        if int(length) > _MOST_BYTES:
            raise BadRequest(f"the request is longer than {_MOST_BYTES} bytes", status=413)
        try:
            return json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError) as error:
            raise BadRequest("the request is no JSON") from error


def main() -> None:
    """Read the command line, serve."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.generative_experiments.portraits.server",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8001, help="0 takes a free one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--obedience", type=float, default=0.95, help="from 0 to 1")
    options = parser.parse_args()
    generator = Generator(obedience=options.obedience, random_state=options.seed)
    with PortraitServer(generator, host=options.host, port=options.port) as server:
        print(server.address, flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()

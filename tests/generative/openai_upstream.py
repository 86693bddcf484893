"""A model on loopback that speaks OpenAI's form and writes down what it is asked."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

FEMALE = "she slept"
MALE = "he slept"
SPECIFICATION: dict[str, Any] = {
    "groupings": {
        "gender": {
            "values": ["female", "male"],
            "terms": {"female": ["she"], "male": ["he"]},
            "ask": {"prefix": {"female": " she", "male": " he"}},
        }
    },
    "requirements": [{"grouping": "gender", "beta": 3}],
    "enforcement": {"tries": 0},
}


@dataclass
class Upstream:
    """What a model was asked; it obeys a sentence, and writes of women otherwise."""

    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    obeys: bool = True
    fails: bool = False
    failures_to_come: list[int] = field(
        default_factory=list
    )  # Their status; the first comes first.

    def text(self, prompt: str) -> str:
        return MALE if self.obeys and "must be male" in prompt else FEMALE


def prompt_of(body: dict[str, Any]) -> str:
    if "messages" in body:
        return "\n".join(str(message["content"]) for message in body["messages"])
    return str(body["prompt"])


@contextmanager
def upstream() -> Iterator[Upstream]:
    """Run the model for a while."""
    model = Upstream()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # One packet: the kernel would wait between two.
        disable_nagle_algorithm = True

        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            body = json.loads(self.rfile.read(length))
            model.bodies.append(body)
            prompt = prompt_of(body)
            model.prompts.append(prompt)
            if model.failures_to_come:
                self.reply(model.failures_to_come.pop(0), b"busy", "text/plain")
                return
            if model.fails:
                self.reply(400, b'{"error": {"message": "no", "type": "x", "code": "x"}}')
                return
            text = model.text(prompt)
            if self.path.endswith("/images/generations"):
                picture = base64.b64encode(text.encode()).decode()
                self.reply(200, json.dumps({"created": 1, "data": [{"b64_json": picture}]}))
                return
            chat = self.path.endswith("/chat/completions")
            if body.get("stream"):
                lines = [f"data: {json.dumps(piece)}\n\n" for piece in pieces(text, chat)]
                self.reply(200, "".join([*lines, "data: [DONE]\n\n"]), "text/event-stream")
                return
            self.reply(200, json.dumps(whole(text, chat)))

        def reply(self, status: int, content: str | bytes, kind: str = "application/json") -> None:
            data = content.encode() if isinstance(content, str) else content
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    model.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield model
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _head(chat: bool, piece: bool) -> dict[str, Any]:
    kind = "chat.completion" if chat else "text_completion"
    return {
        "id": "x",
        "object": f"{kind}.chunk" if chat and piece else kind,
        "created": 1,
        "model": "m",
    }


def whole(text: str, chat: bool) -> dict[str, Any]:
    choice: dict[str, Any] = {"index": 0, "finish_reason": "stop"}
    if chat:
        choice["message"] = {"role": "assistant", "content": text}
    else:
        choice["text"] = text
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {**_head(chat, False), "choices": [choice], "usage": usage}


def pieces(text: str, chat: bool) -> list[dict[str, Any]]:
    halves = [text[:4], text[4:]]
    made = []
    for part in [*halves, None]:
        choice: dict[str, Any] = {"index": 0, "finish_reason": None if part else "stop"}
        if chat:
            choice["delta"] = {"role": "assistant", "content": part} if part else {}
        else:
            choice["text"] = part or ""
        made.append({**_head(chat, True), "choices": [choice]})
    return made

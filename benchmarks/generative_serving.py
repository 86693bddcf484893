"""What standing before a model adds to a request: processor time and waiting, on loopback.

A trivial model answers at once. It is asked at a fixed rate without and with the server before it;
the processor time is that of the server's process.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

Connections: TypeAlias = "asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]]"

RATE = 200
SECONDS = 10
WARM = 200
CONNECTIONS = 40
KINDS = ("memory", "file", "fsync")

MODEL = """
import sys, uvicorn
ANSWER = b'{"id":"a","object":"text_completion","choices":[{"index":0,"text":" she slept."}]}'
async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(ANSWER))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": ANSWER})
uvicorn.run(app, port=int(sys.argv[1]), log_level="error", access_log=False, lifespan="off")
"""
SERVER = """
import sys
from testsgd.generative import Enforcer
from testsgd.generative.stores import SQLiteStore
from testsgd.serving import serve_generative
kind, file, upstream, port = sys.argv[1:]
state = None if kind == "memory" else SQLiteStore(file, fsync=kind == "fsync")
enforcer = Enforcer(
    {
        "groupings": {
            "gender": {"values": ["female", "male"], "terms": {"female": ["she"], "male": ["he"]}}
        },
        "requirements": [{"grouping": "gender", "beta": 6}],
        "enforcement": {"tries": 0},
    },
    state=state,
)
serve_generative(enforcer, upstream=upstream, port=int(port))
"""
# What the two libraries of the server take, if nothing is done with a request but to pass it on.
PASSED_ON = """
import sys, aiohttp, uvicorn
upstream, port = sys.argv[1:]
session = None
async def app(scope, receive, send):
    global session
    if scope["type"] != "http":
        return
    if session is None:
        session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
    body = b""
    more = True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    async with session.post(upstream + "/completions", data=body) as response:
        answer = await response.read()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(answer))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": answer})
uvicorn.run(app, port=int(port), log_level="error", access_log=False, lifespan="off")
"""
REQUEST = json.dumps({"model": "a", "prompt": "The nurse was tired, so", "max_tokens": 20}).encode()


@contextmanager
def running(script: str, *arguments: str, port: int) -> Iterator[int]:
    """Run a server; gives the id of its process once it listens."""
    command = [sys.executable, "-c", script, *arguments, str(port)]
    with subprocess.Popen(command) as process:
        try:
            asyncio.run(_listens(port))
            yield process.pid
        finally:
            process.terminate()
            process.wait()


async def _listens(port: int) -> None:
    for _ in range(600):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            return
    raise TimeoutError


def processor_seconds(process: int) -> float:
    """Return the processor time of a process."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def _ask(
    connections: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]],
) -> float:
    # The clock starts before a connection is free, so waiting for one counts.
    started = time.perf_counter()
    reader, writer = await connections.get()
    writer.write(
        b"POST /v1/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        b"authorization: Bearer a\r\ncontent-length: %d\r\n\r\n%b" % (len(REQUEST), REQUEST)
    )
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head
    length = next(
        int(line.split(b":")[1])
        for line in head.lower().split(b"\r\n")
        if line.startswith(b"content-length")
    )
    await reader.readexactly(length)
    taken = time.perf_counter() - started
    connections.put_nowait((reader, writer))
    return taken


async def answer_times(port: int, *, requests: int, rate: float) -> list[float]:
    """Ask at a fixed rate, whether earlier answers are there or not; return sorted seconds."""
    connections: Connections = asyncio.Queue()
    for _ in range(CONNECTIONS):
        connections.put_nowait(await asyncio.open_connection("127.0.0.1", port))
    began = time.perf_counter()
    tasks = []
    for number in range(requests):
        await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
        tasks.append(asyncio.create_task(_ask(connections)))
    taken = sorted(await asyncio.gather(*tasks))
    while not connections.empty():
        connections.get_nowait()[1].close()
    return taken


@dataclass(frozen=True)
class Served:
    """Milliseconds of a request: of a server's processor, and of waiting for the answer."""

    what: str
    processor: float
    middle: float
    late: float

    def __str__(self) -> str:
        return (
            f"{self.what}: {self.processor:.2f} ms processor, p50 {self.middle:.2f} ms, "
            f"p99 {self.late:.2f} ms"
        )


def measured(what: str, port: int, process: int, *, seconds: float, warm: int) -> Served:
    """Return processor time for a request, and the waiting of the middle and of the slowest."""
    asyncio.run(answer_times(port, requests=warm, rate=RATE))
    before = processor_seconds(process)
    taken = asyncio.run(answer_times(port, requests=round(RATE * seconds), rate=RATE))
    used = 1000 * (processor_seconds(process) - before) / len(taken)
    middle, late = (1000 * taken[int(share * len(taken))] for share in (0.5, 0.99))
    return Served(what, used, middle, late)


def serving(*, seconds: float = SECONDS, warm: int = WARM) -> Iterator[Served]:
    """Measure the model alone, and each way of keeping the state before it.

    Each is asked `warm` times before it is measured.
    """
    waiting = partial(measured, seconds=seconds, warm=warm)
    with running(MODEL, port=18471) as model, tempfile.TemporaryDirectory(dir=".") as folder:
        yield waiting("model alone", 18471, model)
        with running(PASSED_ON, "http://127.0.0.1:18471/v1", port=18472) as passing:
            yield waiting("passed on, nothing else", 18472, passing)
        for kind in KINDS:
            arguments = (kind, f"{folder}/{kind}.sqlite", "http://127.0.0.1:18471/v1")
            with running(SERVER, *arguments, port=18472) as server:
                yield waiting(f"before it, {kind}", 18472, server)


def main() -> None:
    """Print a line for the model alone, and one for each way of keeping the state."""
    for served in serving():
        print(served)


if __name__ == "__main__":
    main()

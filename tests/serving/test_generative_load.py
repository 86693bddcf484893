"""A thousand requests at a time, and a server that is killed among them."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("aiohttp")
pytest.importorskip("uvicorn")
import aiohttp
from fake_model import FakeModel, running
from test_generative_served import SPECIFICATION, served

from testsgd.generative import Enforcer

pytestmark = [pytest.mark.serve, pytest.mark.slow]
AT_A_TIME = 1000


async def ask_all(
    address: str, *, clients: int, times: int, killed: subprocess.Popen[str] | None = None
) -> tuple[int, int]:
    """Let clients ask at once, each some times; return how many requests and answers there were.

    `killed`: a process that is killed when as many answers have come as there are clients.
    """
    sent = answered = 0

    async def ask(client: aiohttp.ClientSession) -> None:
        nonlocal sent, answered
        for _ in range(times):
            sent += 1
            try:
                async with client.post("/v1/completions", json={"prompt": "A nurse"}) as answer:
                    await answer.read()
            except aiohttp.ClientError:
                return
            answered += answer.status == 200
            if killed is not None and answered == clients:
                killed.kill()

    # That of httpx looks at all of its connections with each request, which takes most of the time.
    connector = aiohttp.TCPConnector(limit=clients)
    timeout = aiohttp.ClientTimeout(300)
    url = f"http://{address}"
    async with aiohttp.ClientSession(url, connector=connector, timeout=timeout) as client:
        await asyncio.gather(*(ask(client) for _ in range(clients)))
    return sent, answered


def test_nothing_is_lost_and_nothing_counted_twice(tmp_path: Path) -> None:
    with running(FakeModel().app, backlog=2048) as upstream:
        with served(tmp_path, upstream) as (address, process):
            sent, answered = asyncio.run(
                ask_all(address, clients=AT_A_TIME, times=2, killed=process)
            )
            process.wait()
        assert AT_A_TIME <= answered < 2 * AT_A_TIME
        with served(tmp_path, upstream) as (address, process):
            again, answered_again = asyncio.run(ask_all(address, clients=20, times=5))
            process.terminate()
            process.wait(timeout=20)
    assert answered_again == again == 100
    # Tickets of the killed server are given back at once.
    path = tmp_path / "again.toml"
    path.write_text(f"{SPECIFICATION}\n[enforcement]\nticket_seconds = 0.001\n", encoding="utf-8")
    enforcer = Enforcer(path, state=tmp_path / "fair.sqlite")
    enforcer.give_back(enforcer.begin("A nurse"))
    (status,) = enforcer.status()
    journal = [json.loads(line) for line in enforcer.journal()]
    enforcer.close()
    tickets = [record["ticket"] for record in journal]
    assert len(set(tickets)) == len(tickets)
    # What a client got had been counted; of what it did not get, some had been.
    assert answered + answered_again <= len(tickets) <= sent + again
    assert status.state.outputs == len(tickets)
    assert status.state.slots == ()
    for value, name in enumerate(("female", "male")):
        assert sum(record["gender"] == name for record in journal) == status.state.counts[value]

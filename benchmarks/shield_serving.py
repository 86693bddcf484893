"""How long the HTTP endpoint of a shield takes to answer, with a journal, in another process."""

from __future__ import annotations

import http.client
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import testsgd

HORIZON = 100
REQUESTS = 10_000
WARM = 500

SPECIFICATION = {
    "name": "served",
    "fairness": {"property": "demographic_parity", "bound": "1/10"},
    "groups": {"names": ["a", "b"]},
    "horizon": {"length": HORIZON, "shield": "finite", "after": "next"},
}


@contextmanager
def served(*options: str) -> Iterator[tuple[str, int]]:
    """Serve a shield in a process of its own; gives host and port."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "shield.npz"
        testsgd.synthesize_shield(SPECIFICATION).save(path)
        command = [sys.executable, "-m", "testsgd", "shield", "serve", str(path), "--port", "0"]
        command += ["--journal", str(Path(folder) / "journal.jsonl"), *options]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                address = process.stdout.readline().rpartition("//")[2].strip()
                host, _, port = address.rpartition(":")
                yield host, int(port)
            finally:
                process.terminate()
                process.wait()


def answer_times(host: str, port: int, requests: int = REQUESTS) -> list[float]:
    """Ask for decisions one after the other on one connection; seconds of each, sorted."""
    connection = http.client.HTTPConnection(host, port)
    connection.connect()
    taken = []
    for place in range(WARM + requests):
        event = {"group": "ab"[place % 2], "recommendation": place // 2 % 2, "id": str(place)}
        body = json.dumps(event)
        started = time.perf_counter()
        connection.request("POST", "/decide", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        read = answer.read()
        taken.append(time.perf_counter() - started)
        assert answer.status == 200, read
    connection.close()
    return sorted(taken[WARM:])


def endpoint() -> list[list[str]]:
    """Measure the endpoint, with a journal and with each line forced onto the disc."""
    rows = []
    for name, options in (("journal", ()), ("journal, --fsync", ("--fsync",))):
        with served(*options) as (host, port):
            taken = answer_times(host, port, REQUESTS if not options else REQUESTS // 10)
        rows.append(
            [
                f"POST /decide over loopback, keep-alive, {name}",
                f"{1000 * statistics.median(taken):.2f} ms",
                f"{1000 * taken[int(0.99 * len(taken))]:.2f} ms",
                f"{1000 * taken[-1]:.2f} ms",
            ]
        )
    return rows


if __name__ == "__main__":
    for row in endpoint():
        print(" | ".join(row))

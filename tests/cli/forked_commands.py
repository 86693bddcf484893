"""Commands run in forks of one process that has imported what most of them need.

Importing the package takes longer than most commands of a test do. A fork is a process of its own,
with limits of its own, as that of a command is. Run as a program, this module reads an order a
line, as JSON, and answers each with one.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import selectors
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

SHIELD = """[fairness]
property = "demographic_parity"
bound = "1/4"
[groups]
names = ["a", "b"]
[horizon]
length = 4
"""
MONITOR = '[[properties]]\nproperty = "demographic_parity"\nbound = 0.5\nrule = "estimate"\n'


# A command that takes longer is ended.
MOST_SECONDS = 60


@dataclass(frozen=True)
class Order:
    """A command line, and what its process has."""

    words: list[str]
    folder: str  # The working folder.
    stdin: str = os.devnull
    # The most bytes of a file that it writes.
    file_bytes: int | None = None
    # The most bytes of memory beyond what is mapped at its start, when all is imported.
    memory: int | None = None


@dataclass(frozen=True)
class Ended:
    """What became of a command."""

    code: int
    out: str
    err: str


class Commands:
    """Runs commands in forks of a process that is started here."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __call__(self, order: Order) -> Ended:
        """Run a command; return what became of it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(asdict(order)), file=self._process.stdin, flush=True)
        return Ended(**json.loads(self._process.stdout.readline()))


@pytest.fixture(scope="session")
def commands() -> Iterator[Commands]:
    """What runs commands in forks."""
    # What counts branches would write files that are limited, too. Without bytecode: what is
    # compiled under a limit would be cut off, and used by what follows.
    uncounted = {key: value for key, value in os.environ.items() if "COV_CORE" not in key}
    with subprocess.Popen(
        [sys.executable, "-B", __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=uncounted,
    ) as process:
        try:
            yield Commands(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()


def run_command(words: list[str]) -> int:
    """Run a command line as the program does; return its exit code."""
    from testsgd.cli.main import run

    try:
        run(words)
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 1


def child(order: Order, out: int, err: int) -> int:
    """Do what is ordered with some descriptors as outputs; return the exit code."""
    os.chdir(order.folder)
    for number, descriptor in ((0, os.open(order.stdin, os.O_RDONLY)), (1, out), (2, err)):
        os.dup2(descriptor, number)
        os.close(descriptor)
    # Those of the parent know whether its files can be sought in.
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
    signal.alarm(MOST_SECONDS)
    if order.file_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (order.file_bytes,) * 2)
    if order.memory is not None:
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped + order.memory,) * 2)
    code = run_command(order.words)
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def read_to_the_end(pipes: Mapping[str, int]) -> dict[str, str]:
    """Return what is written into pipes, whichever is written first, and close them."""
    read = dict.fromkeys(pipes, b"")
    with selectors.DefaultSelector() as selector:
        for name, pipe in pipes.items():
            selector.register(pipe, selectors.EVENT_READ, name)
        while selector.get_map():
            for key, _ in selector.select():
                part = os.read(key.fd, 2**16)
                read[key.data] += part
                if not part:
                    selector.unregister(key.fd)
                    os.close(key.fd)
    return {name: content.decode() for name, content in read.items()}


def ended(order: Order) -> Ended:
    """Have a child do what is ordered; return what became of it."""
    out, err = os.pipe(), os.pipe()
    process = os.fork()
    if process == 0:
        code = 99
        try:
            code = child(order, out[1], err[1])
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(code)
    for _, writing in (out, err):
        os.close(writing)
    printed = read_to_the_end({"out": out[0], "err": err[0]})
    _, status = os.waitpid(process, 0)
    return Ended(os.waitstatus_to_exitcode(status), **printed)


def become_warm() -> None:
    """Run a few commands, so that what they import and compile is there."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("people.csv").write_text("sex,granted\n" + "f,0\nm,1\n" * 200)
        Path("shield.toml").write_text(SHIELD)
        Path("monitor.toml").write_text(MONITOR)
        Path("events.jsonl").write_text('{"group": "a", "decision": 1}\n')
        audit = ["audit", "people.csv", "--predictions", "granted", "--sensitive", "sex"]
        few = ["--replicates", "99", "--stability", "0", "--jobs", "1"]
        for words in (
            [*audit, "--favorable", "1", *few, "--out", "reports"],
            ["monitor", "run", "monitor.toml", "--events", "events.jsonl", "--state", "state"],
            ["shield", "synthesize", "shield.toml", "--shield", "shield.npz", "--format", "json"],
        ):
            # What a gate or a monitor says is not the question.
            if run_command([*words, "--quiet"]) not in (0, 1, 3):
                raise RuntimeError(f"{words} failed")


def main() -> None:
    """Answer orders until there are no more."""
    become_warm()
    # What a fork does not change it need not copy.
    gc.freeze()
    for line in sys.stdin:
        print(json.dumps(asdict(ended(Order(**json.loads(line))))), flush=True)


if __name__ == "__main__":
    main()

"""Runs commands in forked children, and has a child killed where it is asked to be.

A program: it reads an order a line, JSON, and answers each with one. The package is imported once,
so a child takes no longer than the command itself.

A child is killed by SIGKILL before its k-th step that changes a file below the working folder
(opened for writing, moved, removed; within a write by ``os.write``, after half of it), or by
SIGXFSZ, which no Python code sees either, as soon as one of its files would have more than so many
bytes.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate"}


class Steps:
    """Counts the steps of this process that change files below a folder, and ends it at one."""

    def __init__(self, folder: Path, kill_at: int | None) -> None:
        self.count = 0
        self._folder = str(folder)
        self._kill_at = kill_at
        self._write = os.write

    def begin(self) -> None:
        """Watch from here on; there is no end."""
        sys.addaudithook(self._heard)
        os.write = self._written

    def _step(self) -> None:
        self.count += 1
        if self.count == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if isinstance(flags, int) and flags & WRITING and self._is_below(path):
                self._step()
        elif event in CHANGES and self._is_below(arguments[0]):
            self._step()

    def _is_below(self, path: Any) -> bool:
        if isinstance(path, int):
            return True
        text = os.path.abspath(os.fsdecode(path))
        return text.startswith(self._folder) and "__pycache__" not in text

    def _written(self, file: int, data: bytes) -> int:
        self._step()
        if self.count + 1 == self._kill_at:
            self._write(file, data[: len(data) // 2])
        self._step()
        return self._write(file, data)


def run_command(arguments: list[str]) -> int:
    """Run a command line; return its exit code."""
    from testsgd.cli.main import _run

    return _run(arguments)


def child(order: dict[str, Any], answers: int) -> int:
    """Do what is ordered, in a process of its own; return the exit code."""
    os.chdir(order["folder"])
    for number, name in ((0, "stdin"), (1, "stdout"), (2, "stderr")):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_APPEND
        os.dup2(os.open(order[name], flags, 0o666), number)
    if order["prepared_by"]:
        module, _, function = order["prepared_by"].partition(":")
        getattr(importlib.import_module(module), function)()
    program: Callable[[list[str]], int] = run_command
    if order["program"]:
        module, _, function = order["program"].partition(":")
        program = getattr(importlib.import_module(module), function)
    if order["kill_at_bytes"] is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (order["kill_at_bytes"],) * 2)
    steps = Steps(Path(order["folder"]).resolve(), order["kill_at"])
    steps.begin()
    code = program(order["arguments"])
    sys.stdout.flush()
    sys.stderr.flush()
    steps._write(answers, str(steps.count).encode())
    return code


def answer(order: dict[str, Any]) -> dict[str, Any]:
    """Have a child do what is ordered; return how it ended."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        code = 99
        try:
            os.close(reading)
            code = child(order, writing)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as stream:
        steps = stream.read()
    _, status, used = os.wait4(process, 0)
    ended = os.waitstatus_to_exitcode(status)
    seconds = used.ru_utime + used.ru_stime
    return {"code": ended, "steps": int(steps or 0), "seconds": seconds}


def write_a_report() -> None:
    """Audit a few rows once: templates of reports take longer to compile than most commands do."""
    rows = "granted,woman,race\n" + "yes,0,a\nno,1,b\nyes,1,a\nno,0,b\n" * 40
    few = ["--replicates", "99", "--stability", "0", "--jobs", "1", "--quiet"]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("people.csv").write_text(rows, encoding="utf-8")
        audit = ["audit", "people.csv", "--predictions", "granted", "--sensitive", "woman"]
        for arguments in (
            [*audit, *few, "--out", "reports"],
            ["report", "reports/result.json", "--out", "read", "--quiet"],
        ):
            if run_command(arguments) != 0:
                raise RuntimeError(f"{arguments} failed")


def main() -> None:
    """Answer orders until there are no more."""
    for name in sys.argv[1:]:
        importlib.import_module(name)
    # An extra, which is not installed everywhere.
    with contextlib.suppress(ImportError):
        importlib.import_module("skops.io")
    write_a_report()
    # What a fork does not change it need not copy.
    gc.freeze()
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()

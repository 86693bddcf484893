"""What no command can read, given as each of their files, in children with their limits set.

    python tests/cli/unsuitable_files.py FOLDER < CASES

Each line of CASES is a list of commands in JSON, each a list of words: a child runs them one after
the other, and where one ends it, another child goes on with the next. For each command the outcome
is printed as a line.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import resource
import signal
import sys
from pathlib import Path

import testsgd
from testsgd.cli.main import run

SECONDS = 30
MEMORY = 2**30


def set_limits() -> None:
    """Limit the memory of this process beyond what it has mapped already, and its seconds."""
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY, mapped + MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def ran(words: list[str], folder: Path) -> int:
    """Run a command in this process, with streams of its own; return its exit code."""
    signal.alarm(SECONDS)
    for descriptor, name in ((1, "out"), (2, "err")):
        redirect(descriptor, folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    redirect(0, Path(os.devnull), os.O_RDONLY)
    if "/dev/stdin" in words:
        os.close(0)
    try:
        run(words)
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def redirect(descriptor: int, path: Path, flags: int) -> None:
    """Let a stream of this process be that of a file."""
    opened = os.open(path, flags)
    if opened != descriptor:
        os.dup2(opened, descriptor)
        os.close(opened)


def outcome(code: int, folder: Path) -> dict[str, object]:
    """Return what became of a command: its exit code, and what it printed."""
    printed = {name: (folder / name).read_text(errors="replace") for name in ("out", "err")}
    return {"code": code, **printed}


def outcomes(commands: list[list[str]], folder: Path) -> list[dict[str, object]]:
    """Return what becomes of each of some commands."""
    found: list[dict[str, object]] = []
    while len(found) < len(commands):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            code = 99
            try:
                set_limits()
                for words in commands[len(found) :]:
                    ended = json.dumps(outcome(ran(words, folder), folder))
                    os.write(writing, f"{ended}\n".encode())
                code = 0
            finally:
                os._exit(code)
        os.close(writing)
        with os.fdopen(reading) as stream:
            found += [json.loads(line) for line in stream]
        _, status = os.waitpid(child, 0)
        if len(found) < len(commands):
            found.append(outcome(os.waitstatus_to_exitcode(status), folder))
    return found


if __name__ == "__main__":
    # A fork has what is imported already.
    for module in pkgutil.walk_packages(testsgd.__path__, "testsgd."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)
    # What the package imports only when it reads a model.
    for name in ("h5py", "skops.io"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    # What is imported is not looked through for garbage again: each page looked at in a child would
    # be copied for it.
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        for ended in outcomes(json.loads(line), Path(sys.argv[1])):
            print(json.dumps(ended), flush=True)

"""What no command can read, given as each of their files, each in a child with its limits set.

    python tests/cli/unsuitable_files.py FOLDER < CASES

Each line of CASES is a list of words in JSON; each that is printed, the outcome.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pkgutil
import resource
import signal
import sys
import time
from pathlib import Path

import testsgd
from testsgd.cli.main import run

SECONDS = 30
MEMORY = 2**30


def limited(words: list[str], folder: Path) -> int:
    """Run a command in this process, with its limits set; return its exit code."""
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY, mapped + MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    signal.alarm(SECONDS)
    for descriptor, name in ((1, "out"), (2, "err")):
        opened = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, descriptor)
    if "/dev/stdin" in words:
        os.close(0)
    else:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        run(words)
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def outcome(words: list[str], folder: Path) -> dict[str, object]:
    """Return what becomes of a command: its exit code, and what it prints."""
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code = limited(words, folder)
        finally:
            os._exit(code)
    _, status, _ = os.wait4(child, 0)
    printed = {name: (folder / name).read_text(errors="replace") for name in ("out", "err")}
    seconds = time.monotonic() - started
    return {"code": os.waitstatus_to_exitcode(status), "seconds": seconds, **printed}


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
    for line in sys.stdin:
        print(json.dumps(outcome(json.loads(line), Path(sys.argv[1]))), flush=True)

"""Run damaged files through the command line, each in a child process with its limits set.

One process serves a kind of file, an interpreter of its own or a fork of ``kind_server.py``: it
imports what the command needs by running it once on an undamaged file, and forks for each case. To
repeat a case alone, with what it printed and its folder kept:

    python tests/fuzz/case_runner.py KIND NUMBER

Of many cases, a library's trial of a file is run in a fork that has the library, too; of a case
alone, and of undamaged files, in an interpreter of its own, as it is for users.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import random
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

from file_kinds import KINDS, FileKind
from mutations import mutate

from testsgd.cli.main import run
from testsgd.data import cache_folder
from testsgd.io import trials

SECONDS = 60
MEMORY = 2**30
FILE_BYTES = 2**28

# What no line of a user may be like, whatever the outcome.
FORBIDDEN = re.compile(r"Traceback|internal error|Warning\b|[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True)
class Case:
    """A damaged file and what became of it."""

    kind: str
    number: int
    command: str
    # The exit code; of a process that was ended by a signal, the signal's number below zero.
    code: int
    seconds: float
    mebibytes: float
    err: str
    # What is wrong with that; empty if nothing is.
    faults: tuple[str, ...]

    @property
    def is_fine(self) -> bool:
        """Whether the outcome is one that is documented."""
        return not self.faults


def damaged(kind: FileKind, number: int, originals: Path) -> tuple[bytes, str, tuple[str, ...]]:
    """Return the damaged content of a case, the file's name and the command that reads it."""
    chance = random.Random(f"{kind.name} {number}")
    name = chance.choice(sorted(path.name for path in (originals / "seeds").iterdir()))
    command = chance.choice(kind.commands)
    content = mutate((originals / "seeds" / name).read_bytes(), kind.form, chance)
    return content, name, command


def prepare(kind: FileKind, folder: Path) -> Path:
    """Write the undamaged files of a kind, and those beside them; return their folder."""
    (folder / "seeds").mkdir(parents=True)
    (folder / "beside").mkdir()
    kind.write(folder / "seeds", folder / "beside")
    return folder


def warm(kind: FileKind, originals: Path, folder: Path) -> None:
    """Run each command on each undamaged file in this process, so that a fork has all imports."""
    for number, seed in enumerate(sorted((originals / "seeds").iterdir())):
        for place, command in enumerate(kind.commands):
            work = folder / f"{number}-{place}"
            _lay_out(kind, originals, work, seed.name, seed.read_bytes())
            code = _forked(kind, work, command, seed.name, inside=True)
            if code not in {0, *kind.codes, *([2] if kind.keeps_what_was_right else [])}:
                raise RuntimeError(f"{kind.name}: undamaged, {seed.name} gives {code}; {work}")


def run_case(kind: FileKind, number: int, originals: Path, folder: Path) -> Case:
    """Run a case in a fork of this process, and judge what it did."""
    content, name, command = damaged(kind, number, originals)
    work = folder / "work"
    _lay_out(kind, originals, work, name, content)
    before = _contents(work)
    started = time.monotonic()
    code, mebibytes = _forked_away(kind, work, command, name)
    seconds = time.monotonic() - started
    out, err = (
        (folder / file).read_text(encoding="utf-8", errors="replace") for file in ("out", "err")
    )
    faults = [
        *_faults_of(code, out, err, kind),
        *_faults_of_files(code, before, _contents(work), kind),
    ]
    if mebibytes > MEMORY / 2**20:
        faults.append(f"it took {mebibytes:.0f} MiB")
    words = " ".join(_arguments(kind, command, name))
    return Case(kind.name, number, words, code, seconds, mebibytes, err, tuple(faults))


def _lay_out(kind: FileKind, originals: Path, work: Path, name: str, content: bytes) -> None:
    """Write the files of a case into an empty folder."""
    if work.exists():
        shutil.rmtree(work)
    shutil.copytree(originals / "beside", work)
    target = work / kind.target(name)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)


def _arguments(kind: FileKind, command: tuple[str, ...], name: str) -> list[str]:
    return [kind.target(name) if word == "FILE" else word for word in command]


def _contents(folder: Path) -> dict[str, bytes]:
    """Return the content of each file in a folder, but for locks and what Python and SQLite keep.

    SQLite leaves the files beside its own, where what it should write back is damaged.
    """
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith((".lock", "-wal", "-shm"))
        if "__pycache__" not in path.parts
    }


def _faults_of(code: int, out: str, err: str, kind: FileKind) -> Iterator[str]:
    """Find what is wrong with an exit code and the standard error."""
    lines = err.count("\n")
    if code not in {0, 2, *kind.codes}:
        yield f"exit code {code}"
    if found := FORBIDDEN.search(err):
        yield f"{found.group()!r} on the standard error"
    # Of a stream each line that is wrong is answered where the others are.
    is_answered = kind.keeps_what_was_right and '{"error"' in out and lines <= 1
    if code == 2 and not (err.startswith("testsgd: ") and lines == 1) and not is_answered:
        yield f"{lines} lines on the standard error"


def _faults_of_files(
    code: int, before: dict[str, bytes], after: dict[str, bytes], kind: FileKind
) -> Iterator[str]:
    """Find files that are there though the command failed, or not whole though it did not."""
    changed = {name for name in before | after if before.get(name) != after.get(name)}
    if code == 2 and not kind.keeps_what_was_right and changed:
        yield f"exit code 2, and yet changed: {', '.join(sorted(changed))}"
    for name in changed & set(after):
        if name.endswith(".json"):
            try:
                json.loads(after[name])
            except ValueError as error:
                yield f"{name} is no JSON: {error}"
        if name.endswith(".html") and not after[name].rstrip().endswith(b"</html>"):
            yield f"{name} is not whole"
        if Path(name).name.startswith((".", "tmp")) or name.endswith(".tmp"):
            yield f"{name} was left behind"


def _forked_away(
    kind: FileKind, work: Path, command: tuple[str, ...], name: str
) -> tuple[int, float]:
    """Run a command in a child with its limits set; return its exit code and peak memory in MiB."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code = _forked(kind, work, command, name)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status, usage = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss / 1024


def _forked(
    kind: FileKind, work: Path, command: tuple[str, ...], name: str, *, inside: bool = False
) -> int:
    """Run a command in this process and return its exit code."""
    if inside:
        here = os.getcwd(), os.dup(1), os.dup(2), os.dup(0)
    else:
        _set_limits()
    os.chdir(work)
    for descriptor, file in ((1, "../out"), (2, "../err")):
        opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, descriptor)
        os.close(opened)
    given = os.open(kind.given(name) or os.devnull, os.O_RDONLY)
    os.dup2(given, 0)
    os.close(given)
    try:
        run(_arguments(kind, command, name))
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        if inside:
            os.chdir(here[0])
            for descriptor, kept in ((1, here[1]), (2, here[2]), (0, here[3])):
                os.dup2(kept, descriptor)
                os.close(kept)


def _run_in_fork(words: list[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run a script of Python as ``subprocess.run`` does, but in a fork, which has the imports.

    Of the options it heeds the input and the timeout; the output is not kept, as a trial's is not.
    """
    timeout = options["timeout"]
    script, *arguments = words[words.index("-c") + 1 :]
    with tempfile.TemporaryFile() as given:
        given.write(options["input"])
        given.seek(0)
        child = os.fork()
        if child == 0:
            os.dup2(given.fileno(), 0)
            _end_with_script(script, arguments)
    watched = os.pidfd_open(child)
    ended, _, _ = select.select([watched], [], [], timeout)
    os.close(watched)
    if not ended:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if not ended:
        raise subprocess.TimeoutExpired(words, timeout)
    return subprocess.CompletedProcess(words, os.waitstatus_to_exitcode(status))


def _end_with_script(script: str, arguments: list[str]) -> NoReturn:
    """Run a script, and end this process with the exit code that an interpreter would have."""
    code = 1
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        # What has been read of the former input is no part of this one.
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.argv = ["-c", *arguments]
        exec(compile(script, "<string>", "exec"), {"__name__": "__main__"})
        code = 0
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    finally:
        os._exit(code)


def _set_limits() -> None:
    """Limit this process: seconds, memory beyond what it has mapped already, sizes of files."""
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY, mapped + MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(SECONDS)


@contextlib.contextmanager
def own_folder(*, is_kept: bool = False) -> Iterator[Path]:
    """Make a folder for what this process writes, and have data and caches looked for in it."""
    folder = Path(tempfile.mkdtemp(prefix="testsgd-fuzz-"))
    # Machine code takes a minute to make; it is named by the digest of its sources.
    os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_folder() / "machine-code"))
    os.environ["TESTSGD_DATA_HOME"] = str(folder / "data")
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    try:
        yield folder
    finally:
        if not is_kept:
            shutil.rmtree(folder, ignore_errors=True)


def main(words: list[str]) -> None:
    """Run the case NUMBER of KIND, or the cases FIRST to LAST, and print those with a fault.

    Where it runs in a fork, it changes the environment of that alone.
    """
    kind = KINDS[words[0]]
    first, last = int(words[1]), int(words[-1])
    alone = len(words) == 2
    with own_folder(is_kept=alone) as folder:
        originals = prepare(kind, folder / "originals")
        warm(kind, originals, folder / "warm")
        # What a fork does not change it need not copy.
        gc.freeze()
        if not alone:
            trials.subprocess = SimpleNamespace(**{**vars(subprocess), "run": _run_in_fork})
        codes: dict[str, int] = {}
        started = time.monotonic()
        slowest = 0.0
        for number in range(first, last + 1):
            case = run_case(kind, number, originals, folder)
            codes[str(case.code)] = codes.get(str(case.code), 0) + 1
            slowest = max(slowest, case.seconds)
            if alone or not case.is_fine:
                print(json.dumps(asdict(case)), flush=True)
        if alone:
            print(f"its folder: {folder / 'work'}")
        summary = {
            "cases": last - first + 1,
            "codes": codes,
            "seconds": round(time.monotonic() - started, 1),
            "processor_seconds": round(sum(os.times()[2:4]), 1),
            "slowest": round(slowest, 2),
        }
        print(json.dumps(summary))


if __name__ == "__main__":
    main(sys.argv[1:])

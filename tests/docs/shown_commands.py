"""Run the commands that a page shows, and give what they print.

A command alone runs in this process, as starting Python takes most of its time; what needs a shell
(pipes, redirections, other programs) runs in one, as processes of its own. So does what says how
much memory its process needs.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from unittest import mock

from testsgd.cli import console
from testsgd.cli.main import _run

_FOR_A_SHELL = re.compile(r"[|<>&;$`]")
_SAYS_MEMORY = re.compile(r"testsgd shield (synthesize|simulate)\b")
_PROGRAM = re.compile(r"\btestsgd (?=audit |monitor |shield )")


def run_shown(command: str, folder: Path, *, columns: int = 80) -> str:
    """Return what a command prints on both of its outputs, in a terminal of some columns."""
    settings = {"OMP_NUM_THREADS": "1", "COLUMNS": str(columns), "NO_COLOR": "1"}
    # By default a command takes all processors, and each further process imports all anew.
    settings["LOKY_MAX_CPU_COUNT"] = "1"
    alone = not _FOR_A_SHELL.search(command) and not _SAYS_MEMORY.match(command)
    if command.startswith("testsgd ") and alone:
        with mock.patch.dict(os.environ, settings):
            return run_here(shlex.split(command)[1:], folder)[1]
    return subprocess.run(
        _PROGRAM.sub(lambda _: f'"{sys.executable}" -m testsgd ', command),
        shell=True,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env={**os.environ, **settings},
    ).stdout


def run_here(words: list[str], folder: Path) -> tuple[int, str]:
    """Run testsgd in this process; return its exit code, and both of its outputs in one."""
    printed = io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
        # Lines of progress, which a slow machine would see.
        mock.patch.object(console, "_SILENCE", 3600.0),
    ):
        code = _run(words)
    return code, printed.getvalue()

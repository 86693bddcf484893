"""Runs the cases of kinds of files, each kind in a fork of one process that is warm already.

A program: it reads the words of ``case_runner.py`` a line, as JSON, and answers each line with one:
the exit code, the output and the standard error. What many kinds need is imported once, by reading
undamaged files of a few of them.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
import traceback
from typing import IO

import case_runner
from file_kinds import KINDS

# Their commands import what most kinds need: audits, certifications, monitors, shields, and
# generative models, with the reports of each. A case may take as much memory beyond what they leave
# mapped as beyond that of its own kind. None loads TensorFlow or a library of boosted trees, whose
# threads would not be there after a fork.
COMMON = ("table", "text-terms", "checkpoint", "monitor-events", "shield", "generative-table")


def become_warm() -> None:
    """Read undamaged files of the common kinds in this process."""
    with case_runner.own_folder() as folder:
        for name in COMMON:
            kind = KINDS[name]
            originals = case_runner.prepare(kind, folder / name / "originals")
            case_runner.warm(kind, originals, folder / name / "warm")


def run_as_program(words: list[str], out: IO[str], err: IO[str]) -> int:
    """Run cases in a fork that writes into two files; return its exit code."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            # The orders are read by the parent alone.
            for descriptor, file in ((0, os.open(os.devnull, os.O_RDONLY)), (1, out.fileno())):
                os.dup2(file, descriptor)
            os.dup2(err.fileno(), 2)
            case_runner.main(words)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def answer(words: list[str]) -> dict[str, int | str]:
    """Run cases; return how that ended, and what it wrote."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        code = run_as_program(words, out, err)
        out.seek(0)
        err.seek(0)
        return {"code": code, "out": out.read(), "err": err.read()}


def main() -> None:
    """Answer orders until there are no more."""
    become_warm()
    # What a fork does not change it need not copy.
    gc.freeze()
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()

"""Trial runs of other libraries on a file, in a process of their own.

A library in machine code may end its process, or never come back, at a file that is damaged. So it
reads the file in a child process first, and only if that ends does it here.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence


class TrialError(ValueError):
    """A library did not come back from a file: it ended its process, or took too long."""


# Before a script: the places of packages, which an isolated interpreter does not know.
_PLACES = "import json, sys\nsys.path[:] = json.loads(sys.argv.pop(1))\n"


def check_by_trial(
    script: str, arguments: Sequence[str], *, content: bytes = b"", seconds: float = 30
) -> None:
    """Run a script in a child process, and raise if that is ended by a signal or takes too long.

    What the script raises does not count: it will be raised here again, where it is known what to
    say of it.

    Parameters
    ----------
    script : str
        Python source. It should import no more than it needs, as that is done for each file.
    arguments : sequence of str
        From ``sys.argv[1]`` on.
    content : bytes
        The standard input of the script.
    seconds : float
        How long it may take.

    Raises
    ------
    TrialError
        If the script was ended by a signal, or did not end.

    Examples
    --------
    >>> check_by_trial("raise SystemExit(1)", [])
    >>> check_by_trial("while True: pass", [], seconds=0.5)
    Traceback (most recent call last):
    ...
    testsgd.io.trials.TrialError: its library does not come back from it
    """
    if not sys.executable:  # of a program that has Python inside
        return
    # Isolated, and without the packages' own preparations, which may take longer than the script.
    words = [sys.executable, "-I", "-S", "-c", _PLACES + script, json.dumps(sys.path), *arguments]
    try:
        finished = subprocess.run(
            words,
            input=content,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise TrialError("its library does not come back from it") from error
    # A signal, on Windows the number of an exception.
    if finished.returncode < 0 or finished.returncode > 2**16:
        raise TrialError("its library ends the process that reads it")

"""Trial runs of other libraries on a file, in a process of their own.

A library in machine code may end its process, or never come back, at a file that is damaged. So it
reads the file in a child process first, and only if that ends does it here.
"""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
from collections.abc import Sequence


class TrialError(ValueError):
    """The error of a library that did not come back from a file.

    Notes
    -----
    :func:`testsgd.io.check_by_trial` raises it if the child process was ended by a signal, or took
    too long. The message says which, and does not name the file; a script that raises an exception
    itself is no such case.
    """


_NO_RETURN = "its library does not come back from it"
# Before a script: the places of packages, which an isolated interpreter does not know, and the
# limit of the processor's time, which only some systems have.
_BEGINNING = """
import json, sys
sys.path[:] = json.loads(sys.argv.pop(1))
limit = json.loads(sys.argv.pop(1))
try:
    import resource
except ImportError:
    limit = None
if limit is not None:
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    if hard == resource.RLIM_INFINITY or hard > limit:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))
"""


def check_by_trial(
    script: str,
    arguments: Sequence[str],
    *,
    content: bytes = b"",
    seconds: float = 30,
    processor_seconds: float | None = None,
) -> int:
    """Run a script in a child process, and raise if that is ended by a signal or takes too long.

    What the script raises is not raised here: mostly the library will raise it again, where it is
    known what to say of it.

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
    processor_seconds : float, optional
        How long it may compute, rounded up, with its imports. This ends a loop sooner, and does not
        count what other processes take of a busy machine. Windows knows no such limit.

    Returns
    -------
    int
        The exit code of the script: 0 if it ended well.

    Raises
    ------
    TrialError
        If the script was ended by a signal, or did not end.

    Examples
    --------
    >>> check_by_trial("raise SystemExit(1)", [])
    1
    >>> check_by_trial("while True: pass", [], seconds=0.5)
    Traceback (most recent call last):
    ...
    testsgd.io.trials.TrialError: its library does not come back from it
    """
    if not sys.executable:  # of a program that has Python inside
        return 0
    # Isolated, and without the packages' own preparations, which may take longer than the script.
    limit = None if processor_seconds is None else math.ceil(processor_seconds)
    given = [json.dumps(sys.path), json.dumps(limit), *arguments]
    words = [sys.executable, "-I", "-S", "-c", _BEGINNING + script, *given]
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
        raise TrialError(_NO_RETURN) from error
    if finished.returncode == -getattr(signal, "SIGXCPU", math.inf):
        raise TrialError(_NO_RETURN)
    # A signal, on Windows the number of an exception.
    if finished.returncode < 0 or finished.returncode > 2**16:
        raise TrialError("its library ends the process that reads it")
    return finished.returncode

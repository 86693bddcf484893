"""Models that are a command: it reads rows as CSV, and writes a prediction a line."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.errors import ParameterError
from testsgd.models.external import ExternalModel, as_rows, check_above_zero

COMMAND_PREFIX = "cmd:"
"""What stands before a command that is given as a text."""


class CommandModel(ExternalModel):
    """A program that is started for each question.

    It gets CSV with a header on its standard input, with empty cells where values are missing, and
    writes one label or score a row, each on a line of its own. Texts are rows of one column,
    ``text``. It is never run by a shell.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    timeout : float
        Seconds after which the program is ended, and the question has failed.

    Raises
    ------
    ParameterError
        If there is no program, or the timeout is no number above 0.

    Examples
    --------
    >>> import sys
    >>> program = "import sys; [print('yes') for _ in sys.stdin.readlines()[1:]]"
    >>> model = CommandModel([sys.executable, "-c", program])
    >>> model.predict(pd.DataFrame({"age": [30, 40]})).tolist()
    ['yes', 'yes']
    """

    kind = "command"

    def __init__(self, command: Sequence[str], *, timeout: float = 600) -> None:
        words = [] if isinstance(command, str) else [os.fspath(word) for word in command]
        if not words or not words[0]:
            raise ParameterError(
                f"{command!r} is no program with its arguments",
                where="model",
                remedy='give a list such as ["python", "score.py"]',
                name="command",
            )
        check_above_zero("timeout", timeout)
        super().__init__(COMMAND_PREFIX + shlex.join(words))
        self._command = words
        self._timeout = timeout

    def predict(self, asked: pd.DataFrame | Sequence[str]) -> NDArray[Any]:
        """Return the program's label or score for each row or text.

        Raises
        ------
        ModelError
            If the program is not found, fails, takes too long, or writes another number of lines.
        """
        written = as_rows(asked).to_csv(index=False, lineterminator="\n")
        output = self._run(written).removesuffix("\n")
        lines = [line.strip() for line in output.split("\n")] if output else []
        if len(lines) != len(asked):
            raise self._error(
                f"the command wrote {len(lines):,} lines for {len(asked):,} rows",
                "make it write one label or score a row, and nothing else, to its standard output",
            )
        if "" in lines:
            raise self._error(
                f"the command wrote an empty line for row {lines.index('')}",
                "make it write a label or a score for every row",
            )
        return predictions_of(lines)

    def _run(self, written: str) -> str:
        """Return what the program writes."""
        try:
            # In a session of its own, so that all that it starts can be ended with it.
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise self._error(
                f"{self._command[0]!r} cannot be started ({reason})",
                "name a program that is installed, or its path",
            ) from error
        with process:
            try:
                output, errors = process.communicate(written, timeout=self._timeout)
            except subprocess.TimeoutExpired as error:
                _end(process)
                raise self._error(
                    f"the command did not finish within {self._timeout:g} s",
                    "give it a longer timeout, in Python with CommandModel, or fewer rows",
                ) from error
            except BaseException:
                # Such as Ctrl-C, which a session of its own does not get.
                _end(process)
                raise
        if process.returncode != 0:
            raise self._error(
                f"the command ended with exit code {process.returncode}{_last_line(errors)}",
                "run it by hand on a CSV file with a header",
            )
        return output


def command_of(text: str) -> CommandModel:
    """Return the command that a text names, behind ``cmd:``, in the manner of a shell.

    Raises
    ------
    ParameterError
        If its quotes do not match, or there is nothing behind ``cmd:``.

    Examples
    --------
    >>> command_of("cmd:python score.py 'my model.bin'").name
    "cmd:python score.py 'my model.bin'"
    """
    try:
        words = shlex.split(text.removeprefix(COMMAND_PREFIX))
    except ValueError as error:
        raise ParameterError(
            f"{text!r} cannot be split into words ({error})",
            where="model",
            remedy="quote arguments as a shell wants it",
            name="command",
        ) from error
    return CommandModel(words)


def predictions_of(lines: Sequence[str]) -> NDArray[Any]:
    """Return lines as whole numbers or scores if all of them are, and else as texts.

    Examples
    --------
    >>> predictions_of(["0", "0.5"]).tolist(), predictions_of(["007", "1"]).tolist()
    ([0.0, 0.5], ['007', '1'])
    """
    if all(line.isascii() and line.isdigit() for line in lines):
        if any(line != str(int(line)) for line in lines):
            # Leading zeros are part of a label.
            return np.array(lines)
        return np.array([int(line) for line in lines])
    try:
        return np.array([float(line) for line in lines])
    except ValueError:
        return np.array(lines)


def _end(process: subprocess.Popen[str]) -> None:
    """End a program and all that it has started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def _last_line(errors: str) -> str:
    """Return the last line that a program wrote of its errors, in brackets, or nothing."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    return f" ({lines[-1][:200]})" if lines else ""

"""Models that are a command: it reads rows as CSV, and writes a prediction a line."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from typing import IO, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.errors import ParameterError
from testsgd.models.external import ExternalModel, as_rows, check_above_zero

COMMAND_PREFIX = "cmd:"
"""What stands before a command that is given as a text."""

_REMEDY = "make it write one label or score a row, and nothing else, to its standard output"


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
            If the program is not found, fails, takes too long, or writes another number of lines:
            it is ended as soon as it has written more.
        """
        written = as_rows(asked).to_csv(index=False, lineterminator="\n")
        output = self._run(written, len(asked)).removesuffix("\n")
        lines = [line.strip() for line in output.split("\n")] if output else []
        if len(lines) != len(asked):
            raise self._error(
                f"the command wrote {len(lines):,} lines for {len(asked):,} rows",
                _REMEDY,
            )
        if "" in lines:
            raise self._error(
                f"the command wrote an empty line for row {lines.index('')}",
                "make it write a label or a score for every row",
            )
        return predictions_of(lines)

    def _run(self, written: str, rows: int) -> str:
        """Return what the program writes about `rows` rows."""
        try:
            # In a session of its own, so that all that it starts can be ended with it.
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise self._error(
                f"{self._command[0]!r} cannot be started ({reason})",
                "name a program that is installed, or its path",
            ) from error
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        ends = time.monotonic() + self._timeout
        output = _Output(process.stdout, lines=rows)
        errors = _Errors(process.stderr)
        threads = [_Input(process.stdin, written), output, errors]
        try:
            for thread in threads:
                thread.start()
            _wait(output, ends)
            if output.is_too_much:
                self._check_exit_code(_ended_by_itself(process), errors)
                raise self._error(
                    f"the command wrote at least {output.written_lines} for {rows:,} rows", _REMEDY
                )
            _wait(errors, ends)
            code = process.wait(max(0.0, ends - time.monotonic()))
        except BaseException as error:
            # Also at Ctrl-C, which a session of its own does not get.
            _end(process)
            process.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                raise self._error(
                    f"the command did not finish within {self._timeout:g} s",
                    "give it a longer timeout, in Python with CommandModel, or fewer rows",
                ) from error
            raise
        finally:
            for thread in threads:
                thread.close()
        self._check_exit_code(code, errors)
        return output.text()

    def _check_exit_code(self, code: int | None, errors: _Errors) -> None:
        if code:
            errors.join(_PATIENCE)
            raise self._error(
                f"the command ended with exit code {code}{_last_line(errors.text())}",
                "run it by hand on a CSV file with a header",
            )


# Bytes of a prediction, with its line end, and of all beside them: far more than they have.
_LINE_BYTES = 2**10
_OTHER_BYTES = 2**16
# How much is read at once, and is kept of what a program writes of its errors.
_CHUNK = 2**16
# Seconds in which a program that has written too much may end by itself, and say why.
_PATIENCE = 0.5


class _Pipe(threading.Thread):
    """Works on one of the pipes of a program beside those who wait for it."""

    def __init__(self, pipe: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._pipe = pipe

    def close(self) -> None:
        """Close the pipe, unless a program that left the session still holds its other end."""
        if self.ident is not None:
            self.join(_PATIENCE)
        if not self.is_alive():
            with contextlib.suppress(OSError):
                self._pipe.close()


class _Input(_Pipe):
    """Writes a text to a program, which need not read it."""

    def __init__(self, pipe: IO[bytes], written: str) -> None:
        super().__init__(pipe)
        self._written = written.encode("utf-8", errors="replace")

    def run(self) -> None:
        with contextlib.suppress(OSError):
            self._pipe.write(self._written)
        with contextlib.suppress(OSError):
            self._pipe.close()


class _Reading(_Pipe):
    """Reads what a program writes."""

    def __init__(self, pipe: IO[bytes]) -> None:
        super().__init__(pipe)
        self._content = bytearray()

    def run(self) -> None:
        while chunk := os.read(self._pipe.fileno(), _CHUNK):
            self._content += chunk
            if self._is_enough(chunk):
                break

    def _is_enough(self, chunk: bytes) -> bool:
        raise NotImplementedError

    def text(self) -> str:
        """Return what was read, its line ends as in Python."""
        text = self._content.decode("utf-8", errors="replace")
        return text.replace("\r\n", "\n").replace("\r", "\n")


class _Errors(_Reading):
    """Reads all that a program writes of its errors, and keeps the end."""

    def _is_enough(self, chunk: bytes) -> bool:
        del self._content[:-_CHUNK]
        return False


class _Output(_Reading):
    """Reads the predictions that a program writes, until they are more than there can be."""

    def __init__(self, pipe: IO[bytes], *, lines: int) -> None:
        super().__init__(pipe)
        self._most_lines = lines
        self._lines = 0

    @property
    def is_too_much(self) -> bool:
        """Whether it wrote more lines than there are rows, or more bytes than these can have."""
        most_bytes = self._most_lines * _LINE_BYTES + _OTHER_BYTES
        return self._lines > self._most_lines or len(self._content) > most_bytes

    @property
    def written_lines(self) -> str:
        """How much was read, in words."""
        if self._lines > self._most_lines:
            return f"{self._lines:,} lines"
        return f"{len(self._content):,} bytes"

    def _is_enough(self, chunk: bytes) -> bool:
        self._lines += chunk.count(b"\n")
        return self.is_too_much


def _wait(thread: threading.Thread, ends: float) -> None:
    """Wait for a thread; raise what Popen raises if it is not done at a time of the clock."""
    thread.join(max(0.0, ends - time.monotonic()))
    if thread.is_alive():
        raise subprocess.TimeoutExpired("command", 0)


def _ended_by_itself(process: subprocess.Popen[bytes]) -> int | None:
    """Return the exit code of a program that ends in a moment; None if it goes on."""
    try:
        return process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        return None


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
    if not words or not words[0]:
        raise ParameterError(
            f"there is no command behind {COMMAND_PREFIX!r} (seen: {text!r})",
            where="model",
            remedy="write the program with its arguments, such as 'cmd:python score.py'",
            name="command",
        )
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


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and all that it has started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def _last_line(errors: str) -> str:
    """Return the last line that a program wrote of its errors, in brackets, or nothing."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    return f" ({lines[-1][:200]})" if lines else ""

"""What commands share: exit codes, messages, progress bars, tables, a look at folders."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from testsgd.errors import ConfigurationError, DataError, printable
from testsgd.io import TooLargeError, check_replaceable, lines_of
from testsgd.progress import Phase

if TYPE_CHECKING:
    from testsgd.report.blocks import Table
    from testsgd.report.results import DocumentResult

DONE = 0
USAGE_ERROR = 2
TOO_FEW_DATA = 3
# Outside the four codes of a verdict, so that a crash is never taken for one.
INTERNAL_ERROR = 70
INTERRUPTED = 130
TERMINATED = 143
# As a process that the system ends because its output is read no further.
UNREAD = 141


class Interruption(Exception):  # noqa: N818 - it is no mistake of anybody's
    """The interruption of a command that can be resumed; the message explains how."""


def print_error(message: str) -> None:
    """Print one line about a mistake to the standard error."""
    print(printable(f"testsgd: {' '.join(message.split())}"), file=sys.stderr)


def print_line(message: str) -> None:
    """Print one line to the standard output; parts of data in it cannot steer a terminal."""
    print(printable(message))


def print_address(address: str) -> None:
    """Print where a server listens, at once: a program may wait for the line."""
    print_line(f"Serving on {address}")
    sys.stdout.flush()


def print_note(message: str) -> None:
    """Print one line to the standard error, beside an output that is read by programs."""
    print(printable(message), file=sys.stderr)


def print_verdict(verdict: Any) -> None:
    """Print a verdict's headline and sentences."""
    print_line(verdict.headline)
    for sentence in verdict.sentences:
        print_line(sentence)


def print_files(written: Iterable[Path], seconds: Mapping[str, float] | None = None) -> None:
    """Print how long each phase took, if that is given, and what was written."""
    for phase, passed in (seconds or {}).items():
        print_line(f"  {phase}: {passed:.3f} s")
    for path in written:
        print_line(f"Written: {path}")


def points(difference: float) -> str:
    """Write a difference in points; what rounds to nothing has no minus."""
    return f"{round(100 * difference, 1) + 0.0:+.1f}"


# What commands write into the folder of their reports.
REPORTS = ("report.html", "report.md", "result.json")


def check_writable(folder: Path) -> None:
    """Raise a :class:`ConfigurationError`, before all the work, if nothing can be written there."""
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        raise ConfigurationError(
            "cannot write there",
            where=str(folder),
            remedy="choose a folder that can be written to",
        )


def check_reports_writable(
    folder: Path,
    result: type[DocumentResult[Any]] | None = None,
    formats: Sequence[str] = (),
    *,
    data_name: str | None = None,
) -> None:
    """Raise a :class:`ConfigurationError`, before all the work, if reports cannot be written there.

    So it is if nothing can, or if a file of such a name is there that testsgd did not write. If the
    class of the result and the formats are known, it is by the rule that its ``write`` has, so also
    if there is the result of another command.
    """
    check_writable(folder)
    if result is not None:
        result.check_folder(folder, formats, data_name=data_name)
        return
    for name in REPORTS:
        check_replaceable(folder / name)


# What commands write into the folder of a model.
OF_MODELS = (
    "model.keras",
    "model.skops",
    "card.json",
    "preprocessing.json",
    "vocabulary.txt",
    "thresholds.json",
)


def check_model_writable(folder: Path) -> None:
    """Raise a :class:`ConfigurationError`, before all the work, if no model can be written there.

    So it is if nothing can, or if a file of such a name is there that testsgd did not write.
    """
    check_writable(folder)
    for name in OF_MODELS:
        check_replaceable(folder / name)


# Seconds of silence after which a line says that a command is at work. Services that run builds end
# what says nothing for some minutes.
_SILENCE = 15.0


@contextmanager
def progress_lines(state: Callable[[], str]) -> Iterator[None]:
    """Print a line on the standard error every 15 seconds while the block runs.

    Parameters
    ----------
    state : callable
        Returns how far the work is; empty if nothing is known.
    """
    started = time.monotonic()
    is_over = threading.Event()

    def speak() -> None:
        while not is_over.wait(_SILENCE):
            passed = f"{time.monotonic() - started:,.0f} s"
            print_error(f"{state() or 'at work'}{_first_use()}, {passed} so far")
            sys.stderr.flush()

    speaker = threading.Thread(target=speak, daemon=True)
    speaker.start()
    try:
        yield
    finally:
        is_over.set()
        speaker.join()


def _first_use() -> str:
    """Return that machine code is compiled, if it is; nothing is loaded to find out."""
    # Another thread may be loading it, so that it is there and has not all its functions yet.
    is_first_use = getattr(sys.modules.get("testsgd._machine_code"), "is_first_use", None)
    if is_first_use is None or not is_first_use():
        return ""
    return " (the first use compiles machine code, which is kept for the next)"


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """Show progress on the standard error while the block runs.

    On a terminal it is a bar; elsewhere, as in a build, a line every 15 seconds.
    """
    if quiet:
        yield None
        return
    if not sys.stderr.isatty():
        phase = Phase()
        with progress_lines(phase.text):
            yield phase.show
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskID,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        # Goes on between two answers of a slow model.
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as progress:
        # Moves at once, so that a slow model is not taken for one that hangs.
        waiting = progress.add_task("at work", total=None)
        tasks: dict[str, TaskID] = {}
        notes: set[str] = set()

        def show(phase: str, done: int, total: int) -> None:
            if (note := _first_use()) and note not in notes:
                notes.add(note)
                progress.console.print(note.strip(" ()").capitalize(), style="dim")
            progress.update(waiting, visible=False)
            if phase not in tasks:
                tasks[phase] = progress.add_task(phase, total=None)
            # A phase of one part moves until it is done.
            known = total if total > 1 or done else None
            progress.update(tasks[phase], completed=done, total=known)

        yield show


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, and how it takes part in the layout."""

    heading: str
    numeric: bool = False
    only_if_wide: bool = False


# From here on a terminal is wide.
_WIDE = 110


def print_table(title: str, columns: list[Column], rows: list[list[str]]) -> None:
    """Print a table."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table as Drawn

    console = Console()
    kept = [
        index
        for index, column in enumerate(columns)
        if console.width >= _WIDE or not column.only_if_wide
    ]
    # As a title of the table it would be no wider than that.
    console.print(escape(printable(title)), style="bold", highlight=False)
    table = Drawn(box=SIMPLE_HEAD)
    for index in kept:
        numeric = columns[index].numeric
        table.add_column(
            escape(printable(columns[index].heading)),
            justify="right" if numeric else "left",
            no_wrap=numeric,
        )
    for row in rows:
        table.add_row(*(escape(printable(row[index])) for index in kept))
    console.print(table)


def print_block(table: Table) -> None:
    """Print a table of a report; on a narrow terminal only the columns with a short heading."""
    columns = [
        Column(
            column.short or column.heading.lower(),
            numeric=column.numeric,
            only_if_wide=bool(column.heading) and not column.short,
        )
        for column in table.columns
    ]
    rows = [
        [cell if isinstance(cell, str) else cell.text for cell in row.cells] for row in table.rows
    ]
    print_table(table.label, columns, rows)


def input_lines() -> Iterator[bytes]:
    """Yield the lines of the standard input as they come; a DataError if one is too long."""
    try:
        yield from lines_of(sys.stdin.buffer, "the standard input")
    except TooLargeError as error:
        raise DataError(
            str(error.strerror),
            where="the standard input",
            remedy="give one JSON object a line",
        ) from error

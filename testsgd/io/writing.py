"""Writing files so that a reader never sees half of one, and hashing them."""

from __future__ import annotations

import contextlib
import contextvars
import errno
import hashlib
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

from testsgd.errors import ConfigurationError, MissingExtraError
from testsgd.io.identity import CARD, STAGING, WHOLE, check_replaceable, kind_of_file
from testsgd.io.reproducible import is_reproducible, without_dates

try:
    import fcntl
except ImportError:  # pragma: no cover  (there are no such locks on Windows)
    fcntl = None  # type: ignore[assignment]  # a module elsewhere


# What the system says of a full disk, of a user's share of it, and of a file that may not grow.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextlib.contextmanager
def writing_to(
    target: Path, remedy: str = "choose a folder that can be written to"
) -> Iterator[None]:
    """Raise a :class:`ConfigurationError` where the system refuses what the block does.

    Parameters
    ----------
    target : pathlib.Path
        What is written to, for the error.
    remedy : str
        What to do if that is refused.

    Yields
    ------
    None

    Raises
    ------
    ConfigurationError
        If the block raises an OSError, whose reason is in it. Other errors pass as they are.

    Examples
    --------
    >>> with writing_to(Path("report.html"), "choose another name"):
    ...     raise PermissionError(errno.EACCES, "Permission denied")
    Traceback (most recent call last):
        ...
    testsgd.errors.ConfigurationError: report.html: cannot write there (Permission denied); ...
    """
    try:
        yield
    except OSError as error:
        raise ConfigurationError(
            f"cannot write there ({error.strerror})", where=str(target), remedy=remedy
        ) from error


# Temporary folders that this process has made and not removed.
_unfinished: set[Path] = set()
if hasattr(os, "register_at_fork"):
    # They are those of the process that made them.
    os.register_at_fork(after_in_child=_unfinished.clear)


def remove_unfinished() -> None:
    """Remove the temporary folders of this process and all that is in them; for its end.

    Notes
    -----
    :func:`atomic_path` and :func:`files_together` remove their own, also if an error is raised; a
    folder is left only if that removal itself is interrupted. Interruptions and requests to
    terminate wait until all are removed. A folder whose files were being moved to their places
    stays: the next process that writes there moves the rest.
    """
    with _interruptions_later():
        for staging in tuple(_unfinished):
            _remove_staging(staging, None)


@contextlib.contextmanager
def _interruptions_later() -> Iterator[None]:
    """Put off interruptions and requests to terminate until the block has ended."""
    noticed: list[int] = []

    def notice(number: int, _frame: FrameType | None) -> None:
        noticed.append(number)

    before: dict[int, Any] = {}
    for number in map(int, (signal.SIGINT, signal.SIGTERM)):
        handler = signal.getsignal(number)
        # What is ignored stays so; None is a handler that Python cannot set again.
        if handler is signal.SIG_IGN or handler is None:
            continue
        try:
            signal.signal(number, notice)
        except ValueError:
            # Only the main thread may set handlers; other threads are not interrupted.
            break
        before[number] = handler
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in noticed[:1]:
            signal.raise_signal(number)


@dataclass
class _Move:
    """Files that are written in a temporary folder, and where they belong."""

    staging: Path
    lock_file: int | None
    # Whether they are all the files of a folder, of which a reader must not see some.
    is_set: bool
    places: dict[Path, Path] = field(default_factory=dict)
    # Files of an earlier set, which are removed before the new ones are moved.
    outdated: list[Path] = field(default_factory=list)

    def check(self) -> None:
        """Raise if one of the places has a file that is not replaced."""
        for file, target in self.places.items():
            if not (self.is_set and _is_own_format(file, target.parent)):
                check_replaceable(target, by=file)

    def finish(self) -> None:
        """Move the files to their places, and remove the temporary folder."""
        with _interruptions_later():
            self._finish()

    def _finish(self) -> None:
        for folder in {target.parent for target in self.places.values()}:
            with writing_to(folder):
                if self.is_set:
                    # From here on all files are written: the name of the folder says so.
                    whole = f"{WHOLE}{self.staging.name.removeprefix(STAGING[0])}"
                    _unfinished.discard(self.staging)
                    self.staging = self.staging.rename(folder / whole)
                for earlier in self.outdated:
                    earlier.unlink(missing_ok=True)
                for file, target in self.places.items():
                    (self.staging / file.name).replace(target)
            _remove_abandoned(folder)
        self.discard()

    def discard(self) -> None:
        """Remove the temporary folder, unless it is to be moved by the next process."""
        _remove_staging(self.staging, self.lock_file)
        self.lock_file = None


@dataclass(frozen=True)
class _Waiting:
    """Targets that are moved to their places together, and the moves that wait for that."""

    targets: frozenset[Path]
    moves: list[_Move] = field(default_factory=list)


_waiting: contextvars.ContextVar[_Waiting | None] = contextvars.ContextVar("waiting", default=None)


@contextlib.contextmanager
def moved_together(*targets: str | Path | None) -> Iterator[None]:
    """Move what is written to some files and folders within the block when it ends, or nothing.

    If the block raises, as on a full disk, all of them are as they were.

    Parameters
    ----------
    *targets : str, pathlib.Path or None
        Files, and folders that :func:`files_together` writes to; what is written elsewhere does not
        wait. None is left out.

    Examples
    --------
    >>> import tempfile
    >>> from testsgd.io import moved_together, write_text
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first, second = Path(folder) / "first.csv", Path(folder) / "second.csv"
    ...     with moved_together(first, second):
    ...         write_text(first, "a,b")
    ...         is_there = first.exists()
    ...         write_text(second, "c,d")
    ...     is_there, first.exists(), second.exists()
    (False, True, True)
    """
    waiting = _Waiting(frozenset(Path(one).absolute() for one in targets if one is not None))
    token = _waiting.set(waiting)
    try:
        yield
        for move in waiting.moves:
            move.check()
        with _interruptions_later():
            for move in waiting.moves:
                move.finish()
    finally:
        _waiting.reset(token)
        for move in waiting.moves:
            move.discard()


def _finish_or_wait(move: _Move, target: Path) -> None:
    """Move files to their places, now or at the end of :func:`moved_together`."""
    waiting = _waiting.get()
    move.check()
    if waiting is not None and target.absolute() in waiting.targets:
        waiting.moves.append(move)
    else:
        move.finish()


@contextlib.contextmanager
def atomic_path(target: Path) -> Iterator[Path]:
    """Yield a path in a temporary folder beside `target`, moved onto it when the block succeeds.

    If the block raises, the temporary folder is removed and `target` is left as it was. What a
    process that was killed left of this is removed by the next one. A file that testsgd did not
    write, or one of another kind, is not replaced.

    Parameters
    ----------
    target : pathlib.Path
        The file to write. Its folder is made if it is not there.

    Yields
    ------
    pathlib.Path
        Where to write it: a path with the same name, at which there is nothing yet.

    Raises
    ------
    ConfigurationError
        If the folder cannot be written to, `target` is not to be replaced, or the disk is full.

    Notes
    -----
    Within :func:`testsgd.io.moved_together` a file that is among its targets is moved at its end.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = Path(folder) / "rates.csv"
    ...     with atomic_path(target) as temporary:
    ...         _ = temporary.write_text("group,rate", encoding="utf-8")
    ...         is_there = target.exists()
    ...     is_there, target.exists()
    (False, True)
    """
    target = Path(target)
    check_replaceable(target)
    with writing_to(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        move = _Move(*_new_staging(target.parent), is_set=False)
    temporary = move.staging / target.name
    move.places[temporary] = target
    try:
        yield temporary
        if is_reproducible():
            without_dates(temporary)
        # A report is meant to be as open as its folder says.
        temporary.chmod(0o666 & ~_umask())
        _finish_or_wait(move, target)
    except BaseException as error:
        move.discard()
        if not isinstance(error, OSError) or error.errno not in NO_ROOM:
            raise
        raise ConfigurationError(
            f"cannot write there ({error.strerror})",
            where=str(target),
            remedy="make room, or choose a folder elsewhere",
        ) from error


@contextlib.contextmanager
def files_together(
    folder: Path, *, last: str | None = None, replaces: Sequence[str] = ()
) -> Iterator[Path]:
    """Yield a temporary folder whose files are moved into `folder` when the block succeeds.

    If the block raises, as on a full disk, none of them is there and `folder` is as it was. What a
    process that was killed left of this is removed; if it was killed while it moved its files,
    those that are left are moved first. Until then :func:`is_mixed` is true of the folder.

    Parameters
    ----------
    folder : pathlib.Path
        Where the files belong. It is made if it is not there.
    last : str, optional
        Name of the file that is moved last, by which a reader sees whether all are there. The
        others are moved in the order of their names.
    replaces : sequence of str, default=()
        Names of files of an earlier set in `folder`. Those that are not written again are removed
        when the new ones are moved, in this order.

    Yields
    ------
    pathlib.Path
        The folder to write the files to.

    Raises
    ------
    ConfigurationError
        If `folder` cannot be written to, or has a file that is not to be replaced.

    Notes
    -----
    Within :func:`testsgd.io.moved_together` the files of a folder that is among its targets are
    moved at its end.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with files_together(Path(folder), last="card.json") as staging:
    ...         for name in ("card.json", "rates.csv"):
    ...             _ = (staging / name).write_text("{}", encoding="utf-8")
    ...     sorted(file.name for file in Path(folder).iterdir())
    ['card.json', 'rates.csv']
    """
    folder = Path(folder)
    with writing_to(folder):
        folder.mkdir(parents=True, exist_ok=True)
        move = _Move(*_new_staging(folder), is_set=True)
    staging = move.staging
    try:
        yield staging
        _finish_moves(folder)
        files = sorted(staging.iterdir(), key=lambda file: (file.name == last, file.name))
        move.places.update((file, folder / file.name) for file in files)
        if files:
            new = {file.name for file in files}
            move.outdated += [folder / name for name in replaces if name not in new]
        _finish_or_wait(move, folder)
    except BaseException as error:
        move.discard()
        if not isinstance(error, ConfigurationError):
            raise
        # The temporary folder is of no interest to a reader.
        where = error.where or str(folder)
        for temporary in (move.staging, staging):
            where = where.replace(str(temporary), str(folder))
        raise ConfigurationError(error.what, where=where, remedy=error.remedy) from error


def is_mixed(folder: str | Path) -> bool:
    """Return whether some of a folder's files may be of an earlier run than others.

    They may be if a process was killed while it moved files there that belong together. The next
    one that writes such files to the folder moves the rest.

    Parameters
    ----------
    folder : str or pathlib.Path
        One that :func:`files_together` wrote to.

    Returns
    -------
    bool

    Examples
    --------
    >>> import tempfile
    >>> from testsgd.io import is_mixed
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     is_mixed(folder)
    False
    """
    for left in Path(folder).glob(f"{WHOLE}*{STAGING[1]}"):
        with _abandoned(left) as is_abandoned:
            if is_abandoned and _has_unmoved(left):
                return True
    return False


def _new_staging(folder: Path) -> tuple[Path, int | None]:
    """Make a temporary folder in another; return it, and what it is locked by if it can be."""
    while True:
        with _interruptions_later():
            staging = Path(tempfile.mkdtemp(dir=folder, prefix=STAGING[0], suffix=STAGING[1]))
            _unfinished.add(staging)
        lock_file = _lock_folder(staging)
        # Before it was locked, another process may have taken it for one that is abandoned.
        if staging.exists():
            return staging, lock_file
        _unfinished.discard(staging)


def _has_unmoved(staging: Path) -> bool:
    """Return whether files of a temporary folder were being moved, and some are still there."""
    return staging.name.startswith(WHOLE) and any(staging.iterdir())


def _remove_staging(staging: Path, lock_file: int | None) -> None:
    """Remove a temporary folder, unless what is left of it is to be moved by the next process."""
    if staging.exists() and not _has_unmoved(staging):
        shutil.rmtree(staging, ignore_errors=True)
    _unfinished.discard(staging)
    if lock_file is not None:
        os.close(lock_file)


def _lock_folder(folder: Path) -> int | None:
    """Lock a folder while its process lives; None if it is locked, or cannot be."""
    if fcntl is None:  # pragma: no cover  (Windows)
        return None
    try:
        file = os.open(folder, os.O_RDONLY)
    except OSError:
        # It is gone by now, or another user's.
        return None
    # Some systems of files over a network cannot lock a folder.
    with contextlib.suppress(OSError):
        if lock(file):
            return file
    os.close(file)
    return None


@contextlib.contextmanager
def _abandoned(folder: Path) -> Iterator[bool]:
    """Yield whether a temporary folder's process was killed; no other one takes it meanwhile."""
    lock_file = _lock_folder(folder) if folder.is_dir() else None
    try:
        # The process that had locked it may have removed it in between.
        yield lock_file is not None and folder.exists()
    finally:
        if lock_file is not None:
            os.close(lock_file)


def _remove_abandoned(folder: Path) -> None:
    """Remove temporary folders whose process was killed, unless it was while it moved the files."""
    for left in folder.glob(f"{STAGING[0]}*{STAGING[1]}"):
        with _abandoned(left) as is_abandoned:
            if is_abandoned and not _has_unmoved(left):
                shutil.rmtree(left, ignore_errors=True)


def _finish_moves(folder: Path) -> None:
    """Move what a process that was killed while it moved files did not come to."""
    for left in folder.glob(f"{WHOLE}*{STAGING[1]}"):
        with _abandoned(left) as is_abandoned:
            if not is_abandoned:
                continue
            files = sorted(left.iterdir(), key=lambda file: (file.name == CARD, file.name))
            # Before any is moved: by its card a model is known as testsgd's own.
            for file in [file for file in files if _can_be_moved(file, folder)]:
                file.replace(folder / file.name)
            shutil.rmtree(left, ignore_errors=True)


def _can_be_moved(file: Path, folder: Path) -> bool:
    """Return whether the place of a file is free, or has a file of the same kind."""
    try:
        if not _is_own_format(file, folder):
            check_replaceable(folder / file.name, by=file)
    except ConfigurationError:
        return False
    return True


def _is_own_format(file: Path, folder: Path) -> bool:
    """Return whether a file is of a plugin's format, and its place in the folder of a result."""
    target = folder / file.name
    result = folder / "result.json"
    return (
        target.is_file()
        and kind_of_file(file) is None
        and result.is_file()
        and kind_of_file(result) is not None
    )


def write_text(target: Path, text: str) -> None:
    """Write `text` as UTF-8, whole or not at all.

    Parameters
    ----------
    target : pathlib.Path
        The file, as for :func:`atomic_path`.
    text : str
        Line ends are written as they are.

    Raises
    ------
    ConfigurationError
        As :func:`atomic_path`.
    UnicodeEncodeError
        If the text has half a surrogate pair; there is no file then.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = Path(folder) / "note.txt"
    ...     write_text(target, "größer")
    ...     target.read_text(encoding="utf-8")
    'größer'
    """
    write_stream(target, lambda stream: stream.write(text))


def write_bytes(target: Path, content: bytes) -> None:
    """Write bytes, whole or not at all.

    Parameters
    ----------
    target : pathlib.Path
        The file, as for :func:`atomic_path`.
    content : bytes

    Raises
    ------
    ConfigurationError
        As :func:`atomic_path`.
    """
    with atomic_path(target) as temporary:
        temporary.write_bytes(content)


def write_stream(target: Path, write: Callable[[TextIO], object]) -> None:
    """Call `write` with an open UTF-8 stream; the file appears whole or not at all.

    Parameters
    ----------
    target : pathlib.Path
        The file, as for :func:`atomic_path`.
    write : callable
        Takes a text stream and writes to it. Line ends are written as they are. What it returns is
        not used; what it raises passes, and there is no file then.

    Raises
    ------
    ConfigurationError
        As :func:`atomic_path`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = Path(folder) / "numbers.txt"
    ...     write_stream(target, lambda stream: stream.writelines(f"{n};" for n in range(3)))
    ...     target.read_text(encoding="utf-8")
    '0;1;2;'
    """
    with (
        atomic_path(target) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as stream,
    ):
        write(stream)


def discard_output(*streams: TextIO) -> None:
    """Let what is written to streams from now on go nowhere, as they have no reader any more.

    Parameters
    ----------
    *streams : text stream
        Open streams with a file number, such as ``sys.stdout``.

    Notes
    -----
    Python would try at its exit to write what is left, and fail. The number of each stream then
    stands for the null device; the stream object stays the same.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        os.dup2(nowhere, stream.fileno())


def open_streams() -> None:
    """Let what is written to a closed standard stream go nowhere, and nothing be read from one.

    Notes
    -----
    Python has None in the place of a stream that is closed when it starts. Its number would be that
    of the next file that is opened, and what a library prints would end up in that file. So
    ``sys.stdin``, ``sys.stdout`` and ``sys.stderr`` are set to streams of the null device where
    they are None. The others are left as they are.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        nowhere = os.open(os.devnull, os.O_RDONLY if number == 0 else os.O_WRONLY)
        if not _is_open(number):
            os.dup2(nowhere, number)
        # Held as long as the process lives, as Python's own streams are.
        mode = "r" if number == 0 else "w"
        setattr(sys, name, os.fdopen(nowhere, mode, encoding="utf-8", errors="replace"))


def _is_open(number: int) -> bool:
    """Return whether the process has a file open by a number."""
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def lock(file: int) -> bool:
    """Lock an open file until it is closed; return whether no other process has it locked.

    Parameters
    ----------
    file : int
        Number of an open file.

    Returns
    -------
    bool
        True if it is locked now; False if it was locked through another opening of the file. On
        Windows always True, without a lock.

    Raises
    ------
    OSError
        If the file system knows no locks.

    Notes
    -----
    It does not wait. The lock is advisory: only processes that ask for it are kept out.
    """
    if fcntl is None:  # pragma: no cover  (Windows)
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def locked(target: Path) -> Iterator[bool]:
    """Lock a file that is replaced as a whole, and yield whether no other process has it locked.

    Parameters
    ----------
    target : pathlib.Path
        The file, which need not be there.

    Yields
    ------
    bool
        Whether it is locked now, until the block ends; if not, another process has it locked.

    Raises
    ------
    ConfigurationError
        If the file beside it cannot be opened.

    Notes
    -----
    What is locked is a file beside it, with ``.lock`` behind its name, which is there only as long;
    after a crash it may be left, unlocked, and is used again.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = Path(folder) / "state.json"
    ...     with locked(target) as is_free:
    ...         [is_free, *(file.name for file in Path(folder).iterdir())]
    [True, 'state.json.lock']
    """
    beside = target.with_name(f"{target.name}.lock")
    file, free = _open_locked(beside)
    try:
        yield free
    finally:
        if free:
            # Before it is unlocked: afterwards it may be another's.
            beside.unlink(missing_ok=True)
        os.close(file)


def _open_locked(path: Path) -> tuple[int, bool]:
    while True:
        with writing_to(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        if not lock(file):
            return file, False
        with contextlib.suppress(FileNotFoundError):
            # Whoever had it locked may have removed it in between.
            if os.path.samestat(os.fstat(file), path.stat()):
                return file, True
        os.close(file)


def import_pyarrow() -> tuple[Any, Any]:
    """Import what writes Parquet, or say which extra brings it.

    Returns
    -------
    pa, pq : module
        ``pyarrow`` and ``pyarrow.parquet``.

    Raises
    ------
    MissingExtraError
        If pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("pyarrow", extra="parquet", purpose="writing Parquet") from error
    return pyarrow, pyarrow.parquet


def sha256_of_file(path: Path) -> str:
    """Return the sha256 of a file's bytes, in hexadecimal.

    Parameters
    ----------
    path : str or pathlib.Path
        The file, which is read piece by piece.

    Returns
    -------
    str
        64 digits, in lower case.

    Raises
    ------
    OSError
        If it is missing or cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     sha256_of_file(file.name)[:16]
    'e3b0c44298fc1c14'
    """
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

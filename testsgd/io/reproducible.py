"""Files that equal runs write alike: what differs between such runs is left out of them."""

from __future__ import annotations

import contextlib
import contextvars
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

# The earliest date that a ZIP archive can name.
_NO_DATE = (1980, 1, 1, 0, 0, 0)

_reproducible = contextvars.ContextVar("reproducible_files", default=False)


@contextlib.contextmanager
def reproducible_files() -> Iterator[None]:
    """Leave out of all files written within the block what differs between equal runs.

    That is when something was made and how long it took, the number of processors and the version
    of what only makes it faster; dates within archives are all the same.

    Examples
    --------
    >>> from testsgd.io import is_reproducible, reproducible_files
    >>> with reproducible_files():
    ...     is_reproducible()
    True
    """
    token = _reproducible.set(True)
    try:
        yield
    finally:
        _reproducible.reset(token)


def is_reproducible() -> bool:
    """Return whether files are written without what differs between equal runs.

    Returns
    -------
    bool
        True within :func:`reproducible_files`.
    """
    return _reproducible.get()


# What is written of a member of an archive, by its name and content: both.
Change = Callable[[str, bytes], tuple[str, bytes]]


def without_dates(archive: str | Path, change: Change | None = None) -> None:
    """Give all members of a ZIP archive the same date, in its place.

    Parameters
    ----------
    archive : str or pathlib.Path
        Other files stay as they are.
    change : callable, optional
        Returns the name and the content that a member gets, by those that it has; for archives
        whose members tell dates too, or places in memory.

    Examples
    --------
    >>> import tempfile, zipfile
    >>> from pathlib import Path
    >>> from testsgd.io import without_dates
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     archive = Path(folder) / "rates.zip"
    ...     with zipfile.ZipFile(archive, "w") as members:
    ...         members.writestr("rates", "0.5")
    ...     without_dates(archive)
    ...     with zipfile.ZipFile(archive) as members:
    ...         members.infolist()[0].date_time
    (1980, 1, 1, 0, 0, 0)
    """
    archive = Path(archive)
    if not zipfile.is_zipfile(archive):
        return
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix=".", suffix=".part") as folder:
        undated = Path(folder) / archive.name
        with zipfile.ZipFile(archive) as old, zipfile.ZipFile(undated, "w") as new:
            for member in old.infolist():
                _copy_member(old, new, member, change)
        undated.replace(archive)


def _copy_member(
    old: zipfile.ZipFile, new: zipfile.ZipFile, member: zipfile.ZipInfo, change: Change | None
) -> None:
    undated = zipfile.ZipInfo(member.filename, _NO_DATE)
    undated.compress_type = member.compress_type
    undated.external_attr = member.external_attr
    if change is not None:
        undated.filename, content = change(member.filename, old.read(member))
        new.writestr(undated, content)
        return
    # A shield may be large.
    with old.open(member) as source, new.open(undated, "w", force_zip64=True) as target:
        shutil.copyfileobj(source, target)

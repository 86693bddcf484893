"""Finding a data set's files: in the user's folder, in the cache, or on the network."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from testsgd.data.schema import DataFile, DatasetSpecification, FileVersion
from testsgd.errors import ConfigurationError, DownloadError
from testsgd.io import DAMAGED_ARCHIVE, read_member, sha256_of_file, write_bytes

if TYPE_CHECKING:
    from testsgd.data.text.schema import TextSpecification

HOME_VARIABLE = "TESTSGD_DATA_HOME"

_PACKAGE = Path(__file__).resolve().parent.parent


def bundled_folder(kind: str) -> Path:
    """Return the folder of what is shipped with the package.

    The wheel carries the folders inside the package; a checkout has them at its top.

    Parameters
    ----------
    kind : str
        ``"datasets"`` or ``"models"``.

    Returns
    -------
    pathlib.Path

    Examples
    --------
    >>> bundled_folder("datasets").name
    'datasets'
    """
    inside = _PACKAGE / "_bundled" / kind
    return inside if inside.is_dir() else _PACKAGE.parent / kind


def cache_folder() -> Path:
    """Return the folder in the user's cache into which data sets are downloaded.

    It need not exist. Each data set has a folder of its own in it, called by its name.

    Returns
    -------
    pathlib.Path
    """
    import pooch

    return Path(pooch.os_cache("testsgd"))


def candidate_folders(name: str, beside: Path | None = None) -> list[Path]:
    """Return the folders in which a data set's files are looked for, best first.

    `beside` is the folder of the description's own file, if it has one.
    """
    home = os.environ.get(HOME_VARIABLE)
    known = [
        folder / name for folder in ([Path(home).expanduser()] if home else []) + [cache_folder()]
    ]
    return known if beside is None else [*known, beside]


def find_files(
    specification: DatasetSpecification | TextSpecification, *, download: bool = True
) -> list[Path]:
    """Find a data set's files and check that they are the right ones.

    They are looked for in ``$TESTSGD_DATA_HOME/<name>/``, then in the user's cache, then beside the
    description, then downloaded into the cache. Of a file with alternatives, the first that is
    there is taken.

    Parameters
    ----------
    specification : DatasetSpecification or TextSpecification
        The data set.
    download : bool
        False: only look, never use the network.

    Returns
    -------
    list of pathlib.Path
        One path a file, in the order of the description.

    Raises
    ------
    DownloadError
        If a file is nowhere and cannot be downloaded, or is not the file described (its sha256
        differs). The message names the file, the address, the sha256 and the folder to put it in.
    """
    return [find_file(specification, file, download=download) for file in specification.files]


def find_file(
    specification: DatasetSpecification | TextSpecification,
    file: DataFile,
    *,
    download: bool = True,
) -> Path:
    """Find one file of a data set, as :func:`find_files` does."""
    name = specification.name
    for version in file.versions:
        if (path := _present(candidate_folders(name, specification.folder), version)) is not None:
            return path
    published = next((version for version in file.versions if version.url), None)
    if not download or published is None:
        raise _missing(name, published or file, "is in none of the folders")
    return _download(name, published)


def _present(folders: Sequence[Path], file: FileVersion) -> Path | None:
    """Return the first file of this name in the folders, checked; None if there is none."""
    for folder in folders:
        path = folder / file.name
        try:
            if not path.is_file():
                continue
            seen = sha256_of_file(path) if file.sha256 else None
        except OSError as error:
            raise DownloadError(
                f"the file cannot be read ({error.strerror})",
                where=str(path),
                remedy="check who may read it",
                file=file.name,
            ) from error
        if seen == file.sha256:
            return path
        raise DownloadError(
            f"the file is not the one described: its sha256 is {seen}, not {file.sha256}",
            where=str(path),
            remedy=f"replace it by the file from {file.url}, or remove it to have it downloaded"
            if file.url
            else "replace it by that file, or correct `sha256` in the description",
            file=file.name,
            sha256=file.sha256,
            seen=seen,
        )
    return None


def _download(name: str, file: FileVersion) -> Path:
    """Download a file of the data set `name` into the cache and return its path."""
    import pooch
    import requests

    folder = cache_folder() / name
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("WARNING")
    try:
        if file.member is None:
            expected = f"sha256:{file.sha256}" if file.sha256 else None
            pooch.retrieve(file.url, known_hash=expected, fname=file.name, path=folder)
        else:
            _download_member(file, file.member, folder)
    except (OSError, *DAMAGED_ARCHIVE, ConfigurationError) as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        if isinstance(error, requests.exceptions.ConnectionError):
            reason = "no connection"
        if isinstance(error, requests.exceptions.HTTPError) and error.response is not None:
            error.response.close()  # pooch leaves it open
        raise _missing(name, file, f"could not be downloaded ({reason})") from error
    finally:
        logger.setLevel(level)
    return folder / file.name


def _download_member(file: FileVersion, member: str, folder: Path) -> None:
    """Take one file out of a zip archive; only the member's own hash is known."""
    import pooch

    with tempfile.TemporaryDirectory() as scratch:
        archive = pooch.retrieve(file.url, known_hash=None, path=scratch)
        try:
            content = read_member(archive, member)
        except KeyError:
            raise ValueError(f"the archive has no {member!r}") from None
    seen = hashlib.sha256(content).hexdigest()
    if file.sha256 is not None and seen != file.sha256:
        raise ValueError(f"its sha256 is {seen}, not {file.sha256}")
    write_bytes(folder / file.name, content)


def _missing(name: str, file: FileVersion, what: str) -> DownloadError:
    folder = candidate_folders(name)[0]
    source = f"get it from {file.url}" if file.url else "get it"
    if file.member:
        source += f", take {file.member} out of the archive"
    checksum = f" (its sha256 is {file.sha256})" if file.sha256 else ""
    put = f"put it into {folder}{checksum}"
    if file.url is None:
        put = f"{put} or beside the description, or give it with --data"
    return DownloadError(
        f"the file {file.name!r} of the data set {name!r} {what}",
        remedy=f"{source} and {put}",
        file=file.name,
        url=file.url,
        sha256=file.sha256,
        folder=str(folder),
    )

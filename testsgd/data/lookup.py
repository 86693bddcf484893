"""Finding a data set's files: in the user's folder, in the cache, or on the network."""

from __future__ import annotations

import os
from pathlib import Path

from testsgd._files import sha256_of_file
from testsgd.data.schema import DataFile, DatasetSpecification
from testsgd.errors import DownloadError

HOME_VARIABLE = "TESTSGD_DATA_HOME"


def cache_folder() -> Path:
    """Give the folder in the user's cache into which data sets are downloaded."""
    import pooch

    return Path(pooch.os_cache("testsgd"))


def candidate_folders(name: str) -> list[Path]:
    """List the folders in which a data set's files are looked for, best first."""
    folders = []
    if home := os.environ.get(HOME_VARIABLE):
        folders.append(Path(home).expanduser() / name)
    folders.append(cache_folder() / name)
    return folders


def find_files(specification: DatasetSpecification, *, download: bool = True) -> list[Path]:
    """Find a data set's files and check that they are the right ones.

    They are looked for in ``$TESTSGD_DATA_HOME/<name>/``, then in the user's cache, then
    downloaded into the cache.

    Parameters
    ----------
    specification : DatasetSpecification
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
    return [_find(specification.name, file, download) for file in specification.files]


def _find(name: str, file: DataFile, download: bool) -> Path:
    for folder in candidate_folders(name):
        path = folder / file.name
        if path.is_file():
            _check(path, file)
            return path
    if not download or file.url is None:
        raise _missing(name, file, "is in none of the folders")
    return _download(name, file)


def _check(path: Path, file: DataFile) -> None:
    if file.sha256 is None:
        return
    seen = sha256_of_file(path)
    if seen != file.sha256:
        raise DownloadError(
            f"the file is not the one described: its sha256 is {seen}, not {file.sha256}",
            where=str(path),
            remedy="replace it by the published file, or remove it to have it downloaded",
            file=file.name,
            sha256=file.sha256,
            seen=seen,
        )


def _download(name: str, file: DataFile) -> Path:
    import pooch
    import requests

    folder = cache_folder() / name
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("WARNING")
    try:
        if file.member is None:
            pooch.retrieve(
                file.url,
                known_hash=f"sha256:{file.sha256}" if file.sha256 else None,
                fname=file.name,
                path=folder,
            )
        else:
            _download_member(file, folder)
    except (requests.exceptions.RequestException, OSError, ValueError, KeyError) as error:
        raise _missing(name, file, f"could not be downloaded ({_reason(error)})") from error
    finally:
        logger.setLevel(level)
    return folder / file.name


def _download_member(file: DataFile, folder: Path) -> None:
    """Take one file out of a zip archive; only the member's own hash is known."""
    import tempfile

    import pooch

    with tempfile.TemporaryDirectory() as scratch:
        paths = pooch.retrieve(
            file.url,
            known_hash=None,
            path=scratch,
            processor=pooch.Unzip(members=[file.member]),
        )
        extracted = Path(paths[0])
        _check(extracted, file)
        folder.mkdir(parents=True, exist_ok=True)
        partial = folder / f".{file.name}.part"
        partial.write_bytes(extracted.read_bytes())
        partial.replace(folder / file.name)


def _missing(name: str, file: DataFile, what: str) -> DownloadError:
    folder = candidate_folders(name)[0]
    checksum = f" (sha256 {file.sha256})" if file.sha256 else ""
    source = f"get it from {file.url}{checksum}" if file.url else f"get it{checksum}"
    if file.member:
        source += f", take {file.member} out of the archive"
    return DownloadError(
        f"the file {file.name!r} of the data set {name!r} {what}",
        remedy=f"{source} and put it into {folder}",
        file=file.name,
        url=file.url,
        sha256=file.sha256,
        folder=str(folder),
    )


def _reason(error: Exception) -> str:
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    return "no network" if "resolve" in text or "Max retries" in text else text[:200]

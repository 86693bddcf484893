"""Finding files: in the user's folder, then in the cache; never the wrong file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
from plain_description import HEADER, description

from testsgd.data import (
    DatasetSpecification,
    cache_folder,
    find_files,
    load_specification,
    load_table,
)
from testsgd.data.lookup import HOME_VARIABLE, candidate_folders
from testsgd.data.text import load_texts
from testsgd.errors import DownloadError, ParameterError

CONTENT = (HEADER + "female,20,0.5,yes\nmale,30,0.5,no\n").encode()
SHA256 = hashlib.sha256(CONTENT).hexdigest()
URL = "https://data.example/loans.csv"


def loans(**file: Any) -> DatasetSpecification:
    """Describe loans in one file."""
    return description(files=[{"name": "loans.csv", "url": URL, "sha256": SHA256, **file}])


def put(folder: Path, content: bytes = CONTENT) -> Path:
    """Put the file of the loans where a data set's files are looked for."""
    path = folder / "loans" / "loans.csv"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return path


def test_the_users_folder_comes_before_the_cache(home: Path, cache: Path) -> None:
    assert candidate_folders("loans") == [home / "loans", cache / "loans"]
    in_cache = put(cache)
    assert find_files(loans(), download=False) == [in_cache]
    in_home = put(home)
    assert find_files(loans(), download=False) == [in_home]


@pytest.mark.parametrize("value", [None, ""])
def test_without_the_users_folder_there_is_the_cache(
    cache: Path, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.delenv(HOME_VARIABLE, raising=False)
    if value is not None:
        monkeypatch.setenv(HOME_VARIABLE, value)
    assert cache_folder() == cache
    assert candidate_folders("loans") == [cache / "loans"]


def test_a_tilde_is_the_users_home(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv(HOME_VARIABLE, "~/sets")
    assert candidate_folders("loans")[0] == tmp_path / "sets" / "loans"


def test_several_files_are_found_in_the_order_of_the_description(home: Path, cache: Path) -> None:
    names = ["b.csv", "a.csv"]
    for folder, name in zip((home, cache), names, strict=True):
        (folder / "loans").mkdir(parents=True)
        (folder / "loans" / name).write_bytes(CONTENT)
    specification = description(files=[{"name": name, "sha256": SHA256} for name in names])
    assert find_files(specification, download=False) == [
        home / "loans" / "b.csv",
        cache / "loans" / "a.csv",
    ]


@pytest.mark.parametrize("place", ["home", "cache"])
def test_a_file_with_another_sha256_is_refused(home: Path, cache: Path, place: str) -> None:
    other = CONTENT.replace(b"20", b"21")
    path = put(home if place == "home" else cache, other)
    with pytest.raises(DownloadError) as caught:
        find_files(loans())
    error = caught.value
    seen = hashlib.sha256(other).hexdigest()
    assert error.where == str(path)
    assert seen in error.what
    assert SHA256 in error.what
    assert URL in error.remedy
    assert error.details == {"file": "loans.csv", "sha256": SHA256, "seen": seen}
    assert path.read_bytes() == other, "the user's file is left alone"


def test_without_a_sha256_any_file_is_taken(home: Path, cache: Path) -> None:
    path = put(home, b"anything")
    assert find_files(description(files=[{"name": "loans.csv"}])) == [path]


def test_a_file_that_is_nowhere_is_not_downloaded_if_told_so(
    home: Path, cache: Path, no_network: Callable[[], list[str]]
) -> None:
    with pytest.raises(DownloadError, match="is in none of the folders") as caught:
        find_files(loans(), download=False)
    assert no_network() == []
    assert caught.value.details == {
        "file": "loans.csv",
        "url": URL,
        "sha256": SHA256,
        "folder": str(home / "loans"),
    }


def test_a_file_without_an_address_cannot_be_downloaded(
    home: Path, cache: Path, no_network: Callable[[], list[str]]
) -> None:
    with pytest.raises(DownloadError) as caught:
        find_files(description(files=[{"name": "loans.csv"}]))
    assert "'loans.csv'" in caught.value.what
    assert str(home / "loans") in caught.value.remedy
    assert "--data" in caught.value.remedy
    assert no_network() == []


def test_a_file_beside_the_description_is_found(home: Path, tmp_path: Path) -> None:
    described = description(files=[{"name": "loans.csv"}]).in_folder(tmp_path)
    (tmp_path / "loans.csv").write_text("a\n1\n")
    assert find_files(described) == [tmp_path / "loans.csv"]
    # Where a description is does not change what it says.
    assert described == description(files=[{"name": "loans.csv"}])


@pytest.mark.parametrize("member", [False, True])
def test_without_network_one_line_says_what_to_do(
    home: Path, cache: Path, no_network: Callable[[], list[str]], member: bool
) -> None:
    extra = {"member": "in/loans.csv"} if member else {}
    with pytest.raises(DownloadError) as caught:
        find_files(loans(**extra))
    take = ", take in/loans.csv out of the archive" if member else ""
    assert str(caught.value) == (
        "the file 'loans.csv' of the data set 'loans' could not be downloaded (no connection); "
        f"get it from {URL}{take} and put it into {home / 'loans'} (its sha256 is {SHA256})"
    )
    assert no_network() == [URL]


@pytest.mark.parametrize("name", ["bank", "census", "compas", "credit", "crime", "law"])
def test_without_network_every_data_set_of_the_catalogue_says_what_to_do(
    home: Path, cache: Path, no_network: Callable[[], list[str]], name: str
) -> None:
    specification = load_specification(name)
    with pytest.raises(DownloadError) as caught:
        load_table(specification)
    message, file = str(caught.value), specification.files[0]
    assert len(message.splitlines()) == 1
    assert all(str(part) in message for part in (file.name, file.url, file.sha256, home / name))


@pytest.mark.parametrize("name", ["imdb", "tweets", "wiki", "wikitalk"])
def test_without_network_texts_of_the_catalogue_say_what_to_do_too(
    home: Path, cache: Path, no_network: Callable[[], list[str]], name: str
) -> None:
    specification = load_specification(name)
    with pytest.raises(DownloadError) as caught:
        load_texts(specification)
    message, file = str(caught.value), specification.files[0]
    assert len(message.splitlines()) == 1
    assert all(str(part) in message for part in (file.name, file.url, home / name))
    assert file.sha256 is None or file.sha256 in message


def test_a_file_that_may_not_be_read_is_named(
    home: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Root may read everything, so the refusal is played.
    def refuse(_: Path) -> NoReturn:
        raise PermissionError(13, "Permission denied")

    path = put(home)
    monkeypatch.setattr("testsgd.data.lookup.sha256_of_file", refuse)
    with pytest.raises(DownloadError, match="Permission denied") as caught:
        find_files(loans())
    assert caught.value.where == str(path)


def test_a_table_is_loaded_from_the_file_found(home: Path, cache: Path) -> None:
    put(home)
    table = load_table(loans(), download=False)
    assert len(table) == 2
    assert table.source == "loans.csv"
    assert table.frame["age"].tolist() == [20, 30]


def alternatives() -> DatasetSpecification:
    """Describe loans in one file that is published packed and may lie there otherwise packed."""
    others = [{"name": "loans.xz", "sha256": SHA256}, {"name": "loans.zst"}]
    return loans(name="loans.gz", alternatives=others)


def put_version(folder: Path, name: str, content: bytes = CONTENT) -> Path:
    path = put(folder, content)
    return path.rename(path.with_name(name))


@pytest.mark.parametrize("name", ["loans.gz", "loans.xz", "loans.zst"])
@pytest.mark.parametrize("place", ["home", "cache"])
def test_any_alternative_will_do(home: Path, cache: Path, name: str, place: str) -> None:
    path = put_version(home if place == "home" else cache, name)
    assert find_files(alternatives()) == [path]


def test_the_first_alternative_that_is_there_is_taken(home: Path, cache: Path) -> None:
    last = put_version(home, "loans.zst")
    last.with_name("loans.xz").write_bytes(CONTENT)
    assert find_files(alternatives()) == [last.with_name("loans.xz")]


def test_an_alternative_has_a_sha256_of_its_own(home: Path, cache: Path) -> None:
    path = put_version(home, "loans.xz", b"other")
    with pytest.raises(DownloadError, match="the file is not the one described") as caught:
        find_files(alternatives())
    assert caught.value.where == str(path)
    path.rename(path.with_name("loans.zst"))
    assert find_files(alternatives()) == [path.with_name("loans.zst")], "without one, any will do"


def test_if_no_alternative_is_there_the_published_one_is_named(
    home: Path, cache: Path, no_network: Callable[[], list[str]]
) -> None:
    for download, asked in ((False, []), (True, [URL])):
        with pytest.raises(DownloadError, match=r"'loans\.gz'") as caught:
            find_files(alternatives(), download=download)
        assert caught.value.details["url"] == URL
        assert no_network() == asked


def test_another_file_may_be_given_instead(tmp_path: Path, home: Path, cache: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(CONTENT)
    assert load_table(loans(), file=path).source == str(path)


def test_a_data_set_without_files_needs_one(home: Path, cache: Path) -> None:
    with pytest.raises(ParameterError, match="'loans' names no files"):
        load_table(description())

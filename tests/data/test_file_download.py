"""Downloading from a server of this machine: the right file, whole, or one clear line."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path
from typing import Any

import pooch
import pytest
from plain_description import HEADER, description

from testsgd.data import DatasetSpecification, find_files
from testsgd.errors import DownloadError

CONTENT = (HEADER + "female,20,0.5,yes\nmale,30,0.5,no\n").encode()
SHA256 = hashlib.sha256(CONTENT).hexdigest()

pytestmark = pytest.mark.usefixtures("home")


def loans(url: str, **file: Any) -> DatasetSpecification:
    return description(files=[{"name": "loans.csv", "url": url, "sha256": SHA256, **file}])


def archive(**members: bytes) -> bytes:
    """Make a zip archive; in names, two underscores stand for a slash, one for a dot."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in members.items():
            written.writestr(name.replace("__", "/").replace("_", "."), content)
    return stream.getvalue()


def files_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def failure(specification: DatasetSpecification) -> str:
    """Give the one line that says why a download failed."""
    with pytest.raises(DownloadError) as caught:
        find_files(specification)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def test_a_file_is_downloaded_once_into_the_cache(site: Any, cache: Path) -> None:
    specification = loans(site.put("loans.csv", CONTENT))
    for _ in range(2):
        assert find_files(specification) == [cache / "loans" / "loans.csv"]
    assert (cache / "loans" / "loans.csv").read_bytes() == CONTENT
    assert site.asked == ["/loans.csv"]


def test_a_file_without_known_sha256_is_downloaded_quietly(
    site: Any, cache: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    level = pooch.get_logger().level
    find_files(loans(site.put("loans.csv", CONTENT), sha256=None))
    assert files_below(cache) == ["loans/loans.csv"]
    assert capfd.readouterr() == ("", "")
    assert pooch.get_logger().level == level


def test_the_wrong_file_is_not_kept(site: Any, cache: Path) -> None:
    url = site.put("loans.csv", b"a page of an hotel's network")
    message = failure(loans(url))
    assert "could not be downloaded (SHA256 hash of downloaded file (loans.csv)" in message
    assert url in message
    assert files_below(cache) == []


def test_a_file_that_the_server_does_not_have(site: Any, cache: Path) -> None:
    message = failure(loans(site.address("nothing.csv")))
    assert "404 Client Error" in message
    assert files_below(cache) == []


def test_a_server_that_is_not_there(site: Any, cache: Path) -> None:
    # Port 9 of this machine: nothing listens to it.
    message = failure(loans("http://127.0.0.1:9/loans.csv"))
    assert "could not be downloaded (no connection)" in message
    assert files_below(cache) == []


def test_an_address_that_is_none(site: Any, cache: Path) -> None:
    assert "Unrecognized URL protocol" in failure(loans("carrier-pigeon://loans.csv"))


def test_a_member_is_taken_out_of_an_archive(site: Any, cache: Path) -> None:
    content = archive(in__loans_csv=CONTENT, in__loans_csv_old=b"old", loans_csv=b"another")
    specification = loans(site.put("all.zip", content), member="in/loans.csv")
    for _ in range(2):
        assert find_files(specification) == [cache / "loans" / "loans.csv"]
    assert (cache / "loans" / "loans.csv").read_bytes() == CONTENT
    assert files_below(cache) == ["loans/loans.csv"], "the archive itself is not kept"
    assert site.asked == ["/all.zip"]


def test_a_member_without_known_sha256_is_taken_as_it_is(site: Any, cache: Path) -> None:
    url = site.put("all.zip", archive(loans_csv=b"anything"))
    find_files(loans(url, member="loans.csv", sha256=None))
    assert (cache / "loans" / "loans.csv").read_bytes() == b"anything"


def test_a_member_with_another_sha256_is_not_kept(site: Any, cache: Path) -> None:
    url = site.put("all.zip", archive(loans_csv=b"another"))
    message = failure(loans(url, member="loans.csv"))
    assert f"its sha256 is {hashlib.sha256(b'another').hexdigest()}, not {SHA256}" in message
    assert f"get it from {url}, take loans.csv out of the archive" in message
    assert files_below(cache) == []


@pytest.mark.parametrize("member", ["loans.csv", "in", "in/", "in/loans"])
def test_a_member_that_the_archive_does_not_have(site: Any, cache: Path, member: str) -> None:
    url = site.put("all.zip", archive(in__loans_csv=CONTENT))
    message = failure(loans(url, member=member))
    assert f"(the archive has no {member!r})" in message
    assert files_below(cache) == []


def test_a_page_instead_of_the_archive(site: Any, cache: Path) -> None:
    url = site.put("all.zip", b"<html>please log in</html>")
    assert "File is not a zip file" in failure(loans(url, member="loans.csv"))
    assert files_below(cache) == []


def test_a_damaged_archive(site: Any, cache: Path) -> None:
    content = bytearray(archive(loans_csv=CONTENT * 50))
    content[60:70] = b"\xff" * 10
    message = failure(loans(site.put("all.zip", bytes(content)), member="loans.csv"))
    assert "could not be downloaded" in message
    assert files_below(cache) == []


def test_a_cache_that_cannot_be_written_to(site: Any, cache: Path) -> None:
    cache.parent.mkdir(parents=True)
    cache.write_text("a file where a folder should be")
    plain = loans(site.put("loans.csv", CONTENT))
    packed = loans(site.put("all.zip", archive(loans_csv=CONTENT)), member="loans.csv")
    for specification in (plain, packed):
        assert "could not be downloaded" in failure(specification)

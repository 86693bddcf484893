"""Arrays come back as they were; archives that claim too much are not unpacked."""

from __future__ import annotations

import io
import re
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from testsgd.io import (
    DAMAGED_TAR,
    TooLargeError,
    UnsuitableFileError,
    file_memory,
    is_archive,
    member_of,
    open_archive,
    read_arrays,
    read_member,
    read_tar,
    with_members,
    write_arrays,
)

ARRAYS = arrays_of.arrays(
    dtype=st.sampled_from(["u1", "<i8", "<f4", "<f8", "?", "<U3"]),
    shape=arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)


@given(array=ARRAYS, compressed=st.booleans(), transposed=st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_arrays_come_back(
    tmp_path: Path, array: np.ndarray, compressed: bool, transposed: bool
) -> None:
    path = tmp_path / "arrays.npz"
    array = array.T if transposed else array
    (np.savez_compressed if compressed else np.savez)(path, first=array, second=np.arange(3))
    read = read_arrays(path)
    assert list(read) == ["first", "second"]
    assert read["first"].dtype == array.dtype
    np.testing.assert_array_equal(read["first"], array)


def with_member(path: Path, content: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", content)
    return path


def npy(array: np.ndarray, *, shape: tuple[int, ...] | None = None) -> bytes:
    stream = io.BytesIO()
    header = np.lib.format.header_data_from_array_1_0(array)
    np.lib.format.write_array_header_1_0(stream, {**header, "shape": shape or array.shape})
    return stream.getvalue() + array.tobytes()


@pytest.mark.parametrize("shape", [(10**12,), (2**63, 2**63), (-1,), (3,), (0,)])
def test_a_header_must_fit_its_bytes(tmp_path: Path, shape: tuple[int, ...]) -> None:
    path = with_member(tmp_path / "a.npz", npy(np.arange(4), shape=shape))
    with pytest.raises(ValueError, match=r"a\.npy"):
        read_arrays(path)


@pytest.mark.parametrize("shape", [b"(3,   ", b"(((3,)", b"3 3   ", b"{[]:1}", b"-'a'  "])
def test_a_header_that_is_no_python_is_refused(tmp_path: Path, shape: bytes) -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.arange(3.0))
    content = buffer.getvalue()
    place = content.index(b"(3,), }")
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("a.npy", content[:place] + shape + content[place + len(shape) :])
    with pytest.raises((ValueError, zipfile.BadZipFile)):
        read_arrays(tmp_path / "a.npz")


def test_python_objects_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, a=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="objects"):
        read_arrays(path)


def test_what_unpacks_to_too_much_is_refused_before(tmp_path: Path) -> None:
    path = with_member(tmp_path / "a.npz", npy(np.zeros(2**20)))
    assert path.stat().st_size < 2**15
    assert read_arrays(path)["a"].size == 2**20
    with file_memory(2**20):
        with pytest.raises(UnsuitableFileError):
            read_arrays(path)
        with pytest.raises(UnsuitableFileError), open_archive(path):
            pass


@pytest.mark.parametrize("kept", [0, 10, 100])
def test_what_is_no_archive_or_cut_off(tmp_path: Path, kept: int) -> None:
    path = with_member(tmp_path / "a.npz", npy(np.arange(100)))
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(zipfile.BadZipFile):
        read_arrays(path)


def test_a_damaged_member_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", npy(np.arange(100)))
    content = bytearray(path.read_bytes())
    content[500] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(zipfile.BadZipFile):
        read_arrays(path)


@pytest.mark.parametrize("compressed", [False, True])
def test_written_arrays_are_those_that_numpy_reads(tmp_path: Path, compressed: bool) -> None:
    path = tmp_path / "a.npz"
    arrays = {"first": np.arange(6).reshape(2, 3).T, "notes": np.array("a text")}
    write_arrays(path, arrays, compressed=compressed)
    with np.load(path) as loaded:
        assert list(loaded) == list(arrays)
        for name, array in arrays.items():
            np.testing.assert_array_equal(loaded[name], array)
    assert list(tmp_path.iterdir()) == [path]


def test_arrays_of_objects_leave_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        write_arrays(tmp_path / "a.npz", {"a": np.array([{}], dtype=object)})
    assert not list(tmp_path.iterdir())


def two_members(path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("small", b"abc")
        archive.writestr("large", bytes(2**20))
    return path


def test_a_member_is_read_within_its_bound(tmp_path: Path) -> None:
    path = two_members(tmp_path / "a.zip")
    assert is_archive(path)
    assert read_member(path, "small") == b"abc"
    assert read_member(path, "small", at_most=3) == b"abc"
    assert member_of(path.read_bytes(), "small") == b"abc"
    with pytest.raises(KeyError):
        read_member(path, "none")
    with pytest.raises(TooLargeError):
        read_member(path, "small", at_most=2)
    with file_memory(2**19):
        with pytest.raises(TooLargeError):
            read_member(path, "small")
        with pytest.raises(TooLargeError):
            member_of(path.read_bytes(), "small")
        # A bound of its own is for a member alone.
        assert read_member(path, "small", at_most=3) == b"abc"


def test_members_are_replaced_where_they_stand(tmp_path: Path) -> None:
    content = two_members(tmp_path / "a.zip").read_bytes()
    changed = with_members(content, {"small": b"other", "none": b""})
    with zipfile.ZipFile(io.BytesIO(changed)) as archive:
        assert archive.namelist() == ["small", "large"]
        assert archive.read("small") == b"other"
        assert archive.read("large") == bytes(2**20)


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz", "w:bz2"])
def test_a_tar_archive_gives_what_is_wanted_and_a_cut_one_fails(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, mode) as archive:
        for name in ("b/1.txt", "b/2.csv", "a/3.txt"):
            member = tarfile.TarInfo(name)
            member.size = 2_000
            archive.addfile(member, io.BytesIO(name[2:3].encode() * 2_000))
    wanted = re.compile(r"./(\d)\.txt")
    read = [(match[1], content) for match, content in read_tar(path, wanted)]
    assert read == [("1", b"1" * 2_000), ("3", b"3" * 2_000)]
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 3])
    with pytest.raises((OSError, *DAMAGED_TAR)):
        list(read_tar(path, wanted))

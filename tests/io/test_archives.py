"""Arrays come back as they were; archives that claim too much are not unpacked."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from testsgd.io import UnsuitableFileError, file_memory, open_archive, read_arrays

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

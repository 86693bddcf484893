"""Compressed files and streams are held to the limits of plain files, before they are parsed."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import tempfile
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import testsgd
from testsgd.data.cells import MOST_COLUMNS, read_cells
from testsgd.data.frames import read_frame
from testsgd.data.schema import CellParsing
from testsgd.errors import DataError
from testsgd.io import file_memory, plain_file


def by_zstandard(content: bytes) -> bytes:
    pa = pytest.importorskip("pyarrow")
    return pa.compress(content, codec="zstd", asbytes=True)


def zipped(content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rows.csv", content)
    return stream.getvalue()


COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zip": zipped,
    ".zst": by_zstandard,
}
ROWS = b"a,b,p\n" + b"1,2,yes\n" * 20
LONG = {
    "line": ROWS + b"," * 200_000 + b"\n",
    "columns": b",".join(b"c%d" % number for number in range(MOST_COLUMNS + 2)) + b"\n1\n",
}


@pytest.fixture
def temporary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own for temporary files."""
    path = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    return path


@pytest.mark.parametrize("ending", COMPRESSED)
def test_rows_are_those_of_the_plain_file(ending: str, tmp_path: Path, temporary: Path) -> None:
    plain, packed = tmp_path / "rows.csv", tmp_path / f"rows.csv{ending}"
    plain.write_bytes(ROWS)
    packed.write_bytes(COMPRESSED[ending](ROWS))
    pd.testing.assert_frame_equal(read_frame(packed), read_frame(plain))
    cells = read_cells(packed, CellParsing(), compressed=True)
    pd.testing.assert_frame_equal(cells, read_cells(plain, CellParsing()))
    assert not list(temporary.iterdir())


@pytest.mark.parametrize("content", LONG.values(), ids=LONG)
@pytest.mark.parametrize("ending", COMPRESSED)
def test_too_many_cells(ending: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"rows.csv{ending}"
    path.write_bytes(COMPRESSED[ending](content))
    for read in (read_frame, lambda path: read_cells(path, CellParsing(), compressed=True)):
        with pytest.raises(DataError) as caught:
            read(path)
        assert str(path) in str(caught.value)
        assert f"{MOST_COLUMNS:,}" in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "ending"), [(".csv", ending) for ending in COMPRESSED] + [(".jsonl", ".gz")]
)
def test_what_unpacks_to_too_much(kind: str, ending: str, tmp_path: Path, temporary: Path) -> None:
    path = tmp_path / f"rows{kind}{ending}"
    path.write_bytes(COMPRESSED[ending](bytes(65 * 2**20)))
    with pytest.raises(DataError, match="unpacks"):
        read_frame(path)
    path.write_bytes(COMPRESSED[ending](ROWS * 10_000))
    with file_memory(2**20), pytest.raises(DataError, match="--max-file-memory"):
        read_frame(path)
    assert not list(temporary.iterdir())


@pytest.mark.parametrize("ending", COMPRESSED)
def test_damaged_and_cut_off(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows.csv{ending}"
    whole = COMPRESSED[ending](ROWS * 1000)
    for content in (b"", b"no such thing", whole[: len(whole) // 2], whole[:12]):
        path.write_bytes(content)
        for read in (read_frame, lambda path: read_cells(path, CellParsing(), compressed=True)):
            with pytest.raises(DataError) as caught:
                read(path)
            assert "None" not in str(caught.value)


def test_an_archive_of_several_files(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("one.csv", ROWS)
        archive.writestr("two.csv", ROWS)
    with pytest.raises(DataError, match="2 files"):
        read_frame(path)


def streamed(content: bytes, read: Callable[[Path], object]) -> object:
    """Return what is read of a stream, as a shell gives one."""
    source, target = os.pipe()

    def write() -> None:
        with os.fdopen(target, "wb") as stream, contextlib.suppress(BrokenPipeError):
            stream.write(content)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        return read(Path(f"/dev/fd/{source}"))
    finally:
        os.close(source)
        writer.join()


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no streams of a shell")
def test_streams(tmp_path: Path) -> None:
    def cells(path: Path) -> pd.DataFrame:
        return read_cells(path, CellParsing())

    many = ROWS + b"3,4,no\n" * 100_000
    plain = tmp_path / "rows.csv"
    plain.write_bytes(many)
    read = streamed(many, cells)
    assert isinstance(read, pd.DataFrame)
    pd.testing.assert_frame_equal(read, cells(plain))
    for content in LONG.values():
        with pytest.raises(DataError) as caught:
            streamed(content, cells)
        assert "/dev/fd/" in str(caught.value)
    with file_memory(2**16), pytest.raises(DataError):
        streamed(many, cells)


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no streams of a shell")
def test_an_audit_of_a_stream(tmp_path: Path) -> None:
    people = testsgd.generate_demo(seed=1, rows=3_000)
    file = tmp_path / "people.csv"
    people.to_csv(file, index=False)
    of_file = testsgd.audit(None, file, "demo").summary
    of_stream = streamed(file.read_bytes(), lambda path: testsgd.audit(None, path, "demo").summary)
    assert of_stream.groups == of_file.groups


def test_a_plain_file_is_itself(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(ROWS)
    with plain_file(path, compressed=False) as plain:
        assert plain == path


def test_other_rooms_files_of_many_columns(tmp_path: Path) -> None:
    from testsgd.generative.outputs import _read_file

    path = tmp_path / "rows.csv"
    path.write_bytes(LONG["columns"])
    examples = Path(__file__).resolve().parents[2] / "examples"
    with pytest.raises(DataError, match=f"{MOST_COLUMNS:,}"):
        _read_file(path)
    with pytest.raises(DataError, match=f"{MOST_COLUMNS:,}"):
        testsgd.monitor(examples / "monitors" / "loans-demographic-parity.toml", path)

"""Files are read whole and bounded, and documents are refused in one way."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd.io import (
    DEEPEST,
    UnsuitableFileError,
    check_regular,
    loads_json,
    loads_toml,
    read_beginning,
    read_bytes,
    read_lines,
    read_text,
    read_text_beginning,
)

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(VALUES)
def test_what_is_sound_is_read_as_by_the_standard_library(value: Any) -> None:
    assert loads_json(json.dumps(value)) == value
    assert loads_json(json.dumps(value).encode()) == value


@pytest.mark.parametrize("depth", [1, DEEPEST - 1, DEEPEST, DEEPEST + 1, 1_000, 200_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_depth_is_bounded(depth: int, opening: str, closing: str) -> None:
    text = opening * depth + "1" + closing * depth
    if depth <= DEEPEST:
        assert loads_json(text) == json.loads(text)
    else:
        with pytest.raises(ValueError, match=str(DEEPEST)):
            loads_json(text)


def test_brackets_within_texts_are_no_depth() -> None:
    text = json.dumps(["[{" * 500, {"a.b": "[" * 500}])
    assert loads_json(text) == json.loads(text)


@pytest.mark.parametrize("half", [r"\ud800", r"\uDBFF", r"\udc00", r"\ude00\ud83d"])
@pytest.mark.parametrize("place", ['["%s"]', '{"a": {"%s": 1}}', '["whole", "a%sb"]'])
def test_half_of_a_character_is_refused(half: str, place: str) -> None:
    with pytest.raises(ValueError, match="character"):
        loads_json(place % half)


def test_half_of_a_character_may_be_allowed_for_what_is_passed_on() -> None:
    assert loads_json(r'"\ud800"', half_characters=True) == "\ud800"


def test_characters_written_in_two_halves_and_words_like_halves_are_read() -> None:
    text = r'["\ud83d\ude00", "\\ud800"]'
    assert loads_json(text) == ["\N{GRINNING FACE}", r"\ud800"]


@pytest.mark.parametrize("digits", [400, 4_000, 6_000])
def test_whole_numbers_that_no_float_holds_are_refused(digits: int) -> None:
    number = "9" * digits
    for text in (number, f"-{number}", f'{{"a": [1, {number}]}}'):
        with pytest.raises(ValueError, match=r"."):
            loads_json(text)
    with pytest.raises(ValueError, match=r"."):
        loads_toml(f"a = {{ b = [{number}] }}")
    assert loads_json(f'["{number}"]') == [number]


def test_toml_is_read_as_by_the_standard_library() -> None:
    text = 'a = [1, 2]\n[b]\nc = "[["\nd = 0.1\n'
    assert loads_toml(text) == tomllib.loads(text)
    for deep in ("a = " + "[" * 5_000, "a = " + "[" * 200 + "]" * 200, f"{'a.' * 500}b = 1"):
        with pytest.raises(ValueError, match=r"."):
            loads_toml(deep)


def test_devices_pipes_and_folders_are_not_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (Path("/dev/zero"), pipe):
        for read in (read_bytes, read_text, check_regular):
            with pytest.raises(UnsuitableFileError):
                read(path)
    with pytest.raises(IsADirectoryError):
        read_bytes(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_bytes(tmp_path / "missing")


def test_no_more_is_read_than_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_bytes(path, at_most=5) == b"12345"
    with pytest.raises(UnsuitableFileError):
        read_bytes(path, at_most=4)


def test_what_a_shell_hands_over_is_read() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"a\r\nb")
    os.close(writing)
    try:
        assert read_text(f"/dev/fd/{reading}") == "a\nb"
    finally:
        os.close(reading)


def test_beginnings_and_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("ä1\r\nb\x00\nlast".encode())
    assert read_beginning(path, 3) == "ä1".encode()
    assert read_beginning(path, 100) == path.read_bytes()
    assert read_text_beginning(path, 2, encoding="utf-8") == "ä1"
    assert list(read_lines(path)) == ["ä1\r\n".encode(), b"b\x00\n", b"last"]
    with pytest.raises(UnicodeError):
        read_text_beginning(path, 2, encoding="utf-16")


def test_beginnings_and_lines_are_of_files_only(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for read in (
        lambda path: read_beginning(path, 1),
        lambda path: read_text_beginning(path, 1, encoding="utf-8"),
        lambda path: list(read_lines(path)),
    ):
        with pytest.raises(UnsuitableFileError):
            read(pipe)
        with pytest.raises(FileNotFoundError):
            read(tmp_path / "none")


def test_numbers_of_thousands_of_digits_name_no_function_of_python() -> None:
    for load, text in ((loads_json, f"[{'1' * 5_000}]"), (loads_toml, f"a = {'1' * 5_000}")):
        with pytest.raises(ValueError, match="digits") as refused:
            load(text)
        assert "sys." not in str(refused.value)

"""Texts in the columns of files: letter by letter, with labels, parts and keys."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_texts import comments

from testsgd.data.text import Texts, load_texts
from testsgd.errors import DataError, DownloadError, ParameterError


def read(folder: Path, content: str | bytes, **parts: Any) -> Texts:
    """Write a file and read it as the description says."""
    path = folder / "mine.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return load_texts(comments(**parts), file=path)


def put(home: Path, **contents: str) -> None:
    """Put files where those of the comments are looked for."""
    (home / "comments").mkdir(exist_ok=True)
    for name, content in contents.items():
        (home / "comments" / f"{name}.csv").write_text(content, encoding="utf-8")


def labels_of(texts: Texts) -> list[str]:
    assert texts.labels is not None
    return list(texts.labels)


def test_texts_and_labels(tmp_path: Path) -> None:
    rows = 'id,comment,rude\n1," a, ""b"" ",rude\n2,c , fine \n3,,fine\n4,NA,rude\n'
    texts = read(tmp_path, rows)
    assert texts.texts == (' a, "b" ', "c ", "", "NA")
    assert labels_of(texts) == ["rude", "fine", "fine", "rude"]
    assert texts.parts is texts.clusters is texts.training_only is None
    assert texts.notes == ("1 text is empty or blank",)
    assert texts.source == str(tmp_path / "mine.csv")


def test_without_a_column_of_labels_there_are_none(tmp_path: Path) -> None:
    assert read(tmp_path, "comment\na\nb\n").labels is None


@pytest.mark.parametrize("separator", [",", "\t", ";", "|"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    texts=st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=1
    )
)
def test_texts_are_read_back_letter_by_letter(
    tmp_path: Path, texts: list[str], separator: str, quoting: int
) -> None:
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=separator, quoting=quoting)
    writer.writerows([["rude", "comment"], *(["rude", text] for text in texts), ["fine", "x"]])
    parse = {"separator": separator}
    found = read(tmp_path, stream.getvalue(), parse=parse)
    assert found.texts == (*texts, "x")


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_line_ends_inside_a_text_stay_as_they_are(tmp_path: Path, ends: str) -> None:
    rows = ["comment,rude", '"one\r\ntwo\nthree\rfour",rude', '"\n",fine', ""]
    assert read(tmp_path, ends.join(rows)).texts == ("one\r\ntwo\nthree\rfour", "\n")


def test_a_text_of_a_megabyte_is_read_whole(tmp_path: Path) -> None:
    long = "long, words " * 90_000
    assert read(tmp_path, f'comment,rude\n"{long}",rude\nx,fine\n').texts[0] == long


def test_a_byte_order_mark_is_no_part_of_the_header(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xef\xbb\xbfcomment,rude\na,rude\nb,fine\n").texts == ("a", "b")


def test_another_encoding_and_no_header(tmp_path: Path) -> None:
    parse = {"encoding": "latin-1", "header": False, "columns": ["rude", "comment"]}
    found = read(tmp_path, "rude,caf\u00e9\nfine,b\n".encode("latin-1"), parse=parse)
    assert found.texts == ("caf\u00e9", "b")


def test_labels_are_renamed_and_escapes_resolved(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "comment,rude\naEOLb,True\ncTABEOL,False\n",
        label={"column": "rude", "favourable": "rude", "map": {"True": "rude", "False": "fine"}},
        text={"column": "comment", "escapes": {"EOL": "\n", "TAB": "\t"}},
    )
    assert found.texts == ("a\nb", "c\t\n")
    assert labels_of(found) == ["rude", "fine"]


FAILURES = [
    ("", "the file is empty"),
    ("comment,rude\n", "the file has no rows"),
    ("Comment,rude\na,rude\n", "the column 'comment' is missing"),
    ("comment,rude\na,odd\nb,fine\nc,rude\n", "the label 'odd' is not among"),
    ("comment,rude\na,fine\nb,fine\n", "the favourable label 'rude' does not occur"),
    ("comment,rude\na,rude\n", "the declared label 'fine' does not occur"),
    ("comment,rude\na,rude\nb,fine\nc,\n", "the label in row 2 is missing"),
    ("comment,rude\na,rude\nb\n", "the label in row 1 is missing"),
    ("comment,rude\na,b,rude\nc,d,fine\n", "more cells in a row than columns"),
    ('comment,rude\n"a,rude\nb,fine\n', "the rows cannot be told apart"),
    (b"comment,rude\na,rude\ncaf\xe9,fine\n", "not utf-8 text (at offset 23)"),
    (b"comment,rude\n" + b"a,rude\n" * 300_000 + b"\xff,fine\n", "(at offset 2100013)"),
    (b"comment,rude\na,rude\nb,fine\xc3", "(at offset 26)"),
    (b"\x1f\x8b\x08\x00\x00\x00\x00\x00", "not utf-8 text"),
]


@pytest.mark.parametrize(("content", "words"), FAILURES)
def test_a_file_that_does_not_fit(tmp_path: Path, content: str | bytes, words: str) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path, content)
    assert words in str(caught.value)
    assert str(tmp_path / "mine.csv") in caught.value.where
    assert caught.value.remedy
    assert len(str(caught.value).splitlines()) == 1


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file"):
        load_texts(comments(), file=tmp_path / "none.csv")


FILES = [
    {"name": "more.csv", "training": True, "columns": {"key": "id"}},
    {"name": "main.csv", "columns": {"key": "id", "part": "split"}},
    {
        "name": "made.csv",
        "training": True,
        "part": "train",
        "columns": {"text": "sentence", "label": "verdict"},
    },
]
CONTENTS = {
    "more": "id,comment,rude\n3,c again,rude\n9,z,fine\n1,a again,rude\n",
    "main": "id,comment,rude,split\n1,a,rude,train\n2,b,fine,test\n3,c,fine,dev\n4,d,fine,test\n",
    "made": "sentence,verdict\nyou are nice,fine\nyou are not,rude\n",
}


def test_only_texts_to_be_audited_are_loaded_if_not_asked_for_more(home: Path) -> None:
    put(home, main=CONTENTS["main"])  # the other files need not even be there
    texts = load_texts(comments(files=FILES), download=False)
    assert texts.texts == ("a", "b", "c", "d")
    assert texts.parts is not None
    assert texts.parts.tolist() == ["train", "test", "train", "test"], "dev counts as train"
    assert texts.clusters is texts.training_only is None
    assert texts.source == "main.csv"


def test_for_training_the_other_texts_come_after_them(home: Path) -> None:
    put(home, **CONTENTS)
    texts = load_texts(comments(files=FILES), download=False, training=True)
    audited = load_texts(comments(files=FILES), download=False)
    assert texts.texts[: len(audited)] == audited.texts
    assert texts.texts[4:] == ("c again", "z", "a again", "you are nice", "you are not")
    assert labels_of(texts) == [
        "rude",
        "fine",
        "fine",
        "fine",
        "rude",
        "fine",
        "rude",
        "fine",
        "rude",
    ]
    assert texts.parts is not None
    assert (
        texts.parts.tolist() == ["train", "test", "train", "test", None, None, None] + ["train"] * 2
    )
    assert texts.training_only is not None
    assert texts.training_only.tolist() == [False] * 4 + [True] * 5
    assert texts.source == "main.csv, more.csv, made.csv"


def test_texts_of_one_key_are_one_cluster_and_texts_without_key_are_alone(home: Path) -> None:
    put(home, **CONTENTS)
    texts = load_texts(comments(files=FILES), download=False, training=True)
    assert texts.clusters is not None
    keys = ["1", "2", "3", "4", "3", "9", "1", "none", "neither"]
    same = [[a == b for a in keys] for b in keys]
    assert (texts.clusters[:, None] == texts.clusters[None, :]).tolist() == same


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("main", "id,comment,rude,split\n1,a,rude,train\n2,b,fine,eval\n", "row 1 is 'eval'"),
        ("main", "id,comment,rude\n1,a,rude\n", "the column 'split' is missing"),
        ("more", "comment,rude\na,rude\n", "the column 'id' is missing"),
        ("more", "id,comment\n1,a\n", "the label column 'rude' is missing"),
        ("made", "sentence,rude\na,rude\n", "the column 'verdict' is missing"),
        ("made", "comment,verdict\na,rude\n", "the column 'sentence' is missing"),
    ],
)
def test_each_file_must_have_what_is_said_of_it(
    home: Path, name: str, content: str, words: str
) -> None:
    put(home, **(CONTENTS | {name: content}))
    with pytest.raises(DataError) as caught:
        load_texts(comments(files=FILES), download=False, training=True)
    assert words in caught.value.what
    assert f"{name}.csv" in caught.value.where


def test_a_file_that_is_nowhere(home: Path, cache: Path) -> None:
    with pytest.raises(DownloadError, match=r"'main\.csv' of the data set 'comments' is in none"):
        load_texts(comments(files=FILES), download=False)


def test_a_data_set_without_files_needs_one() -> None:
    with pytest.raises(ParameterError, match="'comments' names no files"):
        load_texts(comments())


ROWS = [
    {"id": 1, "comment": ' a, "b" ', "rude": "rude"},
    {"id": 2, "comment": "c\nd", "rude": "fine"},
    {"id": 3, "comment": None, "rude": "fine"},
    {"id": 4, "comment": "NA", "rude": "rude"},
]


def written_as(folder: Path, name: str) -> Path:
    """Write the rows as a file of the kind that its name says."""
    path = folder / name
    frame = pd.DataFrame(ROWS)
    if ".csv" in name:
        frame.to_csv(path, index=False)
    elif path.suffix in (".parquet", ".feather"):
        pytest.importorskip("pyarrow")
        getattr(frame, f"to_{path.suffix[1:]}")(path)
    else:
        frame.to_json(path, orient="records", lines=True)
    return path


@pytest.mark.parametrize(
    "name",
    ["a.jsonl", "a.ndjson", "a.JSONL", "a.jsonl.gz", "a.csv.gz", "a.csv", "a.parquet", "a.feather"],
)
def test_a_file_is_read_as_what_its_name_says(tmp_path: Path, name: str) -> None:
    texts = load_texts(comments(), file=written_as(tmp_path, name))
    assert texts.texts == (' a, "b" ', "c\nd", "", "NA")
    assert labels_of(texts) == ["rude", "fine", "fine", "rude"]


def test_labels_and_keys_of_json_lines_need_not_be_texts(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [
        {"comment": "a", "rude": 1, "of": 7},
        {"comment": 12, "rude": 0, "of": None},
        {"comment": "a!", "rude": 1, "of": 7},
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    label = {"column": "rude", "favourable": "rude", "values": ["fine", "rude"]}
    description = comments(label={**label, "map": {"0": "fine", "1": "rude"}})
    texts = load_texts(description, file=path)
    assert texts.texts == ("a", "12", "a!")
    assert labels_of(texts) == ["rude", "fine", "rude"]


@pytest.mark.parametrize("name", ["a.json", "a.txt", "a"])
@pytest.mark.parametrize("begin", ["", "["])
def test_an_error_about_json_shows_no_text(tmp_path: Path, name: str, begin: str) -> None:
    path = tmp_path / name
    path.write_text(f'{begin}{{"comment": "my secret", "rude": "fine"}}\n' * 3, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        load_texts(comments(), file=path)
    assert "secret" not in str(caught.value)
    assert ".jsonl" in str(caught.value)
    assert name in str(caught.value)


def test_a_column_that_json_lines_lack_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "my secret"}\n', encoding="utf-8")
    with pytest.raises(DataError) as caught:
        load_texts(comments(), file=path)
    assert "'comment'" in str(caught.value)
    assert "secret" not in str(caught.value)

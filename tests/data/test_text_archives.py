"""Texts in an archive: the same whatever it was packed with, nothing unpacked, nothing invented."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from plain_texts import pack, reviews

from testsgd.data.text import load_texts, texts_fingerprint
from testsgd.errors import DataError

# The order of the texts is by part, label and number, which is not that of their names.
TEXTS = {
    "set/train/neg/0_3.txt": "so dull",
    "set/train/neg/2_1.txt": "a bore<br /><br />in two\tparts ",
    "set/train/neg/10_4.txt": "no",
    "set/train/pos/1_10.txt": "a gem",
    "set/test/neg/7_2.txt": "",
    "set/test/neg/11_2.txt": "dull, dull",
    "set/test/pos/0_9.txt": "\u00e9l\u00e9gant \U0001f600\r\n",
}
LABELS = ["bad"] * 3 + ["good"] + ["bad"] * 2 + ["good"]
PARTS = ["train"] * 4 + ["test"] * 3

# What the published archive has besides, and what looks nearly right.
OTHERS = {
    "set": None,
    "set/train": None,
    "set/train/neg": None,
    "set/README": "read me",
    "set/imdb.vocab": "words",
    "set/train/unsup/0_0.txt": "no label",
    "set/train/labeledBow.feat": "0 1:2",
    "set/train/urls_neg.txt": "an address",
    "set/train/neg/0.txt": "no rating",
    "set/train/neg/0_3.txt.bak": "a copy",
    "set/train/neg/more/0_3.txt": "too deep",
    "other/set/train/neg/5_1.txt": "elsewhere",
    "set/dev/neg/5_1.txt": "another part",
    "set/train/neg/x_1.txt": "no number",
}

MODES = {
    "a.tar": "w",
    "a.tar.gz": "w:gz",
    "a.tgz": "w:gz",
    "a.tar.xz": "w:xz",
    "A.TAR.BZ2": "w:bz2",
}


def check(path: Path, **parts: Any) -> None:
    """Load an archive and compare it with what was packed."""
    texts = load_texts(reviews(**parts), file=path)
    assert texts.texts == tuple(TEXTS.values())
    assert texts.labels is not None
    assert texts.parts is not None
    assert texts.labels.tolist() == LABELS
    assert texts.parts.tolist() == PARTS
    assert texts.clusters is None
    assert texts.training_only is None
    assert texts.notes == ("1 text is empty or blank",)
    assert texts.source == str(path)


@pytest.mark.parametrize("name", MODES)
def test_the_compression_does_not_matter(tmp_path: Path, name: str) -> None:
    check(pack(tmp_path / name, OTHERS | TEXTS, MODES[name]))
    assert [path.name for path in tmp_path.iterdir()] == [name], "nothing is unpacked"


@pytest.mark.parametrize("turn", range(0, len(TEXTS), 2))
def test_the_order_in_the_archive_does_not_matter(tmp_path: Path, turn: int) -> None:
    members = list((OTHERS | TEXTS).items())[::-1]
    check(pack(tmp_path / "a.tar.gz", dict(members[turn:] + members[:turn])))


def test_an_archive_of_its_folder_as_it_lies_there(tmp_path: Path) -> None:
    """``tar -c .`` puts ./ before every name."""
    check(pack(tmp_path / "a.tar", {f"./{name}": text for name, text in TEXTS.items()}, "w"))


def test_a_folder_may_be_deep(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.tar", {f"in/a+b/{name}": text for name, text in TEXTS.items()}, "w")
    check(path, text={"column": "review", "folder": "in/a+b/set/"})


def test_a_name_that_comes_again_stands_for_the_later_text(tmp_path: Path) -> None:
    """So does tar when it unpacks an archive that was appended to."""
    path = tmp_path / "a.tar"
    pack(path, TEXTS | {"set/train/neg/0_3.txt": "older"}, "w")
    pack(path, {"set/train/neg/0_3.txt": TEXTS["set/train/neg/0_3.txt"]}, "a")
    check(path)


def test_links_are_passed_over(tmp_path: Path) -> None:
    import tarfile

    path = pack(tmp_path / "a.tar", TEXTS, "w")
    with tarfile.open(path, "a") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE):
            member = tarfile.TarInfo("set/train/neg/99_1.txt")
            member.type, member.linkname = kind, "set/train/neg/0_3.txt"
            archive.addfile(member)
    check(path)


def test_a_text_of_a_megabyte_is_read_whole(tmp_path: Path) -> None:
    long = "long words " * 100_000
    path = pack(tmp_path / "a.tar.xz", TEXTS | {"set/test/pos/5_9.txt": long}, "w:xz")
    texts = load_texts(reviews(), file=path)
    assert texts.texts[-1] == long


def test_escapes_are_resolved(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.tar", TEXTS, "w")
    escapes = {"<br />": "\n", "dull": "bad"}
    texts = load_texts(reviews(text={"folder": "set", "escapes": escapes}), file=path)
    assert texts.texts[:2] == ("so bad", "a bore\n\nin two\tparts ")


def failure(path: Path, **parts: Any) -> DataError:
    with pytest.raises(DataError) as caught:
        load_texts(reviews(**parts), file=path)
    assert len(str(caught.value).splitlines()) == 1
    assert caught.value.where == str(path)
    assert caught.value.remedy
    return caught.value


def test_bytes_that_are_not_utf_8_are_named_by_member_and_place(tmp_path: Path) -> None:
    path = pack(
        tmp_path / "a.tar", TEXTS | {"set/train/pos/3_8.txt": "caf\u00e9 ".encode("latin-1")}
    )
    error = failure(path)
    assert "'set/train/pos/3_8.txt' is not UTF-8 text (at offset 3)" in error.what
    assert error.details == {"member": "set/train/pos/3_8.txt", "offset": 3}


def test_a_member_that_is_passed_over_may_be_anything(tmp_path: Path) -> None:
    check(pack(tmp_path / "a.tar", TEXTS | {"set/imdb.vocab": b"\xff\x00"}))


@pytest.mark.parametrize(
    "parts",
    [
        {"text": {"column": "review", "folder": "sets"}},
        {"label": {"column": "y", "map": {"good": "g", "bad": "b"}, "favourable": "g"}},
    ],
)
def test_no_text_where_texts_are_expected(tmp_path: Path, parts: dict[str, Any]) -> None:
    error = failure(pack(tmp_path / "a.tar.gz", TEXTS), **parts)
    assert "PART/LABEL/NUMBER_RATING.txt" in error.what


def test_an_empty_archive(tmp_path: Path) -> None:
    assert "the archive has no texts" in failure(pack(tmp_path / "a.tar", {}, "w")).what


@pytest.mark.parametrize(
    "content", [b"", b"no archive", b"\x1f\x8b\x08\x00rest", b"\xfd7zXZ\x00rest"]
)
def test_what_is_no_archive(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.tar.gz"
    path.write_bytes(content)
    assert "the archive cannot be read" in failure(path).what


@pytest.mark.parametrize(("name", "share"), list(itertools.product(MODES, [0.3, 0.5, 0.6, 0.9])))
def test_an_archive_that_is_cut_off(tmp_path: Path, name: str, share: float) -> None:
    """Half an archive must not pass for a smaller one."""
    members = {
        f"set/train/{'pos' if i % 2 else 'neg'}/{i}_1.txt": f"text {i} " * 300 for i in range(60)
    }
    path = pack(tmp_path / name, members, MODES[name])
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    assert "the archive cannot be read" in failure(path).what


def test_an_archive_with_a_damaged_header(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.tar", dict.fromkeys(TEXTS, "text"), "w")
    content = bytearray(path.read_bytes())
    content[4 * 1024 + 150] ^= 1  # of the fifth member, in the checksum of its header
    path.write_bytes(content)
    assert "the archive cannot be read" in failure(path).what


def test_a_missing_archive(tmp_path: Path) -> None:
    assert "there is no such file" in failure(tmp_path / "a.tar.gz").what


def test_a_set_of_one_label_is_refused(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.tar", {n: t for n, t in TEXTS.items() if "/neg/" in n}, "w")
    with pytest.raises(DataError, match="the favourable label 'good' does not occur"):
        load_texts(reviews(), file=path)


def test_a_file_of_columns_may_be_given_for_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("review,opinion\nso dull,neg\na gem,good\n")
    texts = load_texts(reviews(), file=path)
    assert texts.texts == ("so dull", "a gem")
    assert texts.labels is not None
    assert texts.labels.tolist() == ["bad", "good"]
    assert texts.parts is None


def test_the_fingerprint_is_of_the_texts_alone(tmp_path: Path) -> None:
    packed = load_texts(reviews(), file=pack(tmp_path / "a.tar", TEXTS, "w"))
    assert texts_fingerprint(packed) == texts_fingerprint(list(TEXTS.values()))

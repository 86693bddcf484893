"""The real texts: as many as are published, letter by letter, with their labels."""

from __future__ import annotations

import csv
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from testsgd.data import find_files, load_specification
from testsgd.data.lookup import candidate_folders
from testsgd.data.text import Texts, load_texts

pytestmark = pytest.mark.real_data

Load = Callable[[str], Texts]

FUZZED = slice(1_492, 2 * 1_492)
MADE = slice(2 * 1_492, None)


def rows_of(name: str, file: str) -> list[dict[str, str]]:
    """Read a file with Python's own reader."""
    folder = next(path for path in candidate_folders(name) if (path / file).is_file())
    with (folder / file).open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def check(texts: Texts, part: slice, rows: list[dict[str, str]], text: str, label: str) -> None:
    """Compare texts and labels with rows of a file, the labels as the file has them."""
    names = load_specification(texts.specification.name).label.map
    assert names is not None
    assert texts.labels is not None
    assert list(texts.texts[part]) == [row[text] for row in rows]
    assert texts.labels[part].tolist() == [names[row[label]] for row in rows]


def test_wiki_is_its_three_files_one_after_another(real_texts: Load) -> None:
    texts = real_texts("wiki")
    plain = rows_of("wiki", "toxicity_nonfuzzed_testset.csv")
    check(texts, slice(1_492), plain, "comment", "toxic")
    check(texts, FUZZED, rows_of("wiki", "toxicity_fuzzed_testset.csv"), "comment", "toxic")
    made = rows_of("wiki", "bias_madlibs_77k.csv")
    check(texts, MADE, made, "Text", "Label")
    assert (len(plain), len(made)) == (1_492, 76_564)
    assert Counter(row["Label"] for row in made) == {"BAD": 38_282, "NOT_BAD": 38_282}


def test_only_the_comments_as_they_were_written_are_audited(real_texts: Load) -> None:
    training = real_texts("wiki")
    audited = load_texts(load_specification("wiki"), download=False)
    assert audited.texts == training.texts[:1_492]
    assert audited.labels is not None
    assert Counter(audited.labels) == {"not toxic": 1_244, "toxic": 248}
    assert audited.parts is audited.clusters is audited.training_only is None
    assert training.training_only is not None
    assert training.training_only.tolist() == [False] * 1_492 + [True] * (1_492 + 76_564)


def test_a_comment_and_its_variant_with_other_terms_are_one_cluster(real_texts: Load) -> None:
    texts = real_texts("wiki")
    assert texts.clusters is not None
    assert texts.clusters[:1_492].tolist() == texts.clusters[FUZZED].tolist()
    assert len(np.unique(texts.clusters)) == 1_492 + 76_564
    keys = [row["rev_id"] for row in rows_of("wiki", "toxicity_nonfuzzed_testset.csv")]
    assert keys == [row["rev_id"] for row in rows_of("wiki", "toxicity_fuzzed_testset.csv")]


def test_sentences_from_templates_are_never_for_testing(real_texts: Load) -> None:
    parts = real_texts("wiki").parts
    assert parts is not None
    assert set(parts[MADE]) == {"train"}
    assert set(parts[: MADE.start]) == {None}


def test_tweets_are_those_of_the_file(real_texts: Load) -> None:
    texts = real_texts("tweets")
    rows = rows_of("tweets", "labeled_data.csv")
    check(texts, slice(None), rows, "tweet", "class")
    assert Counter(row["class"] for row in rows) == {"0": 1_430, "1": 19_190, "2": 4_163}
    assert texts.labels is not None
    assert Counter(texts.labels) == {"hateful or offensive": 20_620, "neither": 4_163}


@pytest.mark.slow
def test_reviews_are_as_many_as_published(real_texts: Load) -> None:
    texts = real_texts("imdb")
    assert texts.labels is not None
    assert texts.parts is not None
    counts = Counter(zip(texts.parts.tolist(), texts.labels.tolist(), strict=True))
    expected = {(part, label) for part in ("train", "test") for label in ("negative", "positive")}
    assert counts == dict.fromkeys(expected, 12_500)
    assert texts.clusters is texts.training_only is None


def reviews_by_hand(path: Path, limit: int) -> Iterator[tuple[str, str]]:
    """Read the first reviews of the archive, in its own order."""
    with tarfile.open(path) as archive:
        for member in archive:
            stream = archive.extractfile(member) if member.isfile() else None
            if stream is not None and "/unsup/" not in member.name and "_" in member.name:
                yield member.name, stream.read().decode()
                limit -= 1
            if limit == 0:
                return


def test_reviews_are_found_by_part_label_and_number(real_texts: Load) -> None:
    texts = real_texts("imdb")
    (path,) = find_files(load_specification("imdb"), download=False)
    for name, text in reviews_by_hand(path, 500):
        _, part, label, file = name.split("/")
        start = {"train": 0, "test": 25_000}[part] + {"neg": 0, "pos": 12_500}[label]
        assert texts.texts[start + int(file.split("_")[0])] == text

"""Comments and the labels that several people gave to each: the majority; a tie is none."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from testsgd.data import TextSpecification, load_specification
from testsgd.data.text import Texts, load_texts
from testsgd.errors import DataError

# As the published files are written; the words are made up.
COMMENTS_HEADER = "rev_id\tcomment\tyear\tlogged_in\tns\tsample\tsplit\n"
COMMENTS_ROWS = [
    "2232.0\tThisNEWLINE_TOKENis `fine`.NEWLINE_TOKEN\t2002\tTrue\tarticle\trandom\ttrain\n",
    "4216.0\t==TAB_TOKEN it's not  ==\t2002\tFalse\tuser\tblocked\tdev\n",
    "8953.0\tA tie.\t2003\tTrue\tuser\trandom\ttest\n",
    "699897151.0\tnice\t2004\tTrue\tarticle\trandom\ttest\n",
]
MARKS_HEADER = "rev_id\tworker_id\ttoxicity\ttoxicity_score\n"
MARKS = {
    "2232.0": [0, 0, 1],
    "4216.0": [1, 1, 0],
    "8953.0": [1, 0, 1, 0],
    "699897151.0": [0],
}


def marks_text(marks: dict[str, list[Any]]) -> str:
    """Write annotations as they are published, those of a comment not side by side."""
    rows = [
        (number, f"{key}\t{number}\t{mark}\t{-1.0 if mark else 1.0}\n")
        for key, values in marks.items()
        for number, mark in enumerate(values)
    ]
    return MARKS_HEADER + "".join(row for _, row in sorted(rows))


@pytest.fixture
def wikitalk() -> TextSpecification:
    """Take the description in the catalogue, without the check of the files."""
    specification = load_specification("wikitalk")
    assert isinstance(specification, TextSpecification)
    return specification


def load(home: Path, specification: TextSpecification, comments: str, marks: str) -> Texts:
    folder = home / "wikitalk"
    folder.mkdir(exist_ok=True)
    (folder / "toxicity_annotated_comments.tsv").write_text(comments, encoding="utf-8")
    (folder / "toxicity_annotations.tsv").write_text(marks, encoding="utf-8")
    return load_texts(specification, download=False)


def test_the_published_format_is_read(home: Path, wikitalk: TextSpecification) -> None:
    texts = load(home, wikitalk, COMMENTS_HEADER + "".join(COMMENTS_ROWS), marks_text(MARKS))
    assert texts.texts == ("This\nis `fine`.\n", "==\t it's not  ==", "A tie.", "nice")
    assert texts.labels is not None
    assert texts.labels.tolist() == ["not toxic", "toxic", "not toxic", "not toxic"]
    assert texts.parts is not None
    assert texts.parts.tolist() == ["train", "train", "test", "test"]
    assert texts.clusters is None
    assert texts.source == "toxicity_annotated_comments.tsv"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    votes=st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=12), min_size=2, max_size=12),
    decimals=st.booleans(),
)
def test_the_label_is_the_majority(
    home: Path, wikitalk: TextSpecification, votes: list[list[int]], decimals: bool
) -> None:
    votes = [[1], [0], *votes]  # so that both labels occur
    comments = COMMENTS_HEADER + "".join(
        f"{key}{'.0' if decimals else ''}\ttext {key}\t2002\tTrue\tuser\trandom\ttest\n"
        for key in range(len(votes))
    )
    marks = marks_text({f"{key}.0": values for key, values in enumerate(votes)})
    counts: dict[int, int] = defaultdict(int)
    for key, values in enumerate(votes):
        for value in values:
            counts[key] += 1 if value else -1
    texts = load(home, wikitalk, comments, marks)
    assert texts.labels is not None
    expected = ["toxic" if counts[key] > 0 else "not toxic" for key in range(len(votes))]
    assert texts.labels.tolist() == expected


def test_annotations_of_other_comments_are_passed_over(
    home: Path, wikitalk: TextSpecification
) -> None:
    comments = COMMENTS_HEADER + "".join(COMMENTS_ROWS[:2])
    texts = load(home, wikitalk, comments, marks_text(MARKS))
    assert texts.labels is not None
    assert texts.labels.tolist() == ["not toxic", "toxic"]


@pytest.mark.parametrize(
    ("marks", "words"),
    [
        (MARKS_HEADER, "the file has no rows"),
        ("rev_id\ttoxicity\n2232.0\t0\n", "nobody annotated the text '4216' (row 1)"),
        ("rev_id\ttoxicity\n2232.0\tyes\n", "the annotation in row 0 is 'yes', not a number"),
        ("rev_id\ttoxicity\n2232.0\t\n", "the annotation in row 0 is '', not a number"),
        ("rev_id\tattack\n2232.0\t1\n", "the column 'toxicity' is missing"),
        ("id\ttoxicity\n2232.0\t1\n", "the column 'rev_id' is missing"),
        (marks_text({key: [0] for key in MARKS}), "the favourable label 'toxic' does not occur"),
    ],
)
def test_annotations_that_do_not_fit(
    home: Path, wikitalk: TextSpecification, marks: str, words: str
) -> None:
    with pytest.raises(DataError) as caught:
        load(home, wikitalk, COMMENTS_HEADER + "".join(COMMENTS_ROWS), marks)
    assert words in caught.value.what
    assert len(str(caught.value).splitlines()) == 1


def test_a_file_of_labelled_comments_may_be_given_instead(
    tmp_path: Path, wikitalk: TextSpecification
) -> None:
    path = tmp_path / "mine.tsv"
    path.write_text("comment\ttoxicity\naNEWLINE_TOKENb\ttoxic\nc\tnot toxic\n")
    texts = load_texts(wikitalk, file=path)
    assert texts.texts == ("a\nb", "c")
    path.write_text("comment\ttoxicity\na\t0.75\nb\t0.5\n")
    texts = load_texts(wikitalk, file=path)
    assert texts.labels is not None
    assert texts.labels.tolist() == ["toxic", "not toxic"]

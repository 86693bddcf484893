"""Files with too many columns and texts that are too long: one line, soon and in little memory."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import command_line
import pytest
from comment_texts import comments, write_files

folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Fails = Callable[..., str]

# Of processor time; the machine may have other things to do.
SECONDS = 20.0
KIBIBYTES = 2**20


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    """Fail a test that takes long or much memory more than there was before."""
    started = time.process_time()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert time.process_time() - started < SECONDS
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < KIBIBYTES


COLUMNS = ",".join(f"column{place}" for place in range(30_000))

ROWS = {
    "columns": COLUMNS + "\n" + (",".join("1" * 30_000) + "\n") * 60,
    "commas": "," * 10_000_000,
    "commas in a row": "a,b,p\n" + "1,2,yes\n" * 10 + "," * 10_000_000 + "\n",
    "semicolons": ";" * 10_000_000,
    "an open quotation": 'a,b,p\n"' + "x,1\n" * 2_500_000,
}


@pytest.mark.parametrize("content", ROWS.values(), ids=ROWS)
def test_rows_with_too_many_cells(content: str, folder: Path, fails: Fails) -> None:
    path = folder / "rows.csv"
    path.write_text(content, encoding="utf-8")
    fails("audit", path, "--predictions", "p", "--sensitive", "a,b")
    fails("init", path)
    fails("audit", "demo", "--data", path)


def test_the_number_of_columns_and_the_bound_are_said(folder: Path, fails: Fails) -> None:
    (folder / "rows.csv").write_text(ROWS["columns"], encoding="utf-8")
    message = fails("init", "rows.csv")
    assert "30,000" in message
    assert "10,000" in message


def test_separators_within_quotation_marks_are_no_columns(
    folder: Path, testsgd: Callable[..., command_line.Finished]
) -> None:
    quoted = '"' + "a, " * 11_000 + '"'
    rows = "".join(f"{place % 2},{place % 3},x\n" for place in range(60))
    (folder / "rows.csv").write_text(f"label,size,{quoted}\n{rows}", encoding="utf-8")
    assert testsgd("init", "rows.csv", "--sensitive", "size", "--label", "label").code == 0


def test_a_column_may_have_a_very_long_name(
    folder: Path, testsgd: Callable[..., command_line.Finished]
) -> None:
    rows = "".join(f"{place % 2},{place % 3},x\n" for place in range(60))
    (folder / "rows.csv").write_text(f"label,size,{'x' * 200_000}\n{rows}", encoding="utf-8")
    assert testsgd("init", "rows.csv", "--sensitive", "size", "--label", "label").code == 0


def test_a_text_of_eight_megabytes(folder: Path, fails: Fails) -> None:
    spec = write_files(folder)
    texts = [*comments(40), "an old catholic " * 2**19]
    lines = "".join(
        f'"{text}",{"rude" if place % 2 else "fine"}\n' for place, text in enumerate(texts)
    )
    (folder / "comments.csv").write_text("comment,verdict\n" + lines, encoding="utf-8")
    message = fails("audit", spec, "--data", "comments.csv", "--model", "forum:judge")
    assert f"{2**23:,}" in message
    assert f"{2**21:,}" in message

"""An existing file that is no description: what it is said to be, and how to get a description."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_line
import pytest

from testsgd.data import load_specification
from testsgd.errors import ParameterError

folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Run = Callable[..., Any]
CATALOGUE = "catalogue"


@pytest.mark.parametrize("name", ["people.xlsx", "noext", "rows.json"])
@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--predictions", "approved"),
        ("--predictions", "approved", "--sensitive", "sex"),
        ("--model", "m.joblib", "--sensitive", "sex"),
        ("--cells", "--predictions", "approved", "--sensitive", "sex"),
        ("--impact-ratios", "sex,race", "--predictions", "approved"),
    ],
)
def test_an_audited_file_of_no_known_kind_is_named_as_such(
    fails: Run, folder: Path, name: str, options: tuple[str, ...]
) -> None:
    (folder / name).write_bytes(b"sex,approved\nf,1\n")
    message = fails("audit", name, *options)
    assert CATALOGUE not in message
    assert name in message
    # As of the files that init reads.
    for ending in (".csv", ".parquet", ".jsonl", ".toml"):
        assert ending in message


@pytest.mark.parametrize("command", ["cells-sql", "compare", "train"])
@pytest.mark.parametrize("name", ["people.csv", "folder of rows/people's.parquet"])
def test_rows_are_said_to_need_a_description(
    fails: Run, folder: Path, command: str, name: str
) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("sex,approved\nf,1\n", encoding="utf-8")
    message = fails(command, name)
    assert CATALOGUE not in message
    assert "testsgd init" in message
    assert "> people.toml" in message or "> 'people" in message or '> "people' in message


def test_rows_in_place_of_a_description_in_python(folder: Path) -> None:
    (folder / "people.csv").write_text("sex,approved\nf,1\n", encoding="utf-8")
    with pytest.raises(ParameterError, match=r"testsgd init people\.csv"):
        load_specification("people.csv")


def test_names_that_are_no_files_are_looked_for_in_the_catalogue(fails: Run) -> None:
    assert CATALOGUE in fails("audit", "people.xlsx", "--predictions", "approved")
    assert CATALOGUE in fails("train", "cencus")


@pytest.mark.parametrize("name", ["nofile.xlsx", "nofile.toml", "folder/nofile", "./nofile"])
@pytest.mark.parametrize("more", [(), ("--sensitive", "sex"), ("--label", "paid")])
def test_a_file_that_is_not_there_is_named(
    fails: Run, folder: Path, name: str, more: tuple[str, ...]
) -> None:
    message = fails("audit", name, "--predictions", "approved", *more)
    assert "no such file" in message
    assert name in message
    assert "--sensitive" in fails("audit", "cencus", "--predictions", "p", "--sensitive", "sex")


def test_a_file_does_not_hide_a_data_set_of_the_catalogue(folder: Path) -> None:
    (folder / "demo").write_text("sex,approved\nf,1\n", encoding="utf-8")
    assert load_specification("demo").name == "demo"

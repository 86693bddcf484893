"""``testsgd init``: what was guessed about a file is a description that can be audited with."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_line
import numpy as np
import pandas as pd
import pytest

from testsgd.data import load_table, parse_specification

folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Run = Callable[..., Any]


def rows() -> pd.DataFrame:
    source = np.random.default_rng(2)
    return pd.DataFrame(
        {
            "number": [f"A{index:04d}" for index in range(300)],
            'a "name"': source.choice(['say "x"', "tab\there", "back\\slash"], 300),
            "sex": source.choice(["f", "m"], 300),
            "age": source.integers(18, 80, 300),
            "ratio": source.normal(size=300),
            "granted": source.choice([0, 1], 300),
        }
    )


@pytest.mark.parametrize("name", ["people.csv", "people.parquet", "people.csv.gz", "people.jsonl"])
def test_the_description_fits_the_file_it_was_made_from(
    testsgd: Run, folder: Path, name: str
) -> None:
    frame = rows()
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
        frame.to_parquet(folder / name)
    elif name.endswith("jsonl"):
        frame.to_json(folder / name, orient="records", lines=True)
    else:
        frame.to_csv(folder / name, index=False)
    finished = testsgd("init", name)
    assert (finished.code, finished.err) == (0, "")
    specification = parse_specification(finished.out)
    assert specification.sensitive == ("sex", "age")
    assert specification.label.column == "granted"
    assert set(specification.features) == {'a "name"', "sex", "age", "ratio"}
    table = load_table(specification, file=folder / name)
    assert len(table) == len(frame)
    np.testing.assert_array_equal(table.numbers("age"), frame["age"])
    assert table.labels is not None
    assert table.labels.tolist() == frame["granted"].astype(str).tolist()


def test_every_line_that_was_guessed_has_a_comment(testsgd: Run, folder: Path) -> None:
    rows().to_csv(folder / "people.csv", index=False)
    text = testsgd("init", "people.csv", "--sensitive", "sex", "--label", "granted").out
    assert tomllib.loads(text)["features"]["sex"]["sensitive"]
    assert tomllib.loads(text)["label"]["outcome"] == "benefit"
    types = [
        line
        for line in text.splitlines()
        if line.startswith(("type =", "sensitive =", "outcome ="))
    ]
    assert types
    assert all("#" in line for line in types)
    assert "number" in text  # What is left out is said, too.


@pytest.mark.parametrize(
    ("columns", "options", "named"),
    [
        (["ratio", "granted"], (), "--sensitive"),
        (["sex", "ratio"], (), "--label"),
        (["sex", "granted"], ("--label", "grunted"), "granted"),
        (["sex", "granted"], ("--sensitive", "sexx"), "sex"),
    ],
)
def test_what_cannot_be_guessed_is_asked_for(
    fails: Run, folder: Path, columns: list[str], options: tuple[str, ...], named: str
) -> None:
    rows()[columns].to_csv(folder / "people.csv", index=False)
    assert named in fails("init", "people.csv", *options)


STEERING = "".join(
    map(
        chr,
        [
            *(*range(0x80, 0xA0), 0x061C, 0x200E, 0x200F),
            *(*range(0x2028, 0x202F), *range(0x2066, 0x206A)),
        ],
    )
)


def test_nothing_of_the_cells_steers_a_terminal(testsgd: Run, folder: Path) -> None:
    texts = [f"a{sign}b" for sign in STEERING if not sign.isspace()]
    frame = pd.DataFrame(
        {
            "sex": ["f", "m"] * 40,
            f"kind{chr(0x9B)}31m{chr(0x202E)}": (texts * 3)[:80],
            f"id{chr(0x9B)}\nnext": [f"{number}x" for number in range(80)],
            "granted": ["yes", f"no{chr(0x9B)}"] * 40,
        }
    )
    frame.to_csv(folder / "esc.csv", index=False)
    finished = testsgd("init", "esc.csv", "--label", "granted")
    assert finished.code == 0
    assert not set(finished.out) & set(STEERING)
    document = tomllib.loads(finished.out)
    assert document["label"]["values"] == [f"no{chr(0x9B)}", "yes"]
    values = document["features"][f"kind{chr(0x9B)}31m{chr(0x202E)}"]["values"]
    assert values == sorted(set(texts))
    # It is read, too, as the description that it is.
    parse_specification(finished.out)


@pytest.mark.parametrize(
    ("labels", "is_guess"), [(["no", "yes"], False), (["<=50K", ">50K"], True), ([0, 1], False)]
)
def test_a_favourable_label_that_no_name_tells_is_said_to_be_a_guess(
    testsgd: Run, folder: Path, labels: list[Any], is_guess: bool
) -> None:
    frame = rows().assign(granted=np.resize(labels, 300))
    frame.to_csv(folder / "people.csv", index=False)
    printed = testsgd("init", "people.csv").out
    [line] = [line for line in printed.splitlines() if line.startswith("favourable = ")]
    assert ("correct it" in line) == is_guess

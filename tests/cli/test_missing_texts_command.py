"""The text `missing` in files without a description: as if the cells were empty."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_line
import numpy as np
import pandas as pd
import pytest

# The rows are written as Parquet, too.
pytest.importorskip("pyarrow")

folder, testsgd = command_line.folder, command_line.testsgd

Run = Callable[..., Any]
ROWS = 400


@pytest.fixture
def files(folder: Path) -> None:
    """Write rows with empty cells, and with that text in them."""
    source = np.random.default_rng(5)
    empty = pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], ROWS),
            "race": source.choice(["a", "b", "c"], ROWS),
            "age": source.integers(20, 70, ROWS).astype(float),
            "member": source.choice(["True", "False"], ROWS),
            "approved": source.choice(["no", "yes"], ROWS),
        }
    )
    for start, name in enumerate(("race", "age", "member")):
        empty.loc[start::9, name] = None
    for name, frame in (("empty", empty), ("miss", empty.astype(object).fillna("missing"))):
        frame.to_csv(folder / f"{name}.csv", index=False)
        frame.to_json(folder / f"{name}.jsonl", orient="records", lines=True)
    # The type of Parquet has no texts among numbers.
    empty.assign(race=empty["race"].fillna("missing")).to_parquet(folder / "miss.parquet")
    empty.to_parquet(folder / "empty.parquet")


def result_of(folder: Path, name: str) -> Any:
    path = folder / "reports" / name / "result.json"
    return json.loads(path.read_text(encoding="utf-8"))


def groups(document: Any) -> list[tuple[str, int]]:
    return [(group["text"], group["n_in"]) for group in document["groups"]]


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("sensitive", ["sex", "sex,race,age"])
def test_an_audit_has_the_groups_of_empty_cells(
    testsgd: Run, folder: Path, files: None, ending: str, sensitive: str
) -> None:
    options = ("--predictions", "approved", "--sensitive", sensitive)
    before = (folder / f"miss.{ending}").read_bytes()
    for name in ("miss", "empty"):
        assert testsgd("audit", f"{name}.{ending}", *options).code in (0, 1)
    documents = [result_of(folder, name) for name in ("miss", "empty")]
    assert groups(documents[0]) == groups(documents[1])
    assert any("race" in note for note in documents[0]["data"]["notes"])
    assert (folder / f"miss.{ending}").read_bytes() == before


def test_rows_in_a_database_and_metrics_have_them_too(
    testsgd: Run, folder: Path, files: None
) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(folder / "table.db")) as connection:
        connection.execute("create table t as select * from 'miss.parquet'")
    options = ("--predictions", "approved", "--sensitive", "sex,race")
    for source in ("duckdb://table.db?table=t", "miss.parquet"):
        assert testsgd("audit", source, *options, "--metrics", "selection_rate").code in (0, 1)
    metrics = [result_of(folder, name)["metrics"][0] for name in ("table", "miss")]
    texts = [[group["text"] for group in metric["groups"]] for metric in metrics]
    assert texts[0] == texts[1]
    assert any("missing" in text for text in texts[0])


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_description_lists_the_text_and_fits_the_file(
    testsgd: Run, folder: Path, files: None, ending: str
) -> None:
    texts = []
    for name in ("miss", "empty"):
        finished = testsgd("init", f"{name}.{ending}", "--sensitive", "sex,race")
        assert finished.code == 0
        texts.append(finished.out)
    assert texts[0].replace("miss.", "empty.").replace('"miss"', '"empty"') == texts[1]
    [line] = [line for line in texts[0].splitlines() if line.startswith("missing =")]
    assert '"missing"' in line
    (folder / "miss.toml").write_text(texts[0], encoding="utf-8")
    options = ("--data", f"miss.{ending}", "--predictions", "approved")
    assert testsgd("audit", "miss.toml", *options).code in (0, 1)


def test_a_label_may_be_called_so(testsgd: Run, folder: Path) -> None:
    frame = pd.DataFrame({"sex": ["f", "m", "m"] * 100, "state": ["found", "missing"] * 150})
    frame.to_csv(folder / "states.csv", index=False)
    finished = testsgd("init", "states.csv", "--label", "state", "--favorable", "found")
    assert finished.code == 0
    (folder / "states.toml").write_text(finished.out, encoding="utf-8")
    options = ("--data", "states.csv", "--predictions", "state")
    assert testsgd("audit", "states.toml", *options).code in (0, 1)

"""A file with a column of codes: a model is given numbers, described or not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_line
import numpy as np
import pandas as pd
import pytest

folder, testsgd = command_line.folder, command_line.testsgd

ROWS = 600
# No text is equal to a number, so that it would refuse all who are asked about by texts.
FUNCTION = """\
import numpy as np

def of_men(frame):
    return np.where(frame["sex"] == 1, "yes", "no")
"""


@pytest.mark.parametrize("kind", ["whole", "decimal", "missing", "parquet"])
def test_a_description_changes_no_rate(
    testsgd: Callable[..., Any], folder: Path, kind: str
) -> None:
    source = np.random.default_rng(3)
    people = pd.DataFrame(
        {"sex": source.integers(0, 2, ROWS), "age": source.integers(18, 70, ROWS)}
    )
    people["granted"] = np.where(source.random(ROWS) < 0.5, "yes", "no")
    if kind == "decimal":
        people["sex"] = people["sex"].astype(float)
    if kind == "missing":
        people["sex"] = people["sex"].mask(source.random(ROWS) < 0.1)
    file = "people.parquet" if kind == "parquet" else "people.csv"
    if kind == "parquet":
        pytest.importorskip("pyarrow")
        people.to_parquet(folder / file)
    else:
        people.to_csv(folder / file, index=False)
    module = f"codes_{kind}"
    (folder / f"{module}.py").write_text(FUNCTION)
    columns = ("--label", "granted", "--sensitive", "sex")
    finished = testsgd("init", file, *columns)
    assert finished.code == 0
    (folder / "people.toml").write_text(finished.out, encoding="utf-8")
    quick = ("--fail-above", "0.1", "--replicates", "99", "--stability", "0", "--format", "json")
    out = ("--force", "--out", "out")
    groups = []
    for arguments in ((file, *columns), ("people.toml", "--data", file)):
        finished = testsgd("audit", *arguments, "--model", f"{module}:of_men", *quick, *out)
        assert finished.code == 1, finished.err
        document = json.loads((folder / "out" / "result.json").read_text(encoding="utf-8"))
        groups.append(
            sorted(
                (group["text"], group["n_in"], group["rate_in"], group["rate_out"])
                for group in document["groups"]
            )
        )
    assert groups[0] == groups[1]
    # All men get it, and all others do not.
    assert any({rate, rate_of_others} == {0, 1} for _, _, rate, rate_of_others in groups[1])

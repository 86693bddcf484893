"""``testsgd audit`` of forests and boosted trees in .skops files: scikit-learn warns of nothing."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_line
import pytest
import sklearn
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from testsgd.data import generate_demo
from testsgd.models.skops_files import write_skops

folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

skops = pytest.importorskip("skops.io")

# What warns is the model that is read and asked, not the bootstrap or a page.
QUICK = ("--replicates", "99", "--stability", "0", "--format", "json")

CLASSIFIERS: dict[str, Any] = {
    "forest": RandomForestClassifier(5, random_state=0),
    "forest of two jobs": RandomForestClassifier(5, n_jobs=2, random_state=0),
    "gradient boosting": GradientBoostingClassifier(n_estimators=5, random_state=0),
    "histograms": HistGradientBoostingClassifier(max_iter=5, random_state=0),
}


@pytest.mark.parametrize("classifier", CLASSIFIERS.values(), ids=CLASSIFIERS)
@pytest.mark.parametrize("write", [write_skops, skops.dump], ids=["testsgd", "skops"])
@pytest.mark.parametrize("names", ["default", "pandas"])
def test_an_audit_of_trees_warns_of_nothing(
    classifier: Any,
    write: Callable[..., Any],
    names: str,
    folder: Path,
    testsgd: Callable[..., command_line.Finished],
) -> None:
    people = generate_demo(rows=300, seed=0)
    people.to_csv("people.csv", index=False)
    texts = ["gender", "race", "housing", "purpose"]
    encode = make_column_transformer(
        (OneHotEncoder(sparse_output=False), texts), remainder=StandardScaler()
    )
    # With names the classifier was fitted on a data frame, and misses them elsewhere.
    encode.set_output(transform=names)
    pipeline = make_pipeline(encode, classifier)
    pipeline.fit(people.drop(columns="granted"), people["granted"])
    write(pipeline, folder / "model.skops")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        audit = ("audit", "demo", "--data", "people.csv", "--model", "model.skops")
        finished = testsgd(*audit, *QUICK)
    assert finished.code in (0, 3)
    assert finished.err == ""


def test_a_file_of_another_version_is_a_note_of_one_line(
    folder: Path, testsgd: Callable[..., command_line.Finished]
) -> None:
    people = generate_demo(rows=300, seed=0)
    people.to_csv("people.csv", index=False)
    features = make_column_transformer((StandardScaler(), ["income", "age"]))
    pipeline = make_pipeline(features, RandomForestClassifier(5, random_state=0))
    pipeline.fit(people.drop(columns="granted"), people["granted"])
    write_skops(pipeline, folder / "now.skops")
    version = sklearn.__version__
    with (
        zipfile.ZipFile("now.skops") as now,
        zipfile.ZipFile("older.skops", "w", zipfile.ZIP_DEFLATED) as older,
    ):
        for name in now.namelist():
            content = now.read(name)
            older.writestr(name, content.replace(version.encode(), b"1.2.2"))
    # As Python shows them where no test runner makes errors of them.
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        finished = testsgd("audit", "demo", "--data", "people.csv", "--model", "older.skops")
    assert finished.code in (0, 3)
    [line] = finished.err.splitlines()
    assert "older.skops" in line
    assert "1.2.2" in line
    assert version in line


def test_what_a_model_warns_of_again_and_again_is_one_note(
    folder: Path, testsgd: Callable[..., command_line.Finished], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "warning_model.py").write_text(
        "import warnings\n\n"
        "def decide(people):\n"
        "    with warnings.catch_warnings():\n"
        "        warnings.simplefilter('always')\n"
        "        warnings.warn('first\\nsecond \\x1b[31m' + 'x' * 5000)\n"
        "    return people['income'] > 30\n"
    )
    monkeypatch.syspath_prepend(folder)
    finished = testsgd("audit", "demo", "--model", "warning_model:decide")
    assert finished.code in (0, 1, 3)
    [line] = finished.err.splitlines()
    assert "first second" in line
    assert "\x1b" not in line
    assert len(line) < 400


def test_a_mistake_is_one_line_whatever_was_warned_of(
    folder: Path, fails: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "failing_model.py").write_text(
        "import warnings\n\n"
        "def decide(people):\n"
        "    with warnings.catch_warnings():\n"
        "        warnings.simplefilter('always')\n"
        "        warnings.warn('before the mistake')\n"
        "    return 'no decisions'\n"
    )
    monkeypatch.syspath_prepend(folder)
    assert "before" not in fails("audit", "demo", "--model", "failing_model:decide")

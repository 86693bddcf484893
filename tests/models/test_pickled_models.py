"""Pickled models: read on the user's word only, and nothing of them runs without it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import testsgd
from testsgd.errors import ModelError
from testsgd.models import open_model

ROWS = 400
QUICK: dict[str, Any] = {"replicates": 99, "stability": 0}


def people() -> tuple[pd.DataFrame, pd.Series[Any]]:
    source = np.random.default_rng(1)
    rows = pd.DataFrame(
        {"woman": source.integers(0, 2, ROWS), "income": source.normal(50, 10, ROWS)}
    )
    return rows, (rows["income"] > 50 + 5 * rows["woman"]).astype(int).rename("granted")


class Trap:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("name", ["pipe.joblib", "pipe.pkl", "pipe.pickle"])
def test_a_trusted_file_is_audited_as_the_object_is(name: str, tmp_path: Path) -> None:
    rows, granted = people()
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(rows, granted)
    path = tmp_path / name
    if name.endswith("joblib"):
        joblib.dump(tree, path)
    else:
        path.write_bytes(pickle.dumps(tree))
    read = testsgd.audit(
        path, rows, granted, sensitive_features=["woman"], trust_pickle=True, **QUICK
    )
    given = testsgd.audit(tree, rows, granted, sensitive_features=["woman"], **QUICK)
    pd.testing.assert_frame_equal(read.groups, given.groups)
    assert read.summary.model.file_sha256 is not None
    assert name in read.summary.model.name


@pytest.mark.parametrize("described", [False, True])
def test_nothing_runs_without_the_users_word(described: bool, tmp_path: Path) -> None:
    rows, granted = people()
    touched, path = tmp_path / "touched", tmp_path / "trap.joblib"
    joblib.dump(Trap(touched), path)
    arguments: tuple[Any, ...] = (path, rows, granted)
    options: dict[str, Any] = {"sensitive_features": ["woman"]}
    if described:
        arguments, options = (path, None, "demo"), {}
    with pytest.raises(ModelError) as caught:
        testsgd.audit(*arguments, **options)
    assert "trust" in str(caught.value)
    assert not touched.exists()


@pytest.mark.parametrize("content", [b"", b"no pickle", pickle.dumps({"a": 1})[:-3]])
def test_a_broken_file_is_one_line(content: bytes, tmp_path: Path) -> None:
    rows, granted = people()
    path = tmp_path / "broken.pkl"
    path.write_bytes(content)
    with pytest.raises(ModelError) as caught:
        testsgd.audit(path, rows, granted, sensitive_features=["woman"], trust_pickle=True)
    assert "\n" not in str(caught.value)


def test_a_pickle_of_no_model_is_refused(tmp_path: Path) -> None:
    rows, granted = people()
    path = tmp_path / "dictionary.pkl"
    path.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(ModelError):
        testsgd.audit(path, rows, granted, sensitive_features=["woman"], trust_pickle=True)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    rows, granted = people()
    with pytest.raises(ModelError):
        testsgd.audit(
            tmp_path / "nothing.joblib",
            rows,
            granted,
            sensitive_features=["woman"],
            trust_pickle=True,
        )


@pytest.mark.parametrize("name", ["model.joblib", "model.pkl"])
@pytest.mark.parametrize(
    "content",
    [b"", b"nothing of the kind", b'{"a": 1}', pickle.dumps(list(range(100)))[:50], b"x\x9c\x01"],
)
def test_a_file_that_is_no_pickle_or_broken_off_is_said_to_be_so(
    content: bytes, name: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelError) as caught:
        open_model(str(tmp_path / name), trust_pickle=True)
    assert "joblib or pickle" in caught.value.what
    assert "packages" not in str(caught.value.remedy)


def test_a_pickle_whose_packages_are_missing_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "model.pkl").write_bytes(b"cno_such_package\nThing\n.")
    with pytest.raises(ModelError, match="no_such_package") as caught:
        open_model(str(tmp_path / "model.pkl"), trust_pickle=True)
    assert "packages" in str(caught.value.remedy)

"""Models of MLflow: of the real one if it is installed, and what testsgd asks of a made-up one."""

from __future__ import annotations

import sys
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.errors import MissingExtraError, ModelError, TestSGDError
from testsgd.models import load_text_model

ROWS = 400
QUICK: dict[str, Any] = {"replicates": 99, "stability": 0}


def people() -> pd.DataFrame:
    source = np.random.default_rng(6)
    return pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], ROWS),
            "id": [f"P{index:04d}" for index in range(ROWS)],
            "income": source.normal(50, 10, ROWS),
        }
    )


def decide(frame: pd.DataFrame) -> Any:
    return np.where(frame["income"] > 50 - 8 * (frame["sex"] == "m"), "yes", "no")


class Schema:
    """As MLflow gives a signature's inputs."""

    def __init__(self, names: list[str]) -> None:
        self._names = names

    def has_input_names(self) -> bool:
        return bool(self._names)

    def input_names(self) -> list[str]:
        return self._names


class PyFuncModel:
    """As MLflow gives a model."""

    def __init__(self, names: list[str] | None) -> None:
        schema = None if names is None else Schema(names)
        self.metadata = types.SimpleNamespace(get_input_schema=lambda: schema)
        self.asked: list[list[str]] = []

    def predict(self, rows: pd.DataFrame) -> pd.DataFrame:
        self.asked.append(list(rows.columns))
        if "comment" in rows:
            return pd.DataFrame({"toxic": np.where(rows["comment"].str.isupper(), "yes", "no")})
        return pd.DataFrame({"prediction": decide(rows)})


PyFuncModel.__module__ = "mlflow.pyfunc"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that a made-up MLflow reads."""

    def load_model(path: str) -> PyFuncModel:
        if not Path(path, "data").exists():
            raise OSError("no data\nin it")
        return PyFuncModel(["income", "sex"])

    package, pyfunc = types.ModuleType("mlflow"), types.ModuleType("mlflow.pyfunc")
    package.pyfunc = pyfunc  # type: ignore[attr-defined]
    pyfunc.load_model = load_model  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mlflow", package)
    monkeypatch.setitem(sys.modules, "mlflow.pyfunc", pyfunc)
    path = tmp_path / "model.v2"
    path.mkdir()
    (path / "MLmodel").write_text("flavors: {}\n", encoding="utf-8")
    (path / "data").touch()
    return path


def test_a_trusted_folder_is_audited(folder: Path) -> None:
    frame = people()
    found = testsgd.audit(folder, frame, sensitive_features=["sex"], trust_pickle=True, **QUICK)
    expected = testsgd.audit(decide, frame[["income", "sex"]], sensitive_features=["sex"], **QUICK)
    pd.testing.assert_frame_equal(found.groups, expected.groups)
    assert found.summary.model.name == str(folder)
    assert found.summary.model.kind == "MLflow model"


@pytest.mark.parametrize("described", [False, True])
def test_nothing_is_read_without_the_users_word(folder: Path, described: bool) -> None:
    options: dict[str, Any] = {"spec": "demo"}
    if not described:
        options = {"data": people(), "sensitive_features": ["sex"]}
    with pytest.raises(ModelError) as caught:
        testsgd.audit(folder, **options)
    assert "trust_pickle" in str(caught.value)


def test_a_folder_that_cannot_be_read_is_one_line(folder: Path) -> None:
    (folder / "data").unlink()
    with pytest.raises(ModelError) as caught:
        testsgd.audit(folder, people(), sensitive_features=["sex"], trust_pickle=True)
    assert "no data" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_mlflow_the_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(MissingExtraError) as caught:
        testsgd.audit(folder, people(), sensitive_features=["sex"], trust_pickle=True)
    assert "testsgd[mlflow]" in str(caught.value)


def test_a_model_that_is_an_object_gets_the_columns_of_its_signature() -> None:
    frame = people()
    model = PyFuncModel(["income", "sex"])
    testsgd.audit(model, frame, sensitive_features=["sex"], **QUICK)
    assert all(columns == ["income", "sex"] for columns in model.asked)
    for names in (None, []):
        model = PyFuncModel(names)
        testsgd.audit(model, frame, sensitive_features=["sex"], **QUICK)
        assert all(columns == list(frame.columns) for columns in model.asked)


def test_texts_go_into_the_column_of_the_signature() -> None:
    specification = testsgd.TextSpecification.model_validate(
        {
            "dataset": {"name": "comments"},
            "text": {},
            "label": {"column": "toxic", "favourable": "yes", "values": ["no", "yes"]},
        }
    )
    model = load_text_model(PyFuncModel(["comment"]), specification).model
    assert model.decisions(["Hello", "HELLO"]).tolist() == [False, True]


# MLflow warns of much that is of no matter here.
@pytest.mark.filterwarnings("ignore")
def test_a_folder_that_mlflow_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyfunc = pytest.importorskip("mlflow.pyfunc")
    models = pytest.importorskip("mlflow.models")
    monkeypatch.chdir(tmp_path)

    class Lender(pyfunc.PythonModel):  # type: ignore[misc]
        # MLflow takes type hints for a schema.
        def predict(self, context, model_input, params=None):
            return np.where(model_input["income"] > 50 - 8 * (model_input["sex"] == "m"), 1, 0)

    frame = people()
    given = frame[["income", "sex"]]
    path = tmp_path / "lender"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pyfunc.save_model(
            path,
            python_model=Lender(),
            signature=models.infer_signature(given, np.array([0, 1])),
            pip_requirements=[],
        )
    before = sorted(tmp_path.iterdir())
    expected = testsgd.audit(
        lambda rows: (decide(rows) == "yes").astype(int),
        given,
        sensitive_features=["sex"],
        **QUICK,
    )
    read = testsgd.audit("lender", frame, sensitive_features=["sex"], trust_pickle=True, **QUICK)
    pd.testing.assert_frame_equal(read.groups, expected.groups)
    loaded = pyfunc.load_model(str(path))
    given_loaded = testsgd.audit(loaded, frame, sensitive_features=["sex"], **QUICK)
    pd.testing.assert_frame_equal(given_loaded.groups, expected.groups)
    assert sorted(tmp_path.iterdir()) == before
    with pytest.raises(TestSGDError) as caught:
        testsgd.audit(loaded, frame.drop(columns="income"), sensitive_features=["sex"])
    assert "income" in str(caught.value)

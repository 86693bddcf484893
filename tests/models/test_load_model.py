"""Whatever a user may name as a model is found, or the error says what would be."""

from __future__ import annotations

import importlib
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import testsgd
from testsgd.data import DatasetSpecification, Table, bundled_folder, load_specification
from testsgd.errors import ModelError, ParameterError
from testsgd.io import sha256_of_file
from testsgd.models import (
    CARD_FILE,
    MODEL_FILE,
    PREPROCESSING_FILE,
    NetworkModel,
    load_model,
)
from testsgd.models.sources import MODEL_FILES

SHIPPED = bundled_folder("models") / "demo" / MODEL_FILE

MODULE = """
THRESHOLD = 30

def by_income(frame):
    return ["yes" if income > THRESHOLD else "no" for income in frame["income"]]

class Rules:
    def predict(self, frame):
        return ["yes"] * len(frame)

class Holder:
    rules = Rules()
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module of the user's in the working folder, under a name that nothing else has."""
    name = f"loans_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield name
    sys.modules.pop(name, None)


def write_module(name: str, text: str) -> None:
    Path(f"{name}.py").write_text(text, encoding="utf-8")


def test_none_is_the_network_trained_for_the_data_set(
    demo_specification: DatasetSpecification, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    loaded = load_model(None, demo_specification)
    assert isinstance(loaded.model, NetworkModel)
    assert loaded.model.name == "demo"
    assert loaded.file_sha256 == sha256_of_file(SHIPPED)
    assert loaded.card["data set"] == "demo"


def test_a_network_in_the_working_folder_comes_before_the_shipped_one(
    demo_specification: DatasetSpecification, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(SHIPPED.parent, tmp_path / "models" / "demo")
    (tmp_path / "models" / "demo" / CARD_FILE).write_text('{"mine": 1}', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    loaded = load_model(None, demo_specification)
    assert loaded.card == {"mine": 1}
    # The same network as the shipped one goes by its name; another one by its file.
    assert loaded.model.name == "demo"
    shutil.copy(SHIPPED.parent.parent / "census" / MODEL_FILE, tmp_path / "models" / "demo")
    shutil.copy(SHIPPED.parent.parent / "census" / PREPROCESSING_FILE, tmp_path / "models" / "demo")
    census = load_specification("census").model_copy(update={"dataset": demo_specification.dataset})
    assert load_model(None, census).model.name == str(Path("models/demo/model.keras"))
    # A name of the catalogue is always the shipped one.
    assert load_model("demo", demo_specification).card["data set"] == "demo"


@pytest.mark.parametrize("source", ["demo", str(SHIPPED), SHIPPED])
def test_a_name_and_a_file_are_the_same_network(
    source: Any, demo_specification: DatasetSpecification, demo_table: Table
) -> None:
    loaded = load_model(source, demo_specification)
    shipped = load_model(None, demo_specification)
    frame = demo_table.frame.iloc[:200]
    np.testing.assert_array_equal(loaded.model.decisions(frame), shipped.model.decisions(frame))
    assert (loaded.file_sha256, loaded.model.name) == (shipped.file_sha256, "demo")


def test_a_network_goes_by_the_threshold_and_the_favourable_label(
    demo_specification: DatasetSpecification, demo_table: Table
) -> None:
    frame = demo_table.frame.iloc[:1000]
    scores = load_model(None, demo_specification).model.scores(frame)
    for threshold in (0.0, 0.2, 0.9):
        strict = load_model(None, demo_specification, threshold=threshold).model
        np.testing.assert_array_equal(strict.decisions(frame), scores > threshold)
        np.testing.assert_array_equal(strict.prepare(frame).decisions(), scores > threshold)
        assert strict.threshold == threshold


@pytest.mark.parametrize("threshold", [-0.1, 1, 1.5, float("nan"), "half", None])
def test_a_threshold_that_is_no_score_is_an_error(
    demo_specification: DatasetSpecification, threshold: Any
) -> None:
    with pytest.raises(ParameterError, match="threshold"):
        load_model(None, demo_specification, threshold=threshold)


@pytest.mark.parametrize("path", ["by_income", "Rules", "Holder.rules", "Holder.rules.predict"])
def test_a_module_of_the_working_folder(
    module: str, demo_specification: DatasetSpecification, path: str
) -> None:
    loaded = load_model(f"{module}:{path}", demo_specification)
    assert loaded.model.name == f"{module}:{path}"
    assert (loaded.file_sha256, loaded.card) == (None, {})
    if path != "Rules":
        frame = pd.DataFrame({"income": [10, 40]})
        expected = [False, True] if path == "by_income" else [True, True]
        assert loaded.model.decisions(frame).tolist() == expected


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("no_such_module:f", "there is no module 'no_such_module'"),
        ("{module}:nothing", "has no 'nothing'"),
        ("{module}:Holder.nothing", r"has no 'Holder\.nothing'"),
        ("{module}:", "has no ''"),
        (":by_income", "importing it raised ValueError"),
        ("{module}:THRESHOLD", "a int is no model"),
    ],
)
def test_what_cannot_be_imported_is_named(
    module: str, demo_specification: DatasetSpecification, source: str, message: str
) -> None:
    with pytest.raises(ModelError, match=message):
        load_model(source.format(module=module), demo_specification)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import no_such_package", "there is no module 'no_such_package'"),
        ("1 / 0", "importing it raised ZeroDivisionError"),
        ("def f(:", "importing it raised SyntaxError"),
        ("import sys; sys.no_such_name", "importing it raised AttributeError"),
        ("raise SystemExit(0)", "importing it raised SystemExit"),
    ],
)
def test_a_module_that_fails_is_named(
    module: str, demo_specification: DatasetSpecification, text: str, message: str
) -> None:
    write_module(f"broken_{module}", text)
    with pytest.raises(ModelError, match=message):
        load_model(f"broken_{module}:f", demo_specification)


def test_an_estimator_and_a_pipeline_of_scikit_learn(
    demo_specification: DatasetSpecification, demo_table: Table
) -> None:
    numbers = ["income", "amount", "debt_ratio"]
    tree = DecisionTreeClassifier(max_depth=3).fit(demo_table.frame[numbers], demo_table.labels)

    pipeline = make_pipeline(
        make_column_transformer(
            (OneHotEncoder(), make_column_selector(dtype_include="category")),
            (StandardScaler(), make_column_selector(dtype_include="number")),
        ),
        LogisticRegression(),
    ).fit(demo_table.frame, demo_table.labels)
    loaded = load_model(pipeline, demo_specification)
    assert (loaded.model.name, loaded.model.kind) == ("Pipeline", "estimator Pipeline")
    np.testing.assert_array_equal(
        loaded.model.decisions(demo_table.frame), pipeline.predict(demo_table.frame) == "yes"
    )
    assert load_model(tree, demo_specification).model.name == "DecisionTreeClassifier"


def test_a_function_and_a_callable_object(demo_specification: DatasetSpecification) -> None:
    class Grant:
        def __call__(self, frame: pd.DataFrame) -> list[float]:
            return [0.9] * len(frame)

    frame = pd.DataFrame({"income": [1, 2]})
    loaded = load_model(Grant(), demo_specification, threshold=0.95)
    assert (loaded.model.name, loaded.model.kind) == ("Grant", "function")
    assert loaded.model.decisions(frame).tolist() == [False, False]
    assert loaded.model.threshold == 0.95
    assert load_model(Grant(), demo_specification).model.decisions(frame).all()


@pytest.mark.parametrize("source", [3, [], object(), pd.DataFrame({"a": [1]}), b"demo"])
def test_what_is_no_model_is_named(demo_specification: DatasetSpecification, source: Any) -> None:
    with pytest.raises(ModelError, match=f"a {type(source).__name__} is no model"):
        load_model(source, demo_specification)


@pytest.mark.parametrize("source", ["nonsense", "", "folder/demo", "../demo/../nonsense"])
def test_an_unknown_name_is_named(demo_specification: DatasetSpecification, source: str) -> None:
    with pytest.raises(ModelError, match=r"there is no model.*package\.module:callable"):
        load_model(source, demo_specification)


def test_the_working_folder_is_searched_for_the_model_and_its_modules_only(
    demo_specification: DatasetSpecification, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    write_module("lender_at_once", "LIMIT = 30")
    write_module("lender_later", "def decide(frame):\n    return frame['income'] > 30")
    write_module(
        "lender_with_neighbours",
        "import lender_at_once\n"
        "def hire(frame):\n"
        "    import lender_later\n"
        "    return ['no', 'yes'] * (len(frame) // 2) if lender_later else []",
    )
    write_module("colorsys", "raise AssertionError('the standard library comes first')")
    before = list(sys.path)
    model = load_model("lender_with_neighbours:hire", demo_specification).model
    assert sys.path == before
    assert model.decisions(pd.DataFrame({"income": [10, 40]})).tolist() == [False, True]
    sys.modules.pop("colorsys", None)
    assert importlib.import_module("colorsys").__name__ == "colorsys"


def test_a_new_type_of_model_file_is_one_line(
    demo_specification: DatasetSpecification, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_limit(path: Path) -> Any:
        limit = float(path.read_text(encoding="utf-8"))
        return lambda frame: np.where(frame["income"] > limit, "yes", "no")

    monkeypatch.setitem(MODEL_FILES, ".limit", read_limit)
    (tmp_path / "strict.limit").write_text("30", encoding="utf-8")
    loaded = load_model(tmp_path / "strict.limit", demo_specification)
    assert loaded.model.decisions(pd.DataFrame({"income": [10, 40]})).tolist() == [False, True]
    assert loaded.file_sha256 == sha256_of_file(tmp_path / "strict.limit")
    with pytest.raises(ModelError) as raised:
        load_model("nonsense", demo_specification)
    assert ".limit" in raised.value.remedy


def test_a_data_set_without_a_trained_network_says_how_to_get_one(
    demo_specification: DatasetSpecification, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    identity = demo_specification.dataset.model_copy(update={"name": "mine"})
    mine = demo_specification.model_copy(update={"dataset": identity})
    # No name of the catalogue is advised that is none.
    with pytest.raises(ModelError, match=r"testsgd train(?! mine)"):
        load_model(None, mine)
    with pytest.raises(ModelError, match=r"testsgd train 'a folder/my\.toml'"):
        load_model(None, mine.of_file(Path("a folder/my.toml")))


@pytest.mark.parametrize("name", ["m.foo", "j.pt", "empty", "folder"])
def test_what_is_there_but_of_an_unknown_kind_is_not_called_missing(
    name: str, demo_specification: DatasetSpecification, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.mkdir() if name == "folder" else path.write_bytes(b"" if name == "empty" else b"x")
    with pytest.raises(ModelError) as there:
        load_model(path, demo_specification)
    with pytest.raises(ModelError) as missing:
        load_model(tmp_path / f"no {name}", demo_specification)
    assert there.value.details == {"path": str(path)}
    assert missing.value.details == {}
    assert there.value.what.replace(name, "") != missing.value.what.replace(f"no {name}", "")
    assert all(ending in there.value.remedy for ending in MODEL_FILES)
    assert ("torch" in there.value.remedy) == (name == "j.pt")


def test_of_the_folder_of_a_network_the_network_is_named(
    demo_specification: DatasetSpecification, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("my network")
    shutil.copytree(bundled_folder("models") / "demo", folder)
    with pytest.raises(ModelError) as raised:
        load_model(folder, demo_specification)
    advised = shlex.split(raised.value.remedy)[-1]
    assert Path(advised).parent == folder
    load_model(advised, demo_specification)
    with pytest.raises(ModelError) as raised:
        testsgd.certify(folder, "demo", protected="gender")
    assert shlex.split(raised.value.remedy)[-1] == advised

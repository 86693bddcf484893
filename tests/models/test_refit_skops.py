"""Fitted estimators are written as .skops files and read back; strangers' types are not trusted."""

from __future__ import annotations

import sys
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import Birch
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_array

from testsgd.data import DatasetSpecification, Table, TextSpecification
from testsgd.errors import MissingExtraError, ModelError
from testsgd.io import replacing_any_file, sha256_of_file
from testsgd.models import (
    Examples,
    load_model,
    load_text_model,
    read_card,
    read_model_file,
    refitter_for,
)
from testsgd.models.skops_files import check_skops, read_skops, write_skops

needs_skops = pytest.mark.skops


@pytest.fixture
def training(demo_table: Table) -> Examples:
    assert demo_table.labels is not None
    return Examples(demo_table.frame.iloc[:400], (demo_table.labels.iloc[:400] == "yes").to_numpy())


def with_encoding(last: Any) -> Any:
    text = make_column_selector(dtype_exclude="number")
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(make_column_transformer((encoder, text), remainder=StandardScaler()), last)


@needs_skops
@pytest.mark.parametrize(
    "last",
    [
        LogisticRegression(),
        RandomForestClassifier(3, random_state=0),
        GradientBoostingClassifier(n_estimators=3),
        HistGradientBoostingClassifier(max_iter=3),
        CalibratedClassifierCV(LogisticRegression(), cv=2),
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=2),
    ],
    ids=lambda last: type(last).__name__,
)
def test_what_was_refitted_can_be_audited_and_refitted_again(
    last: Any, training: Examples, demo_specification: DatasetSpecification, tmp_path: Path
) -> None:
    labels = np.where(training.favourable, "yes", "no")
    estimator = with_encoding(last).fit(training.frame, labels)
    loaded = load_model(estimator, demo_specification)
    refitter = refitter_for(loaded, demo_specification, training, training)
    refitter.check_writable()
    (stage,) = refitter.refit(None, seed=0)
    files = refitter.write(stage.model, tmp_path / "new", {"made from": "a pipeline"})
    assert sorted(files) == sorted((tmp_path / "new").iterdir())
    assert read_card(tmp_path / "new")["made from"] == "a pipeline"

    path = tmp_path / "new" / "model.skops"
    again = load_model(path, demo_specification)
    assert again.file_sha256 == sha256_of_file(path)
    assert again.card["made from"] == "a pipeline"
    assert (again.model.name, again.model.kind) == ("new", "estimator Pipeline")
    frame = training.frame
    np.testing.assert_array_equal(again.model.decisions(frame), stage.model.decisions(frame))
    (anew,) = refitter_for(again, demo_specification, training, training).refit(None, seed=0)
    np.testing.assert_array_equal(anew.model.decisions(frame), stage.model.decisions(frame))


@needs_skops
def test_so_can_one_of_texts(tmp_path: Path) -> None:
    specification = TextSpecification.model_validate(
        {
            "dataset": {"name": "comments"},
            "text": {"column": "comment"},
            "label": {"column": "toxic", "favourable": "no", "values": ["no", "yes"]},
        }
    )
    estimator = make_pipeline(TfidfVectorizer(), LogisticRegression())
    estimator.fit(["good film", "bad film", "good", "bad"], ["no", "yes"] * 2)
    write_skops(estimator, tmp_path / "model.skops")
    loaded = load_text_model(str(tmp_path / "model.skops"), specification)
    assert loaded.model.decisions(["good", "bad"]).tolist() == [True, False]


class Stranger(BaseEstimator):
    def fit(self, frame: Any, labels: Any) -> Stranger:
        return self

    def predict(self, frame: Any) -> list[str]:
        return ["yes"] * len(frame)


@needs_skops
@pytest.mark.parametrize("inside", [Stranger(), FunctionTransformer(sys.exit)])
def test_types_of_others_are_named_and_not_run(inside: Any, tmp_path: Path) -> None:
    write_skops(make_pipeline(inside), tmp_path / "model.skops")
    with pytest.raises(ModelError, match="not trusted") as caught:
        read_skops(tmp_path / "model.skops")
    named = "Stranger" if isinstance(inside, Stranger) else "sys.exit"
    assert named in caught.value.what
    assert "package.module" in caught.value.remedy


@needs_skops
@pytest.mark.parametrize("damage", ["empty", "text", "cut", "other"])
def test_a_damaged_file_is_told(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "model.skops"
    write_skops(LogisticRegression(), path)
    if damage == "other":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("schema.json", "{}")
    else:
        path.write_bytes({"empty": b"", "text": b"hello", "cut": path.read_bytes()[:-50]}[damage])
    with pytest.raises(ModelError, match=r"not a \.skops file"):
        read_skops(path)


@needs_skops
def test_a_file_that_is_not_there_and_one_that_is_no_model_are_told(
    demo_specification: DatasetSpecification, tmp_path: Path
) -> None:
    with pytest.raises(ModelError, match="no such file"):
        load_model(tmp_path / "none.skops", demo_specification)
    write_skops(StandardScaler(), tmp_path / "scaler.skops")
    with pytest.raises(ModelError, match="StandardScaler is no model"):
        load_model(tmp_path / "scaler.skops", demo_specification)


@needs_skops
def test_what_cannot_be_written_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    path = tmp_path / "model.skops"
    write_skops(LogisticRegression(), path)
    before = path.read_bytes()
    with replacing_any_file(), pytest.raises(ModelError, match="cannot be written"):
        write_skops(make_pipeline(Birch()), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_without_skops_the_install_line_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    for call in (check_skops, lambda: read_skops(tmp_path), lambda: write_skops(1, tmp_path)):
        with pytest.raises(MissingExtraError, match=r"testsgd\[skops\]"):
            call()


@needs_skops
@pytest.mark.parametrize(
    "last",
    [HistGradientBoostingClassifier(max_iter=2), LogisticRegression()],
    ids=["trees", "line"],
)
def test_pipelines_with_imputers_are_read(last: Any, tmp_path: Path) -> None:
    people = pd.DataFrame({"sex": ["f", "m", None, "f"] * 10, "age": [20.0, None, 40.0, 50.0] * 10})
    encoded = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    columns = make_column_transformer(
        (encoded, ["sex"]),
        (SimpleImputer(), make_column_selector(dtype_include=np.number)),
        sparse_threshold=0,
    )
    estimator = make_pipeline(columns, last).fit(people, ["<=50K", ">50K"] * 20)
    write_skops(estimator, tmp_path / "model.skops")
    again = read_skops(tmp_path / "model.skops")
    assert again.predict(people).tolist() == estimator.predict(people).tolist()


LINES = [("a", LogisticRegression()), ("b", LogisticRegression(C=2.0))]


@needs_skops
@pytest.mark.parametrize(
    "estimator",
    [
        KNeighborsClassifier(),
        KNeighborsClassifier(algorithm="ball_tree", leaf_size=2),
        KNeighborsClassifier(algorithm="kd_tree", leaf_size=1),
        VotingClassifier(LINES),
        StackingClassifier(LINES, cv=2),
        make_pipeline(SelectKBest(f_classif, k=1), LogisticRegression()),
        HistGradientBoostingClassifier(max_iter=2, categorical_features=[1]),
    ],
    ids=["neighbours", "balls", "boxes", "votes", "stack", "best", "histograms"],
)
def test_what_scikit_learn_itself_holds_is_trusted(estimator: Any, tmp_path: Path) -> None:
    source = np.random.default_rng(0)
    rows = np.column_stack([source.normal(size=150), source.integers(0, 4, 150)])
    fitted = estimator.fit(rows, (rows.sum(axis=1) > 1).astype(int))
    write_skops(fitted, tmp_path / "model.skops")
    again = read_skops(tmp_path / "model.skops", trusted=False)
    assert again.predict(rows).tolist() == fitted.predict(rows).tolist()


@needs_skops
@pytest.mark.parametrize("same_number", [False, True])
def test_a_partial_call_of_something_else_is_not_trusted(same_number: bool, tmp_path: Path) -> None:
    import skops.io

    path = tmp_path / "model.skops"
    inside = [np.log, partial(check_array if same_number else np.log)]
    skops.io.dump(FunctionTransformer(kw_args={"a": inside}), path)
    if same_number:
        # As skops reads the file, both are then the first one.
        with zipfile.ZipFile(path) as archive:
            schema = archive.read("schema.json").decode()
        schema = schema.replace(str(id(check_array)), str(id(np.log)))
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("schema.json", schema)
        (_, called) = skops.io.load(path, trusted=["functools.partial"]).kw_args["a"]
        assert called.func is np.log
    with pytest.raises(ModelError) as caught:
        read_skops(path, trusted=False)
    assert caught.value.details["types"] == ("functools.partial",)


@needs_skops
def test_types_of_others_are_read_on_the_users_word(tmp_path: Path) -> None:
    path = tmp_path / "model.skops"
    write_skops(Stranger(), path)
    with pytest.raises(ModelError) as caught:
        read_model_file(path, trust_pickle=False)
    assert [name.rpartition(".")[2] for name in caught.value.details["types"]] == ["Stranger"]
    assert "--trust-pickle" in caught.value.remedy
    assert isinstance(read_model_file(path, trust_pickle=True), Stranger)

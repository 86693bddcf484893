"""Models in files of XGBoost, LightGBM, CatBoost and ONNX: they say what their library says."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from booster_models import (
    REGRESSIONS,
    WRITERS,
    Said,
    lightgbm_file,
    people,
    salaries,
    xgboost_file,
)

import testsgd
from testsgd.cli.main import _run
from testsgd.errors import MissingExtraError, ModelError, TestSGDError
from testsgd.models import adapted, load_model, read_model_file

pytestmark = pytest.mark.boosters

QUICK: dict[str, Any] = {"replicates": 99, "stability": 0}


@pytest.fixture(params=WRITERS)
def written(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Said]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return WRITERS[request.param](tmp_path)


def test_a_file_is_audited_as_what_its_library_says(written: tuple[Path, Said]) -> None:
    path, said = written
    rows, granted = people()
    read = testsgd.audit(path, rows, granted, sensitive_features=["woman"], **QUICK)
    asked = testsgd.audit(
        lambda frame: np.ravel(said(frame)), rows, granted, sensitive_features=["woman"], **QUICK
    )
    pd.testing.assert_frame_equal(read.groups, asked.groups)
    assert read.summary.model.file_sha256 is not None
    assert 0.05 < read.summary.overall_rate < 0.95


def test_its_0_and_1_are_the_labels_of_a_description(written: tuple[Path, Said]) -> None:
    path, said = written
    rows, _ = people()
    for favourable in ("no", "yes"):
        spec = testsgd.DatasetSpecification.model_validate(
            {
                "dataset": {"name": "people"},
                "label": {
                    "column": "granted",
                    "favourable": favourable,
                    "values": ["no", "yes"],
                    "map": {"0": "no", "1": "yes"},
                },
                "features": {
                    "woman": {"type": "integer", "range": [0, 1], "sensitive": True},
                    "age": {"type": "decimal", "range": [18, 80]},
                    "income": {"type": "decimal", "range": [0, 100]},
                },
            }
        )
        decisions = load_model(path, spec).model.decisions(rows)
        wanted = 1 if favourable == "yes" else 0
        np.testing.assert_array_equal(decisions, np.ravel(said(rows)) == wanted)


def test_columns_in_another_order_are_found_by_their_names(written: tuple[Path, Said]) -> None:
    path, _ = written
    if not hasattr(read_model_file(path, trust_pickle=False), "feature_names_in_"):
        pytest.skip("an input of all columns has no names")
    rows, granted = people()
    first, second = (
        testsgd.audit(path, rows[columns], granted, sensitive_features=["woman"], **QUICK)
        for columns in (["woman", "age", "income"], ["income", "woman", "age"])
    )
    pd.testing.assert_frame_equal(first.groups, second.groups)


def test_other_columns_are_one_line(written: tuple[Path, Said]) -> None:
    path, _ = written
    rows, granted = people()
    with pytest.raises(TestSGDError) as caught:
        testsgd.audit(path, rows.drop(columns="age"), granted, sensitive_features=["woman"])
    assert "\n" not in str(caught.value)


def test_columns_that_an_onnx_model_of_one_input_does_not_take_are_named(tmp_path: Path) -> None:
    path, _ = WRITERS["ONNX, one input"](tmp_path)
    rows, granted = people()
    with pytest.raises(ModelError, match="land"):
        testsgd.audit(
            path,
            rows.assign(land=np.where(rows["age"] > 40, "a", "b")),
            granted,
            sensitive_features=["land"],
        )
    texts = rows.assign(age=rows["age"].astype(str) + " years")
    with pytest.raises(ModelError, match="'age'"):
        testsgd.audit(path, texts, granted, sensitive_features=["woman"])


@pytest.mark.parametrize("ending", [".json", ".ubj", ".txt", ".cbm", ".onnx"])
@pytest.mark.parametrize("content", [b"", b"nothing of the kind", b"{}"])
def test_a_broken_file_is_one_line(ending: str, content: bytes, tmp_path: Path) -> None:
    for package in ("xgboost", "lightgbm", "catboost", "onnxruntime"):
        pytest.importorskip(package)
    rows, granted = people()
    path = tmp_path / f"broken{ending}"
    path.write_bytes(content)
    for file in (path, tmp_path / f"nothing{ending}"):
        with pytest.raises(TestSGDError) as caught:
            testsgd.audit(file, rows, granted, sensitive_features=["woman"])
        assert "\n" not in str(caught.value)


@pytest.fixture(params=REGRESSIONS)
def regression(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Said]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return REGRESSIONS[request.param](tmp_path)


def test_the_numbers_of_a_regression_are_compared_by_metrics(
    regression: tuple[Path, Said], tmp_path: Path
) -> None:
    path, said = regression
    rows, salary = salaries()
    rows.assign(salary=salary).to_csv(tmp_path / "people.csv", index=False)
    chosen = ["--label", "salary", "--sensitive", "woman", "--metrics", "mean,mean_error"]
    code = _run(
        [
            *("audit", str(tmp_path / "people.csv"), "--model", str(path), *chosen),
            *("--out", str(tmp_path / "results")),
        ]
    )
    assert code == 0
    result = testsgd.MetricsResult.from_json(tmp_path / "results" / "result.json")
    numbers = np.asarray(said(rows), dtype=np.float64)
    women = (rows["woman"] == 1).to_numpy()
    for metric, values in {"mean": numbers, "mean_error": numbers - salary.to_numpy()}.items():
        (found,) = (one for one in result.summary.metrics if one.name == metric)
        effects = abs(values[women].mean() - values[~women].mean())
        # Numbers of single precision are rounded in another way by each processor and library.
        assert abs(found.groups[0].effect) == pytest.approx(effects, rel=1e-5, abs=1e-5)


def test_a_regression_has_no_labels(regression: tuple[Path, Said]) -> None:
    path, _ = regression
    rows, salary = salaries()
    _, granted = people()
    model = read_model_file(path, trust_pickle=False)
    assert not hasattr(model, "classes_")
    for labels in (None, granted, salary):
        with pytest.raises(TestSGDError) as caught:
            testsgd.audit(model, rows, labels, sensitive_features=["woman"], **QUICK)
        assert "\n" not in str(caught.value)
        if labels is not salary or path.suffix != ".onnx":
            assert "audit_model_by_metrics" in caught.value.remedy


def test_a_regression_of_several_numbers_is_one_line(tmp_path: Path) -> None:
    xgboost = pytest.importorskip("xgboost")
    rows, salary = salaries()
    model = xgboost.XGBRegressor(n_estimators=2).fit(rows, np.column_stack([salary, salary]))
    with pytest.raises(ModelError) as caught:
        testsgd.audit_model_by_metrics(
            model.get_booster(), rows, salary, sensitive_features=["woman"]
        )
    assert "\n" not in str(caught.value)


def test_three_classes(tmp_path: Path) -> None:
    xgboost = pytest.importorskip("xgboost")
    rows, _ = people()
    level = pd.cut(rows["income"], [-np.inf, 45, 55, np.inf], labels=False)
    model = xgboost.XGBClassifier(n_estimators=10, max_depth=2).fit(rows, level)
    model.save_model(tmp_path / "model.json")
    result = testsgd.audit(
        tmp_path / "model.json", rows, level, sensitive_features=["woman"], favourable=2, **QUICK
    )
    assert result.summary.overall_rate == (model.predict(rows) == 2).mean()


@pytest.mark.parametrize(
    ("ending", "package"),
    [(".ubj", "xgboost"), (".txt", "lightgbm"), (".cbm", "catboost"), (".onnx", "onnxruntime")],
)
def test_a_package_that_is_missing_is_named(
    ending: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / f"model{ending}").write_bytes(b"")
    with pytest.raises(MissingExtraError) as caught:
        read_model_file(tmp_path / f"model{ending}", trust_pickle=False)
    assert package in str(caught.value)


@pytest.mark.parametrize("package", ["xgboost", "lightgbm"])
def test_texts_of_a_table_are_the_categories_of_a_model(package: str, tmp_path: Path) -> None:
    library = pytest.importorskip(package)
    rows, granted = people()
    texts = rows.assign(woman=rows["woman"].map({0.0: "no", 1.0: "yes"}))
    categories = texts.astype({"woman": "category"})
    if package == "xgboost":
        if not hasattr(library.Booster, "get_categories"):
            pytest.skip("before 3.1, files of XGBoost have no names of categories")
        path = tmp_path / "model.ubj"
        model = library.XGBClassifier(n_estimators=20, enable_categorical=True)
        model.fit(categories, granted).save_model(path)
    else:
        path = tmp_path / "model.txt"
        model = library.LGBMClassifier(n_estimators=20, verbose=-1).fit(categories, granted)
        model.booster_.save_model(path)
    read = read_model_file(path, trust_pickle=False)
    said = model.predict(categories)
    for some in (texts["woman"] == "yes", texts["woman"] == "no", texts["age"] > 0):
        np.testing.assert_array_equal(read.predict(texts[some]), said[some])
    result = testsgd.audit(path, texts, granted, sensitive_features=["woman"], **QUICK)
    assert result.summary.overall_rate == said.mean()


@pytest.mark.parametrize("kind", ["str", "category"])
@pytest.mark.parametrize("ending", [".ubj", ".txt"])
def test_texts_are_no_numbers(ending: str, kind: str, tmp_path: Path) -> None:
    path, _ = xgboost_file(tmp_path, ending) if ending == ".ubj" else lightgbm_file(tmp_path)
    rows, granted = people()
    texts = rows.assign(age=pd.Series(np.where(rows["age"] > 40, "old", "young"), dtype=kind))
    with pytest.raises(TestSGDError):
        testsgd.audit(path, texts, granted, sensitive_features=["woman"], **QUICK)


def _stopped_early(estimator: str) -> tuple[pd.DataFrame, Any, Any]:
    """Return rows, their labels, and a model of XGBoost with more rounds than it counts."""
    xgboost = pytest.importorskip("xgboost")
    source = np.random.default_rng(0)
    rows = pd.DataFrame({"sex": source.integers(0, 2, 900), "age": source.normal(size=900)})
    true = rows["age"] + source.normal(0, 1.5, 900)
    if estimator == "XGBClassifier":
        true = (true > 0).astype(int)
    model = getattr(xgboost, estimator)(
        n_estimators=60, learning_rate=0.5, early_stopping_rounds=5, n_jobs=1
    )
    model.fit(rows[:600], true[:600], eval_set=[(rows[600:], true[600:])], verbose=False)
    assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    return rows, true, model


@pytest.mark.parametrize("kind", ["json", "ubj"])
@pytest.mark.parametrize("estimator", ["XGBClassifier", "XGBRegressor"])
def test_the_file_of_a_model_that_stopped_early_is_read_up_to_the_best_round(
    estimator: str, kind: str, tmp_path: Path
) -> None:
    rows, true, model = _stopped_early(estimator)
    file = tmp_path / f"model.{kind}"
    model.save_model(file)
    read = read_model_file(file, trust_pickle=False)
    np.testing.assert_allclose(read.predict(rows), model.predict(rows), rtol=1e-6)
    if estimator == "XGBClassifier":
        probabilities = model.predict_proba(rows)[:, 1]
        means = {f"sex = {sex}": float(probabilities[rows["sex"] == sex].mean()) for sex in (0, 1)}
        groups = testsgd.audit_model_by_metrics(
            file, rows, true, sensitive_features=["sex"], metrics="mean_score"
        ).groups
        assert dict(zip(groups["text"], groups["value"], strict=True)) == pytest.approx(means)


@pytest.mark.parametrize("estimator", ["XGBClassifier", "XGBRegressor"])
def test_a_booster_that_stopped_early_counts_all_rounds(estimator: str, tmp_path: Path) -> None:
    xgboost = pytest.importorskip("xgboost")
    rows, _, model = _stopped_early(estimator)
    booster = model.get_booster()
    file = tmp_path / "model.json"
    booster.save_model(file)
    said = booster.predict(xgboost.DMatrix(rows))
    if estimator == "XGBClassifier":
        said = (said > 0.5).astype(int)
    for read in (adapted(booster), read_model_file(file, trust_pickle=False)):
        np.testing.assert_allclose(read.predict(rows), said, rtol=1e-6)


def test_a_booster_of_xgboost_itself_is_a_model() -> None:
    xgboost = pytest.importorskip("xgboost")
    rows, granted = people()
    model = xgboost.XGBClassifier(n_estimators=20, max_depth=3).fit(rows, granted)
    by_classifier, by_booster = (
        testsgd.audit(asked, rows, granted, sensitive_features=["woman"], **QUICK).groups
        for asked in (model, model.get_booster())
    )
    pd.testing.assert_frame_equal(by_classifier, by_booster)


def test_a_booster_of_lightgbm_takes_its_columns_by_name() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    rows, granted = people()
    model = lightgbm.LGBMClassifier(n_estimators=20, verbose=-1).fit(rows, granted)
    said = model.predict(rows)
    more = rows[rows.columns[::-1]].assign(region=np.resize(["north", "south", "east"], len(rows)))
    for given in (rows, rows[rows.columns[::-1]], more):
        result = testsgd.audit(
            model.booster_, given, granted, sensitive_features=["woman"], **QUICK
        )
        assert result.summary.overall_rate == said.mean()
        model_shown = result.summary.model
        assert (model_shown.name, model_shown.kind) == ("Booster", "estimator Booster")


def test_a_model_of_catboost_takes_its_columns_by_name() -> None:
    catboost = pytest.importorskip("catboost")
    rows, granted = people()
    options = {"iterations": 20, "verbose": False, "allow_writing_files": False}
    model = catboost.CatBoostClassifier(**options).fit(rows, granted)
    said = model.predict(rows)
    more = rows[rows.columns[::-1]].assign(region=np.resize(["north", "south", "east"], len(rows)))
    for given in (rows, more):
        result = testsgd.audit(model, given, granted, sensitive_features=["woman"], **QUICK)
        assert result.summary.overall_rate == (said == 1).mean()
    numbers = catboost.CatBoostRegressor(**options).fit(rows, rows["age"])
    result = testsgd.audit_model_by_metrics(
        numbers, more, rows["age"], sensitive_features=["woman"], metrics=["mean"]
    )
    [metric] = result.summary.metrics
    assert metric.overall == pytest.approx(numbers.predict(rows).mean())
    assert result.summary.model is not None
    assert result.summary.model.name == "CatBoostRegressor"


@pytest.mark.parametrize("what", ["object", "classifier", "method", "file"])
def test_blanks_in_the_names_of_columns(what: str, tmp_path: Path) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    rows, granted = people()
    blank = rows.rename(columns={"age": "age in years"})
    model = lightgbm.LGBMClassifier(n_estimators=20, verbose=-1).fit(blank, granted)
    model.booster_.save_model(tmp_path / "model.txt")
    asked = {
        "object": model.booster_,
        "classifier": model,
        "method": model.booster_.predict,
        "file": tmp_path / "model.txt",
    }[what]
    for given in (blank, blank[blank.columns[::-1]]):
        result = testsgd.audit(asked, given, granted, sensitive_features=["woman"], **QUICK)
        assert result.summary.overall_rate == model.predict(blank).mean()


@pytest.mark.parametrize("kind", ["object", "file", "method"])
def test_a_model_of_catboost_that_names_no_columns_counts_them(kind: str, tmp_path: Path) -> None:
    catboost = pytest.importorskip("catboost")
    rows, granted = people()
    options = {"iterations": 20, "verbose": False, "allow_writing_files": False}
    model = catboost.CatBoostClassifier(**options).fit(rows.to_numpy(), granted)
    model.save_model(str(tmp_path / "model.cbm"))
    asked = {"object": model, "method": model.predict, "file": tmp_path / "model.cbm"}[kind]
    result = testsgd.audit(asked, rows, granted, sensitive_features=["woman"], **QUICK)
    assert result.summary.overall_rate == (model.predict(rows.to_numpy()) == 1).mean()
    more = rows.copy()
    more.insert(0, "debt", np.linspace(0, 1, len(rows)))
    with pytest.raises(ModelError, match="columns"):
        testsgd.audit(asked, more, granted, sensitive_features=["woman"], **QUICK)
    numbers = catboost.CatBoostRegressor(**options).fit(rows.to_numpy(), rows["age"])
    with pytest.raises(ModelError, match="columns"):
        testsgd.audit_model_by_metrics(
            numbers, more, rows["age"], sensitive_features=["woman"], metrics=["mean"]
        )


def _classifier(library: str, **options: Any) -> tuple[Any, str]:
    """Return a classifier of a library, and the name of its file."""
    module: Any = pytest.importorskip(library)
    if library == "xgboost":
        return module.XGBClassifier(n_estimators=10, max_depth=3, **options), "model.json"
    if library == "lightgbm":
        return module.LGBMClassifier(n_estimators=20, verbose=-1, **options), "model.txt"
    quiet = {"iterations": 20, "verbose": False, "allow_writing_files": False}
    return module.CatBoostClassifier(**quiet, **options), "model.cbm"


def _saved(model: Any, path: Path) -> Path:
    (model.booster_ if path.suffix == ".txt" else model).save_model(str(path))
    return path


LIBRARIES = ["xgboost", "lightgbm", "catboost"]


def _values(model: Any, rows: pd.DataFrame, labels: Any, **options: Any) -> pd.DataFrame:
    """Return what metrics of two groups are."""
    result = testsgd.audit_model_by_metrics(
        model, rows, labels, sensitive_features=["woman"], **options
    )
    return result.groups[["metric", "text", "value", "reference_value"]]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("favourable", [0, 1])
def test_the_scores_of_a_file_are_the_probabilities_of_its_classifier(
    library: str, favourable: int, tmp_path: Path
) -> None:
    rows, granted = people()
    model, name = _classifier(library)
    model.fit(rows, granted)
    path = _saved(model, tmp_path / name)
    scores = model.predict_proba(rows)[:, favourable]
    women = (rows["woman"] == 1).to_numpy()
    wanted = ["mean_score", "calibration_error", "selection_rate"]
    asked: list[Any] = [path]
    if library != "catboost":
        asked.append(model.booster_ if library == "lightgbm" else model.get_booster())
    for source in asked:
        found = _values(source, rows, granted, metrics=wanted, favourable=favourable)
        pd.testing.assert_frame_equal(
            found, _values(model, rows, granted, metrics=wanted, favourable=favourable)
        )
        [mean] = found[(found["metric"] == "mean_score") & (found["text"] == "woman = 1")]["value"]
        assert mean == pytest.approx(scores[women].mean(), abs=1e-6)
        above = _values(
            source,
            rows,
            granted,
            metrics=["selection_rate"],
            favourable=favourable,
            threshold=0.2,
        )
        [rate] = above[above["text"] == "woman = 1"]["value"]
        assert rate == (scores[women] > 0.2).mean()
        without_labels = _values(source, rows, None, metrics=["mean_score"], favourable=favourable)
        [mean] = without_labels[without_labels["text"] == "woman = 1"]["value"]
        assert mean == pytest.approx(scores[women].mean(), abs=1e-6)


@pytest.mark.parametrize(
    ("library", "options"),
    [
        ("xgboost", {}),
        ("xgboost", {"objective": "multi:softmax"}),
        ("lightgbm", {}),
        ("catboost", {}),
    ],
)
def test_scores_of_one_of_three_classes(
    library: str, options: dict[str, Any], tmp_path: Path
) -> None:
    rows, _ = people()
    level = pd.cut(rows["income"], [-np.inf, 45, 55, np.inf], labels=False)
    model, name = _classifier(library, **options)
    model.fit(rows, level)
    path = _saved(model, tmp_path / name)
    found = _values(path, rows, level, metrics=["mean_score"], favourable=2)
    [mean] = found[found["text"] == "woman = 1"]["value"]
    scores = model.predict_proba(rows)[:, 2]
    assert mean == pytest.approx(scores[(rows["woman"] == 1).to_numpy()].mean(), abs=1e-6)


def test_a_file_without_probabilities_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, granted = people()
    model, name = _classifier("xgboost", objective="binary:hinge")
    path = _saved(model.fit(rows, granted), tmp_path / name)
    rows.assign(granted=granted).to_csv(tmp_path / "people.csv", index=False)
    chosen = ["--label", "granted", "--sensitive", "woman", "--out", str(tmp_path / "results")]
    command = ["audit", str(tmp_path / "people.csv"), "--model", str(path), *chosen]
    for further in (["--metrics", "mean_score"], ["--threshold", "0.3"]):
        assert _run([*command, *further]) == 2
        message = capsys.readouterr().err
        assert "probability" in message
        assert "lambda" not in message


@pytest.mark.parametrize("described", [False, True])
def test_a_file_with_probabilities_has_a_threshold_as_the_error_says(
    described: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows, granted = people()
    rows = rows.astype({"woman": int})
    model, name = _classifier("xgboost")
    path = _saved(model.fit(rows, granted), tmp_path / name)
    data = tmp_path / "people.csv"
    rows.assign(granted=granted).to_csv(data, index=False)
    asked = [str(data), "--label", "granted", "--sensitive", "woman"]
    if described:
        assert _run(["init", *asked]) == 0
        description = tmp_path / "people.toml"
        description.write_text(capsys.readouterr().out)
        asked = [str(description), "--data", str(data)]
    further = ["--out", str(tmp_path / "results"), "--threshold", "0.3"]
    command = ["audit", *asked, "--model", str(path), *further]
    capsys.readouterr()
    assert _run(command) == 2
    assert "--metrics selection_rate" in capsys.readouterr().err
    assert _run([*command, "--metrics", "selection_rate"]) == 0
    result = testsgd.MetricsResult.from_json(tmp_path / "results" / "result.json")
    [metric] = result.summary.metrics
    assert metric.overall == (model.predict_proba(rows)[:, 1] > 0.3).mean()


@pytest.mark.parametrize("names", [True, False])
def test_a_plain_catboost_is_read_as_its_file_is(names: bool, tmp_path: Path) -> None:
    catboost = pytest.importorskip("catboost")
    rows, _ = people()
    # Sums just above 0 are those of probabilities just above one half.
    often = (np.arange(len(rows)) % 10 < 6).astype(int)
    model = catboost.CatBoost(
        {
            "loss_function": "Logloss",
            "iterations": 3,
            "learning_rate": 0.01,
            "verbose": False,
            "allow_writing_files": False,
        }
    ).fit(rows if names else rows.to_numpy(), often)
    model.save_model(str(tmp_path / "model.cbm"))
    predicted = np.asarray(model.predict(rows, prediction_type="Class"), dtype=float)
    assert predicted.mean() > 0.8
    for source in (model, tmp_path / "model.cbm"):
        result = testsgd.audit(source, rows, often, sensitive_features=["woman"], **QUICK)
        assert result.summary.overall_rate == predicted.mean()
    pd.testing.assert_frame_equal(
        _values(model, rows, often, metrics=["mean_score"]),
        _values(tmp_path / "model.cbm", rows, often, metrics=["mean_score"]),
    )


@pytest.mark.parametrize("loss", ["RMSE", "Poisson"])
def test_a_plain_catboost_of_numbers_gives_numbers(loss: str, tmp_path: Path) -> None:
    catboost = pytest.importorskip("catboost")
    rows, salary = salaries()
    model = catboost.CatBoost(
        {
            "loss_function": loss,
            "iterations": 3,
            "verbose": False,
            "allow_writing_files": False,
        }
    ).fit(rows, salary / 1000)
    model.save_model(str(tmp_path / "model.cbm"))
    pd.testing.assert_frame_equal(
        _values(model, rows, salary / 1000, metrics=["mean"]),
        _values(tmp_path / "model.cbm", rows, salary / 1000, metrics=["mean"]),
    )

"""Sound models of LightGBM of many kinds are read, and say what LightGBM itself says of rows."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from testsgd.errors import ModelError
from testsgd.models.booster_files import read_lightgbm

pytestmark = pytest.mark.boosters
lightgbm = pytest.importorskip("lightgbm")

ROWS = 1200
BINARY: dict[str, Any] = {"objective": "binary"}
CLASSES: dict[str, Any] = {"objective": "multiclass", "num_class": 4}


@pytest.fixture(autouse=True)
def warnings_of_lightgbm() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def numbers() -> pd.DataFrame:
    """Return rows of numbers, of which some are missing and some are codes of a category."""
    source = np.random.default_rng(7)
    rows = pd.DataFrame(
        {
            "woman": source.integers(0, 2, ROWS),
            "age": source.integers(18, 80, ROWS).astype(float),
            "income": source.normal(50, 10, ROWS),
            "city": source.integers(0, 60, ROWS),
        }
    )
    rows.loc[source.random(ROWS) < 0.2, "income"] = np.nan
    rows.loc[source.random(ROWS) < 0.1, "age"] = 0
    return rows


def with_categories() -> pd.DataFrame:
    jobs = np.random.default_rng(8).choice(["nurse", "driver", "clerk", "cook", "guard"], ROWS)
    return numbers().assign(job=pd.Categorical(jobs))


def granted() -> NDArray[np.int64]:
    rows, source = with_categories(), np.random.default_rng(9)
    of_city = source.normal(0, 6, 60)[rows["city"]]
    scores = rows["income"].fillna(50) + of_city + 3 * rows["job"].cat.codes
    return (scores + source.normal(0, 3, ROWS) > 56).to_numpy().astype(np.int64)


def levels() -> NDArray[np.int64]:
    return (granted() + 2 * (numbers()["age"] > 50)).to_numpy().astype(np.int64)


def train(
    rows: Any, labels: Any, parameters: dict[str, Any], *, rounds: int = 12, **options: Any
) -> Any:
    """Return a booster; `options` are of the data set."""
    quiet = {"verbose": -1, "num_threads": 1, "seed": 3}
    data = lightgbm.Dataset(rows, labels, free_raw_data=False, **options)
    return lightgbm.train({**quiet, **parameters}, data, rounds)


def assert_read_as_by_lightgbm(path: Path, rows: Any) -> None:
    """Check that the file is read, and its labels are those of what LightGBM says itself."""
    said = lightgbm.Booster(model_file=str(path)).predict(rows)
    wanted = said.argmax(axis=1) if said.ndim == 2 else said > 0.5
    np.testing.assert_array_equal(read_lightgbm(path).predict(rows), wanted)


@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param({**BINARY, "linear_tree": True}, id="linear"),
        pytest.param({**BINARY, "linear_tree": True, "min_data_in_leaf": ROWS}, id="linear leaf"),
        pytest.param({**BINARY, "min_data_in_leaf": ROWS}, id="one leaf"),
        pytest.param(CLASSES, id="multiclass"),
        pytest.param({**CLASSES, "objective": "multiclassova"}, id="one against all"),
        pytest.param({**CLASSES, "num_class": 6}, id="classes without rows"),
        pytest.param({**CLASSES, "linear_tree": True}, id="multiclass, linear"),
        pytest.param({**BINARY, "boosting": "dart", "drop_rate": 0.5}, id="DART"),
        pytest.param(
            {**BINARY, "boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}, id="forest"
        ),
        pytest.param(
            {**CLASSES, "boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6},
            id="forest of classes",
        ),
        pytest.param({**BINARY, "data_sample_strategy": "goss"}, id="GOSS"),
        pytest.param({**BINARY, "zero_as_missing": True}, id="zero is missing"),
        pytest.param({**BINARY, "use_missing": False}, id="nothing is missing"),
        pytest.param({**BINARY, "monotone_constraints": [0, 1, 0, 0]}, id="monotone"),
        pytest.param({**BINARY, "interaction_constraints": [[0, 1], [2, 3]]}, id="interactions"),
        pytest.param({**BINARY, "extra_trees": True, "path_smooth": 1.0}, id="extra trees"),
        pytest.param({**BINARY, "use_quantized_grad": True}, id="quantized"),
        pytest.param({**BINARY, "is_unbalance": True, "sigmoid": 0.7}, id="unbalanced"),
    ],
)
def test_of_numbers(parameters: dict[str, Any], tmp_path: Path) -> None:
    labels = granted() if parameters["objective"] == "binary" else levels()
    train(numbers(), labels, parameters).save_model(tmp_path / "model.txt")
    assert_read_as_by_lightgbm(tmp_path / "model.txt", numbers())


@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param(BINARY, id="as by default"),
        pytest.param({**BINARY, "max_cat_to_onehot": 100}, id="one against the others"),
        pytest.param(
            {**BINARY, "max_cat_to_onehot": 1, "min_data_per_group": 1, "cat_smooth": 1},
            id="of many",
        ),
        pytest.param({**BINARY, "linear_tree": True}, id="linear"),
        pytest.param({**CLASSES, "boosting": "dart"}, id="multiclass"),
    ],
)
def test_of_categories(parameters: dict[str, Any], tmp_path: Path) -> None:
    labels = granted() if parameters["objective"] == "binary" else levels()
    booster = train(
        with_categories(), labels, parameters, categorical_feature=["city", "job", "woman"]
    )
    path = tmp_path / "model.txt"
    booster.save_model(path)
    assert re.search(r"(?m)^num_cat=[1-9]", path.read_text())
    assert_read_as_by_lightgbm(path, with_categories())


def stopped_early() -> Any:
    data = lightgbm.Dataset(numbers(), granted(), free_raw_data=False)
    # Labels of which a third are shuffled get worse soon.
    others = granted()
    others[: ROWS // 3] = np.random.default_rng(1).permutation(others[: ROWS // 3])
    judge = lightgbm.Dataset(numbers(), others, reference=data, free_raw_data=False)
    booster = lightgbm.train(
        {**BINARY, "verbose": -1, "num_threads": 1},
        data,
        100,
        # Otherwise the trees after the best round are gone.
        keep_training_booster=True,
        valid_sets=[judge],
        callbacks=[lightgbm.early_stopping(4, verbose=False)],
    )
    assert 1 < booster.best_iteration < booster.num_trees()
    return booster


@pytest.mark.parametrize("rounds", [None, -1, 2])
def test_that_were_stopped_early(rounds: int | None, tmp_path: Path) -> None:
    stopped_early().save_model(tmp_path / "model.txt", num_iteration=rounds)
    assert_read_as_by_lightgbm(tmp_path / "model.txt", numbers())


def test_of_some_rounds_and_of_none(tmp_path: Path) -> None:
    booster = train(numbers(), levels(), CLASSES)
    for start in (5, booster.current_iteration()):
        booster.save_model(tmp_path / "model.txt", start_iteration=start, importance_type="gain")
        assert_read_as_by_lightgbm(tmp_path / "model.txt", numbers())


def test_that_were_read_and_changed_by_lightgbm(tmp_path: Path) -> None:
    first = tmp_path / "first.txt"
    train(numbers(), granted(), BINARY).save_model(first)
    read = lightgbm.Booster(model_file=str(first))
    quiet = {**BINARY, "verbose": -1, "num_threads": 1}
    data = lightgbm.Dataset(numbers(), granted())
    others = {
        "as it was": lightgbm.Booster(model_file=str(first)),
        "shuffled": read.shuffle_models(),
        "fitted again": read.refit(numbers(), 1 - granted()),
        "gone on with": lightgbm.train(quiet, data, 5, init_model=str(first)),
    }
    for name, booster in others.items():
        booster.save_model(tmp_path / f"{name}.txt")
        assert_read_as_by_lightgbm(tmp_path / f"{name}.txt", numbers())


@pytest.mark.parametrize("name", ["revenu_é", "a\u00a0b", "收入", "a\tb", "a=b", "Tree=0", "🙂"])
def test_with_odd_names_of_columns(name: str, tmp_path: Path) -> None:
    rows = numbers().rename(columns={"income": name})
    train(rows, granted(), BINARY).save_model(tmp_path / "model.txt")
    assert_read_as_by_lightgbm(tmp_path / "model.txt", rows)


def test_of_infinite_numbers(tmp_path: Path) -> None:
    rows = numbers().assign(age=lambda frame: frame["age"].replace(0, np.inf))
    train(rows, granted(), BINARY).save_model(tmp_path / "model.txt")
    assert_read_as_by_lightgbm(tmp_path / "model.txt", rows)


def test_that_are_large(tmp_path: Path) -> None:
    source = np.random.default_rng(2)
    rows = pd.DataFrame(source.normal(size=(8000, 20))).rename(columns="x{}".format)
    labels = rows["x0"] * rows["x1"] + source.normal(0, 1, len(rows)) > 0
    large = {**BINARY, "num_leaves": 800, "min_data_in_leaf": 3}
    path = tmp_path / "model.txt"
    train(rows, labels.astype(int), large, rounds=20).save_model(path)
    assert path.stat().st_size > 1_000_000
    assert_read_as_by_lightgbm(path, rows)


# Texts as other versions of the library write them, made of one of this version.


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("lightgbm") / "model.txt"
    train(numbers(), granted(), BINARY, categorical_feature=["city"]).save_model(path)
    return path.read_text()


def _version_2(text: str) -> str:
    text = text.replace("version=v4", "version=v2").replace("end of trees\n\n", "\n")
    return text.replace("\nfeature_importances:", "\nfeature importances:")


OTHERS = {
    "version 3": lambda text: text.replace("version=v4", "version=v3"),
    "version 2": _version_2,
    "before there were sizes": lambda text: re.sub("(?m)^tree_sizes=.*\n", "", _version_2(text)),
    "one tree a round": lambda text: text.replace("num_tree_per_iteration=1\n", ""),
    "without parameters": lambda text: re.sub("(?s)\nparameters:.*end of parameters\n", "", text),
    "a later header": lambda text: text.replace("label_index", "unheard_of=1 2\nlabel_index"),
    "another end of lines": lambda text: re.sub("(?m)^tree_sizes=.*\n", "", text).replace(
        "\n", "\r\n"
    ),
    # A tree needs not say how many rows are in it.
    "version 5": lambda text: re.sub(
        "(?m)^tree_sizes=.*\n", "", text.replace("version=v4", "version=v5")
    ).replace("leaf_count=", "rows_of_leaves="),
    "version 5, and no end": lambda text: re.sub(
        "(?m)^tree_sizes=.*\n", "", text.replace("version=v4", "version=v5.1")
    ).replace("end of trees", "[no more trees]"),
}


@pytest.mark.parametrize("other", OTHERS)
def test_of_other_versions(other: str, text: str, tmp_path: Path) -> None:
    changed = OTHERS[other](text)
    assert changed != text
    path = tmp_path / "model.txt"
    path.write_bytes(changed.encode())
    assert_read_as_by_lightgbm(path, numbers())


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("other", ["version 3", "version 2", "before there were sizes"])
def test_a_part_of_one_is_refused(other: str, part: float, text: str, tmp_path: Path) -> None:
    changed = OTHERS[other](text)
    trees, ending = re.split("(?=end of trees|\nfeature importances)", changed, maxsplit=1)
    path = tmp_path / "model.txt"
    path.write_text(trees[: int(part * len(trees))])
    with pytest.raises(ModelError):
        read_lightgbm(path)
    # Between two trees it is not known by the trees.
    path.write_text(re.split("(?m)^(?=Tree=9)", trees)[0])
    with pytest.raises(ModelError):
        read_lightgbm(path)
    assert ending


@pytest.mark.parametrize(
    ("found", "instead"),
    [
        ("(?m)^left_child=", "\nleft_child="),  # LightGBM stops at an empty line
        ("(?m)^decision_type=", "decision_type "),  # and reads on to the next sign of equality
        ("(?m)^left_child=(\\d)", "left_child=0"),
    ],
)
def test_trees_without_sizes_are_checked_too(
    found: str, instead: str, text: str, tmp_path: Path
) -> None:
    damaged = re.sub(found, instead, OTHERS["before there were sizes"](text), count=1)
    path = tmp_path / "model.txt"
    path.write_text(damaged)
    with pytest.raises(ModelError):
        read_lightgbm(path)


def test_a_later_version_that_never_comes_back_is_refused_by_trial(
    text: str, tmp_path: Path
) -> None:
    path = tmp_path / "model.txt"
    beyond = re.sub(r"(?m)^left_child=\S+", "left_child=9999999", text.replace("=v4", "=v5"))
    path.write_text(re.sub("(?m)^tree_sizes=.*\n", "", beyond))
    with pytest.raises(ModelError):
        read_lightgbm(path)

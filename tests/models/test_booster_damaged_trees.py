"""XGBoost models: every sound kind is read, and trees that lead nowhere are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from booster_models import people, xgboost_file

from testsgd.errors import ModelError
from testsgd.models import read_model_file

xgboost = pytest.importorskip("xgboost")
pytestmark = pytest.mark.boosters

KINDS: dict[str, dict[str, Any]] = {
    "pruned": {"gamma": 20.0},
    "stumps": {"max_depth": 0, "n_estimators": 2},
    "dart": {"booster": "dart", "rate_drop": 0.5},
    "linear": {"booster": "gblinear"},
    "forest": {"num_parallel_tree": 3},
    "by loss": {"grow_policy": "lossguide", "max_leaves": 5},
    "of categories": {"enable_categorical": True},
    "of three classes": {},
    "of three classes, in one tree": {"multi_strategy": "multi_output_tree"},
}


@pytest.mark.parametrize("ending", [".json", ".ubj"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore")
def test_a_sound_model_of_each_kind_is_read(kind: str, ending: str, tmp_path: Path) -> None:
    rows, granted = people()
    if "three" in kind:
        granted = granted + rows["woman"].astype(int)
    if "categories" in kind:
        rows["woman"] = rows["woman"].map({0.0: "no", 1.0: "yes"}).astype("category")
    model = xgboost.XGBClassifier(**{"n_estimators": 6, "max_depth": 3, **KINDS[kind]})
    model.fit(rows, granted).save_model(tmp_path / f"model{ending}")
    read = read_model_file(tmp_path / f"model{ending}", trust_pickle=False)
    assert (read.predict(rows) == model.predict(rows)).all()


def _child_beyond(tree: dict[str, Any]) -> None:
    tree["left_children"][0] = 10**6


def _circle(tree: dict[str, Any]) -> None:
    tree["right_children"][0] = 0


def _column_beyond(tree: dict[str, Any]) -> None:
    tree["split_indices"][0] = 10**6


def _lone_child(tree: dict[str, Any]) -> None:
    tree["right_children"][0] = -1


@pytest.mark.parametrize("damage", [_child_beyond, _circle, _column_beyond, _lone_child])
def test_a_tree_that_leads_nowhere_is_refused(
    damage: Callable[[dict[str, Any]], None], tmp_path: Path
) -> None:
    path, _ = xgboost_file(tmp_path, ".json")
    document = json.loads(path.read_text(encoding="utf-8"))
    damage(document["learner"]["gradient_booster"]["model"]["trees"][0])
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ModelError, match=r"model\.json"):
        read_model_file(path, trust_pickle=False)

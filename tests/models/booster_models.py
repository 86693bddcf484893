"""Models in files of XGBoost, LightGBM, CatBoost and ONNX, which several tests read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

ROWS = 500


def people() -> tuple[pd.DataFrame, pd.Series[Any]]:
    source = np.random.default_rng(4)
    rows = pd.DataFrame(
        {
            "woman": source.integers(0, 2, ROWS),
            "age": source.integers(18, 80, ROWS),
            "income": source.normal(50, 10, ROWS),
        }
    ).astype(np.float32)
    granted = (rows["income"] + source.normal(0, 3, ROWS) > 50 + 6 * rows["woman"]).astype(int)
    return rows, granted.rename("granted")


# Each writes a model of three numbers to a file, and returns what the library says of rows.
Said = Callable[[pd.DataFrame], Any]


def xgboost_file(folder: Path, ending: str) -> tuple[Path, Said]:
    xgboost = pytest.importorskip("xgboost")
    rows, granted = people()
    model = xgboost.XGBClassifier(n_estimators=20, max_depth=3).fit(rows, granted)
    path = folder / f"model{ending}"
    model.save_model(path)
    return path, model.predict


def lightgbm_file(folder: Path) -> tuple[Path, Said]:
    lightgbm = pytest.importorskip("lightgbm")
    rows, granted = people()
    model = lightgbm.LGBMClassifier(n_estimators=20, verbose=-1).fit(rows, granted)
    path = folder / "model.txt"
    model.booster_.save_model(path)
    return path, model.predict


def catboost_file(folder: Path) -> tuple[Path, Said]:
    catboost = pytest.importorskip("catboost")
    rows, granted = people()
    model = catboost.CatBoostClassifier(
        iterations=20, verbose=False, allow_writing_files=False
    ).fit(rows, granted)
    path = folder / "model.cbm"
    model.save_model(str(path))
    return path, model.predict


def onnx_file(folder: Path, *, columns: bool) -> tuple[Path, Said]:
    pytest.importorskip("onnxruntime")
    from onnx import TensorProto, helper
    from onnx.helper import make_node, make_tensor, make_tensor_value_info

    rows, _ = people()
    weights = [-0.6, 0.0, 0.1]
    nodes = []
    if columns:
        inputs = [
            make_tensor_value_info(name, TensorProto.FLOAT, [None, 1]) for name in rows.columns
        ]
        nodes.append(make_node("Concat", list(rows.columns), ["all"], axis=1))
    else:
        inputs = [make_tensor_value_info("all", TensorProto.FLOAT, [None, 3])]
    nodes += [
        make_node("MatMul", ["all", "weights"], ["sum"]),
        make_node("Greater", ["sum", "limit"], ["above"]),
        make_node("Cast", ["above"], ["label"], to=TensorProto.INT64),
    ]
    graph = helper.make_graph(
        nodes,
        "linear",
        inputs,
        [make_tensor_value_info("label", TensorProto.INT64, [None, 1])],
        [
            make_tensor("weights", TensorProto.FLOAT, [3, 1], weights),
            make_tensor("limit", TensorProto.FLOAT, [1], [4.7]),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    limit = np.float32(4.7)
    kernel = np.array(weights, dtype=np.float32)
    return path, lambda frame: (frame.to_numpy(np.float32) @ kernel > limit).astype(int)


WRITERS: dict[str, Callable[[Path], tuple[Path, Said]]] = {
    "XGBoost, json": lambda folder: xgboost_file(folder, ".json"),
    "XGBoost, ubj": lambda folder: xgboost_file(folder, ".ubj"),
    "LightGBM": lightgbm_file,
    "CatBoost": catboost_file,
    "ONNX, one input": lambda folder: onnx_file(folder, columns=False),
    "ONNX, an input a column": lambda folder: onnx_file(folder, columns=True),
}


def salaries() -> tuple[pd.DataFrame, pd.Series[Any]]:
    rows, _ = people()
    salary = 10 * rows["income"] - 100 * rows["woman"] + rows["age"] + 0.5
    return rows, salary.astype(np.float64).rename("salary")


def xgboost_regression(folder: Path, ending: str) -> tuple[Path, Said]:
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBRegressor(n_estimators=3, max_depth=3).fit(*salaries())
    path = folder / f"model{ending}"
    model.save_model(path)
    return path, model.predict


def lightgbm_regression(folder: Path) -> tuple[Path, Said]:
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMRegressor(n_estimators=3, verbose=-1).fit(*salaries())
    path = folder / "model.txt"
    model.booster_.save_model(path)
    return path, model.predict


def catboost_regression(folder: Path, loss: str) -> tuple[Path, Said]:
    catboost = pytest.importorskip("catboost")
    rows, salary = salaries()
    model = catboost.CatBoostRegressor(
        iterations=3, loss_function=loss, verbose=False, allow_writing_files=False
    ).fit(rows, salary / 1000 if loss == "Poisson" else salary)
    path = folder / "model.cbm"
    model.save_model(str(path))
    return path, model.predict


def onnx_regression(folder: Path) -> tuple[Path, Said]:
    pytest.importorskip("onnxruntime")
    from onnx import TensorProto, helper
    from onnx.helper import make_node, make_tensor, make_tensor_value_info

    weights = [-100.0, 1.0, 10.0]
    graph = helper.make_graph(
        [make_node("MatMul", ["all", "weights"], ["variable"])],
        "linear",
        [make_tensor_value_info("all", TensorProto.FLOAT, [None, 3])],
        [make_tensor_value_info("variable", TensorProto.FLOAT, [None, 1])],
        [make_tensor("weights", TensorProto.FLOAT, [3, 1], weights)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    kernel = np.array(weights, dtype=np.float32)
    return path, lambda frame: frame.to_numpy(np.float32) @ kernel


REGRESSIONS: dict[str, Callable[[Path], tuple[Path, Said]]] = {
    "XGBoost, json": lambda folder: xgboost_regression(folder, ".json"),
    "XGBoost, ubj": lambda folder: xgboost_regression(folder, ".ubj"),
    "LightGBM": lightgbm_regression,
    "CatBoost": lambda folder: catboost_regression(folder, "RMSE"),
    "CatBoost, counts": lambda folder: catboost_regression(folder, "Poisson"),
    "ONNX": onnx_regression,
}

"""The probabilities of ONNX files: which class each is of, and what is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from booster_models import onnx_regression, people

import testsgd
from testsgd.errors import ModelError, TestSGDError

pytestmark = pytest.mark.boosters

# P(granted) is the sigmoid of these weights of woman, age and income.
WEIGHTS = np.array([-0.6, 0.0, 0.1], dtype=np.float32)
LIMIT = np.float32(4.7)


def probabilities(rows: pd.DataFrame) -> Any:
    sums = rows.to_numpy(np.float64) @ WEIGHTS.astype(np.float64) - LIMIT
    return 1 / (1 + np.exp(-sums))


def classifier(path: Path, kind: str, *, texts: bool = False, swapped: bool = False) -> Path:
    """Write a linear model whose outputs are of a kind.

    `swapped`: the label is that of the smaller probability.
    """
    pytest.importorskip("onnxruntime")
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto
    from onnx.helper import (
        make_graph,
        make_model,
        make_node,
        make_opsetid,
        make_sequence_type_proto,
        make_tensor,
        make_tensor_type_proto,
        make_tensor_value_info,
        make_value_info,
    )

    nodes = [
        make_node("MatMul", ["all", "weights"], ["product"]),
        make_node("Sub", ["product", "limit"], ["sum"]),
        make_node("Sigmoid", ["sum"], ["one"]),
        make_node("Sub", ["unit", "one"], ["other"]),
        make_node("Concat", ["other", "one"], ["both"], axis=1),
        make_node("ArgMin" if swapped else "ArgMax", ["both"], ["place"], axis=1, keepdims=0),
        make_node("Gather", ["names", "place"], ["label"]),
    ]
    element = TensorProto.STRING if texts else TensorProto.INT64
    label = make_tensor_value_info("label", element, [None])
    outputs = {
        "one": [make_tensor_value_info("one", TensorProto.FLOAT, [None, 1])],
        "both": [make_tensor_value_info("both", TensorProto.FLOAT, [None, 2])],
        "label": [label],
        "label, both": [label, make_tensor_value_info("both", TensorProto.FLOAT, [None, 2])],
    }
    if kind == "label, maps":
        keys = {"classlabels_strings" if texts else "classlabels_int64s": ["no", "yes"]}
        nodes.append(make_node("ZipMap", ["both"], ["maps"], domain="ai.onnx.ml", **keys))
        mapped = onnx.helper.make_map_type_proto(
            element, make_tensor_type_proto(TensorProto.FLOAT, [])
        )
        outputs[kind] = [label, make_value_info("maps", make_sequence_type_proto(mapped))]
    names: list[Any] = [b"no", b"yes"] if texts else [0, 1]
    graph = make_graph(
        nodes,
        "linear",
        [make_tensor_value_info("all", TensorProto.FLOAT, [None, 3])],
        outputs[kind],
        [
            make_tensor("weights", TensorProto.FLOAT, [3, 1], WEIGHTS.tolist()),
            make_tensor("limit", TensorProto.FLOAT, [1], [float(LIMIT)]),
            make_tensor("unit", TensorProto.FLOAT, [1], [1.0]),
            make_tensor("names", element, [2], names),
        ],
    )
    sets = [make_opsetid("", 17), make_opsetid("ai.onnx.ml", 3)]
    model = make_model(graph, opset_imports=sets, ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("one", False),
        ("both", False),
        ("label, both", False),
        ("label, both", True),
        ("label, maps", True),
    ],
)
@pytest.mark.parametrize("second", [True, False])
def test_scores_are_the_probabilities_of_the_favourable_label(
    kind: str, texts: bool, second: bool, tmp_path: Path
) -> None:
    rows, granted = people()
    labels = granted.map({0: "no", 1: "yes"}) if texts else granted
    path = classifier(tmp_path / "model.onnx", kind, texts=texts)
    result = testsgd.audit_model_by_metrics(
        path,
        rows,
        labels,
        sensitive_features=["woman"],
        favourable=(["no", "yes"] if texts else [0, 1])[second],
        metrics=["mean_score", "selection_rate"],
    )
    scores = probabilities(rows) if second else 1 - probabilities(rows)
    women = (rows["woman"] == 1).to_numpy()
    found = result.groups[result.groups["text"] == "woman = 1"].set_index("metric")["value"]
    assert found["mean_score"] == pytest.approx(scores[women].mean(), abs=1e-6)
    assert found["selection_rate"] == pytest.approx((scores[women] > 0.5).mean(), abs=1e-9)


def test_which_label_a_probability_is_of_is_found_by_the_rows(tmp_path: Path) -> None:
    rows, granted = people()
    path = classifier(tmp_path / "model.onnx", "label, both", swapped=True)
    # With the true labels turned round as well: else the scores would seem to be of the other one.
    result = testsgd.audit_model_by_metrics(
        path, rows, 1 - granted, sensitive_features=["woman"], metrics=["mean_score"], favourable=0
    )
    # The label 0 stands where the second probability is the larger one, so that is its own.
    women = (rows["woman"] == 1).to_numpy()
    found = result.groups[result.groups["text"] == "woman = 1"]["value"]
    assert found.iloc[0] == pytest.approx(probabilities(rows)[women].mean(), abs=1e-6)


@pytest.mark.parametrize("kind", ["label", "regression"])
def test_a_file_without_probabilities_has_no_scores(kind: str, tmp_path: Path) -> None:
    rows, granted = people()
    if kind == "label":
        path = classifier(tmp_path / "model.onnx", kind)
    else:
        path, _ = onnx_regression(tmp_path)
    with pytest.raises(TestSGDError) as caught:
        testsgd.audit_model_by_metrics(
            path, rows, granted, sensitive_features=["woman"], metrics=["mean_score"]
        )
    assert "lambda" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("metrics", [None, "mean", "mean_score"])
def test_a_row_without_a_number_is_named(metrics: str | None, tmp_path: Path) -> None:
    rows, granted = people()
    rows.loc[7, "income"] = np.nan
    path = classifier(tmp_path / "model.onnx", "one")
    groups: Any = {"sensitive_features": ["woman"]}
    with pytest.raises(ModelError) as by_metrics:
        testsgd.audit_model_by_metrics(path, rows, granted, metrics=metrics, **groups)
    with pytest.raises(ModelError) as by_rates:
        testsgd.audit(path, rows, granted, **groups)
    for caught in (by_metrics, by_rates):
        assert "row 7" in caught.value.what
        assert "missing" in caught.value.remedy

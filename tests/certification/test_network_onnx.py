"""ONNX graphs of the usual exporters decide as onnx's own reference evaluator does."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from testsgd.certification.network import find_network
from testsgd.errors import MissingExtraError, ModelError

onnx = pytest.importorskip("onnx")
pytestmark = pytest.mark.onnx

RNG = np.random.default_rng(0)
PEOPLE = RNG.integers(-6, 9, (3000, 3)).astype(float)
W1, B1 = RNG.normal(size=(3, 5)).astype("f4"), RNG.normal(size=5).astype("f4")
W2, B2 = RNG.normal(size=(5, 4)).astype("f4"), RNG.normal(size=4).astype("f4")
W3 = RNG.normal(size=(4, 1)).astype("f4")
W4, B4 = RNG.normal(size=(4, 3)).astype("f4"), RNG.normal(size=3).astype("f4")
ONE = np.ones(1, "f4")

# Biases of the last layer with which about half of the people are above one half.
_HIDDEN = np.maximum(PEOPLE @ W1 + B1, 0) @ W2 + B2
_SCALED = np.maximum((PEOPLE - [1, 2, 3]) * [0.3, 0.2, 0.1] @ W1 + B1, 0) @ W2 + B2


def _middle(hidden: NDArray[np.float64]) -> NDArray[np.float32]:
    return -np.median(hidden @ W3, axis=0).astype("f4")


B_LEAKY = _middle(np.where(_HIDDEN < 0, 0.1, 1) * _HIDDEN)
B_SIGMOID = _middle(1 / (1 + np.exp(-_HIDDEN)))
B_SCALED = _middle(1 / (1 + np.exp(-_SCALED)))


def _node(kind: str, inputs: str, outputs: str, domain: str = "", **attributes: Any) -> Any:
    return onnx.helper.make_node(kind, inputs.split(), outputs.split(), domain=domain, **attributes)


def _model(
    nodes: Sequence[Any],
    constants: dict[str, NDArray[Any]],
    outputs: Sequence[str],
    *,
    shape: Sequence[int | None] = (None, 3),
    kind: int = 1,
) -> Any:
    helper = onnx.helper
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("people", kind, shape)],
        [helper.make_tensor_value_info(name, 7 if name == "label" else kind, None)
         for name in outputs],
        [onnx.numpy_helper.from_array(array, name) for name, array in constants.items()],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets)


def _torch() -> Any:
    return _model(
        [
            _node("Flatten", "people", "flat"),
            _node("Gemm", "flat w1 b1", "h1", transB=1),
            _node("Relu", "h1", "r1"),
            _node("Gemm", "r1 w2 b2", "h2", transB=1),
            _node("LeakyRelu", "h2", "r2", alpha=0.1),
            _node("Gemm", "r2 w3 b3", "h3", transB=1),
            _node("Sigmoid", "h3", "score"),
        ],
        {"w1": W1.T, "b1": B1, "w2": W2.T, "b2": B2, "w3": W3.T, "b3": B_LEAKY},
        ["score"],
    )


def _keras() -> Any:
    return _model(
        [
            _node("Identity", "people", "same"),
            _node("Sub", "same mean", "centred"),
            _node("Div", "centred scale", "scaled"),
            _node("MatMul", "scaled w1", "m1"),
            _node("Add", "m1 b1", "h1"),
            _node("BatchNormalization", "h1 g o b v", "n1"),
            _node("Tanh", "n1", "r1"),
            _node("MatMul", "r1 w2", "m2"),
            _node("Add", "b2 m2", "h2"),
            _node("Mul", "h2 two", "d2"),
            _node("Relu", "d2", "r2"),
            _node("MatMul", "r2 w4", "m4"),
            _node("Add", "m4 b4", "h4"),
            _node("Softmax", "h4", "scores", axis=1),
        ],
        {"mean": np.float32([1, 2, 3]), "scale": np.float32([2, 3, 4]), "w1": W1,
         "b1": B1[None], "g": np.abs(B1), "o": B1, "b": B1 / 2, "v": np.abs(B1) + 1,
         "w2": W2, "b2": B2, "two": np.float32([2]), "w4": W4, "b4": B4},
        ["scores"],
    )  # fmt: skip


def _scikit(opening: Sequence[Any], classes: int, bias: NDArray[np.float32]) -> Any:
    last = ("w4", "b4") if classes == 3 else ("w3", "b3")
    nodes = [
        *opening,
        _node("MatMul", "cast w1", "m1"),
        _node("Add", "m1 b1", "h1"),
        _node("Relu", "h1", "r1"),
        _node("MatMul", "r1 w2", "m2"),
        _node("Add", "m2 b2", "h2"),
        _node("Sigmoid", "h2", "r2"),
        _node("MatMul", f"r2 {last[0]}", "m3"),
        _node("Add", f"m3 {last[1]}", "h3"),
    ]
    if classes == 3:
        nodes += [_node("Softmax", "h3", "scores", axis=1)]
    else:
        nodes += [
            _node("Sigmoid", "h3", "high"),
            _node("Sub", "one high", "low"),
            _node("Concat", "low high", "scores", axis=1),
        ]
    nodes += [
        _node("ArgMax", "scores", "place", axis=1),
        _node("ArrayFeatureExtractor", "names place", "picked", domain="ai.onnx.ml"),
        _node("Cast", "picked", "cast_label", to=7),
        _node("Reshape", "cast_label minus", "label"),
    ]
    constants = {
        "w1": W1, "b1": B1, "w2": W2, "b2": B2, "w3": W3, "b3": bias, "w4": W4, "b4": B4,
        "one": ONE, "minus": np.array([-1], "i8"), "names": np.arange(10, 10 + classes),
    }  # fmt: skip
    return _model(nodes, constants, ["label", "scores"])


def _perceptron(classes: int) -> Any:
    return _scikit([_node("Cast", "people", "cast", to=1)], classes, B_SIGMOID)


def _scaled_perceptron() -> Any:
    scaler = _node("Scaler", "people", "cast", "ai.onnx.ml",
                   offset=[1.0, 2.0, 3.0], scale=[0.3, 0.2, 0.1])  # fmt: skip
    return _scikit([scaler], 2, B_SCALED)


def _logistic() -> Any:
    weights, bias = W1[:, 0], float(B1[0])
    classifier = _node(
        "LinearClassifier", "people", "label scores", "ai.onnx.ml",
        coefficients=[*(-weights).tolist(), *weights.tolist()], intercepts=[-bias, bias],
        classlabels_ints=[0, 1], post_transform="LOGISTIC", multi_class=1,
    )  # fmt: skip
    return _model([classifier], {}, ["label", "scores"])


@pytest.mark.parametrize(
    "make",
    [_torch, _keras, lambda: _perceptron(2), lambda: _perceptron(3), _scaled_perceptron, _logistic],
    ids=["torch", "keras", "perceptron 2", "perceptron 3", "scaled perceptron", "logistic"],
)
def test_decisions_are_those_of_the_reference(make: Any, tmp_path: Path) -> None:
    from onnx.reference import ReferenceEvaluator

    model = make()
    onnx.save(model, str(tmp_path / "net.onnx"))
    network = find_network(tmp_path / "net.onnx")
    with np.errstate(over="ignore"):
        given = ReferenceEvaluator(model).run(None, {"people": PEOPLE.astype("f4")})
    answers = dict(zip([output.name for output in model.graph.output], given, strict=True))
    decisions = network.decisions(PEOPLE)
    assert len(np.unique(decisions)) > 1
    if "label" in answers:
        names = np.array(network.decision.labels).astype(int)
        assert (names[decisions] == answers["label"].ravel()).mean() > 0.999
        return
    scores = next(iter(answers.values()))
    expected = np.argmax(scores, axis=1) if scores.shape[1] > 1 else scores[:, 0] > 0.5
    clear = (
        np.diff(np.sort(scores, axis=1), axis=1)[:, -1] > 1e-5
        if scores.shape[1] > 1
        else np.abs(scores[:, 0] - 0.5) > 1e-5
    )
    assert clear.mean() > 0.99
    assert (decisions[clear] == expected[clear]).all()


def test_weights_are_exactly_the_stored_ones(tmp_path: Path) -> None:
    onnx.save(_torch(), str(tmp_path / "net.onnx"))
    network = find_network(tmp_path / "net.onnx")
    for layer, stored in zip(network.layers, (W1, W2, W3), strict=True):
        assert (layer.weights == stored).all()
    assert network.layers[1].negative_slope == float(np.float32(0.1))
    assert network.precision == "float32"


def test_an_output_of_doubles_is_of_doubles(tmp_path: Path) -> None:
    nodes = [_node("Gemm", "people w b", "sum")]
    constants = {"w": np.float64(W1[:, :1]), "b": np.float64(B1[:1])}
    onnx.save(_model(nodes, constants, ["sum"], kind=11), str(tmp_path / "net.onnx"))
    network = find_network(tmp_path / "net.onnx")
    assert network.precision == "float64"
    expected = PEOPLE @ np.float64(W1[:, 0]) + np.float64(B1[0])
    np.testing.assert_allclose(network.sums(PEOPLE)[:, 0], expected, rtol=1e-12, atol=1e-12)


GEMM = _node("Gemm", "people w b", "sum")
SMALL = {"w": W1[:, :1], "b": B1[:1]}


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (_model([GEMM, _node("Erf", "sum", "out")], SMALL, ["out"]), r"\(Erf\)"),
        (_model([_node("Gemm", "people w b", "sum", alpha=2.0)], SMALL, ["sum"]), "alpha"),
        (_model([GEMM, _node("Add", "sum sum", "out")], SMALL, ["out"]), "constant"),
        (_model([GEMM, _node("Mul", "people sum", "out")], SMALL, ["out"]), "constant"),
        (_model([GEMM], {**SMALL, "w": np.full((3, 1), np.nan, "f4")}, ["sum"]), "NaN"),
        (_model([GEMM], {**SMALL, "w": np.ones((4, 1), "f4")}, ["sum"]), "takes 4 numbers"),
        (_model([GEMM], {**SMALL, "b": np.ones(1)}, ["sum"]), "float64"),
        (_model([GEMM, _node("Relu", "sum", "out")], SMALL, ["sum", "out"]), "2 different"),
        (_model([GEMM], SMALL, ["sum"], shape=(None, 3, 3)), "not rows"),
        (_model([GEMM], SMALL, ["sum"], shape=(None, None)), "not rows"),
        (_model([_node("Gemm", "people w b", "sum", domain="mine")], SMALL, ["sum"]), "'mine'"),
    ],
)  # fmt: skip
def test_what_cannot_be_certified_is_named(model: Any, words: str, tmp_path: Path) -> None:
    onnx.save(model, str(tmp_path / "net.onnx"))
    with pytest.raises(ModelError, match=words) as caught:
        find_network(tmp_path / "net.onnx")
    assert "\n" not in str(caught.value)
    assert "net.onnx" in str(caught.value)


def test_weights_in_other_files_are_not_read(tmp_path: Path) -> None:
    model = _torch()
    onnx.save(
        model,
        str(tmp_path / "net.onnx"),
        save_as_external_data=True,
        location="weights",
        size_threshold=0,
    )
    with pytest.raises(ModelError, match="in another file"):
        find_network(tmp_path / "net.onnx")


@pytest.mark.parametrize("content", [b"", b"no graph at all", b"\x08\x08\x12"])
def test_damaged_files_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "net.onnx").write_bytes(content)
    with pytest.raises(ModelError, match=r"net\.onnx"):
        find_network(tmp_path / "net.onnx")


def test_without_the_package_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "net.onnx").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtraError, match=r"testsgd\[onnx\]"):
        find_network(tmp_path / "net.onnx")

"""Outputs that are computed from a last sigmoid or tanh: decided as the model's own output is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import testsgd
from testsgd.certification.network import find_network
from testsgd.certification.report.summary import CertificationSummary
from testsgd.certification.report.verdict import without_times
from testsgd.errors import ModelError, ParameterError

onnx = pytest.importorskip("onnx")
pytestmark = pytest.mark.onnx

# All of the domain: skills of 0 to 19, each as a woman and as a man.
EVERYBODY = np.array([[skill, man] for skill in range(20) for man in (0, 1)], dtype="f4")
DOMAIN = {"inputs": {"skill": {"integer": [0, 19]}, "man": {"integer": [0, 1]}}}
REAL = {"inputs": {"skill": {"real": [0, 20]}, "man": {"integer": [0, 1]}}}
CONSTANTS = {"w": [[1], [3]], "b": [-10.5], "one": [1], "two": [2], "minus": [-1], "much": [0.98],
             "half": [0.5], "little": [0.01], "ten": [-10], "v": [[-5]]}  # fmt: skip
SUM, SCORE = "Gemm people w b sum", "Sigmoid sum s"

# From the score to the output y, an operator with its inputs and its output each.
FORMS = {
    "the score": ("Identity s y",),
    "its complement": ("Sub one s y",),
    "its complement, as product and sum": ("Mul s minus m", "Add m one y"),
    "the complement of its complement": ("Sub one s c", "Sub one c y"),
    "a product with the complement": ("Sub one s c", "Mul c one y"),
    "the score's product with 1": ("Mul s one y",),
    "the score, rescaled": ("Mul s much m", "Add m little y"),
    "the complement, rescaled": ("Sub one s c", "Mul c much m", "Add m little y"),
    "the complement of a rescaled one": ("Mul s much m", "Sub one m y"),
    "the sigmoid of the complement": ("Sub one s c", "Sigmoid c y"),
    "a tanh from 0 to 1": ("Tanh sum t", "Add t one u", "Div u two y"),
}


def _file(folder: Path, lines: tuple[str, ...], *outputs: str) -> Path:
    helper = onnx.helper
    nodes = []
    for line in lines:
        kind, *inputs, output = line.split()
        own = {"axis": 1} if kind == "Concat" else {"norm": "MAX"} if kind == "Normalizer" else {}
        domain = "ai.onnx.ml" if kind == "Normalizer" else ""
        nodes.append(helper.make_node(kind, inputs, [output], domain=domain, **own))
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("people", 1, (None, 2))],
        [helper.make_tensor_value_info(name, 1, None) for name in outputs or ("y",)],
        [onnx.numpy_helper.from_array(np.array(array, "f4"), name)
         for name, array in CONSTANTS.items()],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    onnx.save(helper.make_model(graph, opset_imports=opsets), str(folder / "net.onnx"))
    return folder / "net.onnx"


def _outputs(path: Path) -> NDArray[np.float32]:
    from onnx.reference import ReferenceEvaluator

    output: NDArray[np.float32] = ReferenceEvaluator(str(path)).run(None, {"people": EVERYBODY})[0]
    return output[:, 0]


def _unfair(above: NDArray[np.bool_]) -> float:
    return float((above[::2] != above[1::2]).mean())


@pytest.mark.parametrize("threshold", [None, 0.3, 0.62, 0.9])
@pytest.mark.parametrize("lines", FORMS.values(), ids=list(FORMS))
def test_the_graph_s_own_output_is_what_decides(
    lines: tuple[str, ...], threshold: float | None, tmp_path: Path
) -> None:
    path = _file(tmp_path, (SUM, SCORE, *lines))
    above = _outputs(path) > np.float32(0.5 if threshold is None else threshold)
    network = find_network(path, threshold=threshold)
    assert (network.decisions(EVERYBODY.astype(float)) == above).all()
    result = testsgd.certify(path, DOMAIN, protected="man", threshold=threshold)
    assert result.falsified == pytest.approx(_unfair(above))
    for example in result.summary.counterexamples:
        rows = (EVERYBODY[:, 0] == example.person["skill"]).nonzero()[0]
        assert [one.decision for one in example.answers] == [str(int(above[row])) for row in rows]


@pytest.mark.parametrize("form", ["its complement", "the score, rescaled", "a tanh from 0 to 1"])
def test_boxes_are_proved_about_the_graph_s_own_output(form: str, tmp_path: Path) -> None:
    path = _file(tmp_path, (SUM, SCORE, *FORMS[form]))
    result = testsgd.certify(path, REAL, protected="man", undecided=1e-4)
    assert 0.1499 < result.falsified <= 0.15
    assert 0.8499 < result.certified <= 0.85
    # From 0.8 on, the complement says yes up to the sum -log(4), the rescaled score from another.
    result = testsgd.certify(path, REAL, protected="man", threshold=0.8, undecided=1e-4)
    assert 0.1499 < result.falsified <= 0.15


def test_a_complement_that_ties_is_decided_as_the_model_does(tmp_path: Path) -> None:
    lines = ("Gemm people w ten z", "Relu z a", "MatMul a v q", "Sigmoid q s", "Sub one s y")
    path = _file(tmp_path, lines)
    above = _outputs(path) > np.float32(0.5)
    assert _unfair(above) == 0.15
    assert testsgd.certify(path, DOMAIN, protected="man").falsified == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("lines", "outputs", "words"),
    [
        (("Sub one s c",), ("s", "c"), "2 different outputs"),
        (("Sub one s c", "Concat s c y"), ("y",), "joins something else"),
        (("Sub two s c", "Concat c s y"), ("y",), "joins something else"),
        (("Sub one s c", "Concat c s p", "Normalizer p y"), ("y",), "divides probabilities"),
    ],
)
def test_other_combinations_of_a_score_and_its_complement_are_refused(
    lines: tuple[str, ...], outputs: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    with pytest.raises(ModelError, match=words) as caught:
        find_network(_file(tmp_path, (SUM, SCORE, *lines), *outputs))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("lines", "ends"),
    [
        (("Tanh sum y",), "between -1 and 1"),
        (("Sigmoid sum s", "Mul s two y"), "between 0 and 2"),
        (("Sigmoid sum s", "Sub s two y"), "between -2 and -1"),
        (("Sigmoid sum s", "Mul s minus y"), "between -1 and 0"),
        # Within 0 and 1, but never on the other side of 0.5.
        (("Sigmoid sum s", "Mul s half y"), "between 0 and 0.5"),
        (("Sigmoid sum s", "Mul s little y"), "between 0 and 0.01"),
        (("Sigmoid sum s", "Mul s half m", "Add m half y"), "between 0.5 and 1"),
        (("Sigmoid sum s", "Mul s little m", "Add m much y"), "between 0.98 and 0.99"),
    ],
)
def test_of_another_range_the_threshold_has_to_be_given(
    lines: tuple[str, ...], ends: str, tmp_path: Path
) -> None:
    path = _file(tmp_path, (SUM, *lines))
    with pytest.raises(ParameterError, match=ends) as caught:
        find_network(path)
    assert "\n" not in str(caught.value)
    middle = float(np.median(_outputs(path)))
    decisions = find_network(path, threshold=middle).decisions(EVERYBODY.astype(float))
    assert (decisions == (_outputs(path) > np.float32(middle))).all()


@pytest.mark.parametrize("domain", [DOMAIN, REAL], ids=["enumerated", "bounded"])
def test_one_decision_for_the_whole_domain_is_named(
    domain: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _file(tmp_path, (SUM, SCORE, *FORMS["the score, rescaled"]))
    summary = testsgd.certify(path, domain, protected="man", threshold=0.0).summary
    assert (summary.proved.certified, summary.only_decision) == (1.0, "1")
    named = [text for text in summary.verdict.sentences if "same decision, “1”" in text]
    assert len(named) == 1
    kept = CertificationSummary.model_validate_json(summary.model_dump_json(by_alias=True))
    assert without_times(kept).verdict.sentences.count(named[0]) == 1
    # Everybody is treated alike here too, but not everybody gets one decision.
    ignored = {**CONSTANTS, "w": [[1], [0]]}
    monkeypatch.setattr(f"{__name__}.CONSTANTS", ignored)
    path = _file(tmp_path, (SUM, SCORE, *FORMS["the score, rescaled"]))
    summary = testsgd.certify(path, domain, protected="man", undecided=0.01).summary
    assert summary.proved.falsified == 0
    assert summary.only_decision is None
    assert not any("same decision" in text for text in summary.verdict.sentences)


def _layers(keras: Any) -> dict[str, list[Any]]:
    dense, rescaling = keras.layers.Dense, keras.layers.Rescaling
    return {
        "rescaled": [dense(1, activation="sigmoid"), rescaling(0.98, 0.01)],
        "complement": [dense(1, activation="sigmoid"), rescaling(-1.0, 1.0)],
        "tanh": [dense(1, activation="tanh"), rescaling(0.5, 0.5)],
    }


@pytest.mark.tensorflow
def test_keras_models_that_never_reach_a_half_have_no_default() -> None:
    keras: Any = pytest.importorskip("keras")
    layers = [keras.layers.Dense(1, activation="sigmoid"), keras.layers.Rescaling(0.5)]
    model = keras.Sequential([keras.Input((2,)), *layers])
    model.layers[0].set_weights([np.array([[1.0], [3.0]]), np.array([-10.5])])
    with pytest.raises(ParameterError, match=r"between 0 and 0\.5"):
        testsgd.certify(model, DOMAIN, protected="man", fail_below=0.9)
    result = testsgd.certify(model, DOMAIN, protected="man", threshold=0.25, fail_below=0.9)
    assert (result.falsified, result.exit_code) == (0.15, 1)


@pytest.mark.tensorflow
@pytest.mark.parametrize("form", ["rescaled", "complement", "tanh"])
@pytest.mark.parametrize("threshold", [None, 0.8])
def test_keras_models_too(form: str, threshold: float | None) -> None:
    keras: Any = pytest.importorskip("keras")
    model = keras.Sequential([keras.Input((2,)), *_layers(keras)[form]])
    model.layers[0].set_weights([np.array([[1.0], [3.0]]), np.array([-10.5])])
    above = np.asarray(model(EVERYBODY))[:, 0] > (0.5 if threshold is None else threshold)
    network = find_network(model, threshold=threshold)
    assert (network.decisions(EVERYBODY.astype(float)) == above).all()
    result = testsgd.certify(model, DOMAIN, protected="man", threshold=threshold)
    assert result.falsified == pytest.approx(_unfair(above)) == 0.15


@pytest.mark.parametrize("seed", range(20))
def test_random_networks_with_a_complement(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = np.random.default_rng(seed)
    drawn = {"w": generator.normal(size=(2, 4)), "b": 5 * generator.normal(size=4),
             "v": generator.normal(size=(4, 1)), "ten": generator.normal(size=1)}  # fmt: skip
    monkeypatch.setattr(f"{__name__}.CONSTANTS", {**CONSTANTS, **drawn})
    lines = ("Gemm people w b z", "Relu z a", "Gemm a v ten q", "Sigmoid q s", "Sub one s y")
    path = _file(tmp_path, lines)
    threshold = float(generator.choice([0.2, 0.5, 0.7]))
    above = _outputs(path) > np.float32(threshold)
    result = testsgd.certify(path, DOMAIN, protected="man", threshold=threshold)
    assert result.falsified == pytest.approx(_unfair(above))

"""Modules of PyTorch: of the real one if it is installed, and else of a made-up one."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.errors import ModelError, TestSGDError
from testsgd.models import load_text_model

ROWS = 400
QUICK: dict[str, Any] = {"replicates": 99, "stability": 0}
MADE_UP = Path(__file__).parent / "made_up_torch"
WEIGHTS = np.array([[-6.0], [0.0], [1.0]], dtype=np.float32)
LIMIT = 50.0


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    if importlib.util.find_spec("torch") is not None:
        yield importlib.import_module("torch")
        return
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(str(MADE_UP))
    yield importlib.import_module("torch")
    for name in [name for name in sys.modules if name.partition(".")[0] == "torch"]:
        del sys.modules[name]


def people() -> pd.DataFrame:
    source = np.random.default_rng(6)
    return pd.DataFrame(
        {
            "woman": source.integers(0, 2, ROWS),
            "age": source.integers(18, 80, ROWS),
            "income": source.normal(50, 10, ROWS),
        }
    )


def logits(frame: pd.DataFrame) -> Any:
    return (frame.to_numpy(np.float32) @ WEIGHTS - np.float32(LIMIT))[:, 0]


def decide(frame: pd.DataFrame) -> list[bool]:
    above: list[bool] = (logits(frame) > 0).tolist()
    return above


def network(torch: Any, after: Callable[[Any], Any], weights: Any = WEIGHTS) -> Any:
    """Return a module of one layer, and of what comes after it."""

    class Part(torch.nn.Module):  # type: ignore[misc]  # a class of what is given
        pass

    class Network(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.part = Part()
            self.seen: list[Any] = []

        def forward(self, rows: Any) -> Any:
            modes = (self.training, self.part.training, torch.is_grad_enabled())
            self.seen.append((rows.dtype, *modes))
            return after(rows @ torch.from_numpy(weights) - LIMIT)

    return Network()


@pytest.mark.parametrize("labelled", [False, True])
def test_one_column_of_scores(torch: Any, labelled: bool) -> None:
    frame = people()
    module = network(torch, lambda output: output.sigmoid())
    labels = (pd.Series(decide(frame), name="granted").astype(int),) if labelled else ()
    found = testsgd.audit(module, frame, *labels, sensitive_features=["woman"], **QUICK)
    assert found.summary.overall_rate == np.mean(decide(frame))
    assert (found.summary.model.output, found.summary.model.name) == ("scores", "Network")
    group = found.groups.set_index("text").loc["woman = 1"]
    assert group["rate_in"] == np.mean(decide(frame[frame["woman"] == 1]))


def test_it_is_evaluated_without_gradients_and_left_as_it_was(torch: Any) -> None:
    module = network(torch, lambda output: output.sigmoid())
    module.part.eval()
    testsgd.audit(module, people(), sensitive_features=["woman"], **QUICK)
    for dtype, *modes in module.seen:
        assert str(dtype) == "torch.float32"
        assert modes == [False, False, False]
    assert (module.training, module.part.training) == (True, False)


def test_it_is_left_as_it_was_even_if_it_raises(torch: Any) -> None:
    def broken(_: Any) -> Any:
        raise RuntimeError("two\nlines")

    module = network(torch, broken)
    with pytest.raises(ModelError) as caught:
        testsgd.audit(module, people(), sensitive_features=["woman"])
    assert "\n" not in str(caught.value)
    assert module.training
    assert torch.is_grad_enabled()


def test_two_columns_are_logits_of_classes(torch: Any) -> None:
    frame = people()
    two = np.hstack([np.zeros_like(WEIGHTS), WEIGHTS])
    # Both logits are lowered by the limit: the second is larger where its sum is above 0.
    two[:, 0] = [0, 0, 0.9]
    module = network(torch, lambda output: output, two)
    found = testsgd.audit(module, frame, sensitive_features=["woman"], **QUICK)
    sums = frame.to_numpy(np.float32) @ two - np.float32(LIMIT)
    assert found.summary.overall_rate == (np.argmax(sums, axis=1) == 1).mean()
    assert found.summary.model.output == "labels"


def test_booleans_are_labels(torch: Any) -> None:
    frame = people()
    module = network(torch, lambda output: output > 0)
    found = testsgd.audit(module, frame, sensitive_features=["woman"], **QUICK)
    assert found.summary.overall_rate == np.mean(decide(frame))
    assert found.summary.model.output == "labels"


@pytest.mark.parametrize("labelled", [False, True])
def test_a_logit_is_refused_with_what_to_append(torch: Any, labelled: bool) -> None:
    frame = people()
    labels = (pd.Series(decide(frame), name="granted").astype(int),) if labelled else ()
    module = network(torch, lambda output: output)
    with pytest.raises(ModelError) as caught:
        testsgd.audit(module, frame, *labels, sensitive_features=["woman"])
    assert "nn.Sigmoid()" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_numbers_of_a_module_are_compared_where_numbers_are_asked_for(torch: Any) -> None:
    frame = people()
    module = network(torch, lambda output: output)
    salary = pd.Series(2.0 * logits(frame) + 1, name="salary")
    women = (frame["woman"] == 1).to_numpy()
    numbers = np.asarray(logits(frame), dtype=np.float64)
    errors = numbers - salary.to_numpy()
    wanted = {"mean": numbers, "mean_error": errors}
    for labels, metrics in ((salary, list(wanted)), (salary, None), (None, ["mean"])):
        result = testsgd.audit_model_by_metrics(
            module, frame, labels, sensitive_features=["woman"], metrics=metrics
        )
        groups = result.groups[result.groups["text"] == "woman = 1"].set_index("metric")["value"]
        for metric in metrics or wanted:
            assert groups[metric] == pytest.approx(wanted[metric][women].mean(), rel=1e-4)


def test_several_numbers_a_row_are_refused(torch: Any) -> None:
    module = network(torch, lambda output: output, np.hstack([WEIGHTS, WEIGHTS]))
    frame = people()
    with pytest.raises(ModelError) as caught:
        testsgd.audit_model_by_metrics(
            module, frame, sensitive_features=["woman"], metrics=["mean"]
        )
    assert "\n" not in str(caught.value)


def test_what_is_no_tensor_is_refused(torch: Any) -> None:
    with pytest.raises(ModelError) as caught:
        testsgd.audit(
            network(torch, lambda output: (output, output)), people(), sensitive_features=["woman"]
        )
    assert "tuple" in str(caught.value)


def test_a_column_of_words_is_named(torch: Any) -> None:
    frame = people().assign(sex=["f", "m"] * (ROWS // 2))
    with pytest.raises(ModelError) as caught:
        testsgd.audit(
            network(torch, lambda output: output.sigmoid()), frame, sensitive_features=["sex"]
        )
    assert "'sex'" in str(caught.value)


def test_it_may_name_its_columns(torch: Any) -> None:
    frame = people().assign(sex=["f", "m"] * (ROWS // 2))
    module = network(torch, lambda output: output.sigmoid())
    module.feature_names_in_ = ["woman", "age", "income"]
    shuffled = frame[["sex", "income", "age", "woman"]]
    found = testsgd.audit(module, shuffled, sensitive_features=["woman"], **QUICK)
    assert found.summary.overall_rate == np.mean(decide(people()))


def test_texts_are_refused(torch: Any) -> None:
    specification = testsgd.TextSpecification.model_validate(
        {
            "dataset": {"name": "comments"},
            "text": {},
            "label": {"column": "toxic", "favourable": "yes", "values": ["no", "yes"]},
        }
    )
    model = load_text_model(network(torch, lambda output: output), specification).model
    with pytest.raises(TestSGDError):
        model.decisions(["Hello"])


def test_a_module_is_found_by_its_name(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "networks_of_people.py").write_text(
        "import torch\n"
        "class Half(torch.nn.Module):\n"
        "    def forward(self, rows):\n"
        "        return (rows @ torch.from_numpy(WEIGHTS) - 50.0).sigmoid()\n"
        "import numpy\n"
        "WEIGHTS = numpy.array([[-6.0], [0.0], [1.0]], dtype=numpy.float32)\n"
        "half = Half()\n",
        encoding="utf-8",
    )
    found = testsgd.audit(
        "networks_of_people:half", people(), sensitive_features=["woman"], **QUICK
    )
    assert found.summary.overall_rate == np.mean(decide(people()))
    assert found.summary.model.name == "networks_of_people:half"
    del sys.modules["networks_of_people"]

"""One model of each kind that testsgd asks, all of the same rows."""

from __future__ import annotations

import contextlib
import importlib
import pickle
import shlex
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import model_server
import numpy as np
import pandas as pd
import pytest
from booster_models import WRITERS, people
from sklearn.tree import DecisionTreeClassifier

from testsgd.models import EndpointModel

# A limit that no income is near to, so that no rounding on the way decides.
SCORE = """
import csv, sys

for row in csv.DictReader(sys.stdin):
    print(int(float(row["income"]) > 50.0005 + 6 * float(row["woman"])))
"""

MODULE = """
def grant(frame):
    return (frame["income"] > 50.0005 + 6 * frame["woman"]).astype(int)
"""


def by_rule(frame: pd.DataFrame) -> Any:
    return (frame["income"] > 50.0005 + 6 * frame["woman"]).astype(int).to_numpy()


@dataclass(frozen=True, kw_only=True)
class Made:
    """A model, as a user gives it, and what it says of rows."""

    source: Any
    said: Callable[[pd.DataFrame], Any]


# Makes a model in an empty folder; what has to be closed after the test goes on the stack.
Make = Callable[[Path, contextlib.ExitStack], Made]


@dataclass(frozen=True, kw_only=True)
class Adapter:
    """A kind of model."""

    name: str
    make: Make
    by_name: bool = True  # Whether it knows its columns by their names.


def _function(_: Path, __: contextlib.ExitStack) -> Made:
    def careless(frame: pd.DataFrame) -> Any:
        """Decide, and spoil what it was given."""
        answers = by_rule(frame)
        frame["income"] = 0.0
        return answers

    return Made(source=careless, said=by_rule)


def _function_of_columns(_: Path, __: contextlib.ExitStack) -> Made:
    def grant(woman: Any, age: Any, income: Any) -> Any:
        return (np.asarray(income) > 50.0005 + 6 * np.asarray(woman)).astype(int)

    return Made(source=grant, said=by_rule)


def _named_function(folder: Path, stack: contextlib.ExitStack) -> Made:
    name = "rule_of_all_adapters"
    (folder / f"{name}.py").write_text(MODULE, encoding="utf-8")
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    stack.callback(sys.modules.pop, name, None)
    stack.callback(sys.path.remove, str(folder))
    return Made(source=f"{name}:grant", said=by_rule)


def _tree() -> DecisionTreeClassifier:
    rows, granted = people()
    return DecisionTreeClassifier(max_depth=4, random_state=0).fit(rows, granted)


def _estimator(_: Path, __: contextlib.ExitStack) -> Made:
    tree = _tree()
    return Made(source=tree, said=tree.predict)


def _pickle(folder: Path, _: contextlib.ExitStack) -> Made:
    tree, path = _tree(), folder / "model.pkl"
    path.write_bytes(pickle.dumps(tree))
    return Made(source=path, said=tree.predict)


def _skops(folder: Path, _: contextlib.ExitStack) -> Made:
    written = pytest.importorskip("skops.io")
    tree, path = _tree(), folder / "model.skops"
    written.dump(tree, path)
    return Made(source=path, said=tree.predict)


def _booster(kind: str) -> Make:
    def make(folder: Path, _: contextlib.ExitStack) -> Made:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path, said = WRITERS[kind](folder)
        return Made(source=path, said=said)

    return make


def _endpoint(_: Path, stack: contextlib.ExitStack) -> Made:
    def answer(rows: model_server.Rows, _: int) -> Any:
        try:
            return by_rule(pd.DataFrame(rows)).tolist()
        except KeyError as error:
            return model_server.Reply(f"no column\n{error}".encode(), status=400)

    server = stack.enter_context(model_server.served(answer))
    return Made(source=EndpointModel(server.url), said=by_rule)


def _command(folder: Path, _: contextlib.ExitStack) -> Made:
    program = folder / "score.py"
    program.write_text(SCORE, encoding="utf-8")
    return Made(source=f"cmd:{shlex.join([sys.executable, str(program)])}", said=by_rule)


def _torch(_: Path, __: contextlib.ExitStack) -> Made:
    torch = pytest.importorskip("torch")
    weights = np.array([[-6.0], [0.0], [1.0]], dtype=np.float32)

    class Rule(torch.nn.Module):  # type: ignore[misc]  # a class of what is given
        feature_names_in_ = ("woman", "age", "income")

        def forward(self, rows: Any) -> Any:
            return (rows @ torch.from_numpy(weights) - 50.0005).sigmoid()

    return Made(source=Rule(), said=by_rule)


def _mlflow(folder: Path, _: contextlib.ExitStack) -> Made:
    pyfunc, models = pytest.importorskip("mlflow.pyfunc"), pytest.importorskip("mlflow.models")
    rows, _ = people()

    class Rule(pyfunc.PythonModel):  # type: ignore[misc]
        # MLflow takes type hints for a schema.
        def predict(self, context, model_input, params=None):
            return by_rule(model_input)

    path = folder / "rule"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        signature = models.infer_signature(rows, np.array([0, 1]))
        pyfunc.save_model(path, python_model=Rule(), signature=signature, pip_requirements=[])
    return Made(source=path, said=by_rule)


# A new kind of model is a line here.
ADAPTERS = (
    Adapter(name="function", make=_function),
    Adapter(name="function of columns", make=_function_of_columns),
    Adapter(name="function by its name", make=_named_function),
    Adapter(name="estimator", make=_estimator),
    Adapter(name="pickle", make=_pickle),
    Adapter(name="skops", make=_skops),
    *(
        Adapter(name=kind, make=_booster(kind), by_name=kind != "ONNX, one input")
        for kind in WRITERS
    ),
    Adapter(name="HTTP endpoint", make=_endpoint),
    Adapter(name="command", make=_command),
    Adapter(name="PyTorch", make=_torch),
    Adapter(name="MLflow", make=_mlflow),
)

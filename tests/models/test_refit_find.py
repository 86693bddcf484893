"""What a model was made of decides how it is trained again, or the error says what would do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_up_network import random_network
from sklearn.linear_model import LogisticRegression

from testsgd.data import DatasetSpecification, Table, TextSpecification, bundled_folder
from testsgd.errors import ModelError
from testsgd.models import (
    MODEL_FILE,
    Examples,
    LoadedModel,
    load_model,
    load_text_model,
    refitter_for,
)
from testsgd.models.refitting.estimators import EstimatorRefitter
from testsgd.models.refitting.networks import NetworkRefitter

NUMBERS = ["age", "income", "amount"]


class Always:
    """Has predict, but nothing to be fitted again by."""

    def predict(self, frame: pd.DataFrame) -> list[str]:
        return ["yes"] * len(frame)


@pytest.fixture(scope="module")
def examples(demo_table: Table) -> Examples:
    assert demo_table.labels is not None
    labels = (demo_table.labels.iloc[:300] == "yes").to_numpy()
    return Examples(demo_table.frame[NUMBERS].iloc[:300], labels)


@pytest.fixture(scope="module")
def fitted(demo_table: Table) -> LogisticRegression:
    assert demo_table.labels is not None
    frame = demo_table.frame[NUMBERS].iloc[:300]
    return LogisticRegression(max_iter=5000).fit(frame, demo_table.labels.iloc[:300])


def test_a_loaded_model_says_what_it_was_made_of(
    demo_specification: DatasetSpecification, fitted: LogisticRegression
) -> None:
    shipped = bundled_folder("models") / "demo" / MODEL_FILE
    for source in (None, "demo", shipped, str(shipped)):
        assert load_model(source, demo_specification).origin.resolve() == shipped.resolve()
    assert load_model(fitted, demo_specification).origin is fitted
    function = Always().predict
    assert load_model(function, demo_specification).origin is function


def test_so_does_one_of_a_module(
    demo_specification: DatasetSpecification, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"origin_{tmp_path.name.replace('-', '_')}"
    text = (
        "class Rules:\n    def predict(self, x):\n        return ['yes'] * len(x)\nrules = Rules()"
    )
    (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    assert type(load_model(f"{name}:rules", demo_specification).origin).__name__ == "Rules"


def test_so_does_one_of_texts() -> None:
    specification = TextSpecification.model_validate(
        {
            "dataset": {"name": "comments"},
            "text": {"column": "comment"},
            "label": {"column": "toxic", "favourable": "yes", "values": ["no", "yes"]},
        }
    )

    def shouts(texts: list[str]) -> list[str]:
        return ["yes"] * len(texts)

    assert load_text_model(shouts, specification).origin is shouts


def test_networks_and_estimators_are_found(
    demo_specification: DatasetSpecification,
    demo_model: LoadedModel,
    demo_table: Table,
    examples: Examples,
    fitted: LogisticRegression,
) -> None:
    rows = Examples(demo_table.frame.iloc[:300], examples.favourable)

    def found(loaded: LoadedModel, examples: Examples, **options: Any) -> Any:
        return refitter_for(loaded, demo_specification, examples, examples, **options)

    network = found(demo_model, rows)
    assert isinstance(network, NetworkRefitter)
    assert network.goes_on
    assert not found(demo_model, rows, from_scratch=True).goes_on
    assert network.kind == "fully connected network, from the original weights"
    for source in (fitted, fitted.predict):
        estimator = found(load_model(source, demo_specification), examples)
        assert isinstance(estimator, EstimatorRefitter)
        assert estimator.kind == "LogisticRegression, fitted anew"
        assert not estimator.goes_on


@pytest.mark.parametrize(
    "source", [Always(), lambda frame: ["yes"] * len(frame), Always().predict, LogisticRegression]
)
def test_what_cannot_be_refitted_is_told_so(
    source: Any, demo_specification: DatasetSpecification, examples: Examples
) -> None:
    if source is LogisticRegression:
        # The class has fit and predict too, but is none.
        loaded = LoadedModel(load_model(Always(), demo_specification).model, origin=source)
    else:
        loaded = load_model(source, demo_specification)
    with pytest.raises(ModelError, match="cannot be refitted") as caught:
        refitter_for(loaded, demo_specification, examples, examples, from_scratch=False)
    assert "--export" in caught.value.remedy
    assert not re.search(r"\ba [aeiou]", caught.value.what)


def test_a_network_without_its_file_cannot_be_written_again(
    demo_specification: DatasetSpecification,
) -> None:
    examples = Examples(("good",), np.array([True]))
    with pytest.raises(ModelError, match="cannot be refitted"):
        refitter_for(LoadedModel(random_network()), demo_specification, examples, examples)

"""Whatever a user may name as a model of texts is found, or the error says what would be."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from testsgd.data import TextSpecification, bundled_folder, load_specification
from testsgd.errors import ModelError, ParameterError
from testsgd.io import sha256_of_file
from testsgd.models import MODEL_FILE, CallableTextModel, TextNetwork, load_text_model

SHIPPED = bundled_folder("models") / "imdb" / MODEL_FILE
TEXTS = ["a good film", "a bad film", ""]

MODULE = """
def by_length(texts):
    return ["positive" if len(text) > 10 else "negative" for text in texts]

class Rules:
    def predict(self, texts):
        return [0.9] * len(texts)

rules = Rules()
"""


@pytest.fixture(scope="module")
def reviews() -> TextSpecification:
    specification = load_specification("imdb")
    assert isinstance(specification, TextSpecification)
    return specification


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module of the user's in the working folder, under a name that nothing else has."""
    name = f"reviews_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield name
    sys.modules.pop(name, None)


@pytest.mark.parametrize("source", [None, "imdb", str(SHIPPED), SHIPPED])
def test_the_shipped_network(
    source: Any, reviews: TextSpecification, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    loaded = load_text_model(source, reviews)
    assert isinstance(loaded.model, TextNetwork)
    assert loaded.model.name == "imdb"
    assert loaded.file_sha256 == sha256_of_file(SHIPPED)
    assert loaded.card["data set"] == "imdb"
    assert loaded.model.knows("good")


def test_the_threshold_and_the_favourable_label(reviews: TextSpecification) -> None:
    plain = load_text_model(None, reviews).model
    assert isinstance(plain, TextNetwork)
    scores = plain.scores(TEXTS)
    strict = load_text_model(None, reviews, threshold=0.9).model
    np.testing.assert_array_equal(strict.decisions(TEXTS), scores > 0.9)
    label = reviews.label.model_copy(update={"favourable": "negative"})
    other = load_text_model(None, reviews.model_copy(update={"label": label})).model
    np.testing.assert_array_equal(other.decisions(TEXTS), scores < 0.5)
    with pytest.raises(ParameterError, match="threshold"):
        load_text_model(None, reviews, threshold=1.0)


@pytest.mark.parametrize(
    ("path", "kind", "decisions"),
    [
        ("by_length", "function", [True, False, False]),
        ("rules", "estimator Rules", [True, True, True]),
        ("rules.predict", "function", [True, True, True]),
    ],
)
def test_a_module_of_the_working_folder(
    module: str, reviews: TextSpecification, path: str, kind: str, decisions: list[bool]
) -> None:
    loaded = load_text_model(f"{module}:{path}", reviews)
    assert isinstance(loaded.model, CallableTextModel)
    assert (loaded.model.name, loaded.model.kind) == (f"{module}:{path}", kind)
    assert (loaded.file_sha256, loaded.card) == (None, {})
    assert loaded.model.decisions(["a long film", "bad", ""]).tolist() == decisions


def test_a_function_with_more_labels(reviews: TextSpecification) -> None:
    def three(texts: list[str]) -> list[str]:
        return ["positive", "negative", "mixed"]

    loaded = load_text_model(three, reviews, favourable_given=True)
    assert loaded.model.name.endswith("three")
    assert loaded.model.decisions(TEXTS).tolist() == [True, False, False]
    with pytest.raises(ModelError, match="'mixed', which is not among"):
        load_text_model(three, reviews).model.decisions(TEXTS)


@pytest.mark.parametrize("source", [3, ["positive"], b"imdb"])
def test_what_is_no_model_is_named(reviews: TextSpecification, source: Any) -> None:
    with pytest.raises(ModelError, match="is no model; give a function from a list of strings"):
        load_text_model(source, reviews)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nonsense", "there is no model 'nonsense'"),
        ("no_such_module:f", "there is no module 'no_such_module'"),
        ("demo", "the network is of tables, the data set of texts"),
        ("tweets", "knows the labels 'neither' and 'hateful or offensive', not 'positive'"),
    ],
)
def test_a_source_that_does_not_go_with_the_texts(
    reviews: TextSpecification, source: str, message: str
) -> None:
    with pytest.raises(ModelError, match=message):
        load_text_model(source, reviews)


def test_a_data_set_without_a_trained_network_says_how_to_get_one(
    reviews: TextSpecification, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    identity = reviews.dataset.model_copy(update={"name": "mine"})
    mine = reviews.model_copy(update={"dataset": identity}).of_file(Path("texts/mine.toml"))
    with pytest.raises(ModelError, match=r"testsgd train texts/mine\.toml"):
        load_text_model(None, mine)

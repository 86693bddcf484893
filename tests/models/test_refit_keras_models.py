"""A user's own Keras model is copied and trained on, and is itself left alone."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from testsgd.data import DatasetSpecification, TextSpecification
from testsgd.errors import ModelError
from testsgd.models import (
    MODEL_FILE,
    Examples,
    load_model,
    load_text_model,
    refitter_for,
)
from testsgd.models.refitting.keras_models import KerasRefitter
from testsgd.models.refitting.schedule import Schedule

pytestmark = pytest.mark.tensorflow

SPECIFICATION = DatasetSpecification.model_validate(
    {
        "dataset": {"name": "made-up"},
        "label": {"column": "paid", "favourable": "yes", "values": ["no", "yes"]},
        "features": {
            "x": {"type": "decimal", "range": [-90, 90]},
            "sex": {"type": "integer", "range": [0, 1], "sensitive": True},
        },
    }
)
QUICK = Schedule(epochs=2, learning_rate=1.0, batch_size=32)


@pytest.fixture(scope="module")
def keras() -> Any:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with warnings.catch_warnings():
        # While TensorFlow is imported, the packages it brings along warn about themselves.
        warnings.simplefilter("ignore")
        pytest.importorskip("tensorflow")
        return pytest.importorskip("keras")


def drawn(count: int, seed: int = 0) -> Examples:
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"x": generator.normal(20, 5, count), "sex": generator.integers(0, 2, count)}
    )
    return Examples(frame, (frame["x"] + generator.normal(size=count) > 20).to_numpy())


@pytest.fixture
def network(keras: Any) -> Any:
    keras.utils.set_random_seed(0)
    layers = keras.layers
    scaled = layers.Normalization()
    scaled.adapt(drawn(200).frame.to_numpy(np.float32))
    made = keras.Sequential(
        [
            layers.Input((2,)),
            scaled,
            layers.Dense(8, "relu"),
            layers.Dropout(0.3),
            layers.Dense(1, "sigmoid"),
        ]
    )
    made.compile(keras.optimizers.Adam(0.02), "binary_crossentropy", metrics=["accuracy"])
    return made


def refitter(network: Any, schedule: Schedule | None = QUICK, **options: Any) -> KerasRefitter:
    loaded = load_model(network, SPECIFICATION)
    training = drawn(300)
    return KerasRefitter(
        network, loaded.model, {}, training, training, schedule=schedule, **options
    )


def test_it_is_asked_without_a_word(network: Any, capsys: pytest.CaptureFixture[str]) -> None:
    loaded = load_model(network, SPECIFICATION)
    frame = drawn(50).frame
    expected = network.predict(frame.to_numpy(np.float32), verbose=0)[:, 0] > 0.5
    np.testing.assert_array_equal(loaded.model.decisions(frame), expected)
    assert loaded.model.kind == "Keras model Sequential"
    assert capsys.readouterr().out == ""


def test_it_is_found_by_what_it_is(network: Any) -> None:
    training = drawn(100)
    for source in (network, network.predict):
        loaded = load_model(source, SPECIFICATION)
        found = refitter_for(loaded, SPECIFICATION, training, training)
        assert isinstance(found, KerasRefitter)
        assert found.goes_on


def test_it_is_left_as_it_was_and_copies_are_trained(network: Any) -> None:
    before = [array.copy() for array in network.get_weights()]
    extra = Examples(drawn(100, seed=1).inputs, np.zeros(100, dtype=bool), np.full(100, 3.0))
    stages = list(refitter(network).refit(extra, seed=0))
    for mine, kept in zip(network.get_weights(), before, strict=True):
        np.testing.assert_array_equal(mine, kept)
    assert [stage.name for stage in stages] == ["epoch 1", "epoch 2"]
    # Each stage goes on answering as it did then.
    frame = drawn(300).frame
    scores = [np.asarray(stage.model.function(frame)) for stage in stages]
    assert not np.array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(np.asarray(stages[0].model.function(frame)), scores[0])
    decided = stages[1].model.decisions(frame)
    np.testing.assert_array_equal(decided, scores[1][:, 0] > 0.5)


def test_without_a_step_it_is_the_original_bit_for_bit(keras: Any, network: Any) -> None:
    network.compile(keras.optimizers.SGD(0.0), "binary_crossentropy")
    (stage,) = refitter(network, Schedule(1, 1.0, 32)).refit(None, seed=0)
    for mine, kept in zip(stage.model.function.weights, network.get_weights(), strict=True):
        np.testing.assert_array_equal(mine, kept)


def test_the_seed_decides_and_trainings_may_take_turns(network: Any) -> None:
    made = refitter(network)
    trainings = zip(*(made.refit(None, seed=seed) for seed in (1, 1, 2)), strict=True)
    for one, same, other in trainings:
        for mine, yours in zip(
            one.model.function.weights, same.model.function.weights, strict=True
        ):
            np.testing.assert_array_equal(mine, yours)
        assert not np.array_equal(one.model.function.weights[3], other.model.function.weights[3])


def test_labels_and_weights_are_learnt(network: Any) -> None:
    made = refitter(network, Schedule(8, 1.0, 32))
    frame = drawn(300).frame
    *_, refusing = made.refit(None, labels=np.zeros(300, dtype=bool), seed=0)
    assert refusing.model.decisions(frame).mean() < 0.05
    weights = drawn(300).favourable.astype(float)
    *_, granting = made.refit(None, weights=weights, seed=0)
    assert granting.model.decisions(frame).mean() > 0.95


def test_from_scratch_only_what_is_trained_is_new(network: Any) -> None:
    network.optimizer.learning_rate = 0.0
    made = refitter(network, Schedule(9, 1.0, 32, patience=2), from_scratch=True)
    stages = list(made.refit(None, seed=5))
    assert len(stages) == 3
    kept = network.get_weights()
    new = stages[0].model.function.weights
    # The means and variances of the first layer, then the first kernel.
    np.testing.assert_array_equal(new[0], kept[0])
    np.testing.assert_array_equal(new[1], kept[1])
    assert not np.array_equal(new[3], kept[3])


def test_what_is_written_keras_reads_and_goes_on_training(
    keras: Any, network: Any, tmp_path: Path
) -> None:
    made = refitter(network)
    *_, stage = made.refit(None, seed=0)
    made.check_writable()
    files = made.write(stage.model, tmp_path, {"made from": "mine"})
    assert sorted(files) == sorted(tmp_path.iterdir())
    again = keras.saving.load_model(tmp_path / MODEL_FILE)
    frame = drawn(50).frame
    np.testing.assert_array_equal(
        load_model(again, SPECIFICATION).model.decisions(frame), stage.model.decisions(frame)
    )
    again.fit(frame.to_numpy(np.float32), np.ones(50), verbose=0)


def test_what_layers_hold_beside_their_weights_is_copied(keras: Any) -> None:
    layers = keras.layers
    cut = layers.Discretization(num_bins=4, output_mode="one_hot")
    cut.adapt(drawn(200).frame.to_numpy(np.float32)[:, :1])
    made = keras.Sequential(
        [layers.Input((2,)), layers.Lambda(lambda x: x[:, :1]), cut, layers.Dense(1, "sigmoid")]
    )
    made.compile("sgd", "binary_crossentropy")
    *_, stage = refitter(made).refit(None, seed=0)
    frame = pd.DataFrame({"x": np.linspace(0, 40, 200), "sex": 0})
    assert len(np.unique(stage.model.function(frame))) == 4


def test_a_network_that_is_not_compiled_is_told_so(keras: Any) -> None:
    made = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1, "sigmoid")])
    with pytest.raises(ModelError, match="not compiled"):
        refitter(made)


def test_a_file_is_compiled_as_it_was_saved(keras: Any, network: Any, tmp_path: Path) -> None:
    network.save(tmp_path / "mine.keras")
    loaded = load_model(tmp_path / "mine.keras", SPECIFICATION)
    examples = drawn(300)
    found = refitter_for(loaded, SPECIFICATION, examples, examples)
    assert isinstance(found, KerasRefitter)
    *_, stage = found.refit(drawn(20, seed=1), seed=0)
    (*_, same) = refitter(network, schedule=None).refit(drawn(20, seed=1), seed=0)
    rows = drawn(50, seed=2).frame
    assert (stage.model.function(rows) == same.model.function(rows)).all()


def test_a_file_compiled_with_a_loss_of_ones_own_is_asked_and_not_trained(
    keras: Any, tmp_path: Path
) -> None:
    def loss_of_mine(true: Any, predicted: Any) -> Any:
        return keras.ops.mean((true - predicted) ** 2)

    made = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1, "sigmoid")])
    made.compile("adam", loss_of_mine)
    made.save(tmp_path / "mine.keras")
    loaded = load_model(tmp_path / "mine.keras", SPECIFICATION)
    examples = drawn(20)
    assert len(loaded.model.decisions(examples.frame)) == 20
    with pytest.raises(ModelError, match="not compiled"):
        refitter_for(loaded, SPECIFICATION, examples, examples)


@pytest.mark.parametrize("classes", [2, 3])
def test_of_several_outputs_the_largest_is_the_label(keras: Any, classes: int) -> None:
    keras.utils.set_random_seed(3)
    made = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(classes, "softmax")])
    made.compile("adam", "sparse_categorical_crossentropy")
    values = [str(value) for value in range(classes)]
    label = {"column": "paid", "favourable": "1", "values": values}
    specification = DatasetSpecification.model_validate(
        {**SPECIFICATION.model_dump(exclude_none=True, exclude={"label"}), "label": label}
    )
    examples = drawn(200)
    loaded = load_model(made, specification)
    scores = made.predict(examples.frame.to_numpy(np.float32), verbose=0)
    assert (loaded.model.decisions(examples.frame) == (scores.argmax(axis=1) == 1)).all()
    with pytest.raises(ModelError, match="outputs"):
        refitter_for(loaded, specification, examples, examples)


def test_categories_are_told(network: Any) -> None:
    frame = drawn(20).frame.assign(sex=["f", "m"] * 10)
    examples = Examples(frame, np.zeros(20, dtype=bool))
    with pytest.raises(ModelError, match="on numbers only"):
        KerasRefitter(network, load_model(network, SPECIFICATION).model, {}, examples, examples)


def test_a_network_that_cannot_be_copied_is_told_so(keras: Any) -> None:
    class Mine(keras.Model):
        def __init__(self, units: int) -> None:
            super().__init__()
            self.last = keras.layers.Dense(units, "sigmoid")

        def call(self, inputs: Any) -> Any:
            return self.last(inputs)

    made = Mine(1)
    made.compile("adam", "binary_crossentropy")
    made.predict(np.zeros((1, 2), np.float32), verbose=0)
    with pytest.raises(ModelError, match="cannot be copied"):
        refitter(made)


@pytest.mark.slow
def test_a_network_of_texts_too(keras: Any, tmp_path: Path) -> None:
    specification = TextSpecification.model_validate(
        {
            "dataset": {"name": "comments"},
            "text": {"column": "comment"},
            "label": {"column": "toxic", "favourable": "no", "values": ["no", "yes"]},
        }
    )
    texts = ("good film", "bad film", "good actor", "bad actor") * 10
    training = Examples(texts, np.array(["good" in text for text in texts]))
    layers = keras.layers
    keras.utils.set_random_seed(0)
    for shape in ((), (1,)):
        numbered = layers.TextVectorization(20, output_sequence_length=4)
        numbered.adapt(list(texts))
        made = keras.Sequential(
            [
                layers.Input(shape, dtype="string"),
                numbered,
                layers.Embedding(20, 4),
                layers.GlobalAveragePooling1D(),
                layers.Dense(1, "sigmoid"),
            ]
        )
        made.compile(keras.optimizers.Adam(0.1), "binary_crossentropy")
        loaded = load_text_model(made, specification)
        found = refitter_for(loaded, specification, training, training)
        extra = Examples(("film",) * 20, np.zeros(20, dtype=bool))
        *_, stage = found.refit(extra, seed=0)
        assert stage.model.decisions(["good", "bad", "film film"]).tolist() == [True, False, False]
        found.write(stage.model, tmp_path, {})
        again = load_text_model(keras.saving.load_model(tmp_path / MODEL_FILE), specification)
        assert again.model.decisions(["good", "bad"]).tolist() == [True, False]


def test_a_network_of_numbers_takes_no_texts(network: Any) -> None:
    examples = Examples(("a", "b"), np.zeros(2, dtype=bool))
    with pytest.raises(ModelError, match="not texts"):
        KerasRefitter(network, load_model(network, SPECIFICATION).model, {}, examples, examples)

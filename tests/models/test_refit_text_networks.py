"""A network of texts is trained again: from where it was, the same each time, and read back."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_network import LABELS, WORDS, random_texts

from testsgd.models import MODEL_FILE, Examples, LoadedModel, TextNetwork, read_card
from testsgd.models.files import SigmoidOutput
from testsgd.models.refitting.schedule import TextSchedule
from testsgd.models.refitting.text_networks import TextNetworkRefitter
from testsgd.models.text import Vocabulary
from testsgd.models.text.keras_network import keras_text_network
from testsgd.models.text.network import read_text_network, write_text_preprocessing

pytestmark = pytest.mark.tensorflow

QUICK = TextSchedule(epochs=2, learning_rate=1e-2, batch_size=16)


@pytest.fixture(scope="module")
def keras() -> Any:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with warnings.catch_warnings():
        # While TensorFlow is imported, the packages it brings along warn about themselves.
        warnings.simplefilter("ignore")
        pytest.importorskip("tensorflow")
        return pytest.importorskip("keras")


@pytest.fixture(scope="module")
def folder(keras: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a network of random weights, with its vocabulary and a card."""
    folder = tmp_path_factory.mktemp("made-up")
    network = keras_text_network(
        keras, numbers=len(WORDS) + 2, dimensions=4, width=3, filters=5, pool=4, units=3
    )
    generator = np.random.default_rng(0)
    network.set_weights([generator.normal(size=w.shape) for w in network.get_weights()])
    layers = [layer for layer in network.layers if "Dropout" not in type(layer).__name__]
    bare = keras.Sequential([keras.layers.Input((None,), dtype="int32"), *layers])
    bare.save(folder / MODEL_FILE)
    write_text_preprocessing(folder, Vocabulary(WORDS, 30), LABELS)
    (folder / "card.json").write_text('{"seed": 4, "epochs": 9}', encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def training() -> Examples:
    texts = tuple(random_texts(150, seed=1))
    return Examples(texts, np.array([text.count("good") > text.count("bad") for text in texts]))


def network(folder: Path, favourable: str = "positive") -> TextNetwork:
    return read_text_network(folder / MODEL_FILE, favourable=favourable, name="made up")


def refitter(
    folder: Path, training: Examples, schedule: TextSchedule | None = QUICK, **options: Any
) -> TextNetworkRefitter:
    model = network(folder, options.pop("favourable", "positive"))
    return TextNetworkRefitter(
        model,
        folder / MODEL_FILE,
        read_card(folder),
        training,
        training,
        schedule=schedule,
        **options,
    )


@pytest.fixture(scope="module")
def quick(folder: Path, training: Examples) -> TextNetworkRefitter:
    """Return one refitter for several tests: its trainings may take turns, as one of them says.

    To compile a network takes longer than all its trainings here.
    """
    return refitter(folder, training)


@pytest.fixture(scope="module")
def longer(folder: Path, training: Examples) -> TextNetworkRefitter:
    """Return another one for several tests, of more epochs."""
    schedule = TextSchedule(epochs=6, learning_rate=1e-2, batch_size=16)
    return refitter(folder, training, schedule)


def assert_same(one: TextNetwork, other: TextNetwork) -> None:
    for mine, yours in zip(one.weights.arrays(), other.weights.arrays(), strict=True):
        np.testing.assert_array_equal(mine, yours)


def test_without_a_step_the_network_is_the_original_bit_for_bit(
    folder: Path, training: Examples
) -> None:
    still = TextSchedule(epochs=1, learning_rate=0.0, batch_size=16)
    (stage,) = refitter(folder, training, still).refit(None, seed=3)
    assert stage.name == "epoch 1"
    assert_same(stage.model, network(folder))


@pytest.mark.slow
def test_the_seed_decides_and_trainings_may_take_turns(
    folder: Path, training: Examples, quick: TextNetworkRefitter
) -> None:
    assert quick.goes_on
    one, other = quick.refit(None, seed=1), quick.refit(None, seed=1)
    different = quick.refit(None, seed=2)
    for mine, theirs, yours in zip(one, different, other, strict=True):
        assert_same(mine.model, yours.model)
        assert not np.array_equal(mine.model.weights.kernel, theirs.model.weights.kernel)
    # A refitter of its own, in which nothing went before, comes to the same.
    *_, again = refitter(folder, training).refit(None, seed=1)
    assert_same(again.model, mine.model)


@pytest.mark.slow
def test_what_is_added_is_learnt_as_its_weight_says(longer: TextNetworkRefitter) -> None:
    texts = ("gay actor", "old gay actor", "the gay") * 20

    def mean_score(favourable: bool, weight: float) -> float:
        labels, weights = np.full(len(texts), favourable), np.full(len(texts), weight)
        *_, stage = longer.refit(Examples(texts, labels, weights), seed=0)
        return float(stage.model.scores(texts[:3]).mean())

    assert mean_score(True, 5.0) > mean_score(True, 0.01) + 0.05
    assert mean_score(False, 5.0) < mean_score(False, 0.01) - 0.05


def test_other_labels_of_the_training_texts_are_learnt(
    training: Examples, longer: TextNetworkRefitter
) -> None:
    rates = []
    for labels in (np.ones(150, dtype=bool), np.zeros(150, dtype=bool)):
        *_, stage = longer.refit(None, labels=labels, weights=np.ones(150), seed=0)
        rates.append(stage.model.decisions(training.texts).mean())
    assert rates[0] > 0.9
    assert rates[1] < 0.1


@pytest.mark.slow
def test_distilled_only_what_is_added_moves_the_network(folder: Path, training: Examples) -> None:
    before = network(folder).scores(training.texts)
    made = {
        distilled: refitter(
            folder, training, TextSchedule(3, 1e-3, 16, distilled=distilled, dropout=False)
        )
        for distilled in (False, True)
    }

    def moved(extra: Examples | None, distilled: bool, **options: Any) -> float:
        *_, stage = made[distilled].refit(extra, seed=0, **options)
        return float(np.abs(stage.model.scores(training.texts) - before).max())

    still, learning = moved(None, True), moved(None, False)
    assert still < learning / 10
    texts = ("gay actor", "old gay actor") * 20
    extra = Examples(texts, np.zeros(40, dtype=bool), np.full(40, 3.0))
    assert moved(extra, True) > 3 * still
    # Weights or labels that are given are learnt as they are.
    ones, labels = np.ones(150), training.favourable
    for options in ({"weights": ones}, {"labels": labels}):
        assert moved(None, True, **options) == learning


@pytest.mark.slow
def test_targets_between_the_labels_are_learnt(folder: Path, training: Examples) -> None:
    made = refitter(folder, training, TextSchedule(12, 3e-2, 16, dropout=False))
    texts = ("gay actor",) * 100
    found = []
    for target in (0.2, 0.8):
        extra = Examples(texts, np.zeros(100, dtype=bool), targets=np.full(100, target))
        *_, stage = made.refit(extra, seed=0)
        found.append(float(stage.model.scores(texts[:1])[0]))
    np.testing.assert_allclose(found, [0.2, 0.8], atol=0.1)


def test_a_text_that_is_added_takes_the_place_of_the_same_one(
    folder: Path, training: Examples
) -> None:
    again = ("The old gay film!",) * 60
    both = training.join(Examples(again, np.ones(60, dtype=bool)))
    made = refitter(folder, both, TextSchedule(6, 3e-2, 16, dropout=False))
    # The same words, if not the same characters.
    extra = Examples(("the OLD gay film",) * 20, np.zeros(20, dtype=bool))
    *_, replaced = made.refit(extra, seed=0)
    *_, plain = made.refit(None, seed=0)
    assert plain.model.scores(again[:1])[0] > 0.7
    assert replaced.model.scores(again[:1])[0] < 0.3


def test_an_epoch_may_have_several_stages(
    folder: Path, training: Examples, quick: TextNetworkRefitter
) -> None:
    halved = refitter(folder, training, replace(QUICK, parts=2))
    whole, half = (list(made.refit(None, seed=0)) for made in (quick, halved))
    assert [stage.name for stage in half] == ["epoch 0.5", "epoch 1", "epoch 1.5", "epoch 2"]
    # The same steps in the same order.
    for one, other in zip(whole, half[1::2], strict=True):
        assert one.name == other.name
        assert_same(one.model, other.model)


def test_the_number_of_steps_may_decide_on_the_epochs(folder: Path, training: Examples) -> None:
    # Fewer than 150 texts of several lengths make fewer than 20 steps.
    for updates, epochs in ((1, 2), (10_000, 3)):
        schedule = TextSchedule(3, 0.0, 16, updates=updates)
        assert len(list(refitter(folder, training, schedule).refit(None, seed=0))) == epochs


def test_it_does_not_matter_which_label_is_favourable(
    folder: Path, training: Examples, quick: TextNetworkRefitter
) -> None:
    *_, one = quick.refit(None, seed=0)
    swapped = Examples(training.inputs, ~training.favourable)
    *_, other = refitter(folder, swapped, favourable="negative").refit(None, seed=0)
    assert_same(one.model, other.model)


@pytest.mark.slow
def test_from_scratch_nothing_of_the_original_is_left(folder: Path, training: Examples) -> None:
    still = TextSchedule(epochs=9, learning_rate=0.0, batch_size=16, patience=2)
    made = refitter(folder, training, still, from_scratch=True)
    assert not made.goes_on
    stages, others = (list(made.refit(None, seed=seed)) for seed in (0, 1))
    # With a loss that no epoch makes smaller, two more are waited for.
    assert len(stages) == 3
    kernels = [each.weights.kernel for each in (stages[0].model, others[0].model, network(folder))]
    for one, other in ((0, 1), (0, 2)):
        assert abs(np.corrcoef(kernels[one].ravel(), kernels[other].ravel())[0, 1]) < 0.5


@pytest.mark.slow
def test_what_is_written_is_read_back_here_and_by_keras(
    keras: Any, quick: TextNetworkRefitter, tmp_path: Path
) -> None:
    *_, stage = quick.refit(None, seed=0)
    quick.check_writable()
    files = quick.write(stage.model, tmp_path, {"made from": "a network"})
    assert sorted(files) == sorted(tmp_path.iterdir())
    again = network(tmp_path)
    assert_same(again, stage.model)
    assert again.vocabulary == stage.model.vocabulary
    twin = keras.saving.load_model(tmp_path / MODEL_FILE)
    for mine, theirs in zip(stage.model.weights.arrays(), twin.get_weights(), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    card = read_card(tmp_path)
    assert (card["seed"], card["made from"], "epochs" in card) == (4, "a network", False)
    assert "tensorflow" in card["versions"]


def test_a_refitter_is_found_for_a_loaded_network(folder: Path, training: Examples) -> None:
    from testsgd.data import TextSpecification
    from testsgd.models import refitter_for

    specification = TextSpecification.model_validate(
        {
            "dataset": {"name": "films"},
            "text": {"column": "review"},
            "label": {"column": "of", "favourable": "positive", "values": ["negative", "positive"]},
        }
    )
    model = network(folder)
    assert isinstance(model.sigmoid, SigmoidOutput)
    loaded = LoadedModel(model, origin=folder / MODEL_FILE)
    found = refitter_for(loaded, specification, training, training)
    assert found.kind == "convolutional LSTM network, from the original weights"

"""A network of rows is trained again: from where it was, the same each time, and written whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testsgd.data import DatasetSpecification, Table, bundled_folder
from testsgd.models import (
    MODEL_FILE,
    Examples,
    LoadedModel,
    NetworkModel,
    load_model,
    read_card,
    refitter_for,
)
from testsgd.models.network import read_network
from testsgd.models.refitting.networks import NetworkRefitter
from testsgd.models.refitting.schedule import ROWS_ON, RowSchedule

SHIPPED = bundled_folder("models") / "demo" / MODEL_FILE
QUICK = RowSchedule(epochs=2, learning_rate=1e-3, batch_size=128)


@pytest.fixture(scope="module")
def examples(demo_table: Table) -> Examples:
    assert demo_table.labels is not None
    favourable = (demo_table.labels.iloc[:2000] == "yes").to_numpy()
    return Examples(demo_table.frame.iloc[:2000], favourable)


@pytest.fixture(scope="module")
def extra(demo_table: Table) -> Examples:
    frame = demo_table.frame.iloc[2000:3000]
    women = frame[(frame["gender"] == "female").to_numpy()]
    return Examples(women, np.ones(len(women), dtype=bool))


def refitter(
    examples: Examples, schedule: RowSchedule = QUICK, **options: object
) -> NetworkRefitter:
    favourable = str(options.pop("favourable", "yes"))
    model = read_network(SHIPPED, favourable=favourable, name="demo")
    return NetworkRefitter(
        model, SHIPPED, read_card(SHIPPED.parent), examples, examples, schedule=schedule, **options
    )


def arrays(model: NetworkModel) -> list[np.ndarray]:
    return [array for layer in model.layers for array in (layer.weights, layer.bias)]


def assert_same(one: NetworkModel, other: NetworkModel) -> None:
    for mine, yours in zip(arrays(one), arrays(other), strict=True):
        np.testing.assert_array_equal(mine, yours)


def test_without_a_step_the_network_is_the_original_bit_for_bit(
    examples: Examples, extra: Examples, demo_model: LoadedModel, demo_table: Table
) -> None:
    still = RowSchedule(epochs=3, learning_rate=0.0, batch_size=128)
    *_, stage = refitter(examples, still).refit(extra, seed=3)
    assert_same(stage.model, demo_model.model)
    frame = demo_table.frame.iloc[:500]
    np.testing.assert_array_equal(stage.model.scores(frame), demo_model.model.scores(frame))


def test_each_epoch_is_a_stage_given_as_it_is_done(examples: Examples) -> None:
    endless = RowSchedule(epochs=10**9, learning_rate=1e-3, batch_size=128)
    stages = refitter(examples, endless).refit(None, seed=0)
    first, second = next(stages), next(stages)
    assert (first.name, second.name) == ("epoch 1", "epoch 2")
    assert not np.array_equal(arrays(first.model)[0], arrays(second.model)[0])


def test_the_seed_decides(examples: Examples, extra: Examples) -> None:
    made = refitter(examples)
    one, other = made.refit(extra, seed=1), made.refit(extra, seed=1)
    # In turns: two trainings do not disturb each other.
    for mine, yours in zip(one, other, strict=True):
        assert_same(mine.model, yours.model)
        last = mine.model
    *_, different = made.refit(extra, seed=2)
    assert not np.array_equal(arrays(last)[0], arrays(different.model)[0])


def test_what_is_added_is_learnt(
    examples: Examples, extra: Examples, demo_model: LoadedModel
) -> None:
    *_, plain = refitter(examples).refit(None, seed=0)
    *_, helped = refitter(examples).refit(extra, seed=0)
    rates = [
        model.decisions(extra.frame).mean()
        for model in (demo_model.model, plain.model, helped.model)
    ]
    assert rates[2] > max(rates[:2]) + 0.1


def test_weights_and_labels_replace_those_of_the_training_examples(examples: Examples) -> None:
    count = len(examples)
    ones, none = np.ones(count), np.zeros(count, dtype=bool)
    made = refitter(examples)
    *_, plain = made.refit(None, seed=0)
    *_, same = made.refit(None, weights=ones, labels=examples.favourable, seed=0)
    assert_same(plain.model, same.model)
    *_, refusing = made.refit(None, labels=none, seed=0)
    before = plain.model.decisions(examples.frame).mean()
    assert refusing.model.decisions(examples.frame).mean() < before - 0.3
    # Of a weight of nothing nothing is learnt: as if the favourable labels were not there.
    *_, only = made.refit(None, weights=(~examples.favourable).astype(float), seed=0)
    assert only.model.decisions(examples.frame).mean() < before - 0.2


def test_it_does_not_matter_which_label_is_favourable(examples: Examples, extra: Examples) -> None:
    *_, yes = refitter(examples).refit(extra, seed=0)
    swapped = [Examples(each.inputs, ~each.favourable) for each in (examples, extra)]
    *_, no = refitter(swapped[0], favourable="no").refit(swapped[1], seed=0)
    assert_same(yes.model, no.model)
    frame = examples.frame
    np.testing.assert_array_equal(yes.model.decisions(frame), ~no.model.decisions(frame))


def test_from_scratch_nothing_of_the_original_is_left_and_the_loss_ends_it(
    examples: Examples, demo_table: Table
) -> None:
    made = refitter(examples, from_scratch=True, schedule=None)
    assert (made.goes_on, refitter(examples).goes_on) == (False, True)
    assert "from scratch" in made.kind
    still = refitter(examples, RowSchedule(1, 0.0, 128), from_scratch=True)
    one, other = (next(still.refit(None, seed=seed)).model for seed in (0, 1))
    original = read_network(SHIPPED, favourable="yes", name="demo")
    for each in (other, original):
        assert abs(np.corrcoef(arrays(one)[0].ravel(), arrays(each)[0].ravel())[0, 1]) < 0.2
    # With a loss that no epoch makes smaller, five more are waited for.
    impatient = refitter(examples, RowSchedule(30, 0.0, 128, patience=5), from_scratch=True)
    assert len(list(impatient.refit(None, seed=0))) == 6


def test_what_is_written_is_read_back_bit_for_bit(
    examples: Examples,
    extra: Examples,
    demo_specification: DatasetSpecification,
    demo_table: Table,
    tmp_path: Path,
) -> None:
    made = refitter(examples)
    *_, stage = made.refit(extra, seed=0)
    made.check_writable()
    files = made.write(stage.model, tmp_path / "new", {"made from": "the demo's network"})
    assert sorted(path.name for path in files) == ["card.json", "model.keras", "preprocessing.json"]
    assert sorted((tmp_path / "new").iterdir()) == sorted(files)
    again = load_model(tmp_path / "new" / MODEL_FILE, demo_specification)
    assert_same(again.model, stage.model)
    frame = demo_table.frame.iloc[:300]
    np.testing.assert_array_equal(again.model.scores(frame), stage.model.scores(frame))
    # It can be trained again itself.
    anew = refitter_for(again, demo_specification, examples, examples, from_scratch=False)
    assert next(anew.refit(None, seed=0)).name == f"epoch {ROWS_ON.every}"


def test_a_network_may_take_the_place_of_its_original(examples: Examples, tmp_path: Path) -> None:
    for path in SHIPPED.parent.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    model = read_network(tmp_path / MODEL_FILE, favourable="yes", name="demo")
    made = NetworkRefitter(model, tmp_path / MODEL_FILE, {}, examples, examples, schedule=QUICK)
    first, second = made.refit(None, seed=0)
    for stage in (first, second):
        made.write(stage.model, tmp_path, {})
        assert_same(read_network(tmp_path / MODEL_FILE, favourable="yes", name="demo"), stage.model)


def test_the_card_keeps_what_still_holds(examples: Examples, tmp_path: Path) -> None:
    made = refitter(examples)
    about = {"made from": "a network", "data set": "the demo, changed"}
    made.write(read_network(SHIPPED, favourable="yes", name="demo"), tmp_path, about)
    original, card = read_card(SHIPPED.parent), read_card(tmp_path)
    for key in ("seed", "split", "data fingerprint", "network", "label predicted"):
        assert card[key] == original[key]
    assert card["made from"] == "a network"
    assert card["data set"] == "the demo, changed"
    assert "numpy" in card["versions"]
    # These were of the original's training.
    assert not {"test accuracy", "train accuracy", "epochs", "seconds"} & set(card)


def test_a_write_that_fails_leaves_the_model_that_was_there(
    examples: Examples, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = refitter(examples)
    made.write(read_network(SHIPPED, favourable="yes", name="demo"), tmp_path, {})
    before = (tmp_path / MODEL_FILE).read_bytes()
    *_, stage = made.refit(None, seed=0)

    def interrupted(self: Path, content: bytes) -> int:
        with self.open("wb") as stream:
            stream.write(content[:100])
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        made.write(stage.model, tmp_path, {})
    assert (tmp_path / MODEL_FILE).read_bytes() == before
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.tensorflow
@pytest.mark.filterwarnings("ignore")
def test_keras_reads_what_was_written(
    examples: Examples, demo_table: Table, tmp_path: Path
) -> None:
    pytest.importorskip("tensorflow")
    keras = pytest.importorskip("keras")
    made = refitter(examples)
    *_, stage = made.refit(None, seed=0)
    made.write(stage.model, tmp_path, {})
    network = keras.saving.load_model(tmp_path / MODEL_FILE)
    frame = demo_table.frame.iloc[:500]
    theirs = network.predict(stage.model.encoding.encode(frame), verbose=0)[:, 0]
    np.testing.assert_allclose(stage.model.scores(frame), theirs, atol=1e-5)

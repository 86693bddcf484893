"""Networks that learn with a penalty on all groups."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from testsgd.data import DatasetSpecification, Table, bundled_folder
from testsgd.errors import DataError, ModelError, ParameterError
from testsgd.metrics.shared_steps import table_of
from testsgd.mitigation.compared_rates import OBJECTIVES, ComparedRates
from testsgd.mitigation.penalised_networks import penalised_models
from testsgd.mitigation.play import Bools
from testsgd.models import MODEL_FILE, Examples, LoadedModel, load_model, read_card, refitter_for
from testsgd.models.network import read_network
from testsgd.models.refitting.keras_models import KerasRefitter, targets_with
from testsgd.models.refitting.networks import NetworkRefitter, gradients
from testsgd.rules import lay_out, sensitive_axes

SHIPPED = bundled_folder("models") / "demo" / MODEL_FILE
ROWS = 3000


@pytest.fixture(scope="module")
def rows(demo_table: Table) -> Table:
    return demo_table.take(np.arange(ROWS))


@pytest.fixture(scope="module")
def rates(rows: Table) -> ComparedRates:
    return rates_of(rows, labels_of(rows))


def labels_of(rows: Table) -> Bools:
    assert rows.labels is not None
    return (rows.labels == "yes").to_numpy()


def rates_of(rows: Table, favourable: Bools, objective: str = "selection_rate") -> ComparedRates:
    every = np.ones(len(rows), dtype=bool)
    contingency = lay_out(rows, sensitive_axes(rows))
    return ComparedRates.of(objective, contingency, favourable, every, min_rows=0.05)


def refitter(rows: Table, *, favourable: str = "yes") -> NetworkRefitter:
    assert rows.labels is not None
    model = read_network(SHIPPED, favourable=favourable, name="demo")
    examples = Examples(rows.frame, (rows.labels == favourable).to_numpy())
    return NetworkRefitter(model, SHIPPED, read_card(SHIPPED.parent), examples, examples)


def worst(rates: ComparedRates, decisions: Any) -> float:
    return float(np.abs(rates.differences(decisions)).max())


@pytest.mark.parametrize("favourable", ["yes", "no"])
def test_the_worst_difference_shrinks_whichever_label_is_favourable(
    rows: Table, rates: ComparedRates, demo_model: LoadedModel, favourable: str
) -> None:
    before = worst(rates, demo_model.model.decisions(rows.frame))
    first, last = penalised_models(
        refitter(rows, favourable=favourable), rates, strengths=[0.1, 0.4], seed=0
    )
    assert (first.strength, last.strength) == (0.1, 0.4)
    assert worst(rates, last.model.decisions(rows.frame)) < 0.7 * before


@pytest.mark.parametrize("objective", [each for each in OBJECTIVES if each != "selection_rate"])
def test_the_worst_difference_of_other_rates_shrinks(
    rows: Table, demo_model: LoadedModel, objective: str
) -> None:
    rates = rates_of(rows, labels_of(rows), objective)
    before = worst(rates, demo_model.model.decisions(rows.frame))
    _, last = penalised_models(refitter(rows), rates, strengths=[0.1, 0.4], seed=0)
    # Accuracies of the demo differ by few points to begin with, and come together less.
    most = 1.0 if objective == "accuracy" else 0.8
    assert worst(rates, last.model.decisions(rows.frame)) < most * before


def test_the_seed_decides_and_what_is_given_stays(rows: Table, rates: ComparedRates) -> None:
    made = refitter(rows)
    before = made.margins()
    runs = [
        [
            each.model.scores(rows.frame)
            for each in penalised_models(made, rates, strengths=[0.1, 0.2], seed=seed)
        ]
        for seed in (3, 3, 4)
    ]
    for one, again in zip(runs[0], runs[1], strict=True):
        np.testing.assert_array_equal(one, again)
    assert not np.array_equal(runs[0][-1], runs[2][-1])
    np.testing.assert_array_equal(made.margins(), before)


def test_it_is_written_and_read_back(rows: Table, rates: ComparedRates, tmp_path: Path) -> None:
    made = refitter(rows)
    (found,) = penalised_models(made, rates, strengths=[0.2], seed=0)
    made.write(found.model, tmp_path, {"penalty": found.strength})
    again = read_network(tmp_path / MODEL_FILE, favourable="yes", name="demo")
    np.testing.assert_array_equal(again.scores(rows.frame), found.model.scores(rows.frame))


def test_added_slopes_are_in_the_gradients() -> None:
    # What is added is the sum of the squared outputs, over the rows' number as the cross-entropy.
    generator = np.random.default_rng(0)
    inputs = generator.normal(size=(20, 3)).astype(np.float32)
    kernels = [generator.normal(size=shape).astype(np.float32) for shape in ((3, 4), (4, 1))]
    biases = [generator.normal(size=width).astype(np.float32) for width in (4, 1)]
    targets, weights = generator.random(20), generator.random(20)
    found = gradients(
        kernels,
        biases,
        inputs,
        targets.astype(np.float32),
        weights.astype(np.float32),
        added=lambda sums: 2 * sums,
    )
    parameters = [array.astype(np.float64) for array in (*kernels, *biases)]

    def loss(arrays: list[Any]) -> float:
        first, second, bias, last = arrays
        sums = (np.maximum(inputs @ first + bias, 0) @ second + last)[:, 0]
        losses = weights * (np.logaddexp(0, sums) - targets * sums) + sums**2
        return float(losses.mean())

    for index, slopes in enumerate(found):
        for place in np.ndindex(slopes.shape):
            values = []
            for step in (1e-6, -1e-6):
                moved = [array.copy() for array in parameters]
                moved[index][place] += step
                values.append(loss(moved))
            expected = (values[0] - values[1]) / 2e-6
            assert slopes[place] == pytest.approx(expected, rel=1e-3, abs=1e-4)


def test_adjusted_targets_have_the_slopes() -> None:
    generator = np.random.default_rng(0)
    scores = generator.uniform(0.01, 0.99, 500)
    targets = generator.choice([0.0, 0.3, 1.0], 500)
    weights = generator.choice([0.0, 0.5, 2.0], 500)
    added = generator.choice([-1.0, -0.1, 0.0, 0.1, 1.0], 500)
    learnt, counts = targets_with(scores, targets, weights, added)
    assert (learnt >= 0).all()
    assert (learnt <= 1).all()
    assert (counts >= 0).all()
    expected = weights * (scores - targets) + added
    assert counts * (scores - learnt) == pytest.approx(expected)


def test_what_cannot_be_is_refused(rows: Table, rates: ComparedRates) -> None:
    made = refitter(rows)
    for strengths in ([], [0.2, 0.1], [-0.1, 0.1], [0.1, np.inf]):
        with pytest.raises(ParameterError):
            penalised_models(made, rates, strengths=strengths, seed=0)
    with pytest.raises(ParameterError):
        penalised_models(made, rates, temperature=0.0, seed=0)
    few = rows.take(np.arange(500))
    with pytest.raises(DataError):
        penalised_models(made, rates_of(few, labels_of(few)), seed=0)
    with pytest.raises(DataError):
        penalised_models(made, ComparedRates(()), seed=0)
    with pytest.raises(ModelError):
        penalised_models(object(), rates, seed=0)


@pytest.mark.tensorflow
@pytest.mark.slow
def test_a_keras_model_goes_on_by_its_own_fit() -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with warnings.catch_warnings():
        # While TensorFlow is imported, the packages it brings along warn about themselves.
        warnings.simplefilter("ignore")
        keras = pytest.importorskip("keras")
    keras.utils.set_random_seed(0)
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"x": generator.normal(size=2000), "sex": generator.integers(0, 2, 2000).astype(float)}
    )
    chances = 1 / (1 + np.exp(-(2 * frame["x"] + 1.5 * frame["sex"] - 0.75)))
    favourable = generator.random(2000) < chances.to_numpy()
    layers = [keras.layers.Input((2,)), keras.layers.Dense(8, "relu")]
    network = keras.Sequential([*layers, keras.layers.Dense(1, "sigmoid")])
    network.compile(keras.optimizers.Adam(0.01), "binary_crossentropy")
    network.fit(frame.to_numpy(np.float32), favourable.astype(np.float32), epochs=8, verbose=0)
    specification = DatasetSpecification.model_validate(
        {
            "dataset": {"name": "made-up"},
            "label": {"column": "paid", "favourable": "yes", "values": ["no", "yes"]},
            "features": {
                "x": {"type": "decimal", "range": [-9, 9]},
                "sex": {"type": "integer", "range": [0, 1], "sensitive": True},
            },
        }
    )
    loaded = load_model(network, specification)
    examples = Examples(frame, favourable)
    made = refitter_for(loaded, specification, examples, examples)
    assert isinstance(made, KerasRefitter)
    people = table_of(frame[["sex"]].astype(str), features=None, name="people")
    rates = rates_of(people, favourable)
    before = [array.copy() for array in network.get_weights()]
    runs = [list(penalised_models(made, rates, strengths=[0.1, 0.3], seed=1)) for _ in range(2)]
    for array, kept in zip(network.get_weights(), before, strict=True):
        np.testing.assert_array_equal(array, kept)
    scores = [[each.model.scores(frame) for each in run] for run in runs]
    np.testing.assert_array_equal(scores[0], scores[1])
    plain = loaded.model.decisions(frame)
    found = runs[0][1].model.decisions(frame)
    assert worst(rates, found) < 0.6 * worst(rates, plain)
    assert (found == favourable).mean() > (plain == favourable).mean() - 0.05

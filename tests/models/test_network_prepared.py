"""The short cut through a network's first layer decides as the network itself does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testsgd.data import Table
from testsgd.models import Encoding, Layer, LoadedModel, NetworkModel
from testsgd.models.encoding import CategoryEncoding, NumberEncoding
from testsgd.models.files import Labels, SigmoidOutput
from testsgd.sampling import moved

ENCODING = Encoding(
    (NumberEncoding("age", 40.0, 16.0), CategoryEncoding("colour", ("red", "green", "blue")))
)


def make_network(
    generator: np.random.Generator, *, scale: float, whole: bool, favourable: str = "yes"
) -> NetworkModel:
    """A network 6-8-4-1; `whole` weights are multiples of 1/4, so that nothing is rounded."""
    layers = []
    for inputs, units in ((ENCODING.width, 8), (8, 4), (4, 1)):
        weights = generator.normal(size=(inputs, units))
        bias = generator.normal(size=units)
        if whole:
            weights, bias = np.round(4 * weights) / 4, np.round(4 * bias) / 4
        activation = "sigmoid" if units == 1 else "relu"
        layers.append(Layer(weights.astype(np.float32), bias.astype(np.float32), activation))
    last = layers.pop()
    layers.append(Layer(last.weights * np.float32(scale), last.bias * np.float32(scale), "sigmoid"))
    return NetworkModel(
        tuple(layers),
        ENCODING,
        sigmoid=SigmoidOutput(Labels("yes", "no"), favourable, 0.5),
        name="made up",
    )


def make_frame(generator: np.random.Generator, rows: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": generator.integers(0, 80, rows).astype(float),
            "colour": generator.choice(["red", "green", "blue"], rows),
        }
    )


def other_column(generator: np.random.Generator, frame: pd.DataFrame, feature: str) -> pd.Series:
    shuffled = frame[feature].to_numpy()[generator.permutation(len(frame))]
    return pd.Series(shuffled, index=frame.index)


def sums_in_double_precision(network: NetworkModel, frame: pd.DataFrame) -> np.ndarray:
    values = network.encoding.encode(frame).astype(np.float64)
    for place, layer in enumerate(network.layers):
        values = values @ layer.weights.astype(np.float64) + layer.bias
        if place < len(network.layers) - 1:
            values = np.maximum(values, 0)
    return values[:, 0]


@pytest.mark.parametrize("direction", [-1, 1])
def test_every_move_of_the_demo_is_decided_as_on_the_built_frame(
    demo_table: Table, demo_model: LoadedModel, direction: int
) -> None:
    frame = demo_table.frame.iloc[:300]
    prepared = demo_model.model.prepare(frame)
    np.testing.assert_array_equal(prepared.decisions(), demo_model.model.decisions(frame))
    for name, feature in demo_table.specification.features.items():
        column, changed = moved(frame[name], feature, name, direction)
        built = frame.assign(**{name: column})
        plain = demo_model.model.decisions(built)
        np.testing.assert_array_equal(
            prepared.decisions_with(name, column, changed), plain[changed]
        )
        everywhere = np.ones(len(frame), dtype=bool)
        np.testing.assert_array_equal(prepared.decisions_with(name, column, everywhere), plain)


@given(st.integers(0, 10_000), st.sampled_from(["age", "colour"]), st.sampled_from(["yes", "no"]))
@settings(max_examples=60, deadline=None)
def test_an_exact_tie_is_decided_alike(seed: int, feature: str, favourable: str) -> None:
    # With weights in quarters every sum is exact, and a sum of exactly zero is common.
    generator = np.random.default_rng(seed)
    network = make_network(generator, scale=1.0, whole=True, favourable=favourable)
    frame = make_frame(generator, 64)
    column = other_column(generator, frame, feature)
    rows = generator.random(64) < 0.7
    built = frame.assign(**{feature: column})
    np.testing.assert_array_equal(
        network.prepare(frame).decisions_with(feature, column, rows),
        network.decisions(built)[rows],
    )
    positive = sums_in_double_precision(network, built) > 0
    np.testing.assert_array_equal(
        network.decisions(built), positive if favourable == "yes" else ~positive
    )


def with_values_of(
    frame: pd.DataFrame, rows: np.ndarray, sources: np.ndarray, features: list[str]
) -> pd.DataFrame:
    built = frame.iloc[rows].reset_index(drop=True)
    for name in features:
        built[name] = frame[name].array.take(sources)
    return built


@pytest.mark.parametrize("features", [["gender"], ["race", "age"], []])
def test_the_demos_people_with_values_of_others_are_decided_as_on_the_built_frame(
    demo_table: Table, demo_model: LoadedModel, features: list[str]
) -> None:
    network = demo_model.model
    assert isinstance(network, NetworkModel)
    rows, sources = np.random.default_rng(0).integers(0, len(demo_table), (2, 9000))
    frame = demo_table.frame
    np.testing.assert_array_equal(
        network.decisions_with_values_of(frame, rows, sources, features),
        network.decisions(with_values_of(frame, rows, sources, features)),
    )


@given(st.integers(0, 10_000), st.lists(st.sampled_from(["age", "colour"]), unique=True))
@settings(max_examples=60, deadline=None)
def test_an_exact_tie_with_values_of_others_is_decided_alike(
    seed: int, features: list[str]
) -> None:
    generator = np.random.default_rng(seed)
    network = make_network(generator, scale=1.0, whole=True)
    # The network takes no height.
    frame = make_frame(generator, 40).assign(height=1.0)
    rows, sources = generator.integers(0, len(frame), (2, 64))
    named = [*features, "height"]
    np.testing.assert_array_equal(
        network.decisions_with_values_of(frame, rows, sources, named),
        network.decisions(with_values_of(frame, rows, sources, named)),
    )


@pytest.mark.parametrize("seed", range(10))
def test_outputs_near_the_threshold_are_decided_by_the_whole_network(seed: int) -> None:
    # Red weighs thousands, everything else next to nothing: taking red out again leaves a rounding
    # error in the first layer's sums that is as large as what then decides.
    generator = np.random.default_rng(seed)
    first = generator.normal(size=(ENCODING.width, 8)) / 5000
    first[ENCODING.offset("colour")] = generator.normal(size=8) * 3000
    layers = (
        Layer(first.astype(np.float32), np.zeros(8, np.float32), "relu"),
        Layer(generator.normal(size=(8, 1)).astype(np.float32), np.zeros(1, np.float32), "sigmoid"),
    )
    network = NetworkModel(
        layers, ENCODING, sigmoid=SigmoidOutput(Labels("yes", "no"), "yes", 0.5), name="steep"
    )
    frame = make_frame(generator, 5000).assign(colour="red")
    column = pd.Series("green", index=frame.index)
    rows = generator.random(5000) < 0.5
    sums = sums_in_double_precision(network, frame.assign(colour=column))[rows]
    assert np.abs(sums).max() < 1e-2
    # Float32 is off by a millionth of the sums' size at most; nearer to zero than that, both
    # answers are right.
    beyond_doubt = np.abs(sums) > 1e-6 * np.abs(sums).max()
    assert beyond_doubt.mean() > 0.99
    decisions = network.prepare(frame).decisions_with("colour", column, rows)
    np.testing.assert_array_equal(decisions[beyond_doubt], sums[beyond_doubt] > 0)


def test_the_other_favourable_label_flips_every_decision() -> None:
    frame = make_frame(np.random.default_rng(1), 500)
    yes = make_network(np.random.default_rng(0), scale=1.0, whole=False)
    no = make_network(np.random.default_rng(0), scale=1.0, whole=False, favourable="no")
    np.testing.assert_array_equal(no.decisions(frame), ~yes.decisions(frame))
    np.testing.assert_allclose(no.scores(frame), 1 - yes.scores(frame))
    np.testing.assert_array_equal(no.prepare(frame).decisions(), ~yes.prepare(frame).decisions())


def test_no_marked_row_gives_no_decision(demo_table: Table, demo_model: LoadedModel) -> None:
    frame = demo_table.frame.iloc[:5]
    nobody = np.zeros(5, dtype=bool)
    prepared = demo_model.model.prepare(frame)
    assert prepared.decisions_with("income", frame["income"], nobody).shape == (0,)


def test_a_feature_that_the_network_does_not_take_changes_nothing() -> None:
    network = make_network(np.random.default_rng(0), scale=1.0, whole=False)
    frame = make_frame(np.random.default_rng(1), 50).assign(height=1.8)
    rows = np.arange(50) % 3 == 0
    decisions = network.prepare(frame).decisions_with("height", frame["height"] + 1, rows)
    np.testing.assert_array_equal(decisions, network.decisions(frame)[rows])

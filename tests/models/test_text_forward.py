"""The forward pass against a plain one: one text at a time, one number after the other."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from testsgd.models.text import ForwardPass, TextWeights, WordNumbers
from testsgd.models.text import forward as module

WORDS = 30


def made_up(
    seed: int, *, places: int = 3, pool: int = 4, filters: int = 5, units: int = 6
) -> TextWeights:
    generator = np.random.default_rng(seed)

    def draw(*shape: int) -> NDArray[np.float32]:
        return generator.normal(size=shape).astype(np.float32)

    return TextWeights(
        embedding=draw(WORDS, 4),
        kernel=draw(places, 4, filters),
        kernel_bias=draw(filters),
        pool=pool,
        input_weights=draw(filters, 4 * units),
        state_weights=draw(units, 4 * units),
        bias=draw(4 * units),
        output=draw(units, 1),
        output_bias=draw(1),
    )


def sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-x))


def plain(weights: TextWeights, numbers: list[int]) -> float:
    """Compute the output's sum of one text as the layers are defined, in double precision."""
    length = max(-(-len(numbers) // weights.pool), 1) * weights.pool
    padded = [0] * (length - len(numbers)) + numbers
    vectors = weights.embedding.astype(np.float64)[padded]
    places, _, filters = weights.kernel.shape
    convolved = np.zeros((length, filters))
    for at in range(length):
        convolved[at] = weights.kernel_bias
        for place in range(places):
            other = at + place - places // 2
            if 0 <= other < length:
                convolved[at] += vectors[other] @ weights.kernel[place]
    convolved = np.maximum(convolved, 0)
    units = len(weights.state_weights)
    state, cell = np.zeros(units), np.zeros(units)
    for start in range(0, length, weights.pool):
        largest = convolved[start : start + weights.pool].max(axis=0)
        gates = largest @ weights.input_weights + state @ weights.state_weights + weights.bias
        put_in, forget, new, put_out = np.split(gates, 4)
        cell = sigmoid(forget) * cell + sigmoid(put_in) * np.tanh(new)
        state = sigmoid(put_out) * np.tanh(cell)
    return float(state @ weights.output[:, 0] + weights.output_bias[0])


def joined(texts: list[list[int]]) -> WordNumbers:
    return WordNumbers(
        np.array([number for text in texts for number in text], dtype=np.int64),
        np.cumsum([0, *(len(text) for text in texts)]),
    )


def random_texts(seed: int, lengths: list[int]) -> list[list[int]]:
    generator = np.random.default_rng(seed)
    return [generator.integers(1, WORDS, length).tolist() for length in lengths]


@pytest.mark.parametrize("places", [1, 3, 5, 7])
@pytest.mark.parametrize("pool", [1, 4, 8])
def test_the_sums_are_those_of_the_definition(places: int, pool: int) -> None:
    weights = made_up(places * 10 + pool, places=places, pool=pool)
    texts = random_texts(pool, [*range(25), 3, 0, 24])
    sums = ForwardPass(weights).sums(joined(texts))
    assert sums.dtype == np.float32
    expected = [plain(weights, text) for text in texts]
    np.testing.assert_allclose(sums, expected, rtol=0, atol=1e-4)
    assert np.std(expected) > 0.1


@pytest.mark.parametrize("block", [1, 2, 5, 1000])
def test_blocks_and_neighbours_do_not_matter(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BLOCK", block)
    weights = made_up(1)
    texts = random_texts(2, [7, 0, 40, 1, 8, 8, 23, 40, 4])
    together = ForwardPass(weights).sums(joined(texts))
    alone = [float(ForwardPass(weights).sums(joined([text]))[0]) for text in texts]
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-5)
    np.testing.assert_allclose(
        ForwardPass(weights).sums(joined(texts[::-1])), together[::-1], rtol=0, atol=1e-5
    )


def test_more_texts_than_a_block_on_a_network_of_another_shape() -> None:
    weights = made_up(3, filters=2, units=9, pool=2)
    generator = np.random.default_rng(4)
    texts = random_texts(5, generator.integers(0, 30, 1200).tolist())
    sums = ForwardPass(weights).sums(joined(texts))
    for place in range(0, 1200, 41):
        assert sums[place] == pytest.approx(plain(weights, texts[place]), abs=1e-4)


def test_no_texts_and_only_empty_ones() -> None:
    weights = made_up(6)
    assert ForwardPass(weights).sums(joined([])).shape == (0,)
    np.testing.assert_allclose(
        ForwardPass(weights).sums(joined([[], []])), [plain(weights, [])] * 2, atol=1e-5
    )


def test_large_weights_saturate_without_a_warning() -> None:
    weights = made_up(7)
    steep = TextWeights(
        **{name: getattr(weights, name) * 1000 for name in vars(weights) if name != "pool"},
        pool=weights.pool,
    )
    sums = ForwardPass(steep).sums(joined(random_texts(8, [5, 20])))
    assert np.isfinite(sums).all()


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("embedding", (WORDS, 3)),
        ("kernel", (2, 4, 5)),
        ("kernel_bias", (4,)),
        ("input_weights", (5, 20)),
        ("state_weights", (6, 20)),
        ("bias", (23,)),
        ("output", (6, 2)),
        ("output_bias", (2,)),
    ],
)
def test_shapes_that_do_not_fit_are_refused(name: str, shape: tuple[int, ...]) -> None:
    weights = vars(made_up(9))
    with pytest.raises(ValueError, match="shapes"):
        TextWeights(**{**weights, name: np.zeros(shape, dtype=np.float32)})

"""The forward pass of embedding, convolution, pooling, LSTM and a single output, in numpy.

Three things make it fast. A convolution of embedded words is a sum of rows, one for each place of
its kernel and looked up by the word's number, so no product is left to compute there. An LSTM needs
one matrix product a step for all texts of a block. And a text enters at the step at which its own
first words stand, so that texts of all lengths go together, and none waits for padding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.models.text.vocabulary import PADDING, WordNumbers
from testsgd.single_thread import on_one_thread

Floats = NDArray[np.float32]

# Texts computed at once. With fewer, calling numpy takes longer than what it does; with more, the
# arrays of one step are larger than a processor's second cache.
_BLOCK = 512


@dataclass(frozen=True)
class TextWeights:
    """The weights of a network of texts, as Keras lays them out.

    Raises
    ------
    ValueError
        If the shapes do not fit together, the kernel's width is even, or `pool` is below 1.
    """

    embedding: Floats  # The vector of each word's number; shape (numbers, dimensions).
    # The convolution, with zeros around the text and a ReLU after it; shape (words at once,
    # dimensions, filters), (filters,).
    kernel: Floats
    kernel_bias: Floats
    pool: int  # Positions of which the largest value is kept.
    # Of the LSTM, with input gate, forget gate, new cell and output gate side by side; shape
    # (filters, 4 x units).
    input_weights: Floats
    state_weights: Floats  # Of the LSTM, likewise; shape (units, 4 x units).
    bias: Floats  # Of the LSTM; shape (4 x units,).
    # The last layer, before its sigmoid; shape (units, 1), (1,).
    output: Floats
    output_bias: Floats

    def __post_init__(self) -> None:
        width, dimensions, filters = self.kernel.shape
        units = len(self.state_weights)
        shapes = {
            "embedding": (len(self.embedding), dimensions),
            "kernel_bias": (filters,),
            "input_weights": (filters, 4 * units),
            "state_weights": (units, 4 * units),
            "bias": (4 * units,),
            "output": (units, 1),
            "output_bias": (1,),
        }
        fits = [getattr(self, name).shape == shape for name, shape in shapes.items()]
        if not all(fits) or width % 2 == 0 or self.pool < 1:
            raise ValueError("shapes")

    def arrays(self) -> list[Floats]:
        """Return the weights in the order in which Keras has them."""
        return [getattr(self, name) for name in _IN_ORDER]

    def with_arrays(self, arrays: Sequence[Floats]) -> TextWeights:
        """Return weights with other arrays, in the order of :meth:`arrays`, and the same pool."""
        changed: dict[str, Any] = dict(zip(_IN_ORDER, arrays, strict=True))
        return replace(self, **changed)

    @classmethod
    def of_keys(cls, arrays: Callable[[str], Sequence[Floats]], *, pool: int) -> TextWeights:
        """Return the weights of a file; `arrays`: from a key of the file to its arrays."""
        read: dict[str, Any] = {}
        for key, names in _BY_KEY.items():
            read.update(zip(names, arrays(key), strict=True))
        return cls(pool=pool, **read)

    def by_key(self) -> dict[str, Sequence[Floats]]:
        """Return the weights by their keys in a file."""
        return {key: [getattr(self, name) for name in names] for key, names in _BY_KEY.items()}


# The file of weights calls layers by their kinds, whatever their names are.
_BY_KEY = {
    "embedding/vars": ("embedding",),
    "conv1d/vars": ("kernel", "kernel_bias"),
    "lstm/cell/vars": ("input_weights", "state_weights", "bias"),
    "dense/vars": ("output", "output_bias"),
}
_IN_ORDER = tuple(name for names in _BY_KEY.values() for name in names)


class ForwardPass:
    """The forward pass of a network, with tables made ready for many texts.

    See the module's text.

    Parameters
    ----------
    weights : TextWeights
        The network.
    """

    def __init__(self, weights: TextWeights) -> None:
        self.pool = weights.pool
        self._width, _, self._filters = weights.kernel.shape
        # What each word adds at each position of the kernel; a last row of zeros for no word.
        zeros = np.zeros((1, self._filters), dtype=np.float32)
        self._tables = [np.vstack([weights.embedding @ part, zeros]) for part in weights.kernel]
        self._no_word = len(weights.embedding)
        self._tables[0] += weights.kernel_bias

        self._units = len(weights.state_weights)
        gates = np.vstack([weights.input_weights, weights.state_weights, weights.bias])
        put_in, forget, cell, put_out = np.split(gates, 4, axis=1)
        # One tanh does for all: sigmoid(x) is (1 + tanh(x / 2)) / 2. The state is kept twice as
        # large, which saves the last division by two.
        self._gates = np.concatenate([put_in / 2, forget / 2, put_out / 2, cell], axis=1).T.copy()
        self._gates[:, self._filters : -1] /= 2
        self._output = weights.output[:, 0] / 2
        self._output_bias = weights.output_bias[0]

    def sums(self, words: WordNumbers) -> Floats:
        """Compute the output before its sigmoid, shape (texts,).

        A text's sum depends on no other text, but for the order in which a matrix product adds.
        """
        counts = words.counts
        # Of the LSTM, for each text: at least one.
        steps = np.maximum(-(-counts // self.pool), 1)
        order = np.argsort(-steps, kind="stable")
        sums = np.empty(len(counts), dtype=np.float32)
        buffers = _BlockBuffers(self, min(_BLOCK, len(counts)))
        with on_one_thread("blas"):
            for start in range(0, len(order), _BLOCK):
                block = order[start : start + _BLOCK]
                stop = words.offsets[block + 1]
                block_steps = steps[block]
                grid = self._grid(words.numbers, stop, counts[block], block_steps)
                sums[block] = self._block(grid, block_steps, buffers)
        return sums

    def _grid(
        self,
        numbers: NDArray[np.int64],
        stop: NDArray[np.int64],
        counts: NDArray[np.int64],
        steps: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Return texts side by side, a column for each text, with their ends in the same row.

        `numbers`: the word numbers of all texts. `stop`, `counts`, `steps`: where each text of the
        block ends there, its words and its steps of the LSTM, shape (texts,), most steps first. The
        grid has the shape (``steps[0] * pool + 2 * margin``, texts), where the margin is half the
        kernel's width, rounded down.
        """
        height = int(steps[0]) * self.pool
        before_end = np.arange(height, 0, -1)[:, np.newaxis]
        margin = self._width // 2
        grid = np.full((height + 2 * margin, len(counts)), self._no_word)
        inner = grid[margin : margin + height]
        if len(numbers):
            inner[:] = numbers.take(stop - before_end, mode="clip")
        np.copyto(inner, PADDING, where=before_end > counts)
        if steps[-1] != steps[0]:
            np.copyto(inner, self._no_word, where=before_end > steps * self.pool)
        return grid

    def _block(
        self, grid: NDArray[np.int64], steps: NDArray[np.int64], buffers: _BlockBuffers
    ) -> Floats:
        """Compute the output's sums of one block, shape (texts,), with the longest texts first.

        With c the cell's state, h the output of a step and i, f, o, g the gates: ``c = f c + i g``
        and ``h = o tanh(c)``. `grid`: as :meth:`_grid` returns it. `steps`: the steps of each text.
        """
        longest = int(steps[0])
        width = len(steps)
        units = self._units
        # Texts that have begun when a step is reached.
        begun = np.searchsorted(-steps, np.arange(-longest, 0), side="right").tolist()
        inputs = buffers.inputs[:, :width]
        cell = buffers.cell[:, :width]
        inputs[self._filters : -1] = 0
        cell[:] = 0
        for step, count in enumerate(begun):
            features = self._convolve(grid[step * self.pool :, :count], buffers)
            np.maximum(features.T, 0, out=inputs[: self._filters, :count])
            gates = np.matmul(self._gates, inputs[:, :count], out=buffers.gates[:, :count])
            np.tanh(gates, out=gates)
            opened = gates[: 3 * units]
            opened += 1
            put_in, forget, put_out, new = np.split(gates, 4)
            put_in *= new
            forget *= cell[:, :count]
            forget += put_in
            state = cell[:, :count]
            np.multiply(forget, 0.5, out=state)
            np.tanh(state, out=put_in)
            np.multiply(put_in, put_out, out=inputs[self._filters : -1, :count])
        sums: Floats = self._output @ inputs[self._filters : -1] + self._output_bias
        return sums

    def _convolve(self, grid: NDArray[np.int64], buffers: _BlockBuffers) -> Floats:
        """Compute the convolution at a grid's first `pool` rows and keep each filter's largest.

        The result has the shape (texts, filters).
        """
        shape = self.pool, grid.shape[1], self._filters
        size = math.prod(shape)
        total = buffers.total[:size].reshape(shape)
        part = buffers.part[:size].reshape(shape)
        for row, table in enumerate(self._tables):
            # Every index is in the table; "clip" only saves the check and a copy.
            out = part if row else total
            np.take(table, grid[row : row + self.pool], axis=0, out=out, mode="clip")
            if row:
                total += part
        largest: Floats = total.max(axis=0)
        return largest


class _BlockBuffers:
    """Arrays that every block of a call writes into."""

    def __init__(self, network: ForwardPass, width: int) -> None:
        units = network._units
        filters = network._filters
        self.total = np.empty(network.pool * width * filters, dtype=np.float32)
        self.part = np.empty_like(self.total)
        # From top to bottom: the convolution's features, the LSTM's state, ones for the bias.
        self.inputs = np.ones((filters + units + 1, width), dtype=np.float32)
        self.gates = np.empty((4 * units, width), dtype=np.float32)
        self.cell = np.empty((units, width), dtype=np.float32)

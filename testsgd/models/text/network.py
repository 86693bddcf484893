"""Networks of embedding, convolution, pooling and LSTM as models of texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from testsgd.models.answers import Output
from testsgd.models.output import SigmoidOutput
from testsgd.models.text.forward import ForwardPass, TextWeights
from testsgd.models.text.vocabulary import Vocabulary

# Texts computed at once, or as many as have so many characters together: their word numbers are in
# memory together, and texts of nearly one length are found among them.
_PORTION_TEXTS = 8_192
_PORTION_CHARACTERS = 1 << 24

# The sums of float32 products here differ by some 1e-6 between two sizes of a block.
_NEAR_THRESHOLD = 1e-3


class TextNetwork:
    """A network of embedding, convolution, pooling, LSTM and one output, and its vocabulary.

    Parameters
    ----------
    weights : TextWeights
        The network.
    vocabulary : Vocabulary
        From texts to the numbers of the embedding.
    sigmoid : SigmoidOutput
        What the output means and decides.
    name : str
        What to call the network in a report.

    Raises
    ------
    ValueError
        If the network has another number of words than the vocabulary.
    """

    kind = "convolutional LSTM network"
    output: Output = "scores"
    thread_safe = True

    def __init__(
        self,
        weights: TextWeights,
        vocabulary: Vocabulary,
        *,
        sigmoid: SigmoidOutput,
        name: str,
    ) -> None:
        if len(weights.embedding) != vocabulary.size:
            raise ValueError(len(weights.embedding))
        self.weights = weights
        self.vocabulary = vocabulary
        self.name = name
        self.threshold: float | None = sigmoid.threshold
        self.sigmoid = sigmoid
        self._forward = ForwardPass(weights)

    def scores(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Give each text's probability of the favourable label."""
        return self.sigmoid.scores(self.output_sums(texts))

    def decisions(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Say for each text whether the network gives it the favourable label."""
        sums = self.output_sums(texts)
        # Where rounding could decide, the text is computed again by itself, so that the answer does
        # not depend on the texts that happen to stand beside it.
        near = np.flatnonzero(np.abs(sums - self.sigmoid.turning_sum) < _NEAR_THRESHOLD)
        for place in near.tolist():
            sums[place] = self._forward.sums(self.vocabulary.numbers([texts[place]]))[0]
        return self.sigmoid.decide(sums)

    def output_sums(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Compute the output before its sigmoid, shape (texts,)."""
        sums = [
            self._forward.sums(self.vocabulary.numbers(portion)) for portion in _portions(texts)
        ]
        return np.concatenate(sums) if sums else np.zeros(0, dtype=np.float32)

    def knows(self, word: str) -> bool:
        """Say whether a word, or every word of a term, is in the vocabulary.

        All words that are not are one and the same unknown word to the network.
        """
        return self.vocabulary.knows(word)


def _portions(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    start = characters = 0
    for place, text in enumerate(texts):
        characters += len(text)
        if place + 1 - start >= _PORTION_TEXTS or characters >= _PORTION_CHARACTERS:
            yield texts[start : place + 1]
            start, characters = place + 1, 0
    if start < len(texts):
        yield texts[start:]

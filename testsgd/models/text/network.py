"""Networks of embedding, convolution, pooling and LSTM as models of texts, and their files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import ModelError
from testsgd.io import read_text, write_text
from testsgd.models import files
from testsgd.models.files import SigmoidOutput
from testsgd.models.network import SigmoidNetwork
from testsgd.models.text.forward import ForwardPass, TextWeights
from testsgd.models.text.vocabulary import Vocabulary

# Texts that are numbered together, at most, and the characters that end such a portion: their word
# numbers are in memory together, and texts of nearly one length are found among them.
_PORTION_TEXTS = 8_192
_PORTION_CHARACTERS = 1 << 24

# The sums of float32 products here differ by some 1e-6 between two sizes of a block.
_NEAR_THRESHOLD = 1e-3


class TextNetwork(SigmoidNetwork[Sequence[str]]):
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

    def __init__(
        self,
        weights: TextWeights,
        vocabulary: Vocabulary,
        *,
        sigmoid: files.SigmoidOutput,
        name: str,
    ) -> None:
        super().__init__(sigmoid=sigmoid, name=name)
        if len(weights.embedding) != vocabulary.size:
            raise ValueError(len(weights.embedding))
        self.weights = weights
        self.vocabulary = vocabulary
        self._forward = ForwardPass(weights)

    def decisions(self, asked: Sequence[str]) -> NDArray[np.bool_]:
        """Return a mask of the texts that get the favourable label, shape (n,)."""
        sums = self._sums(asked)
        # Where rounding could decide, the text is computed again by itself, so that the answer does
        # not depend on the texts that happen to stand beside it.
        near = np.flatnonzero(np.abs(sums - self.sigmoid.decision_threshold) < _NEAR_THRESHOLD)
        for index in near.tolist():
            sums[index] = self._forward.sums(self.vocabulary.numbers([asked[index]]))[0]
        return self.sigmoid.decide(sums)

    def _sums(self, asked: Sequence[str]) -> NDArray[np.float32]:
        numbered = map(self.vocabulary.numbers, _portions(asked))
        sums = [self._forward.sums(words) for words in numbered]
        return np.concatenate([np.zeros(0, dtype=np.float32), *sums])

    def knows(self, word: str) -> bool:
        """Return whether a word, or every word of a term, is in the vocabulary.

        All words that are not are one and the same unknown word to the network.
        """
        return self.vocabulary.knows(word)


def _portions(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Return texts in portions, limited by their number and by their characters."""
    start = characters = 0
    for index, text in enumerate(texts):
        characters += len(text)
        if index + 1 - start >= _PORTION_TEXTS or characters >= _PORTION_CHARACTERS:
            yield texts[start : index + 1]
            start = index + 1
            characters = 0
    if start < len(texts):
        yield texts[start:]


VOCABULARY_FILE = "vocabulary.txt"

# The layers that can be computed, and what must be set in each: the names of Keras.
_CONVOLUTION = {"padding": "same", "activation": "relu", "groups": 1, "use_bias": True}
_RECURRENT = {"activation": "tanh", "recurrent_activation": "sigmoid", "use_bias": True}
_LAYERS: dict[str, dict[str, Any]] = {
    "Embedding": {"mask_zero": False},
    "Conv1D": {**_CONVOLUTION, "strides": [1], "dilation_rate": [1]},
    "MaxPooling1D": {"padding": "valid"},
    "LSTM": {**_RECURRENT, "return_sequences": False, "go_backwards": False},
    "Dense": {"units": 1, "activation": "sigmoid", "use_bias": True},
}


def write_text_preprocessing(folder: Path, vocabulary: Vocabulary, labels: files.Labels) -> None:
    """Write how texts become inputs, and what the output means, beside the network."""
    text = "".join(f"{word}\n" for word in vocabulary.words)
    write_text(folder / VOCABULARY_FILE, text)
    document = {"longest": vocabulary.longest, "vocabulary_sha256": _sha256(text)}
    files.write_preprocessing(folder, "texts", labels, document)


def read_text_network(
    path: Path, *, favourable: str, name: str, threshold: float = 0.5
) -> TextNetwork:
    """Read a network of texts, its preprocessing and vocabulary, as :func:`read_network` does."""
    path = Path(path)
    labels, (longest, digest) = files.read_preprocessing(
        path, "texts", favourable=favourable, read=_longest_and_digest
    )
    vocabulary = Vocabulary(_read_words(path.parent / VOCABULARY_FILE, digest), longest)
    kind = "of embedding, convolution, pooling, LSTM and one sigmoid output, as `testsgd train` "
    weights = files.read_layers(path, _text_weights, kind=f"{kind}makes them")
    if len(weights.embedding) != vocabulary.size:
        raise ModelError(
            f"the network takes {len(weights.embedding)} words, its vocabulary has "
            f"{vocabulary.size}",
            where=str(path),
            remedy=f"keep the .keras file beside the {VOCABULARY_FILE} it was written with",
        )
    sigmoid = SigmoidOutput(labels, favourable, threshold)
    return TextNetwork(weights, vocabulary, sigmoid=sigmoid, name=name)


def _longest_and_digest(document: dict[str, Any]) -> tuple[int, str]:
    longest = document["longest"]
    if not isinstance(longest, int) or longest < 2 or longest % 2:
        raise ValueError(longest)
    return longest, str(document["vocabulary_sha256"])


def _read_words(path: Path, digest: str) -> tuple[str, ...]:
    remedy = "keep the .keras file beside the files it was written with"
    try:
        text = read_text(path)
    except FileNotFoundError as error:
        what = f"the file {VOCABULARY_FILE} is missing beside the network"
        raise ModelError(what, where=str(path), remedy=remedy) from error
    except (OSError, ValueError) as error:
        raise ModelError(
            "the vocabulary cannot be read", where=str(path), remedy="train the model anew"
        ) from error
    if _sha256(text) != digest:
        what = "the vocabulary is not the one that the network was trained with"
        raise ModelError(what, where=str(path), remedy=remedy)
    return tuple(text.split("\n")[:-1])


def _text_weights(
    layers: list[dict[str, Any]], arrays: Callable[[str], list[NDArray[np.float32]]]
) -> TextWeights:
    """Return the weights of a file; a :class:`WrongLayersError` if its layers are not `_LAYERS`.

    `layers`: the layers' configurations. `arrays`: from a key of the file to its arrays.
    """
    if [layer["class"] for layer in layers] != list(_LAYERS):
        raise files.WrongLayersError
    for layer, needed in zip(layers, _LAYERS.values(), strict=True):
        if any(_plain(layer[key]) != value for key, value in needed.items()):
            raise files.WrongLayersError
    pooling = layers[2]
    pool = _plain(pooling["pool_size"])
    if pool != _plain(pooling["strides"]) or len(pool) != 1:
        raise files.WrongLayersError
    return TextWeights.of_keys(arrays, pool=int(pool[0]))


def _plain(value: Any) -> Any:
    """Return a setting in one form: Keras writes a tuple of one as a list, a tuple or a number."""
    return list(value) if isinstance(value, (list, tuple)) else value


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()

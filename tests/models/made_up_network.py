"""A small network of texts with weights drawn by chance, for tests of all that is around it."""

from __future__ import annotations

from typing import Any

import numpy as np

from testsgd.models import TextNetwork
from testsgd.models.files import Labels, SigmoidOutput
from testsgd.models.text import TextWeights, Vocabulary

WORDS = ("the", "film", "is", "good", "bad", "old", "young", "actor", "and", "gay")
LABELS = Labels("positive", "negative")


def random_weights(seed: int = 0, words: int = len(WORDS) + 2) -> TextWeights:
    """Draw weights of 3 dimensions, 4 filters of 3 words, pools of 4 and 5 units."""
    generator = np.random.default_rng(seed)

    def draw(*shape: int) -> Any:
        return generator.normal(size=shape).astype(np.float32)

    return TextWeights(
        embedding=draw(words, 3),
        kernel=draw(3, 3, 4),
        kernel_bias=draw(4),
        pool=4,
        input_weights=draw(4, 20),
        state_weights=draw(5, 20),
        bias=draw(20),
        output=draw(5, 1),
        output_bias=draw(1),
    )


def random_network(
    seed: int = 0, *, favourable: str = "positive", threshold: float = 0.5, longest: int = 30
) -> TextNetwork:
    """Make a network of random weights that knows ten words."""
    return TextNetwork(
        random_weights(seed),
        Vocabulary(WORDS, longest),
        sigmoid=SigmoidOutput(LABELS, favourable, threshold),
        name="made up",
    )


def random_texts(count: int, seed: int = 0, longest: int = 50) -> list[str]:
    """Write texts of known and unknown words, some of them empty or longer than is kept."""
    generator = np.random.default_rng(seed)
    words = (*WORDS, "unknown", "words")
    return [" ".join(generator.choice(words, generator.integers(0, longest))) for _ in range(count)]

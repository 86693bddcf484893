"""Shared predictions: a text is predicted once, however many rule sets make use of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from testsgd.models.text import TextModel

# Texts are taken in portions of at most so many, or so many characters: a portion's texts are in
# memory at once, and its new texts are sorted by length before the model is asked.
_PORTION_TEXTS = 16_384
_PORTION_CHARACTERS = 1 << 25
# Texts in one call of the model.
_BATCH = 2_048


class SharedPredictions:
    """A text model that remembers what it said of every text.

    Only a digest of each text is kept, 16 bytes, so that millions of them fit into memory.

    Parameters
    ----------
    model : TextModel
        The black box.
    jobs : int
        Threads that ask the model at once. The answers do not depend on it.
    draws : int
        How often to ask about each text, of a model that answers differently each time.

    Attributes
    ----------
    asked : int
        Questions to the model so far: different texts, each as often as it is asked about.
    """

    def __init__(self, model: TextModel, *, jobs: int = 1, draws: int = 1) -> None:
        self._model = model
        self._jobs = jobs
        self._draws = draws
        self._known: dict[bytes, int] = {}

    @property
    def asked(self) -> int:
        """Questions to the model so far."""
        return len(self._known) * self._draws

    def decide(
        self, texts: Iterable[str], *, progress: Callable[[int], None] | None = None
    ) -> NDArray[Any]:
        """Say for each text whether the model gives it the favourable label.

        Parameters
        ----------
        texts : iterable of str
            May be generated one by one; they are not kept.
        progress : callable, optional
            Called with the number of texts done so far.

        Returns
        -------
        numpy.ndarray of bool, or of int64
            One answer a text, in order; if each is asked about several times, how many of the
            answers are favourable.
        """
        answers: list[NDArray[Any]] = []
        portion: list[str] = []
        characters = done = 0
        for text in texts:
            portion.append(text)
            characters += len(text)
            if len(portion) >= _PORTION_TEXTS or characters >= _PORTION_CHARACTERS:
                answers.append(self._decide_portion(portion))
                done += len(portion)
                portion, characters = [], 0
                if progress is not None:
                    progress(done)
        if portion:
            answers.append(self._decide_portion(portion))
            if progress is not None:
                progress(done + len(portion))
        return np.concatenate(answers) if answers else np.zeros(0, dtype=self._type)

    @property
    def _type(self) -> type:
        return bool if self._draws == 1 else np.int64

    def _decide_portion(self, texts: list[str]) -> NDArray[Any]:
        digests = [_digest(text) for text in texts]
        # Texts that are new, each once, by length: texts of one length cost a network no padding.
        new = {
            digest: text
            for digest, text in zip(digests, texts, strict=True)
            if digest not in self._known
        }
        if new:
            ordered = sorted(new.items(), key=lambda item: len(item[1]))
            asked = [text for _, text in ordered]
            favourable = sum(self._ask(asked).astype(np.int64) for _ in range(self._draws))
            for (digest, _), count in zip(ordered, np.asarray(favourable).tolist(), strict=True):
                self._known[digest] = count
        return np.array([self._known[digest] for digest in digests], dtype=self._type)

    def _ask(self, texts: list[str]) -> NDArray[np.bool_]:
        batches = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
        if self._jobs == 1 or len(batches) == 1:
            return np.concatenate([self._model.decisions(batch) for batch in batches])
        # One thread a batch: the libraries' own threads would get in one another's way.
        with threadpool_limits(1):
            decided = joblib.Parallel(n_jobs=self._jobs, prefer="threads")(
                joblib.delayed(self._model.decisions)(batch) for batch in batches
            )
        return np.concatenate(decided)


def _digest(text: str) -> bytes:
    # Lone surrogates are no valid UTF-8, but two texts with different ones are different texts.
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()

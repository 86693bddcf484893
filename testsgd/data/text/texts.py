"""Checked texts: what the model sees, and the labels as the files have them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.data.text.schema import TextSpecification
from testsgd.errors import ParameterError


@dataclass(frozen=True)
class Texts:
    """Texts that fit their description.

    Attributes
    ----------
    specification : TextSpecification
        What they are.
    texts : tuple of str
        The texts, as they were given.
    labels : numpy.ndarray of object or None
        The label of each text, if the data have labels.
    parts : numpy.ndarray of object or None
        What each text is for, ``"train"`` or ``"test"``, or None where the files do not say it.
    source : str
        Where the texts came from.
    notes : tuple of str
        What was done to the texts before they came here, and what is odd about them.
    clusters : numpy.ndarray of int64 or None
        Texts of one number are variants of one text and belong on one side of a split; None if
        there are no variants.
    training_only : numpy.ndarray of bool or None
        Texts that are for training only; None if none are.
    """

    specification: TextSpecification
    texts: tuple[str, ...]
    labels: NDArray[np.object_] | None
    parts: NDArray[np.object_] | None
    source: str = ""
    notes: tuple[str, ...] = ()
    clusters: NDArray[np.int64] | None = None
    training_only: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: NDArray[np.intp]) -> Texts:
        """Give some of the texts.

        Parameters
        ----------
        rows : numpy.ndarray of int
            Their places, in the order wanted.
        """
        return replace(
            self,
            texts=tuple(self.texts[row] for row in rows.tolist()),
            labels=_taken(self.labels, rows),
            parts=_taken(self.parts, rows),
            clusters=_taken(self.clusters, rows),
            training_only=_taken(self.training_only, rows),
        )

    def sample(self, count: int, seed: int) -> Texts:
        """Draw texts without replacement; they keep their order, and a note says so.

        Parameters
        ----------
        count : int
            How many; all of them, without a note, if there are no more.
        seed : int
            Same seed, same texts.

        Raises
        ------
        ParameterError
            If `count` is below 1 or the seed below 0.
        """
        for name, value, least in (("count", count, 1), ("seed", seed, 0)):
            if value < least:
                raise ParameterError(
                    f"{name} is {value}",
                    where=f"{name} of the sample of texts",
                    remedy=f"give a whole number from {least} up",
                    parameter=name,
                    value=value,
                )
        if count >= len(self):
            return self
        drawn = np.random.default_rng(seed).choice(len(self), size=count, replace=False)
        note = f"a sample of {count:,} of the {len(self):,} texts, drawn with seed {seed}"
        return replace(self.take(np.sort(drawn)), notes=(*self.notes, note))


def texts_fingerprint(texts: Texts | Sequence[str]) -> str:
    """Give the sha256 of the texts, in their order.

    Examples
    --------
    >>> texts_fingerprint(["a", "b"]) == texts_fingerprint(["ab"])
    False
    """
    digest = hashlib.sha256()
    for text in texts.texts if isinstance(texts, Texts) else texts:
        # A lone surrogate is no UTF-8, but a Python string may hold one.
        content = text.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.hexdigest()


def _taken(values: Any, rows: NDArray[np.intp]) -> Any:
    return None if values is None else values[rows]

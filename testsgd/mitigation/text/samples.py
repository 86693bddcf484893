"""Counter-labelled samples of texts: training texts with a group's terms, or as they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testsgd.data import Texts
from testsgd.mitigation.choosing import find
from testsgd.mitigation.samples import CounterSamples, Fallback, Kind, Side
from testsgd.models import TextModel
from testsgd.rules import Mentions
from testsgd.sampling import Replacer


def sample_texts(
    model: TextModel,
    texts: Texts,
    mentions: Mentions,
    group: tuple[tuple[int, ...], tuple[int, ...]],
    seeds: NDArray[np.intp],
    *,
    favourable: bool,
    wanted: int,
    max_draws: int,
    fallback: Fallback,
    generator: np.random.Generator,
    side: Side,
    target: int,
    kind: Kind = "counter",
    share: float = 0.0,
    strength: float = 1.0,
) -> CounterSamples:
    """Generate samples from some texts.

    A sample of the group is one of these texts rewritten with the group's terms; a sample of the
    rest is one of them as it is. Of samples that read the same, one counts.

    Parameters
    ----------
    model : TextModel
        The original model.
    texts : Texts
        All texts.
    mentions : Mentions
        The sensitive terms in them.
    group : (tuple of int, tuple of int)
        The group's categories, and the term of each of them, as places in the list of terms.
    seeds : numpy.ndarray of int
        The texts to start from, no place twice: for the group those with a term of each of its
        categories, for the rest those that lack one of its terms.
    favourable, wanted, max_draws, fallback, generator, side, target, kind, share, strength
        As for :func:`testsgd.mitigation.table_samples.sample_rows`.

    Returns
    -------
    CounterSamples

    References
    ----------
    Zhang et al., TestSGD, section 4.3 and RQ3.
    """
    source = _Variants(texts, mentions, group if side == "group" else ((), ()), seeds)
    found = find(
        source,
        model,
        kind,
        favourable=favourable,
        wanted=wanted,
        share=share,
        strength=strength,
        max_draws=max_draws,
        fallback=fallback,
        generator=generator,
        seeds=len(seeds),
    )
    numbers = found.numbers
    return CounterSamples(
        inputs=source.make(numbers),
        favourable=favourable,
        seeds=seeds[numbers].astype(np.int64),
        changes=source.changes(numbers),
        relabelled=found.relabelled,
        side=side,
        target=target,
        report=found.report,
        targets=found.targets,
        scores=found.scores,
        anchors=found.anchors,
        kind=kind,
    )


class _Variants:
    """Texts with some terms in place of others, a number a seed."""

    def __init__(
        self,
        texts: Texts,
        mentions: Mentions,
        group: tuple[tuple[int, ...], tuple[int, ...]],
        seeds: NDArray[np.intp],
    ) -> None:
        self._mentions = mentions
        self._replacer = Replacer(texts.texts, mentions)
        self._categories, self._chosen = group
        self._seeds = seeds
        self._made: set[str] = set()

    @property
    def draws(self) -> int:
        """How many seeds there are."""
        return len(self._seeds)

    def fresh(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """Write texts, those left out that some call has written before."""
        left, written = [], []
        for number, text in zip(numbers.tolist(), self.make(numbers), strict=True):
            if text not in self._made:
                self._made.add(text)
                left.append(number)
                written.append(text)
        return np.array(left, dtype=np.int64), tuple(written)

    def make(self, numbers: NDArray[np.int64]) -> tuple[str, ...]:
        """Write texts again."""
        return tuple(
            self._replacer.variant(row, self._categories, self._chosen)
            for row in self._seeds[numbers].tolist()
        )

    def changes(self, numbers: NDArray[np.int64]) -> NDArray[np.object_]:
        """Say which terms became which."""
        changes = [self._change(row) for row in self._seeds[numbers].tolist()]
        return np.array([*changes, None], dtype=object)[:-1]

    def _change(self, row: int) -> str:
        mentions, categories = self._mentions, self._mentions.terms.categories
        wanted = dict(zip(self._categories, self._chosen, strict=True))
        here = slice(mentions.offsets[row], mentions.offsets[row + 1])
        found: dict[str, None] = {}
        for category, term in zip(
            mentions.category[here].tolist(), mentions.term[here].tolist(), strict=True
        ):
            new = wanted.get(category, term)
            if new != term:
                terms = categories[category].terms
                found[f'"{terms[term].name}" to "{terms[new].name}"'] = None
        return ", ".join(found)

"""The model's answers about texts, each asked once, and what is counted of them."""

from __future__ import annotations

import hashlib
import string
from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Counts, Floats
from testsgd.models.text import TextModel
from testsgd.progress import Counter, parts_of
from testsgd.rules.text import CategorySet, Mentions, TermRuleSets
from testsgd.sampling.text import Replacer
from testsgd.scoring import Clusters
from testsgd.single_thread import on_one_thread

# Texts are taken in portions of at most so many, or so many characters: a portion's texts are in
# memory at once, and its new texts are sorted by length before the model is asked.
_PORTION_TEXTS = 16_384
_PORTION_CHARACTERS = 1 << 25
# Texts in one call of the model.
_BATCH = 2_048


class SharedPredictions:
    """A text model that remembers its answers: of each text a digest is kept, 16 bytes."""

    def __init__(self, model: TextModel, *, jobs: int = 1, draws: int = 1) -> None:
        self._model = model
        self._jobs = jobs
        self._draws = draws
        self._known: dict[bytes, int] = {}
        # Counts the questions to the model; by itself it counts nothing.
        self._counter = Counter(None, 0)

    def report_to(self, counter: Counter) -> None:
        """Count in `counter` what the model is asked, what it was asked before included."""
        counter.add(self.asked)
        self._counter = counter

    @property
    def asked(self) -> int:
        """Questions to the model so far."""
        return len(self._known) * self._draws

    def decide(
        self, texts: Iterable[str], *, progress: Callable[[int], None] | None = None
    ) -> NDArray[Any]:
        """Return the answers about texts, each distinct text asked about once; shape (texts,).

        An answer is whether the label is favourable, or how many of several answers are.
        `progress` is called with the number of texts whose answers are known.
        """
        if progress is None and isinstance(texts, Sized):
            progress = parts_of(len(texts)).add_up_to
        answers: list[NDArray[Any]] = []
        portion: list[str] = []
        characters = done = 0
        for text in texts:
            portion.append(text)
            characters += len(text)
            if len(portion) >= _PORTION_TEXTS or characters >= _PORTION_CHARACTERS:
                answers.append(self._decide_portion(portion, progress, done))
                done += len(portion)
                portion = []
                characters = 0
        if portion:
            answers.append(self._decide_portion(portion, progress, done))
        return np.concatenate(answers) if answers else np.zeros(0, dtype=self._type)

    @property
    def _type(self) -> type:
        return bool if self._draws == 1 else np.int64

    def _decide_portion(
        self, texts: list[str], progress: Callable[[int], None] | None, done: int
    ) -> NDArray[Any]:
        """Return the answers about a portion of texts; the model is asked about new ones only.

        `done` texts come before the portion.
        """
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
            before = self.asked

            def tell(answered: int, questions: int) -> None:
                self._counter.add_up_to(before + answered)
                if progress is not None:
                    # What is known already is answered with the rest.
                    progress(done + len(texts) * answered // questions)

            counter = Counter(tell, len(asked) * self._draws)
            favourable = np.zeros(len(asked), dtype=np.int64)
            for _ in range(self._draws):
                favourable += self._ask(asked, counter)
            for (digest, _), count in zip(ordered, favourable.tolist(), strict=True):
                self._known[digest] = count
        elif progress is not None:
            progress(done + len(texts))
        return np.array([self._known[digest] for digest in digests], dtype=self._type)

    def _ask(self, texts: list[str], counter: Counter) -> NDArray[np.bool_]:
        """Ask the model about texts, in batches, in several threads if it allows them."""
        batches = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]

        def decisions(batch: list[str]) -> NDArray[np.bool_]:
            with counter.asking(len(batch)):
                return self._model.decisions(batch)

        if self._jobs == 1 or len(batches) == 1:
            return np.concatenate([decisions(batch) for batch in batches])
        # One thread a batch: the libraries' own threads would get in one another's way.
        with on_one_thread():
            decided = joblib.Parallel(n_jobs=self._jobs, prefer="threads")(
                joblib.delayed(decisions)(batch) for batch in batches
            )
        return np.concatenate(decided)


def _digest(text: str) -> bytes:
    # Lone surrogates are no valid UTF-8, but two texts with different ones are different texts.
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


# Numbers in one block of paired differences, 16 MB.
_BLOCK_NUMBERS = 1 << 21


def ask_variants(
    predictions: SharedPredictions,
    replacer: Replacer,
    category_set: CategorySet,
    rows: Counts,
    groups: NDArray[np.intp] | None = None,
    *,
    progress: Callable[[int], None] | None = None,
) -> NDArray[Any]:
    """Ask about seeds (m,) with the terms of each group (k,) of a category set; returned (m, k)."""
    indices = np.arange(int(np.prod(category_set.shape))) if groups is None else groups
    chosen = np.column_stack(np.unravel_index(indices, category_set.shape)).tolist()

    def variants() -> Iterator[str]:
        for row in rows.tolist():
            for terms in chosen:
                yield replacer.variant(row, category_set.categories, terms)

    answers = predictions.decide(variants(), progress=progress)
    return answers.reshape(len(rows), len(indices))


def containing_all(mentions: Mentions, rule_sets: TermRuleSets, weights: Counts) -> Counts:
    """Sum weights (texts,) over the texts that contain all terms of each group (groups,)."""
    contains = mentions.contains()
    counts = [np.zeros(0, dtype=np.int64)]
    # Not only seeds: a text that lists several terms contains each, and is no seed.
    counted = mentions.presence() & (weights > 0)[:, None]
    for item in rule_sets.category_sets:
        rows = np.flatnonzero(counted[:, item.categories].all(axis=1))
        letters = string.ascii_lowercase[: len(item.categories)]
        # Floats, because whole numbers have no fast product; sums below 2**53 are exact.
        operands = [contains[at][rows].astype(np.float64) for at in item.categories]
        operands[0] = operands[0] * weights[rows][:, None]
        products = ",".join(f"z{letter}" for letter in letters) + "->" + letters
        sums = np.einsum(products, *operands, optimize=True)
        counts.append(np.rint(sums).astype(np.int64).ravel())
    return np.concatenate(counts)


@dataclass(frozen=True)
class KnownAnswers:
    """All answers of an exact audit, one by one; means where a question was asked several times."""

    rule_sets: TermRuleSets  # The groups
    clusters: Clusters | None  # Texts that are one unit; None if every text is alone
    texts: NDArray[Any]  # Which texts get the favourable label as they are, shape (texts,)
    # For each set of categories, which seeds get it with the terms of which group, shape (seeds,
    # groups of the set)
    variants: tuple[NDArray[Any], ...]
    # For each category, which texts have which term, shape (texts, terms)
    contains: tuple[NDArray[np.bool_], ...]

    def of_sets(self) -> Iterator[tuple[CategorySet, NDArray[Any]]]:
        """Return each set of categories with the answers about its variants, (seeds, groups)."""
        return zip(self.rule_sets.category_sets, self.variants, strict=True)

    def inside(self, category_set: CategorySet) -> NDArray[np.bool_]:
        """Return which seeds as they are contain all terms of a group, shape (seeds, groups)."""
        contained = np.ones((len(category_set.rows), 1), dtype=bool)
        for category in category_set.categories:
            of_category = self.contains[category][category_set.rows]
            both = contained[:, :, None] & of_category[:, None, :]
            contained = both.reshape(len(contained), -1)
        return contained


@dataclass(frozen=True)
class PairSums:
    """Sums over the seeds of one category set, one number a rule set, flat."""

    with_terms: Floats  # Sum of the answers with the rule set's terms
    other: Floats  # Sum of the mean answers with other terms, every category changed
    # Sums of the squared differences of the two, and of the differences without their signs
    squares: Floats
    sizes: Floats
    # Sums of the sizes of the seeds' clusters, and of these times the differences above and below
    # zero
    cluster_sizes: Floats
    cluster_gains: Floats
    cluster_losses: Floats


def pair_sums(
    answers: NDArray[Any],
    shape: tuple[int, ...],
    weights: Counts | None = None,
    cluster_sizes: Counts | None = None,
) -> PairSums:
    """Sum over seeds the answers with a group's terms, and those with other terms.

    Shapes: `answers` (seeds, groups), where the groups are the cells of an array of `shape`, an
    axis a category; `weights`, how often each seed counts, and `cluster_sizes` (seeds,), both 1 if
    they are not given. Each sum has the shape (groups,).
    """
    groups = answers.shape[1]
    with_terms, other, squares, sizes, of_clusters, gains, losses = np.zeros((7, groups))
    step = max(1, _BLOCK_NUMBERS // max(1, groups))
    for start in range(0, len(answers), step):
        block = answers[start : start + step].astype(np.float64)
        means = other_means(block, shape)
        counts = np.ones(len(block)) if weights is None else weights[start : start + step]
        by_cluster = counts
        if cluster_sizes is not None:
            by_cluster = counts * cluster_sizes[start : start + step]
        with_terms += counts @ block
        other += counts @ means
        squares += counts @ (block - means) ** 2
        sizes += counts @ np.abs(block - means)
        of_clusters += by_cluster.sum()
        gains += by_cluster @ np.maximum(block - means, 0)
        losses += by_cluster @ np.maximum(means - block, 0)
    return PairSums(
        with_terms=with_terms,
        other=other,
        squares=squares,
        sizes=sizes,
        cluster_sizes=of_clusters,
        cluster_gains=gains,
        cluster_losses=losses,
    )


def other_means(answers: Floats, shape: tuple[int, ...]) -> Floats:
    """Return each seed's mean answer with other terms, every category changed; (m, groups).

    By inclusion and exclusion the sum over all other terms of a category is the sum over all its
    terms less the answer with the term itself, taken along one axis of `shape` after another.
    """
    sums = answers.reshape(-1, *shape)
    for axis in range(1, 1 + len(shape)):
        sums = sums.sum(axis=axis, keepdims=True) - sums
    means: Floats = sums.reshape(answers.shape) / np.prod([size - 1 for size in shape])
    return means

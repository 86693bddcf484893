"""Training networks of texts: embedding, convolution, pooling, LSTM."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from testsgd.data.text import SensitiveTerms, Texts, load_terms, texts_fingerprint
from testsgd.models.files import MODEL_FILE, TrainingReport, model_folder, write_card
from testsgd.models.text.keras_network import Batches, keras_batches, keras_text_network
from testsgd.models.text.network import read_text_network, write_text_preprocessing
from testsgd.models.text.vocabulary import Vocabulary, fit_vocabulary
from testsgd.models.training import (
    accuracies,
    check_training,
    fit,
    seeded_keras,
    write_network,
)
from testsgd.models.training_split import Split, data_labels, output_labels, split_data
from testsgd.progress import PhaseProgress, shown_phase

EPOCHS = 8

# Found by trying on the training part of the reviews; more of anything made no network better. Of
# 235 words on average, 800 leave out one in a hundred. With 400, both ends were as good as the last
# words, and the first words alone were worse.
_WORDS = 20_000
_LONGEST = 800
_DIMENSIONS = 32
_WIDTH = 3
_FILTERS = 32
_POOL = 8
_UNITS = 16
_BATCH = 64
_PATIENCE = 2


@dataclass(frozen=True)
class TextTrainingReport(TrainingReport):
    """The figures of a training on texts: accuracies, epochs and time.

    :func:`train_text_network` returns it, and writes it into the model card.
    """

    balanced_accuracy: float  # Mean of the accuracies on the test texts of either label.


def train_text_network(
    texts: Texts,
    folder: Path,
    *,
    seed: int = 0,
    epochs: int = EPOCHS,
    progress: PhaseProgress | bool | None = None,
) -> TextTrainingReport:
    """Train a network of embedding, convolution, pooling and LSTM and write it.

    Parameters
    ----------
    texts : Texts
        Texts with labels. If the files say which are for the test, these are; else 20% are kept
        for it. 10% of the others choose when to stop. Both are drawn by the seed with the labels'
        shares kept, variants of one text together. Texts that are for training only are never
        tested.
    folder : path-like
        Where to write ``model.keras``, ``vocabulary.txt``, ``preprocessing.json`` and
        ``card.json``.
    seed, epochs, progress
        As for :func:`train_network`.

    Returns
    -------
    TextTrainingReport

    Raises
    ------
    MissingExtraError, DataError, ParameterError
        As for :func:`train_network`.

    References
    ----------
    Zhang, Sun, Wang and Sun, TestSGD, section 5, "Experiment Subjects" and Table 3.
    """
    check_training(seed=seed, epochs=epochs)
    folder = Path(folder)
    label = texts.specification.label
    labels = data_labels(texts)
    parts = split_data(texts, labels, seed)
    terms = load_terms(texts.specification.terms)
    vocabulary = fit_vocabulary(
        [texts.texts[row] for row in parts.train.tolist()],
        size=_WORDS,
        longest=_LONGEST,
        always=[form for term in terms.terms for form in term.forms],
    )

    keras = seeded_keras(seed)
    network = keras_text_network(
        keras,
        numbers=vocabulary.size,
        dimensions=_DIMENSIONS,
        width=_WIDTH,
        filters=_FILTERS,
        pool=_POOL,
        units=_UNITS,
    )
    words = vocabulary.numbers(texts.texts)
    generator = np.random.default_rng(seed)
    training = Batches(words, labels, parts.train, step=_POOL, size=_BATCH, generator=generator)
    validation = Batches(words, labels, parts.validation, step=_POOL, size=8 * _BATCH)
    data = {
        "x": keras_batches(lambda: training),
        "validation_data": keras_batches(lambda: validation),
        "shuffle": False,  # The batches are shuffled already.
    }
    with shown_phase(progress, "training") as reporter:
        trained = fit(keras, network, data, epochs=epochs, patience=_PATIENCE, progress=reporter)
    with model_folder(folder) as staging:
        path = staging / MODEL_FILE
        write_network(keras, network, path)
        write_text_preprocessing(staging, vocabulary, output_labels(texts))
        # What is reported is measured on the network as it will be audited, read back from its
        # files.
        model = read_text_network(path, favourable=label.favourable, name=texts.specification.name)
        right = model.decisions(texts.texts) == labels.astype(bool)
        tested = labels[parts.test]
        balanced = np.mean(
            [right[parts.test][tested == answer].mean() for answer in np.unique(tested)]
        )
        figures = accuracies(right, labels, parts, texts.specification)
        report = TextTrainingReport(
            str(folder), **figures, **trained, balanced_accuracy=float(balanced)
        )
        write_card(staging, _about(texts, parts, vocabulary, terms, seed), report)
    return report


def _about(
    texts: Texts, parts: Split, vocabulary: Vocabulary, terms: SensitiveTerms, seed: int
) -> dict[str, Any]:
    """Return, for the model card, what the network is and what it was trained on."""
    specification = texts.specification
    training_only = texts.training_only
    unaudited = None if training_only is None else int(training_only[parts.seen].sum())
    fixed = texts.parts is not None and bool((texts.parts == "test").any())
    return {
        "data set": specification.name,
        "data": specification.dataset.description,
        "files": texts.source,
        **({"notes": list(texts.notes)} if texts.notes else {}),
        "data fingerprint": texts_fingerprint(texts),
        "network": f"embedding of {len(vocabulary.words):,} words in {_DIMENSIONS} dimensions, "
        f"convolution of {_WIDTH} words with {_FILTERS} filters, ReLU, largest of {_POOL}, LSTM "
        f"with {_UNITS} units, sigmoid output",
        "label predicted": specification.label.favourable,
        "texts for training": len(parts.seen),
        "texts for testing": len(parts.test),
        **({} if training_only is None else {"of those for training, never audited": unaudited}),
        "split": ("as the files say" if fixed else "80% / 20% with the labels' shares kept")
        + f", seed {seed}; a tenth of the first part chooses when to stop"
        + ("" if texts.clusters is None else "; variants of one text stay together"),
        "words of a text": f"the first and last {_LONGEST // 2} of more than {_LONGEST}; a term "
        "between them has no influence",
        "sensitive terms": terms.name,
        "terms not known": [term.name for term in terms.terms if not vocabulary.knows(term.name)],
        "seed": seed,
    }

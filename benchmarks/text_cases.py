"""The cases on texts: the audit of the reviews in its three ways, its parts, and the training.

They run on two processors, whatever the machine has, because that is what the targets are for.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from benchmarks.guarantee_cases import PLAIN
from benchmarks.keras_texts import keras_scores
from benchmarks.measure import memory_now, memory_peak, side_by_side, timed
from testsgd.auditing import AuditParameters
from testsgd.auditing.text import run_text_audit
from testsgd.data import (
    TextSpecification,
    bundled_folder,
    load_specification,
    load_terms,
    load_texts,
)
from testsgd.models import MODEL_FILE, TextNetwork, load_text_model, train_text_network
from testsgd.rules.text import find_mentions, frequent_term_sets
from testsgd.sampling.text import Replacer

Row = list[str]

TEXT_SETS = ("wiki", "imdb", "tweets")


def reviews(theta: float) -> list[Row]:
    """Audit the reviews: pooled sampling, exact, and the paper's algorithm to the letter."""
    specification = load_specification("imdb")
    assert isinstance(specification, TextSpecification)
    texts, terms = load_texts(specification), load_terms()
    model = load_text_model(None, specification)
    found, seconds, memory = {}, {}, {}
    for name, options in (
        ("sampled, pooled, the paper's margin", {"mode": "sampled", "interval": "wald"}),
        ("sampled, pooled, a margin that holds anytime", {"mode": "sampled"}),
        ("exact", {"mode": "exact"}),
        ("Algorithm 2 to the letter", {"mode": "sampled", "sampling": "independent"}),
    ):
        before = memory_now()
        settings = PLAIN | options
        parameters = AuditParameters(theta=theta, max_queries=10**8, **settings)
        seconds[name], found[name] = timed(
            lambda p=parameters: run_text_audit(model, texts, terms, p)
        )
        memory[name] = memory_peak() - before
        assert found[name].estimates.decided.all()
    # Draws behind the stop, which asking in batches brings, are not the algorithm's.
    letter = found["Algorithm 2 to the letter"].estimates
    literal = int(letter.samples_in.sum() + letter.samples_out.sum())
    return [
        [
            f"{theta:.0%}",
            f"{len(audit.rule_sets):,}",
            name,
            f"{float(audit.estimates.margin.max()):.3f}",
            f"{queries:,}",
            f"{queries / literal:.1%}",
            f"{seconds[name]:.1f} s",
            f"{max(0, memory[name]) / 2**20:,.0f} MiB",
        ]
        for name, audit in found.items()
        for queries in [literal if audit.estimates is letter else audit.queries]
    ]


def parts() -> list[Row]:
    """Time the steps before and beside the model, on the reviews."""
    specification = load_specification("imdb")
    assert isinstance(specification, TextSpecification)
    terms = load_terms()
    seconds, texts = timed(lambda: load_texts(specification))
    rows = [["read 50,000 reviews out of the archive", f"{seconds:.1f} s", ""]]
    seconds, mentions = timed(lambda: find_mentions(texts.texts, terms))
    rows.append(["find the sensitive terms", f"{seconds:.1f} s", f"{len(mentions.text):,} places"])
    rule_sets = frequent_term_sets(mentions, min_count=len(texts) // 20, max_features=3)
    replacer = Replacer(texts.texts, mentions)
    pair = next(one for one in rule_sets.category_sets if len(one.categories) == 2)
    chosen = [rule_sets.chosen(pair.first + at) for at in range(int(np.prod(pair.shape)))]

    def write() -> int:
        return sum(
            len(replacer.variant(row, pair.categories, terms))
            for row in pair.rows.tolist()
            for terms in chosen
        )

    seconds, characters = timed(write)
    count = len(pair.rows) * len(chosen)
    rows.append(
        [
            f"write {count:,} variants",
            f"{seconds:.1f} s",
            f"{count / seconds:,.0f} a second, {characters / seconds / 1e6:,.0f} MB a second",
        ]
    )
    return rows


def network_speed() -> list[Row]:
    """Predict 4,000 reviews with our forward pass and with Keras, in turn."""
    specification = load_specification("imdb")
    assert isinstance(specification, TextSpecification)
    texts = load_texts(specification).sample(4_000, seed=0)
    model = load_text_model(None, specification).model
    assert isinstance(model, TextNetwork)
    keras = keras_scores(bundled_folder("models") / "imdb" / MODEL_FILE, model)
    ordered = sorted(texts.texts, key=len)
    times = side_by_side(5, ours=lambda: model.scores(ordered), keras=lambda: keras(ordered))
    apart = np.abs(model.scores(ordered) - keras(ordered)).max()
    ours, theirs = times["ours"].median, times["keras"].median
    return [
        [
            "ours (numpy)",
            str(times["ours"]),
            f"{len(ordered) / ours:,.0f}",
            f"{theirs / ours:.1f} x",
        ],
        [
            "Keras",
            str(times["keras"]),
            f"{len(ordered) / theirs:,.0f}",
            f"scores differ by {apart:.1e} at most",
        ],
    ]


def text_training() -> list[Row]:
    """Train the network of every data set of texts."""
    rows = []
    for name in TEXT_SETS:
        specification = load_specification(name)
        assert isinstance(specification, TextSpecification)
        texts = load_texts(specification, training=True)
        with tempfile.TemporaryDirectory() as folder:
            seconds, report = timed(lambda t=texts, f=folder: train_text_network(t, Path(f)))
        paper = f"{report.paper_accuracy:.1%}" if report.paper_accuracy else ""
        rows.append([name, f"{seconds:.0f} s", f"{report.test_accuracy:.1%}", paper])
    return rows

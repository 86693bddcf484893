"""The cases on texts: the audit of the reviews in its three ways, its parts, and the training.

They run on two processors, whatever the machine has, because that is what the targets are for.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from benchmarks.measure import memory_now, memory_peak, side_by_side, timed
from testsgd.auditing import AuditParameters
from testsgd.auditing.algorithm_two import sample_until_certain
from testsgd.auditing.text import TextFindings, run_text_audit
from testsgd.data import Texts, load_specification, load_terms, load_texts
from testsgd.models import TextNetwork, load_text_model, train_text_network
from testsgd.rules.text import TermRuleSets, find_mentions, frequent_term_sets
from testsgd.sampling.text import Replacer

Row = list[str]

TEXT_SETS = ("wiki", "imdb", "tweets")

# Rule sets on which the paper's algorithm is run to the letter, drawn with seed 0.
_LITERAL_RULE_SETS = 12


def reviews(theta: float) -> list[Row]:
    """Audit the reviews: pooled sampling, exact, and the paper's algorithm to the letter."""
    specification = load_specification("imdb")
    texts, terms = load_texts(specification), load_terms()
    model = load_text_model(None, specification)

    def audit(mode: str) -> tuple[float, int, TextFindings]:
        before = memory_now()
        options = AuditParameters(theta=theta, mode=mode, max_queries=10**8)  # type: ignore[arg-type]
        seconds, found = timed(lambda: run_text_audit(model, texts, terms, options))
        return seconds, memory_peak() - before, found

    rows = []
    mentions = find_mentions(texts.texts, terms)
    rule_sets = frequent_term_sets(
        mentions, min_count=int(np.ceil(theta * len(texts))), max_features=3
    )
    literal_seconds, literal_queries = literal(model.model, texts, rule_sets)  # type: ignore[arg-type]
    groups = len(rule_sets)
    for mode in ("sampled", "exact"):
        seconds, memory, found = audit(mode)
        assert found.estimates.decided.all()
        rows.append(
            [
                f"{theta:.0%}",
                f"{groups:,}",
                f"{mode}, all rule sets",
                f"{float(found.estimates.margin.max()):.3f}",
                f"{found.queries:,}",
                f"{found.queries / (literal_queries * groups):.1%}",
                f"{seconds:.0f} s",
                f"{memory / 2**20:,.0f} MiB",
            ]
        )
    rows.append(
        [
            f"{theta:.0%}",
            f"{groups:,}",
            f"Algorithm 2 to the letter, {_LITERAL_RULE_SETS} rule sets, times {groups}",
            "0.050",
            f"{literal_queries * groups:,.0f}",
            "100%",
            f"{literal_seconds * groups:,.0f} s",
            "",
        ]
    )
    return rows


def literal(model: TextNetwork, texts: Texts, rule_sets: TermRuleSets) -> tuple[float, float]:
    """Run Algorithm 2 on some rule sets; give seconds and queries of one, on average."""
    mentions = find_mentions(texts.texts, rule_sets.terms)
    contains = mentions.contains()
    replacer = Replacer(texts.texts, mentions)
    generator = np.random.default_rng(0)
    chosen = generator.choice(len(rule_sets), _LITERAL_RULE_SETS, replace=False)
    queries = []

    def one(group: int) -> None:
        category_set = rule_sets.category_sets[rule_sets.set_of(group)]
        terms = rule_sets.chosen(group)
        inside = np.ones(len(texts), dtype=bool)
        for category, term in zip(category_set.categories, terms, strict=True):
            inside &= contains[category][:, term]
        others = np.flatnonzero(~inside)

        def ask(count: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
            seeds = generator.choice(category_set.rows, count)
            variants = [replacer.variant(int(row), category_set.categories, terms) for row in seeds]
            plain = [texts.texts[row] for row in generator.choice(others, count)]
            answers = [model.decisions(variants), model.decisions(plain)]
            return np.array(answers, dtype=np.int64)

        tally = sample_until_certain(ask, AuditParameters(), 10**9)
        # Draws behind the stop, which batches bring, are not counted.
        queries.append(2 * int(tally[0]))

    seconds, _ = timed(lambda: [one(int(group)) for group in chosen])
    return seconds / len(chosen), float(np.mean(queries))


def parts() -> list[Row]:
    """Time the steps before and beside the model, on the reviews."""
    specification = load_specification("imdb")
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
    from benchmarks.keras_texts import keras_scores

    specification = load_specification("imdb")
    texts = load_texts(specification).sample(4_000, seed=0)
    model = load_text_model(None, specification).model
    assert isinstance(model, TextNetwork)
    ordered = sorted(texts.texts, key=len)
    times = side_by_side(
        5,
        ours=lambda: model.scores(ordered),
        keras=lambda: keras_scores(model, ordered),
    )
    apart = np.abs(model.scores(ordered) - keras_scores(model, ordered)).max()
    return [
        ["ours (numpy)", str(times["ours"]), f"{len(ordered) / times['ours'].median:,.0f}", ""],
        [
            "Keras predict",
            str(times["keras"]),
            f"{len(ordered) / times['keras'].median:,.0f}",
            f"scores differ by {apart:.1e} at most",
        ],
    ]


def text_training() -> list[Row]:
    """Train the network of every data set of texts."""
    rows = []
    for name in TEXT_SETS:
        texts = load_texts(load_specification(name), training=True)
        with tempfile.TemporaryDirectory() as folder:
            seconds, report = timed(lambda t=texts, f=folder: train_text_network(t, Path(f)))
        paper = f"{report.paper_accuracy:.1%}" if report.paper_accuracy else ""
        rows.append([name, f"{seconds:.0f} s", f"{report.test_accuracy:.1%}", paper])
    return rows

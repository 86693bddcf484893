"""The tables of docs/texts.md about real texts: what is found in them, and which are near copies.

``python -m benchmarks.text_tables`` prints them; the files must be there (``testsgd data fetch``).
"""

from __future__ import annotations

from dataclasses import replace

from testsgd.data import load_specification, load_terms, load_texts
from testsgd.rules import Mentions, find_mentions
from testsgd.rules.text import nearly_equal
from testsgd.scoring import Clusters

NAMES = ("wiki", "tweets", "imdb")
# The singular of these is a mention by its own name; the forms were added to the paper's list.
NOUNS = {"jew", "jews", "teenagers", "middle easterners", "middle-easterners"}


def main() -> None:
    """Print the tables."""
    terms = load_terms()
    plain = replace(terms, exceptions=())
    listed = {
        form for category in terms.categories for term in category.terms for form in term.forms
    }
    print(
        "| Data set | Mentions | nouns added | not as listed | passed over | Texts with a mention |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    kept = {}
    for name in NAMES:
        texts = load_texts(load_specification(name)).texts
        mentions = kept[name] = find_mentions(texts, terms)
        without = find_mentions(texts, plain)
        written = [
            " ".join(texts[row][start:stop].lower().split())
            for row, start, stop in zip(
                mentions.text.tolist(), mentions.start.tolist(), mentions.stop.tolist(), strict=True
            )
        ]
        nouns = sum(one in NOUNS for one in written)
        other = sum(one not in listed for one in written)
        print(
            f"| `{name}` | {len(mentions):,} | {nouns:,} | {other:,} "
            f"| {len(without) - len(mentions):,} | {_present(mentions):,} |"
        )
    print()
    print("| Data set | Texts | in clusters | largest cluster | independent |")
    print("| --- | --- | --- | --- | --- |")
    for name in NAMES:
        texts = load_texts(load_specification(name)).texts
        clusters = Clusters.of(nearly_equal(texts, kept[name]))
        print(
            f"| `{name}` | {len(texts):,} | {clusters.repeated:,} | {int(clusters.sizes.max()):,} "
            f"| {len(clusters):,} |"
        )


def _present(mentions: Mentions) -> int:
    return int(mentions.presence().any(axis=1).sum())


if __name__ == "__main__":
    main()

"""Suites generated from templates: the units are template and filler, and copies stay copies."""

from __future__ import annotations

import random
import re

import pytest
from made_up_texts import CATEGORIES, SPECIFICATION, audit, checked, made_up_terms

import testsgd
from testsgd.auditing.text import text_clusters
from testsgd.rules.text import find_mentions

COLOURS = CATEGORIES["colour"]
TERMS = made_up_terms({"colour": COLOURS})
# Long enough that one other word leaves two texts nearly equal.
REST = "that stands near the door of the room in which we all used to sit when it was late and "
REST += "the others had gone home for the night"
TEMPLATES = [
    "My {term} table " + REST + " belongs to {name} now.",
    "Yesterday {name} sold the {term} chair " + REST + " again.",
    "There is a very {term} lamp " + REST + " which came from {name}.",
    "In May the {term} window " + REST + " was broken by {name}.",
]
NAMES = [first + last for first in ("an", "ben", "car", "dor") for last in ("na", "is", "ol", "ek")]


def clusters(texts):
    return text_clusters(checked(texts), find_mentions(texts, TERMS))


def crossed(templates=TEMPLATES, names=NAMES):
    return [
        template.format(term=term, name=name)
        for template in templates
        for name in names
        for term in COLOURS
    ]


def test_a_suite_has_a_unit_for_each_template_and_filler():
    texts = crossed()
    found = clusters(texts)
    assert len(found) == len(TEMPLATES) * len(NAMES)
    assert set(found.sizes.tolist()) == {len(COLOURS)}
    shuffled = random.Random(1).sample(range(len(texts)), len(texts))
    other = clusters([texts[at] for at in shuffled])
    pairs = set(zip(found.of_row[shuffled].tolist(), other.of_row.tolist(), strict=True))
    assert len(pairs) == len(found)


def test_fillers_of_several_words_and_in_several_slots():
    template = "{name} gave my {term} table " + REST + " back to {other}."
    people = ["Mr Smith", "old Anna", "Carol", "the good doctor", "Ben"]
    texts = [
        template.format(term=term, name=name, other=other)
        for name in people
        for other in people
        for term in COLOURS
    ]
    assert len(clusters(texts)) == len(people) ** 2


def test_one_drawn_term_for_each_filler_is_enough():
    generator = random.Random(2)
    texts = [TEMPLATES[0].format(term=generator.choice(COLOURS), name=name) for name in NAMES]
    assert len(clusters(texts)) == len(NAMES)


@pytest.mark.parametrize("changed", ["name", "number", "anywhere"])
def test_copies_with_a_change_stay_one_unit(changed):
    generator = random.Random(3)
    # The original comes several times, so all others are compared with it.
    texts = [TEMPLATES[0].format(term="red", name="anna")] * 9
    for place in range(60):
        text = TEMPLATES[0].format(term="red", name="anna")
        if changed == "name":
            text = text.replace("anna", generator.choice(NAMES))
        elif changed == "number":
            text = text.replace("anna", f"number {100 + place}")
        else:
            words = text.split()
            words[generator.randrange(4, len(words))] = f"word{'abcdefgh'[place % 8]}"
            text = " ".join(words)
        texts.append(text)
    assert len(clusters(texts)) == 1


def test_quotations_with_a_change_anywhere_are_one_unit_whatever_their_terms():
    """Edits at any place are no slots."""
    generator = random.Random(4)
    text = TEMPLATES[0].format(term="{term}", name="anna")
    texts = [text.format(term=term) for term in COLOURS] * 3
    for place in range(60):
        words = text.split()
        words[generator.randrange(3, len(words))] = f"word{'abcdefgh'[place % 8]}"
        texts.append(" ".join(words).format(term=COLOURS[place % 3]))
    assert len(clusters(texts)) == 1


def test_two_variants_of_one_quotation_are_no_template():
    texts = [TEMPLATES[0].format(term=term, name=name) for term in COLOURS for name in NAMES[:2]]
    assert len(clusters(texts)) == 1


def test_a_term_that_is_always_held_is_found():
    found = audit(lambda text: "red" in text.split(), crossed(), TERMS, fail_above=0.2)
    assert found.counterfactual.difference.max() == 1
    assert found.counterfactual.independent.max() == len(TEMPLATES) * len(NAMES)
    result = testsgd.audit(
        lambda texts: ["good" if "red" in text.split() else "bad" for text in texts],
        crossed(),
        SPECIFICATION,
        terms=TERMS,
        fail_above=0.2,
    )
    assert (result.verdict.status, result.verdict.exit_code) == ("gate_failed", 1)
    assert "“red”" in result.verdict.headline
    units = len(TEMPLATES) * len(NAMES)
    assert any(
        "template" in note and re.search(rf"\b{units}\b", note)
        for note in result.summary.data.notes
    )


def test_a_model_that_minds_no_term_passes_with_enough_fillers():
    names = [f"{name}{end}" for name in NAMES for end in ("", "a", "b", "c")]
    result = testsgd.audit(
        lambda texts: ["good" if "anna" in text else "bad" for text in texts],
        crossed(names=names),
        SPECIFICATION,
        terms=TERMS,
        fail_above=0.1,
    )
    assert result.verdict.exit_code == 0

"""The stand-in for an image model: its skew, its obedience, the prompts it understands."""

from __future__ import annotations

from collections import Counter

import pytest
from portrait_modules import portraits
from scipy.stats import binom

generator = portraits("generator")
prompts = portraits("prompts")

DRAWS = 1500
# Two-sided; of some eighty comparisons, one fails with about one seed in ten thousand.
LEVEL = 1e-6


def counts(prompt: str, name: str, obedience: float = 1.0) -> Counter[str]:
    model = generator.Generator(obedience=obedience, random_state=11)
    return Counter(getattr(model.attributes(prompt), name) for _ in range(DRAWS))


def assert_binomial(count: int, share: float) -> None:
    low, high = binom.interval(1 - LEVEL, DRAWS, share)
    assert low <= count <= high


@pytest.mark.parametrize("occupation", [name for name in generator.SKEW if name])
def test_shares_are_those_of_the_table(occupation):
    for name in ("sex", "skin", "age", "clothes"):
        shares = generator.SKEW[occupation].get(name, generator.SKEW[""][name])
        seen = counts(f"A portrait of a {occupation}", name)
        assert set(seen) <= set(shares)
        for value, share in shares.items():
            assert_binomial(seen[value], share)


@pytest.mark.parametrize("obedience", [0.0, 0.6, 1.0])
def test_a_wish_is_obeyed_as_often_as_said_or_by_chance(obedience):
    seen = counts("A poor person, a woman", "sex", obedience)
    assert_binomial(seen["female"], obedience + (1 - obedience) * 0.1)


def test_same_seed_same_portraits():
    def series(seed):
        model = generator.Generator(random_state=seed)
        return [model.generate("A nurse", size=32).picture for _ in range(3)]

    assert series(4) == series(4)
    assert series(4) != series(5)


def test_neither_wishes_nor_sizes_shift_later_portraits():
    plain = generator.Generator(random_state=4)
    other = generator.Generator(random_state=4)
    plain.generate("A nurse", size=16)
    other.generate("A nurse, an old man", size=32)
    assert plain.generate("A nurse", size=16) == other.generate("A nurse", size=16)


@pytest.mark.parametrize(
    ("prompt", "occupation", "asked"),
    [
        ("A portrait of a poor person", "poor person", {}),
        ("Two Business Leaders", "business leader", {}),
        ("an economically disadvantaged person", "poor person", {}),
        ("a cat", "", {}),
        (
            "an elderly woman with dark skin, a nurse",
            "nurse",
            {"sex": "female", "skin": "dark", "age": "elderly"},
        ),
        ("a pale-skinned boy", "", {"sex": "male", "skin": "pale", "age": "child"}),
        ("A woman. The sex of the person must be male.", "", {"sex": "male"}),
        ("A nurse. The skin of the person must be light.", "nurse", {"skin": "light"}),
        ("The clothes of the person must be worn.", "", {"clothes": "worn"}),
        ("a craftsmanship award in a dark room", "", {}),
    ],
)
def test_prompts_are_understood(prompt, occupation, asked):
    request = prompts.read_prompt(prompt, occupations=[name for name in generator.SKEW if name])
    assert (request.occupation, request.asked) == (occupation, asked)


@pytest.mark.parametrize(
    "shares", [{"female": 0.5, "male": 0.4}, {"female": 1.5, "male": -0.5}, {"other": 1.0}]
)
def test_unusable_shares_are_refused(shares):
    with pytest.raises(ValueError, match="sex"):
        generator.Generator({**generator.SKEW, "nurse": {"sex": shares}})


@pytest.mark.parametrize("obedience", [-0.1, 1.1, float("nan")])
def test_unusable_obedience_is_refused(obedience):
    with pytest.raises(ValueError, match="obedience"):
        generator.Generator(obedience=obedience)

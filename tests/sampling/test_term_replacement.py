"""What a text becomes when its terms are replaced: a table."""

from __future__ import annotations

import pytest
from plain_words import TERMS, named

from testsgd.data import load_terms
from testsgd.rules import find_mentions
from testsgd.sampling import Replacer

CASES = [
    # One category, several, one that the text does not mention.
    ("Two gay men.", ["male"], "Two male men."),
    ("gay, old and chinese", ["male", "young"], "male, young and chinese"),
    ("gay, gay-friendly gay!", ["male"], "male, male-friendly male!"),
    ("gay or nonbinary", ["male"], "male or male"),
    ("gay", ["old"], "gay"),
    ("nothing", ["old"], "nothing"),
    ("", ["old"], ""),
    # A mention of the chosen term stays, letter by letter.
    ("gAY or Non-binary", ["nonbinary"], "nonbinary or Non-binary"),
    ("a  MIDDLE-aged or an old", ["middle aged"], "a  MIDDLE-aged or a middle aged"),
    ("African\n american", ["african american"], "African\n american"),
    # Plurals.
    ("gays and males", ["male"], "males and males"),
    ("gays", ["lgbt"], "lgbt"),
    ("Africans, AFRICANS", ["african american"], "African Americans, AFRICAN AMERICANS"),
    ("African-Americans", ["european"], "Europeans"),
    # Case.
    ("gay Gay GAY", ["male"], "male Male MALE"),
    ("gAY gaY GAy", ["male"], "male male Male"),
    ("Chinese CHINESE", ["african american"], "African American AFRICAN AMERICAN"),
    ("African American", ["chinese"], "Chinese"),
    ("Middle aged", ["young"], "Young"),
    ("African american, african American", ["european"], "European, european"),
    ("Non-Binary Non-binary NON-BINARY", ["gay"], "Gay Gay GAY"),
    # White space and hyphens inside a mention go with it; those around it stay.
    (" african \n american ", ["chinese"], " chinese "),
    ("african-american-owned", ["chinese"], "chinese-owned"),
    ("(old)_old_'old'", ["young"], "(young)_young_'young'"),
    ("old<br /><br />Old", ["young"], "young<br /><br />Young"),
    # Articles.
    ("a gay man", ["lgbt"], "an lgbt man"),
    ("an old man", ["young"], "a young man"),
    ("A gay, An old", ["lgbt", "young"], "An lgbt, A young"),
    ("A GAY, AN OLD", ["lgbt", "young"], "AN LGBT, A YOUNG"),
    ("AN old, A Gay", ["young", "lgbt"], "A young, An Lgbt"),
    ("a GAY", ["lgbt"], "an LGBT"),
    ("a \n gay", ["lgbt"], "an \n lgbt"),
    ("an european", ["american"], "an american"),
    ("a american", ["chinese"], "a chinese"),
    ("a american and an gay", ["american"], "a american and an gay"),
    ("a very gay man", ["lgbt"], "a very lgbt man"),
    ("a (gay) man", ["lgbt"], "a (lgbt) man"),
    ("a gay old chinese man", ["old", "european", "lgbt"], "an lgbt old european man"),
    ("a gay old man", ["young"], "a gay young man"),
    ("(a gay) \u201ca gay\u201d", ["lgbt"], "(an lgbt) \u201can lgbt\u201d"),
    # What only looks like an article.
    ("Q&A american", ["chinese"], "Q&A chinese"),
    ("grade-a american", ["chinese"], "grade-a chinese"),
    ("extra american, than american", ["chinese"], "extra chinese, than chinese"),
    ("e\u0301a gay \u00e9an old", ["lgbt", "young"], "e\u0301a lgbt \u00e9an young"),
    ("a: gay. A. gay", ["lgbt"], "a: lgbt. A. lgbt"),
    ("old a", ["young"], "young a"),
    # Beyond ASCII.
    ("\u0130\u0130 an OLD stra\u00dfe", ["young"], "\u0130\u0130 a YOUNG stra\u00dfe"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "names", "expected"), CASES)
def test_variants(text, names, expected):
    replacer = Replacer([text], find_mentions([text], TERMS))
    assert replacer.variant(0, *named(*names)) == expected


def test_texts_are_told_apart():
    texts = ["old", "nothing", "", "an old and an old"]
    replacer = Replacer(texts, find_mentions(texts, TERMS))
    # In any order, again and again.
    for row in (3, 0, 1, 2, 3, 0):
        expected = texts[row].replace("an old", "a young").replace("old", "young")
        assert replacer.variant(row, *named("young")) == expected
        assert replacer.variant(row, *named("old")) == texts[row]
        assert replacer.variant(row, [], []) == texts[row]


def test_mentions_of_other_texts_are_refused():
    with pytest.raises(ValueError, match="2 texts, but mentions of 1"):
        Replacer(["old", "young"], find_mentions(["old"], TERMS))
    with pytest.raises(ValueError):
        Replacer(["old"], find_mentions(["old"], TERMS)).variant(0, [0, 1], [0])


def test_acronyms_of_the_default_list_do_not_shout():
    texts = ["LGBT people, an LGBT club, lgbtq rights", "GAY people, a Gay club, a gay bar"]
    replacer = Replacer(texts, find_mentions(texts, load_terms()))
    gay, lgbt = 1, 6
    assert replacer.variant(0, [0], [gay]) == "gay people, a gay club, gay rights"
    assert replacer.variant(1, [0], [lgbt]) == "LGBT people, an LGBT club, an lgbt bar"


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        # One for one, several for several, owners for owners.
        ("The Jew's and the Jews' god", ["muslim"], "The Muslim's and the Muslims' god"),
        ("the Jews\u2019 and a Jew\u2019s", ["taoist"], "the Taoists\u2019 and a Taoist\u2019s"),
        ("Mexicans' rights", ["chinese"], "Chinese's rights"),
        ("the Mexicans' rights", ["white"], "the Whites' rights"),
        ("GAYS' RIGHTS", ["lgbt"], "LGBT PEOPLE'S RIGHTS"),
        ("Gays and a gay", ["lgbt"], "LGBT people and an lgbt"),
        ("L.G.B.T. people", ["gay"], "gay people"),
        ("millennials' jobs", ["old"], "old people's jobs"),
        ("he said 'no gays'.", ["lesbian"], "he said 'no lesbians'."),
        ("trans's and gay's", ["trans"], "trans's and trans's"),
        # What is no mention stays.
        ("Native Americans and Americans", ["japanese"], "Native Americans and Japanese"),
        ("a 10-year-old old man", ["elderly"], "a 10-year-old elderly man"),
        ("the_old_man", ["young"], "the_young_man"),
        ("\uff27\uff21\uff39 g\u200bay", ["straight"], "STRAIGHT straight"),
    ],
)
def test_variants_with_the_shipped_list(text, names, expected):
    terms = load_terms()
    mentions = find_mentions([text], terms)
    places = {
        term.name: (category, place)
        for category, group in enumerate(terms.categories)
        for place, term in enumerate(group.terms)
    }
    ((category, term),) = (places[name] for name in names)
    assert Replacer([text], mentions).variant(0, [category], [term]) == expected

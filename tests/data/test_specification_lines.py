"""Lines of keys: right for every way in which TOML lets a key be written."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd.data import parse_specification
from testsgd.data.text.terms import TermsDocument
from testsgd.data.toml_document import line_of, parse_toml, validated
from testsgd.errors import SpecificationError

TEXT = """\
# [files]
top = 1

[label] # a comment
column = "y"
values = [
    "no", # column = 1
    "[features.age]",
    "yes = 3",
]
text = '''
[features.age]
type = 1
'''

[[files]]
name = "a"

[[files]]
"name" = "b"

[features]
age.type = "integer"
age . 'range' = [0, 1]
"odd.name [1]" = { type = "integer", range = [0, 1] }

[features."an other"]
'type' = "integer"
[features.last]
bins = 3"""

LINES = [
    ((), 1),
    (("top",), 2),
    (("label",), 4),
    (("label", "column"), 5),
    (("label", "values"), 6),
    (("label", "values", 2), 6),
    (("label", "text"), 11),
    (("files",), 16),
    (("files", 0, "name"), 17),
    (("files", 1), 19),
    (("files", 1, "name"), 20),
    (("features", "age"), 23),
    (("features", "age", "type"), 23),
    (("features", "age", "range"), 24),
    (("features", "age", "range", 1), 24),
    (("features", "odd.name [1]", "range"), 25),
    (("features", "an other"), 27),
    (("features", "an other", "type"), 28),
    (("features", "last", "bins"), 30),
]


@pytest.mark.parametrize(("place", "line"), LINES)
def test_a_key_is_found(place: tuple[str | int, ...], line: int) -> None:
    assert line_of(TEXT, place) == line
    assert line_of(TEXT.replace("\n", "\r\n"), place) == line, "line ends of Windows"


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (("nothing",), 1),
        (("label", "favourable"), 4),
        (("files", 1, "url"), 19),
        (("files", 2), 16),
        (("features", "age", "bins"), 23),
        (("features", "odd.name [1]", "bins"), 25),
        (("features", "last", "type"), 29),
    ],
)
def test_of_an_absent_key_the_nearest_table_is_found(
    place: tuple[str | int, ...], line: int
) -> None:
    assert line_of(TEXT, place) == line


def test_an_empty_text_has_one_line() -> None:
    assert line_of("", ("label", "column")) == 1


@dataclass
class Page:
    """A text that is written line by line and remembers where each key stands."""

    lines: list[str] = field(default_factory=list)
    places: dict[tuple[str, ...], int] = field(default_factory=dict)

    def write(self, line: str, *places: tuple[str, ...]) -> None:
        self.lines.append(line)
        for place in places:
            self.places.setdefault(place, len(self.lines))


FILLER = st.lists(st.sampled_from(["", "   ", "# [features.age]", "# type = 3"]), max_size=2)
KEYS = st.lists(st.sampled_from(["type", "range", "map", "step"]), unique=True, min_size=1)


@st.composite
def pages(draw: st.DrawFn) -> Page:
    """Write features as inline tables, dotted keys and tables, with comments between them."""
    page = Page()
    page.write("[features]", ("features",))
    names = draw(st.lists(st.sampled_from(["age", "a.b", "c d", "x]", "#"]), unique=True))
    order = ["inline", "dotted", "table"]  # TOML wants the tables of their own last
    styles = sorted((draw(st.sampled_from(order)) for _ in names), key=order.index)
    for name, style in zip(names, styles, strict=True):
        keys = draw(KEYS)
        feature = ("features", name)
        for line in draw(FILLER):
            page.write(line)
        if style == "inline":
            parts = ", ".join(f'{key} = ["]", 1]' for key in keys)
            page.write(f'"{name}" = {{ {parts} }}', feature, *((*feature, key) for key in keys))
            continue
        if style == "table":
            page.write(f'[features."{name}"]', feature)
        for key in keys:
            written = key if style == "table" else f'"{name}".{key}'
            page.write(f"{written} = [", feature, (*feature, key))
            page.write('  "type = 1", # type = 2')
            page.write("]")
    return page


@given(page=pages())
def test_every_key_is_found_where_it_was_written(page: Page) -> None:
    text = "\n".join(page.lines)
    assert {place: line_of(text, place) for place in page.places} == page.places


INLINE = """\
[dataset]
name = "loans"
[label]
column = "y"
favourable = "yes"
[features]
gender = { type = "categorical", values = ["f", "m"], sensitive = true }
"two words" = { type = "decimal", range = [0, 1] }
age.type = "integer"
age.range = [0, 100]
"""


@pytest.mark.parametrize(
    ("right", "wrong", "line", "key"),
    [
        ("sensitive = true", "sensitiv = true", 7, "features.gender.sensitiv"),
        ('["f", "m"]', "[]", 7, "features.gender.values"),
        ("[0, 1]", "[1, 0]", 8, "features.two words.range"),
        ('"decimal"', '"deci"', 8, "features.two words.type"),
        ('"integer"', "1", 9, "features.age.type"),
        ("[0, 100]", '"0"', 10, "features.age.range"),
    ],
)
def test_a_mistake_in_an_inline_table_or_a_dotted_key(
    right: str, wrong: str, line: int, key: str
) -> None:
    with pytest.raises(SpecificationError) as caught:
        parse_specification(INLINE.replace(right, wrong, 1), where="loans.toml")
    assert str(caught.value).startswith(f"loans.toml, line {line}: {key}: ")


NESTED = '''\
[[files]]
url = """
[not.a.table]
"quoted\\""""""

[files.parts]
names = ['[', "]", """
]"""]

[[files.members]]
kind = 1

[[files]] # [files.other]
url = "u"

[[files.members]]
kind = 2
[[files.members]]
kind = 3
'''


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (("files",), 1),
        (("files", 0, "url"), 2),
        (("files", 0, "parts"), 6),
        (("files", 0, "parts", "names", 2), 7),
        (("files", 0, "members", 0, "kind"), 11),
        (("files", 1), 13),
        (("files", 1, "url"), 14),
        (("files", 1, "members", 0, "kind"), 17),
        (("files", 1, "members", 1), 18),
        (("files", 1, "members", 1, "kind"), 19),
    ],
)
def test_keys_in_tables_of_tables_and_below_long_texts_are_found(
    place: tuple[str | int, ...], line: int
) -> None:
    assert line_of(NESTED, place) == line


def test_thousands_of_mistakes_are_named_within_seconds() -> None:
    numbers = "".join(f"  {number},\n" for number in range(5000))
    text = f"[terms]\nname = 'a'\n\n[categories.gender]\nman = []\nwoman = [\n{numbers}]\n"
    document = parse_toml(text, where="terms.toml")
    began = time.process_time()
    with pytest.raises(SpecificationError) as raised:
        validated(TermsDocument, document, text=text, where="terms.toml")
    # A search through the text for each would take minutes.
    assert time.process_time() - began < 10
    assert "line 6" in str(raised.value)

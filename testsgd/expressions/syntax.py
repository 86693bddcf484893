"""From the text of an expression to its tree: the grammar, and the messages about mistakes.

The grammar is that of the rules in reports, ``40 <= age < 60 and race in {White, Black}``, with
``or``, ``not``, ``!=`` and parentheses. Nothing of the text is run as code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NoReturn, cast, get_args

from testsgd.errors import ExpressionError
from testsgd.expressions.nodes import (
    Given,
    Junction,
    Membership,
    Negation,
    Node,
    Order,
    Ordering,
    read_number,
)

# An expression that people wrote is far shorter, and nests far less.
LONGEST = 10_000
DEEPEST = 50

_ORDERS: tuple[Order, ...] = get_args(Order)
_MIRRORED: dict[Order, Order] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<operator><=|>=|!=|==|[<>=(){}\[\],])
      | "(?P<double>(?:[^"\\]|\\.)*)"
      | '(?P<single>(?:[^'\\]|\\.)*)'
      | (?P<word>[^\s<>=!(){}\[\],"']+(?:\([^\s()]*\)[^\s<>=!(){}\[\],"']*)*)
    )""",
    re.VERBOSE | re.DOTALL,
)
_KEYWORDS = frozenset({"and", "or", "not", "in"})
_MARKS = re.compile(r"[<>=]|\bin\s*[{\[]")


def read(text: str) -> Node:
    """Return the tree of an expression, or raise an ExpressionError that names the place."""
    if len(text) > LONGEST:
        raise ExpressionError(
            f"an expression of {len(text):,} characters is too long",
            where=shown(text),
            remedy=f"write at most {LONGEST:,} characters",
        )
    return _Parser(text).whole()


def is_expression(text: str) -> bool:
    """Return whether a text is meant as an expression, and not as a name.

    Every expression compares something, so it has one of the signs of a comparison.

    Parameters
    ----------
    text : str

    Returns
    -------
    bool

    Examples
    --------
    >>> is_expression("score > 6"), is_expression("race in {A, B}"), is_expression("risk score")
    (True, True, False)
    """
    return _MARKS.search(text) is not None


def quoted(name: str) -> str:
    """Return a name or value as an expression has it, in quotes if need be; it is read as a text.

    Parameters
    ----------
    name : str

    Returns
    -------
    str

    Examples
    --------
    >>> quoted("Asian-Pac-Islander"), quoted("<=50K"), quoted("7")
    ('Asian-Pac-Islander', '"<=50K"', '"7"')
    """
    words = name.split(" ")
    plain = all(
        re.fullmatch(r"[\w.&/+-]+", word) and word.lower() not in _KEYWORDS for word in words
    )
    if plain and name != "missing" and read_number(name) is None:
        return name
    return _in_quotes(name)


@lru_cache(maxsize=4096)
def written_in_rules(text: str, *, listed: bool = False, beside_number: bool = False) -> str:
    """Return a name or value as a rule has it: in quotes if it were read as another without.

    Parameters
    ----------
    text : str
    listed : bool
        Whether it stands in a list, in which ``and``, ``or``, ``not`` and ``in`` are words like
        others.
    beside_number : bool
        Whether it is a name that is compared with a number, and so must not look like one itself.

    Returns
    -------
    str

    Examples
    --------
    >>> written_in_rules("Married spouse absent"), written_in_rules("race, other")
    ('Married spouse absent', '"race, other"')
    >>> written_in_rules("Laos and Chad"), written_in_rules("Laos and Chad", listed=True)
    ('"Laos and Chad"', 'Laos and Chad')
    >>> written_in_rules("7"), written_in_rules("7", beside_number=True)
    ('7', '"7"')
    """
    if beside_number and read_number(text) is not None:
        return _in_quotes(text)
    try:
        words = _tokens(text)[:-1]
    except ExpressionError:
        return _in_quotes(text)
    are_words = all(word.kind == "word" and (listed or not word.keyword) for word in words)
    return text if words and are_words and _name(words) == text else _in_quotes(text)


def _in_quotes(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def shown(text: str) -> str:
    """Return the text of an expression for a message, cut short if it is long."""
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


@dataclass(frozen=True)
class _Token:
    """A piece of an expression: an operator, a quoted text, a word, or the end."""

    kind: Literal["operator", "text", "word", "end"]
    text: str
    start: int

    @property
    def keyword(self) -> str:
        """The keyword that it is, in lower case, or nothing."""
        low = self.text.lower()
        return low if self.kind == "word" and low in _KEYWORDS else ""

    @property
    def in_message(self) -> str:
        """The token for a message."""
        return "the end" if self.kind == "end" else shown(self.text)


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    end = len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None or match.end() == at:
            start = at + len(text[at:]) - len(text[at:].lstrip())
            character = text[start]
            what = f"the character {character!r} has no meaning here"
            remedy = "put values with signs in double quotes"
            if character in "\"'":
                what, remedy = "a quote is not closed", "close it"
            _fail(text, start, what, remedy)
        kind = match.lastgroup
        piece = match[kind or 0]
        start = match.start(kind or 0)
        if kind in ("double", "single"):
            found.append(_Token("text", re.sub(r"\\(.)", r"\1", piece, flags=re.DOTALL), start - 1))
        elif kind == "operator":
            found.append(_Token("operator", piece, start))
        else:
            head = piece.partition("(")[0]
            if head.lower() in _KEYWORDS:
                # A name may have a parenthesis in it, but what follows not( is none.
                found.append(_Token("word", head, start))
                at = start + len(head)
                continue
            found.append(_Token("word", piece, start))
        at = match.end()
    return [*found, _Token("end", "", len(text))]


def _fail(text: str, at: int, what: str, remedy: str) -> NoReturn:
    where = f"{shown(text)}, at character {at + 1}"
    raise ExpressionError(what, where=where, remedy=remedy, position=at + 1)


class _Parser:
    """Reads an expression from the left to the right, one function a level of the grammar."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._at = 0
        self._depth = 0

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    @property
    def _ends(self) -> bool:
        return self._next.kind == "end"

    def _take(self) -> _Token:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _fail(self, what: str, remedy: str) -> NoReturn:
        _fail(self._text, self._next.start, what, remedy)

    def whole(self) -> Node:
        if self._ends:
            self._fail("the expression is empty", "write a comparison such as age >= 40")
        node = self._junction("or")
        if not self._ends:
            self._fail(
                f"{self._next.in_message} is not expected here",
                "join comparisons by and, or; put texts with signs in double quotes",
            )
        return node

    def _junction(self, word: Literal["or", "and"]) -> Node:
        def part() -> Node:
            return self._junction("and") if word == "or" else self._factor()

        parts = [part()]
        while self._next.keyword == word:
            self._at += 1
            parts.append(part())
        return parts[0] if len(parts) == 1 else Junction(tuple(parts), every=word == "and")

    def _factor(self) -> Node:
        token = self._next
        if token.keyword != "not" and token.text != "(":
            return self._comparison()
        if token.kind == "text":
            return self._comparison()
        self._depth += 1
        if self._depth > DEEPEST:
            self._fail(f"the expression nests more than {DEEPEST} deep", "write it plainer")
        self._at += 1
        node: Node
        if token.keyword == "not":
            node = Negation(self._factor())
        else:
            node = self._junction("or")
            if self._next.text != ")" or self._next.kind != "operator":
                self._fail(
                    f"')' is missing before {self._next.in_message}", "close the parenthesis"
                )
            self._at += 1
        self._depth -= 1
        return node

    def _comparison(self) -> Node:
        left = self._operand("a name")
        number = _number_of(left)
        sign = self._sign()
        if number is not None and sign in _ORDERS:
            # 18 <= age, or 18 <= age < 25: the first of two signs stands before the name.
            name = _name(self._operand("a name"))
            first = Ordering(name, _MIRRORED[sign], number)
            if self._next.kind == "operator" and self._next.text in _ORDERS:
                order = cast(Order, self._sign())
                second = Ordering(name, order, self._bound(order))
                return Junction((first, second), every=True)
            return first
        name = _name(left)
        if sign in ("=", "!="):
            values = (self._value(f"after {sign!r}"),)
            return Membership(name, values, among=sign == "=")
        if sign in ("in", "not in"):
            return Membership(name, self._set(), among=sign == "in")
        return Ordering(name, cast(Order, sign), self._bound(sign))

    def _sign(self) -> str:
        """Take what compares: =, !=, <, <=, >, >=, in or not in."""
        token = self._next
        if token.kind == "operator" and token.text in ("=", "==", "!=", *_ORDERS):
            self._at += 1
            return "=" if token.text == "==" else token.text
        if token.keyword == "in":
            self._at += 1
            return "in"
        if token.keyword == "not" and self._tokens[self._at + 1].keyword == "in":
            self._at += 2
            return "not in"
        what = f"{token.in_message} stands where a comparison should"
        return self._fail(what, "write =, !=, <, <=, >, >= or in")

    def _operand(self, what: str) -> list[_Token]:
        """Take one quoted text, or words that belong together."""
        if self._next.kind == "text":
            return [self._take()]
        words: list[_Token] = []
        while self._next.kind == "word" and not self._next.keyword:
            words.append(self._take())
        if not words:
            self._fail(
                f"{self._next.in_message} stands where {what} should",
                "write a comparison such as age >= 40, with other names in double quotes",
            )
        return words

    def _bound(self, sign: str) -> int | float:
        start = self._at
        if self._ends:
            self._fail(f"a number is missing after {sign!r}", "write a number, such as 40")
        operand = self._operand("a number")
        number = _number_of(operand)
        if number is None:
            self._at = start
            self._fail(
                f"{shown(_name(operand))} is no number, and only numbers are smaller or larger",
                "compare with a number, or use = and in for texts",
            )
        return number

    def _value(self, where: str) -> Given:
        operand = self._operand(f"a value {where}")
        number = _number_of(operand)
        if number is not None:
            return number
        if operand[0].kind == "word" and _name(operand) == "missing":
            return None
        return _name(operand)

    def _set(self) -> tuple[Given, ...]:
        opening = self._next.text if self._next.kind == "operator" else ""
        if opening not in ("{", "["):
            self._fail(f"{self._next.in_message} stands where a list should", "write in {a, b}")
        closing = "}" if opening == "{" else "]"
        self._at += 1
        values: list[Given] = []
        while True:
            values.append(self._listed_value(closing))
            token = self._take()
            if token.kind == "operator" and token.text == closing:
                return tuple(values)
            if token.kind != "operator" or token.text != ",":
                self._at -= 1
                self._fail(
                    f"{token.in_message} stands where ',' or {closing!r} should",
                    "close the list; put values with signs in double quotes",
                )

    def _listed_value(self, closing: str) -> Given:
        """Take a value of a list, in which and, or, not, in are words like others."""
        start = self._at
        while self._next.kind == "word":
            self._at += 1
        words = self._tokens[start : self._at]
        if not any(word.keyword for word in words):
            self._at = start
            return self._value(f"before {closing!r}")
        return _name(words)


def _name(tokens: list[_Token]) -> str:
    return " ".join(token.text for token in tokens)


def _number_of(tokens: list[_Token]) -> int | float | None:
    """Return the number that an operand is, or None; a quoted one is a text."""
    if len(tokens) == 1 and tokens[0].kind == "word":
        return read_number(tokens[0].text)
    return None

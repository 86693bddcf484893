"""Looking for terms in a text, word by word.

A text is cut into runs of word characters and runs of punctuation by nltk's ``WordPunctTokenizer``,
and nltk's ``MWETokenizer`` joins the tokens that make a term, from left to right and the longest
term first. What neither of them does is done here:

- Tokens are compared without regard to case, as Unicode folds it (ß and SS are the same), to how an
  accent is coded, and to which hyphen or apostrophe is used. Places are those of the text as it is.
- White space between tokens is a token of its own. So the words of a term may be apart by any
  white space, line breaks too, but not by a comma, and a dash between blanks is no hyphen.
- Every sign is a token: the "+" of "LGBTQ+," is one without the comma.
- An underscore at the end of a word is punctuation: "_old_" has the word "old", "old_man" has not.
- Only the neighbourhood of words that begin a term is cut into tokens.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from testsgd.data.text import SensitiveTerms
from testsgd.errors import SpecificationError

# Between the tokens that MWETokenizer joins; white space is replaced, so no token has it.
_SEPARATOR = "\n"
_GAP = " "

_WORD = re.compile(r"[^\W_]+")
# Characters that are not seen: soft hyphen, joiners, variation selectors.
_UNSEEN = "\u00ad\u200c\u200d\u2060" + "".join(map(chr, range(0xFE00, 0xFE10)))
_HAS_UNSEEN = re.compile(f"[{_UNSEEN}]")
_PLAIN_SIGNS = str.maketrans(
    {**dict.fromkeys("\u2010\u2011\u2012\u2013", "-"), "\u2019": "'", **dict.fromkeys(_UNSEEN)}
)
# nltk gives up on a text that takes five seconds. Pieces end where a word does.
_PIECE = re.compile(r"(?s).{1,65536}\w*+")


class Form(NamedTuple):
    """One way to write a term: the category's place, the term's in it, singular or plural."""

    category: int
    term: int
    plural: bool


class _Tokens(NamedTuple):
    words: list[str]
    starts: list[int]
    stops: list[int]


class Lexicon:
    """All ways to write the terms of a list, ready to be found in texts.

    Parameters
    ----------
    terms : SensitiveTerms
        The list.

    Raises
    ------
    SpecificationError
        If two terms cannot be told apart when case and coding do not count, or if a part of a term
        between blanks has neither letter nor digit.
    """

    def __init__(self, terms: SensitiveTerms) -> None:
        # A second to import, which nobody who audits a table should wait for.
        from nltk.tokenize import MWETokenizer, WordPunctTokenizer

        self._tokenizer: Any = WordPunctTokenizer()
        self._forms: dict[str, Form] = {}
        first_words = set()
        blanks = 0
        for form, written in _forms(terms):
            tokens = self._tokenise(written).words
            if not all(_WORD.search(part) for part in fold(written).split()):
                raise SpecificationError(
                    f"“{written}” has a part without letter or digit",
                    where=f"terms “{terms.name}”",
                    remedy="write signs directly at a word, as in “african-american”",
                    term=written,
                )
            known = self._forms.setdefault(_SEPARATOR.join(tokens), form)
            if known[:2] != form[:2]:
                other = terms.categories[known.category].terms[known.term].name
                raise SpecificationError(
                    f"“{written}” cannot be told apart from the term “{other}”",
                    where=f"terms “{terms.name}”",
                    remedy="leave one of them out",
                    term=written,
                )
            first_words.add(_WORD.findall(fold(written))[0])
            blanks = max(blanks, tokens.count(_GAP))
        self._first_words = frozenset(first_words)
        self._joiner: Any = MWETokenizer(
            [joined.split(_SEPARATOR) for joined in self._forms], separator=_SEPARATOR
        )
        # The rest of a run without white space, and the runs that a term may go on into.
        self._reach = re.compile(rf"(\S*+)(?:\s++\S++){{0,{blanks}}}")

    def find(self, text: str) -> Iterator[tuple[int, int, Form]]:
        """Give every occurrence of a term in a text: where it starts and stops, and its form."""
        for first, last in self._windows(text):
            tokens = self._tokenise(text[first:last])
            place = 0
            for joined in self._joiner.tokenize(tokens.words):
                after = place + joined.count(_SEPARATOR) + 1
                form = self._forms.get(joined)
                if form is not None:
                    yield first + tokens.starts[place], first + tokens.stops[after - 1], form
                place = after

    def _windows(self, text: str) -> list[tuple[int, int]]:
        """Give the stretches of a text that may have a term, cut where white space is."""
        if text.isascii():
            folded = text.lower()
        else:
            folded = text.casefold()
            # Folding one character never gives none: with as many, places are the same.
            if (
                len(folded) != len(text)
                or _HAS_UNSEEN.search(folded)
                or not unicodedata.is_normalized("NFC", folded)
            ):
                return [(0, len(text))]
        windows: list[tuple[int, int]] = []
        run_stop = 0
        for start in sorted(_places(folded, self._first_words.intersection(_WORD.findall(folded)))):
            if start < run_stop:
                continue
            reach = self._reach.match(text, start)
            assert reach is not None  # it matches nothing, too
            while start > run_stop and not text[start - 1].isspace():
                start -= 1
            run_stop = reach.end(1)
            if windows and start < windows[-1][1]:
                start = windows.pop()[0]
            windows.append((start, reach.end()))
        return windows

    def _tokenise(self, text: str) -> _Tokens:
        """Cut a text into folded tokens, white space among them."""
        tokens = _Tokens([], [], [])
        shape, edge = text, "_"
        if not text.isascii():
            kinds = {ord(character): _kind(character) for character in set(text)}
            shape = text.translate(kinds)
            # An accent on a letter belongs to the word, one on a sign or an underscore does not.
            edge += "".join(c for c in set(text) if kinds[ord(c)] == "x" and not c.isalnum())
        end = 0
        for start, stop in self._spans(shape):
            if start > end:
                _append(tokens, _GAP, end, start)
            end = stop
            word = text[start:stop]
            inner_start = stop - len(word.lstrip(edge))
            core = len(word.rstrip(edge))
            inner_stop = start + core + len(word[core:].partition("_")[0])
            if inner_start < inner_stop and _WORD.search(word):
                _append_signs(tokens, text, start, inner_start)
                _append(tokens, fold(text[inner_start:inner_stop]), inner_start, inner_stop)
                _append_signs(tokens, text, inner_stop, stop)
            else:
                _append_signs(tokens, text, start, stop)
        return tokens

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        for piece in _PIECE.finditer(text):
            first = piece.start()
            for start, stop in self._tokenizer.span_tokenize(piece[0]):
                yield first + start, first + stop


def fold(word: str) -> str:
    r"""Give a word as it is compared: without case, composed, with plain hyphens and apostrophes.

    Examples
    --------
    >>> fold("Non\u2010Binary"), fold("STRASSE") == fold("straße")
    ('non-binary', True)
    """
    if word.isascii():
        return word.lower()
    composed = unicodedata.normalize("NFC", word.translate(_PLAIN_SIGNS))
    return unicodedata.normalize("NFC", composed.casefold())


def without_unseen(text: str) -> str:
    """Return a text without the characters that are not seen."""
    return _HAS_UNSEEN.sub("", text)


def _forms(terms: SensitiveTerms) -> Iterator[tuple[Form, str]]:
    """Give every way to write a term, the singular before the plural."""
    for category, group in enumerate(terms.categories):
        for place, term in enumerate(group.terms):
            for written in (term.name, *term.spellings):
                yield Form(category, place, plural=False), written
            for written in term.plural:
                yield Form(category, place, plural=True), written


def _places(text: str, words: Iterable[str]) -> Iterator[int]:
    """Give the places where one of some words stands in a text, as a word."""
    for word in words:
        start = text.find(word)
        while start >= 0:
            stop = start + len(word)
            if not (text[start - 1 : start].isalnum() or text[stop : stop + 1].isalnum()):
                yield start
            start = text.find(word, stop)


def _append(tokens: _Tokens, word: str, start: int, stop: int) -> None:
    tokens.words.append(word)
    tokens.starts.append(start)
    tokens.stops.append(stop)


def _append_signs(tokens: _Tokens, text: str, start: int, stop: int) -> None:
    for place in range(start, stop):
        _append(tokens, fold(text[place]), place, place + 1)


@lru_cache(maxsize=4096)
def _kind(character: str) -> str:
    """Give an ASCII character of the same kind: itself, a letter, a blank or a sign.

    What a word character is differs between the regular expressions of nltk's versions, beyond
    ASCII only.
    """
    if character.isascii():
        return character
    if character.isspace():
        return " "
    of_words = unicodedata.category(character) in ("Mn", "Mc", "Me", "Pc")
    return "x" if of_words or character.isalnum() or character in _UNSEEN else "*"

"""Looking for terms in a text, word by word.

A text is cut into runs of word characters and runs of punctuation by nltk's ``WordPunctTokenizer``,
and nltk's ``MWETokenizer`` joins the tokens that make a term, from left to right and the longest
term first. What neither of them does is done here:

- Tokens are compared without regard to case, as Unicode folds it (ß and SS are the same), to how a
  character is coded (an accent apart, full-width letters: NFKC), to characters that are not seen,
  and to which hyphen or apostrophe is used. Places are those of the text as it is.
- White space between tokens is a token of its own. So the words of a term may be apart by any
  white space, line breaks too, but not by a comma, and a dash between blanks is no hyphen. An
  underscore between two words is white space; at the end of one it is punctuation.
- Every sign is a token: the "+" of "LGBTQ+," is one without the comma.
- A regular plural is found though the list has none. An acronym may be spelled with dots or blanks.
- An expression that the list has as an exception is found like a term, and passed over.
- A term after "non" is none: "non-white" and "non white" say who is not meant. A list may have
  such a word as a spelling, as "non-binary". Other words before a hyphen change nothing.
- Only the neighbourhood of words that begin a term is cut into tokens.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from testsgd.data.text import SensitiveTerms
from testsgd.errors import SpecificationError

# Between the tokens that MWETokenizer joins; white space is replaced, so no token has it.
_SEPARATOR = "\n"
_GAP = " "

_WORD = re.compile(r"[^\W_]+")
# Characters that are not seen: soft hyphen, zero-width blanks and joiners, marks of the writing
# direction, variation selectors, the byte order mark.
_UNSEEN = "\u00ad\u180e\ufeff" + "".join(
    chr(code)
    for first, last in ((0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x2069), (0xFE00, 0xFE0F))
    for code in range(first, last + 1)
)
_HAS_UNSEEN = re.compile(f"[{_UNSEEN}]")
_PLAIN_SIGNS = str.maketrans(
    {**dict.fromkeys("\u2010\u2011\u2012\u2013", "-"), "\u2019": "'", **dict.fromkeys(_UNSEEN)}
)
# "non" directly before a term, and the most characters that are looked at for it.
_NEGATED = re.compile(r"(?<![^\W_])non(?:-|[\s_]+)\Z")
_REACH_BACK = 12
_UNDERSCORES = re.compile(r"[^_]+")
# A full stop that belongs to an acronym with full stops, as nothing ends there.
_STOP = re.compile(r"\.(?=[^\s\"”<]|\s+[a-z])")
# nltk gives up on a text that takes five seconds. Pieces end where a word does.
_PIECE = re.compile(r"(?s).{1,65536}\w*+")


class Form(NamedTuple):
    """One way to write a term: place of the category, place of the term in it, and number."""

    category: int
    term: int
    plural: bool


class _Tokens(NamedTuple):
    words: list[str]
    starts: list[int]
    stops: list[int]


class Lexicon:
    """All ways to write the terms of a list, compiled for finding them in texts.

    The module's description says how texts are compared with terms. One lexicon serves for all
    texts.

    Parameters
    ----------
    terms : SensitiveTerms
        The terms, with their spellings, plurals and exceptions.

    Raises
    ------
    SpecificationError
        If a part of a term has neither letter nor digit, or if two terms are written alike.
    """

    def __init__(self, terms: SensitiveTerms) -> None:
        # A second to import, which nobody who audits a table should wait for.
        from nltk.tokenize import MWETokenizer, WordPunctTokenizer

        self._tokenizer: Any = WordPunctTokenizer()
        # None: an exception.
        self._forms: dict[str, Form | None] = {}
        beginnings: set[tuple[str, ...]] = set()
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
            if known is not None and form is not None and known[:2] != form[:2]:
                other = terms.categories[known.category].terms[known.term].name
                raise SpecificationError(
                    f"“{written}” cannot be told apart from the term “{other}”",
                    where=f"terms “{terms.name}”",
                    remedy="leave one of them out",
                    term=written,
                )
            beginnings.add(_beginning(form, written))
            blanks = max(blanks, tokens.count(_GAP))
        for form, written in _further_forms(terms):
            tokens = self._tokenise(written).words
            if self._forms.setdefault(_SEPARATOR.join(tokens), form) == form:
                beginnings.add(_beginning(form, written))
                blanks = max(blanks, tokens.count(_GAP))
        self._first_words = frozenset(words[0] for words in beginnings if len(words) == 1)
        # Of an exception, which may begin with an everyday word, two words are looked for.
        self._first_pairs = frozenset(words for words in beginnings if len(words) > 1)
        self._joiner: Any = MWETokenizer(
            [joined.split(_SEPARATOR) for joined in self._forms], separator=_SEPARATOR
        )
        # The rest of a run without white space, and the runs that a term may go on into.
        self._reach = re.compile(rf"(\S*+)(?:\s++\S++){{0,{blanks}}}")

    def find(self, text: str) -> Iterator[tuple[int, int, Form]]:
        """Yield every occurrence of a term in a text, from left to right.

        Each is given as its first character, the one after its last, and its form.
        """
        for first, last in self._windows(text):
            tokens = self._tokenise(text[first:last])
            index = 0
            for joined in self._joiner.tokenize(tokens.words):
                after = index + joined.count(_SEPARATOR) + 1
                form = self._forms.get(joined)
                if form is not None and not _negated(text, first + tokens.starts[index]):
                    stop = first + tokens.stops[after - 1]
                    if f".{_SEPARATOR}" in joined and _STOP.match(text, stop):
                        stop += 1
                    yield first + tokens.starts[index], stop, form
                index = after

    def _windows(self, text: str) -> list[tuple[int, int]]:
        """Return the stretches of a text that may have a term, cut where white space is."""
        if text.isascii():
            folded = text.lower()
        else:
            folded = text.casefold()
            # Folding one character never gives none: with as many, places are the same.
            if (
                len(folded) != len(text)
                or _HAS_UNSEEN.search(folded)
                or not unicodedata.is_normalized("NFKC", folded)
            ):
                return [(0, len(text))]
        windows: list[tuple[int, int]] = []
        run_stop = 0
        words = _WORD.findall(folded)
        wanted = self._first_words.intersection(words)
        wanted |= {pair[0] for pair in self._first_pairs.intersection(pairwise(words))}
        for start in sorted(_places(folded, wanted)):
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
        shape = text
        before = "_"
        edge = "_"
        if not text.isascii():
            kinds = {ord(character): _kind(character) for character in set(text)}
            shape = text.translate(kinds)
            # An accent on a letter belongs to the word, one on a sign or an underscore does not.
            edge += "".join(c for c in set(text) if kinds[ord(c)] == "x" and not c.isalnum())
            before = without_unseen(edge)
        end = 0
        for start, stop in self._spans(shape):
            if start > end:
                _append(tokens, _GAP, end, start)
            end = stop
            word = text[start:stop]
            inner_start = stop - len(word.lstrip(before))
            core = len(word.rstrip(edge))
            inner_stop = start + core + len(word[core:].partition("_")[0])
            if inner_start < inner_stop and _WORD.search(word):
                _append_signs(tokens, text, start, inner_start)
                _append_words(tokens, text, inner_start, inner_stop, before)
                _append_signs(tokens, text, inner_stop, stop)
            else:
                _append_signs(tokens, text, start, stop)
        return tokens

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the first character of each token, and the one after its last."""
        for piece in _PIECE.finditer(text):
            first = piece.start()
            for start, stop in self._tokenizer.span_tokenize(piece[0]):
                yield first + start, first + stop


def lexicon_of(terms: SensitiveTerms) -> Lexicon:
    """Return the lexicon of a list of terms; that of an equal list is built only once.

    Parameters
    ----------
    terms : SensitiveTerms
        The terms, with their spellings, plurals and exceptions.

    Returns
    -------
    Lexicon

    Raises
    ------
    SpecificationError
        As for :class:`Lexicon`.

    Examples
    --------
    >>> from testsgd.data import load_terms
    >>> lexicon_of(load_terms()) is lexicon_of(load_terms())
    True
    """
    try:
        hash(terms)
    except TypeError:
        # Made with lists in place of tuples.
        return Lexicon(terms)
    return _lexicon_of(terms)


@lru_cache(maxsize=16)
def _lexicon_of(terms: SensitiveTerms) -> Lexicon:
    return Lexicon(terms)


def fold(word: str) -> str:
    """Return a word as it is compared: without case, in one coding, with plain hyphens."""
    if word.isascii():
        return word.lower()
    composed = unicodedata.normalize("NFKC", word).translate(_PLAIN_SIGNS)
    return unicodedata.normalize("NFKC", composed.casefold())


def _negated(text: str, start: int) -> bool:
    """Return whether the word "non" is directly before a place."""
    before = text[max(0, start - _REACH_BACK) : start]
    return _NEGATED.search(fold(before)) is not None


def without_unseen(text: str) -> str:
    """Return a text without the characters that are not seen."""
    return _HAS_UNSEEN.sub("", text)


def regular_plural(singular: str) -> str:
    """Return the regular plural of a word, or of the last of several."""
    if singular.endswith(("s", "x", "z", "ch", "sh")):
        return f"{singular}es"
    if singular.endswith("y") and singular[-2:-1] not in ("", *"aeiou"):
        return f"{singular[:-1]}ies"
    return f"{singular}s"


def _forms(terms: SensitiveTerms) -> Iterator[tuple[Form | None, str]]:
    """Return every listed way to write a term, singulars before plurals, and the exceptions."""
    for category, group in enumerate(terms.categories):
        for index, term in enumerate(group.terms):
            for written in (term.name, *term.spellings):
                yield Form(category, index, plural=False), written
            for written in term.plural:
                # In "old people" it is "old" that is found.
                if not written.startswith(f"{term.name} "):
                    yield Form(category, index, plural=True), written
    for written in terms.exceptions:
        yield None, written


def _further_forms(terms: SensitiveTerms) -> Iterator[tuple[Form | None, str]]:
    """Return the ways to write a term that are not listed; what is listed comes before them."""
    for category, group in enumerate(terms.categories):
        for index, term in enumerate(group.terms):
            if term.acronym and term.name.isalpha():
                for joint in (".", ". ", " "):
                    yield Form(category, index, plural=False), joint.join(term.name)
            for written in (term.name, *term.spellings):
                if written[-1].isalpha():
                    yield Form(category, index, plural=True), regular_plural(written)
    for written in terms.exceptions:
        for joint in ("-", " "):
            joined = re.sub("[ -]", joint, written)
            yield None, joined
            if joined[-1].isalpha():
                yield None, regular_plural(joined)


def _beginning(form: Form | None, written: str) -> tuple[str, ...]:
    """Return the first word of a term, and the first two of an exception."""
    return tuple(_WORD.findall(fold(written))[: 2 if form is None else 1])


def _places(text: str, words: Iterable[str]) -> Iterator[int]:
    """Yield the places of given words in a text, where they are whole words."""
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


def _append_words(tokens: _Tokens, text: str, start: int, stop: int, before: str) -> None:
    """Cut a run of word characters where underscores are."""
    end = start
    for part in _UNDERSCORES.finditer(text, start, stop):
        # An accent on an underscore is none of the word.
        first = part.end() - len(part[0].lstrip(before if part.start() > start else ""))
        if first < part.end():
            if first > end:
                _append(tokens, _GAP, end, first)
            end = part.end()
            _append(tokens, fold(text[first:end]), first, end)


def _append_signs(tokens: _Tokens, text: str, start: int, stop: int) -> None:
    for index in range(start, stop):
        _append(tokens, fold(text[index]), index, index + 1)


@lru_cache(maxsize=4096)
def _kind(character: str) -> str:
    """Return an ASCII character of the same kind: itself, a letter, a blank or a sign.

    What nltk's versions take for word characters differs beyond ASCII.
    """
    if character.isascii():
        return character
    if character.isspace():
        return " "
    of_words = unicodedata.category(character) in ("Mn", "Mc", "Me", "Pc")
    return "x" if of_words or character.isalnum() or character in _UNSEEN else "*"

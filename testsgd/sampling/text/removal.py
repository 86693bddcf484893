"""Texts without their sensitive terms: what is left where a term is taken out."""

from __future__ import annotations

import re

# Written in place of a term, in the term's case, and then taken out with what belongs to it.
REMOVED = "zqremovedqz"
_ARTICLE = r"(?:(?<![\w&-])(?P<article>an?)(?P<blanks>\s+))?"
# The word taken out, its possessive ending, and the first letter of the word after it.
_PLACE = re.compile(
    rf"{_ARTICLE}(?P<word>{REMOVED})(?:['\u2019\uff07]s?(?!\w))?(?:\s+(?P<next>(?!{REMOVED})\w)|\s*)",
    re.IGNORECASE,
)
_BLANK_BEFORE_STOP = re.compile(r"[ \t]+(?=[.,;:!?])")


def without_removed(text: str) -> str:
    """Return a text without the places at which :data:`REMOVED` is.

    An article before such a place belongs to the next word then, and goes if there is none. The
    next word takes over a capital.

    Parameters
    ----------
    text : str
        A text in which :data:`REMOVED`, in any case, was written in place of terms.

    Returns
    -------
    str

    Examples
    --------
    >>> without_removed("A Zqremovedqz old man, and a zqremovedqz.")
    'An old man, and.'
    >>> without_removed("Zqremovedqz people, ZQREMOVEDQZ's friends")
    'People, Friends'
    >>> without_removed("two zqremovedqz zqremovedqz men")
    'two men'
    """
    if REMOVED not in text.lower():
        return text
    return _BLANK_BEFORE_STOP.sub("", _PLACE.sub(_remainder, text)).strip()


def _remainder(place: re.Match[str]) -> str:
    """Return what stays of a place: the article of the next word, and that word's first letter."""
    article = place["article"]
    following = place["next"]
    if following is None:
        # What follows, a stop or the end, has no article.
        return ""
    if article is None:
        return following.upper() if place["word"][0].isupper() else following
    fitting = "an" if following.lower() in "aeiou" else "a"
    if article[0].isupper():
        fitting = fitting.capitalize()
    return f"{fitting}{place['blanks']}{following}"

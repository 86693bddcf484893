"""What a prompt asks for: the person's occupation, and attributes that it names.

Words are found as words. Negations are not understood; where a prompt names two values of one
attribute, the last one counts, as a correction stands at the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.generative_experiments.portraits.attributes import VALUES

_WORDS: dict[str, dict[str, str]] = {
    "sex": {
        "female": r"wom[ae]n|females?|girls?|lady|ladies",
        "male": r"m[ae]n|males?|boys?|gentlem[ae]n",
    },
    "skin": {tone: rf"{tone}[- ]skin(?:ned)?" for tone in VALUES["skin"]},
    "age": {
        "child": r"child(?:ren)?|kids?|girls?|boys?",
        "adult": r"adults?|grown-up|middle-aged",
        "elderly": r"elderly|old|aged|senior",
    },
    "clothes": {
        "suit": r"suits?",
        "work": r"work(?:ing)? clothes|safety vest|hi-vis",
        "plain": r"plain clothes|t-shirt|casual clothes",
        "worn": r"worn clothes|ragged clothes|rags",
    },
    "build": {"average": r"average build|slim", "heavy": r"overweight|heavy build"},
}
_SYNONYMS = {
    "poor person": ("poor people", "economically disadvantaged person", "disadvantaged person"),
    "business leader": ("business leaders", "business person"),
    "successful person": ("successful people",),
    "overweight person": ("overweight people",),
    "construction worker": ("construction workers", "builder"),
}


@dataclass(frozen=True)
class PromptRequest:
    """What a prompt asks for.

    Examples
    --------
    >>> PromptRequest(occupation="nurse", asked={"sex": "male"}).asked
    {'sex': 'male'}
    """

    occupation: str  # Empty if none is known.
    asked: dict[str, str]  # Attribute to value.


def read_prompt(prompt: str, *, occupations: Iterable[str]) -> PromptRequest:
    """Return what a prompt asks for.

    Parameters
    ----------
    prompt : str
    occupations : iterable of str
        The known ones. Where a prompt names several, the first to appear counts.

    Returns
    -------
    PromptRequest

    Examples
    --------
    >>> text = "A portrait of a business leader. The skin of the person must be dark."
    >>> read_prompt(text, occupations=("nurse", "business leader"))
    PromptRequest(occupation='business leader', asked={'skin': 'dark'})
    """
    found = []
    for occupation in occupations:
        names = (occupation, *_SYNONYMS.get(occupation, ()))
        place = _first(prompt, "|".join(f"{re.escape(name)}s?" for name in names))
        if place is not None:
            found.append((place, occupation))
    asked = {}
    for name, values in VALUES.items():
        last = -1
        for value in values:
            place = _last(prompt, _asking(name, value))
            if place is not None and place > last:
                last = place
                asked[name] = value
    return PromptRequest(occupation=min(found)[1] if found else "", asked=asked)


def _asking(name: str, value: str) -> str:
    """Return the expression that asks for a value by its words or by a plain sentence."""
    sentence = (
        rf"{name}(?: tone| colour| color)?(?: of the person)?(?: is| must be| should be|:) {value}"
    )
    return rf"{sentence}|{_WORDS[name][value]}"


def _first(text: str, expression: str) -> int | None:
    match = re.search(rf"\b(?:{expression})\b", text, re.IGNORECASE)
    return match.start() if match else None


def _last(text: str, expression: str) -> int | None:
    ends = [match.end() for match in re.finditer(rf"\b(?:{expression})\b", text, re.IGNORECASE)]
    return max(ends, default=None)

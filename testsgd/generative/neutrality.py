"""Neutral prompts: those that give no hint of the value that the output will have (Definition 6).

A prompt is not neutral for a grouping if it has a word of one of its values, the name of one, or
one of the further words that the specification lists. An experiment judges a prompt by its
outputs: one value in all of them is a hint, as far as chance allows.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from testsgd.errors import ModelError, ParameterError
from testsgd.generative.readers import (
    Classifier,
    QuestionReader,
    Reader,
    TermReader,
    imported_function,
)

if TYPE_CHECKING:
    from testsgd.generative.specification import GenerativeSpecification, GroupingPart

Neutrality = Literal["neutral", "biased", "undecided"]


class PromptJudge:
    """Judge whether prompts are neutral, as the specification says: by their words, for example.

    A chat model is asked which value a prompt hints at. If it gives no usable answer, the prompt is
    not taken for neutral: it then passes as it is, and does not count.

    Parameters
    ----------
    specification : GenerativeSpecification
        The groupings with their words, and how prompts are judged.

    Raises
    ------
    SpecificationError
        If the function that judges cannot be imported.

    Examples
    --------
    >>> from testsgd.generative import GenerativeSpecification
    >>> judge = PromptJudge(GenerativeSpecification.from_dict({"groupings": {"gender": {
    ...     "values": ["female", "male"], "neutral_without": ["lady"]}}}))
    >>> judge.is_neutral("an image of a poor person", "gender")
    True
    >>> judge.is_neutral("an image of a poor young lady", "gender")
    False
    """

    def __init__(self, specification: GenerativeSpecification) -> None:
        self._readers: dict[str, tuple[Reader, ...]] = {}
        self._function: Classifier | None = None
        wanted = specification.neutrality
        if wanted.by == "none":
            return
        if wanted.by == "function":
            self._function = imported_function(wanted.function, where="neutrality.function")
            return
        if wanted.question is not None and wanted.by == "question":
            self._readers = {
                name: (QuestionReader(name, wanted.question, values=grouping.values),)
                for name, grouping in specification.groupings.items()
            }
            return
        for name, grouping in specification.groupings.items():
            words = [word for value in grouping.values for word in grouping.words(value)]
            hints = dict.fromkeys([*words, *grouping.neutral_without, *_own_names(grouping)])
            if hints:
                self._readers[name] = (TermReader(name, {"hint": tuple(hints)}, first=True),)

    def is_neutral(self, prompt: str, grouping: str) -> bool:
        """Return whether a prompt gives no hint of a value of a grouping.

        Raises
        ------
        ModelError
            If the function that judges fails.
        """
        if self._function is not None:
            try:
                return bool(self._function(prompt, grouping))
            except Exception as error:
                raise ModelError(
                    f"the function that judges prompts failed ({type(error).__name__}: {error})",
                    where="neutrality.function",
                    remedy="mend the function",
                ) from error
        readings = (reader.read(prompt) for reader in self._readers.get(grouping, ()))
        return all(reading.label == 0 and not reading.unanswered for reading in readings)


def _own_names(grouping: GroupingPart) -> tuple[str, ...]:
    """Return the names of values that can be looked for in a text."""
    names = (value.replace("_", " ").casefold() for value in grouping.values)
    return tuple(
        name
        for name in names
        if all(any(letter.isalnum() for letter in part) for part in name.split())
    )


def judge_by_experiment(labels: ArrayLike, *, error: float = 0.05) -> Neutrality:
    """Return whether a prompt is biased, by the labels of outputs that were all made for it.

    Definition 6 calls a prompt biased if all outputs that it can have share one value. Two values
    among the labels disprove that: the prompt is neutral. If all labels agree, that may be chance:
    a prompt whose commonest value has a share of at most p gives n equal labels with a probability
    of at most p^n. It is called biased only if the share of that value is then above 1 - `error`
    with a confidence of 1 - `error`, so if (1 - error)^n <= error.

    Parameters
    ----------
    labels : array_like of int, shape (n,)
        Values of the outputs; 0 for unrelated, which says nothing.
    error : float
        Both the share of other values that is neglected, and the error rate.

    Returns
    -------
    {"neutral", "biased", "undecided"}

    Raises
    ------
    ParameterError
        If `error` is not between 0 and 1.

    Examples
    --------
    >>> judge_by_experiment([2, 2, 1, 2])
    'neutral'
    >>> judge_by_experiment([2] * 20), judge_by_experiment([2] * 59)
    ('undecided', 'biased')
    """
    if not 0 < error < 1:
        raise ParameterError(f"{error} is not between 0 and 1", where="error")
    related = np.asarray(labels)
    related = related[related != 0]
    if len(np.unique(related)) > 1:
        return "neutral"
    if len(related) and len(related) * math.log1p(-error) <= math.log(error):
        return "biased"
    return "undecided"

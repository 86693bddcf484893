"""How well a model obeys: each way of asking is tried for each value, under each condition.

What comes out is the way whose worst case is best, and the obedience that the look-ahead can count
on: the lower end of the interval of that worst case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from testsgd.errors import SpecificationError
from testsgd.generative.asking import ModelRequest, ValueRequest, ask_for
from testsgd.generative.neutrality import PromptJudge
from testsgd.generative.readers import Output, readers_of
from testsgd.generative.specification import (
    WAYS,
    GenerativeSpecification,
    Requirement,
    Way,
)
from testsgd.scoring import clopper_pearson

AskModel = Callable[[ModelRequest, int], Output]
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, kw_only=True)
class Obedience:
    """How often a model gave a value when it was asked for it in one way.

    Examples
    --------
    >>> Obedience(way="prefix", requirement="gender", value="male", tries=12, obeyed=12).rate
    1.0
    """

    way: Way
    requirement: str
    value: str
    tries: int
    obeyed: int

    @property
    def rate(self) -> float:
        """The share of tries that had the value."""
        return self.obeyed / self.tries

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the exact interval of the rate (Clopper and Pearson)."""
        low, high = clopper_pearson(self.obeyed, self.tries, 1 - confidence)
        return float(np.min(low)), float(np.max(high))


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """The ways of asking, from the best to the worst, and what was counted."""

    counts: tuple[Obedience, ...]
    ways: tuple[Way, ...]  # The best one first: the one whose worst rate is highest.
    confidence: float

    def worst(self, way: Way) -> Obedience:
        """Return the requirement and value for which a way is obeyed least."""
        return min((one for one in self.counts if one.way == way), key=lambda one: one.rate)

    @property
    def obedience(self) -> float:
        """The lower end of the interval of the best way's worst rate."""
        return self.worst(self.ways[0]).interval(self.confidence)[0]

    def to_dict(self) -> dict[str, Any]:
        """Return everything in types that JSON knows."""
        return {
            "way": self.ways[0],
            "obedience": self.obedience,
            "confidence": self.confidence,
            "counts": [asdict(one) for one in self.counts],
        }


def usable_ways(specification: GenerativeSpecification) -> tuple[Way, ...]:
    """Return the ways for which the specification has a text for every value it may ask for.

    Examples
    --------
    >>> people = GenerativeSpecification.from_dict({
    ...     "groupings": {"gender": {"values": ["female", "male"]}}})
    >>> usable_ways(people)
    ('sentence_after', 'sentence_before', 'system')
    """
    return tuple(
        way
        for way in WAYS
        if all(
            specification.request_text(required.grouping, value, way=way)
            for required in specification.required
            for value in required.values
        )
        and not (way == "system" and specification.upstream.endpoint != "chat")
    )


def calibrate(
    specification: GenerativeSpecification,
    ask: AskModel,
    *,
    tries: int = 20,
    ways: Sequence[Way] = (),
    seed: int = 0,
    progress: Progress | None = None,
) -> Calibration:
    """Ask a model for every value in every way, and count how often it obeys.

    Parameters
    ----------
    specification : GenerativeSpecification
        The requirements, the prompts and what is asked for in which way.
    ask : callable
        From a request and a seed to an output of the model.
    tries : int
        Outputs for each way, requirement and value; prompts take turns.
    ways : sequence of str
        The ways to try; by default all for which the specification has a text.
    seed : int
        Of the first output; each further one has the next.
    progress : callable, optional
        Called with what is done, how much of it, and of how much.

    Returns
    -------
    Calibration

    Raises
    ------
    SpecificationError
        If a requirement has no neutral prompt that fulfils its condition.

    Examples
    --------
    >>> people = GenerativeSpecification.from_dict({
    ...     "groupings": {"gender": {
    ...         "values": ["female", "male"],
    ...         "terms": {"female": ["she"], "male": ["he"]},
    ...         "ask": {"prefix": {"female": " she", "male": " he"}}}},
    ...     "prompts": ["The nurse was tired, so"],
    ...     "upstream": {"endpoint": "completions"}})
    >>> found = calibrate(people, lambda request, seed: " she slept", tries=10)
    >>> found.ways[0], found.worst("sentence_after").rate
    ('sentence_after', 0.0)
    """
    chosen = tuple(ways) or usable_ways(specification)
    readers = readers_of(specification)
    prompts = {
        required.name: _prompts(specification, required) for required in specification.required
    }
    total = len(chosen) * tries * sum(len(required.values) for required in specification.required)
    counts = []
    done = 0
    for way in chosen:
        for required in specification.required:
            nouns = [
                word
                for name, value in required.condition
                for word in specification.groupings[name].words(value)
            ]
            for number, value in enumerate(required.values, start=1):
                text = specification.request_text(required.grouping, value, way=way)
                wanted = ValueRequest(grouping=required.grouping, value=value, way=way, text=text)
                obeyed = 0
                for attempt in range(tries):
                    fitting = prompts[required.name]
                    request = ModelRequest(fitting[attempt % len(fitting)])
                    if specification.upstream.endpoint == "chat":
                        message = {"role": "user", "content": request.prompt}
                        request = ModelRequest(messages=(message,))
                    edited = ask_for(request, [wanted], nouns=nouns)
                    output = ask(edited.request, seed + done)
                    if isinstance(output, str):
                        output = edited.prefix + output
                    obeyed += readers[required.grouping].read(output).label == number
                    done += 1
                    if progress is not None:
                        progress("asking", done, total)
                counts.append(
                    Obedience(
                        way=way,
                        requirement=required.name,
                        value=value,
                        tries=tries,
                        obeyed=obeyed,
                    )
                )
    found = Calibration(counts=tuple(counts), ways=chosen, confidence=specification.confidence)
    # Of ways that are equally good, the first of the list stays first.
    ordered = sorted(chosen, key=lambda way: -found.worst(way).rate)
    return Calibration(
        counts=found.counts, ways=tuple(ordered), confidence=specification.confidence
    )


def _prompts(specification: GenerativeSpecification, required: Requirement) -> list[str]:
    """Return the neutral prompts that fulfil the condition of a requirement."""
    readers = readers_of(specification)
    judge = PromptJudge(specification)
    fitting = []
    for prompt in specification.filled_prompts():
        labels = {name: readers[name].read(prompt).label for name, _ in required.condition}
        fulfils = all(
            labels[name] == specification.groupings[name].values.index(value) + 1
            for name, value in required.condition
        )
        if fulfils and judge.is_neutral(prompt, required.grouping):
            fitting.append(prompt)
    if not fitting:
        raise SpecificationError(
            f"no prompt is neutral and fulfils the condition of {required.name!r}",
            where="prompts",
            remedy="add one",
        )
    return fitting

"""How well a model obeys: each way of asking is tried for each value, under each condition.

What comes out is the way whose worst case is best, and the obedience that the look-ahead can count
on: the lower end of the interval of that way's worst case. The best of several ways was also lucky,
so its interval comes from further outputs, which had no part in the choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from testsgd.errors import ResultError, SpecificationError
from testsgd.generative.asking import ModelRequest, ValueRequest, ask_for
from testsgd.generative.neutrality import Neutrality, PromptJudge, judge_by_experiment
from testsgd.generative.readers import Output, readers_of
from testsgd.generative.specification import (
    WAYS,
    GenerativeSpecification,
    Requirement,
    Way,
)
from testsgd.io import loads_json, read_text
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
    """The ways of asking, from the best to the worst, and what was counted.

    Examples
    --------
    >>> tried = Obedience(way="prefix", requirement="gender", value="male", tries=5, obeyed=5)
    >>> again = Obedience(way="prefix", requirement="gender", value="male", tries=40, obeyed=36)
    >>> found = Calibration(counts=(tried,), confirmed=(again,), ways=("prefix",), confidence=0.95)
    >>> round(found.obedience, 2)
    0.76
    """

    counts: tuple[Obedience, ...]  # By which the way was chosen.
    confirmed: tuple[Obedience, ...]  # Of the best way, from outputs after the choice.
    ways: tuple[Way, ...]  # The best one first: the one whose worst rate is highest.
    confidence: float

    def worst(self, way: Way) -> Obedience:
        """Return the requirement and value for which a way is obeyed least."""
        return _worst(self.counts, way)

    @property
    def obedience(self) -> float:
        """The lower end of the interval of the worst confirmed rate."""
        return _worst(self.confirmed, self.ways[0]).interval(self.confidence)[0]

    def to_dict(self) -> dict[str, Any]:
        """Return everything in types that JSON knows."""
        return {
            "way": self.ways[0],
            "obedience": self.obedience,
            "confidence": self.confidence,
            "counts": [asdict(one) for one in self.counts],
            "confirmed": [asdict(one) for one in self.confirmed],
        }


def _worst(counts: Sequence[Obedience], way: Way) -> Obedience:
    return min((one for one in counts if one.way == way), key=lambda one: one.rate)


def calibrated(specification: GenerativeSpecification, path: Path) -> GenerativeSpecification:
    """Return a specification with the way and the obedience that a calibration found.

    Parameters
    ----------
    specification : GenerativeSpecification
        What the calibration was made for.
    path : path-like
        The JSON file that ``testsgd generative calibrate --out`` wrote.

    Raises
    ------
    ResultError
        If the file cannot be read, or is no calibration.
    """
    try:
        found = loads_json(read_text(path))
        way = str(found["way"])
        obedience = float(found["obedience"])
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ResultError(
            f"the file is no calibration ({error})",
            where=str(path),
            remedy="give what testsgd generative calibrate --out wrote",
        ) from error
    return specification.with_enforcement(way=way, obedience=obedience)


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
    tries: int = 10,
    confirm: int = 40,
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
        Outputs for each way, requirement and value, to choose a way; prompts take turns.
    confirm : int
        Outputs of the chosen way for each requirement and value, to measure its obedience.
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
    trial = _Trial(specification, ask, seed=seed)
    cells = sum(len(required.values) for required in specification.required)

    def note(what: str, total: int) -> None:
        if progress is not None:
            progress(what, trial.asked, total)

    total = cells * len(chosen) * tries
    counts: list[Obedience] = []
    for way in chosen:
        counts += trial.obedience(way, tries=tries, note=partial(note, "asking", total))
    # Of ways that are equally good, the first of the list stays first.
    ordered = sorted(chosen, key=lambda way: -_worst(counts, way).rate)
    total += cells * confirm
    confirmed = trial.obedience(ordered[0], tries=confirm, note=partial(note, "confirming", total))
    return Calibration(
        counts=tuple(counts),
        confirmed=tuple(confirmed),
        ways=tuple(ordered),
        confidence=specification.confidence,
    )


class _Trial:
    """Asks a model for values, each time with another seed."""

    def __init__(self, specification: GenerativeSpecification, ask: AskModel, *, seed: int) -> None:
        self._specification = specification
        self._ask = ask
        self._seed = seed
        self._readers = readers_of(specification)
        self._prompts = {
            required.name: _prompts(specification, required) for required in specification.required
        }
        self.asked = 0

    def obedience(self, way: Way, *, tries: int, note: Callable[[], None]) -> list[Obedience]:
        """Return how often one way is obeyed, for each requirement and value."""
        return [
            Obedience(
                way=way,
                requirement=required.name,
                value=value,
                tries=tries,
                obeyed=self._obeyed(required, number, way=way, tries=tries, note=note),
            )
            for required in self._specification.required
            for number, value in enumerate(required.values, start=1)
        ]

    def _obeyed(
        self, required: Requirement, number: int, *, way: Way, tries: int, note: Callable[[], None]
    ) -> int:
        """Return how many of the outputs have the value of a number that is asked for."""
        specification = self._specification
        value = required.values[number - 1]
        text = specification.request_text(required.grouping, value, way=way)
        wanted = ValueRequest(grouping=required.grouping, value=value, way=way, text=text)
        nouns = [
            word
            for name, condition in required.condition
            for word in specification.groupings[name].words(condition)
        ]
        prompts = self._prompts[required.name]
        obeyed = 0
        for attempt in range(tries):
            request = ModelRequest(prompts[attempt % len(prompts)])
            if specification.upstream.endpoint == "chat":
                request = ModelRequest(messages=({"role": "user", "content": request.prompt},))
            edited = ask_for(request, [wanted], nouns=nouns)
            output = self._ask(edited.request, self._seed + self.asked)
            if isinstance(output, str):
                output = edited.prefix + output
            obeyed += self._readers[required.grouping].read(output).label == number
            self.asked += 1
            note()
        return obeyed


@dataclass(frozen=True, kw_only=True)
class PromptExperiment:
    """The counts of values among outputs for one prompt and one grouping, and the judgement.

    Examples
    --------
    >>> PromptExperiment(prompt="a nurse", grouping="gender", outputs=20, counts=(12, 8),
    ...                  judged="neutral").judged
    'neutral'
    """

    prompt: str
    grouping: str
    outputs: int  # Outputs that were asked for.
    counts: tuple[int, ...]  # Those of each value; the others are unrelated.
    judged: Neutrality


def judge_prompts(
    specification: GenerativeSpecification,
    ask: AskModel,
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[PromptExperiment, ...]:
    """Ask for outputs to each prompt until two values came, or as often as is specified.

    Parameters
    ----------
    specification : GenerativeSpecification
        The prompts, the groupings, and how many outputs a prompt gets at most.
    ask : callable
        From a request and a seed to an output of the model.
    seed : int
        Of the first output of each prompt; each further one has the next.
    progress : callable, optional
        Called with what is done, how many prompts, and of how many.

    Returns
    -------
    tuple of PromptExperiment
        One for each prompt and grouping that outputs have.

    Raises
    ------
    ParameterError
        If the specification has no prompts.

    References
    ----------
    Cheng et al., Definition 6: a prompt is biased if all outputs it can have share one value.

    Examples
    --------
    >>> people = GenerativeSpecification.from_dict({
    ...     "groupings": {"gender": {"values": ["female", "male"]}},
    ...     "prompts": ["a nurse"]})
    >>> (found,) = judge_prompts(people, lambda request, seed: ("female", "male")[seed % 2])
    >>> found.judged, found.outputs
    ('neutral', 2)
    """
    wanted = specification.neutrality
    readers = readers_of(specification)
    prompts = specification.required_prompts()
    experiments = []
    for done, prompt in enumerate(prompts):
        outputs: list[Output] = []
        for grouping in specification.free_groupings:
            labels: list[int] = []
            judged: Neutrality = "undecided"
            while judged == "undecided" and len(labels) < wanted.samples:
                if len(labels) == len(outputs):
                    request = ModelRequest(prompt)
                    outputs.append(ask(request, seed + len(outputs)))
                labels.append(readers[grouping].read(outputs[len(labels)]).label)
                judged = judge_by_experiment(labels, error=wanted.error)
            number = len(specification.groupings[grouping].values)
            counts = tuple(labels.count(value) for value in range(1, number + 1))
            experiments.append(
                PromptExperiment(
                    prompt=prompt,
                    grouping=grouping,
                    outputs=len(labels),
                    counts=counts,
                    judged=judged,
                )
            )
        if progress is not None:
            progress("asking", done + 1, len(prompts))
    return tuple(experiments)


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

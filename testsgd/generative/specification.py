"""The specification of conditional fairness: what a user writes in TOML, checked and read exactly.

It names the concept groupings (what an output says of gender, say), the requirements (which values
of a grouping must come again and again, under which condition), how a prompt is recognised as
neutral, how a value is asked for, and how the model is reached.
"""

from __future__ import annotations

import hashlib
import json
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import BeforeValidator, Field, model_validator

from testsgd.data.schema_parts import (
    Count,
    Flag,
    Part,
    Positive,
    PositiveCount,
    Share,
    mistake,
    plain_number,
    repeated,
)
from testsgd.data.toml_document import ExactDocument
from testsgd.errors import ParameterError

Reads: TypeAlias = Literal["output", "prompt", "both"]
Several: TypeAlias = Literal["unrelated", "first"]
LookAhead: TypeAlias = Literal["corrected", "paper"]
Endpoint: TypeAlias = Literal["completions", "chat", "images"]
Way: TypeAlias = Literal[
    "sentence_after", "sentence_before", "system", "rewrite", "prefix", "logit_bias"
]
WAYS: tuple[Way, ...] = (
    "sentence_after",
    "sentence_before",
    "system",
    "rewrite",
    "prefix",
    "logit_bias",
)
"""The ways in which a value of a grouping can be asked for."""

# Without a template of the specification, a value is asked for by a sentence of this form.
_SENTENCE = "The {grouping} of the person must be {value}."
_SENTENCE_WAYS: tuple[Way, ...] = ("sentence_after", "sentence_before", "system")
_MOST_VALUES = 64


def plain_word(word: str) -> str:
    """Return a word as texts are compared with it: in lower case, with single blanks.

    Examples
    --------
    >>> plain_word(" Young  Lady")
    'young lady'
    """
    return " ".join(word.lower().split())


def _json_value(value: Any) -> Any:
    """Return a value of TOML as JSON knows it: decimals are floats, and there are no dates."""
    if isinstance(value, Mapping):
        return {key: _json_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(inner) for inner in value]
    if isinstance(value, Decimal):
        return float(value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise ValueError("a request has texts, numbers, booleans, lists and tables only")


# Whole numbers only: a beta of 6.5 outputs is a slip of the pen.
Beta = Annotated[int, Field(strict=True, ge=1, le=1_000_000), BeforeValidator(plain_number)]


def _check_template(
    key: str | tuple[str | int, ...], template: str, values: Mapping[str, str]
) -> None:
    """Raise a mistake if a template cannot be filled in."""
    try:
        template.format(**values)
    except (ValueError, LookupError, AttributeError) as error:
        what = f"the template cannot be filled in ({error})"
        raise mistake(key, what, "write names in braces, and {{ and }} for braces") from error


class QuestionPart(Part):
    """A question to a chat model that reads the value of a grouping from an output."""

    upstream: str = Field(min_length=1, description="address of the chat model, up to /v1")
    model: str = Field("", description="name of the chat model")
    prompt: str = Field(
        "Read the text between the lines of dashes. What does it say about {grouping}? "
        'Answer with JSON only: {{"value": one of {values}}}; use null if it does not say.'
        "\n---\n{output}\n---",
        description="the question; {output}, {grouping} and {values} are filled in",
    )
    timeout: Positive = Field(30.0, description="seconds to wait for an answer")

    @model_validator(mode="after")
    def _prompt_has_the_output(self) -> QuestionPart:
        """Check the template of the question."""
        try:
            fields = {name for _, name, _, _ in string.Formatter().parse(self.prompt)}
        except ValueError as error:
            raise mistake("prompt", f"the question is no template: {error}") from error
        if unknown := fields - {None, "output", "grouping", "values"}:
            raise mistake(
                "prompt",
                f"{{{min(map(str, unknown))}}} is not known",
                "use {output}, {grouping} and {values}; write {{ and }} for braces",
            )
        if "output" not in fields:
            raise mistake("prompt", "the question does not contain {output}", "add it")
        _check_template("prompt", self.prompt, dict.fromkeys(("output", "grouping", "values"), ""))
        return self


class GroupingPart(Part):
    """A concept grouping: the values that an output can have, and how they are recognised."""

    values: tuple[str, ...] = Field(description="the values, in their order; the first is number 1")
    reads: Reads = Field("output", description="which text has it: output, prompt or both")
    terms: dict[str, tuple[str, ...]] = Field(
        {}, description="words of each value; without words, the value's own name"
    )
    several: Several = Field(
        "unrelated", description="an output with several values: unrelated, or the first counts"
    )
    classify: str = Field("", description="package.module:function that labels an output")
    question: QuestionPart | None = Field(None, description="ask a chat model for the value")
    neutral_without: tuple[str, ...] = Field(
        (), description="further words that hint at a value, in a prompt that is not neutral"
    )
    ask: dict[Way, dict[str, str]] = Field(
        {}, description="for each way of asking, what is added for each value"
    )

    @model_validator(mode="after")
    def _values_are_distinct(self) -> GroupingPart:
        """Check that a grouping has enough different values, and that terms and texts name them."""
        if not 2 <= len(self.values) <= _MOST_VALUES:
            what = f"a grouping has 2 to {_MOST_VALUES} values (seen: {len(self.values)})"
            raise mistake("values", what)
        for index, value in enumerate(self.values):
            if not value.strip():
                raise mistake(("values", index), "a value needs a name")
        if (twice := repeated(list(self.values))) is not None:
            raise mistake("values", f"the value {twice!r} stands twice", "remove one of them")
        for name in self.terms:
            self._check_value(("terms", name), name)
        self._check_words()
        for way, templates in self.ask.items():
            for name in templates:
                self._check_value(("ask", way, name), name)
            if missing := [value for value in self.values if value not in templates]:
                what = f"nothing asks for {missing[0]!r}"
                raise mistake(("ask", way), what, "give a text for every value")
        if self.classify and self.question is not None:
            what = "a grouping is read by a function or by a question, not by both"
            raise mistake("question", what, "remove classify or question")
        return self

    def _check_value(self, key: tuple[str | int, ...], name: str) -> None:
        if name not in self.values:
            what = f"{name!r} is no value of this grouping"
            raise mistake(key, what, f"the values are {', '.join(self.values)}")

    def _check_words(self) -> None:
        """Raise a mistake if a word is empty, or is one of two values."""
        owners: dict[str, str] = {}
        for key, value, word in self._written_words():
            plain = plain_word(word)
            if not plain:
                raise mistake(key, "a word is empty", "remove it")
            owner = owners.setdefault(plain, value)
            if owner != value:
                what = f"the word {word!r} is one of {owner!r} too, as case does not matter"
                raise mistake(key, what, "remove it from one of them")
        for index, word in enumerate(self.neutral_without):
            if not plain_word(word):
                raise mistake(("neutral_without", index), "a word is empty", "remove it")

    def _written_words(self) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
        """Return each word of a value with the key at which it is written."""
        for number, value in enumerate(self.values):
            if self.terms.get(value):
                for index, word in enumerate(self.terms[value]):
                    yield ("terms", value, index), value, word
            else:
                yield ("values", number), value, value

    def words(self, value: str) -> tuple[str, ...]:
        """Return the words by which a value is recognised in a text."""
        return self.terms.get(value, ()) or (value,)


class RequirementPart(Part):
    """A grouping whose values must all come again and again, under a condition."""

    grouping: str = Field(description="the grouping")
    when: dict[str, str] = Field({}, description="condition: groupings with the value they have")
    each: str = Field("", description="a grouping: the same is required under each of its values")
    beta: Beta | None = Field(
        None, description="outputs within which every value must come, and come again"
    )
    betas: dict[str, Beta] = Field({}, description="the same, one number for each value")
    name: str = Field("", description="what reports call it")

    @model_validator(mode="after")
    def _betas_are_given_once(self) -> RequirementPart:
        if self.beta is not None and self.betas:
            raise mistake("betas", "beta and betas are given", "remove one of them")
        return self


class CoveragePart(Part):
    """Combinations of values that should all appear."""

    groupings: tuple[str, ...] = Field((), description="the groupings; all that no condition needs")
    strength: PositiveCount = Field(2, description="how many groupings a combination joins")
    when: dict[str, str] = Field({}, description="condition: groupings with the value they have")

    @model_validator(mode="after")
    def _groupings_can_be_joined(self) -> CoveragePart:
        if (twice := repeated(list(self.groupings))) is not None:
            raise mistake("groupings", f"the grouping {twice!r} stands twice", "remove one of them")
        if self.groupings and self.strength > len(self.groupings):
            what = f"{len(self.groupings)} groupings have no combinations of {self.strength}"
            raise mistake("strength", what, "name more groupings, or lower the strength")
        return self


class EnforcementPart(Part):
    """How deadlines are kept."""

    look_ahead: LookAhead = Field(
        "corrected", description="corrected, or paper for Algorithm 1 as printed"
    )
    way: Way = Field("sentence_after", description="how a value is asked for")
    obedience: Annotated[
        float, Field(strict=True, gt=0, le=1, allow_inf_nan=False), BeforeValidator(plain_number)
    ] = Field(1.0, description="probability that the model gives the value that was asked for")
    miss_probability: Share = Field(
        0.01, description="largest probability of missing a deadline, if obedience is below 1"
    )
    tries: Count = Field(2, description="how often an output is asked for again if it disobeys")
    overlapping: Flag = Field(
        True, description="requests may overlap; false saves a few injections if none ever do"
    )
    ticket_seconds: Positive = Field(
        120.0, description="seconds after which a ticket without an output is given back"
    )


class UpstreamPart(Part):
    """How the model is reached."""

    endpoint: Endpoint = Field("chat", description="completions, chat or images")
    model: str = Field("", description="name of the model")
    parameters: Annotated[dict[str, Any], BeforeValidator(_json_value)] = Field(
        {}, description="further keys of each request"
    )
    timeout: Positive = Field(120.0, description="seconds to wait for an answer")


class NeutralityPart(Part):
    """How prompts are recognised that give no hint of a value."""

    by: Literal["terms", "function", "question", "none"] = Field(
        "terms", description="by words of the grouping, a function, a chat model, or not at all"
    )
    function: str = Field(
        "", description="package.module:function of a prompt and a grouping: true if it is neutral"
    )
    question: QuestionPart | None = Field(
        None, description="asks a chat model for the value that a prompt hints at; null: none"
    )
    samples: PositiveCount = Field(60, description="outputs a prompt gets in the experiment")
    error: Share = Field(
        0.05, description="chance that all outputs agree although the prompt does not force it"
    )

    @model_validator(mode="after")
    def _has_what_it_judges_by(self) -> NeutralityPart:
        if self.by == "function" and not self.function:
            raise mistake("function", "no function is named", "add package.module:function")
        if self.by == "question" and self.question is None:
            raise mistake("question", "there is no question", "add [neutrality.question]")
        return self


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """A requirement with everything filled in.

    Examples
    --------
    >>> fair = Requirement(name="gender", grouping="gender", values=("female", "male"))
    >>> fair.betas, fair.values
    ((), ('female', 'male'))
    """

    name: str  # What reports call it; no two of a specification have the same.
    grouping: str  # The grouping whose values must come again and again.
    values: tuple[str, ...]  # Its values; number 1 is the first.
    condition: tuple[tuple[str, str], ...] = ()  # Groupings with the value they must have.
    betas: tuple[int, ...] = ()  # Outputs within which each value must come; empty: not asked.


def condition_text(condition: tuple[tuple[str, str], ...]) -> str:
    """Return a condition in words, beginning with a blank; empty without a condition.

    Examples
    --------
    >>> condition_text((("occupation", "nurse"), ("age", "old")))
    ' when occupation is nurse and age is old'
    """
    parts = [f"{name.replace('_', ' ')} is {value}" for name, value in condition]
    return f" when {' and '.join(parts)}" if parts else ""


class GenerativeSpecification(ExactDocument):
    """Conditional fairness of a generative model: groupings, requirements, and how it is asked.

    Attributes
    ----------
    name : str
    groupings : dict of str to GroupingPart
        Concept groupings by their names.
    requirements : tuple of RequirementPart
        As they are written; :attr:`required` has everything filled in.
    coverage, neutrality, enforcement, upstream
        The other tables of the TOML file.
    prompts : tuple of str
        What the model is asked; names of groupings in braces are replaced by their values.

    References
    ----------
    Cheng, Wu, Zhao, Bensalem and Ruess, Runtime Monitoring and Enforcement of Conditional Fairness
    in Generative AIs, Definitions 2 to 10.

    Examples
    --------
    >>> specification = GenerativeSpecification.from_dict({
    ...     "groupings": {
    ...         "gender": {"values": ["female", "male"]},
    ...         "occupation": {"values": ["nurse", "engineer"], "reads": "prompt"}},
    ...     "requirements": [
    ...         {"grouping": "gender", "when": {"occupation": "nurse"}, "beta": 6}]})
    >>> [(one.name, one.betas) for one in specification.required]
    [('gender when occupation is nurse', (6, 6))]
    """

    purpose: ClassVar[str] = "specifies conditional fairness"

    name: str = Field("outputs", min_length=1, description="what reports call it")
    groupings: dict[str, GroupingPart] = Field(description="concept groupings, one table each")
    requirements: tuple[RequirementPart, ...] = Field(
        (), description="what must hold, one table a requirement"
    )
    coverage: CoveragePart = Field(CoveragePart(), description="combinations of values")
    neutrality: NeutralityPart = Field(NeutralityPart(), description="which prompts are neutral")
    enforcement: EnforcementPart = Field(EnforcementPart(), description="how deadlines are kept")
    upstream: UpstreamPart = Field(UpstreamPart(), description="how the model is reached")
    prompts: tuple[str, ...] = Field((), description="what the model is asked")
    confidence: Share = Field(0.95, description="of the intervals of one requirement together")

    @model_validator(mode="after")
    def _parts_fit_each_other(self) -> GenerativeSpecification:
        """Check that requirements, coverage and prompts name groupings and values that exist."""
        if not self.groupings:
            raise mistake("groupings", "there is no grouping", "add a table [groupings.NAME]")
        for name in self.groupings:
            if not name.isidentifier():
                what = f"the name {name!r} of a grouping is not letters, digits and underscores"
                raise mistake(("groupings", name), what)
        for index, requirement in enumerate(self.requirements):
            key = ("requirements", index)
            self._check_grouping((*key, "grouping"), requirement.grouping)
            self._check_condition((*key, "when"), requirement.when)
            if requirement.each:
                self._check_grouping((*key, "each"), requirement.each)
            if requirement.each in requirement.when:
                what = f"the condition names {requirement.each!r} already"
                raise mistake((*key, "each"), what)
            what = "the condition names the grouping that must be fair"
            if requirement.grouping in requirement.when:
                raise mistake((*key, "when", requirement.grouping), what)
            if requirement.grouping == requirement.each:
                raise mistake((*key, "each"), what)
            values = self.groupings[requirement.grouping].values
            for name in requirement.betas:
                if name not in values:
                    what = f"{name!r} is no value of {requirement.grouping!r}"
                    remedy = f"the values are {', '.join(values)}"
                    raise mistake((*key, "betas", name), what, remedy)
            missing = [value for value in values if value not in requirement.betas]
            if requirement.betas and missing:
                raise mistake((*key, "betas"), f"there is no beta for {missing[0]!r}", "add it")
        names = [required.name for required in self.required]
        if (twice := repeated(names)) is not None:
            raise mistake("requirements", f"two requirements are {twice!r}", "give each a name")
        for position, name in enumerate(self.coverage.groupings):
            self._check_grouping(("coverage", "groupings", position), name)
        self._check_condition(("coverage", "when"), self.coverage.when)
        for position, prompt in enumerate(self.prompts):
            self._check_prompt(("prompts", position), prompt)
        return self

    def _check_grouping(self, key: tuple[str | int, ...], name: str) -> None:
        if name not in self.groupings:
            what = f"there is no grouping {name!r}"
            raise mistake(key, what, f"the groupings are {', '.join(self.groupings)}")

    def _check_condition(self, key: tuple[str | int, ...], condition: Mapping[str, str]) -> None:
        for name, value in condition.items():
            self._check_grouping((*key, name), name)
            values = self.groupings[name].values
            if value not in values:
                what = f"{value!r} is no value of {name!r}"
                raise mistake((*key, name), what, f"the values are {', '.join(values)}")

    def _check_prompt(self, key: tuple[str | int, ...], prompt: str) -> None:
        try:
            fields = [
                name for _, name, _, _ in string.Formatter().parse(prompt) if name is not None
            ]
        except ValueError as error:
            raise mistake(key, f"the prompt is no template: {error}") from error
        for name in fields:
            if name not in self.groupings:
                what = f"{{{name}}} is no grouping"
                raise mistake(key, what, "write {{ and }} for braces")
        _check_template(key, prompt, {name: self.groupings[name].values[0] for name in fields})

    @classmethod
    def of(cls, source: GenerativeSpecification | Mapping[str, Any] | str | Path) -> Self:
        """Return a specification: itself, of its keys, or of the TOML file that has them.

        Raises
        ------
        SpecificationError
            If it specifies no conditional fairness; names the key and the line.

        Examples
        --------
        >>> GenerativeSpecification.of({"groupings": {"sex": {"values": ["f", "m"]}}}).name
        'outputs'
        """
        if isinstance(source, cls):
            return source
        if isinstance(source, Mapping):
            return cls.from_dict(source)
        assert not isinstance(source, GenerativeSpecification)
        return cls.read(source)

    @property
    def required(self) -> tuple[Requirement, ...]:
        """The requirements with a name and all betas; without any, one for each free grouping."""
        if not self.requirements:
            return tuple(
                Requirement(
                    name=name.replace("_", " "), grouping=name, values=self.groupings[name].values
                )
                for name in self.free_groupings
            )
        return tuple(
            self._filled(part, condition)
            for part in self.requirements
            for condition in self._conditions(part)
        )

    def _conditions(self, part: RequirementPart) -> list[tuple[tuple[str, str], ...]]:
        """Return the conditions of a requirement, one for each value of ``each``."""
        given = tuple(part.when.items())
        if not part.each:
            return [given]
        return [(*given, (part.each, value)) for value in self.groupings[part.each].values]

    def _filled(self, part: RequirementPart, condition: tuple[tuple[str, str], ...]) -> Requirement:
        values = self.groupings[part.grouping].values
        betas: tuple[int, ...] = ()
        if part.beta is not None:
            betas = (part.beta,) * len(values)
        elif part.betas:
            betas = tuple(part.betas[value] for value in values)
        name = part.name or part.grouping.replace("_", " ")
        if not part.name or part.each:
            name += condition_text(condition)
        return Requirement(
            name=name, grouping=part.grouping, values=values, condition=condition, betas=betas
        )

    @property
    def free_groupings(self) -> tuple[str, ...]:
        """Groupings that no condition names and that outputs have, in their order."""
        conditions = {name for part in self.requirements for name in (*part.when, part.each)}
        conditions.update(self.coverage.when)
        return tuple(
            name
            for name, grouping in self.groupings.items()
            if name not in conditions and grouping.reads != "prompt"
        )

    @property
    def covered_groupings(self) -> tuple[str, ...]:
        """Groupings whose combinations are looked at."""
        return self.coverage.groupings or self.free_groupings

    def request_text(self, grouping: str, value: str, *, way: Way) -> str:
        """Return what asks for a value in a way; empty if the specification has no text for it.

        Examples
        --------
        >>> people = GenerativeSpecification.from_dict(
        ...     {"groupings": {"gender": {"values": ["female", "male"]}}})
        >>> people.request_text("gender", "female", way="sentence_after")
        'The gender of the person must be female.'
        """
        templates = self.groupings[grouping].ask.get(way, {})
        if value in templates:
            return templates[value]
        if way in _SENTENCE_WAYS:
            return _SENTENCE.format(grouping=grouping.replace("_", " "), value=value)
        return ""

    def filled_prompts(self) -> tuple[str, ...]:
        """Return the prompts, each once for every combination of the values that it names.

        Examples
        --------
        >>> people = GenerativeSpecification.from_dict({
        ...     "groupings": {"job": {"values": ["nurse", "engineer"], "reads": "prompt"}},
        ...     "prompts": ["The {job} was tired, so"]})
        >>> people.filled_prompts()
        ('The nurse was tired, so', 'The engineer was tired, so')
        """
        filled = []
        for prompt in self.prompts:
            variants: list[dict[str, str]] = [{}]
            for _, name, _, _ in string.Formatter().parse(prompt):
                if name is not None and name not in variants[0]:
                    values = self.groupings[name].values
                    variants = [{**known, name: value} for known in variants for value in values]
            filled += [prompt.format(**known) for known in variants]
        return tuple(filled)

    def required_prompts(self) -> tuple[str, ...]:
        """Return the prompts as :meth:`filled_prompts` does, of which there must be one at least.

        Raises
        ------
        ParameterError
            If there is none.
        """
        prompts = self.filled_prompts()
        if not prompts:
            raise ParameterError(
                "the specification has no prompts",
                where="prompts",
                remedy="add prompts = [...] to it",
            )
        return prompts

    def with_enforcement(self, **chosen: Any) -> GenerativeSpecification:
        """Return the specification with other values in its table ``enforcement``.

        Raises
        ------
        SpecificationError
            If a key is unknown, or a value is out of its range.

        Examples
        --------
        >>> people = GenerativeSpecification.from_dict(
        ...     {"groupings": {"gender": {"values": ["female", "male"]}}})
        >>> people.with_enforcement(obedience=0.9, way="system").enforcement.obedience
        0.9
        """
        values = self.to_dict()
        values["enforcement"] = {**values["enforcement"], **chosen}
        return self.from_dict(values, where="enforcement")

    def digest(self) -> str:
        """Return a sha256 of what is specified, in hexadecimal."""
        text = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

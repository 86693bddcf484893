"""The enforcer: it stands before a model and asks for a value before its deadline passes.

It is the one core that decides; whatever serves a model is a thin adapter on it. A request begins,
which gives a :class:`Ticket` with what to send to the model in its place; its output finishes it.
Between the two nothing is held but a slot in the sequence of each requirement that is concerned.
"""

from __future__ import annotations

import json
import random
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from testsgd.errors import ParameterError, StateError
from testsgd.generative.asking import EditedRequest, ModelRequest, ValueRequest, ask_for
from testsgd.generative.neutrality import PromptJudge
from testsgd.generative.readers import Classifier, Output, TermReader, readers_of
from testsgd.generative.schedules import Schedule
from testsgd.generative.sequence_state import (
    RETURNED,
    CountedOutput,
    SequenceState,
    Slot,
)
from testsgd.generative.specification import GenerativeSpecification, Requirement
from testsgd.generative.stores import Change, MemoryStore, Store, Written, open_store

_SEPARATOR = "\x1f"


@dataclass(frozen=True, kw_only=True)
class Ticket:
    """A request that has begun: what to send to the model, and what must be told back.

    Examples
    --------
    >>> ticket = Ticket(id="a7", tenant="", original=ModelRequest("Draw a nurse."),
    ...                 edited=EditedRequest(ModelRequest("Draw a nurse. He is a man.")))
    >>> ticket.prompt, ticket.is_changed, ticket.is_counted
    ('Draw a nurse. He is a man.', True, False)
    """

    id: str
    tenant: str
    original: ModelRequest  # What the client sent.
    edited: EditedRequest  # What the model gets.
    wanted: tuple[ValueRequest, ...] = ()  # The values that are asked for.
    requirements: tuple[str, ...] = ()  # The requirements whose sequence the output belongs to.
    tries: int = 1  # How often the model has been asked, this time included.

    @property
    def prompt(self) -> str:
        """The prompt that the model gets."""
        return self.edited.request.prompt

    @property
    def messages(self) -> tuple[Mapping[str, Any], ...]:
        """The messages of a chat that the model gets."""
        return self.edited.request.messages

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Further keys of the request."""
        return self.edited.request.parameters

    @property
    def prefix(self) -> str:
        """What the client gets before the model's output: the beginning that it was given."""
        return self.edited.prefix

    @property
    def is_changed(self) -> bool:
        """Whether the model gets something else than the client sent."""
        return self.edited.request != self.original

    @property
    def is_counted(self) -> bool:
        """Whether the output belongs to the sequence of a requirement."""
        return bool(self.requirements)


@dataclass(frozen=True, kw_only=True)
class Finished:
    """What became of an output.

    Examples
    --------
    >>> Finished(labels={"gender": 2}).is_delivered
    True
    """

    labels: Mapping[str, int]  # The value of each grouping that is concerned; 0: unrelated.
    again: Ticket | None = None  # Ask the model with this one; the output is not delivered.
    missed: tuple[tuple[str, str], ...] = ()  # Requirements and values whose deadline passed.

    @property
    def is_delivered(self) -> bool:
        """Whether the output is for the client."""
        return self.again is None


@dataclass(frozen=True, kw_only=True)
class SequenceStatus:
    """Where the sequence of one requirement stands for one tenant."""

    tenant: str
    requirement: Requirement
    state: SequenceState


class Enforcer:
    """Keeps the deadlines of a specification's requirements, by asking a model for values.

    Parameters
    ----------
    specification : GenerativeSpecification, mapping, str or path-like
        The groupings and requirements; those without betas are not enforced.
    state : path-like, URL or Store, optional
        Where the state is kept: a SQLite file, or the URL of a Redis or PostgreSQL server; by
        default in memory.
    classify : mapping of str to callable, optional
        For a grouping a function from an output to the name or number of its value, or None.
    random_state : int, optional
        Seed of the choice among values that are equally urgent.
    clock : callable, optional
        The present moment in seconds; that of the system, if it is left out.

    Raises
    ------
    SpecificationError, ParameterError
        If the specification is wrong, or no schedule meets the betas of a requirement.
    StateError
        If the state cannot be read, or is that of another specification.

    Notes
    -----
    The guarantee: if the model gives a value whenever it is asked, and every request that began
    gets an output, no deadline is missed, in whatever order the outputs come. The sequence is in
    the order in which requests began. If the model disobeys, an output is asked for again as often
    as the specification says, and then delivered; a deadline that passes is counted as missed.

    An enforcer may be used by several threads; several processes may share a state.

    References
    ----------
    Cheng, Wu, Zhao, Bensalem and Ruess, Runtime Monitoring and Enforcement of Conditional Fairness
    in Generative AIs, Algorithm 1.

    Examples
    --------
    >>> enforcer = Enforcer({
    ...     "groupings": {"gender": {"values": ["female", "male"],
    ...                              "terms": {"female": ["she"], "male": ["he"]}}},
    ...     "requirements": [{"grouping": "gender", "beta": 3}]})
    >>> for _ in range(2):
    ...     ticket = enforcer.begin("The nurse was tired, so")
    ...     finished = enforcer.finish(ticket, "she slept.")
    >>> enforcer.begin("The nurse was tired, so").prompt
    'The nurse was tired, so The gender of the person must be male.'
    """

    def __init__(
        self,
        specification: GenerativeSpecification | Mapping[str, Any] | str | Path,
        *,
        state: str | Path | Store | None = None,
        classify: Mapping[str, Classifier] | None = None,
        random_state: int | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.specification = GenerativeSpecification.of(specification)
        self._requirements = {
            required.name: required for required in self.specification.required if required.betas
        }
        enforcement = self.specification.enforcement
        self._schedules = {
            name: Schedule(
                required.betas,
                look_ahead=enforcement.look_ahead,
                obedience=enforcement.obedience,
                tries=enforcement.tries,
                miss_probability=enforcement.miss_probability,
                where=f"requirement {name!r}",
            )
            for name, required in self._requirements.items()
        }
        self._readers = readers_of(self.specification, classify)
        self._judge = PromptJudge(self.specification)
        self._random = random.Random(random_state)
        self._clock = clock
        self.store = open_store(state)

    def begin(
        self, request: str | ModelRequest, *, tenant: str = "", ticket: str | None = None
    ) -> Ticket:
        """Begin a request: return what to send to the model in its place.

        Parameters
        ----------
        request : str or ModelRequest
            A prompt, or a chat.
        tenant : str
            Whose sequence it belongs to.
        ticket : str, optional
            A name for it, by which it can be finished; no two may be the same.

        Returns
        -------
        Ticket

        Raises
        ------
        ParameterError
            If a ticket of that name is open already.
        StateError
            If the state cannot be read or written.
        """
        original = ModelRequest(request) if isinstance(request, str) else request
        name = ticket or uuid.uuid4().hex
        concerned = self._concerned(original.text)
        asked = self._reserve(name, tenant, concerned)
        wanted = tuple(self._value_request(required, value) for required, value in asked)
        return Ticket(
            id=name,
            tenant=tenant,
            original=original,
            edited=ask_for(original, wanted, nouns=self._nouns(concerned)),
            wanted=wanted,
            requirements=tuple(required.name for required in concerned),
        )

    def finish(self, ticket: Ticket, output: Output | None) -> Finished:
        """Take the output of a request; return whether it is delivered, or asked for again.

        Parameters
        ----------
        ticket : Ticket
            What :meth:`begin` gave, or ``again`` of what this method returned.
        output : str, bytes or None
            What the model wrote, without the prefix of the ticket, or a picture. None if there is
            nothing to read, such as a call of a tool: it is unrelated, and not asked for again.

        Returns
        -------
        Finished

        Raises
        ------
        ModelError
            If the classifier of a grouping fails. Nothing is counted, and the ticket is open.
        StateError
            If the state cannot be written.
        """
        if not ticket.is_counted:
            return Finished(labels={})
        if output is None:
            groupings = {self._requirements[name].grouping for name in ticket.requirements}
            unread = dict.fromkeys(groupings, 0)
            return Finished(labels=unread, missed=self._settle(ticket, unread))
        if isinstance(output, str):
            output = ticket.prefix + output
        labels = self.labels(ticket, output)
        if ticket.tries <= self.specification.enforcement.tries and self._disobeys(ticket, labels):
            self._change(ticket, lambda state: state.with_retry(ticket.id))
            return Finished(labels=labels, again=replace(ticket, tries=ticket.tries + 1))
        missed = self._settle(ticket, labels)
        return Finished(labels=labels, missed=missed)

    def give_back(self, ticket: Ticket) -> None:
        """End a request without an output: the sequences are as if it had not begun.

        Requests that began in the meantime have counted on the value that it was asked for, so a
        deadline of that value may then be missed.
        """
        groupings = {self._requirements[name].grouping for name in ticket.requirements}
        self._settle(ticket, dict.fromkeys(groupings, RETURNED))

    def _settle(self, ticket: Ticket, labels: Mapping[str, int]) -> tuple[tuple[str, str], ...]:
        """Note the labels of an output; return the requirements and values that were missed."""
        sequences = self._sequences(ticket)
        answers = self.store.update(
            [
                Change(
                    sequence.key,
                    _Labelled(
                        sequence=sequence,
                        ticket=ticket.id,
                        label=labels[sequence.required.grouping],
                    ),
                )
                for sequence in sequences
            ]
        )
        return tuple(
            (sequence.required.name, sequence.required.values[number - 1])
            for sequence, outputs in zip(sequences, answers, strict=True)
            for counted in outputs
            for number in counted.missed
        )

    def _change(self, ticket: Ticket, change: Callable[[SequenceState], SequenceState]) -> None:
        self.store.update(
            [
                Change(sequence.key, _Changed(sequence=sequence, change=change))
                for sequence in self._sequences(ticket)
            ]
        )

    def _sequences(self, ticket: Ticket) -> list[_Sequence]:
        return [
            _Sequence(required=self._requirements[name], tenant=ticket.tenant)
            for name in ticket.requirements
        ]

    def labels(self, ticket: Ticket, output: Output) -> dict[str, int]:
        """Return the value of an output for each grouping that its ticket is concerned with."""
        groupings = {self._requirements[name].grouping for name in ticket.requirements}
        return {grouping: self._readers[grouping].read(output).label for grouping in groupings}

    def wrap(self, client: Any, *, tenant: str = "") -> Any:
        """Return a client of the package openai whose calls go through this enforcer.

        See Also
        --------
        testsgd.generative.openai_client.wrap : What it does, and what it leaves alone.
        """
        from testsgd.generative.openai_client import wrap

        return wrap(client, self, tenant=tenant)

    @property
    def waits(self) -> bool:
        """Whether a request may have to wait: for a disc, a server, or a function of the user."""
        return not isinstance(self.store, MemoryStore) or not all(
            isinstance(reader, TermReader) for reader in self._readers.values()
        )

    def prepare(self) -> None:
        """Load what the first request would load, so that it need not wait for it."""
        for name, reader in self._readers.items():
            self._judge.is_neutral("", name)
            if isinstance(reader, TermReader):
                reader.read("")

    def status(self) -> tuple[SequenceStatus, ...]:
        """Return where every sequence stands, one for each tenant and requirement."""
        found = []
        for key, text in sorted(self.store.read().items()):
            tenant, _, name = key.partition(_SEPARATOR)
            required = self._requirements.get(name)
            if required is not None:
                state = SequenceState.from_text(text)
                found.append(SequenceStatus(tenant=tenant, requirement=required, state=state))
        return tuple(found)

    def journal(self) -> Iterator[str]:
        """Return a line of JSON for each output that was counted, in the order of the counting.

        Together the lines of one requirement and tenant are a log that can be assessed.
        """
        for lines in self.store.journal():
            yield from lines.splitlines()

    def close(self) -> None:
        """Close the state; the enforcer cannot be used any more."""
        self.store.close()

    def _concerned(self, prompt: str) -> tuple[Requirement, ...]:
        """Return the requirements that the output of a prompt belongs to.

        The prompt fulfils the condition, and is neutral (Algorithm 1, line 4).
        """
        return tuple(
            required
            for required in self._requirements.values()
            if self._fulfils(prompt, required) and self._judge.is_neutral(prompt, required.grouping)
        )

    def _fulfils(self, prompt: str, required: Requirement) -> bool:
        for name, value in required.condition:
            values = self.specification.groupings[name].values
            if self._readers[name].read(prompt).label != values.index(value) + 1:
                return False
        return True

    def _reserve(
        self, ticket: str, tenant: str, concerned: Sequence[Requirement]
    ) -> list[tuple[Requirement, int]]:
        """Reserve a slot in each sequence; return the value to ask for, one a grouping."""
        if not concerned:
            return []
        enforcement = self.specification.enforcement
        sequences = [_Sequence(required=required, tenant=tenant) for required in concerned]
        changes = [
            Change(
                sequence.key,
                _Begun(
                    sequence=sequence,
                    ticket=ticket,
                    now=self._clock(),
                    seconds=enforcement.ticket_seconds,
                    schedule=self._schedules[sequence.required.name],
                    overlapping=enforcement.overlapping,
                    seed=self._random.randrange(2**31),
                ),
            )
            for sequence in sequences
        ]
        answers = self.store.update(changes)
        # Of each grouping the most urgent value, with the requirement that needs it.
        chosen: dict[str, tuple[int, Requirement, int]] = {}
        for sequence, (value, urgency) in zip(sequences, answers, strict=True):
            grouping = sequence.required.grouping
            if value and (grouping not in chosen or urgency < chosen[grouping][0]):
                chosen[grouping] = (urgency, sequence.required, value)
        corrections = [
            Change(
                sequence.key,
                _Changed(
                    sequence=sequence,
                    change=partial(_with_asked, ticket=ticket, value=wanted),
                ),
            )
            for sequence, (value, _) in zip(sequences, answers, strict=True)
            if value != (wanted := chosen.get(sequence.required.grouping, (0, None, 0))[2])
        ]
        if corrections:
            # An output has one value: all sequences of its grouping count on that, and no other.
            self.store.update(corrections)
        return [(required, value) for _, required, value in chosen.values()]

    def _value_request(self, required: Requirement, number: int) -> ValueRequest:
        value = required.values[number - 1]
        way = self.specification.enforcement.way
        text = self.specification.request_text(required.grouping, value, way=way)
        if not text:
            way = "sentence_after"
            text = self.specification.request_text(required.grouping, value, way=way)
        return ValueRequest(grouping=required.grouping, value=value, way=way, text=text)

    def _nouns(self, concerned: Sequence[Requirement]) -> list[str]:
        """Return the words of the conditions, before which a word can be put."""
        return [
            word
            for required in concerned
            for name, value in required.condition
            for word in self.specification.groupings[name].words(value)
        ]

    def _disobeys(self, ticket: Ticket, labels: Mapping[str, int]) -> bool:
        for one in ticket.wanted:
            values = self.specification.groupings[one.grouping].values
            if labels[one.grouping] != values.index(one.value) + 1:
                return True
        return False


@dataclass(frozen=True, kw_only=True)
class _Sequence:
    """The sequence that a change is about, and how what is counted is written down."""

    required: Requirement
    tenant: str

    @property
    def key(self) -> str:
        """The key of its state."""
        return f"{self.tenant}{_SEPARATOR}{self.required.name}"

    def read(self, text: str | None) -> SequenceState:
        """Return the state that a text describes; the start without a text."""
        betas = self.required.betas
        if text is None:
            return SequenceState.start(betas)
        state = SequenceState.from_text(text)
        if state.betas != betas:
            raise StateError(
                f"the state was begun with the betas {state.betas}, not {betas}",
                where=self.required.name,
                remedy="go on with the specification it was begun with, or choose another state",
            )
        return state

    def lines(self, outputs: Sequence[CountedOutput]) -> str | None:
        """Return the lines of the journal about outputs, which can be assessed as a log."""
        lines = [
            json.dumps(self._record(output), ensure_ascii=True)
            for output in outputs
            if output.slot.label != RETURNED
        ]
        return "\n".join(lines) or None

    def _record(self, output: CountedOutput) -> dict[str, Any]:
        slot = output.slot
        grouping = self.required.grouping
        return {
            "tenant": self.tenant,
            "requirement": self.required.name,
            "ticket": slot.ticket,
            **dict(self.required.condition),
            grouping: self._value(slot.label),
            "asked": {grouping: self._value(slot.asked)} if slot.asked else None,
            "tries": slot.tries,
            "missed": [self._value(number) for number in output.missed],
        }

    def _value(self, number: int) -> str | None:
        return self.required.values[number - 1] if number > 0 else None


@dataclass(frozen=True, kw_only=True)
class _Begun:
    """Decide for a request and reserve its slot."""

    sequence: _Sequence
    ticket: str
    now: float
    seconds: float
    schedule: Schedule
    overlapping: bool
    seed: int

    def __call__(self, text: str | None) -> Written:
        state = self.sequence.read(text).with_expired(self.now, seconds=self.seconds)
        if state.slot(self.ticket) is not None:
            raise ParameterError(
                f"the ticket {self.ticket!r} is open already",
                where="ticket",
                remedy="give each request a ticket of its own",
            )
        state, outputs = state.counted()
        counters = state.pending_counters()
        index = self.schedule.decide(
            counters,
            shares=_shares(state),
            wasted=self.overlapping,
            random=random.Random(self.seed),
        )
        value = 0 if index is None else index + 1
        urgency = 0 if index is None else counters[index]
        state = state.with_slot(Slot(self.ticket, begun=self.now, asked=value))
        lines = self.sequence.lines(outputs)
        return Written(text=state.to_text(), line=lines, answer=(value, urgency))


@dataclass(frozen=True, kw_only=True)
class _Changed:
    """Note something about a slot that counts nothing."""

    sequence: _Sequence
    change: Callable[[SequenceState], SequenceState]

    def __call__(self, text: str | None) -> Written:
        state = self.change(self.sequence.read(text))
        return Written(text=state.to_text(), line=None, answer=None)


@dataclass(frozen=True, kw_only=True)
class _Labelled:
    """Note the output of a request, and count what can be counted."""

    sequence: _Sequence
    ticket: str
    label: int

    def __call__(self, text: str | None) -> Written:
        state = self.sequence.read(text).with_label(self.ticket, self.label)
        state, outputs = state.counted()
        lines = self.sequence.lines(outputs)
        return Written(text=state.to_text(), line=lines, answer=outputs)


def _with_asked(state: SequenceState, *, ticket: str, value: int) -> SequenceState:
    return state.with_asked(ticket, value)


def _shares(state: SequenceState) -> tuple[float, ...]:
    """Return the model's own shares, each value counted once more so that none is zero."""
    counts = state.natural_counts()
    total = sum(counts) + len(counts)
    return tuple((count + 1) / total for count in counts)

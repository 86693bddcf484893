"""The enforcer: it stands before a model and asks for a value before its deadline passes.

It is the one core that decides; whatever serves a model is a thin adapter on it. A request begins,
which gives a :class:`Ticket` with what to send to the model in its place; its output finishes it.
Between the two nothing is held but a slot in the sequence of each requirement that is concerned.
"""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from testsgd.errors import ModelError, ParameterError, StateError
from testsgd.generative.asking import ModelRequest, ValueRequest, ask_for
from testsgd.generative.neutrality import PromptJudge
from testsgd.generative.openai_client import wrap
from testsgd.generative.readers import Classifier, Output, TermReader, readers_of
from testsgd.generative.schedules import Schedule
from testsgd.generative.sequence_changes import (
    SEPARATOR,
    SlotChanged,
    SlotLabelled,
    SlotReserved,
    SlotsExpired,
    TenantSequence,
)
from testsgd.generative.sequence_state import RETURNED, SequenceState
from testsgd.generative.specification import GenerativeSpecification, Requirement
from testsgd.generative.stores import Change, Store, open_store
from testsgd.generative.tickets import Finished, Ticket
from testsgd.generative.waiting import WaitingOutputs, waiting_outputs
from testsgd.io import loads_json


@dataclass(frozen=True, kw_only=True)
class SequenceStatus:
    """The state of the sequence of one requirement for one tenant.

    ``tenant`` is the name under which outputs are counted, empty without tenants; ``state`` has the
    counters, the open tickets and the counts of outputs.

    Examples
    --------
    >>> enforcer = Enforcer({
    ...     "groupings": {"gender": {"values": ["female", "male"],
    ...                              "terms": {"female": ["she"], "male": ["he"]}}},
    ...     "requirements": [{"grouping": "gender", "beta": 3}]})
    >>> finished = enforcer.finish(enforcer.begin("The nurse was tired, so"), "she slept.")
    >>> [(status.requirement.grouping, status.state.outputs) for status in enforcer.status()]
    [('gender', 1)]
    """

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
    fsync : bool
        Whether what is counted is on the disc before :meth:`finish` returns, if the state is a
        file; otherwise it is within about a second.
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
        If the state cannot be opened.

    Notes
    -----
    A state of other values or betas, or of values in another order, is refused with a StateError:
    by :meth:`begin` and :meth:`finish` for the sequences of their tenant, by :meth:`prepare` and
    :meth:`status` for those of all tenants. Making an enforcer reads no sequence, as there may be
    many.

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
        fsync: bool = False,
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
                overlapping=enforcement.overlapping,
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
        self.store = open_store(state, fsync=fsync)

    def begin(
        self, request: str | ModelRequest, *, tenant: str = "", ticket: str | None = None
    ) -> Ticket:
        """Begin a request: return what to send to the model in its place.

        Parameters
        ----------
        request : str or ModelRequest
            A prompt, or a chat. A chat counts only if all of its messages are neutral; which
            conditions it fulfils is read from the last message of the user.
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
            If the request is neither a text nor a ModelRequest, or a ticket of that name is open
            already.
        StateError
            If the state cannot be read or written, or is that of another specification.
        """
        original = ModelRequest(request) if isinstance(request, str) else request
        if not isinstance(original, ModelRequest) or not isinstance(original.prompt, str):
            raise ParameterError(
                f"{request!r} is neither a text nor a ModelRequest",
                where="request",
                remedy="give the prompt as a text, or ModelRequest(messages=...) of a chat",
            )
        name = ticket or uuid.uuid4().hex
        concerned, not_neutral = self._concerned(original)
        asked = self._reserve(name, tenant, concerned)
        wanted = tuple(self._value_request(required, value) for required, value in asked)
        return Ticket(
            id=name,
            tenant=tenant,
            original=original,
            edited=ask_for(original, wanted, nouns=self._nouns(concerned)),
            wanted=wanted,
            requirements=tuple(required.name for required in concerned),
            not_neutral=tuple(required.name for required in not_neutral),
        )

    def finish(self, ticket: Ticket, output: Output | None) -> Finished:
        """Count the output of a request; return whether it is delivered, or asked for again.

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

    def finish_cut_off(self, ticket: Ticket, output: str | None) -> Finished:
        """Count what a client got of an output that was cut off, if it has a value already.

        A value that was delivered is counted, whatever came of the rest. A sequence of whose
        grouping there is no value yet is as if the request had not begun, as by :meth:`give_back`:
        what it was asked for is still to come.

        Parameters
        ----------
        ticket : Ticket
            What :meth:`begin` gave.
        output : str or None
            What the client got, without the prefix of the ticket; None if it got nothing, not even
            the prefix.

        Returns
        -------
        Finished
            The output is never asked for again.

        Raises
        ------
        ModelError
            If the classifier of a grouping fails. The ticket is given back.
        StateError
            If the state cannot be written.

        Examples
        --------
        >>> enforcer = Enforcer({
        ...     "groupings": {"gender": {"values": ["female", "male"],
        ...                              "terms": {"female": ["she"], "male": ["he"]}}},
        ...     "requirements": [{"grouping": "gender", "beta": 3}]})
        >>> for beginning in ("The nurse", "The nurse said that she"):
        ...     ticket = enforcer.begin("Go on with the story.")
        ...     finished = enforcer.finish_cut_off(ticket, beginning)
        >>> [(status.state.returned, status.state.counts) for status in enforcer.status()]
        [(1, (1, 0))]
        """
        if output is None:
            self.give_back(ticket)
            return Finished(labels={})
        try:
            labels = self.labels(ticket, ticket.prefix + output)
        except ModelError:
            self.give_back(ticket)
            raise
        counted = {grouping: label or RETURNED for grouping, label in labels.items()}
        return Finished(labels=labels, missed=self._settle(ticket, counted))

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
                    SlotLabelled(
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
                Change(sequence.key, SlotChanged(sequence=sequence, change=change))
                for sequence in self._sequences(ticket)
            ]
        )

    def _sequences(self, ticket: Ticket) -> list[TenantSequence]:
        return [
            TenantSequence(required=self._requirements[name], tenant=ticket.tenant)
            for name in ticket.requirements
        ]

    def last_try(self, ticket: Ticket) -> Ticket:
        """Return the ticket with which any output is delivered and counted, without another try.

        An adapter that cannot ask again finishes with this one, such as one that streams.
        """
        return replace(ticket, tries=self.specification.enforcement.tries + 1)

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
        return wrap(client, self, tenant=tenant)

    @property
    def waits(self) -> bool:
        """Whether a request may have to wait: for a disc, a server, or a function of the user."""
        return self.store.waits or not all(
            isinstance(reader, TermReader) for reader in self._readers.values()
        )

    def prepare(self) -> None:
        """Load what the first request would load, and check the state of all tenants.

        What serves a model calls it at its start.

        Raises
        ------
        StateError
            If the state cannot be read, or is that of another specification.
        """
        self.status()
        for name, reader in self._readers.items():
            self._judge.is_neutral("", name)
            if isinstance(reader, TermReader):
                reader.read("")

    def status(self) -> tuple[SequenceStatus, ...]:
        """Return the state of every sequence, one for each tenant and requirement.

        Raises
        ------
        StateError
            If the state cannot be read, or was begun with other values or betas than the
            specification has.
        """
        return tuple(
            SequenceStatus(
                tenant=sequence.tenant, requirement=sequence.required, state=sequence.read(text)
            )
            for sequence, text in self._stored()
        )

    def _stored(self) -> list[tuple[TenantSequence, str]]:
        """Return the sequences of the specification's requirements with the texts kept of them."""
        stored = []
        for key, text in sorted(self.store.read().items()):
            tenant, _, name = key.partition(SEPARATOR)
            required = self._requirements.get(name)
            if required is not None:
                stored.append((TenantSequence(required=required, tenant=tenant), text))
        return stored

    def journal(self) -> Iterator[str]:
        """Return a line of JSON for each output that was counted, in the order of the counting.

        Together the lines of one requirement and tenant are a log that can be assessed. Tickets
        that have expired are given back first, as by the next request, so that no output waits
        behind them; which still wait says :meth:`waiting`.

        Raises
        ------
        StateError
            If the state holds something else, as of a file that is damaged, or cannot be written.
        """
        self._give_back_expired()
        for lines in self.store.journal():
            if not isinstance(lines, str):
                raise _no_journal()
            for line in lines.splitlines():
                _check_counted(line)
                yield line

    def waiting(
        self, *, requirement: str | None = None, tenant: str | None = None
    ) -> WaitingOutputs | None:
        """Return how many outputs wait behind unfinished tickets, and are not in the journal yet.

        Parameters
        ----------
        requirement, tenant : str, optional
            Of which sequences; of all, if they are left out.

        Returns
        -------
        WaitingOutputs or None
            None if no output waits.

        Raises
        ------
        StateError
            If the state cannot be read.

        Examples
        --------
        >>> enforcer = Enforcer({
        ...     "groupings": {"gender": {"values": ["female", "male"],
        ...                              "terms": {"female": ["she"], "male": ["he"]}}},
        ...     "requirements": [{"grouping": "gender", "beta": 3}]}, clock=lambda: 1000.0)
        >>> unfinished = enforcer.begin("The nurse was tired, so")
        >>> finished = enforcer.finish(enforcer.begin("The nurse was tired, so"), "she slept.")
        >>> list(enforcer.journal()), enforcer.waiting()
        ([], WaitingOutputs(outputs=1, tickets=1, expires=1120.0))
        """
        # Which outputs wait can be read whatever the values and betas are.
        states = [
            SequenceState.from_text(text)
            for sequence, text in self._stored()
            if requirement in (None, sequence.required.name) and tenant in (None, sequence.tenant)
        ]
        return waiting_outputs(states, seconds=self.specification.enforcement.ticket_seconds)

    def _give_back_expired(self) -> None:
        """Count what waits behind tickets that have expired; write nothing if none has."""
        moment = self._clock()
        seconds = self.specification.enforcement.ticket_seconds
        changes = []
        for sequence, text in self._stored():
            state = SequenceState.from_text(text)
            # The state of another specification is only read.
            if sequence.is_of(state) and state.with_expired(moment, seconds=seconds) is not state:
                expired = SlotsExpired(sequence=sequence, time=moment, seconds=seconds)
                changes.append(Change(sequence.key, expired))
        if changes:
            self.store.update(changes)

    def close(self) -> None:
        """Close the state; the enforcer cannot be used any more."""
        self.store.close()

    def _concerned(
        self, request: ModelRequest
    ) -> tuple[tuple[Requirement, ...], tuple[Requirement, ...]]:
        """Return the requirements that the output of a request belongs to, and would but for words.

        The prompt fulfils the condition, and is neutral (Algorithm 1, line 4). Every message of a
        chat steers what the model writes, its own earlier answers too, so all must be neutral. For
        the second requirements it is not.
        """
        prompt = request.text
        whole = request.whole_text
        fulfilled = [one for one in self._requirements.values() if self._fulfils(prompt, one)]
        neutral = [self._judge.is_neutral(whole, required.grouping) for required in fulfilled]
        judged = list(zip(fulfilled, neutral, strict=True))
        return (
            tuple(required for required, is_neutral in judged if is_neutral),
            tuple(required for required, is_neutral in judged if not is_neutral),
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
        sequences = [TenantSequence(required=required, tenant=tenant) for required in concerned]
        changes = [
            Change(
                sequence.key,
                SlotReserved(
                    sequence=sequence,
                    ticket=ticket,
                    time=self._clock(),
                    seconds=enforcement.ticket_seconds,
                    schedule=self._schedules[sequence.required.name],
                    seed=self._random.randrange(2**31),
                ),
                # With the power the request is gone, too, and its slot would only be awaited.
                durable=False,
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
                SlotChanged(
                    sequence=sequence,
                    change=partial(_with_asked, ticket=ticket, value=wanted),
                ),
                durable=False,
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


def _with_asked(state: SequenceState, *, ticket: str, value: int) -> SequenceState:
    return state.with_asked(ticket, value)


def _check_counted(line: str) -> None:
    """Raise if a line of a journal is not that of an output that was counted."""
    try:
        record = loads_json(line)
    except ValueError as error:
        raise _no_journal() from error
    named = isinstance(record, dict) and (record.get("requirement"), record.get("tenant"))
    if not named or not all(isinstance(name, str) for name in named):
        raise _no_journal()


def _no_journal() -> StateError:
    return StateError(
        "the journal holds something else than outputs that were counted",
        where="state",
        remedy="give a state that is whole",
    )

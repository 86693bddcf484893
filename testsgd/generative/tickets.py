"""Tickets: what an enforcer gives for a request, and what it makes of the output.

Adapters for clients and gateways need no more of an enforcer than :class:`Enforcing`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from testsgd.generative.asking import EditedRequest, ModelRequest, ValueRequest
from testsgd.generative.readers import Output


@dataclass(frozen=True, kw_only=True)
class Ticket:
    """A request that has begun: what to send to the model, and whose output to wait for.

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
    # Those whose condition it fulfils, but for which a word of a value keeps it from counting.
    not_neutral: tuple[str, ...] = ()
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


class Enforcing(Protocol):
    """What an adapter needs of an enforcer."""

    def begin(
        self, request: str | ModelRequest, *, tenant: str = "", ticket: str | None = None
    ) -> Ticket:
        """Begin a request: return what to send to the model in its place."""

    def finish(self, ticket: Ticket, output: Output | None) -> Finished:
        """Take the output of a request; return whether it is delivered, or asked for again."""

    def finish_cut_off(self, ticket: Ticket, output: str | None) -> Finished:
        """Take what a client got of an output that was cut off, None if it got nothing."""

    def give_back(self, ticket: Ticket) -> None:
        """End a request without an output."""

    def last_try(self, ticket: Ticket) -> Ticket:
        """Return the ticket with which any output is delivered, without another try."""

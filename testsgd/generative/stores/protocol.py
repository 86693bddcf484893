"""What every store of states can do: change some texts and a journal, together or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Written:
    """What a change makes of a text.

    Examples
    --------
    >>> Written(text="1", line=None, answer=True).text
    '1'
    """

    text: str | None  # The new text; None: it stays as it is.
    line: str | None  # What is added to the journal, one or several lines; None: nothing.
    answer: Any  # What the one who asked for the change gets.


@dataclass(frozen=True)
class Change:
    """A change of the text of one key.

    `apply` gets the text, None if there is none. It may be called more than once, so it must not do
    anything but compute.

    Examples
    --------
    >>> Change("tenant", lambda text: Written(text="1", line=None, answer=None)).key
    'tenant'
    """

    key: str
    apply: Callable[[str | None], Written]


class Store(Protocol):
    """Texts by keys, and a journal."""

    def update(self, changes: Sequence[Change]) -> list[Any]:
        """Apply changes in their order, all or none, and return the answer of each.

        When it returns, they are kept as safely as the store promises. If a change raises an
        exception, none is kept, and the exception is passed on.
        """

    def read(self) -> dict[str, str]:
        """Return every key with its text."""

    def journal(self) -> Iterator[str]:
        """Return the lines of the journal in their order."""

    def close(self) -> None:
        """End the use of the store."""

"""What a store does: changes of texts that are made together or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from testsgd.errors import ParameterError


@dataclass(frozen=True)
class Written:
    """What a change makes of a text.

    Attributes
    ----------
    text : str or None
        The new text; None leaves it as it is.
    line : str or None
        A line for the journal, added in the same transaction.
    answer : Any
        What :meth:`Store.update` returns for the change.

    Examples
    --------
    >>> Written("5", line="+1", answer=5).text
    '5'
    """

    text: str | None = None
    line: str | None = None
    answer: Any = None


@dataclass(frozen=True)
class Change:
    """A change of the text of one key.

    Attributes
    ----------
    key : str
        Whose text it is.
    apply : callable
        Takes the text, None if there is none yet, and returns what becomes of it. It must have no
        effects, because a store calls it again where others changed the text meanwhile; and it
        must not use the store.
    durable : bool
        Whether it has to outlive a loss of power. A store that waits for its disc need not do so
        for an update without any such change; the next one that is durable makes it so, too.

    Examples
    --------
    >>> Change("a", lambda text: Written(text="1", answer=text)).apply(None)
    Written(text='1', line=None, answer=None)
    """

    key: str
    apply: Callable[[str | None], Written]
    durable: bool = True


@runtime_checkable
class Store(Protocol):
    """Keeps one small text a key, and a journal of lines.

    Texts, keys and lines are any text without the character NUL. All methods may be called from
    several threads. A store is opened in the process that uses it: not before a fork.

    Attributes
    ----------
    waits : bool
        Whether an update waits for a disc or a server, so that a loop of events should leave it to
        a thread.

    Examples
    --------
    >>> from testsgd.generative.stores import Change, MemoryStore, Store, Written
    >>> store = MemoryStore()
    >>> isinstance(store, Store)
    True
    >>> def count(text):
    ...     number = int(text or 0) + 1
    ...     return Written(text=str(number), line=f"to {number}", answer=number)
    >>> store.update([Change("a", count), Change("b", count), Change("a", count)])
    [1, 1, 2]
    >>> store.read()
    {'a': '2', 'b': '1'}
    >>> list(store.journal())
    ['to 1', 'to 1', 'to 2']
    """

    waits: bool

    def update(self, changes: Sequence[Change]) -> list[Any]:
        """Make all changes, in their order, or none of them.

        Parameters
        ----------
        changes : sequence of Change
            Where a key comes twice, the second change gets what the first one wrote.

        Returns
        -------
        list
            The answer of each change.

        Raises
        ------
        StateError
            If the state cannot be read or written. Where the update may have been kept all the
            same, because the connection was lost, ``details`` has ``unknown`` as True.
        ParameterError
            If a text cannot be kept.
        Exception
            What a change raised; then nothing was changed.
        """
        ...

    def read(self) -> dict[str, str]:
        """Return the text of every key, all as of one moment."""
        ...

    def journal(self) -> Iterator[str]:
        """Return the lines that updates added, in order.

        Lines of updates with a key in common are in the order of the updates.
        """
        ...

    def close(self) -> None:
        """Let go of files and connections; the store cannot be used afterwards."""
        ...


@dataclass
class Evaluated:
    """What several updates write together, and what each is to return.

    Attributes
    ----------
    texts : dict of str to str
        The last text of every key that changes.
    lines : list of str
        The lines for the journal.
    outcomes : list
        For each update its answers, or the exception that one of its changes raised.
    """

    texts: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    outcomes: list[list[Any] | Exception] = field(default_factory=list)


def sorted_keys(updates: Sequence[Sequence[Change]]) -> list[str]:
    """Return every key that the updates change, once, in the order in which keys are locked.

    Examples
    --------
    >>> sorted_keys([[Change("b", Written)], [Change("a", Written), Change("b", Written)]])
    ['a', 'b']
    """
    keys = sorted({change.key for update in updates for change in update})
    for key in keys:
        _check(key, "key")
    return keys


def evaluate(updates: Sequence[Sequence[Change]], texts: Mapping[str, str | None]) -> Evaluated:
    """Evaluate updates one after another; one that raises writes nothing.

    Parameters
    ----------
    updates : sequence of sequences of Change
        Each atomic by itself.
    texts : mapping of str to str or None
        The text that each key has; a key without one may be left out.

    Returns
    -------
    Evaluated

    Examples
    --------
    >>> good = Change("a", lambda text: Written(text="1", line="one", answer=text))
    >>> bad = Change("a", lambda text: Written(text=str(int("no number"))))
    >>> evaluated = evaluate([[good], [good, bad]], {"a": "0"})
    >>> evaluated.texts, evaluated.lines, evaluated.outcomes[0]
    ({'a': '1'}, ['one'], ['0'])
    >>> evaluated.outcomes[1]
    ValueError("invalid literal for int() with base 10: 'no number'")
    """
    together = Evaluated()
    for update in updates:
        written: dict[str, str] = {}
        lines: list[str] = []
        answers: list[Any] = []
        try:
            for change in update:
                known = written.get(change.key, together.texts.get(change.key))
                result = change.apply(texts.get(change.key) if known is None else known)
                if result.text is not None:
                    _check(result.text, "text")
                    written[change.key] = result.text
                if result.line is not None:
                    _check(result.line, "line")
                    lines.append(result.line)
                answers.append(result.answer)
        except Exception as error:  # it belongs to the caller of this update alone
            together.outcomes.append(error)
            continue
        together.texts.update(written)
        together.lines.extend(lines)
        together.outcomes.append(answers)
    return together


def _check(text: str, what: str) -> None:
    """Raise an error for what some of the stores could not keep."""
    if "\0" in text:
        raise ParameterError(f"the {what} {text[:40]!a} has the character NUL")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ParameterError(f"the {what} {text[:40]!a} is no text of Unicode") from error

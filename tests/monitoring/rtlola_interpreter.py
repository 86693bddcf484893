"""A small interpreter of the part of RTLola that exports use; it knows nothing of monitors.

One step takes the inputs of one event. Each output is spawned, then evaluated, in the order of
the text, which must be an order of their dependencies; instances are closed at the end of the step.
Numbers are fractions if `exact`, so that comparisons have no rounding, and floats otherwise.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

_TOKEN = re.compile(
    r'\s+|//[^\n]*|(?P<text>"[^"\\]*")|(?P<number>\d+(\.\d*)?(e[+-]?\d+)?)'
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<sign>:=|=>|==|!=|<=|>=|&&|\|\||[-+*/<>!@():,.])"
)
_COMPARISONS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_AGGREGATES = {"max": max, "min": min, "sum": sum, "count": len}

Scope = Mapping[str, Any]
Node = Callable[[Scope], Any]


class AbsentError(Exception):
    """A stream that is read has no value in this step."""


@dataclass
class Instance:
    """The last value of an instance of a stream, and whether it is of this step."""

    value: Any = None
    known: bool = False
    fresh: bool = False


@dataclass
class Stream:
    """An output, or a trigger, as it is written; `pacing` are inputs that an event must have."""

    name: str
    parameters: tuple[str, ...] = ()
    spawned: bool = False
    spawn_pacing: tuple[str, ...] = ()
    spawn_when: Node | None = None
    spawn_with: Node | None = None
    pacing: tuple[str, ...] = ()
    when: Node | None = None
    value: Node | None = None
    close_pacing: tuple[str, ...] = ()
    close_when: Node | None = None
    instances: dict[tuple[Any, ...], Instance] = field(default_factory=dict)


class Rtlola:
    """A specification that takes events. `inputs`: types by name; `triggers`: the last truth."""

    def __init__(self, text: str, *, exact: bool = True) -> None:
        self._exact = exact
        self._tokens = _tokens(text)
        self._place = 0
        self._scope_names: set[str] = set()
        pairs = zip(self._tokens, self._tokens[1:], strict=False)
        # A stream is closed at the end of a step, so it may be by one that is written below it.
        self._outputs = {name for word, name in pairs if word == "output"}
        self._in_close = False
        self.inputs: dict[str, str] = {}
        self.streams: dict[str, Stream] = {}
        self.triggers: dict[str, bool] = {}
        self._trigger_streams: list[tuple[Stream, str]] = []
        self._event: Mapping[str, Any] = {}
        while self._place < len(self._tokens):
            self._declaration()

    # What is read.

    def _peek(self, ahead: int = 0) -> str:
        place = self._place + ahead
        return self._tokens[place] if place < len(self._tokens) else ""

    def _take(self, *wanted: str) -> str:
        token = self._peek()
        if wanted and token not in wanted:
            around = " ".join(self._tokens[max(0, self._place - 8) : self._place + 3])
            raise SyntaxError(f"{token!r} where {wanted} should be: {around}")
        self._place += 1
        return token

    def _has(self, token: str) -> bool:
        if self._peek() != token:
            return False
        self._place += 1
        return True

    def _declaration(self) -> None:
        kind = self._take("input", "output", "trigger")
        if kind == "input":
            name = self._take()
            self._take(":")
            assert name not in self.inputs
            self.inputs[name] = self._take()
        elif kind == "trigger":
            stream = Stream("trigger", pacing=self._pacing())
            stream.value = self._either()
            message = self._take()
            self._trigger_streams.append((stream, message[1:-1]))
            self.triggers[message[1:-1]] = False
        else:
            self._output()

    def _output(self) -> None:
        stream = Stream(self._take())
        assert stream.name not in self.streams
        assert stream.name not in self.inputs
        if self._has("("):
            stream.parameters = self._names()
            self._take(")")
        assert not set(stream.parameters) & (self.inputs.keys() | self.streams.keys())
        self._take(":")
        self._take("String", "Bool", "Int64", "UInt64", "Float64")
        self.streams[stream.name] = stream
        self._scope_names = set(stream.parameters)
        if self._peek() in ("@", ":="):
            stream.pacing = self._pacing()
            self._take(":=")
            stream.value = self._either()
            stream.instances[()] = Instance()
            return
        while self._peek() in ("spawn", "eval", "close"):
            clause = self._take()
            self._in_close = clause == "close"
            pacing = self._pacing()
            when = self._either() if self._has("when") else None
            value = self._either() if self._has("with") else None
            if clause == "spawn":
                stream.spawned = True
                stream.spawn_pacing, stream.spawn_when, stream.spawn_with = pacing, when, value
            elif clause == "eval":
                stream.pacing, stream.when, stream.value = pacing, when, value
            else:
                stream.close_pacing, stream.close_when = pacing, when
        self._in_close = False

    def _names(self) -> tuple[str, ...]:
        names = [self._take()]
        while self._has(","):
            names.append(self._take())
        return tuple(names)

    def _pacing(self) -> tuple[str, ...]:
        if not self._has("@"):
            return ()
        if not self._has("("):
            names = [self._take()]
        else:
            names = [self._take()]
            while self._has("&&"):
                names.append(self._take())
            self._take(")")
        assert all(name in self.inputs for name in names)
        return tuple(names)

    def _either(self) -> Node:
        parts = [self._every()]
        while self._has("||"):
            parts.append(self._every())
        return parts[0] if len(parts) == 1 else lambda scope: any(part(scope) for part in parts)

    def _every(self) -> Node:
        parts = [self._comparison()]
        while self._has("&&"):
            parts.append(self._comparison())
        return parts[0] if len(parts) == 1 else lambda scope: all(part(scope) for part in parts)

    def _comparison(self) -> Node:
        left = self._sum()
        if self._peek() not in _COMPARISONS:
            return left
        compare = _COMPARISONS[self._take()]
        right = self._sum()
        return lambda scope: compare(left(scope), right(scope))

    def _sum(self) -> Node:
        node = self._product()
        while self._peek() in ("+", "-"):
            node = _binary(
                operator.add if self._take() == "+" else operator.sub, node, self._product()
            )
        return node

    def _product(self) -> Node:
        node = self._unary()
        while self._peek() in ("*", "/"):
            node = _binary(
                operator.mul if self._take() == "*" else operator.truediv, node, self._unary()
            )
        return node

    def _unary(self) -> Node:
        if self._has("!"):
            part = self._unary()
            return lambda scope: not part(scope)
        if self._has("-"):
            part = self._unary()
            return lambda scope: -part(scope)
        return self._accesses(self._atom)

    def _atom(self) -> Node | tuple[str, tuple[Node, ...]]:
        token = self._take()
        if token == "(":
            parts = [self._either()]
            while self._has(","):
                parts.append(self._either())
            self._take(")")
            if len(parts) == 1:
                return parts[0]
            return lambda scope: tuple(part(scope) for part in parts)
        if token == "if":
            condition = self._either()
            self._take("then")
            yes = self._either()
            self._take("else")
            no = self._either()
            return lambda scope: yes(scope) if condition(scope) else no(scope)
        if token == "cast":
            for wanted in ("<", "UInt64", ",", "Float64", ">", "("):
                self._take(wanted)
            whole = self._either()
            self._take(")")
            return lambda scope: self._real(whole(scope))
        if token in ("true", "false"):
            return lambda scope: token == "true"
        if token[0] == '"':
            return lambda scope: token[1:-1]
        if token[0].isdigit():
            number = self._real(token) if re.search("[.e]", token) else int(token)
            return lambda scope: number
        if token in self._scope_names:
            return lambda scope: scope[token]
        known = self._outputs if self._in_close else self.streams.keys()
        assert token in self.inputs or token in known, token
        parameters: tuple[Node, ...] = ()
        if self._has("("):
            given = [self._either()]
            while self._has(","):
                given.append(self._either())
            self._take(")")
            parameters = tuple(given)
        return token, parameters

    def _real(self, number: Any) -> Any:
        return Fraction(number) if self._exact else float(number)

    def _accesses(self, atom: Callable[[], Any]) -> Node:
        found = atom()
        if not isinstance(found, tuple):
            return found
        name, parameters = found
        if not self._has("."):
            return self._now(name, parameters)
        how = self._take("last", "hold", "aggregate")
        self._take("(")
        if how == "aggregate":
            return self._aggregate(name)
        self._take("or")
        self._take(":")
        default = self._either()
        self._take(")")

        def latest(scope: Scope) -> Any:
            key = tuple(part(scope) for part in parameters)
            instance = self.streams[name].instances.get(key)
            if instance is None or not instance.known:
                return default(scope)
            if how == "last":
                assert not instance.fresh  # only ever of the stream itself
            return instance.value

        return latest

    def _aggregate(self, name: str) -> Node:
        for wanted in ("over_instances", ":"):
            self._take(wanted)
        only_fresh = self._take("all", "fresh") == "fresh"
        lambda_names: tuple[str, ...] = ()
        condition: Node = lambda scope: True  # noqa: E731
        if self._has("("):
            for wanted in ("where", ":"):
                self._take(wanted)
            several = self._has("(")
            lambda_names = self._names()
            if several:
                self._take(")")
            self._take("=>")
            outer = self._scope_names
            self._scope_names = outer | set(lambda_names)
            condition = self._either()
            self._scope_names = outer
            self._take(")")
        for wanted in (",", "using", ":"):
            self._take(wanted)
        how = self._take()
        combine = _AGGREGATES[how]
        self._take(")")
        default: Node = lambda scope: 0  # noqa: E731
        # Of no instance there is a sum and a number, but no largest and no smallest value.
        if how in ("max", "min") or self._peek() == ".":
            for wanted in (".", "defaults", "(", "to", ":"):
                self._take(wanted)
            default = self._either()
            self._take(")")

        def aggregated(scope: Scope) -> Any:
            values = [
                one.value
                for key, one in self.streams[name].instances.items()
                if (one.fresh if only_fresh else one.known)
                and condition({**scope, **dict(zip(lambda_names, key, strict=False))})
            ]
            return combine(values) if values else default(scope)

        return aggregated

    def _now(self, name: str, parameters: tuple[Node, ...]) -> Node:
        if name in self.inputs:

            def read(scope: Scope) -> Any:
                if name not in self._event:
                    raise AbsentError(name)
                return self._event[name]

            return read

        def current(scope: Scope) -> Any:
            instance = self.streams[name].instances[tuple(part(scope) for part in parameters)]
            if not instance.fresh:
                raise AbsentError(name)
            return instance.value

        return current

    # What is evaluated.

    def step(self, event: Mapping[str, Any]) -> None:
        """Take the inputs of an event; evaluate everything that they pace."""
        assert event.keys() <= self.inputs.keys()
        self._event = {name: self._typed(value, self.inputs[name]) for name, value in event.items()}
        for stream in self.streams.values():
            for instance in stream.instances.values():
                instance.fresh = False
        for stream in self.streams.values():
            self._spawn(stream)
            self._evaluate(stream)
        closed = [
            (stream, key)
            for stream in self.streams.values()
            if stream.close_when is not None and self._paced(stream.close_pacing)
            for key in stream.instances
            if stream.close_when(dict(zip(stream.parameters, key, strict=True)))
        ]
        for trigger, message in self._trigger_streams:
            if self._paced(trigger.pacing):
                assert trigger.value is not None
                self.triggers[message] = trigger.value({})
        for stream, key in closed:
            del stream.instances[key]

    def _typed(self, value: Any, kind: str) -> Any:
        if kind == "Float64":
            return self._real(value)
        kinds: dict[str, type] = {"String": str, "Bool": bool, "Int64": int}
        assert type(value) is kinds[kind], (value, kind)
        return value

    def _paced(self, pacing: tuple[str, ...]) -> bool:
        return all(name in self._event for name in pacing)

    def _spawn(self, stream: Stream) -> None:
        if not stream.spawned or not self._paced(stream.spawn_pacing):
            return
        if stream.spawn_when is not None and not stream.spawn_when({}):
            return
        assert stream.spawn_with is not None
        try:
            made = stream.spawn_with({})
        except AbsentError:
            assert not stream.spawn_pacing  # its pacing is that of what it reads
            return
        key = made if isinstance(made, tuple) else (made,)
        assert len(key) == len(stream.parameters)
        stream.instances.setdefault(key, Instance())

    def _evaluate(self, stream: Stream) -> None:
        if not self._paced(stream.pacing):
            return
        for key, instance in stream.instances.items():
            scope = dict(zip(stream.parameters, key, strict=True))
            if stream.when is not None and not stream.when(scope):
                continue
            assert stream.value is not None
            instance.value = stream.value(scope)
            instance.known = instance.fresh = True

    def values(self, name: str) -> dict[tuple[Any, ...], Any]:
        """Return the last values of a stream, by instance."""
        found = self.streams[name].instances.items()
        return {key: instance.value for key, instance in found if instance.known}


def _binary(operation: Callable[[Any, Any], Any], left: Node, right: Node) -> Node:
    return lambda scope: operation(left(scope), right(scope))


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise SyntaxError(f"no token: {text[place : place + 20]!r}")
        if match.lastgroup is not None:
            tokens.append(match[match.lastgroup])
        place = match.end()
    return tokens

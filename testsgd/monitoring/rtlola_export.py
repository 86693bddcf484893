"""The specification of a monitor as a specification in RTLola, as far as that language says it.

The text has the shape of Figure 3 of the paper: inputs, streams of each trial, two counters and an
estimate of each group, the bias, and a trigger. Its grammar is that of rtlola-parser 0.4.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from testsgd.errors import SpecificationError
from testsgd.expressions import Expression, Junction, Membership, Node, Ordering
from testsgd.fairness.conditioned_groups import NO_GROUP
from testsgd.monitoring.rtlola_deadlines import EndedTrials, LabelDeadline
from testsgd.monitoring.rtlola_limits import check_exportable, is_labelled
from testsgd.monitoring.rtlola_values import (
    Names,
    UnsaidError,
    aggregate,
    bias_of,
    comment,
    equals_any,
    fraction,
    is_of_kind,
    kind_of,
    kind_of_members,
    literal,
    real,
    written,
    zero_or_one,
)
from testsgd.monitoring.specification import (
    MonitoredProperty,
    MonitorSpecification,
    condition_of,
)

_JOIN = " && "


def monitor_to_rtlola(
    specification: MonitorSpecification | Mapping[str, Any] | str | Path, *, joined: bool = True
) -> str:
    """Return what a monitor watches as a specification in RTLola.

    Parameters
    ----------
    specification : MonitorSpecification, mapping, str or path-like
        What is watched: an object, its keys, or the TOML file that has them.
    joined : bool, optional
        Whether events with the same id are one trial. Otherwise each event is a whole trial.

    Returns
    -------
    str
        The text; its triggers hold where an estimated bias is above its bound.

    Raises
    ------
    SpecificationError
        If it specifies no monitor, or one that the export cannot say; names the key.

    References
    ----------
    Baumeister, Finkbeiner, Scheerer, Siber and Wagenpfeil, Stream-Based Monitoring of Algorithmic
    Fairness, Figure 3.

    Examples
    --------
    >>> text = monitor_to_rtlola({"properties": [
    ...     {"property": "demographic_parity", "bound": 0.1, "rule": "estimate"}]}, joined=False)
    >>> print(text.splitlines()[-1])
    trigger @(group && decision) demographic_parity_bias > 0.1 "demographic_parity is above 0.1"
    """
    where = ""
    if isinstance(specification, Mapping):
        specification = MonitorSpecification.from_dict(specification)
    elif not isinstance(specification, MonitorSpecification):
        where = f"{specification}: "
        specification = MonitorSpecification.read(specification)
    try:
        check_exportable(specification, joined=joined)
        return _Writer(specification, joined=joined).text()
    except UnsaidError as error:
        raise SpecificationError(
            f"the export to RTLola has no {error.what}",
            where=f"{where}{error.key}",
            remedy=error.remedy,
            key=error.key,
        ) from None


@dataclass(frozen=True)
class _Meaning:
    """What is read from fields of one event: the fields, and the expression of it."""

    fields: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class _Moment:
    """When trials are counted: the inputs that pace it, and what must hold."""

    pacing: str
    conditions: tuple[str, ...]


class _Writer:
    """Writes one specification; `joined`: events with the same id are one trial."""

    def __init__(self, specification: MonitorSpecification, *, joined: bool) -> None:
        self._specification = specification
        self._joined = joined
        self._labelled = is_labelled(specification)
        self._deadline: LabelDeadline | None = None
        self._names = Names()
        self._inputs: dict[str, str] = {}  # names, by the field
        self._types: dict[str, str] = {}  # by the field
        self._notes: list[str] = []
        self._blocks: list[str] = []

    def text(self) -> str:
        """Return the whole text."""
        specification = self._specification
        events = specification.events
        if self._joined:
            for field in events.id_fields:
                self._input(field, "String", "events.id")
        group = self._group()
        accepted = self._outcome("decision", "favourable", "unfavourable")
        positive = self._outcome("label", "positive", "negative") if self._labelled else None
        given = {
            field: _Meaning((field,), self._input(field, "String", f"condition_on, {field}"))
            for field in specification.given_fields
        }
        if self._labelled and specification.trials.deadline is not None:
            self._deadline = self._label_deadline(specification.trials.deadline)
        if events.empty:
            texts = ", ".join(f'"{comment(text)}"' for text in events.empty)
            self._notes += [
                f"Nothing is said by {texts}, whatever the field. In RTLola's CSV write # there,",
                "which is an absent value; an empty cell is a value.",
            ]
        if specification.groups.by is not None and self._joined:
            self._notes += [
                "An event with the decision and with no field of the groups says no group here; a",
                "monitor takes such fields for missing values where they are empty, not absent.",
            ]
        expressions = [condition_of(events.decision), condition_of(events.label)]
        several = any(one is not None and len(one.names) > 1 for one in expressions)
        if several or len(specification.group_fields) > 1:
            self._notes += [
                "An expression of several fields is read from events that have all of them; a",
                "monitor also reads it from one that has some, and takes the others for missing.",
            ]
        if specification.time.max_skew is not None:
            self._notes.append("Every time is believed; what time.max_skew asks for is not here.")
        # Names of inputs come first, so that no stream takes one.
        write = self._joined_trials if self._joined else self._whole_events
        self._group_name = self._names.new("trial_group")
        self._accepted_name = self._names.new("accepted")
        self._positive_name = self._names.new("positive")
        self._given_names = {field: self._names.new(f"given_{field}") for field in given}
        places = range(1, len(given) + 1)
        # Of the streams of groups, and of the choice among their instances.
        self._parameters = [self._names.new(name) for name in ("g", *(f"v{n}" for n in places))]
        self._others = [self._names.new(name) for name in ("h", *(f"w{n}" for n in places))]
        self._ended: EndedTrials | None = None
        decided, complete = write(group, accepted, positive, given)
        for watched in specification.monitored:
            self._property(watched, complete if watched.fairness.labelled else decided)
        return "\n\n".join((self._head(), *self._blocks, ""))[:-1]

    def _label_deadline(self, seconds: float) -> LabelDeadline:
        """Return when labels count, and let the time of events be an input."""
        trials, field = self._specification.trials, self._specification.events.time
        time = self._input(field, "Float64", "events.time")
        self._notes.append(
            f"{comment(field)}: in seconds, of a date since 1970; each event has one, and it never "
            "goes back."
        )
        label = trials.without_label
        return LabelDeadline(
            time=time,
            seconds=float(seconds),
            assumed=-1 if label == "drop" else int(label),
            at_once=trials.count == "known",
        )

    def _head(self) -> str:
        """Return the comments and the inputs."""
        fields = self._specification.events.id_fields
        same = "id" if len(fields) == 1 else " and ".join(map(comment, fields))
        trials = (
            f"Events with the same {same} are one trial."
            if self._joined
            else "Each event is a whole trial."
        )
        name = "".join(sign if sign.isprintable() else " " for sign in self._specification.name)
        notes = [
            f"// The monitor {name}, exported by testsgd in the grammar of rtlola-parser 0.4.0.",
            f"// {trials} A field that an event does not say is no new value of its input.",
            *(f"// {note}" for note in self._notes),
        ]
        inputs = [
            f"input {name} : {self._types[field]}"
            + ("" if name == field else f"  // {comment(field)}")
            for field, name in self._inputs.items()
        ]
        return "\n".join(notes) + "\n\n" + "\n".join(inputs)

    def _input(self, field: str, kind: str, key: str) -> str:
        """Return the name of the input of a field."""
        if self._types.setdefault(field, kind) != kind:
            what = f"field of two types, and {field!r} is {self._types[field]} and {kind}"
            raise UnsaidError(key, what, "compare it with values of one type")
        if field not in self._inputs:
            self._inputs[field] = self._names.new(field)
        return self._inputs[field]

    def _group(self) -> _Meaning:
        """Return how the group of an event is read."""
        groups, field = self._specification.groups, self._specification.events.group
        if groups.by is None:
            return _Meaning((field,), self._input(field, "String", "events.group"))
        text = literal(NO_GROUP, "groups")
        for index, one in reversed(list(enumerate(groups.by))):
            condition = self._condition(one.condition, f"groups.by.{index}.when")
            name = literal(one.name, f"groups.by.{index}.name")
            text = f"if {condition} then {name} else {text}"
        return _Meaning(self._specification.group_fields, text)

    def _outcome(self, role: str, one: str, zero: str) -> _Meaning:
        """Return how a decision or a label is read: an expression that is true or false."""
        events = self._specification.events
        field: str = getattr(events, role)
        expression = condition_of(field)
        if expression is not None:
            return _Meaning(expression.names, self._condition(expression, f"events.{role}"))
        values = getattr(events, one)
        kind = kind_of(values[:1])
        meant = [value for value in values if is_of_kind(value, kind)]
        others = [value for value in getattr(events, zero) if is_of_kind(value, kind)]
        if not others:
            remedy = f"write `{one}` and `{zero}` in one type"
            raise UnsaidError(f"events.{zero}", f"{role} of two types", remedy)
        if kind == "Int64":
            kind = kind_of([*meant, *others])
        name = self._input(field, kind, f"events.{role}")
        if len(meant) < len(values):
            read = ", ".join(written(value, kind, f"events.{one}") for value in (*meant, *others))
            self._notes.append(f"{comment(field)}: read as {kind}; its values are {read}.")
        return _Meaning((field,), equals_any(name, meant, kind, f"events.{one}"))

    def _condition(self, expression: Expression, key: str) -> str:
        """Return an expression over the fields of an event."""
        return self._node(expression.root, key)

    def _node(self, node: Node, key: str) -> str:
        if isinstance(node, Ordering):
            name = self._input(node.name, "Float64", key)
            return f"{name} {node.order} {real(node.bound)}"
        if isinstance(node, Membership):
            if None in node.values:
                raise UnsaidError(key, "test for a missing value", "compare with values only")
            kind = kind_of_members(node.values)
            name = self._input(node.name, kind, key)
            among = equals_any(name, node.values, kind, key)
            return among if node.among else f"!({among})"
        if isinstance(node, Junction):
            join = _JOIN if node.every else " || "
            return join.join(f"({self._node(part, key)})" for part in node.parts)
        return f"!({self._node(node.part, key)})"  # a negation

    def _pacing(self, fields: Iterable[str]) -> str:
        """Return when an event has all fields."""
        names = [self._inputs[field] for field in dict.fromkeys(fields)]
        return f"@{names[0]}" if len(names) == 1 else f"@({_JOIN.join(names)})"

    def _named(self) -> tuple[str, ...]:
        """Return what holds if the group of a trial is compared."""
        names = self._specification.groups.names
        if names is None:
            return ()
        return (f"({equals_any(self._group_name, names, 'String', 'groups.names')})",)

    def _whole_events(
        self,
        group: _Meaning,
        accepted: _Meaning,
        positive: _Meaning | None,
        given: Mapping[str, _Meaning],
    ) -> tuple[_Moment, _Moment]:
        """Write the streams of trials that are one event each."""
        fields = [*group.fields, *accepted.fields]
        fields += [field for one in given.values() for field in one.fields]
        pacing = self._pacing(fields)
        lines = [
            f"output {self._group_name} : String {pacing} := {group.text}",
            f"output {self._accepted_name} : Bool {pacing} := {accepted.text}",
        ]
        for field, one in given.items():
            lines.append(f"output {self._given_names[field]} : String {pacing} := {one.text}")
        decided = _Moment(pacing, self._named())
        complete = decided
        if positive is not None:
            labelled = self._pacing([*fields, *positive.fields])
            lines.append(f"output {self._positive_name} : Bool {labelled} := {positive.text}")
            complete = _Moment(labelled, self._named())
        self._blocks.append("\n".join(["// Trials", *lines]))
        return decided, complete

    def _joined_trials(
        self,
        group: _Meaning,
        accepted: _Meaning,
        positive: _Meaning | None,
        given: Mapping[str, _Meaning],
    ) -> tuple[_Moment, _Moment]:
        """Write the streams of trials whose events have the same id."""
        new = self._names.new
        fields = self._specification.events.id_fields
        keys = [self._inputs[field] for field in fields]
        several = len(keys) > 1
        trials = [new(f"i{place}" if several else "i") for place in range(1, len(keys) + 1)]
        # The parameters of a trial's streams, the id of the event that came, and when one comes.
        trial, key = ", ".join(trials), ", ".join(keys)
        comes = self._pacing(fields)
        spawned = f"{comes} with ({key})" if several else f"with {key}"
        same = _JOIN.join(f"{one} == {other}" for one, other in zip(keys, trials, strict=True))
        decided_of, complete_of = new("decided_of"), new("complete_of")
        parts: list[tuple[str, _Meaning, str, str]] = [
            (self._group_name, group, group.text, "String"),
            (self._accepted_name, accepted, zero_or_one(accepted.text), "Int64"),
            *((self._given_names[field], one, one.text, "String") for field, one in given.items()),
        ]
        stores = {name: new(f"{name}_of") for name, *_ in parts}
        known = {
            name: f'{stores[name]}({trial}).hold(or: "") != ""'
            if kind == "String"
            else f"{stores[name]}({trial}).hold(or: -1) >= 0"
            for name, _, _, kind in parts
        }
        closes = self._specification.trials.repeated == "new"
        ended = new("trial_ended") if closes else ""
        close = f"\n  close {comes} when {same} && {ended}" if closes else ""
        deadline = self._deadline
        if positive is not None:
            stores[self._positive_name] = new(f"{self._positive_name}_of")
            if deadline is None:
                text = zero_or_one(positive.text)
                parts.append((self._positive_name, positive, text, "Int64"))
        blocks = []
        for name, meaning, text, kind in parts:
            pacing = self._pacing([*fields, *meaning.fields])
            blocks.append(
                f"output {stores[name]}({trial}) : {kind}\n  spawn {spawned}\n"
                f"  eval {pacing} when {same} with {text}{close}"
            )
        blocks.append(
            f"output {decided_of}({trial}) : UInt64\n  spawn {spawned}\n"
            f"  eval {comes} when {_JOIN.join([same, *known.values()])}\n"
            f"  with {decided_of}({trial}).last(or: 0) + 1{close}"
        )
        over = ""
        if positive is not None and deadline is not None:
            store, due = stores[self._positive_name], new("due_of")
            inputs = _JOIN.join(keys)
            blocks.append(
                deadline.set(due, decided_of, trial, spawned=spawned, same=same, comes=inputs)
            )
            pacing = self._pacing([*fields, *positive.fields, self._specification.events.time])
            blocks.append(
                f"output {store}({trial}) : Int64\n  spawn {spawned}\n"
                f"  eval {pacing} when {same} && {deadline.in_time(due, trial)}\n"
                f"  with {zero_or_one(positive.text)}"
            )
            over = deadline.is_over(due, store, trial)
        elif positive is not None:
            store = stores[self._positive_name]
            blocks.append(
                f"output {complete_of}({trial}) : UInt64\n  spawn {spawned}\n"
                f"  eval {comes} when {same} && {decided_of}({trial}).hold(or: 0) > 0"
                f" && {store}({trial}).hold(or: -1) >= 0\n"
                f"  with {complete_of}({trial}).last(or: 0) + 1"
            )
        self._blocks.append("\n".join(["// What is known of each trial", *blocks]))
        lines = []
        for name, _, _, kind in parts:
            store = f"{stores[name]}({key})"
            if kind == "String":
                lines.append(f'output {name} : String {comes} := {store}.hold(or: "")')
            else:
                lines.append(f"output {name} : Bool {comes} := {store}.hold(or: -1) == 1")
        moments = []
        for name, counter in (("decided", decided_of), ("complete", complete_of)):
            if name == "complete" and (positive is None or deadline is not None):
                break
            stream = new(name)
            lines.append(f"output {stream} : Bool {comes} := {counter}({key}).hold(or: 0) == 1")
            moments.append(_Moment(comes, (stream, *self._named())))
        if closes:
            # A person of a group that is not compared ends the trial, too.
            end = f"{decided_of}({key}).hold(or: 0) > 0"
            for named in self._named():
                end += f' || ({self._group_name} != "" && !{named})'
            lines.append(f"output {ended} : Bool {comes} := {end}")
        self._blocks.append("\n".join(["// The trial of the event", *lines]))
        if over:
            spawn = f"{comes} when {_JOIN.join(moments[0].conditions)}"
            self._ended_trials(trials, key, spawn, over, stores[self._positive_name])
        return moments[0], moments[-1]

    def _ended_trials(
        self, trials: Sequence[str], key: str, spawn: str, over: str, label: str
    ) -> None:
        """Write the streams of trials that end by a deadline, with a label of 0 and of 1.

        `trials`: the parameters of a trial; `key`: the id of the event that came; `spawn`: when a
        trial begins to wait; `over`: when it waits no more; `label`: the store of its label.
        """
        assert self._deadline is not None
        new = self._names.new
        group, *given = self._parameters
        own = [*trials, group, new("d"), *given]
        values = ", ".join(
            (key, self._group_name, self._accepted_name, *self._given_names.values())
        )
        streams = {1: new("positive_trial"), 0: new("negative_trial")}
        blocks = ["// Trials that are over at this event, by their label"]
        blocks += [
            self._deadline.ended(
                name,
                wanted,
                label,
                ", ".join(trials),
                parameters=", ".join(own),
                spawn=f"{spawn} with ({values})",
                over=over,
            )
            for wanted, name in streams.items()
        ]
        self._blocks.append("\n".join(blocks))
        places = range(1, len(trials) + 1)
        other_trials = [new(f"j{place}" if len(trials) > 1 else "j") for place in places]
        other_group, *other_given = self._others
        decision = new("e")
        self._ended = EndedTrials(
            streams=streams,
            parameters=(*other_trials, other_group, decision, *other_given),
            group=other_group,
            decision=decision,
            given=dict(zip(self._given_names, other_given, strict=True)),
        )

    def _property(self, watched: MonitoredProperty, moment: _Moment) -> None:
        """Write the counters, the estimates, the bias and the trigger of a property."""
        fairness = watched.fairness
        counted, favoured, rate, bias = (
            self._names.new(f"{watched.name}_{word}")
            for word in ("all", "favoured", "rate", "bias")
        )
        given = [self._given_names[field] for field in watched.condition_on]
        group, *values = self._parameters[: 1 + len(given)]
        denominator = self._counted(fairness.denominator, labelled=fairness.labelled)
        numerator = self._counted(fairness.numerator, labelled=fairness.labelled)
        blocks = [f"// {comment(watched.name)}"]
        conditions = list(moment.conditions)
        ended = self._ended if fairness.labelled else None
        pacing = moment.pacing
        if ended is not None and self._deadline is not None:
            pacing = self._deadline.pacing
        elif denominator != "true":
            conditions.append(f"({denominator})" if "||" in denominator else denominator)
        when = ""
        if conditions:
            when = self._names.new(f"{watched.name}_counts")
            blocks.append(f"output {when} : Bool {moment.pacing} := {_JOIN.join(conditions)}")

        def stream(
            name: str, kind: str, instance: Mapping[str, str], value: str, known: str = ""
        ) -> str:
            """Return a stream with an instance for each combination of values of others.

            `known`: what must hold where trials end by deadlines, of any number of groups at once.
            """
            keys = list(instance.values())
            spawned = f" when {when}" if when else ""
            own = keys[0] if len(keys) == 1 else f"({', '.join(keys)})"
            same = [f"{key} == {parameter}" for parameter, key in instance.items()]
            begin = (
                f"output {name}({', '.join(instance)}) : {kind}\n"
                f"  spawn {moment.pacing}{spawned} with {own}\n"
            )
            if ended is not None:
                return f"{begin}  eval {pacing}{known and f' when {known}'}\n  with {value}"
            return (
                f"{begin}"
                f"  eval {moment.pacing} when {_JOIN.join([when, *same] if when else same)}\n"
                f"  with {value}"
            )

        within = dict(zip(values, given, strict=True))
        one = {group: self._group_name, **within}
        named = ", ".join(one)
        count = f"{counted}({named}).last(or: 0) + 1"
        favour = f"{favoured}({named}).last(or: 0) + (if {numerator} then 1 else 0)"
        if ended is not None:
            equal = {ended.group: group}
            equal |= {
                ended.given[field]: value
                for field, value in zip(watched.condition_on, values, strict=True)
            }
            count = f"{counted}({named}).last(or: 0) + {ended.number(fairness.denominator, equal)}"
            favour = f"{favoured}({named}).last(or: 0) + {ended.number(fairness.numerator, equal)}"
        estimate = self._estimate(f"{favoured}({named})", f"{counted}({named})")
        blocks += [
            stream(counted, "UInt64", one, count),
            stream(favoured, "UInt64", one, favour),
            stream(rate, "Float64", one, estimate, f"{counted}({named}) > 0"),
        ]
        others = self._others[: 1 + len(given)]
        alike = [f"{name} == {value}" for name, value in zip(others[1:], values, strict=True)]
        chosen = f"all(where: ({', '.join(others)}) => {_JOIN.join(alike)})" if given else "all"
        highest, lowest = (aggregate(rate, chosen, word) for word in ("max", "min"))
        apart = bias_of(highest, lowest, fairness.measure)
        if given:
            blocks.append(stream(bias, "Float64", within, apart))
            judged = aggregate(bias, "all", "max")
        else:
            blocks.append(f"output {bias} : Float64 {pacing} := {apart}")
            judged = bias
        bound = fraction(watched.bound)
        limit = watched.bound if bound.startswith("(") else bound
        message = literal(f"{watched.name} is above {limit}", "properties.condition_on")
        blocks.append(f"trigger {pacing} {judged} > {bound} {message}")
        self._blocks.append("\n".join(blocks))

    def _counted(self, added: Sequence[Sequence[int]], *, labelled: bool) -> str:
        """Return which trials a counter counts, of decision 0 or 1 and label 0 or 1."""
        cells = {(d, y) for d in (0, 1) for y in (0, 1) if added[d][y]}
        accepted, positive = self._accepted_name, self._positive_name
        if len(cells) == 4:
            return "true"
        if not labelled or all((d, 1 - y) in cells for d, y in cells):
            return accepted if (1, 0) in cells else f"!{accepted}"
        if all((1 - d, y) in cells for d, y in cells):
            return positive if (0, 1) in cells else f"!{positive}"
        parts = []
        for decision, label in sorted(cells):
            decided = accepted if decision else f"!{accepted}"
            parts.append(f"({decided} && {positive if label else f'!{positive}'})")
        return " || ".join(parts)

    def _estimate(self, favoured: str, counted: str) -> str:
        """Return the estimate of a rate, with the prior belief."""
        estimate = self._specification.estimate
        top, bottom = f"cast<UInt64, Float64>({favoured})", f"cast<UInt64, Float64>({counted})"
        if not estimate.strength or not isinstance(estimate.prior, Fraction):
            return f"{top} / {bottom}"
        believed = fraction(estimate.prior * estimate.strength)
        return f"({top} + {believed}) / ({bottom} + {fraction(estimate.strength)})"

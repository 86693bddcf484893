"""Which trials a whole stream has, and what becomes of each; nothing of the package is used.

A second reading of the prose: each id is looked at for itself, with the whole stream at hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Event = Mapping[str, Any]
Document = Mapping[str, Any]
LABELLED = {"equal_opportunity", "predictive_equality", "equalized_odds"}


@dataclass
class Trial:
    """What one person's events came to; places are those of events in the stream."""

    name: Any
    began: int
    facts: dict[str, Any] = field(default_factory=dict)
    label: int | None = None
    labelled_at: int | None = None
    decided_at: int | None = None
    decided_when: float | None = None
    unknown_at: int | None = None
    due: float | None = None
    closed_at: int | None = None
    dropped: bool = False
    number: int = -1

    @property
    def group(self) -> str:
        return str(self.facts["group"])


@dataclass
class Step:
    """A trial at the moment it is decided, complete or dropped."""

    place: int
    kind: str
    trial: Trial
    label: int | None
    when: float | None


class OfflineTrials:
    """The trials of a stream, with one of six words for every event, and the steps in order."""

    def __init__(self, document: Document, events: Sequence[Event]) -> None:
        self.document, self.events = document, events
        rules = document.get("trials", {})
        self.deadline = rules.get("deadline") if is_labelled(document) else None
        self.waits = self.deadline is not None and rules.get("count", "deadline") == "deadline"
        self.unshielded = rules.get("without_label", 0)
        self.new = rules.get("repeated", "ignore") == "new"
        self.conditions = given_fields(document)
        self.names = document.get("groups", {}).get("names")
        self.words = ["new"] * len(events)
        self.now = running_maximum([event.get("time") for event in events])
        self.trials: list[Trial] = []
        by_name: dict[Any, list[int]] = {}
        last: Any = None
        for place, event in enumerate(events):
            if all(
                event.get(key) is None for key in ("group", "decision", "label", *self.conditions)
            ):
                self.words[place] = "ignored"
                continue
            name = event.get("id")
            if name is None:
                if event.get("decision") is not None:
                    last = ("nameless", place)
                name = last
            by_name.setdefault(name, []).append(place)
        for name, places in by_name.items():
            self._split(name, places)
        decided = [one for one in self.trials if one.decided_at is not None]
        for number, one in enumerate(sorted(decided, key=lambda one: one.decided_at or 0)):
            one.number = number
        self.steps = self._steps(decided)

    def _split(self, name: Any, places: list[int]) -> None:
        """Take the events of one id apart into trials."""
        trial: Trial | None = None
        for place in places:
            event, time = self.events[place], self.events[place].get("time")
            forgets = self.new and event.get("id") is not None
            if trial is not None and forgets and self._over(trial, place, time):
                trial = None
            only_label = all(
                event.get(key) is None for key in ("group", "decision", *self.conditions)
            )
            if not is_labelled(self.document) and only_label:
                self.words[place] = "ignored"
                continue
            says_who = any(event.get(key) is not None for key in ("group", "decision"))
            if trial is None and forgets and event.get("label") is not None and not says_who:
                # Of somebody whose id is free again, so not of the next one.
                self.words[place] = "late"
                continue
            if trial is None:
                trial = Trial(name, place)
                self.trials.append(trial)
            self._tell(trial, place)
        for one in self.trials:
            if one.name == name and one.closed_at is None and one.unknown_at is None:
                self._end_at_deadline(one)

    def _over(self, trial: Trial, place: int, time: float | None) -> bool:
        if trial.unknown_at is not None or trial.closed_at is not None:
            return True
        return trial.due is not None and time is not None and time > trial.due

    def _tell(self, trial: Trial, place: int) -> None:
        event, time = self.events[place], self.events[place].get("time")
        facts = {
            key: event[key]
            for key in ("group", "decision", *self.conditions)
            if event.get(key) is not None
        }
        label = event.get("label")
        if trial.unknown_at is not None:
            self.words[place] = "repeated"
        elif self._over(trial, place, time):
            late = label is not None and trial.label is None and is_labelled(self.document)
            self.words[place] = "late" if late else "repeated"
        elif facts.items() <= trial.facts.items() and label in (None, trial.label):
            self.words[place] = "repeated"
        else:
            trial.facts |= facts
            if label is not None and trial.label is None:
                trial.label, trial.labelled_at = label, place
            if self.names is not None and trial.facts.get("group", self.names[0]) not in self.names:
                trial.unknown_at = place
                self.words[place] = "unknown"
                return
            if trial.decided_at is None and trial.facts.keys() >= {
                "group",
                "decision",
                *self.conditions,
            }:
                trial.decided_at, trial.decided_when = place, time
                if self.deadline is not None:
                    trial.due = time + self.deadline
            self._complete(trial)

    def _complete(self, trial: Trial) -> None:
        if trial.decided_at is None or self.waits:
            return
        if not is_labelled(self.document):
            trial.closed_at = trial.decided_at
        elif trial.labelled_at is not None:
            trial.closed_at = max(trial.decided_at, trial.labelled_at)

    def _end_at_deadline(self, trial: Trial) -> None:
        if trial.due is None:
            return
        later = [place for place, now in enumerate(self.now) if now is not None and now > trial.due]
        if later:
            trial.closed_at = later[0]
            trial.dropped = trial.label is None and self.unshielded == "drop"

    def _steps(self, decided: list[Trial]) -> list[Step]:
        steps = []
        for one in decided:
            assert one.decided_at is not None
            when = self.now[one.decided_at]
            step = Step(one.decided_at, "decided", one, None, when)
            steps.append(((one.decided_at, 1, 0.0, 0), step))
            if one.closed_at is None or not is_labelled(self.document):
                continue
            label = self.unshielded if one.label is None else one.label
            at_deadline = self.deadline is not None and (self.waits or one.labelled_at is None)
            key = (
                (one.closed_at, 0, one.due or 0.0, one.number)
                if at_deadline
                else (one.closed_at, 2, 0.0, 0)
            )
            kind = "dropped" if one.dropped else "complete"
            # It counts at its deadline, even if that is noticed later.
            when = one.due if at_deadline else self.now[one.closed_at]
            steps.append((key, Step(one.closed_at, kind, one, label, when)))
        return [step for _, step in sorted(steps, key=lambda pair: pair[0])]

    def counters(self, events: int) -> dict[str, int]:
        """What a monitor should have counted after so many events."""
        words = self.words[:events]

        def by_then(place: int | None) -> bool:
            return place is not None and place < events

        return {
            "events": events,
            "without effect": words.count("ignored") + words.count("repeated"),
            "unknown": words.count("unknown"),
            "late": words.count("late"),
            "decided": sum(by_then(one.decided_at) for one in self.trials),
            "dropped": sum(by_then(one.closed_at) and one.dropped for one in self.trials),
            "open": sum(
                by_then(one.began) and not by_then(one.closed_at) and not by_then(one.unknown_at)
                for one in self.trials
            ),
        }


def is_labelled(document: Document) -> bool:
    """Whether some property looks at labels."""
    return any(
        one["property"] in LABELLED
        or any(":" in event for event in (*one.get("numerator", ()), *one.get("denominator", ())))
        for one in document["properties"]
    )


def given_fields(document: Document) -> tuple[str, ...]:
    """All fields within which some property compares."""
    return tuple(
        dict.fromkeys(
            name for one in document["properties"] for name in one.get("condition_on", ())
        )
    )


def running_maximum(times: Sequence[float | None]) -> list[float | None]:
    """The moment by which the stream is at each event."""
    now, found = None, []
    for time in times:
        if time is not None:
            now = time if now is None else max(now, time)
        found.append(now)
    return found

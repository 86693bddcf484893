"""Streams of RTLola for trials that end at the deadline of their label.

RTLola evaluates them at every event, by the time that the event says, as a monitor does: a trial is
over at the first event after its deadline. One event may end many trials, so their counters add up
the instances that are new.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# As near as this, in seconds, two moments are one for a monitor.
_ONE_MOMENT = "0.000001"


@dataclass(frozen=True)
class LabelDeadline:
    """When labels of trials count.

    `time`: the input of the time. `seconds`: how long after its decision a trial waits. `assumed`:
    its label if none came by then, -1 if it is not counted. `at_once`: labels count as they come.
    """

    time: str
    seconds: float
    assumed: int
    at_once: bool

    @property
    def pacing(self) -> str:
        """When trials may end."""
        return f"@{self.time}"

    def set(
        self, due: str, decided_of: str, trial: str, *, spawned: str, same: str, comes: str
    ) -> str:
        """Return the stream of the deadline of each trial, set at the event that decides it.

        `comes` are the inputs by which an event of a trial is known, `same` that it is of this one.
        """
        decides = f"{decided_of}({trial}).hold(or: 0) == 1"
        return (
            f"output {due}({trial}) : Float64\n  spawn {spawned}\n"
            f"  eval @({comes} && {self.time}) when {same} && {decides}\n"
            f"  with {self.time} + {self.seconds!r}"
        )

    def in_time(self, due: str, trial: str) -> str:
        """Return that an event is not after the deadline of a trial, or that none is set."""
        return f"{self.time} <= {due}({trial}).hold(or: {self.time}) + {_ONE_MOMENT}"

    def is_over(self, due: str, label: str, trial: str) -> str:
        """Return that a decided trial waits no more, by its deadline and its label so far."""
        over = f"{self.time} > {due}({trial}).hold(or: {self.time}) + {_ONE_MOMENT}"
        return f"({label}({trial}).hold(or: -1) >= 0 || {over})" if self.at_once else over

    def ended(
        self,
        name: str,
        wanted: int,
        label: str,
        trial: str,
        *,
        parameters: str,
        spawn: str,
        over: str,
    ) -> str:
        """Return the stream of the trials that end with a label of 0 or 1; then they are closed."""
        known = f"{label}({trial}).hold(or: {self.assumed}) == {wanted}"
        return (
            f"output {name}({parameters}) : Bool\n  spawn {spawn}\n"
            f"  eval {self.pacing} when {over} && {known} with true\n"
            f"  close {self.pacing} when {over}"
        )


@dataclass(frozen=True)
class EndedTrials:
    """The streams of trials that end with a label of 0 and of 1, by the label.

    `parameters` are the names for the choice among their instances: of the parts of the id, the
    group, the decision and each given field. `group`, `decision` and `given` are among them.
    """

    streams: Mapping[int, str]
    parameters: Sequence[str]
    group: str
    decision: str
    given: Mapping[str, str]

    def number(self, added: Sequence[Sequence[int]], instance: Mapping[str, str]) -> str:
        """Return how many trials of some decisions and labels end at this event.

        Parameters
        ----------
        added : 2 by 2 sequences of int
            Not 0 for what is counted, of decision 0 or 1 and label 0 or 1.
        instance : mapping
            The parameter that each of `parameters` must be equal to; others may have any value.
        """
        alike = [f"{name} == {value}" for name, value in instance.items()]
        parts = []
        for label, stream in self.streams.items():
            decisions = [decision for decision in (0, 1) if added[decision][label]]
            if not decisions:
                continue
            one = [self.decision if decisions == [1] else f"!{self.decision}"]
            chosen = " && ".join(alike + (one if len(decisions) == 1 else []))
            names = ", ".join(self.parameters)
            parts.append(
                f"{stream}.aggregate(over_instances: fresh(where: ({names}) => {chosen}), "
                "using: count)"
            )
        return " + ".join(parts)

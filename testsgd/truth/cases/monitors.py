"""A case of a monitor: a few events with today's date in a replay of January."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from testsgd.monitoring import monitor
from testsgd.truth.cases.frame import TWIN, Audited, Case

_EVENTS, _WRONG = 2_000, 3
_JANUARY, _TODAY = 1_704_067_200, 1_721_347_200  # 2024-01-01 and 2024-07-19, in UTC.
_QUARTER, _UNTIL_LABEL = 900, 2 * 86_400
_SPECIFICATION = {
    "time": {},
    # If time went on to today, all decisions that wait for their label would be given up.
    "trials": {"deadline": "3 d", "without_label": 0},
    "properties": [{"property": "equal_opportunity", "bound": 0.1, "rule": "evidence"}],
}


@dataclass(frozen=True, kw_only=True)
class _Replay:
    """Decisions of January, one every quarter of an hour, and their true labels."""

    women: float  # Their chance of a yes.
    men: float

    def audit(self, generator: np.random.Generator) -> Audited:
        """Draw decisions, give three events today's date, and monitor all of them."""
        groups = generator.choice(["female", "male"], _EVENTS)
        chance = np.where(groups == "female", self.women, self.men)
        decided = generator.random(_EVENTS) < chance
        times = _JANUARY + _QUARTER * np.arange(_EVENTS)
        # In a row, as from a batch that was written later.
        place = int(generator.integers(0, _EVENTS - _WRONG))
        times[place : place + _WRONG] = _TODAY
        decisions = [
            {"id": number, "group": str(group), "decision": int(yes), "time": int(time)}
            for number, (group, yes, time) in enumerate(zip(groups, decided, times, strict=True))
        ]
        labels = [
            {"id": number, "label": 1, "time": _JANUARY + _QUARTER * number + _UNTIL_LABEL}
            for number in range(_EVENTS)
            if not place <= number < place + _WRONG
        ]
        # In the order in which they come, whatever time they have.
        arrivals = [
            *(_QUARTER * number for number in range(_EVENTS)),
            *(event["time"] - _JANUARY for event in labels),
        ]
        events = [*decisions, *labels]
        order = np.argsort(arrivals, kind="stable")
        result = monitor(_SPECIFICATION, [events[place] for place in order])
        alerted = result.verdict.exit_code == 1
        return Audited(result, [self.men - self.women] if alerted else [])


def _case(suffix: str, title: str, *, women: float, men: float) -> Case:
    planted = women != men
    return Case(
        name=f"three-dates-of-today{suffix}",
        title=title,
        rows=_EVENTS,
        audit=_Replay(women=women, men=men).audit,
        planted=planted,
        beyond=planted,
    )


CASES = (
    _case(
        "",
        "a monitor: women are 40 points below in a replay of January in which three events have "
        "today's date; at most 10 points are allowed",
        women=0.3,
        men=0.7,
    ),
    _case(TWIN, "the same replay, and nothing is planted", women=0.5, men=0.5),
)

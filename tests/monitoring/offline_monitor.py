"""What a monitor should say of a whole stream; nothing of the package is used.

Every bias is counted anew from the list of the trials that belong to it, in fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from offline_trials import Document, Event, OfflineTrials, Step, Trial

_NAMED = {
    "demographic_parity": (["accept"], ["accept", "reject"], "difference"),
    "disparate_impact": (["accept"], ["accept", "reject"], "ratio"),
    "equal_opportunity": (["accept:1"], ["accept:1", "reject:1"], "difference"),
    "predictive_equality": (["accept:0"], ["accept:0", "reject:0"], "difference"),
}
_PARTS = {"equalized_odds": ["equal_opportunity", "predictive_equality"]}


@dataclass(frozen=True)
class Watched:
    """One property as the oracle reads it."""

    name: str
    numerator: tuple[str, ...]
    denominator: tuple[str, ...]
    measure: str
    bound: Fraction
    empty_group: str
    condition_on: tuple[str, ...]
    check: str
    estimate: Document

    @property
    def labelled(self) -> bool:
        return any(":" in event for event in self.numerator + self.denominator)


@dataclass(frozen=True)
class Said:
    """An alert, as far as it is determined; of equal groups any may be named."""

    place: int
    kind: str
    property: str
    conditions: tuple[tuple[str, str], ...]
    window: int | None
    trials: int
    bias: Fraction
    highest: frozenset[str]
    lowest: frozenset[str]


@dataclass(frozen=True)
class Count:
    """A trial that a property has counted: in which step, of which event, and when."""

    order: int
    place: int
    trial: Trial
    label: int
    when: float | None


def watched(document: Document) -> list[Watched]:
    """Read the properties of a document; equalized odds are two."""
    window = document.get("window", {}).get("kind", "all")
    found = []
    for one in document["properties"]:
        for name in _PARTS.get(one["property"], [one["property"]]):
            if name == "custom":
                kind = one["numerator"], one["denominator"], one.get("measure", "difference")
            else:
                kind = _NAMED[name]
            given = tuple(one.get("condition_on", ()))
            found.append(
                Watched(
                    name + (" given " + " and ".join(given) if given else ""),
                    tuple(kind[0]),
                    tuple(kind[1]),
                    kind[2],
                    Fraction(str(one["bound"])),
                    one.get("empty_group", "vacuous"),
                    given,
                    one.get("check") or ("end" if window == "tumbling" else "every"),
                    one.get("estimate", {}),
                )
            )
    return found


class OfflineMonitor:
    """A stream, and everything that rule "estimate" should say of it."""

    def __init__(self, document: Document, events: Sequence[Event]) -> None:
        self.document = document
        self.trials = OfflineTrials(document, events)
        self.properties = watched(document)
        window = document.get("window", {"kind": "all"})
        self.kind, self.length = window["kind"], window.get("length")
        self.seconds = isinstance(self.length, str)
        if self.seconds:
            self.length = float(self.length.removesuffix("s"))
        times = [time for time in self.trials.now if time is not None]
        self.origin = times[0] if times else None

    # Counting

    def counted(self, one: Watched) -> list[Count]:
        """The trials that a property counts, in order."""
        kind = "complete" if one.labelled else "decided"
        return [
            Count(order, step.place, step.trial, step.label or 0, step.when)
            for order, step in enumerate(self.trials.steps)
            if step.kind == kind
        ]

    def within(self, one: Watched, counts: list[Count]) -> dict[tuple[Any, ...], list[Count]]:
        """The counted trials of each combination of given values."""
        found: dict[tuple[Any, ...], list[Count]] = {}
        for count in counts:
            found.setdefault(stratum(one, count.trial), []).append(count)
        return found

    def table(
        self, one: Watched, counts: list[Count], ever: list[Count] | None = None
    ) -> dict[str, tuple[int, int]]:
        """Numerator and denominator of each group that is named, or was found by then."""
        names = [*(self.trials.names or ()), *(count.trial.group for count in ever or counts)]
        found = {}
        for name in dict.fromkeys(names):
            mine = [count for count in counts if count.trial.group == name]
            happened = [
                (word, f"{word}:{count.label}")
                for count in mine
                for word in [("reject", "accept")[count.trial.facts["decision"]]]
            ]
            found[name] = (
                sum(one.numerator.count(event) for both in happened for event in both),
                sum(one.denominator.count(event) for both in happened for event in both),
            )
        return found

    def belief(
        self, one: Watched, name: str, table: dict[str, tuple[int, int]]
    ) -> tuple[Fraction, Fraction]:
        """The prior and its strength for a group: the nearest place that says either."""
        general = self.document.get("estimate", {})
        places = [
            one.estimate.get("groups", {}).get(name, {}),
            one.estimate,
            general.get("groups", {}).get(name, {}),
            general,
            {"prior": "0.5", "strength": "0"},
        ]
        prior = next(str(place["prior"]) for place in places if "prior" in place)
        strength = next(str(place["strength"]) for place in places if "strength" in place)
        if prior != "overall":
            return Fraction(prior), Fraction(strength)
        everybody = sum(bottom for _, bottom in table.values())
        if not everybody:
            return Fraction(0), Fraction(0)
        return Fraction(sum(top for top, _ in table.values()), everybody), Fraction(strength)

    def rates(
        self, one: Watched, counts: list[Count], ever: list[Count] | None = None, *, prior: bool
    ) -> dict[str, Fraction | None]:
        """The estimate of each group's rate; None where there is none."""
        table = self.table(one, counts, ever)
        beliefs = {name: self.belief(one, name, table) for name in table}
        if not prior:
            beliefs = dict.fromkeys(table, (Fraction(0), Fraction(0)))
        # A belief is no person: who is left out while nobody came is left out with it, too.
        vacuous = one.empty_group == "vacuous"
        return {
            name: None
            if bottom + strength == 0 or (vacuous and bottom == 0)
            else (top + belief * strength) / (bottom + strength)
            for name, (top, bottom) in table.items()
            for belief, strength in [beliefs[name]]
        }

    def compared(
        self, one: Watched, counts: list[Count], ever: list[Count] | None = None, *, prior: bool
    ) -> dict[str, Fraction]:
        """The rates that are compared."""
        rates = self.rates(one, counts, ever, prior=prior)
        if one.empty_group == "vacuous":
            return {name: rate for name, rate in rates.items() if rate is not None}
        return {name: rate or Fraction(0) for name, rate in rates.items()}

    def bias(
        self,
        one: Watched,
        counts: list[Count],
        ever: list[Count] | None = None,
        *,
        prior: bool = True,
    ) -> Fraction:
        """How far the groups are apart."""
        rates = list(self.compared(one, counts, ever, prior=prior).values())
        if len(rates) < 2 or max(rates) == 0:
            return Fraction(0)
        if one.measure == "difference":
            return max(rates) - min(rates)
        return 1 - min(rates) / max(rates)

    # Alerts

    def alerts(self) -> list[Said]:
        """All that should be said, by the event at which."""
        said = [alert for one in self.properties for alert in self._of(one)]
        return sorted(said, key=lambda alert: alert.place)

    def _of(self, one: Watched) -> list[Said]:
        if self.kind == "tumbling":
            return [alert for window in self.windows(one) for alert in window.said]
        return self._running(one)

    def _running(self, one: Watched) -> list[Said]:
        """All so far, or the last ones: judged after each step and each event."""
        counts, said = self.counted(one), []
        up: dict[tuple[Any, ...], bool] = {}
        if one.check not in ("every", "end"):
            return self._at_periods(one, float(one.check.removesuffix(" s")))
        for place, now in enumerate(self.trials.now):
            here = [count for count in counts if count.place == place]
            before = [count for count in counts if count.place < place]
            # After each step, at its moment; the last look is at what time alone has changed.
            looks = [(before + here[: end + 1], count.when) for end, count in enumerate(here)]
            for seen, moment in [*looks, (before + here, now)]:
                kept = self.kept(seen, moment)
                for key, ever in self.within(one, seen).items():
                    mine = self.within(one, kept).get(key, [])
                    above = self.bias(one, mine, ever) > one.bound
                    if above != up.get(key, False):
                        up[key] = above
                        said.append(self._said(place, one, key, None, mine, above, ever))
        return said

    def _at_periods(self, one: Watched, period: float) -> list[Said]:
        """Judged at the end of each period since the first event, of what was counted before it."""
        counts, said = self.counted(one), []
        up: dict[tuple[Any, ...], bool] = {}
        over = 1
        for place, now in enumerate(self.trials.now):
            assert now is not None
            assert self.origin is not None
            while (end := self.origin + over * period) <= now:
                seen = [count for count in counts if count.when is not None and count.when < end]
                kept = self.kept(seen, end)
                for key, ever in self.within(one, seen).items():
                    mine = self.within(one, kept).get(key, [])
                    above = self.bias(one, mine, ever) > one.bound
                    if above != up.get(key, False):
                        up[key] = above
                        said.append(self._said(place, one, key, None, mine, above, ever))
                over += 1
        return said

    def kept(self, counts: list[Count], now: float | None) -> list[Count]:
        """Those in the window."""
        if self.kind != "sliding":
            return counts
        if self.seconds:
            assert now is not None
            return [one for one in counts if one.when is not None and one.when >= now - self.length]
        return counts[-self.length :]

    def windows(self, one: Watched) -> list[Tumbled]:
        """The tumbling windows of which anything is known."""
        steps: dict[int, list[Step]] = {}
        for step in self.trials.steps:
            if step.kind == "decided":
                steps.setdefault(self.number(step.trial), []).append(step)
        return [
            Tumbled(self, one, number, [s.trial for s in mine]) for number, mine in steps.items()
        ]

    def number(self, trial: Trial) -> int:
        """The window of a trial."""
        if not self.seconds:
            return int(trial.number // self.length)
        assert trial.decided_when is not None
        assert self.origin is not None
        return int((trial.decided_when - self.origin) // self.length)

    def _said(
        self,
        place: int,
        one: Watched,
        key: tuple[Any, ...],
        window: int | None,
        counts: list[Count],
        above: bool,
        ever: list[Count] | None = None,
    ) -> Said:
        rates = self.compared(one, counts, ever, prior=True)
        if len(rates) < 2:
            rates = {"": Fraction(0)}  # nobody is apart
        return Said(
            place,
            "raised" if above else "cleared",
            one.name,
            tuple(zip(one.condition_on, key, strict=True)),
            window,
            len(counts if window is not None or ever is None else ever),
            self.bias(one, counts, ever),
            frozenset(name for name, rate in rates.items() if rate == max(rates.values())),
            frozenset(name for name, rate in rates.items() if rate == min(rates.values())),
        )


class Tumbled:
    """One tumbling window: when it is over, what it has, and what is said of it."""

    def __init__(
        self, offline: OfflineMonitor, one: Watched, number: int, trials: list[Trial]
    ) -> None:
        self.number = number
        mine = {id(trial) for trial in trials}
        self.counts = [count for count in offline.counted(one) if id(count.trial) in mine]
        self.over_at = self._over_at(offline, one, trials)
        self.said: list[Said] = []
        raised = set()
        if one.check == "every":
            for end in range(1, len(self.counts) + 1):
                key = stratum(one, self.counts[end - 1].trial)
                so_far = offline.within(one, self.counts[:end])[key]
                if key not in raised and offline.bias(one, so_far) > one.bound:
                    raised.add(key)
                    place = self.counts[end - 1].place
                    self.said.append(offline._said(place, one, key, number, so_far, True))
        if self.over_at is not None:
            for key, at_end in offline.within(one, self.counts).items():
                if key not in raised and offline.bias(one, at_end) > one.bound:
                    self.said.append(offline._said(self.over_at, one, key, number, at_end, True))

    def _over_at(self, offline: OfflineMonitor, one: Watched, trials: list[Trial]) -> int | None:
        """The first event after which it holds all its trials and each has its result."""
        places = [trial.closed_at if one.labelled else trial.decided_at for trial in trials]
        if None in places:
            return None
        if not offline.seconds:
            if len(trials) < offline.length:
                return None
        else:
            assert offline.origin is not None
            end = offline.origin + (self.number + 1) * offline.length
            later = [
                p for p, now in enumerate(offline.trials.now) if now is not None and now >= end
            ]
            if not later:
                return None
            places.append(later[0])
        return max(place for place in places if place is not None)


def stratum(one: Watched, trial: Trial) -> tuple[Any, ...]:
    """The values within which a trial is compared."""
    return tuple(trial.facts[name] for name in one.condition_on)

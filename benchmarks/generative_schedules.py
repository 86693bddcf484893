"""How rarely schedules ask, and how often deadlines are missed: exactly, or by many outputs.

The share of outputs that a rule asks for is exact: the stationary distribution of the counters.
Only where shares are learned on the way outputs are drawn.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from testsgd.generative.compiled_simulation import simulate_schedule
from testsgd.generative.planning import MOST_STATES, make_plan
from testsgd.generative.schedules import (
    Schedule,
    choose,
    corrected_look_ahead,
    counters_after,
    needed_outputs,
    needed_requests,
)
from testsgd.generative.sequence_state import SequenceState, Slot
from testsgd.scoring import clopper_pearson

Counters = tuple[int, ...]
Floats = NDArray[np.float64]
Rule = Callable[[Counters], int | None]

_SEED = 20261124
_SETTLED = 1e-13
_MOST_STEPS = 200_000
# Requests that are open at a time.
_OPEN = 8


@dataclass(frozen=True)
class Case:
    """Betas, and how often the model gives each value by itself."""

    betas: Counters
    shares: tuple[float, ...]


@dataclass(frozen=True)
class Obedient:
    """Deadlines of a model that obeys, and what deciding took."""

    rule: str
    vectors: int
    planned: int  # Vectors that are small enough for a plan.
    outputs: int
    deadlines: int
    missed: int
    asked: int
    seconds: float
    per_decision: float  # Seconds; a part of `seconds`, without the making of plans.


def skewed_cases(number: int, *, sizes: range) -> list[Case]:
    """Draw betas of at least CG, and models of which some hardly know all values."""
    random = np.random.default_rng(_SEED)
    cases = []
    for index in range(number):
        values = sizes[index % len(sizes)]
        betas = random.integers(values, 2 * values + 3, size=values)
        shares = random.dirichlet(np.full(values, 0.3))
        cases.append(_case(betas, shares))
    return cases


def small_cases(number: int) -> list[Case]:
    """Draw betas from CG to 8 for CG = 2, 3, 4, and any shares."""
    random = np.random.default_rng(_SEED + 1)
    cases = []
    for index in range(number):
        values = 2 + index % 3
        betas = random.integers(values, 9, size=values)
        cases.append(_case(betas, random.dirichlet(np.ones(values))))
    return cases


def _case(betas: NDArray[np.int64], shares: Floats) -> Case:
    return Case(tuple(betas.tolist()), tuple(shares.tolist()))


def obedient_simulated(cases: Sequence[Case], outputs: int) -> Obedient:
    """Count missed deadlines in machine code; the earliest deadline is asked for."""
    simulate_schedule((2, 2), (0.5, 0.5), outputs=10)
    started = time.perf_counter()
    found = [
        simulate_schedule(case.betas, case.shares, outputs=outputs, random_state=index)
        for index, case in enumerate(cases)
    ]
    seconds = time.perf_counter() - started
    return Obedient(
        rule="earliest deadline, machine code",
        vectors=len(cases),
        planned=0,
        outputs=outputs * len(cases),
        deadlines=sum(int(one.deadlines.sum()) for one in found),
        missed=sum(int(one.misses.sum()) for one in found),
        asked=sum(one.asked for one in found),
        seconds=seconds,
        per_decision=seconds / (outputs * len(cases)),
    )


def obedient_decided(cases: Sequence[Case], outputs: int) -> Obedient:
    """Count missed deadlines of what is shipped, the model's shares known."""
    deciding = 0
    deadlines = missed = asked = 0
    started = time.perf_counter()
    for index, case in enumerate(cases):
        schedule = Schedule(case.betas, overlapping=False)
        random = np.random.default_rng([_SEED, index])
        drawn = random.choice(len(case.betas), size=outputs, p=case.shares).tolist()
        counters = case.betas
        schedule.decide(counters, shares=case.shares)  # makes the plan
        for value in drawn:
            before = time.perf_counter_ns()
            wanted = schedule.decide(counters, shares=case.shares)
            deciding += time.perf_counter_ns() - before
            asked += wanted is not None
            counters = counters_after(counters, value if wanted is None else wanted, case.betas)
            deadlines += 1
            late = [place for place, counter in enumerate(counters) if counter < 1]
            if late:
                missed += len(late)
                deadlines += len(late)
                counters = _restarted(counters, case.betas)
    return Obedient(
        rule="as shipped (plans; `choose` for larger betas)",
        vectors=len(cases),
        planned=sum(prod(case.betas) <= MOST_STATES for case in cases),
        outputs=outputs * len(cases),
        deadlines=deadlines,
        missed=missed,
        asked=asked,
        seconds=time.perf_counter() - started,
        per_decision=deciding / 1e9 / (outputs * len(cases)),
    )


def _restarted(counters: Counters, betas: Counters) -> Counters:
    """Return counters of which those that missed their deadline begin again."""
    return tuple(
        beta if counter < 1 else counter for counter, beta in zip(counters, betas, strict=True)
    )


def share_asked(case: Case, rule: Rule) -> float:
    """Compute the long-run share of outputs that a rule asks for, a model that obeys."""
    places = {case.betas: 0}
    waiting = [case.betas]
    asks: list[bool] = []
    froms: list[int] = []
    tos: list[int] = []
    chances: list[float] = []
    for counters in waiting:  # grows while it is gone through
        wanted = rule(counters)
        asks.append(wanted is not None)
        values = range(len(case.betas)) if wanted is None else [wanted]
        for value in values:
            following = counters_after(counters, value, case.betas)
            if min(following) < 1:
                raise AssertionError(f"a deadline is missed at {counters} of {case.betas}")
            if following not in places:
                places[following] = len(waiting)
                waiting.append(following)
            froms.append(places[counters])
            tos.append(places[following])
            chances.append(case.shares[value] if wanted is None else 1.0)
    size = len(waiting)
    backwards = sparse.csr_array((chances, (tos, froms)), shape=(size, size))
    cost = np.array(asks, dtype=np.float64)
    likely = np.zeros(size)
    likely[0] = 1.0
    for _ in range(_MOST_STEPS):
        # With rests the chain has no period, and the same long-run shares.
        following_likely = 0.5 * (likely + backwards @ likely)
        change = float(np.abs(following_likely - likely).sum())
        likely = following_likely
        if change < _SETTLED:
            return float(cost @ likely)
    raise AssertionError(f"the counters of {case.betas} do not settle")


def _candidates(counters: Counters) -> tuple[int, ...]:
    numbers = range(1, len(counters) + 1)
    return corrected_look_ahead(counters, needed=numbers, last=len(counters) - 1)


def _by_choose(counters: Counters, case: Case) -> int | None:
    candidates = _candidates(counters)
    if not candidates:
        return None
    return choose(candidates, counters, case.betas, shares=case.shares)


def _earliest(counters: Counters) -> int | None:
    return min(_candidates(counters), key=lambda index: counters[index], default=None)


@dataclass(frozen=True)
class Requests:
    """The share of outputs asked for by each rule, beside the least possible one."""

    case: Case
    least: float
    shipped: float
    overlapping: float  # The same, ready for an output that serves no value (the default).
    least_overlapping: float  # The least possible one that is ready for it.
    choosing: float
    earliest: float
    learned: float  # Drawn: the exact `shipped`, times what learning added to it on equal draws.


def requests_beside_least(cases: Sequence[Case], outputs: int) -> Iterator[Requests]:
    """Compute what each rule asks for in each case."""
    for index, case in enumerate(cases):
        best = make_plan(case.betas, case.shares)
        schedule = Schedule(case.betas, overlapping=False)
        shipped = share_asked(case, partial(schedule.decide, shares=case.shares))
        ready = Schedule(case.betas, overlapping=True)
        least_ready = make_plan(case.betas, case.shares, overlapping=True)
        known, learned = _learning(case, outputs, seed=index)
        yield Requests(
            case=case,
            least=share_asked(case, best.best_value),
            shipped=shipped,
            overlapping=share_asked(case, partial(ready.decide, shares=case.shares)),
            least_overlapping=least_ready.least_share,
            choosing=share_asked(case, partial(_by_choose, case=case)),
            earliest=share_asked(case, _earliest),
            learned=shipped * learned / known,
        )


def _learning(case: Case, outputs: int, *, seed: int) -> tuple[int, int]:
    """Return how many outputs are asked for with known shares, and with those seen so far.

    Both are given the same values. Shares are learned as an enforcer does: from outputs that were
    not asked for, each value counted once more.
    """
    schedule = Schedule(case.betas, overlapping=False)
    random = np.random.default_rng([_SEED + 2, seed])
    drawn = random.choice(len(case.betas), size=outputs, p=case.shares).tolist()
    known = _asked(schedule, case.betas, drawn, shares=case.shares)
    return known, _asked(schedule, case.betas, drawn, shares=None)


def _asked(
    schedule: Schedule, betas: Counters, drawn: Sequence[int], *, shares: tuple[float, ...] | None
) -> int:
    counts = [1] * len(betas)
    counters = betas
    asked = 0
    decided: dict[Counters, int | None] = {}
    for value in drawn:
        if shares is None:
            total = sum(counts)
            seen = tuple(count / total for count in counts)
            wanted = schedule.decide(counters, shares=seen)
        else:
            if counters not in decided:
                decided[counters] = schedule.decide(counters, shares=shares)
            wanted = decided[counters]
        if wanted is None:
            counts[value] += 1
        else:
            asked += 1
        counters = counters_after(counters, value if wanted is None else wanted, betas)
    return asked


@dataclass(frozen=True)
class Disobeyed:
    """Missed deadlines of a model that disobeys, with their interval and what is derived."""

    what: str
    derived: float
    is_exact: bool  # Or an upper limit.
    deadlines: int
    missed: int
    share: float
    low: float
    high: float


def one_rare_value(outputs: int) -> Iterator[Disobeyed]:
    """Ask for a value that a model never gives by itself; one time in ten it disobeys.

    The other value comes whenever the first does not, so nothing else is asked for, and the
    deadline is missed if as many requests in a row fail as there are: (1 - q)^s.
    """
    obedience = 0.9
    for tries, allowed in ((0, 0.05), (0, 0.01), (0, 0.001), (1, 0.05), (1, 0.001)):
        needed = needed_outputs(
            values=2, obedience=obedience, tries=tries, miss_probability=allowed
        )
        found = simulate_schedule(
            (12, 12),
            (0.0, 1.0),
            outputs=outputs,
            runs=20,
            obedience=obedience,
            tries=tries,
            miss_probability=allowed,
            random_state=tries,
        )
        yield _disobeyed(
            f"one rare value, tries = {tries}, promised {allowed:g}: s = {needed[0]} requests",
            ((1 - obedience) ** (tries + 1)) ** needed[0],
            deadlines=int(found.deadlines[0]),
            missed=int(found.misses[0]),
            is_exact=True,
        )


def promised(cases_each: int, outputs: int) -> Iterator[Disobeyed]:
    """Count missed deadlines of the worst value, where 1 in 100 is promised at most."""
    random = np.random.default_rng(_SEED + 3)
    for values in (2, 3, 4):
        smallest = needed_outputs(values=values, obedience=0.9, tries=0, miss_probability=0.01)[-1]
        worst, deadlines, missed = -1.0, 0, 0
        for index in range(cases_each):
            betas = random.integers(smallest, smallest + 5, size=values).tolist()
            shares = random.dirichlet(np.full(values, 0.3)).tolist()
            found = simulate_schedule(
                betas, shares, outputs=outputs, obedience=0.9, random_state=index
            )
            rates = found.misses / np.maximum(found.deadlines, 1)
            value = int(np.argmax(rates))
            if rates[value] > worst:
                worst = float(rates[value])
                deadlines, missed = int(found.deadlines[value]), int(found.misses[value])
        yield _disobeyed(
            f"CG = {values}, worst value of {cases_each} cases, betas {smallest} to {smallest + 4}",
            0.01,
            deadlines=deadlines,
            missed=missed,
            is_exact=False,
        )


def promised_overlapping(outputs: int) -> Iterator[Disobeyed]:
    """Let eight requests be open at a time, ending in any order; 1 in 100 is promised at most."""
    for obedience, tries in ((0.9, 0), (0.7, 0), (0.7, 1)):
        requests = needed_requests(obedience=obedience, tries=tries, miss_probability=0.01)
        betas = (2 * requests + 1, 2 * requests + 4)
        schedule = Schedule(betas, obedience=obedience, tries=tries)
        success = 1 - (1 - obedience) ** (tries + 1)
        state = _overlapped(schedule, success=success, outputs=outputs)
        yield _disobeyed(
            f"8 requests at a time, obedience {obedience:g}, tries = {tries}, betas {betas}, "
            f"one rare value: m = {requests} requests",
            (1 - success) ** requests,
            deadlines=state.misses[0] + state.counts[0],
            missed=state.misses[0],
            is_exact=False,
        )


def _overlapped(schedule: Schedule, *, success: float, outputs: int) -> SequenceState:
    """Return the state after outputs of a model that gives the second value if it disobeys."""
    random = np.random.default_rng(_SEED + 4)
    state = SequenceState.start(schedule.betas)
    awaited: list[tuple[str, int]] = []
    for number in range(outputs):
        if len(awaited) == _OPEN:
            ticket, asked = awaited.pop(int(random.integers(_OPEN)))
            label = asked if asked and random.random() < success else 2
            state, _ = state.with_label(ticket, label).counted()
        index = schedule.decide(state.pending_counters(), since=state.pending_since())
        asked = 0 if index is None else index + 1
        state = state.with_slot(Slot(str(number), begun=0.0, asked=asked))
        awaited.append((str(number), asked))
    return state


def _disobeyed(
    what: str, derived: float, *, deadlines: int, missed: int, is_exact: bool
) -> Disobeyed:
    low, high = clopper_pearson(missed, deadlines, 0.05)
    return Disobeyed(
        what=what,
        derived=derived,
        is_exact=is_exact,
        deadlines=deadlines,
        missed=missed,
        share=missed / deadlines,
        low=float(low),
        high=float(high),
    )

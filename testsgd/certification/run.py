"""Certify a network on a domain: try everybody, or search over boxes until told to stop."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.domain import Domain, check_domain
from testsgd.certification.network import FeedForward
from testsgd.certification.outcome import (
    Certification,
    Counterexample,
    Moment,
    Remainder,
    Shares,
    Stopped,
)
from testsgd.certification.parameters import CertificationParameters
from testsgd.certification.proving import Problem, Prover, build_problem
from testsgd.certification.search import (
    Answers,
    BranchAndBound,
    Draws,
    ask,
    draw_falsified,
    draw_open,
    draw_points,
    enumerate_people,
    fingerprint,
    is_small,
    read_checkpoint,
    regions_of_everybody,
    regions_of_search,
    write_checkpoint,
)
from testsgd.scoring import clopper_pearson

Progress = Callable[[Moment], None]


@dataclass(frozen=True)
class _Task:
    """What is to be certified, and how."""

    network: FeedForward
    domain: Domain
    problem: Problem
    parameters: CertificationParameters
    progress: Progress | None

    def certification(self, **figures: Any) -> Certification:
        """Return what was found."""
        return Certification(
            network=self.network,
            domain=self.domain,
            parameters=self.parameters,
            points=self.domain.points,
            **figures,
        )


class Clock:
    """Tells a search whether to go on; while it is held, the first Ctrl-C only asks it to stop.

    A second Ctrl-C breaks off. Where somebody else handles the signal, or in another thread than
    the main one, Ctrl-C is left as it is.
    """

    def __init__(self, limit: float | None, should_stop: Callable[[], bool] | None = None) -> None:
        self._limit = limit
        self._should_stop = should_stop
        self._interrupted = False
        self._ours = False
        self.start()

    def start(self, already: float = 0.0) -> None:
        """Begin to count; `already` are the seconds that an earlier run took."""
        self._start = time.perf_counter()
        self._already = already

    def __enter__(self) -> Clock:
        self._ours = (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
        if self._ours:
            signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._interrupted:
            signal.default_int_handler(number, frame)
        self._interrupted = True

    @property
    def seconds(self) -> float:
        """Seconds so far, those of earlier runs included."""
        return self._already + time.perf_counter() - self._start

    def in_time(self) -> bool:
        """Return whether there is time; asked within a step too."""
        late = self._limit is not None and time.perf_counter() - self._start >= self._limit
        return not (self._interrupted or late)

    def stopped(self) -> Stopped | None:
        """Return why to stop, between two steps; None to go on."""
        if self._interrupted or (self._should_stop is not None and self._should_stop()):
            return "interrupted"
        return None if self.in_time() else "time"


# Draws from open boxes in which somebody is falsified.
_TRIES = 256


def remainder_of(
    answers: Answers, draws: Draws, shares: Shares, confidence: float
) -> Remainder | None:
    """Turn draws into intervals."""
    samples = len(draws.points)
    if samples == 0:
        return None
    unfair = int(answers.unfair.sum())
    low, high = clopper_pearson(unfair, samples, 1.0 - confidence)
    # What is unfair and not known yet is the draws' measure times how many unfair people a try
    # tells of, on average. It tells of none, one or two: add the rates of at least one and of two.
    told = int((answers.unfair | draws.more).sum()) + draws.more_left_out
    twice = int((answers.unfair & draws.more).sum())
    # No try tells of two where nobody is falsified outside the pieces.
    counts = np.array([told, twice] if draws.falsified_outside else [told])
    least, most = clopper_pearson(counts, draws.tries, (1.0 - confidence) / len(counts))
    proved = shares.falsified, shares.falsified + shares.undecided

    def share(rate: float) -> float:
        return float(np.clip(draws.falsified + draws.measure * rate, *proved))

    return Remainder(
        samples=samples,
        unfair=unfair,
        confidence_interval=(float(low), float(high)),
        confidence=confidence,
        domain_unfair=share(counts.sum() / draws.tries),
        domain_confidence_interval=(share(least.sum()), share(most.sum())),
    )


def counterexamples_of(
    search: BranchAndBound, task: _Task, answers: Answers, generator: np.random.Generator
) -> tuple[Counterexample, ...]:
    """Choose people who are treated unfairly, proved ones first."""
    if not task.parameters.counterexamples:
        return ()
    more = draw_falsified(search, _TRIES, generator)
    if search.examples:
        lo, hi = (np.array(side) for side in zip(*search.examples, strict=True))
        more = np.concatenate([draw_points(search.axes, lo, hi, generator), more])
    falsified = ask(task.network, task.domain, more)
    answers = Answers._make(map(np.concatenate, zip(falsified, answers, strict=True)))
    return clearest(task, answers, np.arange(len(answers.points)) < len(more))


def clearest(
    task: _Task, answers: Answers, proved: NDArray[np.bool_]
) -> tuple[Counterexample, ...]:
    """Return the counterexamples that are farthest from the turning point, proved ones first."""
    decision = task.network.decision
    if decision.kind == "threshold":
        margin = np.abs(answers.sums[..., 0] - decision.decision_threshold).min(axis=1)
    else:
        ordered = np.sort(answers.sums, axis=2)
        margin = (ordered[..., -1] - ordered[..., -2]).min(axis=1)
    order = np.lexsort((-margin, ~proved))
    order = order[answers.unfair[order]][: task.parameters.counterexamples]
    return tuple(
        Counterexample(
            values=tuple(answers.points[index].tolist()),
            decisions=tuple(answers.decisions[index].tolist()),
            sums=tuple(map(tuple, answers.sums[index].tolist())),
            proved=bool(proved[index]),
        )
        for index in order
    )


# Seconds between two calls of progress, and between two checkpoints.
_PROGRESS = 0.1
_CHECKPOINT = 30.0
_MOMENTS = 200


def certify_network(
    network: FeedForward,
    domain: Domain,
    parameters: CertificationParameters,
    *,
    progress: Progress | None = None,
    checkpoint: Path | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Certification:
    """Prove for which share of a domain a network decides alike for all protected values.

    The question, and the search by halving, are those of FairQuant (Kim, Wang, Wang, 2025); the
    bounds, the counting of half-spaces and the order of the search are not. See
    docs/certification.md.

    Progress is told about ten times a second. A checkpoint is a file to continue from, if there is
    one, and to write to. True of `should_stop`, asked between steps, ends the search as Ctrl-C
    does.
    """
    check_domain(domain, network)
    problem = build_problem(network, domain)
    task = _Task(network, domain, problem, parameters, progress)
    if checkpoint is None and is_small(problem, domain.points):
        return _everybody(task)
    return _boxes(task, None if checkpoint is None else Path(checkpoint), should_stop)


def _everybody(task: _Task) -> Certification:
    """Try every person."""
    start = time.perf_counter()
    everybody = enumerate_people(task.network, task.domain, task.problem)
    answers, weights = everybody.answers, everybody.weights
    unfair = answers.unfair
    falsified = 1.0
    if not unfair.all():
        falsified = float(weights[unfair].sum()) / float(weights.sum())
    shares = Shares(1.0 - falsified, falsified, 0.0)
    weighty = answers.of(np.flatnonzero(weights > 0))
    examples = clearest(task, weighty, np.ones(len(weighty.points), dtype=np.bool_))
    seconds = time.perf_counter() - start
    moment = Moment(seconds, len(weights), shares)
    if task.progress is not None:
        task.progress(moment)
    count = task.parameters.regions
    return task.certification(
        shares=shares,
        stopped="done",
        method="enumerated",
        boxes=len(weights),
        open_boxes=0,
        seconds=seconds,
        moments=(moment,),
        remainder=None,
        counterexamples=examples,
        regions=regions_of_everybody(everybody, task.domain, task.problem.axes, count),
        within_rounding=everybody.within_rounding,
    )


def _boxes(
    task: _Task, checkpoint: Path | None, should_stop: Callable[[], bool] | None
) -> Certification:
    """Search over boxes."""
    problem, parameters = task.problem, task.parameters
    # The clock is held until the end: what is drawn afterwards is part of the result.
    with (
        Clock(parameters.time_limit, should_stop) as clock,
        Prover(problem, jobs=parameters.processors) as prover,
    ):
        # Machine code is loaded, or made, before the clock starts: it is no work on the problem.
        prover.analyse(problem.axes.low[None], problem.axes.high[None], bins=1, keep=True)
        search = BranchAndBound(prover)
        already, moments = 0.0, list[Moment]()
        about = fingerprint(task.network, task.domain) if checkpoint is not None else ""
        known = checkpoint is not None and checkpoint.exists()
        if checkpoint is not None and known:
            already, moments = read_checkpoint(checkpoint, search, about)
        clock.start(already)
        if not known:
            search.begin()

        def save(seconds: float) -> None:
            if checkpoint is not None:
                write_checkpoint(checkpoint, search, about, seconds, moments)

        stopped = _search(task, search, clock, moments, save)
        seconds = clock.seconds
        save(seconds)
        generator = np.random.default_rng(parameters.random_state)
        draws = draw_open(search, parameters.samples, generator)
        answers = ask(task.network, task.domain, draws.points)
        shares = search.shares
        return task.certification(
            shares=shares,
            stopped=stopped,
            method="bounded",
            boxes=search.looks,
            open_boxes=int((search.boxes["undecided"] > 0).sum()),
            seconds=seconds,
            moments=tuple(moments),
            remainder=remainder_of(answers, draws, shares, parameters.confidence),
            counterexamples=counterexamples_of(search, task, answers, generator),
            regions=regions_of_search(
                search, task.domain, draws.nodes, answers.unfair, parameters.regions
            ),
            within_rounding=0,
        )


def _search(
    task: _Task,
    search: BranchAndBound,
    clock: Clock,
    moments: list[Moment],
    save: Callable[[float], None],
) -> Stopped:
    """Take steps until something stops the search, and return what did."""
    enough = task.parameters.undecided
    told, saved = -_PROGRESS, clock.seconds
    while True:
        seconds, shares = clock.seconds, search.shares
        moment = Moment(seconds, search.looks, shares)
        moments.append(moment)
        if len(moments) > _MOMENTS:
            # Every other one is dropped, never the first or last.
            del moments[1:-1:2]
        if task.progress is not None and seconds - told >= _PROGRESS:
            told = seconds
            task.progress(moment)
        if seconds - saved >= _CHECKPOINT:
            saved = seconds
            save(seconds)
        if shares.undecided <= 0:
            return "done"
        if enough is not None and shares.undecided <= enough:
            return "undecided"
        if (why := clock.stopped()) is not None:
            return why
        if not search.step(clock.in_time):
            return "done"

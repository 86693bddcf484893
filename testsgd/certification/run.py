"""Certify a network on a domain: by enumeration, or by a search over boxes with a time limit."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

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
from testsgd.certification.proving.linear_bounds import only_decision
from testsgd.certification.proving.prover import can_compile
from testsgd.certification.search import (
    Answers,
    BranchAndBound,
    Draws,
    Enumeration,
    PartitionRows,
    ask,
    draw_falsified,
    draw_open,
    draw_points,
    enumerate_people,
    fingerprint,
    is_small,
    read_checkpoint,
    regions_of_enumeration,
    regions_of_search,
    write_checkpoint,
)
from testsgd.errors import ParameterError
from testsgd.io import goes_on_from, is_reproducible, table_file
from testsgd.scoring import clopper_pearson

Progress = Callable[[Moment], None]


@dataclass(frozen=True)
class _Task:
    """A network and a domain, and how the one is certified on the other."""

    network: FeedForward
    domain: Domain
    problem: Problem
    parameters: CertificationParameters
    progress: Progress | None


class Clock:
    """The time limit of a search, and its end by Ctrl-C or by request.

    In its ``with`` statement the first Ctrl-C only asks the search to stop, the second breaks off.
    If another handler of the signal is set, or in another thread than the main one, Ctrl-C is left
    as it is.
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
    """Return the intervals that draws give; None if none was kept.

    Of the unfair share of the undecided region it is that of Clopper and Pearson, of the kept
    draws. For the unfair share of the whole domain let

    - f be the share that is proved unfair outside all pieces (`draws.falsified`),
    - M the sum of the shares of all pieces (`draws.measure`), n the number of draws,
    - Ki = 1 if draw i is kept and the network treats its point unfairly, else 0,
    - Di = 1 if draw i hits the falsified share that is not in f, else 0, see
      :meth:`testsgd.certification.search.disjoint_cover.Pieces.uncounted_falsified`.

    The estimate is ``f + M * mean(Ki + Di)``. Ki + Di is 0, 1 or 2, so the mean is the rate of
    draws where it is at least 1 plus the rate of those where it is 2. Both are binomial, and each
    has an interval of Clopper and Pearson at half of the risk; the ends are added. Where no share
    is falsified outside the pieces, it is never 2, and the first interval has all of the risk. The
    estimate and its ends are cut to what is proved.
    """
    samples = len(draws.points)
    if samples == 0:
        return None
    unfair = int(answers.unfair.sum())
    low, high = clopper_pearson(unfair, samples, 1.0 - confidence)
    at_least_one = int((answers.unfair | draws.more).sum()) + draws.more_left_out
    two = int((answers.unfair & draws.more).sum())
    counts = np.array([at_least_one, two] if draws.falsified_outside else [at_least_one])
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
    """Return people who are treated unfairly, those of proved regions first."""
    if not task.parameters.counterexamples:
        return ()
    points = draw_falsified(search, _TRIES, generator)
    if search.examples:
        lo, hi = (np.array(side) for side in zip(*search.examples, strict=True))
        points = np.concatenate([draw_points(search.axes, lo, hi, generator), points])
    falsified = ask(task.network, task.domain, points)
    answers = Answers(
        points=np.concatenate([falsified.points, answers.points]),
        decisions=np.concatenate([falsified.decisions, answers.decisions]),
        sums=np.concatenate([falsified.sums, answers.sums]),
    )
    return clearest(task, answers, np.arange(len(answers.points)) < len(points))


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


# Seconds between two calls of progress.
_PROGRESS = 0.1
# Seconds before the first checkpoint; each pause is twice the one before, up to the longest.
_FIRST_CHECKPOINT = 2.0
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
    export_regions: Path | None = None,
) -> Certification:
    """Prove for which share of a domain a network decides alike for all protected values.

    A domain of at most a million people is enumerated, if the network is not too large and no
    checkpoint is given. Else boxes are bounded and halved until the time limit, or until enough is
    decided.

    Parameters
    ----------
    network : FeedForward
        The network, of :func:`testsgd.certification.find_network`.
    domain : Domain
        The domain, with the inputs of the network in its order.
    parameters : CertificationParameters
        The time limit, the number of samples and what else can be chosen.
    progress : callable, optional
        Called about ten times a second with a :class:`testsgd.certification.Moment`.
    checkpoint : Path, optional
        A file to continue from, if it exists, and to write to.
    should_stop : callable, optional
        Asked between steps; True ends the search as Ctrl-C does.
    export_regions : Path, optional
        A .csv or .parquet file for all boxes of the domain with what is proved of each, written
        as they are decided, so that memory does not grow with them.

    Returns
    -------
    Certification
        The proved shares, the estimate of the unfair share, regions and counterexamples.

    Raises
    ------
    ParameterError
        If the domain does not fit the network, or all boxes are asked for and the checkpoint, which
        does not hold the decided ones, exists already.
    ModelError
        If sums of the network may leave the range of its arithmetic, or a leaky unit has a slope
        that is not between 0 and 1.
    ResultError
        If the checkpoint is damaged, or of another network, domain or version of testsgd.

    Notes
    -----
    The question, and the search by halving, are those of FairQuant (Kim, Wang, Wang, 2025); the
    bounds, the counting of half-spaces and the order of the search are not. See
    docs/certification.md.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from testsgd.certification import CertificationParameters, find_domain, find_network
    >>> model = LogisticRegression().fit([[0, 0], [19, 1]], [0, 1])
    >>> model.coef_[:], model.intercept_[:] = [[1.0, 3.0]], [-10.5]
    >>> ranges = {"inputs": {"skill": {"integer": [0, 19]}, "man": {"integer": [0, 1]}}}
    >>> network = find_network(model)
    >>> domain = find_domain(ranges, protected="man", network=network)
    >>> certify_network(network, domain, CertificationParameters()).shares
    Shares(certified=0.85, falsified=0.15, undecided=0.0)
    """
    check_domain(domain, network)
    problem = build_problem(network, domain)
    task = _Task(network, domain, problem, parameters, progress)
    path = None if checkpoint is None else Path(checkpoint)
    if export_regions is not None and path is not None and goes_on_from(path):
        raise ParameterError(
            "the checkpoint does not hold the boxes that are decided already",
            where="export_regions",
            remedy="export the regions of a search from its start",
            name="export_regions",
        )
    with _partition_rows(domain, export_regions) as rows:
        if path is None and is_small(problem, domain.points):
            return _enumerate(task, rows)
        return _branch_and_bound(task, path, should_stop, rows)


@contextmanager
def _partition_rows(domain: Domain, target: Path | None) -> Iterator[PartitionRows | None]:
    """Return what takes the boxes for a file; None without one."""
    if target is None:
        yield None
        return
    with table_file(Path(target)) as add:
        rows = PartitionRows(domain, add)
        yield rows
        rows.finish()


def _enumerate(task: _Task, rows: PartitionRows | None) -> Certification:
    """Return the certification of a small domain, of which every person is tried."""
    start = time.perf_counter()
    enumeration = enumerate_people(task.network, task.domain, task.problem)
    answers = enumeration.answers
    weights = enumeration.weights
    unfair = answers.unfair
    if rows is not None:
        rows.add_enumeration(enumeration)
    shares = Shares(enumeration.share(~unfair), enumeration.share(unfair), 0.0)
    weighty = answers.of(np.flatnonzero(weights > 0))
    examples = clearest(task, weighty, np.ones(len(weighty.points), dtype=np.bool_))
    labels, first = task.network.decision.labels, answers.decisions[0, 0]
    # Another machine may give a person whom rounding decides another decision.
    only = (answers.decisions == first).all() and not enumeration.within_rounding
    seconds = time.perf_counter() - start
    moment = Moment(seconds, len(weights), shares)
    if task.progress is not None:
        task.progress(moment)
    count = task.parameters.regions
    return Certification(
        network=task.network,
        domain=task.domain,
        parameters=task.parameters,
        points=task.domain.points,
        shares=shares,
        stopped="done",
        method="enumerated",
        boxes=len(weights),
        open_boxes=0,
        seconds=seconds,
        moments=(moment,),
        remainder=None,
        counterexamples=examples,
        counterexamples_found=int(weighty.unfair.sum()),
        only_decision=labels[first] if only else None,
        regions=regions_of_enumeration(enumeration, task.domain, task.problem.axes, count),
        within_rounding=enumeration.within_rounding,
        however_rounded=_however_rounded(enumeration),
    )


def _however_rounded(enumeration: Enumeration) -> Shares | None:
    """Return the shares that hold however sums are rounded; None if these are all of the domain."""
    fair, unfair = enumeration.surely_fair, enumeration.surely_unfair
    undecided = enumeration.share(~(fair | unfair))
    if not undecided:
        return None
    return Shares(enumeration.share(fair), enumeration.share(unfair), undecided)


def _branch_and_bound(
    task: _Task,
    checkpoint: Path | None,
    should_stop: Callable[[], bool] | None,
    rows: PartitionRows | None,
) -> Certification:
    """Return the certification by a search over boxes, continued from a checkpoint that exists."""
    problem, parameters = task.problem, task.parameters
    # Arrays prove other bounds than compiled code. Where equal runs are to write equal files, the
    # same code therefore runs without numba too, uncompiled and slowly.
    compiled = can_compile(problem) if is_reproducible() else None
    # The clock is held until the end: what is drawn afterwards is part of the result.
    with (
        Clock(parameters.time_limit, should_stop) as clock,
        Prover(problem, jobs=parameters.processors, compiled=compiled) as prover,
    ):
        # Machine code is loaded, or made, before the clock starts: it is no work on the problem.
        prover.analyse(problem.axes.low[None], problem.axes.high[None], bins=1, keep=True)
        search = BranchAndBound(prover, when_decided=None if rows is None else rows.add_decided)
        already, moments = 0.0, list[Moment]()
        digest = fingerprint(task.network, task.domain) if checkpoint is not None else ""
        known = checkpoint is not None and goes_on_from(checkpoint)
        if checkpoint is not None and known:
            already, moments = read_checkpoint(checkpoint, search, digest)
        clock.start(already)
        if not known:
            search.begin()

        def save(seconds: float) -> None:
            if checkpoint is not None:
                write_checkpoint(checkpoint, search, digest, seconds, moments)

        stopped = _search(task, search, clock, moments, save)
        seconds = clock.seconds
        save(seconds)
        if rows is not None:
            rows.add_open(search)
        generator = np.random.default_rng(parameters.random_state)
        draws = draw_open(search, parameters.samples, generator)
        answers = ask(task.network, task.domain, draws.points)
        shares = search.shares
        return Certification(
            network=task.network,
            domain=task.domain,
            parameters=parameters,
            points=task.domain.points,
            shares=shares,
            stopped=stopped,
            method="bounded",
            only_decision=_only_decision(task, shares),
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


def _only_decision(task: _Task, shares: Shares) -> str | None:
    """Return the label that the whole domain gets, if bounds of it prove so; else None."""
    if shares.falsified or shares.undecided:
        return None
    index = only_decision(task.problem)
    return None if index is None else task.network.decision.labels[index]


def _search(
    task: _Task,
    search: BranchAndBound,
    clock: Clock,
    moments: list[Moment],
    save: Callable[[float], None],
) -> Stopped:
    """Take steps until the search ends, and return why it ended; `moments` get a row a step."""
    enough = task.parameters.undecided
    reported = -_PROGRESS
    saved = clock.seconds
    pause = _FIRST_CHECKPOINT
    while True:
        seconds, shares = clock.seconds, search.shares
        moment = Moment(seconds, search.looks, shares)
        moments.append(moment)
        if len(moments) > _MOMENTS:
            # Every other one is dropped, never the first or last.
            del moments[1:-1:2]
        if task.progress is not None and seconds - reported >= _PROGRESS:
            reported = seconds
            task.progress(moment)
        if seconds - saved >= pause:
            saved = seconds
            pause = min(2 * pause, _CHECKPOINT)
            save(seconds)
        if shares.undecided <= 0:
            return "done"
        if enough is not None and shares.undecided <= enough:
            return "undecided"
        if (why := clock.stopped()) is not None:
            return why
        if not search.step(clock.in_time):
            return "done"

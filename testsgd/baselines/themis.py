"""Themis: how far apart the rates of two combinations of sensitive values lie on generated rows.

Rows are generated with every feature that is not sensitive drawn uniformly from its domain, and
each is given every combination of sensitive values in turn. The group discrimination score is the
largest rate of a combination minus the smallest; the causal discrimination score is the share of
generated rows about which the model does not decide alike under all combinations. Rates say what
the model does over its whole domain, which may be far from where people are. So both scores are
given a second time for rows of the data, whose other features stay as they are; and with them the
rates of the people as they are, whose other features differ, too.

References
----------
Galhotra, S., Brun, Y. and Meliou, A. (2017). Fairness testing: testing software for
discrimination. ESEC/FSE 2017.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.baselines.baseline import (
    MOST_FINDINGS,
    BaselineFinding,
    BaselineResult,
    Deadline,
    Figure,
    ShippedBaseline,
    Subject,
)
from testsgd.baselines.coding import Points, RowCoding
from testsgd.baselines.combinations import (
    NO_COMBINATIONS,
    Combinations,
    drawn_values,
    rows_of,
    rule_set_of,
    sensitive_combinations,
)
from testsgd.models import Model
from testsgd.sampling import BATCH_ROWS


@dataclass(frozen=True)
class CombinationRates:
    """How the same rows fare under every combination."""

    # Share of the rows that get the favourable label; shape (combinations,).
    rates: NDArray[np.float64]
    causal: float  # Share of the rows about which some two combinations are decided differently.
    rows: int  # How many rows were tried.

    @property
    def group(self) -> float:
        """Largest rate minus smallest."""
        return float(np.ptp(self.rates))


def combination_rates(
    model: Model,
    coding: RowCoding,
    combinations: Combinations,
    base: Callable[[int], Points],
    *,
    wanted: int,
    generator: np.random.Generator,
    deadline: Deadline,
) -> CombinationRates:
    """Return the rates of every combination of sensitive values, each given to the same rows.

    A number is drawn uniformly within its bin, once for each row and bin: combinations that share a
    bin share the number, so that a row under them differs in nothing else. `base` returns a
    given number of further rows as points (n, features), of which `wanted` are tried; a first block
    of them is tried even if the time is up.
    """
    favourable = np.zeros(len(combinations), dtype=np.int64)
    done = differing = 0
    block = max(1, BATCH_ROWS // len(combinations))
    while done < wanted and not (done and deadline.passed):
        points = base(min(block, wanted - done))
        frame = coding.frame(_varied(points, coding, combinations, generator))
        decisions = model.decisions(frame).reshape(len(points), len(combinations))
        favourable += decisions.sum(axis=0)
        differing += int((decisions != decisions[:, :1]).any(axis=1).sum())
        done += len(points)
    return CombinationRates(favourable / done, differing / done, done)


def _varied(
    points: Points, coding: RowCoding, combinations: Combinations, generator: np.random.Generator
) -> Points:
    """Return every point with every combination; those of the first point come first."""
    varied = np.repeat(points, len(combinations), axis=0)
    for index, axis in enumerate(combinations.axes):
        values = drawn_values(axis, coding.feature_of(axis), len(points), generator)
        varied[:, coding.index(axis.feature)] = values[combinations.cells[:, index]].T.ravel()
    return varied


# Rows of the data that a combination must have for its rate on them to be looked at.
FEWEST_ROWS = 30


class Themis(ShippedBaseline):
    """The scores of Galhotra et al. over all combinations of the sensitive cells.

    A finding is a pair of groups, one for every subset of the sensitive features; the first has the
    score of the method. At least one block of rows is generated, whatever the time.

    Parameters
    ----------
    fewest, most : int
        Rows generated for each combination, at least and at most.
    queries : int
        How many rows in all, as far as `fewest` and `most` allow.

    Examples
    --------
    >>> from testsgd.baselines import subject_of
    >>> from testsgd.data import load_specification, load_table
    >>> from testsgd.models import load_model
    >>> specification = load_specification("demo")
    >>> subject = subject_of(
    ...     load_table(specification), load_model(None, specification).model, theta=0.05
    ... )
    >>> result = Themis(fewest=200, most=200).run(subject)
    >>> result.queries == (200 + 200) * result.groups
    True
    """

    method = "themis"
    title = "Themis"
    measure = (
        "largest minus smallest rate of the favourable label over combinations of sensitive "
        "values, on generated rows"
    )
    finding = "a group discrimination score of at least 0.1, the threshold in its manual"

    def __init__(
        self, *, fewest: int = 1_000, most: int = 10_000, queries: int = 1_000_000
    ) -> None:
        self._fewest = fewest
        self._most = most
        self._queries = queries

    def _run(self, subject: Subject, deadline: Deadline) -> BaselineResult:
        coding = RowCoding(subject.table)
        combinations = sensitive_combinations(subject.contingency, coding)
        if not len(combinations):
            return self._result(note=NO_COMBINATIONS, available=False)
        generator = np.random.default_rng(subject.seed)
        wanted = int(np.clip(self._queries // len(combinations), self._fewest, self._most))
        generated = combination_rates(
            subject.model,
            coding,
            combinations,
            lambda count: coding.uniform(generator, count),
            wanted=wanted,
            generator=generator,
            deadline=deadline,
        )
        rows = iter(generator.permutation(len(subject.table))[:wanted])
        people = combination_rates(
            subject.model,
            coding,
            combinations,
            lambda count: coding.points(np.fromiter(rows, dtype=np.intp, count=count)),
            wanted=min(wanted, len(subject.table)),
            generator=generator,
            deadline=deadline,
        )
        notes = [combinations.note()]
        if generated.rows < wanted or people.rows < min(wanted, len(subject.table)):
            notes.append(
                f"stopped after {deadline.seconds:.0f} s with {generated.rows:,} of {wanted:,} "
                f"generated rows and {people.rows:,} people"
            )
        return self._result(
            findings=_findings(subject, combinations, generated.rates),
            figures=(
                *_scores(combinations, generated, "generated rows", ""),
                *_scores(combinations, people, "rows of the data", ", people of the data"),
                _on_own_rows(subject),
            ),
            groups=len(combinations),
            queries=(generated.rows + people.rows) * len(combinations),
            seconds=deadline.seconds,
            note="; ".join(note for note in notes if note),
        )

    def is_finding(self, subject: Subject, result: BaselineResult) -> bool:
        """Return whether the score is at least 0.1, the threshold in the manual of Themis.

        Parameters
        ----------
        subject : Subject
            The rows and the model.
        result : BaselineResult
            What the method found on them.

        Returns
        -------
        bool
        """
        return bool(result.findings) and result.findings[0].value >= 0.1


def _scores(
    combinations: Combinations, rates: CombinationRates, what: str, whose: str
) -> tuple[Figure, Figure]:
    """Return both scores on one kind of rows."""
    high, low = (
        rule_set_of(combinations.axes, dict(enumerate(combinations.cells[index]))).text
        for index in (rates.rates.argmax(), rates.rates.argmin())
    )
    pair = f": [{high}] - [{low}]" if rates.group > 0 else ""
    return (
        Figure(
            f"group discrimination score{whose}",
            rates.group,
            "largest minus smallest rate of the favourable label over the combinations of "
            f"sensitive values, each of them given to the same {rates.rows:,} {what}{pair}",
        ),
        Figure(
            f"causal discrimination score{whose}",
            rates.causal,
            f"share of {rates.rows:,} {what} about which another combination of sensitive values "
            "changes the decision",
        ),
    )


def _findings(
    subject: Subject, combinations: Combinations, rates: NDArray[np.float64]
) -> tuple[BaselineFinding, ...]:
    """Return the widest pair over every subset of the features, the widest of all first."""
    if not combinations.complete:
        # Over fewer features, combinations that occur are no fair average of the others.
        high, low = (
            dict(enumerate(combinations.cells[index])) for index in (rates.argmax(), rates.argmin())
        )
        pair = _pair(subject, high, low, float(np.ptp(rates)))
        return (pair,) if pair.value > 0 else ()
    everything = range(len(combinations.axes))
    grid = rates.reshape(combinations.shape)
    widest: list[tuple[float, dict[int, int], dict[int, int]]] = []
    for size in range(1, len(everything) + 1):
        for chosen in itertools.combinations(everything, size):
            others = tuple(axis for axis in everything if axis not in chosen)
            means = grid.mean(axis=others) if others else grid
            if (value := float(np.ptp(means))) > 0:
                high, low = (
                    {
                        axis: int(combinations.usable[axis][cell])
                        for axis, cell in zip(
                            chosen, np.unravel_index(int(index), means.shape), strict=True
                        )
                    }
                    for index in (means.argmax(), means.argmin())
                )
                widest.append((value, high, low))
    # Equal values: the fewest features first, which the order they were found in gives.
    widest.sort(key=lambda item: -item[0])
    return tuple(_pair(subject, high, low, value) for value, high, low in widest[:MOST_FINDINGS])


def _pair(
    subject: Subject, high: dict[int, int], low: dict[int, int], value: float
) -> BaselineFinding:
    texts = [rule_set_of(subject.axes, cells).text for cells in (high, low)]
    return BaselineFinding(
        text=f"[{texts[0]}] - [{texts[1]}]",
        value=value,
        rows=rows_of(subject.contingency, high),
        rows_other=rows_of(subject.contingency, low),
    )


def _on_own_rows(subject: Subject) -> Figure:
    """Compare the rates of the combinations on the rows of the data themselves."""
    name = "group discrimination score, as observed"
    counts = subject.contingency.tally()
    favourable = subject.contingency.tally(subject.decisions.astype(np.int64))
    large = np.flatnonzero(counts >= FEWEST_ROWS)
    if len(large) < 2:
        return Figure(
            name,
            f"fewer than two combinations have {FEWEST_ROWS} rows",
            "the same difference between the groups of people who have each combination",
        )
    rates = favourable[large] / counts[large]
    high, low = (
        rule_set_of(subject.axes, dict(enumerate(subject.contingency.coordinates[cell]))).text
        for cell in (large[rates.argmax()], large[rates.argmin()])
    )
    return Figure(
        name,
        float(np.ptp(rates)),
        f"the same difference between the groups of people who have each combination, over the "
        f"{len(large):,} combinations with {FEWEST_ROWS} rows or more: [{high}] - [{low}]",
    )

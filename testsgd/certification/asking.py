"""Whether a network is fair to given people: each is tried with every protected value."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.domain import CategoryInput, Domain, IntegerInput, check_domain
from testsgd.certification.network import FeedForward
from testsgd.certification.outcome import Region
from testsgd.certification.proving import Prover, build_problem
from testsgd.certification.proving.problem import Problem
from testsgd.certification.search import (
    ask,
    box_text,
    enumerate_people,
    parted,
    sure_decisions,
)

PersonVerdict = Literal["fair", "unfair", "open"]
RegionProof = Literal["certified", "falsified", "undecided", "mixed"]

# People times combinations of protected values that are worked on at once.
_BLOCK = 16384
# Combinations of a block that are tried only because somebody has them.
_MOST_OTHERS = 1


@dataclass(frozen=True)
class PersonCheck:
    """What is known of one given person.

    Attributes
    ----------
    verdict : {"fair", "unfair", "open"}
        Fair: every compared protected value gets the same decision, however the model's sums are
        rounded. Unfair: two get different ones, however they are rounded. Open: a decision lies
        so near to the turning point that rounding may change the answer.
    decision : str
        The decision about the person, as the model runs here.
    counterpart : dict or None
        The protected values of somebody who is the same in all else and gets another decision; of
        an open person only as the model runs here; None if there is no such person.
    counterpart_decision : str or None
        The decision about the counterpart.
    region : str or None
        The region of a certification in which the person lies. Where everybody was tried it is one
        of which one thing is proved, if need be a box of those that part the fair people from the
        unfair ones. None without a certification, or if the person lies in none of its regions.
    region_proof : {"certified", "falsified", "undecided", "mixed"} or None
        What the certification has proved of the region: of a mixed one, different things of
        different parts.
    """

    verdict: PersonVerdict
    decision: str
    counterpart: dict[str, int | float | str] | None
    counterpart_decision: str | None
    region: str | None = None
    region_proof: RegionProof | None = None


def check_people(
    network: FeedForward, domain: Domain, values: NDArray[np.float64]
) -> tuple[PersonCheck, ...]:
    """Return whether a network is fair to each of given people.

    A person is tried with the own protected values and with all that the domain compares. It is
    exact: an answer other than open holds for the model in whatever order it adds.

    Parameters
    ----------
    network : FeedForward
        The network.
    domain : Domain
        The domain, fitted to the network.
    values : numpy.ndarray of float, shape (people, inputs)
        The people's values, of :func:`testsgd.certification.given_people.people_values`.

    Returns
    -------
    tuple of PersonCheck
        One a person, in their order.

    Raises
    ------
    ParameterError, ModelError
        If the domain does not fit the network, or its sums may leave the range of its arithmetic.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from testsgd.certification import find_domain, find_network
    >>> model = LogisticRegression().fit([[0, 0], [19, 1]], [0, 1])
    >>> model.coef_[:], model.intercept_[:] = [[1.0, 3.0]], [-10.5]
    >>> ranges = {"inputs": {"skill": {"integer": [0, 19]}, "man": {"integer": [0, 1]}}}
    >>> network = find_network(model)
    >>> domain = find_domain(ranges, protected="man", network=network)
    >>> fair, unfair = check_people(network, domain, np.array([[7.0, 0.0], [9.0, 0.0]]))
    >>> fair.verdict, unfair.verdict, unfair.counterpart
    ('fair', 'unfair', {'man': 1})
    """
    check_domain(domain, network)
    checks: list[PersonCheck] = []
    protected = [domain.names.index(name) for name in domain.protected]
    compared = domain.protected_values
    own = [tuple(row) for row in values[:, protected].tolist()]
    for rows in _blocks(own, compared):
        # Values that are not compared are tried for those who have them.
        others = tuple(dict.fromkeys(own[row] for row in rows if own[row] not in compared))
        tried = replace(domain, protected_values=(*compared, *others))
        mine = [own[row] for row in rows]
        checks.extend(_check_block(network, tried, len(compared), values[rows], mine))
    return tuple(checks)


def _blocks(
    own: Sequence[tuple[float, ...]], compared: Collection[tuple[float, ...]]
) -> Iterator[list[int]]:
    """Return rows block by block, with few combinations in a block that are not compared."""
    size = max(1, _BLOCK // len(compared))
    known = set(compared)
    rows: list[int] = []
    others: set[tuple[float, ...]] = set()
    for row, combination in enumerate(own):
        new = combination not in known and combination not in others
        if rows and (len(rows) == size or (new and len(others) == _MOST_OTHERS)):
            yield rows
            rows, others = [], set()
        rows.append(row)
        if combination not in known:
            others.add(combination)
    if rows:
        yield rows


def _check_block(
    network: FeedForward,
    domain: Domain,
    compared: int,
    people: NDArray[np.float64],
    own: list[tuple[float, ...]],
) -> list[PersonCheck]:
    """Check people by the first `compared` combinations of a domain and their own."""
    free = [index for index, name in enumerate(domain.names) if name not in domain.protected]
    points = np.ascontiguousarray(people[:, free])
    problem = build_problem(network, domain)
    decisions = ask(network, domain, points).decisions
    sure, lost = sure_decisions(problem, points)
    mine = np.array([domain.protected_values.index(row) for row in own])
    tried = np.zeros(decisions.shape, dtype=np.bool_)
    tried[:, :compared] = True
    tried[np.arange(len(people)), mine] = True
    same = np.logical_or(sure, ~tried[..., None]).all(axis=1)
    fair = np.asarray(np.any(same, axis=1), dtype=np.bool_)
    # One combination surely gets a decision that another surely does not.
    given = np.logical_and(sure, tried[..., None]).any(axis=1)
    refused = np.logical_and(lost, tried[..., None]).any(axis=1)
    unfair = np.asarray(np.any(given & refused, axis=1), dtype=np.bool_)
    unknown = np.flatnonzero(~fair & ~unfair & tried.all(axis=1))
    if len(unknown):
        status = _by_lines(problem, points[unknown])
        fair[unknown] = status == 1
        unfair[unknown] = status == 2
    labels = network.decision.labels
    checks = []
    for index, here in enumerate(mine):
        known_apart = (sure[index, here] & lost[index]).any(axis=1)
        known_apart |= (lost[index, here] & sure[index]).any(axis=1)
        other = _counterpart(domain, decisions[index], tried[index], known_apart, int(here))
        verdict: PersonVerdict = "fair" if fair[index] else "unfair" if unfair[index] else "open"
        checks.append(
            PersonCheck(
                verdict=verdict,
                decision=labels[decisions[index, here]],
                counterpart=None if other is None else _named(domain, other),
                counterpart_decision=None if other is None else labels[decisions[index, other]],
            )
        )
    return checks


def _by_lines(problem: Problem, points: NDArray[np.float64]) -> NDArray[np.int8]:
    """Return the status of points as boxes: 1 fair, 2 unfair, 0 open.

    Lower and upper lines are nearer to each other than sums of all errors, but cost far more.
    """
    with Prover(problem, compiled=False) as prover:
        return prover.analyse(points, points, bins=1).status


def _counterpart(
    domain: Domain,
    decisions: NDArray[np.intp],
    tried: NDArray[np.bool_],
    known_apart: NDArray[np.bool_],
    here: int,
) -> int | None:
    """Return the combination to show as the counterpart, None if all get one decision.

    Preferred is one whose decision differs however sums are rounded, then one that differs in the
    fewest protected inputs.
    """
    different = np.flatnonzero(tried & (decisions != decisions[here]))
    if not len(different):
        return None
    mine = domain.protected_values[here]

    def order(index: int) -> tuple[bool, int]:
        values = domain.protected_values[index]
        return not known_apart[index], sum(a != b for a, b in zip(mine, values, strict=True))

    return min(different.tolist(), key=order)


def _named(domain: Domain, combination: int) -> dict[str, int | float | str]:
    """Return the protected values of a combination by input."""
    named: dict[str, int | float | str] = {}
    values = domain.protected_values[combination]
    for name, value in zip(domain.protected, values, strict=True):
        item = domain.input(name)
        if isinstance(item, CategoryInput):
            named[name] = item.text(value)
        else:
            named[name] = int(value) if isinstance(item, IntegerInput) else value
    return named


def located(
    checks: Sequence[PersonCheck],
    domain: Domain,
    values: NDArray[np.float64],
    regions: Sequence[Region],
    *,
    covering: bool,
) -> tuple[PersonCheck, ...]:
    """Return the checks with the region of a certification in which each person lies.

    Parameters
    ----------
    checks : sequence of PersonCheck
        One a person.
    domain : Domain
        The domain.
    values : numpy.ndarray of float, shape (people, inputs)
        The people's values.
    regions : sequence of Region
        Regions of the certification.
    covering : bool
        Whether all outside of the regions is proved fair.

    Returns
    -------
    tuple of PersonCheck
    """
    found = []
    for check, row in zip(checks, values.tolist(), strict=True):
        person = dict(zip(domain.names, row, strict=True))
        region = next((region for region in regions if _lies_in(person, domain, region)), None)
        if region is not None:
            check = replace(check, region=region.text, region_proof=region_proof(region))
        elif covering:
            check = replace(check, region="outside of all regions", region_proof="certified")
        found.append(check)
    return tuple(found)


def located_in_parts(
    checks: Sequence[PersonCheck], network: FeedForward, domain: Domain, values: NDArray[np.float64]
) -> tuple[PersonCheck, ...]:
    """Return the checks with the box of an enumeration in which each person lies.

    All people of the domain are tried. The boxes are those that their certification exports: each
    has fair people or unfair ones only.

    Parameters
    ----------
    checks : sequence of PersonCheck
        One a person.
    network : FeedForward
        The network.
    domain : Domain
        The domain, small enough to try all of its people.
    values : numpy.ndarray of float, shape (people, inputs)
        The people's values.

    Returns
    -------
    tuple of PersonCheck
    """
    problem = build_problem(network, domain)
    parts = parted(enumerate_people(network, domain, problem))
    free = [index for index, name in enumerate(domain.names) if name not in domain.protected]
    proofs: dict[int, RegionProof] = {1: "certified", 2: "falsified"}
    return tuple(
        replace(
            check,
            region=box_text(domain, problem.axes, parts.lo[box], parts.hi[box]),
            region_proof=proofs[int(parts.status[box])],
        )
        for check, box in zip(checks, parts.of(values[:, free]).tolist(), strict=True)
    )


def _lies_in(person: Mapping[str, float], domain: Domain, region: Region) -> bool:
    for rule in region.rules:
        value = person[rule.name]
        if rule.values is not None:
            if domain.input(rule.name).text(value) not in rule.values:
                return False
        elif rule.low is not None and rule.high is not None and not rule.low <= value <= rule.high:
            return False
    return True


def region_proof(region: Region) -> RegionProof:
    """Return what is proved of a region: of all of it one thing, or of parts different ones."""
    parts: dict[RegionProof, float] = {
        "certified": region.certified,
        "falsified": region.falsified,
        "undecided": region.undecided,
    }
    present = [name for name, share in parts.items() if share > 0]
    return present[0] if len(present) == 1 else "mixed"

"""How likely the assumption of a static periodic shield is to hold, before the shield goes live.

Appendix A.3 of the paper on fairness shields: who comes in a period is a sample of the expected
distribution, so the numbers of people that each group's rate counts are multinomial, and the
probability that each is large enough is a sum of binomial tails. It is computed here for any number
of groups, one group after the other, each with a part of the people that are left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from testsgd.errors import ParameterError
from testsgd.fairness import FairnessProperty
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.requirement import least_counted
from testsgd.shielding.specification import ShieldSpecification

_LONGEST = 1 << 12
# Shields whose assumption is about who comes in a period, and not about the history.
_STATIC = ("static-fair", "static-bounded-welfare")
# Shares of groups that add up to 1 but for that leave outside else.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class PeriodAdvice:
    """How likely the assumption of a static periodic shield is, by the length of a period."""

    # People of each group that a period of the specification needs; None: of all equally many.
    least: int | None
    # Lengths, with the probability in one period: 1 only where the assumption cannot fail.
    rows: tuple[tuple[int, float], ...]
    # The probabilities that it fails, in the order of the rows; 0 only where it cannot.
    failing: tuple[float, ...]
    target: float  # The probability that is wanted.
    shortest: int | None  # The first length, of up to 4,096, that reaches it; None: none does.
    # How far apart the narrowest welfare bounds are that reach it at the specification's length;
    # None: none that keep the bound on the bias.
    narrowest: Fraction | None
    # Of equal shares: the length of the likeliest period, and its probability.
    likeliest: tuple[int, float] | None = None


def enough_probability(shares: Sequence[float], length: int, least: int) -> float:
    """Compute the probability that each of some groups comes at least so often.

    It is 1 only if that is certain, and 0 only if it cannot be; whatever lies between is rounded to
    a number between.

    Parameters
    ----------
    shares : sequence of float
        The probability of each group at every event; together at most 1.
    length : int
        Events, which are independent of each other.
    least : int
        How often each group must come.

    Returns
    -------
    float

    Examples
    --------
    >>> enough_probability([0.5, 0.5], length=4, least=2)
    0.375
    """
    return _probabilities(shares, length, least)[0]


def short_probability(shares: Sequence[float], length: int, least: int) -> float:
    """Compute the probability that some group comes less than so often.

    It is added up by itself and is no difference from 1, so that it is as precise where it is tiny.

    Parameters
    ----------
    shares, length, least
        As for :func:`enough_probability`.

    Returns
    -------
    float
        0 only if no group can come less often.

    Examples
    --------
    >>> f"{short_probability([0.5, 0.5], length=100, least=2):.3g}"
    '1.59e-28'
    >>> enough_probability([0.5, 0.5], length=100, least=2) < 1
    True
    """
    return _probabilities(shares, length, least)[1]


def _probabilities(shares: Sequence[float], length: int, least: int) -> tuple[float, float]:
    """Return the probabilities that each group comes often enough, and that one does not."""
    from scipy.stats import binom

    if least <= 0 or (len(shares) == 1 and shares[0] >= 1 and length >= least):
        return 1.0, 0.0
    if length < least * len(shares) or min(shares) <= 0:
        return 0.0, 1.0
    together = math.fsum(shares)
    outside = 1.0 - together if together < 1.0 - _ROUNDING else 0.0
    # The probability of each number of events that are left to the groups that follow.
    left = np.zeros(length + 1)
    left[length] = 1.0
    failed = 0.0
    numbers = np.arange(length + 1)
    for place, share in enumerate(shares[:-1]):
        part = share / math.fsum((outside, *shares[place:]))
        failed += float(left @ binom.cdf(least - 1, numbers, part))
        after = np.zeros(length + 1)
        for available in np.flatnonzero(left):
            came = numbers[least : available + 1]
            after[available - came] += left[available] * binom.pmf(came, available, part)
        left = after
    # Of the last group only the tail counts.
    part = shares[-1] / math.fsum((outside, shares[-1]))
    failed += float(left @ binom.cdf(least - 1, numbers, part))
    enough = float(left @ binom.sf(least - 1, numbers, part))
    return _between(enough), _between(failed)


def equal_probability(shares: Sequence[float], length: int) -> tuple[float, float]:
    """Compute the probabilities that all groups come equally often, and that they do not.

    Both are added up, so that the smaller one is as precise. One of them is 0 only if it cannot be.

    Parameters
    ----------
    shares, length
        As for :func:`enough_probability`.

    Returns
    -------
    equal, unequal : float

    Examples
    --------
    >>> [round(one, 9) for one in equal_probability([0.25, 0.25], length=2)]
    [0.375, 0.625]
    """
    from scipy.special import gammaln, xlogy
    from scipy.stats import binom

    groups, together = len(shares), math.fsum(shares)
    counted = np.arange(length + 1)
    coming = binom.pmf(counted, length, 1.0 if together > 1.0 - _ROUNDING else together)
    each = counted // groups
    # Of those that are counted the shares of the groups add up to 1.
    log = sum(xlogy(each, share / together) for share in shares)
    log = log + gammaln(counted + 1) - groups * gammaln(each + 1)
    equal = np.where(counted % groups == 0, np.exp(log), 0.0)
    found = math.fsum(coming * equal), math.fsum(coming * (1 - np.minimum(equal, 1)))
    if not min(found):
        return found
    return _between(found[0]), _between(found[1])


def _between(probability: float) -> float:
    """Return a probability that is neither 0 nor 1, which rounding may have made of it."""
    return min(max(probability, math.ulp(0.0)), math.nextafter(1.0, 0.0))


def counted_shares(fairness: FairnessProperty, inputs: InputDistribution) -> list[float]:
    """Return the probability that an event counts below the line of each group's rate.

    A ParameterError if that depends on the decisions.
    """
    rejected, accepted = fairness.denominator
    if rejected != accepted or max(rejected) > 1:
        what = "who is counted below the line of a rate depends on the decisions"
        remedy = "simulate it with testsgd shield simulate"
        raise ParameterError(what, where="fairness.denominator", remedy=remedy)
    came = inputs.probabilities.sum(axis=2)
    ones = np.zeros_like(came) if inputs.labels is None else inputs.labels
    counted = came * (ones * rejected[1] + (1 - ones) * rejected[0])
    return [float(share) for share in counted.sum(axis=1)]


def assumption_probability(
    specification: ShieldSpecification, inputs: InputDistribution
) -> float | None:
    """Compute the probability that the assumption of a static periodic shield holds in a period.

    Parameters
    ----------
    specification : ShieldSpecification
    inputs : InputDistribution
        Who comes.

    Returns
    -------
    float or None
        None if the shield is no static one, or if the probability depends on its decisions.
    """
    horizon = specification.horizon
    if horizon.shield not in _STATIC:
        return None
    try:
        shares = counted_shares(specification.fairness_property, inputs)
    except ParameterError:
        return None
    if horizon.welfare is None:
        return equal_probability(shares, horizon.length)[0]
    return enough_probability(shares, horizon.length, least_counted(horizon.welfare))


def period_advice(specification: ShieldSpecification, *, target: float = 0.95) -> PeriodAdvice:
    """Return how likely the assumption of a static shield is, and what would make it likely.

    Parameters
    ----------
    specification : ShieldSpecification
        Its people are those of its table or log, or all equally likely.
    target : float
        The probability that is wanted, between 0 and 1.

    Returns
    -------
    PeriodAdvice

    Raises
    ------
    ParameterError
        If the shield is of another kind, or the assumption depends on its decisions.

    Examples
    --------
    >>> specification = ShieldSpecification.from_dict({
    ...     "fairness": {"property": "demographic_parity", "bound": "1/5"},
    ...     "groups": {"names": ["a", "b"]},
    ...     "horizon": {
    ...         "length": 20, "shield": "static-bounded-welfare", "welfare": [0.4, 0.6]}})
    >>> advice = period_advice(specification)
    >>> advice.least, advice.shortest, advice.narrowest
    (5, 17, Fraction(1, 6))
    """
    horizon = specification.horizon
    if not 0 < target < 1:
        what = f"the probability is {target}"
        raise ParameterError(what, where="target", remedy="give one between 0 and 1")
    if horizon.shield not in _STATIC:
        what = f"the promise of a {horizon.shield} shield rests on no number of people in a period"
        remedy = "ask about a static one; testsgd shield simulate says how often others hold"
        raise ParameterError(what, where="horizon.shield", remedy=remedy)
    shares = counted_shares(specification.fairness_property, specification.input_distribution())
    length = horizon.length
    lengths = sorted({max(1, length // 2), length, 2 * length, 4 * length})
    if horizon.welfare is None:
        # Groups are counted equally often: longer periods make it less likely. In the shortest ones
        # that is so where no one is counted, by labels, or each group once.
        short = range(1, len(shares) + 1)
        of_short = [(one, equal_probability(shares, one)[0]) for one in short]
        rows = [equal_probability(shares, one) for one in lengths]
        likeliest = max(of_short, key=lambda one: one[1])
        return PeriodAdvice(
            least=None,
            rows=tuple((one, enough) for one, (enough, _) in zip(lengths, rows, strict=True)),
            failing=tuple(failed for _, failed in rows),
            target=target,
            shortest=next((one for one, enough in of_short if enough >= target), None),
            narrowest=None,
            likeliest=likeliest,
        )
    least = least_counted(horizon.welfare)
    rows = [_probabilities(shares, one, least) for one in lengths]
    most = _largest_least(shares, length, target)
    narrowest = Fraction(1, most) if most else None
    # Of ratios, too: bounds that are farther apart than it, up to 1, allow a larger bias.
    if narrowest is not None and narrowest > specification.bound:
        narrowest = None
    return PeriodAdvice(
        least=least,
        rows=tuple((one, enough) for one, (enough, _) in zip(lengths, rows, strict=True)),
        failing=tuple(failed for _, failed in rows),
        target=target,
        shortest=_shortest(shares, least, target),
        narrowest=narrowest,
    )


def _shortest(shares: Sequence[float], least: int, target: float) -> int | None:
    """Return the first length at which each group comes often enough; None: none up to 4,096."""
    longest = 1
    while enough_probability(shares, longest, least) < target:
        longest *= 2
        if longest > _LONGEST:
            return None
    low = longest // 2
    while longest - low > 1:
        middle = (low + longest) // 2
        if enough_probability(shares, middle, least) < target:
            low = middle
        else:
            longest = middle
    return longest


def _largest_least(shares: Sequence[float], length: int, target: float) -> int:
    """Return how many people of each group come with the wanted probability, at most."""
    low, high = 0, length + 1
    while high - low > 1:
        middle = (low + high) // 2
        if enough_probability(shares, length, middle) < target:
            high = middle
        else:
            low = middle
    return low

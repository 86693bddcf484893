"""When a value must be asked for, so that no deadline is missed with as few requests as possible.

Each value has a counter: the number of outputs within which it must come, the next output included.
It starts at the value's beta, goes down with every output, and goes back to beta when the value
comes. A value is asked for only when letting the model choose once more would not be safe.

**The corrected look-ahead.** Let the counters be c(1) <= ... <= c(CG) in ascending order. If every
coming output can be asked for, all deadlines can be met if and only if c(j) >= j for all j (Hall's
condition; the sets of outputs before the deadlines are nested). After an output that serves no
value, all counters are one lower; so waiting is safe if c(j) - 1 >= j for all j, and otherwise, for
the smallest j with c(j) <= j, one of the first j values is asked for. This keeps the condition: the
value that comes goes back to its beta, which is at least CG and so puts it behind the others
without breaking any c(j) >= j; of the others, for any i >= j one of the first i values has come, so
that the value which is now (i - 1)-th has the counter c(i) - 1 >= i - 1; and for i < j the
condition was not tight, c(i) >= i + 1. At the start it holds because all betas are at least CG.
Hence no deadline is ever missed if the model gives what it is asked for.

If the output that is not asked for surely serves some value before the next decision, which is so
unless requests overlap, j = CG need not be looked at: that output is one of the first CG values.

**Algorithm 1 as printed** (:func:`paper_look_ahead`) asks for k counters that are *equal* to k. It
does not see (2, 3, 3), which needs three outputs for three values within three, and so misses
deadlines from CG = 4 on if betas differ.

**A model that may disobey.** With a probability of obeying below 1, ``need[j]`` outputs are needed
for j values (:func:`needed_outputs`), in place of j. That counts on knowing each output before the
next decision. If requests overlap, each value is asked for several times before its deadline
(:func:`needed_requests`), whatever becomes of the requests.

**Betas below CG** are a pinwheel schedule; :mod:`testsgd.generative.pinwheel` decides these.
"""

from __future__ import annotations

import random as random_module
from collections.abc import Sequence

from testsgd.errors import SpecificationError
from testsgd.generative.pinwheel import Pinwheel, nearest_feasible
from testsgd.generative.planning import plan_for
from testsgd.generative.specification import LookAhead

Counters = tuple[int, ...]

# A model that needs more outputs than this for its values cannot be relied on.
_MOST_OUTPUTS = 100_000


def paper_look_ahead(counters: Sequence[int]) -> tuple[int, ...]:
    """Return the values among which Algorithm 1 as printed asks for one; none: it waits.

    Parameters
    ----------
    counters : sequence of int, length CG
        Outputs within which each value must come, the next one included.

    Returns
    -------
    tuple of int
        Indices of values, counted from 0.

    References
    ----------
    Cheng et al., Runtime Monitoring and Enforcement of Conditional Fairness in Generative AIs,
    Algorithm 1, lines 7 and 8.

    Examples
    --------
    >>> paper_look_ahead((50, 3, 3, 3)), paper_look_ahead((2, 3, 3, 9))
    ((1, 2, 3), ())
    """
    for number in range(len(counters), 0, -1):
        equal = [index for index, counter in enumerate(counters) if counter == number]
        if len(equal) >= number:
            return tuple(equal)
    return ()


def corrected_look_ahead(
    counters: Sequence[int], *, needed: Sequence[int], last: int
) -> tuple[int, ...]:
    """Return the values among which one must be asked for; none: waiting is safe.

    Parameters
    ----------
    counters : sequence of int, length CG
        Outputs within which each value must come, the next one included.
    needed : sequence of int, length CG
        Outputs that are needed for 1, 2, ..., CG values; 1, 2, ..., CG if the model obeys.
    last : int
        The largest number of values that is looked at: CG, or CG - 1 if an output that is not
        asked for surely serves some value.

    Returns
    -------
    tuple of int
        Indices of values, counted from 0.

    Examples
    --------
    >>> corrected_look_ahead((2, 3, 3, 9), needed=(1, 2, 3, 4), last=3)
    (0, 1, 2)
    >>> corrected_look_ahead((2, 4, 4, 9), needed=(1, 2, 3, 4), last=3)
    ()
    """
    ascending = sorted(counters)
    for number in range(last):
        if ascending[number] <= needed[number]:
            limit = ascending[number]
            return tuple(index for index, counter in enumerate(counters) if counter <= limit)
    return ()


def counters_after(counters: Sequence[int], index: int, betas: Sequence[int]) -> Counters:
    """Return the counters after an output of a value; none below 1 but for missed deadlines.

    Examples
    --------
    >>> counters_after((3, 1, 2), 1, (5, 6, 6))
    (2, 6, 1)
    """
    return tuple(
        beta if value == index else counter - 1
        for value, (counter, beta) in enumerate(zip(counters, betas, strict=True))
    )


def choose(
    candidates: Sequence[int],
    counters: Sequence[int],
    betas: Sequence[int],
    *,
    shares: Sequence[float] | None = None,
) -> int:
    """Return which of several values to ask for, so that few requests follow.

    Asking for a value early is wasted if it would have come by itself, and gains the more the later
    it must come again. With a share p, a counter c and a beta b, the value fails to come by
    itself in the c - 1 other outputs before its deadline with the probability (1 - p)^(c - 1), and
    has to be asked for again within its next b outputs with the probability (1 - p)^b. The value
    with the largest difference is asked for. Without shares it is the one of the largest beta. Of
    equals, the most urgent.

    This is a heuristic. For 60 random cases of three values (betas from 3 to 7) the share of
    outputs asked for was on average 0.9% above the least possible one, and 16% at worst; asking for
    the rarest value was 3.1% and 50% above. Where it was far above, even the best choice among
    forced requests mostly was too: less is possible only by asking before it is forced.

    Parameters
    ----------
    candidates : sequence of int
        Indices of values, at least one.
    counters, betas : sequence of int, length CG
        Outputs within which each value must come, now and after it came.
    shares : sequence of float, length CG, optional
        How often the model gives each value by itself.

    Returns
    -------
    int

    Examples
    --------
    >>> choose((0, 1), (2, 2, 5), (3, 7, 7)), choose((0, 1), (2, 2), (7, 7), shares=(0.9, 0.1))
    (1, 1)
    """
    if shares is None:
        return max(candidates, key=lambda index: (betas[index], -counters[index]))

    def gain(index: int) -> tuple[float, int]:
        absent = 1 - shares[index]
        return absent ** (counters[index] - 1) - absent ** betas[index], -counters[index]

    return max(candidates, key=gain)


def needed_outputs(
    *, values: int, obedience: float, tries: int, miss_probability: float
) -> tuple[int, ...]:
    """Compute how many outputs are needed for 1, 2, ..., CG values by a model that may disobey.

    An output has the value that was asked for with the probability q = 1 - (1 - obedience)^(tries +
    1), whatever came before. For j values the fewest outputs are needed of which at least j
    succeed with a probability of at least 1 - miss_probability * q / CG.

    **What follows.** Let all betas be at least ``need[CG]``, let the earliest deadline be asked for
    first, and let each output be known before the next decision. Then each deadline is missed with
    a probability of at most miss_probability.

    Take a value from when its counter is ``need[CG]``. Values that come from then on go behind it,
    so its rank r in the order of deadlines never rises. A stretch of requests begins at that moment
    or after an output that was not asked for; either way the value has at least ``need[r]`` outputs
    left. It is late in this stretch only if fewer than r of the next ``need[r]`` requests succeed,
    as each success serves it or a value before it; the probability is at most miss_probability * q
    / CG. A stretch may end by an output that disobeyed, with r as it was; but the next one of the
    same r begins only if no request of the earlier ones succeeded, so the k-th begins with a
    probability of at most (1 - q)^(k - 1). Over all k this sums to miss_probability / CG, and over
    the CG ranks to miss_probability. Without the factor q only miss_probability / q is proven.

    Parameters
    ----------
    values : int
        The number of values, CG.
    obedience : float
        Probability that one try has the value that was asked for.
    tries : int
        How often an output is asked for again.
    miss_probability : float
        The largest probability of missing a deadline.

    Returns
    -------
    tuple of int, length CG

    Raises
    ------
    SpecificationError
        If the model disobeys too often.

    Examples
    --------
    >>> needed_outputs(values=3, obedience=1.0, tries=0, miss_probability=0.01)
    (1, 2, 3)
    >>> needed_outputs(values=2, obedience=0.9, tries=0, miss_probability=0.01)
    (3, 4)
    """
    if obedience == 1:
        return tuple(range(1, values + 1))
    success = 1 - (1 - obedience) ** (tries + 1)
    allowed = miss_probability * success / values
    # Probability of 0, 1, ..., CG or more successes so far.
    reached = [1.0] + [0.0] * values
    needed: list[int] = []
    outputs = 0
    while len(needed) < values:
        outputs += 1
        if outputs > _MOST_OUTPUTS:
            raise _too_disobedient(success)
        for number in range(values, 0, -1):
            kept = reached[number] * (1 if number == values else 1 - success)
            reached[number] = kept + reached[number - 1] * success
        reached[0] *= 1 - success
        while len(needed) < values and sum(reached[: len(needed) + 1]) <= allowed:
            needed.append(outputs)
    return tuple(needed)


def needed_requests(*, obedience: float, tries: int, miss_probability: float) -> int:
    """Compute how often a value is asked for before its deadline, if requests overlap.

    A request has the value with the probability q = 1 - (1 - obedience)^(tries + 1), whatever came
    before. All m requests fail with a probability of at most (1 - q)^m; the smallest m is returned
    for which that is at most `miss_probability`.

    **What follows.** Let beta / m, rounded down, be at least CG for all values, and let the
    corrected look-ahead decide with these smaller betas, where an output that was asked for counts
    as one of its value, whatever becomes of it. So its guarantee does not depend on the model:
    among any beta / m outputs in a row each value came by itself or was asked for. After an
    output of a value, the next beta outputs have m such stretches. If the value did not come by
    itself, it was asked for in each of them, and the deadline is missed only if all of these m
    requests failed. What is decided depends on outputs of earlier requests alone, so the
    probability is at most (1 - q)^m, whatever order outputs are known in.

    Parameters
    ----------
    obedience : float
        Probability that one try has the value that was asked for.
    tries : int
        How often an output is asked for again.
    miss_probability : float
        The largest probability of missing a deadline.

    Returns
    -------
    int

    Examples
    --------
    >>> needed_requests(obedience=0.9, tries=0, miss_probability=0.01)
    2
    """
    failure = (1 - obedience) ** (tries + 1)
    requests = 1
    # A tolerance for rounding: 0.1 squared is a little more than 0.01.
    while failure**requests > miss_probability * (1 + 1e-9):
        requests += 1
        if requests > _MOST_OUTPUTS:
            raise _too_disobedient(1 - failure)
    return requests


def _too_disobedient(success: float) -> SpecificationError:
    return SpecificationError(
        f"a model that obeys with a probability of {success:.3g} misses too many deadlines",
        where="enforcement.obedience",
        remedy="ask in a way that the model obeys (testsgd generative calibrate)",
    )


class Schedule:
    """Decides for the betas of one requirement when which value is asked for.

    Parameters
    ----------
    betas : sequence of int, length CG
        The number of outputs within which each value must come, and come again.
    overlapping : bool
        Whether a request may begin before the outputs of earlier ones are known. If so, an output
        that is not known yet counts as one that serves no value.
    look_ahead : {"corrected", "paper"}
        Which look-ahead decides.
    obedience : float
        Probability that one try has the value that was asked for.
    tries : int
        How often an output is asked for again if it disobeys.
    miss_probability : float
        The largest probability of missing a deadline, if `obedience` is below 1.
    where : str
        The requirement, for error messages.

    Raises
    ------
    SpecificationError
        If no schedule meets the betas; `details` has the nearest that one meets as ``nearest``, or
        the smallest that can be kept by a model that disobeys as ``smallest``.

    Examples
    --------
    >>> schedule = Schedule((5, 6, 6, 9), overlapping=False)
    >>> schedule.decide((2, 3, 3, 9), shares=(0.1, 0.3, 0.3, 0.3))
    0
    >>> schedule.decide((4, 5, 5, 9)) is None
    True
    """

    def __init__(
        self,
        betas: Sequence[int],
        *,
        overlapping: bool = True,
        look_ahead: LookAhead = "corrected",
        obedience: float = 1.0,
        tries: int = 0,
        miss_probability: float = 0.01,
        where: str = "requirements",
    ) -> None:
        self.betas = tuple(betas)
        self.values = len(self.betas)
        self._overlapping = overlapping
        self._look_ahead = look_ahead
        self._obedient = obedience == 1
        self._pinwheel: Pinwheel | None = None
        self._in_turn = tuple(range(1, self.values + 1))
        if look_ahead == "paper":
            return
        if self._obedient:
            if min(self.betas) < self.values:
                self._pinwheel = _feasible_pinwheel(self.betas, where=where)
            return
        requests = needed_requests(
            obedience=obedience, tries=tries, miss_probability=miss_probability
        )
        # Betas within which each value is asked for or comes, if requests overlap.
        self._spacings = tuple(beta // requests for beta in self.betas)
        # Outputs that are reserved for 1, 2, ..., CG values, if they do not.
        self._needed = needed_outputs(
            values=self.values,
            obedience=obedience,
            tries=tries,
            miss_probability=miss_probability,
        )
        smallest = self.values * requests if overlapping else self._needed[-1]
        if min(self.betas) < smallest:
            raise SpecificationError(
                f"with an obedience of {obedience:g} and {tries} retries no beta below {smallest} "
                f"can be kept with a probability of {1 - miss_probability:g}",
                where=where,
                remedy=f"choose betas of at least {smallest}, or a way that is obeyed more often",
                smallest=smallest,
            )

    def decide(
        self,
        counters: Sequence[int],
        *,
        since: Sequence[int] | None = None,
        shares: Sequence[float] | None = None,
        random: random_module.Random | None = None,
    ) -> int | None:
        """Return the index of the value to ask for; None: the model chooses.

        Parameters
        ----------
        counters : sequence of int, length CG
            Outputs within which each value must come, the next one included.
        since : sequence of int, length CG, optional
            Outputs since each value last came or was asked for. It matters for models that disobey
            while requests overlap; by default as if every request had been obeyed.
        shares : sequence of float, optional
            How often the model gives each value by itself. With them as few requests are made as
            possible: by dynamic programming (:mod:`testsgd.generative.planning`) for small betas,
            and by :func:`choose` for large ones.
        random : random.Random, optional
            Decides where nothing else does, and for the paper's look-ahead always.

        Returns
        -------
        int or None
        """
        if self._look_ahead == "paper":
            equal = paper_look_ahead(counters)
            if not equal:
                return None
            return random.choice(equal) if random is not None else equal[0]
        if self._obedient:
            return self._decide_obeyed(counters, shares)
        candidates = self._disobeyed_candidates(counters, since)
        # The proof needs the order of the deadlines.
        return min(candidates, key=lambda index: counters[index], default=None)

    def _decide_obeyed(self, counters: Sequence[int], shares: Sequence[float] | None) -> int | None:
        """Return the index of the value to ask for, of a model that always obeys."""
        if self._pinwheel is not None:
            candidates = self._pinwheel.candidates(counters, wasted=self._overlapping)
        else:
            last = self.values if self._overlapping else self.values - 1
            candidates = corrected_look_ahead(counters, needed=self._in_turn, last=last)
        plan = None
        if shares is not None:
            plan = plan_for(self.betas, shares, overlapping=self._overlapping)
        if plan is None:
            return choose(candidates, counters, self.betas, shares=shares) if candidates else None
        if candidates:
            costs = {index: plan.cost_after(counters, index) for index in candidates}
            return min(candidates, key=lambda index: (costs[index], counters[index]))
        return plan.best_value(counters)

    def _disobeyed_candidates(
        self, counters: Sequence[int], since: Sequence[int] | None
    ) -> tuple[int, ...]:
        """Return the values among which one is asked for, of a model that may disobey."""
        if not self._overlapping:
            return corrected_look_ahead(counters, needed=self._needed, last=self.values)
        if since is None:
            since = [beta - counter for beta, counter in zip(self.betas, counters, strict=True)]
        spaced = [
            max(1, spacing - passed) for spacing, passed in zip(self._spacings, since, strict=True)
        ]
        candidates = corrected_look_ahead(spaced, needed=self._in_turn, last=self.values)
        # Where that would wait, a request cannot harm, and may save a deadline.
        return candidates or corrected_look_ahead(counters, needed=self._in_turn, last=self.values)


def _feasible_pinwheel(betas: tuple[int, ...], *, where: str) -> Pinwheel:
    """Return the pinwheel schedule of betas; raise the nearest betas if there is none."""
    pinwheel = Pinwheel(betas)
    if pinwheel.is_feasible:
        return pinwheel
    nearest = nearest_feasible(betas)
    # Cut betas are on the safe side: what fails with them might yet be met.
    meets = "meets" if pinwheel.betas == betas else "was found that meets"
    listed = " or ".join(str(vector) for vector in nearest)
    raise SpecificationError(
        f"no order of outputs {meets} the betas {betas}",
        where=where,
        remedy=f"the nearest betas that can be met are {listed}",
        betas=betas,
        nearest=nearest,
    )

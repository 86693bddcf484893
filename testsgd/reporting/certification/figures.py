"""How shares are written: what is proved is never rounded in its own favour.

A proved share is rounded down. The undecided share is what is then left of 100%, so it is rounded
up and the three add up; if nothing is undecided it is 0%, and the two others may add up to a little
less. Intervals of estimates are rounded outwards. What is rounded is the number as the document
writes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TypeAlias

from testsgd.reporting.certification.summary import ProvedSummary

Share: TypeAlias = float | Decimal

_MOST_DIGITS = 6
_DIGITS_OF_REST = 4
_TELLING_DIGITS = 12


@dataclass(frozen=True)
class ProvedTexts:
    """The three shares as they are written, with as many digits each."""

    certified: str
    falsified: str
    undecided: str
    digits: int


def proved_texts(proved: ProvedSummary) -> ProvedTexts:
    """Write the three shares.

    Parameters
    ----------
    proved : ProvedSummary
        The shares.

    Returns
    -------
    ProvedTexts
        With at least one decimal place, two if nothing is undecided, and more until no share that
        is not zero is written as zero and the undecided one is not much larger than it is.

    Examples
    --------
    >>> proved_texts(ProvedSummary(certified=0.9428, falsified=0.0086, undecided=0.0486))
    ProvedTexts(certified='94.2%', falsified='0.8%', undecided='5.0%', digits=1)
    """
    decided = proved.undecided == 0
    digits = 2 if decided and 0 < proved.falsified < 1 else 1
    for share in (proved.certified, proved.falsified):
        while share > 0 and not _percent(share, digits, ROUND_FLOOR) and digits < _MOST_DIGITS:
            digits += 1
    while not decided and digits < _DIGITS_OF_REST and _rest(proved, digits) > 2 * proved.undecided:
        digits += 1
    certified = _percent(proved.certified, digits, ROUND_FLOOR)
    falsified = _percent(proved.falsified, digits, ROUND_FLOOR)
    rest = Decimal(0) if decided else Decimal(100) - certified - falsified
    return ProvedTexts(_written(certified), _written(falsified), _written(rest), digits)


def _rest(proved: ProvedSummary, digits: int) -> float:
    """Give the share that is left of the two proved ones as they are written."""
    proved_shares = (proved.certified, proved.falsified)
    return 1 - float(sum(_percent(share, digits, ROUND_FLOOR) for share in proved_shares)) / 100


def at_least(share: Share, digits: int = 1) -> str:
    """Write a lower bound: rounded down.

    Examples
    --------
    >>> at_least(0.97275), at_least(1.0), at_least(0.99999, 2)
    ('97.2%', '100%', '99.99%')
    """
    return _written(_percent(share, digits, ROUND_FLOOR))


def at_most(share: Share, digits: int = 1) -> str:
    """Write an upper bound: rounded up.

    Examples
    --------
    >>> at_most(0.0411), at_most(0.0), at_most(1e-9)
    ('4.2%', '0%', '0.1%')
    """
    return _written(min(_percent(share, digits, ROUND_CEILING), Decimal(100)))


def between(low: float, high: float) -> tuple[str, str]:
    """Write the ends of an interval of shares, rounded outwards, with digits that tell its width.

    Examples
    --------
    >>> between(0.00931, 0.01012), between(0.0, 0.21)
    (('0.93%', '1.02%'), ('0%', '21.0%'))
    """
    digits = 1
    while 100 * (high - low) < 2 * 10.0**-digits and digits < _MOST_DIGITS:
        digits += 1
    return at_least(low, digits), at_most(high, digits)


def exactly(share: float) -> Decimal:
    """Give a share as the document writes it, to be added and compared without rounding.

    Examples
    --------
    >>> 0.03 + 0.407 < 0.437, exactly(0.03) + exactly(0.407) < exactly(0.437)
    (True, False)
    """
    return Decimal(repr(float(share)))


def lower_beside(share: Share, limit: float, digits: int) -> str:
    """Write a lower bound with so many digits that it is on its own side of a limit."""
    return at_least(share, _telling(share, limit, digits, ROUND_FLOOR))


def upper_beside(share: Share, limit: float, digits: int) -> str:
    """Write an upper bound with so many digits that it is on its own side of a limit.

    Examples
    --------
    >>> upper_beside(0.01229, 0.0123, 1), at_most(0.01229)
    ('1.229%', '1.3%')
    """
    return at_most(share, _telling(share, limit, digits, ROUND_CEILING))


def _telling(share: Share, limit: float, digits: int, rounding: str) -> int:
    bound = exactly(limit) * 100
    while digits < _TELLING_DIGITS and _side(_percent(share, digits, rounding), bound) != _side(
        _decimal(share) * 100, bound
    ):
        digits += 1
    return digits


def _side(value: Decimal, bound: Decimal) -> int:
    return (value > bound) - (value < bound)


def _percent(share: Share, digits: int, rounding: str) -> Decimal:
    return (_decimal(share) * 100).quantize(Decimal(1).scaleb(-digits), rounding)


def _decimal(share: Share) -> Decimal:
    return share if isinstance(share, Decimal) else exactly(share)


def _written(percent: Decimal) -> str:
    return f"{percent:.0f}%" if percent in (0, 100) else f"{percent}%"

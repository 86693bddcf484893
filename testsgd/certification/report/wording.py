"""Phrases of a certification's report that several views use."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import groupby
from typing import TypeAlias

from testsgd.certification.outcome import Method, Shares
from testsgd.certification.report.summary import (
    AnswerSummary,
    CertificationSummary,
    DomainSummary,
    LayerSummary,
    RegionSummary,
)
from testsgd.report.formatting import MINUS, count, plural, series, share, shorten

STATUS_NAMES = {
    "reported": "Reported, no gate set",
    "gate_passed": "Gate passed, provably",
    "gate_failed": "Gate failed, provably",
    "not_enough_evidence": "Not enough evidence for the gate",
}

# More compared values than these are counted, not listed.
_LISTED = 3

_VALUE = 40

# More people than these are not written to the last digit.
_COUNTED = 10**12

_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def changing(domain: DomainSummary) -> str:
    """Return which inputs change while all others stay, such as "changing race alone".

    If not all protected values are compared, those that are compared are listed or counted.
    """
    names = series([shorten(name, _VALUE) for name in domain.protected])
    phrase = f"changing {names} alone" if len(domain.protected) == 1 else f"changing only {names}"
    if domain.compared_all:
        return phrase
    if len(domain.compared) > _LISTED:
        return f"{phrase}, among {count(len(domain.compared))} of the possible values,"
    values = [shorten(combination(one), _VALUE) for one in domain.compared]
    if len(values) == 2:
        return f"{phrase} between {values[0]} and {values[1]}"
    return f"{phrase} among {series(values)}"


def combination(values: list[str]) -> str:
    """Return a combination of protected values as text."""
    return " with ".join(values)


def named_combination(names: list[str], values: list[str]) -> str:
    """Return a combination of protected values as text, each with its input."""
    return " and ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True))


def value_text(value: int | float | str) -> str:
    """Return a value of an input as text; a real number with nine digits."""
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def compared_text(domain: DomainSummary, most: int = 12) -> str:
    """Return the list of the compared combinations; of many only the first `most`."""
    shown = [combination(one) for one in domain.compared[:most]]
    more = len(domain.compared) - len(shown)
    names = combination(domain.protected)
    shown += [f"{count(more)} more"] if more else []
    return f"{names} = {series(shown) if len(domain.protected) == 1 else '; '.join(shown)}"


def people(domain: DomainSummary) -> str:
    """Return the people that a share is of, and how they are weighted."""
    if domain.weight == "data":
        return "all people in the domain, weighted as in the data"
    if domain.weight == "given":
        return "all people in the domain, weighted as it says"
    return "all people in the domain"


def layers_text(columns: int, layers: list[LayerSummary]) -> str:
    """Return the layers of a network as text; equal neighbours are written once."""
    texts = [f"{count(layer.units)} {layer.activation.replace('_', ' ')}" for layer in layers]
    parts = [plural(columns, "column")]
    for text, equal in groupby(texts):
        times = len(list(equal))
        parts.append(text if times == 1 else f"{count(times)} times {text}")
    return ", ".join(parts)


def bound(text: str, sign: str) -> str:
    """Return a share with the sign of a bound before it, unless it is 0% or 100%."""
    return text if text in ("0%", "100%") else f"{sign} {text}"


def people_counts(proved: Shares, domain: DomainSummary, method: Method) -> tuple[int, int] | None:
    """Return the numbers of people treated fairly and unfairly; None unless each was tried.

    None too if people are weighted by data, or something is undecided.
    """
    points = domain.points
    if method != "enumerated" or proved.undecided or domain.weight != "volume" or not points:
        return None
    unfair = round(proved.falsified * points)
    return points - unfair, unfair


# How far a sum of shares may be from the quotient of counts that it stands for, and up to how many
# people it then tells their number.
_SUMS = 1e-11
_TELLING_PEOPLE = 10**9


def counted_people(proved: Shares, domain: DomainSummary, method: Method) -> int | None:
    """Return the number of people if each share is a count of them divided by it; else None.

    Parameters
    ----------
    proved : Shares
        What is proved.
    domain : DomainSummary
        The domain.
    method : {"enumerated", "bounded"}
        How it was proved; of bounds on boxes a share is a count only if nothing is undecided.

    Returns
    -------
    int or None
    """
    points = domain.points
    if domain.weight != "volume" or not points or points > _TELLING_PEOPLE:
        return None
    if method == "bounded" and proved.undecided:
        return None
    counts = (points * proved.certified, points * proved.falsified)
    return points if all(abs(part - round(part)) <= _SUMS * points for part in counts) else None


def share_name(kind: str, summary: CertificationSummary) -> str:
    """Return what a share of fair or unfair people is called: proved, or as the network runs here.

    Of an enumeration in which rounding decides about people nothing more is known.

    Parameters
    ----------
    kind : {"fair", "unfair"}
    summary : CertificationSummary

    Returns
    -------
    str
    """
    return f"{kind} as run here" if summary.within_rounding else f"proved {kind}"


def people_number(points: int | None) -> str:
    """Return the number of people as text; from 10^12 on with two digits and a power of ten."""
    if points is None:
        return "not countable"
    if points < _COUNTED:
        return count(points)
    digits, power = f"{points:.1e}".split("e+")
    return f"about {digits} \N{MULTIPLICATION SIGN} 10{str(int(power)).translate(_RAISED)}"


def part_of(part: float, region: RegionSummary) -> float:
    """Return a share of the domain as a share of the region that it lies in."""
    inside = min(part / region.share, 1.0) if region.share > 0 else 0.0
    return inside if region.undecided else float(_unrounded(inside))


def sums_text(answer: AnswerSummary) -> str:
    """Return the sums that decide, separated by commas."""
    return ", ".join(f"{one:.4g}".replace("-", MINUS) for one in answer.sums)


def estimate_title(summary: CertificationSummary) -> str:
    """Return the title of the estimate, which sets it apart from what is proved."""
    return f"Estimated by sampling, {share(summary.settings.confidence)} confidence"


Share: TypeAlias = float | Decimal

_MOST_DIGITS = 6
_DIGITS_OF_REST = 4
_TELLING_DIGITS = 12


@dataclass(frozen=True)
class ProvedTexts:
    """The three shares as percentages, with the same number of decimals each."""

    certified: str
    falsified: str
    undecided: str
    digits: int


def proved_texts(proved: Shares) -> ProvedTexts:
    """Return the three shares as percentages, the proved ones rounded down.

    If nothing is undecided, what is within rounding of a short decimal counts as that decimal.
    The undecided share is 0% if nothing is undecided, else the rest to 100%. There is one decimal,
    or two if nothing is undecided and both other shares are above 0. Up to six decimals are written
    until no proved share above 0 reads as zero, and up to four until the undecided share reads as
    at most twice what it is.
    """
    decided = proved.undecided == 0
    digits = 2 if decided and 0 < proved.falsified < 1 else 1
    parts = [_unrounded(part) if decided else part for part in (proved.certified, proved.falsified)]
    for part in parts:
        while part > 0 and not _percent(part, digits, ROUND_FLOOR) and digits < _MOST_DIGITS:
            digits += 1
    while not decided and digits < _DIGITS_OF_REST and _rest(proved, digits) > 2 * proved.undecided:
        digits += 1
    certified, falsified = (_percent(part, digits, ROUND_FLOOR) for part in parts)
    rest = Decimal(0) if decided else Decimal(100) - certified - falsified
    return ProvedTexts(_written(certified), _written(falsified), _written(rest), digits)


def _rest(proved: Shares, digits: int) -> float:
    """Return one minus the two proved shares as they are written with `digits` decimals."""
    proved_shares = (proved.certified, proved.falsified)
    return 1 - float(sum(_percent(share, digits, ROUND_FLOOR) for share in proved_shares)) / 100


def at_least(share: Share, digits: int = 1) -> str:
    """Return a lower bound as a percentage, rounded down."""
    return _written(_percent(share, digits, ROUND_FLOOR))


def at_most(share: Share, digits: int = 1) -> str:
    """Return an upper bound as a percentage, rounded up."""
    return _written(min(_percent(share, digits, ROUND_CEILING), Decimal(100)))


def between(low: float, high: float) -> tuple[str, str]:
    """Return an interval's ends as percentages, rounded outwards, digits enough for its width."""
    digits = 1
    while 100 * (high - low) < 2 * 10.0**-digits and digits < _MOST_DIGITS:
        digits += 1
    return at_least(low, digits), at_most(high, digits)


def exactly(share: float) -> Decimal:
    """Return a share as the decimal number that JSON has, for sums without rounding."""
    return Decimal(repr(float(share)))


def lower_beside(share: Share, limit: float, digits: int) -> str:
    """Return a lower bound with enough digits to be on its own side of a limit."""
    return at_least(share, _telling(share, limit, digits, ROUND_FLOOR))


def upper_beside(share: Share, limit: float, digits: int) -> str:
    """Return an upper bound with enough digits to be on its own side of a limit."""
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


# Digits of a share beyond those that are written, and more than the rounding of a sum of shares.
_DIGITS_OF_SUMS = 11
_ROUNDING = Decimal("1e-12")


def _unrounded(share: float) -> Decimal:
    """Return a sum of shares without its rounding: the short decimal that it is next to, if any.

    Not 0 or 1: what a share above 0 or below 1 is written as must not be all or nothing.
    """
    exact = exactly(share)
    short = exact.quantize(Decimal(1).scaleb(-_DIGITS_OF_SUMS))
    near = abs(short - exact) <= _ROUNDING and 0 < short < 1
    return short if near else exact


def _written(percent: Decimal) -> str:
    return f"{percent:.0f}%" if percent in (0, 100) else f"{percent}%"

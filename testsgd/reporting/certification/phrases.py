"""Phrases of a certification's report that several views use."""

from __future__ import annotations

from testsgd.report.formatting import MINUS, count, plural, series, share, shorten
from testsgd.reporting.certification.summary import (
    AnswerSummary,
    CertificationSummary,
    DomainSummary,
    LayerSummary,
    ProvedSummary,
    RegionSummary,
)

STATUS_NAMES = {
    "reported": "Reported, no policy set",
    "gate_passed": "Policy kept, provably",
    "gate_failed": "Policy broken, provably",
    "not_enough_evidence": "Not enough evidence for the policy",
}

# More compared values than these are counted, not listed.
_LISTED = 3

_VALUE = 40

# More people than these are not written to the last digit.
_COUNTED = 10**12

_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def changing(domain: DomainSummary) -> str:
    """Say what is changed while everything else stays.

    Returns
    -------
    str
        Such as "changing race alone"; if not all protected values are compared, which are.
    """
    names = series([shorten(name, _VALUE) for name in domain.protected])
    said = f"changing {names} alone" if len(domain.protected) == 1 else f"changing only {names}"
    if domain.compared_all:
        return said
    if len(domain.compared) > _LISTED:
        return f"{said}, among {count(len(domain.compared))} of the possible values,"
    values = [shorten(combination(one), _VALUE) for one in domain.compared]
    if len(values) == 2:
        return f"{said} between {values[0]} and {values[1]}"
    return f"{said} among {series(values)}"


def combination(values: list[str]) -> str:
    """Write a combination of protected values.

    Examples
    --------
    >>> combination(["Black"]), combination(["Black", "female"])
    ('Black', 'Black with female')
    """
    return " with ".join(values)


def named_combination(names: list[str], values: list[str]) -> str:
    """Write a combination of protected values, each with its input.

    Examples
    --------
    >>> named_combination(["race", "gender"], ["Black", "Female"])
    'race = Black and gender = Female'
    """
    return " and ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True))


def value_text(value: int | float | str) -> str:
    """Write a value of an input; a real one with nine digits.

    Examples
    --------
    >>> value_text(24.652106823355997), value_text(7), value_text("Black")
    ('24.6521068', '7', 'Black')
    """
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def compared_text(domain: DomainSummary, most: int = 12) -> str:
    """List the combinations that are compared, the first of many."""
    shown = [combination(one) for one in domain.compared[:most]]
    more = len(domain.compared) - len(shown)
    names = combination(domain.protected)
    shown += [f"{count(more)} more"] if more else []
    return f"{names} = {series(shown) if len(domain.protected) == 1 else '; '.join(shown)}"


def people(domain: DomainSummary) -> str:
    """Name the people a share is of, by how they count."""
    if domain.weight == "data":
        return "all people in the domain, weighted as in the data"
    return "all people in the domain"


def layers_text(columns: int, layers: list[LayerSummary]) -> str:
    """Write the layers of a network, equal ones next to each other once.

    Examples
    --------
    >>> relu, last = LayerSummary(units=64, activation="relu"), LayerSummary(units=1,
    ...     activation="linear")
    >>> layers_text(13, [relu, relu, last])
    '13 columns, 2 times 64 relu, 1 linear'
    """
    parts: list[tuple[str, int]] = []
    for layer in layers:
        text = f"{count(layer.units)} {layer.activation.replace('_', ' ')}"
        if parts and parts[-1][0] == text:
            parts[-1] = (text, parts[-1][1] + 1)
        else:
            parts.append((text, 1))
    written = [text if times == 1 else f"{count(times)} times {text}" for text, times in parts]
    return ", ".join([plural(columns, "column"), *written])


def bound(text: str, sign: str) -> str:
    r"""Write a share as a bound, unless it is nothing or everything.

    Examples
    --------
    >>> bound("94.2%", "\N{GREATER-THAN OR EQUAL TO}"), bound("0%", "<")
    ('≥ 94.2%', '0%')
    """
    return text if text in ("0%", "100%") else f"{sign} {text}"


def people_counts(
    proved: ProvedSummary, domain: DomainSummary, method: str
) -> tuple[int, int] | None:
    """Give to how many people it is fair and unfair, where each was tried and counts the same."""
    points = domain.points
    if method != "enumerated" or proved.undecided or domain.weight != "volume" or not points:
        return None
    unfair = round(proved.falsified * points)
    return points - unfair, unfair


def people_number(points: int | None) -> str:
    """Write how many people there are; very many only about.

    Examples
    --------
    >>> people_number(624), people_number(None)
    ('624', 'not countable')
    >>> people_number(3 * 10**19) == "about 3.0 \N{MULTIPLICATION SIGN} 10¹⁹"
    True
    """
    if points is None:
        return "not countable"
    if points < _COUNTED:
        return count(points)
    digits, power = f"{points:.1e}".split("e+")
    return f"about {digits} \N{MULTIPLICATION SIGN} 10{str(int(power)).translate(_RAISED)}"


def part_of(part: float, region: RegionSummary) -> float:
    """Give a part of a region as a share of the region."""
    return min(part / region.share, 1.0) if region.share > 0 else 0.0


def sums_text(answer: AnswerSummary) -> str:
    """Write the sums that decide."""
    return ", ".join(f"{one:.4g}".replace("-", MINUS) for one in answer.sums)


def estimate_title(summary: CertificationSummary) -> str:
    """Name an estimate apart from what is proved."""
    return f"Estimated by sampling, {share(summary.settings.confidence)} confidence"

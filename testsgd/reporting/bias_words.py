"""How a bias, its threshold and what is counted are worded, for shields and monitors alike."""

from __future__ import annotations

from fractions import Fraction

from testsgd.report.formatting import number, series


def exact_number(text: str) -> str:
    """Write a fraction as a decimal number if it is a short one.

    Examples
    --------
    >>> exact_number("1/10"), exact_number("1/3"), exact_number("0")
    ('0.1', '1/3', '0')
    """
    value = Fraction(text)
    decimal = number(float(value))
    return decimal if len(decimal) <= 8 and Fraction(decimal) == value else text


def bias_text(bias: float) -> str:
    """Write a bias.

    Examples
    --------
    >>> bias_text(0.09999), bias_text(0.0)
    ('0.100', '0.000')
    """
    return f"{bias:.3f}"


def events_text(names: list[str]) -> str:
    """Say which events are counted.

    Examples
    --------
    >>> events_text(["accept:1", "reject:1"])
    'an acceptance with true label 1 or a rejection with true label 1'
    """
    words = []
    for name in names:
        decision, _, label = name.partition(":")
        said = {"accept": "an acceptance", "reject": "a rejection"}.get(decision, decision)
        words.append(f"{said} with true label {label}" if label else said)
    return series(words, last="or")

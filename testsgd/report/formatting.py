"""How numbers, times and texts are written, in every view alike.

Rates are written in per cent and differences between rates in percentage points, so that nobody
takes one for the other. A minus is the sign U+2212, which is as wide as a plus.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from statistics import NormalDist

NOTHING = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"


def count(number: int) -> str:
    """Write a count, its thousands apart.

    Examples
    --------
    >>> count(48842)
    '48,842'
    """
    return f"{number:,}"


def plural(number: int, one: str, many: str | None = None) -> str:
    """Write a count with its noun.

    Examples
    --------
    >>> plural(1, "group"), plural(1200, "group"), plural(2, "query", "queries")
    ('1 group', '1,200 groups', '2 queries')
    """
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def percent(rate: float | None) -> str:
    """Write a rate in per cent; a rate that is almost 0 or 1 is not written as 0 or 1.

    Examples
    --------
    >>> percent(0.2346), percent(0.0001)
    ('23.5%', '<0.1%')
    """
    if rate is None:
        return NOTHING
    if 0 < rate < 0.0005:
        return "<0.1%"
    if 0.9995 <= rate < 1:
        return ">99.9%"
    return f"{100 * rate:.1f}%"


def share(setting: float) -> str:
    """Write a share that was set, not measured, in per cent: whole, without rounding.

    Examples
    --------
    >>> share(0.05), share(0.0125)
    ('5%', '1.25%')
    """
    return f"{100 * setting:.10g}%"


def signed(difference: float | None) -> str:
    """Write a difference between rates as a signed number of percentage points, without unit.

    Examples
    --------
    >>> signed(0.1994), signed(0.0), signed(-0.05) == MINUS + "5.0"
    ('+19.9', '0.0', True)
    """
    if difference is None:
        return NOTHING
    digits = f"{100 * abs(difference):.1f}"
    if float(digits) == 0:
        return digits
    return f"{MINUS if difference < 0 else '+'}{digits}"


def points(difference: float | None) -> str:
    """Write a difference between rates with sign and unit.

    Examples
    --------
    >>> points(0.1994)
    '+19.9 points'
    """
    return NOTHING if difference is None else f"{signed(difference)} points"


def size(known: float | None) -> str:
    """Write the size of a difference in percentage points, without unit.

    Examples
    --------
    >>> size(0.1994), size(0.0)
    ('19.9', '0.0')
    """
    return NOTHING if known is None else f"{100 * known:.1f}"


def size_points(size: float) -> str:
    """Write the size of a difference, such as a score or a margin, with its unit.

    Examples
    --------
    >>> size_points(0.1994)
    '19.9 points'
    """
    return f"{100 * size:.1f} points"


def interval(ends: tuple[float, float]) -> str:
    """Write an interval of signed differences, without unit.

    Examples
    --------
    >>> interval((0.185, 0.213))
    '+18.5 to +21.3'
    """
    return f"{signed(ends[0])} to {signed(ends[1])}"


def number(value: float | int | str | None) -> str:
    """Write a setting or a limit: no trailing zeros, no powers of ten for everyday numbers.

    Examples
    --------
    >>> number(0.05), number(40.0), number(1234567), number(None)
    ('0.05', '40', '1234567', 'none')
    """
    if value is None:
        return "none"
    if isinstance(value, str):
        return value
    return f"{value:.10g}"


def seconds(value: float) -> str:
    """Write a duration.

    Examples
    --------
    >>> seconds(0.0421), seconds(12.31), seconds(185)
    ('0.04 s', '12.3 s', '3 min 5 s')
    """
    if value < 10:
        return f"{value:.2f} s"
    if value < 60:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s"


def moment(text: str) -> str:
    """Write an ISO 8601 time as people read it; a text that is not one stays as it is.

    Examples
    --------
    >>> moment("2026-03-01T09:05:30Z")
    '2026-03-01 09:05 UTC'
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return text
    if time.tzinfo is not None:
        time = time.astimezone(UTC)
    return f"{time:%Y-%m-%d %H:%M} UTC"


def shorten(text: str, limit: int) -> str:
    """Cut a long text at a word, and say so with an ellipsis.

    Examples
    --------
    >>> shorten("country = Cambodia, Canada or China", 20)
    'country = Cambodia, …'
    """
    if len(text) <= limit:
        return text
    cut = text[:limit]
    head, space, _ = cut.rpartition(" ")
    # A text without blanks, or with none but early ones, is cut where it must be.
    return f"{head} …" if space and len(head) > limit // 2 else f"{cut}…"


def either(values: Sequence[str]) -> str:
    """Join values as alternatives.

    Examples
    --------
    >>> either(["Asian", "Black", "White"])
    'Asian, Black or White'
    """
    return series(values, last="or")


def series(values: Sequence[str], last: str = "and") -> str:
    """Join values that all belong to it.

    Examples
    --------
    >>> series(["gender", "race", "age"])
    'gender, race and age'
    """
    if len(values) < 2:
        return "".join(values)
    return f"{', '.join(values[:-1])} {last} {values[-1]}"


def how_often(difference: float) -> str:
    """Write a difference as points more or less often.

    Examples
    --------
    >>> how_often(-0.065)
    '6.5 points less often'
    """
    return f"{size_points(abs(difference))} {'less' if difference < 0 else 'more'} often"


def is_nothing(difference: float) -> bool:
    """Return whether a difference is written as 0.0 points."""
    return float(f"{100 * difference:.1f}") == 0


def z_value(confidence: float) -> str:
    """Write how many standard errors a two-sided interval of some confidence reaches.

    Examples
    --------
    >>> z_value(0.95)
    '1.96'
    """
    if not 0 < confidence < 1:
        return NOTHING
    return f"{NormalDist().inv_cdf((1 + confidence) / 2):.2f}"


def tick_points(value: float) -> str:
    """Write a signed number of points at the tick of an axis, as short as it goes.

    Examples
    --------
    >>> tick_points(0.2), tick_points(0.0)
    ('+20', '0')
    """
    digits = f"{100 * abs(value):.4g}"
    if digits == "0":
        return "0"
    return f"{MINUS if value < 0 else '+'}{digits}"


def capital(text: str) -> str:
    """Begin a text with a capital."""
    return text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """Write a phrase as a sentence; a sentence stays as it is.

    Examples
    --------
    >>> sentence("weights of the training rows")
    'Weights of the training rows.'
    """
    end = "" if text.endswith((".", "!", "?")) or not text else "."
    return f"{capital(text)}{end}"

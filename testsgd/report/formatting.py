"""How numbers, times and texts are written, in every view alike.

Rates are written in per cent and differences between rates in percentage points, so that nobody
takes one for the other. A minus is the sign U+2212, which is as wide as a plus.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from statistics import NormalDist

from testsgd.errors import printable

# The most characters of a text in one line.
_LINE = 1000
# Characters of a value where there is no room for all of them.
_VALUE = 26
# The values of a rule, as people write it.
# A value with such signs stands in quotes there.
_BRACES = re.compile(r"""(?<= in \{)((?>"(?:[^"\\]|\\.)*"(?=, |\})|[^{}])*+)(?=\})""", re.DOTALL)
_LISTED = re.compile(r"""(?:^|, )("(?:[^"\\]|\\.)*"(?=, |$)|(?:(?!, ).)*)""", re.DOTALL)

NOTHING = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"


def count(number: int) -> str:
    """Write a count, its thousands apart."""
    return f"{number:,}"


def plural(number: int, one: str, many: str | None = None) -> str:
    """Write a count with its noun."""
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def percent(rate: float | None, decimals: int = 1) -> str:
    """Write a rate in per cent; a rate that is almost 0 or 1 is not written as 0 or 1.

    Examples
    --------
    >>> percent(0.12), percent(1e-6), percent(1e-6, decimals=5)
    ('12.0%', '<0.1%', '0.00010%')
    """
    if rate is None:
        return NOTHING
    least = 10.0 ** -(2 + decimals)
    if 0 < rate < least / 2:
        return f"<{100 * least:.{decimals}f}%"
    if 1 - least / 2 <= rate < 1:
        return f">{100 - 100 * least:.{decimals}f}%"
    return f"{100 * rate:.{decimals}f}%"


def decimals_of(rate: float, size: int) -> int:
    """Return how many decimals a rate, in per cent, is worth by its number of cases: one at least.

    More are written where an interval of 95% for the rate is less than 0.1 points wide: then two
    digits of that width.

    Examples
    --------
    >>> decimals_of(0.2, 30_000), decimals_of(1e-6, 1_000_000_000)
    (1, 6)
    """
    # With a case of each kind more, as of rates of 0 and of 1 something is uncertain, too.
    usual = (min(max(rate, 0.0), 1.0) * size + 1) / (size + 2)
    width = 100 * 2 * _standard_errors(0.95) * math.sqrt(usual * (1 - usual) / (size + 2))
    return 1 if width >= 0.1 else 1 - math.floor(math.log10(width))


def share(setting: float) -> str:
    """Write a share that was set, not measured, in per cent: whole, without rounding."""
    return f"{100 * setting:.10g}%"


def confidence(level: float) -> str:
    """Write a confidence in per cent with two decimals at most, or two digits of a small error.

    Examples
    --------
    >>> confidence(0.95), confidence(1 - 0.005 / 3), confidence(1 - 0.00005 / 3)
    ('95%', '99.83%', '99.9983%')
    """
    error = 100 * (1 - level)
    if not 0 < error < 100:
        return share(level)
    # Of an error of 0.0017 per cent two digits are its fourth decimal.
    decimals = max(2, 1 - math.floor(math.log10(error)))
    return f"{round(100 * level, decimals):.12g}%"


def signed(difference: float | None, decimals: int = 1) -> str:
    """Write a difference between rates as a signed number of percentage points, without unit."""
    if difference is None:
        return NOTHING
    digits = f"{100 * abs(difference):.{decimals}f}"
    if float(digits) == 0:
        return digits
    return f"{MINUS if difference < 0 else '+'}{digits}"


def points(difference: float | None, decimals: int = 1) -> str:
    """Write a difference between rates with sign and unit."""
    return NOTHING if difference is None else f"{signed(difference, decimals)} points"


def size(known: float | None) -> str:
    """Write the size of a difference in percentage points, without unit."""
    return NOTHING if known is None else f"{100 * known:.1f}"


def size_points(size: float, decimals: int = 1) -> str:
    """Write the size of a difference, such as a score or a margin, with its unit."""
    return f"{100 * size:.{decimals}f} points"


def interval(ends: tuple[float, float]) -> str:
    """Write an interval of signed differences, without unit."""
    return f"{signed(ends[0])} to {signed(ends[1])}"


def number(value: float | int | str | None) -> str:
    """Write a setting or a limit: no trailing zeros, no powers of ten for everyday numbers."""
    if value is None:
        return "none"
    if isinstance(value, str):
        return value
    return f"{value:.10g}"


def whole_numbers(low: float, high: float) -> str:
    """Write the whole numbers from a lower end to below an upper one; empty if there are none."""
    first, last = math.ceil(low), math.ceil(high) - 1
    if last <= first:
        return f"{first}" if last == first else ""
    return f"{first} to {last}"


def seconds(value: float | None) -> str:
    """Write a duration; nothing where it is left out."""
    if value is None:
        return ""
    if value < 10:
        return f"{value:.2f} s"
    if value < 60:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s"


def moment(text: str | None) -> str:
    """Write an ISO 8601 time as people read it; a text that is not one stays as it is.

    Where it is left out, nothing is written.
    """
    if text is None:
        return ""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return text
    if time.tzinfo is not None:
        time = time.astimezone(UTC)
    return f"{time:%Y-%m-%d %H:%M} UTC"


def shorten(text: str, limit: int) -> str:
    """Return a long text cut at a word, with an ellipsis."""
    if len(text) <= limit:
        return text
    cut = text[:limit]
    head, space, _ = cut.rpartition(" ")
    # A text without blanks, or with none but early ones, is cut where it must be.
    return f"{head} …" if space and len(head) > limit // 2 else f"{cut}…"


def distinct_cuts(values: Sequence[str], among: Iterable[str] = ()) -> list[str]:
    """Return values, long ones cut in the middle, so that none reads like another one.

    Long values of a feature often begin alike. `among` are other values of the feature, from which
    they have to differ, too.

    Examples
    --------
    >>> distinct_cuts(["north", "the administrative district 1", "the administrative district 2"])
    ['north', 'the administra…district 1', 'the administra…district 2']
    """
    known = {*values, *among}
    return [_distinct_cut(value, known - {value}) for value in values]


def _distinct_cut(value: str, others: Iterable[str]) -> str:
    """Cut a value to the shortest length at which no other one is cut to the same."""
    length = _VALUE
    alike = [other for other in others if len(other) > length]
    while len(value) > length:
        written = cut_inside(value, length)
        alike = [other for other in alike if cut_inside(other, length) == written]
        if not alike:
            return written
        length += _VALUE // 2
    return value


def cut_inside(value: str, length: int) -> str:
    """Return a long value without its middle."""
    if len(value) <= length:
        return value
    tail = length * 3 // 7
    return f"{value[: length - 1 - tail].rstrip()}…{value[-tail:].lstrip()}"


def brief_rules(text: str, limit: int) -> str:
    """Return rules as people write them, in less room where they are longer than a limit.

    Then long values are cut, and of many values of a rule the first are written.

    Examples
    --------
    >>> brief_rules("town in {north, the administrative district 1, east}", 50)
    'town in {north, the administra…district 1, east}'
    >>> brief_rules('town in {north, "a, {b}, the administrative district 1", east}', 50)
    'town in {north, "a, {b}, the a…district 1", east}'
    """
    if len(text) <= limit:
        return text
    parts = _BRACES.split(text)
    lists = [distinct_cuts(_LISTED.findall(part)) for part in parts[1::2]]
    for named in range(max(map(len, lists), default=0), 0, -1):
        # What stands between commas need not be a value, so that the others are not counted.
        parts[1::2] = [
            ", ".join(values) if len(values) <= named else series([*values[:named], "others"])
            for values in lists
        ]
        if len(brief := "".join(parts)) <= limit:
            return brief
    return shorten("".join(parts), limit)


def first_of(values: Sequence[str], named: int) -> list[str]:
    """Return the first values, and how many others there are.

    Examples
    --------
    >>> first_of(["a", "b", "c"], 1)
    ['a', '2 others']
    """
    left = len(values) - named
    return [*values[:named], plural(left, "other")] if left > 0 else list(values)


def either(values: Sequence[str]) -> str:
    """Join values as alternatives."""
    return series(values, last="or")


def series(values: Sequence[str], last: str = "and") -> str:
    """Join values that all belong to it."""
    if len(values) < 2:
        return "".join(values)
    return f"{', '.join(values[:-1])} {last} {values[-1]}"


def how_often(difference: float) -> str:
    """Write a difference as points more or less often."""
    return f"{size_points(abs(difference))} {'less' if difference < 0 else 'more'} often"


def is_nothing(difference: float) -> bool:
    """Return whether a difference is written as 0.0 points."""
    return float(f"{100 * difference:.1f}") == 0


def z_value(confidence: float) -> str:
    """Write how many standard errors a two-sided interval of some confidence reaches."""
    if not 0 < confidence < 1:
        return NOTHING
    return f"{_standard_errors(confidence):.2f}"


def _standard_errors(confidence: float) -> float:
    """Return how many standard errors a two-sided interval of some confidence reaches."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def tick_points(value: float) -> str:
    """Write a signed number of points at the tick of an axis, as short as it goes."""
    digits = f"{100 * abs(value):.4g}"
    if digits == "0":
        return "0"
    return f"{MINUS if value < 0 else '+'}{digits}"


def capital(text: str) -> str:
    """Begin a text with a capital."""
    return text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """Write a phrase as a sentence; a sentence stays as it is."""
    end = "" if text.endswith((".", "!", "?")) or not text else "."
    return f"{capital(text)}{end}"


def bytes_text(size: int) -> str:
    """Return an amount of memory as text."""
    for unit, unit_size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= unit_size:
            amount = size / unit_size
            return f"{amount:,.0f} {unit}" if amount >= 1000 else f"{amount:.3g} {unit}"
    return f"{size} bytes"


def one_line(text: str) -> str:
    """Return a text in one line that cannot steer a terminal, cut where it is very long."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= _LINE else f"{line[: _LINE - 3]}..."

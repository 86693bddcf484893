"""The ranges of a network's inputs that an ``.nnet`` file holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from testsgd.errors import SpecificationError

# Lines of the header: counts, sizes of layers, an unused flag, minima, maxima.
_MINIMUM, _MAXIMUM = 3, 4


def read_nnet_bounds(path: Path) -> Mapping[str, Any]:
    """Read minima and maxima from the header of an ``.nnet`` file.

    Parameters
    ----------
    path : pathlib.Path
        The file: remarks behind ``//``, then counts, sizes, a flag, minima and maxima, a line each.

    Returns
    -------
    mapping
        As :func:`testsgd.certification.domain.bounds_file.read_bounds` gives it; a number written
        with a decimal point is a float.

    Raises
    ------
    SpecificationError
        If there is no such file, or it has no such lines.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise SpecificationError(
            "there is no such file", where=str(path), remedy="check the path"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise SpecificationError(
            "the file is no text", where=str(path), remedy="give an .nnet file"
        ) from error
    lines = [
        line.strip() for line in text.splitlines() if line.strip() and not line.startswith("//")
    ]
    try:
        width = int(lines[0].split(",")[1])
        low, high = (_numbers(lines[place])[:width] for place in (_MINIMUM, _MAXIMUM))
        if len(low) != width or len(high) != width:
            raise ValueError
    except (IndexError, ValueError) as error:
        raise SpecificationError(
            "the header does not say minimum and maximum of each input",
            where=str(path),
            remedy="give the domain in a file of its own",
        ) from error
    return {"minimum": low, "maximum": high}


def _numbers(line: str) -> list[Any]:
    """Read numbers with commas; JSON tells 1 from 1.0."""
    numbers = [json.loads(cell) for cell in line.split(",") if cell.strip()]
    if not all(type(number) in (int, float) for number in numbers):
        raise ValueError
    return numbers

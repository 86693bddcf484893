"""The arguments and options that several commands of a shield have, each written once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from testsgd.errors import ParameterError

ShieldArgument = Annotated[
    Path,
    typer.Argument(metavar="SHIELD.npz", help="The file that testsgd shield synthesize wrote."),
]

JournalOption = Annotated[
    Path | None,
    typer.Option(
        help="A file that every decision is written to before it is given; if it is there, the "
        "shield goes on from it."
    ),
]

FsyncOption = Annotated[
    bool,
    typer.Option(
        "--fsync",
        help="With --journal: wait until each decision is on the disc, so that a power failure "
        "loses none either. Slower.",
    ),
]

SpecificationOption = Annotated[
    Path | None,
    typer.Option("--spec", help="Refuse a shield that was made for another specification."),
]

ThresholdOption = Annotated[
    str | None,
    typer.Option(help="Another threshold than the specification's, such as 0.05 or 1/20."),
]

LengthOption = Annotated[int | None, typer.Option(help="Another horizon.")]

ProcessorsOption = Annotated[int, typer.Option(help="Processors to work on.")]

_SIZE = re.compile(r"\s*(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[kmgt]?)(?P<binary>i?)b?\s*", re.I)


def byte_count(text: str, where: str) -> int:
    """Read an amount of memory.

    Parameters
    ----------
    text : str
        A number with a unit, such as ``8GB`` or ``512 MiB``.
    where : str
        The option, for an error message.

    Returns
    -------
    int
        Bytes.

    Raises
    ------
    ParameterError
        If it is none.

    Examples
    --------
    >>> byte_count("8GB", "--memory-limit"), byte_count("1.5 KiB", "--memory-limit")
    (8000000000, 1536)
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ParameterError(
            f"{text!r} is no amount of memory", where=where, remedy="give one such as 8GB"
        )
    power = " kmgt".index(match["unit"].lower() or " ")
    return int(float(match["number"]) * (1024 if match["binary"] else 1000) ** power)


def changes_of(threshold: str | None, length: int | None) -> dict[str, str | int]:
    """Give the keys of a specification that options change."""
    changes = {"threshold": threshold, "length": length}
    return {name: value for name, value in changes.items() if value is not None}

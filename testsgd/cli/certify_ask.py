"""``testsgd certify ask``: whether a network is fair to given people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from testsgd.cli import console, options
from testsgd.cli.certify import compared_values
from testsgd.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from testsgd.certification import PersonCheck

_SOME_UNFAIR = 1
_SOME_OPEN = 3
_SHOWN = 50


def certify_ask(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A data set of the catalogue, for the network trained for it; a .keras, .h5, "
            ".onnx, .skops or .nnet file; or package.module:object.",
        ),
    ],
    row: Annotated[
        list[str] | None,
        typer.Option(
            metavar="JSON",
            help="A person as a JSON object: a value for each input, the protected ones too.",
        ),
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option(
            help="A file of people, .csv, .jsonl or .parquet: a column for each input, and any "
            "others."
        ),
    ] = None,
    encoding: options.EncodingOption = None,
    domain: options.DomainOption = None,
    protected: Annotated[
        list[str] | None,
        typer.Option(
            help="The protected inputs, with commas or one by one. (default: those that the domain "
            "names; of a data set its sensitive features)"
        ),
    ] = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VALUES",
            help="Which values of the protected input to try beside each person's own, at least "
            "two, with commas; NAME=VALUES if several are protected. (default: all of the "
            "domain's)",
        ),
    ] = None,
    threshold: options.NetworkThresholdOption = None,
    result: Annotated[
        Path | None,
        typer.Option(
            help="The result.json of a certification of the model on the domain: in which of its "
            "regions is each person?"
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="A file for the answers, a row a person: .csv.")
    ] = None,
    quiet: options.QuietOption = False,
    verbose: options.VerboseOption = False,
) -> int:
    """Show whether a network is fair to given people, and who is treated otherwise.

    Each person is tried with every compared value of what is protected. Fair is who gets one
    decision for all; unfair who gets another one for some; open if that may change with rounding.

    Exit codes: 0 all are fair, 1 some are unfair, 2 bad input, 3 some are open and none is unfair.
    """
    import pandas as pd

    from testsgd.certification import CertificationResult, protected_names
    from testsgd.certification import ask as ask_network
    from testsgd.certification.report.exports import people_frame
    from testsgd.data import read_frame
    from testsgd.io import csv_of, write_text

    if (rows is None) == (not row):
        raise ParameterError(
            "no person is given" if rows is None else "both are given",
            where="--row, --rows",
            remedy="give people as --row '{\"age\": 30, ...}', or a file of them as --rows",
        )
    if out is not None:
        if out.suffix != ".csv":
            raise ParameterError(
                f"{out.name!r} is no name of a CSV file", where="--out", remedy="end it in .csv"
            )
        console.check_writable(out.parent)
    names = protected_names(protected) if protected else None
    people: Any = [_person(text) for text in row or ()]
    if rows is not None:
        people = read_frame(rows, encoding=encoding)
    checks = ask_network(
        model,
        domain,
        rows=people,
        protected=names,
        protected_values=compared_values(compare, protected=names),
        threshold=threshold,
        result=None if result is None else CertificationResult.from_json(result),
        where="--row" if rows is None else str(rows),
    )
    if out is not None:
        frame = people_frame(checks, people)
        frame["counterpart"] = [
            None if check.counterpart is None else json.dumps(check.counterpart, ensure_ascii=False)
            for check in checks
        ]
        if not isinstance(people, pd.DataFrame):
            frame.index += 1
        write_text(out, csv_of(frame, index_label="row"))
    if not quiet:
        _print_checks(checks)
        if out is not None:
            console.print_files([out])
    verdicts = {check.verdict for check in checks}
    if "unfair" in verdicts:
        return _SOME_UNFAIR
    return _SOME_OPEN if "open" in verdicts else console.DONE


def _person(text: str) -> dict[str, Any]:
    """Return the person that a JSON object describes."""
    from testsgd.data.json_objects import json_object

    try:
        return json_object(text, example='{"age": 30, ...}', meant="person")
    except ParameterError as error:
        raise DataError(f"{error.what} ({text!r})", where="--row", remedy=error.remedy) from error


def _print_checks(checks: Sequence[PersonCheck]) -> None:
    """Print a line a person, the first 50 of many, and last how many are of each kind."""
    for number, check in enumerate(checks[:_SHOWN], start=1):
        console.print_line(f"{number}: {_sentence(check)}")
    if len(checks) > _SHOWN:
        console.print_line(f"... and {len(checks) - _SHOWN:,} more; --out FILE.csv has all of them")
    counts = dict.fromkeys(("fair", "unfair", "open"), 0)
    for check in checks:
        counts[check.verdict] += 1
    parts = ", ".join(f"{count:,} {verdict}" for verdict, count in counts.items())
    who = "person" if len(checks) == 1 else "people"
    console.print_line(f"{len(checks):,} {who}: {parts}.")


def _sentence(check: PersonCheck) -> str:
    text = f"{check.verdict}: “{check.decision}”"
    if check.counterpart is not None:
        other = " and ".join(f"{name} = {value}" for name, value in check.counterpart.items())
        text += f", but “{check.counterpart_decision}” for {other}"
    elif check.verdict == "fair":
        text += " whatever is protected"
    if check.verdict == "open":
        text += " as the model runs here; rounding may change that"
    if check.region is not None:
        text += f"; in the region “{check.region}” ({_PROOFS[str(check.region_proof)]})"
    return text


_PROOFS = {
    "certified": "all of it is proved fair",
    "falsified": "all of it is proved unfair",
    "undecided": "nothing is proved of it",
    "mixed": "of parts different things are proved",
}

"""``testsgd data``: the catalogue of data sets."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from testsgd.cli.console import DONE, Column, print_line, print_table

app = typer.Typer(name="data", help="List, describe and fetch data sets.", no_args_is_help=True)

_NAME = typer.Argument(
    metavar="NAME_OR_SPEC", help="A data set of the catalogue, or a TOML file that describes yours."
)


@app.command("list")
def list_datasets() -> int:
    """List the data sets of the catalogue."""
    from testsgd.data import catalogue, load_specification

    rows = []
    for name in catalogue():
        specification = load_specification(name)
        rows.append(
            [
                name,
                specification.dataset.title,
                str(len(specification.features)),
                ", ".join(specification.sensitive),
            ]
        )
    print_table(
        "Data sets",
        [Column("name"), Column("title"), Column("features", numeric=True), Column("sensitive")],
        rows,
    )
    return DONE


@app.command("describe")
def describe_dataset(dataset: Annotated[str, _NAME]) -> int:
    """Say what a data set is, where it comes from, and what its features are."""
    from testsgd.data import load_specification

    specification = load_specification(dataset)
    identity, label = specification.dataset, specification.label
    print_table(
        f"{identity.name}: {identity.title}",
        [Column("feature"), Column("type"), Column("sensitive"), Column("domain")],
        [
            [name, feature.type, "yes" if feature.sensitive else "", feature.domain]
            for name, feature in specification.features.items()
        ],
    )
    print_line(identity.description)
    print_line(f"Favourable label: {label.favourable} ({label.meaning or label.column})")
    for heading, text in (
        ("Licence", identity.licence),
        ("Citation", identity.citation),
        ("Homepage", identity.homepage),
    ):
        if text:
            print_line(f"{heading}: {text}")
    for file in specification.files:
        print_line(f"File: {file.name} from {file.url}, sha256 {file.sha256}")
    return DONE


@app.command("fetch")
def fetch_dataset(dataset: Annotated[str, _NAME]) -> int:
    """Find a data set's files, or download them, and check their sha256."""
    from testsgd.data import find_files, load_specification

    specification = load_specification(dataset)
    if not specification.files:
        print_line(f"{specification.name} has no files to fetch.")
    for path in find_files(specification):
        print_line(str(path))
    return DONE


@app.command("schema")
def print_schema() -> int:
    """Print the JSON Schema of the TOML file that describes a data set."""
    from testsgd.data import specification_schema

    print_line(json.dumps(specification_schema(), indent=1))
    return DONE

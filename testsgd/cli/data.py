"""``testsgd data``: the catalogue of data sets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from testsgd.cli.console import DONE, Column, print_line, print_table
from testsgd.cli.options import DatasetArgument
from testsgd.errors import ParameterError

app = typer.Typer(name="data", help="List, describe and fetch data sets.", no_args_is_help=True)


@app.command("list")
def list_datasets() -> int:
    """List the data sets of the catalogue.

    Exit codes: 0 done.
    """
    from testsgd.data import TextSpecification, catalogue, load_specification, load_terms

    rows = []
    for name in catalogue():
        specification = load_specification(name)
        if isinstance(specification, TextSpecification):
            kind = "texts"
            categories = ", ".join(load_terms(specification.terms).names)
            sensitive = f"terms of {categories}"
        else:
            kind = f"rows of {len(specification.features)} features"
            sensitive = ", ".join(specification.sensitive)
        rows.append([name, specification.dataset.title, kind, sensitive])
    headings = ("name", "title", "what", "sensitive")
    print_table("Data sets", [Column(heading) for heading in headings], rows)
    return DONE


@app.command("describe")
def describe_dataset(dataset: DatasetArgument) -> int:
    """Print what a data set is, where it comes from, and what its features or terms are.

    Exit codes: 0 done, 2 bad input.
    """
    from testsgd.data import TextSpecification, load_specification, load_terms

    specification = load_specification(dataset)
    identity = specification.dataset
    label = specification.label
    if isinstance(specification, TextSpecification):
        headings = ["category", "sensitive terms"]
        rows = [
            [category.name, ", ".join(term.name for term in category.terms)]
            for category in load_terms(specification.terms).categories
        ]
    else:
        headings = ["feature", "type", "sensitive", "domain"]
        rows = [
            [name, feature.type, "yes" if feature.sensitive else "", feature.domain]
            for name, feature in specification.features.items()
        ]
    columns = [Column(heading) for heading in headings]
    print_table(f"{identity.name}: {identity.title}", columns, rows)
    print_line(identity.description)
    print_line(f"Favourable label: {label.favourable} ({label.meaning or label.column})")
    if specification.audit is not None:
        defaults = specification.audit.model_dump(exclude_none=True, exclude={"why"})
        settings = ", ".join(f"{name} = {value}" for name, value in defaults.items())
        why = f" ({specification.audit.why})" if specification.audit.why else ""
        print_line(f"Audited with {settings}{why}")
    for title, text in (
        ("Licence", identity.licence),
        ("Citation", identity.citation),
        ("Homepage", identity.homepage),
    ):
        if text:
            print_line(f"{title}: {text}")
    for file in specification.files:
        source = f" from {file.url}" if file.url else ""
        digest = f", sha256 {file.sha256}" if file.sha256 else ""
        print_line(f"File: {file.name}{source}{digest}")
        for other in file.alternatives:
            print_line(f"  or: {other.name}, sha256 {other.sha256}")
    return DONE


@app.command("terms")
def print_terms(
    terms: Annotated[
        Path | None, typer.Option(help="Write them to this file instead, to be changed.")
    ] = None,
) -> int:
    """Print the default list of sensitive terms, a TOML file to copy and change.

    Exit codes: 0 done, 2 bad input.
    """
    from testsgd.data import terms_file
    from testsgd.io import write_text

    text = terms_file().read_text(encoding="utf-8")
    if terms is None:
        print_line(text.rstrip())
        return DONE
    if terms.exists():
        raise ParameterError(
            "there is such a file already", where=str(terms), remedy="name another, or remove it"
        )
    write_text(terms, text)
    print_line(f"Written: {terms}")
    return DONE


@app.command("fetch")
def fetch_dataset(dataset: DatasetArgument) -> int:
    """Find a data set's files, or download them, and check their sha256.

    Exit codes: 0 done, 2 bad input or no download.
    """
    from testsgd.data import find_files, load_specification

    specification = load_specification(dataset)
    if not specification.files:
        print_line(f"{specification.name} has no files to fetch.")
    for path in find_files(specification):
        print_line(str(path))
    return DONE


@app.command("schema")
def print_schema() -> int:
    """Print the JSON Schema of the TOML file that describes a data set.

    Exit codes: 0 done.
    """
    from testsgd.data import specification_schema

    print_line(json.dumps(specification_schema(), indent=1))
    return DONE

"""Reading a data set's description, of a table or of texts; ``[text]`` marks one of texts."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from pydantic.json_schema import models_json_schema

from testsgd.data.frames import is_rows_file, rows_endings
from testsgd.data.lookup import bundled_folder
from testsgd.data.schema import DatasetSpecification
from testsgd.data.text.schema import TextSpecification
from testsgd.data.toml_document import parse_toml, read_toml_text, validated
from testsgd.errors import ParameterError


@functools.cache
def catalogue() -> dict[str, Path]:
    """List the data sets of the catalogue.

    Returns
    -------
    dict of str to pathlib.Path
        Name of each data set and the file that describes it, in alphabetical order.

    Examples
    --------
    >>> "demo" in catalogue()
    True
    """
    return {path.stem: path for path in sorted(bundled_folder("datasets").glob("*.toml"))}


def load_specification(name_or_path: str | Path) -> Specification:
    """Find a data set's description by its name in the catalogue or by its file.

    Parameters
    ----------
    name_or_path : str or path-like
        A name of the catalogue, or the path of a TOML file.

    Returns
    -------
    DatasetSpecification or TextSpecification

    Raises
    ------
    ParameterError
        If there is no data set of that name.
    SpecificationError
        If the file does not describe a data set.

    Examples
    --------
    >>> load_specification("demo").sensitive
    ('gender', 'race', 'age')
    """
    text = str(name_or_path)
    if text in catalogue():
        return read_specification(catalogue()[text])
    if text.endswith(".toml"):
        return read_specification(text).of_file(Path(text))
    check_no_other_file(text)
    if is_rows_file(Path(text)) and _is_file(Path(text)):
        described = shlex.quote(f"{Path(text).name.partition('.')[0]}.toml")
        raise ParameterError(
            f"{Path(text).name} has rows, and a description of them is needed",
            where=text,
            remedy=f"write one with testsgd init {shlex.quote(text)} > {described}, and give "
            f"{described}, the rows as its data (--data)",
            name=text,
        )
    raise ParameterError(
        f"there is no data set {text!r} in the catalogue",
        where="data set",
        remedy=f"choose one of {', '.join(catalogue())}, or give the path of a .toml file "
        "that describes yours",
        name=text,
    )


def check_no_other_file(name_or_path: str | Path) -> None:
    """Refuse a file that is there and is neither a description nor rows, by its name.

    Parameters
    ----------
    name_or_path : str or path-like
        A name of the catalogue, or the path of any file.

    Raises
    ------
    ParameterError
        If there is such a file.

    Examples
    --------
    >>> check_no_other_file("demo")
    """
    path = Path(name_or_path)
    text = str(name_or_path)
    if text in catalogue() or text.endswith(".toml") or is_rows_file(path):
        return
    if _is_file(path):
        raise ParameterError(
            f"the kind of the file is not known by its name, {path.name!r}",
            where=text,
            remedy=f"give rows in a file that ends in one of {rows_endings()}, text also "
            "compressed, or a .toml file that describes them",
            name=text,
        )


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        # Some texts are no names of files at all.
        return False


Specification: TypeAlias = DatasetSpecification | TextSpecification


def read_specification(path: Path | str) -> Specification:
    """Read a data set's description from a TOML file.

    A path of a list of terms in it is relative to the file's folder.
    """
    path = Path(path)
    text = read_toml_text(path, purpose="describes the data set")
    specification = parse_specification(text, where=str(path))
    if isinstance(specification, TextSpecification) and specification.terms is not None:
        return specification.model_copy(update={"terms": str(path.parent / specification.terms)})
    return specification


def parse_specification(text: str, *, where: str = "specification") -> Specification:
    """Read a data set's description from TOML text.

    Parameters
    ----------
    text : str
        The description.
    where : str
        What to call the text in error messages.

    Returns
    -------
    DatasetSpecification or TextSpecification

    Raises
    ------
    SpecificationError
        If the text is not TOML or does not describe a data set.

    Examples
    --------
    >>> parse_specification("[dataset]; name = 1", where="x.toml")
    Traceback (most recent call last):
    ...
    testsgd.errors.SpecificationError: x.toml: not valid TOML: ...
    """
    document = parse_toml(text, where=where)
    return validated(_kind(document), document, text=text, where=where)


def specification_from_mapping(document: Mapping[str, Any]) -> Specification:
    """Read a data set's description from a mapping with the keys of the TOML format.

    Parameters
    ----------
    document : mapping
        The description. With the key ``"text"`` it is one of texts, else one of a table.

    Returns
    -------
    DatasetSpecification or TextSpecification

    Raises
    ------
    SpecificationError
        If it does not describe a data set; the message names the key.

    Examples
    --------
    >>> specification = specification_from_mapping({
    ...     "dataset": {"name": "loans"},
    ...     "label": {"column": "granted", "favourable": "yes"},
    ...     "features": {
    ...         "gender": {"type": "categorical", "values": ["female", "male"], "sensitive": True},
    ...         "income": {"type": "integer", "range": [0, 200000]},
    ...     },
    ... })
    >>> specification.insensitive
    ('income',)
    """
    return validated(_kind(document), dict(document), where="specification")


def specification_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a data set's description.

    A document with a ``text`` table is one of texts, any other one of a table.

    Returns
    -------
    dict
        The schema as JSON-able data.

    Examples
    --------
    >>> specification_schema()["title"]
    'Description of a data set'
    """
    kinds = (DatasetSpecification, TextSpecification)
    _, definitions = models_json_schema([(kind, "validation") for kind in kinds])
    for part in definitions["$defs"].values():
        if "description" in part:  # a docstring; its examples are for Python
            part["description"] = part["description"].split("\n\n")[0]
    return {
        "title": "Description of a data set",
        "type": "object",
        "if": {"required": ["text"]},
        "then": {"$ref": "#/$defs/TextSpecification"},
        "else": {"$ref": "#/$defs/DatasetSpecification"},
        "$defs": definitions["$defs"],
    }


def _kind(document: Mapping[str, Any]) -> type[DatasetSpecification] | type[TextSpecification]:
    return TextSpecification if "text" in document else DatasetSpecification

"""The catalogue: the data sets that testsgd describes itself, one TOML file each."""

from __future__ import annotations

import functools
from pathlib import Path

from testsgd.data.shipped import bundled_folder
from testsgd.data.specification import Specification, read_specification
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
        return read_specification(text)
    raise ParameterError(
        f"there is no data set {text!r} in the catalogue",
        where="data set",
        remedy=f"choose one of {', '.join(catalogue())}, or give the path of a .toml file "
        "that describes yours",
        name=text,
    )

"""A specification that a person writes in TOML, whose decimals are read as they stand there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

from testsgd.data.schema_parts import Part
from testsgd.data.toml_document import parse_toml, read_toml_text, validated


class ExactDocument(Part):
    """A whole document: read from a file, a text or a mapping, and written as a mapping.

    Two documents are equal if they specify the same. Where they were read plays no part.

    Attributes
    ----------
    purpose : str
        What a file of this kind does, for error messages: "specifies a shield".

    Examples
    --------
    >>> from pydantic import create_model
    >>> from testsgd.data.exact_numbers import ExactShare
    >>> Bound = create_model("Bound", __base__=ExactDocument, threshold=(ExactShare, ...))
    >>> Bound.parse("threshold = 0.1").to_dict()
    {'threshold': '1/10'}
    """

    purpose: ClassVar[str] = "is a specification"

    @classmethod
    def read(cls, path: Path | str) -> Self:
        """Read a specification from a TOML file.

        Parameters
        ----------
        path : path-like

        Returns
        -------
        ExactDocument

        Raises
        ------
        SpecificationError
            If the file is missing, is no TOML or specifies nothing of this kind; names the key and
            the line.
        """
        path = Path(path)
        return cls.parse(read_toml_text(path, purpose=cls.purpose), where=str(path))

    @classmethod
    def parse(cls, text: str, *, where: str = "specification") -> Self:
        """Read a specification from TOML text.

        Raises
        ------
        SpecificationError
            If it is no TOML or specifies nothing of this kind; names the key and the line.
        """
        return validated(cls, parse_toml(text, where=where, exact=True), text=text, where=where)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], where: str = "") -> Self:
        """Make a specification of a mapping with the keys of the TOML format.

        Raises
        ------
        SpecificationError
            If it specifies nothing of this kind; names the key.
        """
        return validated(cls, dict(values), where=where or "specification")

    def to_dict(self) -> dict[str, Any]:
        """Give all keys that have a value, in types that JSON knows; fractions as "1/10"."""
        return self.model_dump(mode="json", exclude_none=True)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._text() == other._text()

    def __hash__(self) -> int:
        return hash(self._text())

    def _text(self) -> str:
        # As text, for in Python 1 and true are equal.
        return json.dumps(self.to_dict(), sort_keys=True)

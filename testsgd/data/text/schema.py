"""How a data set of texts is described: the format of the catalogue's files and of a user's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from testsgd.data.schema import CellParsing, DataFile, Description
from testsgd.data.schema_parts import Flag, Part, mistake


class TextColumns(Part):
    """Names of a file's columns."""

    text: str | None = Field(None, description="the texts, if not called as [text] says")
    label: str | None = Field(None, description="the labels, if not called as [label] says")
    key: str | None = Field(
        None,
        description="names a text: joins annotations to it, and texts of one key, even of several "
        "files, are variants of one text",
    )
    part: str | None = Field(
        None, description="says what a text is for: `train`, `dev` (counts as train) or `test`"
    )


class TextFile(DataFile):
    """One file of a data set of texts, or of the annotations of its texts."""

    columns: TextColumns = Field(TextColumns(), description="names of the file's columns")
    role: Literal["texts", "annotations"] = Field(
        "texts",
        description="annotations hold one row for each label that somebody gave to a text; a "
        "text's label is the mean of its annotations, cut at `label.above`",
    )
    part: Literal["train", "test"] | None = Field(
        None, description="what all texts of the file are for, if a network is trained"
    )
    training: Flag = Field(False, description="for training only, never audited?")

    @model_validator(mode="after")
    def _parts_agree(self) -> TextFile:
        if self.part is not None and self.columns.part is not None:
            raise mistake("part", "give `part` or `columns.part`, not both")
        if self.role == "annotations" and self.columns.key is None:
            raise mistake("columns", "annotations need `key`, the column that names the text")
        return self


class TextParts(Part):
    """Where the texts are in the files."""

    column: str = Field("text", description="the column of the texts, in a file and a data frame")
    folder: str | None = Field(
        None,
        description="for a tar archive: the folder that holds PART/LABEL/NUMBER_RATING.txt, one "
        "text a file, where PART is `train` or `test` and LABEL is a key of `label.map`",
    )
    escapes: dict[str, str] = Field(
        default={}, description="what stands in the file for other characters -> these characters"
    )

    @model_validator(mode="after")
    def _names_are_usable(self) -> TextParts:
        if not self.column:
            raise mistake("column", "give the name of the column")
        if self.folder is not None and not self.folder.strip("/"):
            raise mistake("folder", "give the folder inside the archive")
        if "" in self.escapes:
            raise mistake("escapes", "an empty text stands for nothing")
        return self


class TextSpecification(Description):
    """A data set of texts: its files, where they hold the texts, and its label.

    Examples
    --------
    >>> specification = TextSpecification.model_validate({
    ...     "dataset": {"name": "comments"},
    ...     "text": {"column": "comment"},
    ...     "label": {"column": "toxic", "favourable": "yes", "values": ["no", "yes"]},
    ... })
    >>> specification.name, specification.layout
    ('comments', 'columns')
    """

    files: list[TextFile] = Field(default=[], description="the files of texts")
    parse: CellParsing = Field(CellParsing(), description="how columns are written in the files")
    text: TextParts = Field(description="where the texts are; marks a description as one of texts")
    terms: str | None = Field(
        None,
        description="a TOML file that lists the sensitive terms, seen from this file; Table 1 of "
        "the TestSGD paper if not given",
    )

    @model_validator(mode="before")
    @classmethod
    def _no_features(cls, document: Any) -> Any:
        if isinstance(document, Mapping) and "features" in document:
            raise mistake("features", "describes a table and [text] describes texts; give one only")
        return document

    @model_validator(mode="after")
    def _parts_agree(self) -> TextSpecification:

        if self.dataset.generator is not None:
            raise mistake(("dataset", "generator"), "is for tables; texts are not generated")
        if self.text.column == self.label.column:
            raise mistake(
                ("text", "column"),
                f"this is the label column {self.label.column!r}, which the model must not see",
            )
        if self.parse.separator == "whitespace":
            raise mistake(("parse", "separator"), "blanks stand in the texts too; use another")
        if self.files and all(file.training for file in self.files):
            raise mistake("files", "all files are for training only; nothing is left to audit")
        if self.layout == "archive":
            if not self.label.map:
                what = "an archive needs `map`: name of a folder in it -> label of its texts"
                raise mistake("label", what)
            for number, file in enumerate(self.files):
                if file.role != "texts" or file.columns != TextColumns() or file.part is not None:
                    what = "an archive has no columns, and its folders name the parts"
                    raise mistake(("files", number), what)
        if self.layout == "annotations":
            if self.label.above is None:
                what = "annotations need `above`: where the mean of a text's annotations is cut"
                raise mistake("label", what)
            if sorted(file.role for file in self.files) != ["annotations", "texts"]:
                raise mistake("files", "annotations go with exactly one file of texts")
            if any(file.columns.key is None for file in self.files):
                raise mistake("files", "with annotations, the texts too need `columns.key`")
        return self

    @property
    def layout(self) -> Literal["columns", "annotations", "archive"]:
        """How the files are laid out: columns of cells, annotations beside them, or an archive."""
        if self.text.folder is not None:
            return "archive"
        if any(file.role == "annotations" for file in self.files):
            return "annotations"
        return "columns"

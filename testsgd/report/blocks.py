"""What a report consists of: blocks that every view writes in its own way.

A capability lays a result out once, as a :class:`Document` of blocks; the terminal, Markdown and
HTML are written from the same blocks, so they cannot disagree. Texts are plain: each view escapes
them.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import ClassVar, Literal, TypeAlias

from testsgd.report.charts import Chart

View = Literal["html", "markdown"]
Standing = Literal["", "good", "bad", "open"]


@dataclass(frozen=True)
class Strong:
    """Words of a text that stand out."""

    text: str


@dataclass(frozen=True)
class Link:
    """Words of a text that lead to a section of the same document; `to` is its key."""

    text: str
    to: str


Text: TypeAlias = "str | tuple[str | Strong | Link, ...]"


@dataclass(frozen=True)
class Heading:
    """A heading inside of a section or an article."""

    kind: ClassVar = "heading"

    text: str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    kind: ClassVar = "paragraph"

    text: Text  # What it says.
    # ``"lead"`` for what stands below the headline, ``"soft"`` for what is said aside,
    # ``"definition"`` for what every number is about.
    style: Literal["", "lead", "soft", "definition"] = ""


@dataclass(frozen=True)
class Bullets:
    """A list; with the style ``"lines"`` each item has a line of its own below it."""

    kind: ClassVar = "bullets"

    items: tuple[Text, ...]
    style: Literal["", "lines"] = ""


@dataclass(frozen=True)
class KeyFigure:
    """A number that answers a question; `about` says what it is of, below it."""

    name: str
    value: str
    about: tuple[str, ...] = ()
    standing: Standing = ""


@dataclass(frozen=True)
class KeyFigures:
    """The numbers at the top of a report."""

    kind: ClassVar = "key_figures"

    figures: tuple[KeyFigure, ...]


@dataclass(frozen=True)
class Facts:
    """Names with their values; pairs whose value is empty are left out."""

    kind: ClassVar = "facts"

    title: str
    pairs: tuple[tuple[str, str], ...]

    @property
    def known(self) -> tuple[tuple[str, str], ...]:
        """The pairs that have a value."""
        return tuple((name, value) for name, value in self.pairs if value)


@dataclass(frozen=True)
class Note:
    """One thing that a reader must know: what it is about, and what is so."""

    term: str
    text: str
    standing: Standing = ""


@dataclass(frozen=True)
class Notes:
    """Explanations, one below the other, or as ``"cards"`` beside each other."""

    kind: ClassVar = "notes"

    notes: tuple[Note, ...]
    style: Literal["", "cards"] = ""


@dataclass(frozen=True)
class Column:
    """A column."""

    heading: str
    # What stands in it; a name heads its row, a group is written once for all of its rows.
    content: Literal["text", "name", "number", "strong", "group"] = "text"
    under: str = ""  # A second line of the heading.
    short: str = ""  # What a terminal calls it; columns without are left out where it is narrow.
    view: Literal["", "html", "markdown"] = ""  # The only view that has it, if not all have.
    # Whether the rows of a group have it in common; it is set back in all but the first.
    shared: bool = False

    @property
    def numeric(self) -> bool:
        """Whether it is aligned at the right."""
        return self.content in ("number", "strong", "group")


@dataclass(frozen=True)
class Cell:
    """A cell with lines below its text, that leads to a section, stands out, or has a bar."""

    text: str
    under: tuple[str, ...] = ()
    to: str = ""
    share: float | None = None
    strong: bool = False


@dataclass(frozen=True)
class Row:
    """Cells of a table."""

    cells: tuple[str | Cell, ...]  # One for each column.
    emphasis: bool = False  # Marks the row that the eye should find.
    note: str = ""  # A word beside the row's name.
    about: str = ""  # A sentence below the row's name.
    # Parts of the row's name, such as rules, between which a line may break.
    units: tuple[str, ...] = ()
    # The same, in less room; not empty if the name is too long to be shown whole.
    brief: tuple[str, ...] = ()
    group: int = 0  # Rows next to each other with the same number belong together.


@dataclass(frozen=True)
class Table:
    """A table."""

    kind: ClassVar = "table"

    label: str  # What it shows, for those who do not see it.
    columns: tuple[Column, ...]
    rows: tuple[Row, ...] = ()  # Its rows; without rows there is no table.
    title: str = ""  # A heading that a page has above it.
    # If not empty, a title under which a page folds away more than `open_rows` rows.
    fold: str = ""
    open_rows: int = 20
    most: int | None = None  # Rows that Markdown shows.
    printed: bool = True  # Whether a page has it on paper too.
    searchable: bool = False  # Whether a page has a field to look for words in its rows.
    of_all: str = ""  # What a search says of rows that are not listed, such as "3,541 judged".
    # Whether a narrow screen has each row as a block of its own, with the strong column first.
    stacked: bool = False

    def without(self, heading: str) -> Table:
        """Return the table without the column of a heading."""
        kept = [index for index, one in enumerate(self.columns) if one.heading != heading]
        rows = (replace(row, cells=tuple(row.cells[index] for index in kept)) for row in self.rows)
        columns = tuple(self.columns[index] for index in kept)
        return replace(self, columns=columns, rows=tuple(rows))

    @property
    def groups(self) -> tuple[tuple[Row, ...], ...]:
        """The rows, those of a group together."""
        return tuple(tuple(rows) for _, rows in groupby(self.rows, key=lambda row: row.group))


@dataclass(frozen=True)
class Figure:
    """Charts under one label, with what they show below; Markdown has none."""

    kind: ClassVar = "figure"

    label: str
    charts: tuple[Chart, ...]
    caption: str = ""


PICTURE_URI = "data:image/png;base64,"
"""What the address of a picture in a document begins with."""
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class Picture:
    """A small picture that stands in the document itself, never somewhere else.

    Raises
    ------
    ValueError
        If its address is not the data of a PNG file in base64.

    Examples
    --------
    >>> Picture("data:image/png;base64,iVBORw0KGgo=", label="female").marked
    False
    """

    data_uri: str
    label: str  # What it shows, in a word or two.
    marked: bool = False  # Whether it has a frame.

    def __post_init__(self) -> None:
        mistake = f"a picture is a PNG file in an address that begins with {PICTURE_URI}"
        if not self.data_uri.startswith(PICTURE_URI):
            raise ValueError(mistake)
        try:
            data = base64.b64decode(self.data_uri.removeprefix(PICTURE_URI), validate=True)
        except ValueError as error:
            raise ValueError(mistake) from error
        if not data.startswith(_PNG_SIGNATURE):
            raise ValueError(mistake)


@dataclass(frozen=True)
class Pictures:
    """Rows of small pictures, each row with a title; Markdown says how many there are."""

    kind: ClassVar = "pictures"

    label: str  # What they show, for those who do not see them.
    rows: tuple[tuple[str, tuple[Picture, ...]], ...]
    caption: str = ""

    @property
    def number(self) -> int:
        """How many pictures there are."""
        return sum(len(pictures) for _, pictures in self.rows)


@dataclass(frozen=True)
class Quotes:
    """Places in texts: for each name what stands before a term, the term, and what follows.

    Markdown shows the first place of each name.
    """

    kind: ClassVar = "quotes"

    places: tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...]


@dataclass(frozen=True)
class Details:
    """Blocks that are folded away under a title."""

    kind: ClassVar = "details"

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Boxed:
    """Blocks that are set apart from the others, in a frame."""

    kind: ClassVar = "boxed"

    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Beside:
    """Blocks beside each other in two columns, where a page has room for them."""

    kind: ClassVar = "beside"

    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Only:
    """Blocks that one view shows."""

    kind: ClassVar = "only"

    view: View
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Article:
    """A part of a section, with a heading of its own."""

    kind: ClassVar = "article"

    key: str  # What links name it by.
    title: str
    blocks: tuple[Block, ...]  # What it consists of.
    fold: str = ""  # If not empty, the title under which Markdown folds it away.
    rank: str = ""  # A number before the heading.
    missing: bool = False  # Whether it says that something is not there.
    status: Status | None = None  # Where it stands, in a few words beside the heading.
    plain: bool = False  # Whether it stands on the page itself, not on a panel.


@dataclass(frozen=True)
class Signature:
    """Lines on paper for who signs a report."""

    kind: ClassVar = "signature"

    names: tuple[str, ...]  # What each line is for.


Block: TypeAlias = (
    Heading
    | Paragraph
    | Bullets
    | KeyFigures
    | Facts
    | Notes
    | Table
    | Figure
    | Pictures
    | Quotes
    | Details
    | Boxed
    | Beside
    | Only
    | Article
    | Signature
)


@dataclass(frozen=True)
class Section:
    """A section of a document; one without blocks is left out."""

    key: str  # What links name it by.
    title: str
    blocks: tuple[Block, ...]  # What it consists of.
    contents: str = ""  # Its name in the table of contents, if that is another.
    # Whether Markdown shows it below its heading, folds it away, or shows its blocks only.
    markdown: Literal["heading", "folded", "blocks"] = "heading"
    folded: bool = False  # Whether a page folds it away under its title.
    printed: bool = True  # Whether a page has it on paper too.


def meaning_section(
    notes: tuple[Note, ...], title: str = "What these numbers mean, and what they do not"
) -> Section:
    """Return the section that explains the numbers of a report, its last, folded on a page."""
    return Section(
        "meaning",
        title,
        (Notes(notes),),
        contents="What the numbers mean",
        markdown="folded",
        folded=True,
    )


def shown(blocks: tuple[Block, ...], view: View) -> bool:
    """Return whether a view shows any of some blocks."""
    return any(not isinstance(block, Only) or block.view == view for block in blocks)


@dataclass(frozen=True)
class Status:
    """The outcome in a few words, and whether it is good."""

    text: str
    standing: Standing = ""


# Whether it is good how a gate comes out; without a gate nothing is.
GATE_STANDINGS: dict[str, Standing] = {
    "gate_passed": "good",
    "gate_failed": "bad",
    "not_enough_evidence": "open",
}


@dataclass(frozen=True)
class Document:
    """A report."""

    what: str  # What kind of report it is.
    subject: str  # What it is about.
    headline: str  # The outcome, as a sentence.
    sentences: tuple[str, ...]  # What to know beside it.
    sections: tuple[Section, ...]  # The rest.
    # When the result was made, None if that is left out; by which version; the name of its form.
    created: str | None
    version: str
    schema_name: str
    status: Status | None = None  # The outcome in a few words.
    # What stands between the headline and the first section.
    opening: tuple[Block, ...] = field(default=())
    closing: str = ""  # What Markdown says at the end.
    listed: bool = True  # Whether the sentences are a list, not paragraphs.
    heading: str = ""  # What stands above it in Markdown, with its status, if not its title.
    # What stands right below the headline: the numbers that answer the first questions.
    figures: tuple[Block, ...] = ()

    @property
    def title(self) -> str:
        """What it is called."""
        return f"{self.what}: {self.subject}"

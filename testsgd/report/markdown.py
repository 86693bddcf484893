"""A document as Markdown, short enough for a comment on a pull request; pictures are left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from testsgd.report.blocks import (
    Article,
    Beside,
    Block,
    Boxed,
    Bullets,
    Cell,
    Column,
    Details,
    Document,
    Facts,
    Figure,
    Heading,
    KeyFigures,
    Notes,
    Only,
    Paragraph,
    Pictures,
    Quotes,
    Row,
    Section,
    Signature,
    Strong,
    Table,
    Text,
)
from testsgd.report.formatting import moment, plural, shorten

TEXT_LIMIT = 160

_SPECIALS = str.maketrans(
    {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        # A $ starts a formula on the platforms that know formulas.
        **{character: f"\\{character}" for character in "\\`*_[]|~$"},
    }
)


def render_markdown(document: Document) -> str:
    """Return a document as GitHub-flavoured Markdown; the outcome comes first.

    Examples
    --------
    >>> from testsgd.report.blocks import Paragraph, Section, Strong
    >>> print(render_markdown(Document(
    ...     what="Audit", subject="a model", headline="It is fair.", sentences=("As far as seen.",),
    ...     sections=(Section("rates", "Rates", (Paragraph(("Of ", Strong("all"), ": 23%")),)),),
    ...     created="2026-03-01T09:05:30Z", version="1.0", schema_name="testsgd.audit/2",
    ... )))
    ## Audit: a model
    <BLANKLINE>
    **It is fair.**
    <BLANKLINE>
    - As far as seen.
    <BLANKLINE>
    ### Rates
    <BLANKLINE>
    Of **all**: 23%
    <BLANKLINE>
    *testsgd 1.0, 2026-03-01 09:05 UTC.*
    <BLANKLINE>
    """
    sentences = [escape(sentence) for sentence in document.sentences]
    parts = [
        f"## {escape(document.heading or document.title)}",
        f"**{escape(document.headline)}**",
        f"{escape(document.status.text)}." if document.status and not document.heading else "",
        *_blocks(document.figures),
        *(["\n".join(f"- {one}" for one in sentences)] if document.listed else sentences),
        *_blocks(document.opening),
    ]
    for section in document.sections:
        parts += _section(section)
    closing = f" {escape(document.closing)}" if document.closing else ""
    written = ", ".join(filter(None, (document.version, moment(document.created))))
    parts.append(f"*testsgd {escape(written)}.{closing}*")
    return "\n\n".join(part for part in parts if part) + "\n"


def escape(text: str, limit: int | None = None) -> str:
    r"""Write any text so that Markdown shows it as it is, in a paragraph or in a table's cell.

    Examples
    --------
    >>> escape("a|b <i>")
    'a\\|b &lt;i&gt;'
    """
    line = " ".join(text.split())
    if limit is not None:
        line = shorten(line, limit)
    line = _inside(line)
    # At the start of a line these would make a list, a heading or a rule.
    line = re.sub(r"^(?=[-+=#](?:[-=#\s]|$))", r"\\", line)
    return re.sub(r"^(\d+)(?=[.)](?:\s|$))", r"\1\\", line)


def _inside(line: str) -> str:
    """Escape what does not stand at the start of a line."""
    line = line.translate(_SPECIALS)
    # People and issues of the same name are not called upon, which a backslash does not prevent.
    line = re.sub(r"(@|#)(?=\w)", r"\1<!-- -->", line)
    # Addresses are shown, not linked.
    line = re.sub(r"(?i)\b(https?|ftp|mailto|xmpp):", r"\1&#58;", line)
    return re.sub(r"(?i)\bwww\.", "www&#46;", line)


def _section(section: Section) -> list[str]:
    parts = _blocks(section.blocks)
    if not parts or section.markdown == "blocks":
        return parts
    if section.markdown == "folded":
        return _folded(section.title, parts)
    return [f"### {escape(section.title)}", *parts]


def _blocks(blocks: Iterable[Block]) -> list[str]:
    return [part for block in blocks for part in _block(block) if part]


def _block(block: Block) -> list[str]:
    """Return a block as paragraphs of Markdown."""
    match block:
        case Heading():
            return [f"**{escape(block.text)}**"]
        case Paragraph():
            return [_text(block.text)]
        case Bullets():
            return ["\n".join(f"- {_text(item)}" for item in block.items)]
        case KeyFigures():
            names = [escape(figure.name) for figure in block.figures]
            values = [escape(figure.value) for figure in block.figures]
            if not any(figure.about for figure in block.figures):
                return [_table(names, [values], right=range(len(names)))]
            about = ["<br>".join(escape(line) for line in figure.about) for figure in block.figures]
            return [_table(names, [[f"**{value}**" for value in values], about])]
        case Facts():
            facts = [[escape(text) for text in pair] for pair in block.known]
            return [_table([escape(block.title), ""], facts)]
        case Notes():
            return [f"**{escape(note.term)}.** {escape(note.text)}" for note in block.notes]
        case Table():
            title = f"**{escape(block.title)}**" if block.title else ""
            return [title, _grid(block)] if block.rows else []
        case Figure():
            return []
        case Pictures():
            if not block.number:
                return []
            return [
                f"*{escape(block.label)}: {plural(block.number, 'picture')} in the HTML report.*"
            ]
        case Quotes():
            places = [_place(*place) for _, all_places in block.places for place in all_places[:1]]
            return ["\n".join(f"- {place}" for place in places)]
        case Details():
            return _folded(block.title, _blocks(block.blocks))
        case Boxed() | Beside():
            return _blocks(block.blocks)
        case Only():
            return _blocks(block.blocks) if block.view == "markdown" else []
        case Signature():
            return []
        case Article():
            parts = _blocks(block.blocks)
            if block.fold:
                return _folded(block.fold, parts)
            status = f" ({escape(block.status.text)})" if block.status else ""
            rank = f"{block.rank}. " if block.rank else ""
            return [f"**{escape(f'{rank}{block.title}', TEXT_LIMIT)}**{status}", *parts]


def _folded(title: str, parts: Sequence[str]) -> list[str]:
    """Fold parts away under a title; nothing is left of no parts."""
    if not parts:
        return []
    return [f"<details>\n<summary>{escape(title)}</summary>", *parts, "</details>"]


def _text(text: Text) -> str:
    if isinstance(text, str):
        return escape(text)
    # Blanks between the parts are part of the text.
    parts = []
    for part in text:
        plain = part if isinstance(part, str) else part.text
        line = " ".join(plain.split())
        written = f"**{_inside(line)}**" if isinstance(part, Strong) else escape(line)
        before = " " * plain.startswith(" ")
        after = " " * plain.endswith(" ")
        parts.append(f"{before}{written}{after}")
    return "".join(parts)


def _place(before: str, term: str, after: str) -> str:
    """Write a place in a text with the term in bold, which must stand as close as it stood."""
    left = " " * before.endswith(" ")
    right = " " * after.startswith(" ")
    return f"{escape(before)}{left}**{escape(term)}**{right}{escape(after)}"


def _grid(table: Table) -> str:
    shown = [index for index, column in enumerate(table.columns) if column.view != "html"]
    columns = [table.columns[index] for index in shown]
    rows = [
        [_cell(row.cells[index], table.columns[index], row) for index in shown]
        for row in table.rows[: table.most]
    ]
    right = [index for index, column in enumerate(columns) if column.numeric]
    return _table([escape(column.heading, TEXT_LIMIT) for column in columns], rows, right)


def _cell(cell: str | Cell, column: Column, row: Row) -> str:
    text = cell if isinstance(cell, str) else cell.text
    if column.content == "name" and row.brief:
        text = " and ".join(row.brief)
    written = escape(text, TEXT_LIMIT)
    bold = row.emphasis and column.content in ("strong", "name")
    if written and (bold or (isinstance(cell, Cell) and cell.strong)):
        written = f"**{written}**"
    if column.content == "name":
        written += f" ({escape(row.note)})" if row.note else ""
        written += f"<br>{escape(row.about)}" if row.about else ""
    return written


def _table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()
) -> str:
    """Write a table; `right` are the columns of numbers, which end at the right."""
    aligned = set(right)
    rule = ["---:" if index in aligned else "---" for index in range(len(headings))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (headings, rule, *rows))

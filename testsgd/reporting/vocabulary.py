"""The words that fit an audit."""

from __future__ import annotations

from typing import Literal

from testsgd.reporting.summary import AuditSummary
from testsgd.reporting.table.words import RowWords
from testsgd.reporting.text.words import TextWords
from testsgd.reporting.words import Words

_WORDS: dict[str, Words] = {"rows": RowWords(), "texts": TextWords()}


def words_for(kind: Literal["rows", "texts"]) -> Words:
    """Give the words for one kind of data."""
    return _WORDS[kind]


def vocabulary(summary: AuditSummary) -> Words:
    """Give the words for the data of an audit."""
    return words_for(summary.data.kind)

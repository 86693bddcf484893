"""Data sets of texts: how they are described, the texts themselves, and sensitive terms."""

from testsgd.data.text.checks import check_texts
from testsgd.data.text.loading import load_texts
from testsgd.data.text.schema import TextFile, TextSpecification
from testsgd.data.text.terms import (
    SensitiveTerms,
    Term,
    TermCategory,
    load_terms,
    terms_file,
    terms_from_mapping,
)
from testsgd.data.text.texts import Texts, texts_fingerprint

__all__ = [
    "SensitiveTerms",
    "Term",
    "TermCategory",
    "TextFile",
    "TextSpecification",
    "Texts",
    "check_texts",
    "load_terms",
    "load_texts",
    "terms_file",
    "terms_from_mapping",
    "texts_fingerprint",
]

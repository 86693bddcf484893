"""Data sets: how they are described, where their files are, and the rows they hold."""

from testsgd.data.bundled import catalogue, load_specification
from testsgd.data.categories import (
    MISSING,
    category_codes,
    category_text,
    declared_places,
    distinct_values,
)
from testsgd.data.demo import PLANTED_GROUP, generate_demo
from testsgd.data.description import (
    AuditDefaults,
    DataFile,
    Description,
    Identity,
    Label,
    PaperFigures,
)
from testsgd.data.lookup import HOME_VARIABLE, cache_folder, candidate_folders, find_files
from testsgd.data.schema import DEFAULT_BINS, DatasetSpecification, Feature, Parsing, RowFilter
from testsgd.data.shipped import bundled_folder
from testsgd.data.specification import (
    Specification,
    parse_specification,
    read_specification,
    specification_from_mapping,
    specification_schema,
)
from testsgd.data.table import Table, as_floats, check_table, load_table, table_fingerprint
from testsgd.data.text import (
    SensitiveTerms,
    Term,
    TermCategory,
    TextFile,
    Texts,
    TextSpecification,
    check_texts,
    load_terms,
    load_texts,
    terms_file,
    terms_from_mapping,
    texts_fingerprint,
)

__all__ = [
    "DEFAULT_BINS",
    "HOME_VARIABLE",
    "MISSING",
    "PLANTED_GROUP",
    "AuditDefaults",
    "DataFile",
    "DatasetSpecification",
    "Description",
    "Feature",
    "Identity",
    "Label",
    "PaperFigures",
    "Parsing",
    "RowFilter",
    "SensitiveTerms",
    "Specification",
    "Table",
    "Term",
    "TermCategory",
    "TextFile",
    "TextSpecification",
    "Texts",
    "as_floats",
    "bundled_folder",
    "cache_folder",
    "candidate_folders",
    "catalogue",
    "category_codes",
    "category_text",
    "check_table",
    "check_texts",
    "declared_places",
    "distinct_values",
    "find_files",
    "generate_demo",
    "load_specification",
    "load_table",
    "load_terms",
    "load_texts",
    "parse_specification",
    "read_specification",
    "specification_from_mapping",
    "specification_schema",
    "table_fingerprint",
    "terms_file",
    "terms_from_mapping",
    "texts_fingerprint",
]

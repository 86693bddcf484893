"""Data sets: how they are described, where their files are, and the rows they hold."""

from testsgd.data.bundled import bundled_folder, catalogue, load_specification
from testsgd.data.categories import (
    MISSING,
    category_codes,
    category_text,
    declared_places,
    distinct_values,
)
from testsgd.data.demo import PLANTED_GROUP, generate_demo
from testsgd.data.lookup import HOME_VARIABLE, cache_folder, candidate_folders, find_files
from testsgd.data.schema import (
    DEFAULT_BINS,
    DataFile,
    DatasetSpecification,
    Feature,
    Identity,
    Label,
    PaperFigures,
    Parsing,
    RowFilter,
    specification_schema,
)
from testsgd.data.specification import (
    parse_specification,
    read_specification,
    specification_from_mapping,
)
from testsgd.data.table import Table, as_floats, check_table, load_table, table_fingerprint

__all__ = [
    "DEFAULT_BINS",
    "HOME_VARIABLE",
    "MISSING",
    "PLANTED_GROUP",
    "DataFile",
    "DatasetSpecification",
    "Feature",
    "Identity",
    "Label",
    "PaperFigures",
    "Parsing",
    "RowFilter",
    "Table",
    "as_floats",
    "bundled_folder",
    "cache_folder",
    "candidate_folders",
    "catalogue",
    "category_codes",
    "category_text",
    "check_table",
    "declared_places",
    "distinct_values",
    "find_files",
    "generate_demo",
    "load_specification",
    "load_table",
    "parse_specification",
    "read_specification",
    "specification_from_mapping",
    "specification_schema",
    "table_fingerprint",
]

"""Tables of the keys of a document, from its JSON Schema.

The schema knows every key, its type and whether it must be there, and explains those that are not
clear by themselves. :data:`WORDS` explains the others; a table never misses a key of the schema.
"""

from __future__ import annotations

import json
from typing import Any

from markdown_text import cell, table

Schema = dict[str, Any]

# Name of each part in the schema ("" is the document itself) and its heading, in reading order.
SPECIFICATION = {
    "Identity": "`[dataset]`",
    "DataFile": "`[[files]]`, one table a file",
    "Parsing": "`[parse]`",
    "RowFilter": "`[[filters]]`, one table a filter",
    "Label": "`[label]`",
    "Feature": "`[features.NAME]`, one table a feature",
    "PaperFigures": "`[paper]`",
}
RESULT = {
    "": "The document",
    "Verdict": "`verdict`",
    "GroupSummary": "`groups[]`",
    "RuleSummary": "`rules[]` of a group",
    "RuleAlone": "`rules_alone[]` of a group",
    "UndecidedGroup": "`undecided[]`",
    "Counts": "`counts`",
    "DataSummary": "`data`",
    "LabelSummary": "`data.label`",
    "FeatureSummary": "`data.features[]`",
    "ModelSummary": "`model`",
    "Parameters": "`parameters`",
    "Charts": "`charts`",
    "FeatureRates": "`charts.features[]`",
    "CellRate": "`charts.features[].cells[]`",
    "HeatMap": "`charts.heat_maps[]`",
    "ScatterCell": "`charts.scatter[]`",
}

# Keys that the schema itself does not explain.
WORDS = {
    "Identity.title": "the name for people",
    "Identity.description": "a sentence or two for the report",
    "Identity.licence": "under which terms the data may be used",
    "Identity.citation": "how to cite the data",
    "Identity.homepage": "where the data are described",
    "RowFilter.column": "the column in the file",
    "RowFilter.minimum": "smallest number that stays",
    "RowFilter.maximum": "largest number that stays",
    "Feature.type": "what the cells are",
    "Feature.sensitive": "may rules be about it? It is then never perturbed",
    "Feature.description": "a remark for people",
    "PaperFigures.accuracy": "accuracy of the paper's model, as a share",
    "PaperFigures.top_score": "the paper's largest score",
    "PaperFigures.top_group": "the group that has it, in the paper's words",
    "PaperFigures.rule_sets": "frequent rule sets the paper counts",
    "PaperFigures.seconds": "how long the paper's run took",
    ".schema": "name and version of this format",
    ".mode": "how the rates were found",
    ".parameters": "what was asked for",
    ".versions": "of testsgd, Python and the libraries used",
    ".data": "the rows",
    ".model": "the model",
    ".counts": "how many rule sets there were at each step",
    ".verdict": "the outcome in words, with the exit code",
    ".undecided": "groups too small to judge, or without samples on one side",
    ".charts": "the numbers behind the report's charts",
    "Verdict.status": "the outcome in one word",
    "Verdict.exit_code": "what the command line leaves with",
    "Verdict.headline": "the largest difference, as a sentence",
    "Verdict.sentences": "what to know beside it",
    "GroupSummary.rules": "the rules, at most one a feature; all hold",
    "GroupSummary.text": "the rules as people write them",
    "GroupSummary.margin_method": "whose interval the margin is from; `none` in exact mode",
    "GroupSummary.samples_in": "neighbours asked about inside",
    "GroupSummary.samples_out": "neighbours asked about outside",
    "GroupSummary.rules_alone": "what each rule gives by itself, for the first groups",
    "RuleSummary.feature": "the sensitive feature",
    "RuleAlone.text": "the rule as people write it",
    "RuleAlone.n_in": "rows that satisfy it",
    "RuleAlone.rate_in": "rate of the favourable label among them",
    "RuleAlone.difference": "`rate_in - rate_out`; null if there is nobody outside",
    "UndecidedGroup.text": "the rules as people write them",
    "UndecidedGroup.rules": "the rules",
    "UndecidedGroup.n_in": "rows in the group",
    "UndecidedGroup.support": "share of the rows",
    "UndecidedGroup.reason": "why it is not judged",
    "Counts.decided": "groups whose margin is small enough",
    "Counts.undecided_frequent": "groups whose margin stayed too large",
    "Counts.undecided_small": "combinations of single values with too few rows",
    "DataSummary.name": "short name",
    "DataSummary.title": "name for people",
    "DataSummary.description": "from the description",
    "DataSummary.licence": "from the description",
    "DataSummary.citation": "from the description",
    "DataSummary.rows": "number of rows",
    "DataSummary.label": "the label whose rate is compared",
    "DataSummary.features": "every feature, in order",
    "DataSummary.notes": "which rows were left out, whether labels are absent",
    "LabelSummary.column": "the label column",
    "LabelSummary.favourable": "the label whose rate is compared",
    "FeatureSummary.name": "the feature",
    "FeatureSummary.type": "as declared",
    "FeatureSummary.sensitive": "may rules be about it?",
    "ModelSummary.name": "what the model is called",
    "ModelSummary.kind": "what it is, in words",
    "ModelSummary.output": "what it returns",
    "ModelSummary.file_sha256": "sha256 of the model's file, if it was read from one",
    "ModelSummary.card": "the model card beside the file, as texts",
    "Charts.features": "rates over the cells of each sensitive feature",
    "Charts.heat_maps": "rates over the cells of each pair of sensitive features",
    "Charts.scatter": "all frequent groups, support against score",
    "FeatureRates.feature": "the sensitive feature",
    "FeatureRates.cells": "its values, or its bins",
    "CellRate.label": "the value or bin",
    "CellRate.n": "rows",
    "HeatMap.row_feature": "the feature of the rows",
    "HeatMap.column_feature": "the feature of the columns",
    "HeatMap.row_labels": "the rows' cells",
    "HeatMap.column_labels": "the columns' cells",
    "HeatMap.rates": "rates, row by row; null where nobody is",
    "HeatMap.counts": "numbers of rows of the file, row by row",
    "ScatterCell.support": "share of the rows",
    "ScatterCell.score": "score",
    "ScatterCell.n": "groups at this place",
    "Parameters.theta": "smallest support",
    "Parameters.error_margin": "largest sampling margin of a decided group",
    "Parameters.min_samples": "more samples than this a side come first",
    "Parameters.confidence": "of each side's margin, and of the population interval",
    "Parameters.mode": "mode asked for",
    "Parameters.sampling": "sampling asked for",
    "Parameters.max_queries": "most rows to ask the model about",
    "Parameters.max_features": "most rules in a rule set",
    "Parameters.top": "how many ranked groups the document holds",
    "Parameters.seed": "seed of every random choice",
    "Parameters.fail_above": "the gate; null if there is none",
}


def reference(schema: Schema, headings: dict[str, str]) -> str:
    """Write a heading and a table of keys for each part of a document."""
    if unknown := set(schema["$defs"]) - set(headings):
        raise ValueError(f"the schema has parts without a heading: {', '.join(sorted(unknown))}")
    return "\n\n".join(
        _part(schema["$defs"][name] if name else schema, name, heading)
        for name, heading in headings.items()
    )


def _part(part: Schema, name: str, heading: str) -> str:
    required = set(part.get("required", ()))
    rows = [
        [f"`{key}`", _type(value), _presence(value, key in required), _meaning(value, name, key)]
        for key, value in part["properties"].items()
    ]
    blocks = [f"### {heading}", cell(part.get("description", "")) if name else ""]
    return "\n\n".join([*filter(None, blocks), table(["Key", "Type", "Default", "Meaning"], rows)])


def _meaning(value: Schema, part: str, key: str) -> str:
    words = value.get("description")
    if words:
        return cell(words)
    if f"{part}.{key}" not in WORDS:
        raise ValueError(f"give the field {part}.{key} a description, or explain it in WORDS")
    return WORDS[f"{part}.{key}"]


def _presence(value: Schema, required: bool) -> str:
    if required:
        return "required"
    default = value.get("default")
    return (
        "" if default in (None, "", []) or isinstance(default, dict) else f"`{json.dumps(default)}`"
    )


def _type(value: Schema) -> str:
    if "anyOf" in value:
        return " or ".join(_type(choice) for choice in value["anyOf"])
    if "const" in value:
        return f"`{json.dumps(value['const'])}`"
    if "enum" in value:
        return ", ".join(f"`{json.dumps(choice)}`" for choice in value["enum"])
    if "$ref" in value:
        return "table"
    kind = value.get("type")
    if kind == "array" and "prefixItems" in value:
        return f"list of {len(value['prefixItems'])} numbers"
    if kind == "array":
        inner = _type(value["items"])
        return f"list of {inner}{'' if inner.endswith('s') or ' ' in inner else 's'}"
    if kind == "object":
        return f"table of {_type(value['additionalProperties'])}s"
    if isinstance(kind, list):
        return " or ".join(_type({"type": choice}) for choice in kind)
    names = {
        "string": "text",
        "integer": "whole number",
        "number": "number",
        "boolean": "true or false",
    }
    return names.get(str(kind), str(kind))

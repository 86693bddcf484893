"""Tables of the keys of a document, from its JSON Schema.

The schema knows every key, its type, its meaning and whether it must be there; a table never misses
a key of the schema.
"""

from __future__ import annotations

import json
from typing import Any

from markdown_text import cell, table

Schema = dict[str, Any]

# Name of each part in the schema ("" is the document itself) and its heading, in reading order.
SPECIFICATION = {
    "DatasetSpecification": "The description of a table",
    "TextSpecification": "The description of texts",
    "Identity": "`[dataset]`",
    "DataFile": "`[[files]]` of a table, one table a file",
    "TextFile": "`[[files]]` of texts, one table a file",
    "TextColumns": "`columns` of a file of texts",
    "FileVersion": "`[[files.alternatives]]`, one table an alternative",
    "Parsing": "`[parse]` of a table",
    "CellParsing": "`[parse]` of texts",
    "RowFilter": "`[[filters]]`, one table a filter",
    "TextParts": "`[text]`",
    "Label": "`[label]`",
    "Feature": "`[features.NAME]`, one table a feature",
    "RowUnits": "`[data]` of a table",
    "AuditDefaults": "`[audit]`",
    "PaperFigures": "`[paper]`",
    "PaperGroup": "`paper.further_groups[]`",
}
TERMS = {
    "TermsHeader": "`[terms]`",
    "TermEntry": "A term, `TERM = {...}` under `[categories.NAME]`",
}
RESULT = {
    "": "The document",
    "Verdict": "`verdict`",
    "GroupSummary": "`groups[]`",
    "RuleSummary": "`rules[]` of a group",
    "RuleAlone": "`rules_alone[]` of a group",
    "EstimandRates": "`other` of a group",
    "CounterfactualSummary": "`counterfactual` of a group",
    "OwnEffectSummary": "`own_effect` of a group",
    "InSearch": "`in_search` of a group",
    "Explanation": "`explanation` of a group",
    "ShapleyValue": "`explanation.shapley_values[]` of a group",
    "SimplestRules": "`explanation.simplest` of a group",
    "CorrelatedFeature": "`explanation.correlated_features[]` of a group",
    "ConditionalScore": "`explanation.conditional` of a group",
    "EstimandSummary": "`estimands[]`",
    "MovedFeature": "`moved[]`",
    "ExplainingRuleSummary": "`rules[]`",
    "UnjudgedSummary": "`unjudged`",
    "CoarseBin": "`unjudged.coarse_bins`",
    "DeeperSummary": "`deeper`",
    "FinerSummary": "`finer`",
    "WithinSummary": "`within`",
    "WithinGroup": "`within.groups[]`",
    "RunsSummary": "`runs`",
    "GroupOverRuns": "`runs.groups[]`",
    "RunRange": "`difference` and `score` of `runs.groups[]`",
    "ConditionalSummary": "`conditional`",
    "GuaranteeSummary": "`guarantee`",
    "ErrorRateSummary": "`error_rates[]`",
    "ErrorRateGroup": "`first` of an error rate",
    "AuditHoldout": "`holdout`",
    "UnestimatedGroup": "`largest_unestimated` and `smallest_unestimated_ratio` of `holdout`",
    "UndecidedGroup": "`undecided[]`",
    "Counts": "`counts`",
    "DataSummary": "`data`",
    "LabelSummary": "`data.label`",
    "FeatureSummary": "`data.features[]`",
    "InferredColumnSummary": "`data.inferred[]`",
    "ModelSummary": "`model`",
    "UnknownCategories": "`model.unknown_categories[]`",
    "AuditParameters": "`parameters`",
    "Charts": "`charts`",
    "FeatureRates": "`charts.features[]`",
    "CellRate": "`charts.features[].cells[]`",
    "HeatMap": "`charts.heat_maps[]`",
    "ScatterCell": "`charts.scatter[]`",
    "TermsSummary": "`terms`",
    "TermCategorySummary": "`terms.categories[]`",
    "TermSummary": "`terms.categories[].terms[]`",
    "Snippet": "`terms.categories[].terms[].snippets[]`",
    "ControlsSummary": "`terms.controls`",
    "ControlEffectSummary": "`terms.controls.effects[]`",
    "ControlRate": "`terms.controls.effects[].controls[]`",
    "NotComparedSummary": "`terms.controls.not_compared[]`",
}

MITIGATION = {
    "": "The document",
    "MitigationVerdict": "`verdict`",
    "FittedAnewSummary": "`fitted_anew`",
    "WrittenSummary": "`written`",
    "WrittenTarget": "`written.targets[]`",
    "SideSummary": "`written.targets[].group` and `complement`",
    "PartSummary": "`written.training`, `written.validation` and `written.held_out`",
    "ChangeSummary": "A change, with its interval",
    "SideEffectsSummary": "`written.side_effects`",
    "GapSummary": "`exceeded[]` and `largest` of the side effects",
    "LossSummary": "`lossy[]` and `largest_loss` of the side effects",
    "WorstSummary": "`worst` of the side effects",
    "TargetSummary": "`targets[]`",
    "RatesSummary": "`before`, `after` and the like",
    "CounterfactualSummary": "`effect_before` and `effect_after`",
    "CurvePoint": "`curve[]`",
    "EqualAccuracy": "`comparisons[].equal_accuracy`",
    "SamplesSummary": "`targets[].samples[]` and `controls.targets[].samples[]`",
    "ControlChangesSummary": "`controls`",
    "ControlTargetSummary": "`controls.targets[]`",
    "ControlChange": "`controls.largest_before`, `controls.largest_after` and `held_out`",
    "ControlFigure": "`before` and `after` of a control effect",
    "TargetRange": "`ranges[]`",
    "RunRange": "A figure over the runs",
    "RunSummary": "`runs[]`",
    "CandidateSummary": "`candidates[]`",
    "AuditChange": "`all_rows` and `held_out`",
    "GroupChange": "`worst[]` and `increased[]` of an audit's change",
    "RuleSummary": "`rules[]` of a group",
    "ComparisonSummary": "`comparisons[]`",
    "MitigationParameters": "`settings`",
    "SplitSummary": "`split`",
    "DataSummary": "`data`",
    "LabelSummary": "`data.label`",
    "FeatureSummary": "`data.features[]`",
    "InferredColumnSummary": "`data.inferred[]`",
    "ModelSummary": "`original` and `retrained`",
    "UnknownCategories": "`unknown_categories[]` of `original` and `retrained`",
}
METRICS = {
    "": "The document",
    "MetricsVerdict": "`verdict`",
    "MetricSummary": "`metrics[]`",
    "ComparedGroup": "`metrics[].groups[]`",
    "RuleSummary": "`rules[]` of a group",
    "MetricExplanation": "`explanation` of a group",
    "AddedByRule": "`explanation.shapley_values[]`",
    "SimplestRules": "`explanation.simplest[]`",
    "AlikeSummary": "`explanation.alike`",
    "CorrelatedFeature": "`explanation.correlated_features[]`",
    "SearchedGroupSummary": "`in_search` of a group",
    "FinerSummary": "`metrics[].finer`",
    "MetricUnjudged": "`metrics[].unjudged`",
    "UnestimatedGroup": "`metrics[].unestimated`",
    "GroupByMetrics": "`groups[]`",
    "ValueOfGroup": "`groups[].metrics[]`",
    "FeatureMetrics": "`features[]`",
    "CellMetrics": "`features[].cells[]`",
    "ValueOfCell": "`features[].cells[].metrics[]`",
    "JointSummary": "`joint`",
    "MetricDifference": "`largest` and `most_certain` of a joint metric",
    "Holdout": "`holdout`",
    "UnjudgedSummary": "`unjudged`",
    "CoarseBin": "`unjudged.coarse_bins[]`",
    "MetricParameters": "`parameters`",
    "DataSummary": "`data`",
    "LabelSummary": "`data.label`",
    "FeatureSummary": "`data.features[]`",
    "InferredColumnSummary": "`data.inferred[]`",
    "AskedModel": "`model`",
    "UnknownCategories": "`model.unknown_categories[]`",
}
COMPARISON = {
    "": "The document",
    "ComparisonVerdict": "`verdict`",
    "MethodSummary": "`methods[]`",
    "FigureSummary": "`methods[].figures[]`",
    "ComparedFindingSummary": "`methods[].findings[]`",
    "Side": "`side` and `other_side` of a finding",
    "Nearest": "`nearest` of a finding",
    "InAuditSummary": "`in_audit` of a finding",
    "ComparisonSettings": "`settings`",
    "DataSummary": "`data`",
    "LabelSummary": "`data.label`",
    "FeatureSummary": "`data.features[]`",
    "InferredColumnSummary": "`data.inferred[]`",
    "ModelSummary": "`model`",
    "UnknownCategories": "`model.unknown_categories[]`",
}
FRONTIER = {
    "": "The document",
    "FrontierVerdict": "`verdict`",
    "PointSummary": "`points[]` and `ceiling[]`",
    "ExpectedSummary": "`expected` of a point",
    "AccuracySummary": "`before`, and `accuracy` of a point",
    "WorstOfGroups": "`worst_before`, and `worst` of a point",
    "SideEffectsSummary": "`effects`",
    "GapSummary": "`effects.exceeded[]` and `effects.largest`",
    "LossSummary": "`effects.lossy[]` and `effects.largest_loss`",
    "WorstSummary": "`effects.worst`",
    "RuleSummary": "`rules[]` of a group",
    "SidesSummary": "`paying[]`",
    "FrontierParameters": "`settings`",
    "FrontierSplit": "`split`",
    "FrontierModel": "`original`",
    "DataSummary": "`data`",
    "LabelSummary": "`data.label`",
    "FeatureSummary": "`data.features[]`",
    "InferredColumnSummary": "`data.inferred[]`",
}
SHIELD = {
    "": "The document",
    "ShieldVerdict": "`verdict`",
    "RequirementSummary": "`requirement`",
    "InputsSummary": "`inputs`",
    "InputRow": "`inputs.rows[]`",
    "SynthesisSummary": "`synthesis`",
}

SIMULATION = {
    "": "The document",
    "ShieldVerdict": "`verdict`",
    "SimulationParameters": "`settings`",
    "RequirementSummary": "`requirement`",
    "InputsSummary": "`inputs`",
    "InputRow": "`inputs.rows[]`",
    "SideSummary": "`unshielded` and `shielded`",
    "BiasBin": "`bins[]`",
    "RunRange": "`interventions`, `cost` and `utility.loss`",
    "UtilitySummary": "`utility`",
    "PeriodSummary": "`periods[]`",
}

MONITOR_SIMULATION = {
    "": "The document",
    "MonitorSimulationVerdict": "`verdict`",
    "MonitorSimulationParameters": "`settings`",
    "SimulatedAlarms": "`alarms[]`",
    "AlarmPoint": "`alarms[].course[]`",
}

MONITORING = {
    "": "The document",
    "MonitorVerdict": "`verdict`",
    "MonitoredComparison": "`comparisons[]`",
    "MonitoredGroup": "`comparisons[].groups[]`",
    "CoursePoint": "`comparisons[].course[]`",
    "WindowSummary": "`comparisons[].windows[]`",
    "AlertSummary": "`alerts[]` and `comparisons[].first_alert`",
    "AlertedGroupSummary": "`groups[]` of an alert",
    "ConditionSummary": "`conditions[]` of a comparison or of an alert",
    "PropertySummary": "`properties[]`",
    "PriorSummary": "`properties[].priors[]`",
    "StreamSummary": "`stream`",
    "MonitorSettings": "`settings`",
}

GENERATIVE = {
    "": "The document",
    "GenerativeVerdict": "`verdict`",
    "SequenceSummary": "`sequences[]` and `before[]`",
    "ValueSummary": "`sequences[].values[]`",
    "PictureSummary": "`sequences[].pictures[]`",
    "ConditionSummary": "`conditions[]` of a sequence or of combinations",
    "CoverageSummary": "`coverage`",
    "CurvePoint": "`coverage.curve[]`",
    "MissingSummary": "`coverage.missing[]`",
    "GenerativeSettings": "`settings`",
}

CERTIFICATION = {
    "": "The document",
    "CertificationVerdict": "`verdict`",
    "GateRule": "`verdict.rules[]`",
    "Shares": "`proved`",
    "Remainder": "`estimated`",
    "CounterexampleSummary": "`counterexamples[]`",
    "AnswerSummary": "`counterexamples[].answers[]`",
    "Region": "`regions[]`",
    "Condition": "`regions[].rules[]`",
    "MomentSummary": "`moments[]`",
    "NetworkSummary": "`network`",
    "LayerSummary": "`network.layers[]`",
    "DomainSummary": "`domain`",
    "InputSummary": "`domain.inputs[]`",
    "CertificationParameters": "`settings`",
}


def reference(schema: Schema, headings: dict[str, str], level: int = 3) -> str:
    """Write a heading of a level and a table of keys for each part of a document."""
    if unknown := set(schema["$defs"]) - set(headings):
        raise ValueError(f"the schema has parts without a heading: {', '.join(sorted(unknown))}")
    return "\n\n".join(
        _part(schema["$defs"][name] if name else schema, name, f"{'#' * level} {heading}")
        for name, heading in headings.items()
    )


def _part(part: Schema, name: str, heading: str) -> str:
    required = set(part.get("required", ()))
    rows = [
        [f"`{key}`", _type(value), _presence(value, key in required), _meaning(value, name, key)]
        for key, value in part["properties"].items()
    ]
    # What follows the first paragraph of a docstring is for Python.
    description = part.get("description", "").partition("\n\n")[0] if name else ""
    blocks = [heading, cell(description)]
    return "\n\n".join([*filter(None, blocks), table(["Key", "Type", "Default", "Meaning"], rows)])


def _meaning(value: Schema, part: str, key: str) -> str:
    words = value.get("description")
    if not words:
        raise ValueError(f"give the field {part}.{key} a description")
    return cell(words)


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

"""Mitigation: counter-labelled samples, retraining, and what became of the groups."""

from typing import TYPE_CHECKING, Any

from testsgd.mitigation.alternatives import ALTERNATIVES, resolve_alternatives
from testsgd.mitigation.export import samples_frame, write_samples
from testsgd.mitigation.journal import Journal
from testsgd.mitigation.material import (
    DataSplit,
    Material,
    comparison_parameters,
    finding_parameters,
)
from testsgd.mitigation.outcome import (
    Alternative,
    CurvePoint,
    MitigationOutcome,
    RunOutcome,
    Standing,
)
from testsgd.mitigation.parameters import LEAST_HELD_OUT, RISEN_BY, MitigationParameters
from testsgd.mitigation.pools import draw_pools, kinds_of
from testsgd.mitigation.reweighing import reweighing_weights
from testsgd.mitigation.run import run_mitigation
from testsgd.mitigation.samples import CounterSamples, SamplingReport
from testsgd.mitigation.search import Candidate
from testsgd.mitigation.table_material import TableMaterial
from testsgd.mitigation.targets import Target, choose_targets
from testsgd.mitigation.text.material import TextMaterial
from testsgd.mitigation.written import DecisionCounts, PartFigures, Written, WrittenTarget

if TYPE_CHECKING:
    from testsgd.mitigation.classifier import CounterSampleClassifier

__all__ = [
    "ALTERNATIVES",
    "LEAST_HELD_OUT",
    "RISEN_BY",
    "Alternative",
    "Candidate",
    "CounterSampleClassifier",
    "CounterSamples",
    "CurvePoint",
    "DataSplit",
    "DecisionCounts",
    "Journal",
    "Material",
    "MitigationOutcome",
    "MitigationParameters",
    "PartFigures",
    "RunOutcome",
    "SamplingReport",
    "Standing",
    "TableMaterial",
    "Target",
    "TextMaterial",
    "Written",
    "WrittenTarget",
    "choose_targets",
    "comparison_parameters",
    "draw_pools",
    "finding_parameters",
    "kinds_of",
    "resolve_alternatives",
    "reweighing_weights",
    "run_mitigation",
    "samples_frame",
    "write_samples",
]


def __getattr__(name: str) -> Any:
    # Its base classes are scikit-learn's, which takes a second to import.
    if name == "CounterSampleClassifier":
        from testsgd.mitigation.classifier import CounterSampleClassifier

        return CounterSampleClassifier
    raise AttributeError(f"module 'testsgd.mitigation' has no attribute {name!r}")

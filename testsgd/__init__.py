"""testsgd: find, measure and prove group discrimination in machine-learning models.

The public names are loaded when they are first used, so that importing the package takes no time.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from testsgd._version import __version__

if TYPE_CHECKING:
    from testsgd.api import (
        audit,
        certify,
        compare,
        counter_samples,
        load_monitor,
        load_shield,
        mitigate,
        monitor,
        simulate_shield,
        synthesize_shield,
    )
    from testsgd.data import (
        DatasetSpecification,
        SensitiveTerms,
        TextSpecification,
        catalogue,
        generate_demo,
        load_specification,
        load_table,
        load_terms,
        load_texts,
    )
    from testsgd.errors import TestSGDError
    from testsgd.mitigation import CounterSampleClassifier
    from testsgd.models import load_model, load_text_model, train_network, train_text_network
    from testsgd.monitoring import Monitor, MonitorSpecification
    from testsgd.results import (
        AuditResult,
        CertificationResult,
        ComparisonResult,
        MitigationResult,
        MonitorResult,
        ShieldResult,
        SimulationResult,
    )
    from testsgd.shielding import Shield, ShieldSpecification

_HOMES = {
    "AuditResult": "testsgd.results",
    "CertificationResult": "testsgd.results",
    "ComparisonResult": "testsgd.results",
    "MitigationResult": "testsgd.results",
    "MonitorResult": "testsgd.results",
    "ShieldResult": "testsgd.results",
    "SimulationResult": "testsgd.results",
    "audit": "testsgd.api",
    "certify": "testsgd.api",
    "compare": "testsgd.api",
    "counter_samples": "testsgd.api",
    "mitigate": "testsgd.api",
    "monitor": "testsgd.api",
    "load_monitor": "testsgd.api",
    "load_shield": "testsgd.api",
    "simulate_shield": "testsgd.api",
    "synthesize_shield": "testsgd.api",
    "Monitor": "testsgd.monitoring",
    "MonitorSpecification": "testsgd.monitoring",
    "Shield": "testsgd.shielding",
    "ShieldSpecification": "testsgd.shielding",
    "DatasetSpecification": "testsgd.data",
    "SensitiveTerms": "testsgd.data",
    "TextSpecification": "testsgd.data",
    "catalogue": "testsgd.data",
    "generate_demo": "testsgd.data",
    "load_specification": "testsgd.data",
    "load_table": "testsgd.data",
    "load_terms": "testsgd.data",
    "load_texts": "testsgd.data",
    "TestSGDError": "testsgd.errors",
    "CounterSampleClassifier": "testsgd.mitigation",
    "load_model": "testsgd.models",
    "load_text_model": "testsgd.models",
    "train_network": "testsgd.models",
    "train_text_network": "testsgd.models",
}

__all__ = [
    "AuditResult",
    "CertificationResult",
    "ComparisonResult",
    "CounterSampleClassifier",
    "DatasetSpecification",
    "MitigationResult",
    "Monitor",
    "MonitorResult",
    "MonitorSpecification",
    "SensitiveTerms",
    "Shield",
    "ShieldResult",
    "ShieldSpecification",
    "SimulationResult",
    "TestSGDError",
    "TextSpecification",
    "__version__",
    "audit",
    "catalogue",
    "certify",
    "compare",
    "counter_samples",
    "generate_demo",
    "load_model",
    "load_monitor",
    "load_shield",
    "load_specification",
    "load_table",
    "load_terms",
    "load_text_model",
    "load_texts",
    "mitigate",
    "monitor",
    "simulate_shield",
    "synthesize_shield",
    "train_network",
    "train_text_network",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'testsgd' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

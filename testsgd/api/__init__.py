"""The Python interface: one call a capability."""

from testsgd.api.audit_call import audit
from testsgd.api.certification_inputs import protected_names
from testsgd.api.certify_call import certify
from testsgd.api.compare_call import compare
from testsgd.api.given import resolve_specification
from testsgd.api.mitigate_call import counter_samples, mitigate
from testsgd.api.monitor_call import load_monitor, monitor
from testsgd.api.shield_call import (
    load_shield,
    simulate_shield,
    synthesis_result,
    synthesize_shield,
)
from testsgd.api.shield_inputs import ShieldPlan

__all__ = [
    "ShieldPlan",
    "audit",
    "certify",
    "compare",
    "counter_samples",
    "load_monitor",
    "load_shield",
    "mitigate",
    "monitor",
    "protected_names",
    "resolve_specification",
    "simulate_shield",
    "synthesis_result",
    "synthesize_shield",
]

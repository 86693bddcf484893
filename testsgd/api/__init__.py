"""The Python interface: one call a capability."""

from testsgd.api.audit_call import audit
from testsgd.api.certification_inputs import protected_names
from testsgd.api.certify_call import certify
from testsgd.api.compare_call import compare
from testsgd.api.given import resolve_specification
from testsgd.api.mitigate_call import counter_samples, mitigate

__all__ = [
    "audit",
    "certify",
    "compare",
    "counter_samples",
    "mitigate",
    "protected_names",
    "resolve_specification",
]

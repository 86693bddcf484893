"""Certification: prove for which share of all inputs a network is individually fair."""

from typing import TYPE_CHECKING, Any

from testsgd.certification.domain import (
    CategoryInput,
    Domain,
    IntegerInput,
    Marginal,
    RealInput,
    check_domain,
    find_domain,
    with_data_weights,
)
from testsgd.certification.network import FeedForward, find_network
from testsgd.certification.outcome import (
    Certification,
    CertificationParameters,
    Condition,
    Counterexample,
    Method,
    Moment,
    Region,
    Remainder,
    Shares,
    Stopped,
)

if TYPE_CHECKING:
    from testsgd.certification.certify import certify_network

__all__ = [
    "CategoryInput",
    "Certification",
    "CertificationParameters",
    "Condition",
    "Counterexample",
    "Domain",
    "FeedForward",
    "IntegerInput",
    "Marginal",
    "Method",
    "Moment",
    "RealInput",
    "Region",
    "Remainder",
    "Shares",
    "Stopped",
    "certify_network",
    "check_domain",
    "find_domain",
    "find_network",
    "with_data_weights",
]


def __getattr__(name: str) -> Any:
    # The search, with what it computes and is compiled by, is loaded by those who want it.
    if name == "certify_network":
        from testsgd.certification.certify import certify_network

        return certify_network
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

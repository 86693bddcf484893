"""Certification: prove for which share of all inputs a network is individually fair."""

from testsgd.certification.certify import certify_network
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

"""The inputs of a model, the values they may take, and the protected values that are compared."""

from testsgd.certification.domain.document import DomainPart, InputPart
from testsgd.certification.domain.domain import LARGEST_COMPARISON, Domain, Marginal
from testsgd.certification.domain.find import find_domain
from testsgd.certification.domain.fitting import check_domain
from testsgd.certification.domain.inputs import (
    CategoryInput,
    DomainInput,
    IntegerInput,
    RealInput,
)
from testsgd.certification.domain.protected import compared_values
from testsgd.certification.domain.shipped import shipped_domains
from testsgd.certification.domain.weights import BINS, with_data_weights

__all__ = [
    "BINS",
    "LARGEST_COMPARISON",
    "CategoryInput",
    "Domain",
    "DomainInput",
    "DomainPart",
    "InputPart",
    "IntegerInput",
    "Marginal",
    "RealInput",
    "check_domain",
    "compared_values",
    "find_domain",
    "shipped_domains",
    "with_data_weights",
]

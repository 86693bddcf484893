"""Networks of every format, read as arrays whose decisions can be proved."""

from testsgd.certification.network.columns import (
    CategoryColumns,
    InputColumns,
    NumberColumns,
    Step,
)
from testsgd.certification.network.feedforward import (
    Activation,
    Decision,
    DenseLayer,
    FeedForward,
    Precision,
)
from testsgd.certification.network.find import find_network

__all__ = [
    "Activation",
    "CategoryColumns",
    "Decision",
    "DenseLayer",
    "FeedForward",
    "InputColumns",
    "NumberColumns",
    "Precision",
    "Step",
    "find_network",
]

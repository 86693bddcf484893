"""What is expected of the people who come: the distribution of inputs."""

from __future__ import annotations

from testsgd.shielding.inputs.checks import checked_costs
from testsgd.shielding.inputs.distribution import InputDistribution
from testsgd.shielding.inputs.log import InputLog, read_log

__all__ = [
    "InputDistribution",
    "InputLog",
    "checked_costs",
    "read_log",
]

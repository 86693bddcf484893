"""Baselines: other published methods on the same model and rows, through one interface."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from testsgd.baselines.deadline import check_time_limit
from testsgd.baselines.find import METHODS, baselines, run_baseline
from testsgd.baselines.result import (
    MOST_FINDINGS,
    Baseline,
    BaselineFinding,
    BaselineResult,
    Figure,
    unavailable,
)
from testsgd.baselines.subject import Subject, decide_frame, subject_of

if TYPE_CHECKING:
    from testsgd.baselines.bias_scan import BiasScan
    from testsgd.baselines.divexplorer import DivExplorer
    from testsgd.baselines.gerryfair import GerryFair
    from testsgd.baselines.individual import IndividualSearch
    from testsgd.baselines.themis import Themis

__all__ = [
    "METHODS",
    "MOST_FINDINGS",
    "Baseline",
    "BaselineFinding",
    "BaselineResult",
    "BiasScan",
    "DivExplorer",
    "Figure",
    "GerryFair",
    "IndividualSearch",
    "Subject",
    "Themis",
    "baselines",
    "check_time_limit",
    "decide_frame",
    "run_baseline",
    "subject_of",
    "unavailable",
]

# Loaded when asked for: some of them bring scikit-learn with them.
_METHODS = {
    "BiasScan": "bias_scan",
    "DivExplorer": "divexplorer",
    "GerryFair": "gerryfair",
    "IndividualSearch": "individual",
    "Themis": "themis",
}


def __getattr__(name: str) -> Any:
    if name in _METHODS:
        return getattr(import_module(f"testsgd.baselines.{_METHODS[name]}"), name)
    raise AttributeError(f"module 'testsgd.baselines' has no attribute {name!r}")

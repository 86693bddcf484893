"""Ground truth: populations with known discrimination, and how often the audit finds it."""

from testsgd.truth.baseline_runs import FINDINGS, BaselineRun, baselines_once
from testsgd.truth.bench import SIZES, WORLD_SIZES, Part, TruthSettings, run_truth
from testsgd.truth.catalogue import POPULATIONS, population
from testsgd.truth.hits import Hits, find_hits, jaccard
from testsgd.truth.measures import (
    Measure,
    measure_baselines,
    measure_runs,
    measure_worlds,
    share_interval,
)
from testsgd.truth.populations import Population
from testsgd.truth.rates import Truth, truth_of
from testsgd.truth.runs import Coverage, Run, audit_once
from testsgd.truth.tables import TruthTable, truth_document, truth_markdown, truth_tables
from testsgd.truth.theta import (
    DATA_SETS,
    THETAS,
    ThetaRow,
    study_data_set,
    theta_document,
    theta_tables,
)
from testsgd.truth.verdicts import WorldRun, Wrong, judge_once
from testsgd.truth.worlds import CLEARLY, LIMIT, NOTHING, WORLDS, world

__all__ = [
    "CLEARLY",
    "DATA_SETS",
    "FINDINGS",
    "LIMIT",
    "NOTHING",
    "POPULATIONS",
    "SIZES",
    "THETAS",
    "WORLDS",
    "WORLD_SIZES",
    "BaselineRun",
    "Coverage",
    "Hits",
    "Measure",
    "Part",
    "Population",
    "Run",
    "ThetaRow",
    "Truth",
    "TruthSettings",
    "TruthTable",
    "WorldRun",
    "Wrong",
    "audit_once",
    "baselines_once",
    "find_hits",
    "jaccard",
    "judge_once",
    "measure_baselines",
    "measure_runs",
    "measure_worlds",
    "population",
    "run_truth",
    "share_interval",
    "study_data_set",
    "theta_document",
    "theta_tables",
    "truth_document",
    "truth_markdown",
    "truth_of",
    "truth_tables",
    "world",
]

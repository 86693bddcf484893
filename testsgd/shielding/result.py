"""The results of a synthesis and of a simulation of a shield."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from testsgd.report.documents import DocumentKind
from testsgd.report.formatting import one_line
from testsgd.report.results import DocumentResult
from testsgd.shielding.report.layout import shield_layout, simulation_layout
from testsgd.shielding.report.summary import (
    SCHEMA_NAME,
    SIMULATION_SCHEMA_NAME,
    ShieldSummary,
    ShieldVerdict,
    SimulationSummary,
)
from testsgd.shielding.report.verdict import without_times

if TYPE_CHECKING:
    from testsgd.shielding.running import Shield
    from testsgd.shielding.simulation import Simulation


class ShieldResult(DocumentResult[ShieldSummary]):
    """The result of a synthesis; every view of it is rendered from one summary.

    Parameters
    ----------
    summary : ShieldSummary
        The document.
    shield : Shield, optional
        What was synthesised; a result that was read back from JSON has none.

    Examples
    --------
    >>> from testsgd.shielding import synthesis_result
    >>> result = synthesis_result({
    ...     "fairness": {"property": "demographic_parity", "bound": "1/4"},
    ...     "groups": {"names": ["female", "male"]},
    ...     "horizon": {"length": 8}})
    >>> result.verdict.status, round(result.expected_cost, 2)
    ('synthesised', 1.28)
    """

    document: ClassVar = DocumentKind(
        ShieldSummary,
        SCHEMA_NAME,
        what="a synthesis",
        again="synthesise the shield again",
        layout=shield_layout,
        reword=without_times,
    )

    def __init__(self, summary: ShieldSummary, shield: Shield | None = None) -> None:
        super().__init__(summary)
        self.shield = shield

    @property
    def verdict(self) -> ShieldVerdict:
        """The outcome in words, with the exit code that the CLI gives."""
        return self.summary.verdict

    @property
    def expected_cost(self) -> float:
        """Expected cost of the changes until the horizon, or of a (first) period."""
        return self.summary.synthesis.expected_cost

    def __repr__(self) -> str:
        name = self.summary.requirement.name
        return one_line(f"<ShieldResult {name!r}: {self.verdict.headline}>")


class SimulationResult(DocumentResult[SimulationSummary]):
    """The result of a simulation; every view of it is rendered from one summary.

    Parameters
    ----------
    summary : SimulationSummary
        The document.
    simulation : Simulation, optional
        The runs; a result that was read back from JSON has none.

    Examples
    --------
    >>> from testsgd.shielding import simulate_shield
    >>> result = simulate_shield({
    ...     "fairness": {"property": "demographic_parity", "bound": "1/4"},
    ...     "groups": {"names": ["female", "male"]},
    ...     "horizon": {"length": 20}}, runs=50)
    >>> result.verdict.status, result.above
    ('guarantee_kept', 0.0)
    """

    document: ClassVar = DocumentKind(
        SimulationSummary,
        SIMULATION_SCHEMA_NAME,
        what="a simulation",
        again="run the simulation again",
        layout=simulation_layout,
    )

    def __init__(self, summary: SimulationSummary, simulation: Simulation | None = None) -> None:
        super().__init__(summary)
        self.simulation = simulation

    @property
    def verdict(self) -> ShieldVerdict:
        """The outcome in words, with the exit code that the CLI gives."""
        return self.summary.verdict

    @property
    def above_unshielded(self) -> float:
        """Share of the runs that are above the bound without the shield."""
        return self.summary.unshielded.above / self.summary.settings.runs

    @property
    def above(self) -> float:
        """Share of the runs that are above the bound with the shield."""
        return self.summary.shielded.above / self.summary.settings.runs

    def __repr__(self) -> str:
        name = self.summary.requirement.name
        return one_line(f"<SimulationResult of {name!r}: {self.verdict.headline}>")

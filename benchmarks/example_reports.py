"""The reports in reports/ of the documented examples: a shield, its simulation, a monitor, metrics.

Run it with: python -m benchmarks.example_reports
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import testsgd
from testsgd.io import replacing_any_file, reproducible_files
from testsgd.monitoring import load_monitor, monitor
from testsgd.monitoring.event_sources import event_source
from testsgd.shielding import simulate_shield, synthesis_result

_ROOT = Path(__file__).resolve().parent.parent
_FORMATS = ("html", "md", "json")


def write_example_reports(folder: Path) -> None:
    """Write a folder of reports for each example; equal runs write equal bytes."""
    shields = _ROOT / "examples" / "shields"
    with TemporaryDirectory() as scratch:
        loans = Path(scratch) / "loans.npz"
        shield = synthesis_result(shields / "loans-demographic-parity.toml", out=loans)
        simulation = simulate_shield(loans, runs=1000)
    shield.write(folder / "loans-shield", _FORMATS)
    simulation.write(folder / "loans-shield-simulated", _FORMATS)

    monitors = _ROOT / "examples" / "monitors"
    watched = load_monitor(monitors / "loans-demographic-parity.toml").specification
    decisions = event_source(monitors / "loans-decisions.csv", watched)
    monitor(watched, decisions).write(folder / "loans-monitor", _FORMATS)
    simulated = testsgd.simulate_monitor(watched, bias=(0, 0.1, 0.15, 0.2, 0.3))
    simulated.write(folder / "loans-monitor-simulated", _FORMATS)

    people = testsgd.generate_demo(seed=1)
    metrics = testsgd.audit_metrics(
        (people["income"] > 40).astype(int),
        (people["granted"] == "yes").astype(int),
        sensitive_features=people[["gender", "race", "age"]],
        metrics=["selection_rate", "equalized_odds"],
    )
    metrics.write(folder / "demo-metrics", _FORMATS)


if __name__ == "__main__":
    with replacing_any_file(), reproducible_files():
        write_example_reports(_ROOT / "reports")

"""How many people evidence needs: the table of docs/monitoring.md.

``python -m benchmarks.monitor_experiments.until_proved`` prints it, in a few minutes.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from benchmarks.monitor_experiments.hiring import GROUPS, specified
from testsgd.monitoring import Monitor

_RATES = ((0.3, 0.8), (0.3, 0.7), (0.4, 0.7), (0.1, 0.3), (0.5, 0.7), (0.5, 0.65))
_AT_ONCE = 1000


def people_until_proved(rates: tuple[float, float], stream: int) -> int:
    """Count the people of both groups until evidence shows that their rates are 0.1 apart."""
    random = np.random.default_rng([stream, *(round(1000 * rate) for rate in rates)])
    monitor, people = Monitor(specified("evidence")), 0
    while True:
        groups = random.integers(0, 2, _AT_ONCE)
        accepted = random.random(_AT_ONCE) < np.array(rates)[groups]
        for group, one in zip(groups.tolist(), accepted.tolist(), strict=True):
            people += 1
            if monitor.observe({"group": GROUPS[group], "decision": int(one)}):
                return people


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=500, help="of each pair of rates")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    print("| True rates | A tenth of the streams | Half | Nine tenths |")
    print("| --- | ---: | ---: | ---: |")
    streams = range(options.streams)
    with ProcessPoolExecutor(options.jobs) as pool:
        for rates in _RATES:
            told = [rates] * options.streams
            found = list(pool.map(people_until_proved, told, streams, chunksize=20))
            quantiles = np.quantile(found, [0.1, 0.5, 0.9], method="inverted_cdf")
            cells = " | ".join(f"{round(one):,}" for one in quantiles)
            print(f"| {rates[0]} and {rates[1]} | {cells} |", flush=True)


if __name__ == "__main__":
    main()

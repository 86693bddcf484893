"""Numbers for Prometheus: requests of this process, and the counts of the enforcer's state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from testsgd.errors import MissingExtraError
from testsgd.generative import Enforcer

_BUCKETS = (0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1.0, 5.0)


class Metrics:
    """Counts of requests, shown beside the counts of the state, over all tenants.

    The counts of requirements are those of the state, so they go on after a restart. Processes
    that share a state all show the same: take them from one.

    Raises
    ------
    MissingExtraError
        If prometheus_client is not installed.
    """

    def __init__(self, enforcer: Enforcer) -> None:
        try:
            import prometheus_client
        except ImportError as error:
            raise MissingExtraError(
                "prometheus-client", extra="serve", purpose="showing metrics"
            ) from error
        self._client = prometheus_client
        self._registry = prometheus_client.CollectorRegistry(auto_describe=False)
        self._requests = prometheus_client.Counter(
            "testsgd_requests", "Requests.", ["endpoint", "status"], registry=self._registry
        )
        self._added = prometheus_client.Histogram(
            "testsgd_added_seconds",
            "Seconds of a request without those of the model.",
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._not_neutral = prometheus_client.Counter(
            "testsgd_not_neutral",
            "Requests that pass and do not count, as words in them ask for a value.",
            ["requirement"],
            registry=self._registry,
        )
        self._registry.register(_StateCollector(enforcer))

    def note(self, endpoint: str, status: int, added: float | None) -> None:
        """Count a request; `added` is None if it did not reach the model."""
        self._requests.labels(endpoint, str(status)).inc()
        if added is not None:
            self._added.observe(max(0.0, added))

    def note_not_neutral(self, requirements: Iterable[str]) -> None:
        """Count a request for each requirement that it would belong to if it were neutral."""
        for requirement in requirements:
            self._not_neutral.labels(requirement).inc()

    def text(self) -> bytes:
        """Return the numbers in the text format."""
        text: bytes = self._client.generate_latest(self._registry)
        return text


class _StateCollector:
    """The counts of the state at the moment they are asked for."""

    def __init__(self, enforcer: Enforcer) -> None:
        self._enforcer = enforcer

    def describe(self) -> list[Any]:
        """Return nothing: so the state is not read before it is asked for."""
        return []

    def collect(self) -> Iterator[Any]:
        """Yield a family of metrics for each count."""
        from prometheus_client.core import CounterMetricFamily

        counts: dict[str, Counter[tuple[str, ...]]] = {
            "injections": Counter(),
            "obeyed": Counter(),
            "misses": Counter(),
            "retries": Counter(),
            "returned": Counter(),
        }
        for status in self._enforcer.status():
            name = status.requirement.name
            state = status.state
            for index, value in enumerate(status.requirement.values):
                counts["injections"][name, value] += state.asked[index]
                counts["obeyed"][name, value] += state.obeyed[index]
                counts["misses"][name, value] += state.misses[index]
            counts["retries"][name,] += state.retries
            counts["returned"][name,] += state.returned
        for kind, text in _TEXTS.items():
            labels = ["requirement"] if kind in ("retries", "returned") else _PER_VALUE
            family = CounterMetricFamily(f"testsgd_{kind}", text, labels=labels)
            for key, count in counts[kind].items():
                family.add_metric(list(key), count)
            yield family


_PER_VALUE = ["requirement", "value"]
_TEXTS = {
    "injections": "Outputs for which a value was asked.",
    "obeyed": "Outputs that had the value that was asked for.",
    "misses": "Deadlines that passed without the value.",
    "retries": "Times a model was asked again.",
    "returned": "Requests without an output.",
}

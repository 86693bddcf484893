"""Numbers of served shields for Prometheus: requests of this process, and what shields counted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from testsgd.errors import MissingExtraError
from testsgd.shielding import Shield

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    Action = Callable[[Request], Awaitable[Response]]


class ShieldMetrics:
    """Counts of requests by their status, shown beside the counts of each shield.

    Parameters
    ----------
    shields : mapping of str to Shield
        By the beginning of their addresses, which is empty for a single one.

    Raises
    ------
    MissingExtraError
        If prometheus_client is not installed.
    """

    def __init__(self, shields: Mapping[str, Shield]) -> None:
        try:
            import prometheus_client
        except ImportError as error:
            raise MissingExtraError(
                "prometheus-client", extra="serve", purpose="showing metrics"
            ) from error
        self._client = prometheus_client
        self._registry = prometheus_client.CollectorRegistry(auto_describe=False)
        self._requests = prometheus_client.Counter(
            "testsgd_shield_requests",
            "Requests.",
            ["shield", "address", "status"],
            registry=self._registry,
        )
        self._registry.register(_ShieldCollector(shields))

    def counted(self, prefix: str, name: str, action: Action) -> Action:
        """Return an action whose requests are counted, by the status of its answer."""

        async def answer(request: Request) -> Response:
            response = await action(request)
            shield = prefix.rpartition("/")[2]
            self._requests.labels(shield, name, str(response.status_code)).inc()
            return response

        return answer

    def text(self) -> bytes:
        """Return the numbers in the text format."""
        text: bytes = self._client.generate_latest(self._registry)
        return text


class _ShieldCollector:
    """The counts of shields at the moment they are asked for."""

    def __init__(self, shields: Mapping[str, Shield]) -> None:
        self._shields = shields

    def describe(self) -> list[Any]:
        """Return nothing: the counts are read when they are asked for."""
        return []

    def collect(self) -> Iterator[Any]:
        """Yield a family of metrics for each count."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        interventions = CounterMetricFamily(
            "testsgd_shield_interventions", "Changed recommendations.", labels=["shield"]
        )
        periods = CounterMetricFamily(
            "testsgd_shield_periods", "Finished periods.", labels=["shield"]
        )
        bias = GaugeMetricFamily("testsgd_shield_bias", "Bias of the run.", labels=["shield"])
        for prefix, shield in self._shields.items():
            name = [prefix.rpartition("/")[2]]
            interventions.add_metric(name, shield.interventions)
            periods.add_metric(name, len(shield.period_reports))
            bias.add_metric(name, float(shield.bias))
        yield from (interventions, periods, bias)

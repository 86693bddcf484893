"""From a certification to the summary document that every view is rendered from."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from testsgd.certification.domain import CategoryInput, IntegerInput
from testsgd.certification.outcome import Moment
from testsgd.certification.report.summary import (
    AnswerSummary,
    CertificationSummary,
    CounterexampleSummary,
    DomainSummary,
    InputSummary,
    LayerSummary,
    MomentSummary,
    NetworkSummary,
)
from testsgd.certification.report.verdict import certification_verdict
from testsgd.report.summaries import package_versions, present_moment

if TYPE_CHECKING:
    from testsgd.certification.domain import Domain, DomainInput
    from testsgd.certification.network import FeedForward
    from testsgd.certification.outcome import Certification, Counterexample

_PACKAGES = ("numpy", "scipy", "numba", "onnx")

# A chart shows no more steps than these.
_MOST_MOMENTS = 240

# Of many compared combinations a counterexample lists so many, and each decision is among them.
_MOST_ANSWERS = 12


def summarise_certification(certification: Certification) -> CertificationSummary:
    """Return what was proved and estimated as one document; its gates go by what is proved.

    Parameters
    ----------
    certification : Certification
        The outcome, of :func:`testsgd.certification.certify_network`.

    Returns
    -------
    CertificationSummary
        The document from which all reports are rendered; at most 240 moments of the search and 12
        answers of each counterexample are kept.
    """
    parameters = certification.parameters
    settings = replace(parameters, jobs=parameters.processors)
    domain = certification.domain
    described = _domain(domain)
    proved = certification.shares
    estimated = certification.remainder
    labels = certification.network.decision.labels
    return CertificationSummary(
        created=present_moment(),
        settings=settings,
        versions=package_versions(_PACKAGES),
        network=_network(certification.network),
        domain=described,
        method=certification.method,
        stopped=certification.stopped,
        boxes=certification.boxes,
        open_boxes=certification.open_boxes,
        seconds=certification.seconds,
        within_rounding=certification.within_rounding,
        however_rounded=certification.however_rounded,
        regions=list(certification.regions),
        proved=proved,
        estimated=estimated,
        counterexamples=[
            _counterexample(case, domain, labels) for case in certification.counterexamples
        ],
        counterexamples_found=certification.counterexamples_found,
        only_decision=certification.only_decision,
        moments=_moments(certification),
        verdict=certification_verdict(certification, proved, estimated, described, settings),
    )


def _network(network: FeedForward) -> NetworkSummary:
    decision = network.decision
    # JSON cannot write an infinite one: a threshold of 0 or 1 on a sigmoid is never crossed.
    turns = decision.kind == "threshold" and math.isfinite(decision.decision_threshold)
    return NetworkSummary(
        name=network.name,
        kind=network.kind,
        columns=int(network.layers[0].weights.shape[0]),
        layers=[
            LayerSummary(units=int(layer.weights.shape[1]), activation=layer.activation)
            for layer in network.layers
        ],
        precision=network.precision,
        decision=decision.kind,
        labels=list(decision.labels),
        decision_threshold=float(decision.decision_threshold) if turns else None,
        tolerance=decision.tolerance,
        file_sha256=network.file_sha256,
    )


def _domain(domain: Domain) -> DomainSummary:
    sizes = [domain.input(name).size for name in domain.protected]
    allowed = math.prod(size for size in sizes if size is not None) if None not in sizes else None
    return DomainSummary(
        name=domain.name,
        inputs=[_input(item, protected=item.name in domain.protected) for item in domain.inputs],
        protected=list(domain.protected),
        compared=[_combination(domain, values) for values in domain.protected_values],
        compared_all=len(set(domain.protected_values)) == allowed,
        left_out=list(domain.left_out),
        points=domain.points,
        weight=domain.weighted_by if domain.marginals else "volume",
    )


def _combination(domain: Domain, values: tuple[float, ...]) -> list[str]:
    """Write a combination of protected values."""
    named = zip(domain.protected, values, strict=True)
    return [domain.input(name).text(value) for name, value in named]


def _input(item: DomainInput, *, protected: bool) -> InputSummary:
    if isinstance(item, CategoryInput):
        return InputSummary(
            name=item.name,
            kind="category",
            values=list(item.values),
            protected=protected,
            text=item.extent,
        )
    return InputSummary(
        name=item.name,
        kind="integer" if isinstance(item, IntegerInput) else "real",
        low=item.low,
        high=item.high,
        protected=protected,
        text=item.extent,
    )


def _counterexample(
    case: Counterexample, domain: Domain, labels: tuple[str, ...]
) -> CounterexampleSummary:
    listed = _listed(case.decisions)
    answers = [
        AnswerSummary(
            protected=_combination(domain, domain.protected_values[index]),
            decision=labels[case.decisions[index]],
            sums=list(case.sums[index]),
        )
        for index in listed
    ]
    return CounterexampleSummary(
        person={
            item.name: _value(item, value)
            for item, value in zip(domain.free, case.values, strict=True)
        },
        answers=answers,
        left_out=len(case.decisions) - len(listed),
        proved=case.proved,
    )


def _listed(decisions: tuple[int, ...]) -> list[int]:
    """Choose the combinations to list: the first of each decision, then the first of all."""
    if len(decisions) <= _MOST_ANSWERS:
        return list(range(len(decisions)))
    firsts = [decisions.index(label) for label in sorted(set(decisions))][:_MOST_ANSWERS]
    others = [index for index in range(len(decisions)) if index not in firsts]
    return sorted([*firsts, *others[: _MOST_ANSWERS - len(firsts)]])


def _value(item: DomainInput, value: float) -> int | float | str:
    if isinstance(item, CategoryInput):
        return item.text(value)
    return int(value) if isinstance(item, IntegerInput) else float(value)


def _moments(certification: Certification) -> list[MomentSummary]:
    """Return the shares over time, thinned out; the last are those at the end."""
    seconds, boxes, shares = certification.seconds, certification.boxes, certification.shares
    moments = [moment for moment in certification.moments if moment.seconds <= seconds]
    step = max(1, math.ceil(len(moments) / _MOST_MOMENTS))
    return [
        MomentSummary(seconds=moment.seconds, boxes=moment.boxes, **asdict(moment.shares))
        for moment in (*moments[::step], Moment(seconds, boxes, shares))
    ]

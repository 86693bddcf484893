"""The published networks: what is proved of them holds when Keras runs them in float32."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from testsgd.certification import Certification, CertificationParameters, certify_network
from testsgd.certification.domain import Domain, IntegerInput, find_domain
from testsgd.certification.network import FeedForward, find_network

pytestmark = [pytest.mark.real_data, pytest.mark.tensorflow]

_NETWORKS = ("BM-5", "GC-1", "GC-4", "AC-8", "AC-12", "compas-1")
_POINTS = 1_000_000
# Certified boxes of each network in which people are looked for who are treated differently.
_BOXES = 25
# Two tails and a million points for each network: one false alarm in a million runs of the tests.
_TAIL = 5e-7 / len(_NETWORKS)

Keras = Callable[[NDArray[np.float64]], NDArray[np.bool_]]


def _folder() -> Path:
    folder = Path(os.environ.get("TESTSGD_DATA_HOME", ".")).parent / "models" / "fairify"
    if not folder.is_dir():
        if os.environ.get("TESTSGD_REQUIRE_REAL_DATA"):
            pytest.fail("the published networks are absent")
        pytest.skip("the published networks are absent")
    return folder


@cache
def _keras(name: str) -> Keras:
    keras: Any = pytest.importorskip("keras")
    with warnings.catch_warnings():
        # Files of Keras 2.
        warnings.simplefilter("ignore")
        model = keras.models.load_model(_folder() / f"{name}.h5", compile=False)

    def through(current: Any) -> Any:
        # Keras 3 reads a wrong input shape out of these files; their layers are all right.
        for layer in model.layers:
            current = layer(current)
        return current

    def decide(values: NDArray[np.float64]) -> NDArray[np.bool_]:
        blocks = np.array_split(values.astype(np.float32), max(1, len(values) // 100_000))
        scores = np.concatenate([np.asarray(through(block))[:, 0] for block in blocks])
        above: NDArray[np.bool_] = scores > np.float32(0.5)
        return above

    return decide


def _domain(name: str) -> Domain:
    return find_domain(f"{_folder() / 'domains.json'}:{name.partition('-')[0]}", protected=None)


@cache
def _network(name: str) -> FeedForward:
    return find_network(_folder() / f"{name}.h5")


def _certify(name: str, domain: Domain, seconds: float, *, samples: int = 0) -> Certification:
    parameters = CertificationParameters(time_limit=seconds, samples=samples)
    return certify_network(_network(name), domain, parameters)


def _draw(domain: Domain, count: int, seed: int) -> NDArray[np.float64]:
    """Draw people of a domain of whole numbers; the protected input is 0."""
    generator = np.random.default_rng(seed)
    values = np.zeros((count, len(domain.inputs)))
    for place, item in enumerate(domain.inputs):
        assert isinstance(item, IntegerInput)
        if item.name not in domain.protected:
            values[:, place] = generator.integers(item.low, item.high, count, endpoint=True)
    return values


def _unfair(keras: Keras, domain: Domain, values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Say for whom Keras decides differently by the protected input."""
    place = domain.names.index(domain.protected[0])
    answers = []
    for (value,) in domain.protected_values:
        values[:, place] = value
        answers.append(keras(values))
    different: NDArray[np.bool_] = np.ptp(np.array(answers).astype(int), axis=0) > 0
    return different


@pytest.mark.slow
@pytest.mark.parametrize("name", _NETWORKS)
def test_shares_agree_with_a_million_people_and_counterexamples_differ(name: str) -> None:
    domain = _domain(name)
    keras = _keras(name)
    # Without draws only boxes that are unfair as a whole would give counterexamples, and there may
    # be none. The shares are those of the boxes, whatever is drawn.
    outcome = _certify(name, domain, 1.0, samples=2000)
    unfair = int(_unfair(keras, domain, _draw(domain, _POINTS, 1)).sum())
    shares = outcome.shares
    # The true unfair share lies between what is proved unfair and what is not proved fair.
    assert unfair >= binom.ppf(_TAIL, _POINTS, max(shares.falsified, 0))
    assert unfair <= binom.ppf(1 - _TAIL, _POINTS, min(1 - shares.certified, 1))
    assert outcome.counterexamples
    values = np.zeros((len(outcome.counterexamples), len(domain.inputs)))
    free = [domain.names.index(item.name) for item in domain.free]
    values[:, free] = [example.values for example in outcome.counterexamples]
    for place, item in zip(free, domain.free, strict=True):
        assert isinstance(item, IntegerInput)
        assert np.all((values[:, place] >= item.low) & (values[:, place] <= item.high))
        assert np.array_equal(values[:, place], np.rint(values[:, place]))
    assert _unfair(keras, domain, values).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["BM-5", "GC-4", "AC-12"])
def test_nobody_of_a_certified_box_is_treated_differently(name: str) -> None:
    domain = _domain(name)
    keras = _keras(name)
    generator = np.random.default_rng(2)
    boxes = (_part(domain, generator) for _ in range(150))
    # Most of the time goes into boxes that are not certified, so this ends with enough others.
    certified = list(
        islice((box for box in boxes if _all_certified(_certify(name, box, 0.05))), _BOXES)
    )
    assert len(certified) > 10
    for seed, box in enumerate(certified):
        people = _draw(box, 350_000 // len(certified), seed)
        assert not _unfair(keras, box, people).any()


def _all_certified(outcome: Certification) -> bool:
    return outcome.stopped == "done" and outcome.shares.falsified == 0


def _part(domain: Domain, generator: np.random.Generator) -> Domain:
    """Draw a part of a domain: of some inputs, a quarter of their range or less."""
    inputs = []
    for item in domain.inputs:
        assert isinstance(item, IntegerInput)
        if item.name not in domain.protected and generator.random() < 0.7:
            width = max(1, (item.high - item.low) // 4)
            low = int(generator.integers(item.low, item.high - width, endpoint=True))
            item = IntegerInput(item.name, low, low + width)
        inputs.append(item)
    return replace(domain, inputs=tuple(inputs))

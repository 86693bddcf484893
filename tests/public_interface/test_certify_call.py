"""``testsgd.certify``: what it accepts, against trying every person."""

from __future__ import annotations

import itertools
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from loaded_modules import RUN, loaded_by
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

import testsgd
from testsgd.certification.domain import find_domain
from testsgd.certification.outcome import Moment
from testsgd.errors import ParameterError
from testsgd.report.kinds import read_result

RANGES = {
    "inputs": {
        "income": {"integer": [0, 19]},
        "debts": {"integer": [0, 4]},
        "race": {"integer": [0, 2]},
        "woman": {"integer": [0, 1]},
    }
}
PEOPLE = np.array(list(itertools.product(range(20), range(5), range(3), range(2))), dtype=float)


@pytest.fixture(scope="module")
def network() -> MLPClassifier:
    """A network that has learnt to look at race and gender."""
    worth = PEOPLE[:, 0] - PEOPLE[:, 1] - 2 * PEOPLE[:, 2] - 3 * PEOPLE[:, 3]
    model = MLPClassifier((8, 4), max_iter=300, solver="lbfgs", random_state=0, tol=1e-3)
    return model.fit(PEOPLE, worth > 5)


def unfair_share(model: Any, protected: list[int], weights: np.ndarray | None = None) -> float:
    """Ask the model about all people, and compare those who differ in the columns only."""
    others = [column for column in range(4) if column not in protected]
    frame = pd.DataFrame(PEOPLE[:, others].astype(int))
    frame["answer"] = model.predict(PEOPLE)
    kinds = frame.groupby(list(range(len(others))))["answer"].nunique()
    unfair = (kinds > 1).to_numpy()
    return float(np.average(unfair, weights=weights))


@pytest.mark.parametrize(
    ("protected", "columns"),
    [("woman", [3]), ("race", [2]), ("race, woman", [2, 3]), (["woman", "race"], [2, 3])],
)
def test_the_shares_are_those_of_trying_everybody(
    network: MLPClassifier, protected: Any, columns: list[int]
) -> None:
    result = testsgd.certify(network, RANGES, protected=protected)

    truth = unfair_share(network, columns)
    assert 0 < truth < 1
    assert result.falsified == pytest.approx(truth, abs=1e-12)
    assert result.certified == pytest.approx(1 - truth, abs=1e-12)
    assert (result.undecided, result.exit_code) == (0, 0)


def test_some_of_the_protected_values(network: MLPClassifier) -> None:
    result = testsgd.certify(network, RANGES, protected="race", protected_values=[0, 1])

    pairs = PEOPLE[PEOPLE[:, 2] < 2]
    answers = network.predict(pairs).reshape(100, 2, 2)
    assert result.falsified == pytest.approx((answers[:, 0] != answers[:, 1]).mean(), abs=1e-12)


def test_a_found_domain_and_another_threshold(network: MLPClassifier) -> None:
    domain = find_domain(RANGES, protected=["woman"])
    result = testsgd.certify(network, domain, threshold=0.9)

    answers = (network.predict_proba(PEOPLE)[:, 1] > 0.9).reshape(300, 2)
    assert result.falsified == pytest.approx((answers[:, 0] != answers[:, 1]).mean(), abs=1e-12)


def test_a_gate_progress_and_the_views(network: MLPClassifier, tmp_path: Path) -> None:
    moments: list[Moment] = []
    result = testsgd.certify(
        network, RANGES, protected="woman", fail_above=0.0, progress=moments.append
    )

    assert moments[-1].shares == result.certification.shares
    assert (result.exit_code, result.verdict.status) == (1, "gate_failed")
    result.write(tmp_path)
    assert read_result(tmp_path / "result.json").verdict == result.verdict


def test_shares_weighted_by_given_rows(network: MLPClassifier) -> None:
    # Rows with small incomes are many; those with no debts are too.
    rng = np.random.default_rng(3)
    given = pd.DataFrame(PEOPLE, columns=list(RANGES["inputs"])).astype(int)
    given = given.sample(500, replace=True, weights=1 / (1 + given.income + given.debts),
                         random_state=rng)  # fmt: skip
    given["granted"] = np.where(given.income > 5, "yes", "no")
    described = testsgd.DatasetSpecification.model_validate({
        "dataset": {"name": "people", "title": "People"},
        "label": {"column": "granted", "values": ["no", "yes"], "favourable": "yes"},
        "features": {
            name: {"type": "integer", "range": limits["integer"], "sensitive": name == "race"}
            for name, limits in RANGES["inputs"].items()
        },
    })  # fmt: skip
    plain = testsgd.certify(network, described, protected="race")
    weighted = testsgd.certify(network, described, protected="race", weight="data", data=given)

    assert plain.summary.domain.weight == "volume"
    assert weighted.summary.domain.weight == "data"
    # Features are weighted one by one, as the rows have them.
    shares = {
        name: given[name].value_counts(normalize=True).reindex(range(number), fill_value=0)
        for name, number in (("income", 20), ("debts", 5), ("woman", 2))
    }
    weights = [
        shares["income"][income] * shares["debts"][debts] * shares["woman"][woman]
        for income, debts, woman in itertools.product(range(20), range(5), range(2))
    ]
    truth = unfair_share(network, [2], np.array(weights))
    assert weighted.falsified == pytest.approx(truth, abs=1e-9)
    assert plain.falsified == pytest.approx(unfair_share(network, [2]), abs=1e-12)
    assert weighted.falsified != pytest.approx(plain.falsified, abs=1e-3)


def test_a_linear_model_without_a_domain() -> None:
    model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ParameterError, match="the domain is not given"):
        testsgd.certify(model, protected="x0")


@pytest.mark.parametrize("wrong", [3, {"woman": 1}, [3.0]])
def test_protected_inputs_that_are_no_names(network: MLPClassifier, wrong: Any) -> None:
    with pytest.raises(ParameterError, match="no list of inputs"):
        testsgd.certify(network, RANGES, protected=wrong)


def test_ctrl_c_gives_what_was_proved_until_then() -> None:
    def press(moment: Moment) -> None:
        if not pressed:
            pressed.append(moment)
            signal.raise_signal(signal.SIGINT)

    pressed: list[Moment] = []
    result = testsgd.certify("demo", protected="race", time_limit=60, progress=press)

    assert result.summary.stopped == "interrupted"
    assert result.undecided > 0
    assert result.certified >= pressed[0].shares.certified
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.slow
def test_a_certification_of_a_network_imports_no_tensorflow(tmp_path: Path) -> None:
    arguments = ["certify", "demo", "--protected", "race", "--time", "1", "--format", "json"]
    loaded = loaded_by(RUN.format(arguments=arguments), tmp_path)
    assert not set(loaded) & {"tensorflow", "keras", "skops", "onnx"}
    assert (tmp_path / "reports" / "demo-certified" / "result.json").is_file()

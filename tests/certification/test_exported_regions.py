"""All boxes in a file: they part the domain, and each holds what is said of it."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from enumeration import truth_of
from hypothesis import given, settings
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from small_problems import large_problems, problems

import testsgd
from testsgd.certification import (
    CategoryInput,
    CertificationParameters,
    Domain,
    FeedForward,
    certify_network,
)
from testsgd.errors import ConfigurationError, ParameterError

SEARCH = CertificationParameters(time_limit=0.3, jobs=1, samples=100)


def _read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)


def _inside(
    regions: pd.DataFrame, domain: Domain, people: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return who is in which region, shape (people, regions), by the text of the file alone."""
    inside = np.ones((len(people), len(regions)), dtype=np.bool_)
    for column, item in enumerate(domain.free):
        values = people[:, column]
        if isinstance(item, CategoryInput):
            names = [item.values[int(value)] for value in values]
            lists = [json.loads(text) for text in regions[item.name]]
            inside &= np.array([[name in allowed for allowed in lists] for name in names])
        else:
            low = regions[f"{item.name} from"].to_numpy(dtype=float)
            high = regions[f"{item.name} to"].to_numpy(dtype=float)
            inside &= (low <= values[:, None]) & (values[:, None] <= high)
    return inside


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@given(problem=problems(weighted=True))
@settings(max_examples=15)
def test_an_enumeration_is_parted_into_fair_and_unfair_boxes(
    tmp_path_factory: pytest.TempPathFactory, ending: str, problem: tuple[FeedForward, Domain]
) -> None:
    path = tmp_path_factory.mktemp("boxes") / f"regions.{ending}"
    found = certify_network(*problem, CertificationParameters(), export_regions=path)
    truth = truth_of(*problem)
    regions = _read(path)
    inside = _inside(regions, problem[1], truth.people)
    assert (inside.sum(axis=1) == 1).all()
    proof = regions["proof"].to_numpy()[inside.argmax(axis=1)]
    assert set(proof) <= {"certified", "falsified"}
    assert (proof[truth.surely_fair] == "certified").all()
    assert (proof[truth.surely_unfair] == "falsified").all()
    shares = inside.astype(float).T @ truth.weights
    assert np.allclose(regions["share"], shares)
    assert regions["proved_fair"].sum() == pytest.approx(found.shares.certified)
    assert regions["proved_unfair"].sum() == pytest.approx(found.shares.falsified)


@given(problem=large_problems())
@settings(max_examples=10, deadline=None)
def test_boxes_of_a_search_part_the_domain(
    tmp_path_factory: pytest.TempPathFactory, problem: tuple[FeedForward, Domain]
) -> None:
    path = tmp_path_factory.mktemp("boxes") / "regions.csv"
    found = certify_network(*problem, SEARCH, export_regions=path)
    regions = _read(path)
    assert regions["share"].sum() == pytest.approx(1.0)
    assert regions["proved_fair"].sum() == pytest.approx(found.shares.certified, abs=1e-9)
    assert regions["proved_unfair"].sum() == pytest.approx(found.shares.falsified, abs=1e-9)
    assert (regions["proof"] == "undecided").sum() == found.open_boxes or found.open_boxes == 0


def test_boxes_hold_what_is_said_of_them(tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    model = MLPClassifier((8, 8), solver="lbfgs", max_iter=200, random_state=0)
    rows = generator.uniform(-1, 1, (200, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(rows, rows[:, 0] * rows[:, 1] + rows[:, 2] > 0)
    ends = {"real": [-1, 1]}
    ranges = {"inputs": {"a": ends, "b": ends, "p": {"integer": [-1, 1]}}}
    path = tmp_path / "regions.parquet"
    result = testsgd.certify(
        model, ranges, protected="p", undecided=1e-3, jobs=1, regions=2, export_regions=path
    )
    assert result.certification is not None
    regions = _read(path)
    assert len(regions) > len(result.regions)
    people = generator.uniform(-1, 1, (1000, 2))
    decisions = [model.predict(np.column_stack([people, np.full(1000, p)])) for p in (-1, 0, 1)]
    unfair = (np.array(decisions) != decisions[0]).any(axis=0)
    inside = _inside(regions, result.certification.domain, people)
    assert (inside.sum(axis=1) == 1).all()
    proof = regions["proof"].to_numpy()[inside.argmax(axis=1)]
    assert not unfair[proof == "certified"].any()
    assert unfair[proof == "falsified"].all()
    assert (proof != "undecided").any()


def test_what_cannot_be_exported_is_refused_before_the_work(tmp_path: Path) -> None:
    model = LogisticRegression().fit([[0, 0], [20, 1]], [0, 1])
    ranges = {"inputs": {"skill": {"integer": [0, 19]}, "man": {"integer": [0, 1]}}}
    with pytest.raises(ParameterError):
        testsgd.certify(model, ranges, protected="man", export_regions=tmp_path / "regions.txt")
    checkpoint = tmp_path / "search.npz"
    testsgd.certify(model, ranges, protected="man", checkpoint=checkpoint, jobs=1)
    with pytest.raises(ParameterError):
        testsgd.certify(
            model, ranges, protected="man", checkpoint=checkpoint, resume=True,
            export_regions=tmp_path / "regions.csv",
        )  # fmt: skip
    (tmp_path / "own.csv").write_text("mine\n", encoding="utf-8")
    for _ in range(2):
        # What was exported before is replaced, what is not of testsgd never.
        testsgd.certify(
            model, ranges, protected="man", export_regions=tmp_path / "regions.csv", jobs=1
        )
    with pytest.raises(ConfigurationError):
        testsgd.certify(model, ranges, protected="man", export_regions=tmp_path / "own.csv")

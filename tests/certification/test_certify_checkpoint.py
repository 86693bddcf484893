"""Checkpoints: a search that is continued ends as one that was never stopped."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from enumeration import truth_of
from searched_problems import searched

from testsgd.certification import Certification, CertificationParameters, Moment, certify_network
from testsgd.certification.domain import Domain, IntegerInput
from testsgd.certification.network import CategoryColumns, FeedForward
from testsgd.certification.proving import Prover, build_problem
from testsgd.certification.search import (
    BranchAndBound,
    fingerprint,
    read_checkpoint,
    write_checkpoint,
)
from testsgd.errors import ResultError
from testsgd.io import kind_of_file

_PARAMETERS = CertificationParameters(time_limit=None, undecided=1e-3, samples=500)


def after(steps: int) -> Callable[[], bool]:
    """Stop a search after some steps."""
    asked = count()
    return lambda: next(asked) >= steps


def same(one: Certification, two: Certification) -> None:
    assert one.shares == two.shares
    assert one.boxes == two.boxes
    assert one.open_boxes == two.open_boxes
    assert one.regions == two.regions
    assert one.remainder == two.remainder
    assert one.counterexamples == two.counterexamples


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_resumed_equals_uninterrupted(tmp_path: Path, steps: int) -> None:
    problem = searched(1, size=300)
    whole = certify_network(*problem, _PARAMETERS, checkpoint=tmp_path / "whole")
    part = tmp_path / "part"
    first = certify_network(*problem, _PARAMETERS, checkpoint=part, should_stop=after(steps))
    assert first.stopped == "interrupted"
    assert first.boxes < whole.boxes
    second = certify_network(*problem, _PARAMETERS, checkpoint=part)
    same(second, whole)
    assert second.seconds >= first.seconds
    assert [moment.boxes for moment in second.moments] == sorted(
        moment.boxes for moment in second.moments
    )


def test_a_search_comes_back_as_it_was(tmp_path: Path) -> None:
    network, domain = searched(2, weighted=True)
    about = fingerprint(network, domain)
    with Prover(build_problem(network, domain)) as prover:
        search = BranchAndBound(prover)
        search.begin()
        search.step()
        moments = [Moment(0.25, search.looks, search.shares)]
        write_checkpoint(tmp_path / "file", search, about, 1.5, moments)
        assert kind_of_file(tmp_path / "file") == "checkpoint"
        again = BranchAndBound(prover)
        assert read_checkpoint(tmp_path / "file", again, about) == (1.5, moments)
    assert again.shares == search.shares
    assert again.looks == search.looks
    for name, value in search.boxes.to_arrays().items():
        assert np.array_equal(again.boxes.to_arrays()[name], value)
        assert again.boxes.to_arrays()[name].dtype == value.dtype
    for name, value in search.tree.to_arrays().items():
        assert np.array_equal(again.tree.to_arrays()[name], value)


def _changed(network: FeedForward, domain: Domain) -> dict[str, tuple[FeedForward, Domain]]:
    layer = network.layers[0]
    weights = layer.weights.copy()
    weights[0, 0] = np.nextafter(weights[0, 0], 9)
    own = network.inputs[0]
    scaled = replace(own, columns=replace(own.columns, multiplier=np.array([1 + 1e-12])))  # type: ignore[call-arg]  # a union of columns
    decision = replace(network.decision, tolerance=1e-9)
    marginal = domain.marginals["a"]
    cumulative = marginal.cumulative.copy()
    cumulative[1] += 1e-12
    moved = replace(marginal, cumulative=cumulative)
    other = replace(domain.inputs[0], high=11 + 1)  # type: ignore[call-arg]  # a union of inputs
    return {
        "weight": (replace(network, layers=(replace(layer, weights=weights), *network.layers[1:])),
                   domain),
        "scaling": (replace(network, inputs=(scaled, *network.inputs[1:])), domain),
        "error": (
            replace(network, layers=(replace(layer, relative_error=1e-9), *network.layers[1:])),
            domain,
        ),
        "tolerance": (replace(network, decision=decision), domain),
        "precision": (replace(network, precision="float64"), domain),
        "domain": (network, replace(domain, inputs=(other, *domain.inputs[1:]), marginals={})),
        "weights": (network, replace(domain, marginals={"a": moved})),
        "protected": (network, replace(domain, protected_values=((1.0,), (0.0,)))),
    }  # fmt: skip


@pytest.mark.parametrize(
    "what",
    ["weight", "scaling", "error", "tolerance", "precision", "domain", "weights", "protected"],
)
def test_a_checkpoint_of_something_else_is_refused(tmp_path: Path, what: str) -> None:
    network, domain = searched(2, weighted=True)
    stop = after(0)
    certify_network(network, domain, _PARAMETERS, checkpoint=tmp_path / "x", should_stop=stop)
    before = (tmp_path / "x").read_bytes()
    with pytest.raises(ResultError, match="another network, domain or version"):
        certify_network(*_changed(network, domain)[what], _PARAMETERS, checkpoint=tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == before


def test_long_tables_are_told_apart_by_all_their_numbers() -> None:
    network, domain = searched(2)
    one, two = np.zeros((2, 600, 600))
    two[300, 300] = 1.0
    prints = set()
    for table in (one, two):
        columns = CategoryColumns(table, tuple(str(k) for k in range(600)))
        given = replace(network.inputs[1], columns=columns)
        prints.add(fingerprint(replace(network, inputs=(given,)), domain))
    assert len(prints) == 2


@pytest.mark.parametrize(
    "kind", ["empty", "text", "half", "flipped", "array", "list", "share", "proved", "columns"]
)
def test_a_damaged_file_is_refused_in_one_line(tmp_path: Path, kind: str) -> None:
    network, domain = searched(3)
    path = tmp_path / "checkpoint"
    certify_network(network, domain, _PARAMETERS, checkpoint=path, should_stop=after(0))
    content = path.read_bytes()
    if kind == "empty":
        path.write_bytes(b"")
    elif kind == "text":
        path.write_text("no checkpoint", encoding="utf-8")
    elif kind == "half":
        path.write_bytes(content[: len(content) // 2])
    elif kind == "flipped":
        middle = len(content) // 2
        path.write_bytes(content[:middle] + b"\xff\xfe\xfd" + content[middle + 3 :])
    elif kind == "array":
        with path.open("wb") as file:
            np.save(file, np.zeros(3))
    elif kind == "list":
        with path.open("wb") as file:
            np.savez(file, notes=np.array(json.dumps([1, 2])))
    elif kind in ("share", "proved"):
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
        if kind == "share":
            arrays["share"] = np.zeros_like(arrays["share"])
        else:
            notes = json.loads(str(arrays["notes"])) | {"fair": 0.9}
            arrays["notes"] = np.array(json.dumps(notes))
        with path.open("wb") as file:
            np.savez(file, **arrays)
    else:
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files if name != "level"}
        with path.open("wb") as file:
            np.savez(file, **arrays)
    with pytest.raises(ResultError) as caught:
        certify_network(network, domain, _PARAMETERS, checkpoint=path)
    assert "\n" not in str(caught.value)
    assert "name another file" in str(caught.value)
    # Only what is known to be a checkpoint may be deleted.
    is_known = kind not in ("empty", "text", "half", "array", "list")
    assert ("delete it" in str(caught.value)) == is_known


def test_a_folder_is_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(ResultError):
        certify_network(*searched(3), _PARAMETERS, checkpoint=tmp_path)


def test_ctrl_c_gives_the_result_so_far() -> None:
    network, domain = searched(1)
    inputs = tuple(
        IntegerInput(item.name, item.low, 10**6) if item.name in "ab" else item  # type: ignore[union-attr]  # a and b are numbers
        for item in domain.inputs
    )

    def press(moment: Moment) -> None:
        signal.raise_signal(signal.SIGINT)

    parameters = CertificationParameters(time_limit=None, samples=100)
    outcome = certify_network(network, replace(domain, inputs=inputs), parameters, progress=press)
    assert outcome.stopped == "interrupted"
    assert outcome.shares.undecided > 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("first", [True, False])
def test_machine_code_and_arrays_go_on_where_the_other_stopped(tmp_path: Path, first: bool) -> None:
    network, domain = searched(2)
    problem = build_problem(network, domain)
    about = fingerprint(network, domain)
    truth = truth_of(network, domain)
    search = BranchAndBound(Prover(problem, compiled=first))
    search.begin()
    search.step()
    write_checkpoint(tmp_path / "file", search, about, 1.0, [])
    again = BranchAndBound(Prover(problem, compiled=not first))
    read_checkpoint(tmp_path / "file", again, about)
    while again.step():
        pass
    assert again.shares.certified <= truth.share(truth.surely_fair) + 1e-9
    assert again.shares.falsified <= truth.share(truth.surely_unfair) + 1e-9
    # One person, whose sum is the median, is at the threshold.
    assert again.shares.undecided < 1.5 / len(truth.people)

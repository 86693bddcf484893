"""Results with one value damaged: they are shown, or told in one line, never an internal error."""

from __future__ import annotations

import functools
import json
import random
from pathlib import Path
from typing import Any

import pytest
from damaged_documents import DAMAGES, Place, damaged, documents, outcome, sampled_places, views
from shield_documents import simulated

from testsgd.cli.main import run
from testsgd.errors import ResultError
from testsgd.report.kinds import RESULTS
from testsgd.shielding import SimulationResult

# Those of audits are the largest documents, which take longest to show.
FEW = {"testsgd.audit/2": 12, "testsgd.mitigation/2": 25, "testsgd.metrics/1": 20}
CASES = 40


@functools.cache
def _documents() -> dict[str, list[Any]]:
    return documents()


def test_there_are_documents_of_every_kind_and_all_can_be_shown() -> None:
    assert _documents().keys() == RESULTS.keys()
    for made in _documents().values():
        views(json.dumps(made[0]))


def _damage_and_show(schema: str, cases: int, seed: int) -> None:
    chance = random.Random(f"{schema} {seed}")
    made = _documents()[schema]
    places = [(document, place) for document in made for place in sampled_places(document, chance)]
    for _ in range(cases):
        document, place = chance.choice(places)
        name = chance.choice(sorted(DAMAGES))
        changed = damaged(document, place, DAMAGES[name])
        if changed is None:
            continue
        try:
            error = outcome(changed)
        except Exception as mistake:
            where = ".".join(map(str, place))
            pytest.fail(f"{schema}: {where} {name}: {type(mistake).__name__}: {mistake}")
        assert error is None or str(error).isprintable()


@pytest.mark.parametrize("schema", RESULTS)
def test_a_damaged_value_is_shown_or_told(schema: str) -> None:
    _damage_and_show(schema, FEW.get(schema, CASES), seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("schema", RESULTS)
def test_many_damaged_values_are_shown_or_told(schema: str) -> None:
    _damage_and_show(schema, 15 * FEW.get(schema, CASES), seed=1)


SHARED = "counterexamples.0.answers.0.protected"


@pytest.mark.parametrize(
    ("schema", "at", "value", "named"),
    [
        ("audit/2", "parameters.max_features", None, "parameters.max_features"),
        ("audit/2", "charts.heat_maps.0.counts", [], "charts.heat_maps.0"),
        ("metrics/1", "parameters.max_features", None, "parameters.max_features"),
        ("metrics/1", "groups.1.metrics", [], "groups.1.metrics"),
        (
            "metrics/1",
            "metrics.0.groups.0.confidence_interval.1",
            None,
            "metrics.0.groups.0.confidence_interval",
        ),
        ("certify/2", SHARED, [], SHARED),
        ("certify/2", "counterexamples.0.answers", [], "counterexamples.0.answers"),
        ("certify/2", "domain.protected", [], "domain.protected"),
        ("monitoring/2", "properties.0.bound_exact", "x", "properties.0.bound_exact"),
        ("monitoring/2", "settings.strength", "1/0", "settings.strength"),
        ("monitoring/2", "comparisons.0.property", "x", "comparisons.0.property"),
        ("monitor-simulation/1", "shares", [], "shares"),
        ("monitor-simulation/1", "groups", [], "groups"),
        ("monitor-simulation/1", "alarms.1.course", [], "alarms.1.course"),
        ("monitor-simulation/1", "alarms.0.bound_exact", "x", "alarms.0.bound_exact"),
        ("shield/2", "requirement.bound_exact", "x", "requirement.bound_exact"),
        ("shield-simulation/2", "requirement.bound_exact", "1/0", "requirement.bound_exact"),
        ("shield-simulation/2", "bins", [], "bins"),
        ("frontier/1", "points", [], "points"),
        ("mitigation/2", "targets", [], "targets"),
        ("generative/1", "sequences.0.values", [], "sequences.0.values"),
    ],
)
def test_what_does_not_fit_is_named(schema: str, at: str, value: Any, named: str) -> None:
    place: Place = tuple(int(key) if key.isdigit() else key for key in at.split("."))
    holding = [made for made in _documents()[f"testsgd.{schema}"] if _holds(made, place)]
    error = outcome(damaged(holding[0], place, value))
    assert isinstance(error, ResultError)
    assert named in str(error)


def _holds(document: Any, place: Place) -> bool:
    try:
        for key in place:
            document = document[key]
    except (IndexError, KeyError, TypeError):
        return False
    return True


def test_only_of_a_result_that_was_read_a_misfit_is_the_mistake_of_a_user() -> None:
    computed = SimulationResult(simulated())
    read = SimulationResult.from_json(computed.to_json())
    impossible = computed.summary.model_copy(update={"bins": []})
    computed.summary = read.summary = impossible
    with pytest.raises(TypeError):
        computed.to_html()
    for show in (read.to_html, read.to_markdown):
        with pytest.raises(ResultError) as caught:
            show()
        assert isinstance(caught.value.__cause__, TypeError)


def test_the_command_tells_a_damaged_result_in_one_line_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = _documents()["testsgd.shield-simulation/2"][0]
    file = tmp_path / "result.json"
    file.write_text(json.dumps(damaged(document, ("bins",), [])), encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        run(["report", str(file)])
    assert left.value.code == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert str(file) in told
    assert list(tmp_path.iterdir()) == [file]

"""Repeated cross-validation: nobody who was learnt judges, and the figures are those by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from testsgd.auditing import AuditParameters
from testsgd.data import Table, specification_from_mapping
from testsgd.mitigation import MitigationParameters
from testsgd.mitigation import cross_validation as module
from testsgd.mitigation.data_splits import DataSplit
from testsgd.mitigation.journal import Journal
from testsgd.mitigation.table_splits import TableMaterial
from testsgd.mitigation.targets import Target
from testsgd.models import Examples, LoadedModel, Model, Split, Stage, load_model
from testsgd.rules import RuleSet, ValueRule

SPECIFICATION = specification_from_mapping(
    {
        "dataset": {"name": "people"},
        "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
        "features": {
            "gender": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
            # No step leads anywhere else, so that the figures can be worked out by hand.
            "place": {"type": "categorical", "values": ["here"]},
            "number": {"type": "integer", "range": [0, 199], "sensitive": True},
        },
    }
)
WOMEN = Target(1, 0, RuleSet((ValueRule("gender", ("f",)),)), "less", 0.4)
ROWS, SEEN = 100, 80
NUMBERS = np.arange(ROWS)
LABELS = NUMBERS % 3 == 0
PARAMETERS = MitigationParameters(
    steps=2, samples="counter", fewest_samples=4, soften=False, max_balanced_drop=3
)


def material(clusters: Any = None) -> TableMaterial:
    frame = pd.DataFrame(
        {
            "gender": pd.Categorical(["f" if row % 4 < 2 else "m" for row in range(ROWS)]),
            "place": pd.Categorical(["here"] * ROWS),
            "number": NUMBERS,
        }
    )
    split = Split(NUMBERS[:70], NUMBERS[70:SEEN], NUMBERS[SEEN:])
    table = Table(SPECIFICATION, frame, None, clusters=clusters)
    return TableMaterial(table, LABELS, DataSplit(split, "by hand"), (WOMEN,), AuditParameters())


def loaded(likes: Callable[[int], bool]) -> LoadedModel[Model]:
    def function(frame: pd.DataFrame) -> Any:
        return np.array(["yes" if likes(number) else "no" for number in frame["number"]])

    return load_model(function, SPECIFICATION)


def stand_in(number: int) -> bool:
    return number % 3 == 0 and number % 5 != 0


def retrained(number: int) -> bool:
    return number % 3 == 0 and number % 7 != 0


class Scripted:
    """Gives the same models whatever it is trained on, and remembers on what."""

    kind = "scripted"
    takes_weights = True

    def __init__(self, training: Examples, likes: Callable[[int], bool], goes_on: bool) -> None:
        self.training, self.goes_on = training, goes_on
        self._likes = likes

    def refit(self, extra: Any, **given: Any) -> Iterator[Stage[Any]]:
        yield Stage(loaded(self._likes).model, "epoch 1")


def validate(
    journal: Journal | None = None, clusters: Any = None
) -> tuple[module.CrossValidation, list[Scripted]]:
    built: list[Scripted] = []

    def build(model: Any, training: Examples, ending: Examples, anew: bool) -> Any:
        built.append(Scripted(training, stand_in if anew else retrained, not anew))
        return built[-1]

    original = loaded(lambda number: True)
    found = module.cross_validate(
        original, material(clusters), PARAMETERS, build, journal=journal or Journal(None, {})
    )
    return found, built


def test_figures_are_those_of_all_rows_that_are_not_held_out() -> None:
    found, _ = validate()
    old = np.array([stand_in(number) for number in range(SEEN)])
    new = np.array([retrained(number) for number in range(SEEN)])
    labels, women = LABELS[:SEEN], NUMBERS[:SEEN] % 4 < 2
    assert found.before == pytest.approx([abs(old[women].mean() - old[~women].mean())])
    assert {kind for kind, _, _ in found.figures} == {"counter"}
    for drop, scores, refused in found.figures.values():
        assert drop == pytest.approx(100 * ((old == labels).mean() - (new == labels).mean()))
        assert scores == pytest.approx([abs(new[women].mean() - new[~women].mean())])
        balanced = [
            np.mean([(one == labels)[labels == side].mean() for side in (True, False)])
            for one in (old, new)
        ]
        assert refused is bool(100 * (balanced[0] - balanced[1]) > 3)


@pytest.mark.parametrize("rows_a_person", [1, 4])
def test_nobody_who_was_learnt_judges(monkeypatch: pytest.MonkeyPatch, rows_a_person: int) -> None:
    judged: list[tuple[set[int], set[int]]] = []
    fold = module._fold

    def watched(original: Any, whole: Any, *rest: Any) -> Any:
        *_, fitted, left, _number = rest
        judged.append((set(fitted.tolist()), set(left.tolist())))
        return fold(original, whole, *rest)

    monkeypatch.setattr(module, "_fold", watched)
    person = NUMBERS // rows_a_person
    _, built = validate(clusters=None if rows_a_person == 1 else person)
    times = np.zeros(ROWS, dtype=int)
    for fitted, left in judged:
        assert not set(person[list(fitted)]) & set(person[list(left)])
        assert fitted | left == set(range(SEEN))
        times[list(left)] += 1
    assert times.tolist() == [module.REPEATS] * SEEN + [0] * (ROWS - SEEN)
    assert len({frozenset(left) for _, left in judged}) > module.FOLDS
    trained = [set(one.training.inputs["number"].tolist()) for one in built]
    each = len(built) // len(judged)
    for place, (fitted, _) in enumerate(judged):
        assert all(rows <= fitted for rows in trained[place * each : (place + 1) * each])


def test_an_interrupted_one_goes_on(tmp_path: Any) -> None:
    path = tmp_path / "journal.json"
    first, built = validate(Journal(path, {"what": "this"}))
    again, none = validate(Journal(path, {"what": "this"}, resume=True))
    assert again == first
    assert built
    assert not none

"""What holds for models of all kinds, however they are asked."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from adapters import ADAPTERS, Adapter, Made
from booster_models import WRITERS, people

from testsgd.data import DatasetSpecification
from testsgd.errors import ModelError
from testsgd.models import Model, load_model

SPECIFICATION = DatasetSpecification.model_validate(
    {
        "dataset": {"name": "people"},
        "label": {
            "column": "granted",
            "favourable": "yes",
            "values": ["no", "yes"],
            "map": {"0": "no", "1": "yes"},
        },
        "features": {
            "woman": {"type": "integer", "range": [0, 1], "sensitive": True},
            "age": {"type": "decimal", "range": [18, 80]},
            "income": {"type": "decimal", "range": [0, 100]},
        },
    }
)


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A model of one kind, as an audit asks it."""

    adapter: Adapter
    made: Made
    model: Model


MARKS = {
    **dict.fromkeys(WRITERS, (pytest.mark.boosters,)),
    "skops": (pytest.mark.skops,),
    # It warns of much that is of no matter here.
    "MLflow": (pytest.mark.filterwarnings("ignore"),),
}


# Made once: no test changes a model.
@pytest.fixture(
    scope="module",
    params=[
        pytest.param(adapter, id=adapter.name, marks=MARKS.get(adapter.name, ()))
        for adapter in ADAPTERS
    ],
)
def loaded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Loaded]:
    adapter: Adapter = request.param
    with contextlib.ExitStack() as stack:
        made = adapter.make(tmp_path_factory.mktemp("model"), stack)
        model = load_model(made.source, SPECIFICATION, trust_pickle=True).model
        yield Loaded(adapter=adapter, made=made, model=model)


def rows() -> pd.DataFrame:
    frame, _ = people()
    return frame


def test_decisions_are_one_truth_a_row(loaded: Loaded) -> None:
    decisions = loaded.model.decisions(rows())
    assert isinstance(decisions, np.ndarray)
    assert decisions.dtype == np.bool_
    np.testing.assert_array_equal(decisions, np.ravel(loaded.made.said(rows())) == 1)
    assert 0.05 < decisions.mean() < 0.95


def test_columns_are_found_by_their_names(loaded: Loaded) -> None:
    if not loaded.adapter.by_name:
        pytest.skip("an input of all columns has no names")
    expected = loaded.model.decisions(rows())
    for columns in (["income", "woman", "age"], ["age", "income", "woman"]):
        np.testing.assert_array_equal(loaded.model.decisions(rows()[columns]), expected)


def test_one_row_is_answered_as_it_is_among_others(loaded: Loaded) -> None:
    expected = loaded.model.decisions(rows())
    places = [*np.flatnonzero(expected)[:2], *np.flatnonzero(~expected)[:2]]
    for place in places:
        decision = loaded.model.decisions(rows().iloc[[place]])
        assert decision.shape == (1,)
        assert decision[0] == expected[place]


def test_the_order_of_rows_does_not_matter(loaded: Loaded) -> None:
    order = np.random.default_rng(1).permutation(len(rows()))
    expected = loaded.model.decisions(rows())
    # Their index goes with them, and says nothing.
    np.testing.assert_array_equal(loaded.model.decisions(rows().iloc[order]), expected[order])


def test_rows_that_occur_twice_are_answered_twice(loaded: Loaded) -> None:
    twice = np.repeat(np.arange(20), 2)
    expected = loaded.model.decisions(rows())
    np.testing.assert_array_equal(loaded.model.decisions(rows().iloc[twice]), expected[twice])


def test_what_it_is_asked_about_stays_as_it_is(loaded: Loaded) -> None:
    frame = rows()
    before = frame.copy(deep=True)
    loaded.model.decisions(frame)
    pd.testing.assert_frame_equal(frame, before)


def test_asked_again_it_answers_the_same(loaded: Loaded) -> None:
    np.testing.assert_array_equal(loaded.model.decisions(rows()), loaded.model.decisions(rows()))


def test_an_error_of_its_own_is_one_line(loaded: Loaded) -> None:
    with pytest.raises(ModelError) as caught:
        loaded.model.decisions(rows().drop(columns="income"))
    assert "\n" not in str(caught.value)
    assert caught.value.remedy
    # What was wrong is not remembered.
    assert len(loaded.model.decisions(rows())) == len(rows())

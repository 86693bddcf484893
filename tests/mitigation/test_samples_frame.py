"""Samples as a table and as a file: features, label, and where each is from."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from neighbours_by_hand import SPECIFICATION, draw_samples, model_of, table_of

from testsgd.data import Table, specification_from_mapping
from testsgd.errors import DataError, MissingExtraError, ParameterError
from testsgd.mitigation.samples import (
    CounterSamples,
    SamplingReport,
    check_samples_file,
    samples_frame,
    write_samples,
)
from testsgd.mitigation.targets import Target
from testsgd.rules import RuleSet, TermRule, ValueRule

WOMEN, MEN = (
    Target(rank, group, RuleSet((ValueRule("gender", (value,)),)), direction, 0.3)
    for rank, group, value, direction in ((1, 5, "f", "less"), (2, 9, "m", "more"))
)
PEOPLE = [
    {"gender": gender, "wage": wage, "age": 5, "share": 0.5, "town": town}
    for gender in "fm"
    for wage in (0, 2)
    for town in ("north", None)
]
PROVENANCE = ["seed_row", "change", "why", "group", "side"]


def pools() -> list[CounterSamples]:
    """Samples of women, and of men of whom some are relabelled."""
    well_paid = model_of(lambda row: 0.4 + 0.1 * row["wage"])
    women = draw_samples(PEOPLE, seeds=np.arange(4), model=well_paid, wanted=5)
    men = draw_samples(
        PEOPLE, seeds=np.arange(4, 8), model=well_paid, favourable=False, target=1, seed=1
    )
    assert not women.relabelled.any()
    assert men.relabelled.any()
    return [women, men]


def test_a_sample_is_its_features_its_label_and_where_it_is_from():
    women, men = pools()
    frame = samples_frame([women, men], SPECIFICATION, [WOMEN, MEN])
    assert frame.columns.tolist() == [*SPECIFICATION.features, "granted", *PROVENANCE]
    assert frame.index.tolist() == list(range(len(women) + len(men)))
    features = frame[list(SPECIFICATION.features)]
    pd.testing.assert_frame_equal(features.iloc[:5], women.inputs)
    pd.testing.assert_frame_equal(features.iloc[5:].reset_index(drop=True), men.inputs)
    assert frame["granted"].tolist() == ["yes"] * 5 + ["no"] * len(men)
    assert frame["seed_row"].tolist() == [*women.seeds, *men.seeds]
    assert frame["change"].tolist() == [*women.changes, *men.changes]
    assert frame["group"].tolist() == ["gender = f"] * 5 + ["gender = m"] * len(men)
    assert set(frame["side"]) == {"group"}
    assert frame["why"].tolist() == ["kept: the model gives it 'yes'"] * 5 + [
        "relabelled: the model gives it 'yes', nearest to the boundary"
        if relabelled
        else "kept: the model gives it 'no'"
        for relabelled in men.relabelled
    ]


def test_what_nearness_is_not_known_is_told_of():
    likes_all = model_of(lambda _: 0.9, labels=True)
    samples = draw_samples(PEOPLE, model=likes_all, favourable=False)
    frame = samples_frame([samples], SPECIFICATION, [WOMEN])
    assert set(frame["why"]) == {
        "relabelled: the model gives it 'yes', in the order drawn, for the model gives no scores"
    }


def test_samples_by_odds_and_shifted_ones_tell_why_they_are_there():
    well_paid = model_of(lambda row: 0.4 + 0.1 * row["wage"])
    odds = draw_samples(PEOPLE, model=well_paid, favourable=False, kind="odds")
    shifted = draw_samples(
        PEOPLE, model=well_paid, favourable=False, kind="shifted", share=0.25, target=1
    )
    for some in (odds, shifted):
        assert 0 < some.relabelled.sum() < len(some)
    assert 0 < shifted.anchors.sum() < len(shifted)
    frame = samples_frame([odds, shifted], SPECIFICATION, [WOMEN, MEN])
    liked = [0.4 + 0.1 * wage > 0.5 for wage in frame["wage"]]
    for place, (like, label, why) in enumerate(
        zip(liked, frame["granted"], frame["why"], strict=True)
    ):
        drawn = place < len(odds)
        if not like:
            assert (label, why) == ("no", "kept: the model gives it 'no'")
        elif drawn:
            expected = "relabelled: the model gives it 'yes', drawn by its chance of 'no'"
            assert (label, why) == ("no", expected)
        elif label == "no":
            assert why == "relabelled: the model gives it 'yes', nearest to the boundary"
        else:
            assert why == "anchor: the model gives it 'yes', which it keeps"


def texts_of(**label: Any) -> Any:
    return specification_from_mapping(
        {
            "dataset": {"name": "rooms"},
            "text": {"column": "comment"},
            "label": {"column": "", "favourable": "good", **label},
        }
    )


def some_texts(*, favourable: bool = True, texts: tuple[str, ...] = ("a door", "a red\nlamp")):
    count = len(texts)
    return CounterSamples(
        inputs=texts,
        favourable=favourable,
        seeds=np.arange(count) + 3,
        changes=np.array([""] * count, dtype=object),
        relabelled=np.zeros(count, dtype=bool),
        side="rest",
        target=0,
        report=SamplingReport(9, count, count, count, 0, True),
        targets=np.full(count, float(favourable)),
        anchors=np.zeros(count, dtype=bool),
    )


RED = Target(1, 0, RuleSet((TermRule("colour", "red"),)), "less", 0.2)


def test_texts_stand_under_their_own_name():
    frame = samples_frame([some_texts()], texts_of(), [RED])
    assert frame.columns.tolist() == ["comment", "label", *PROVENANCE]
    assert frame["comment"].tolist() == ["a door", "a red\nlamp"]
    assert frame["label"].tolist() == ["good", "good"]
    assert frame["seed_row"].tolist() == [3, 4]
    assert frame["side"].tolist() == ["rest", "rest"]


@pytest.mark.parametrize(
    ("label", "other"),
    [({"values": ["good", "bad"]}, "bad"), ({"map": {"1": "good", "0": "poor"}}, "poor")],
)
def test_the_unfavourable_label_is_the_other_one(label, other):
    frame = samples_frame([some_texts(favourable=False)], texts_of(**label), [RED])
    assert set(frame["label"]) == {other}
    assert set(frame["why"]) == {f"kept: the model gives it {other!r}"}


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ({}, "there is none declared"),
        ({"values": ["good", "bad", "odd"]}, r"there are 2 \(bad, odd\)"),
    ],
)
def test_without_just_one_other_label_there_is_none_to_give(label, message):
    with pytest.raises(DataError, match=message):
        samples_frame([some_texts(favourable=False)], texts_of(**label), [RED])
    # The favourable label is known all the same.
    frame = samples_frame([some_texts()], texts_of(**label), [RED])
    assert set(frame["label"]) == {"good"}


def test_columns_of_the_data_keep_their_names():
    specification = specification_from_mapping(
        {
            "dataset": {"name": "few"},
            "label": {"column": "why", "favourable": "yes", "values": ["no", "yes"]},
            "features": {
                "group": {"type": "categorical", "values": ["a", "b"], "sensitive": True},
                "side": {"type": "integer", "range": [0, 9]},
                "sample_side": {"type": "integer", "range": [0, 9]},
            },
        }
    )
    frame = pd.DataFrame({"group": ["a"], "side": [1], "sample_side": [2]})
    samples = draw_samples(
        [],
        table=Table(specification, frame, None),
        seeds=np.arange(1),
        model=model_of(lambda _: 0.9),
    )
    frame = samples_frame([samples], specification, [WOMEN])
    names = ["seed_row", "change", "sample_why", "sample_group", "sample_sample_side"]
    assert frame.columns.tolist() == ["group", "side", "sample_side", "why", *names]
    assert set(frame["why"]) == {"yes"}
    assert set(frame["sample_group"]) == {"gender = f"}


def test_no_samples_make_an_empty_table():
    for samples in ([], [draw_samples(PEOPLE, wanted=0)]):
        frame = samples_frame(samples, SPECIFICATION, [WOMEN])
        assert frame.columns.tolist() == [*SPECIFICATION.features, "granted", *PROVENANCE]
        assert len(frame) == 0


def test_a_csv_file_holds_the_table(tmp_path):
    frame = samples_frame(pools(), SPECIFICATION, [WOMEN, MEN])
    write_samples(frame, tmp_path / "samples.csv")
    read = pd.read_csv(tmp_path / "samples.csv", keep_default_na=False)
    assert read.columns.tolist() == frame.columns.tolist()
    assert read["wage"].tolist() == frame["wage"].tolist()
    assert read["town"].tolist() == ["" if pd.isna(town) else town for town in frame["town"]]
    assert read["why"].tolist() == frame["why"].tolist()


def test_a_parquet_file_holds_the_table(tmp_path):
    frame = samples_frame(pools(), SPECIFICATION, [WOMEN, MEN])
    write_samples(frame, tmp_path / "samples.PARQUET")
    read = pd.read_parquet(tmp_path / "samples.PARQUET")
    assert read.columns.tolist() == frame.columns.tolist()
    for name in frame:
        assert read[name].isna().tolist() == frame[name].isna().tolist()
        assert read[name].dropna().tolist() == frame[name].dropna().tolist()


def test_odd_columns_go_into_a_parquet_file(tmp_path):
    frame = pd.DataFrame(
        {
            "mixed": pd.Series([1, "3+", None], dtype=object),
            "categories": pd.Categorical([1, "3+", None], categories=[1, "3+"]),
            "text": pd.Series(["a", "\ud83d", "b"], dtype=object),
        }
    )
    before = frame.copy(deep=True)
    for name in ("odd.parquet", "odd.csv"):
        write_samples(frame, tmp_path / name)
    read = pd.read_parquet(tmp_path / "odd.parquet")
    assert read["mixed"].tolist()[:2] == read["categories"].tolist()[:2] == ["1", "3+"]
    assert (
        read["mixed"].isna().tolist() == read["categories"].isna().tolist() == [False, False, True]
    )
    assert read["text"].tolist() == ["a", "?", "b"]
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize("name", ["samples.xlsx", "samples", "parquet"])
def test_other_endings_are_refused(tmp_path, name):
    with pytest.raises(ParameterError, match=f"the file '{name}' ends in neither"):
        write_samples(pd.DataFrame({"a": [1]}), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_without_pyarrow_it_is_said_early_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    check_samples_file(tmp_path / "samples.csv")
    with pytest.raises(MissingExtraError, match=r"testsgd\[parquet\]"):
        check_samples_file(tmp_path / "samples.parquet")


def test_a_file_that_cannot_be_written_leaves_the_old_one(monkeypatch, tmp_path):
    target = tmp_path / "samples.csv"
    target.write_text("seed_row,change,why\n")

    def fail(*_: Any, **__: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(pd.DataFrame, "to_csv", fail)
    with pytest.raises(OSError, match="disk full"):
        write_samples(pd.DataFrame({"a": [1]}), target)
    assert [path.name for path in tmp_path.iterdir()] == ["samples.csv"]
    assert target.read_text() == "seed_row,change,why\n"


def test_features_of_several_pools_keep_their_types():
    table = table_of(PEOPLE)
    frame = samples_frame(pools(), SPECIFICATION, [WOMEN, MEN])
    assert frame["gender"].dtype == table.frame["gender"].dtype
    assert frame["wage"].dtype == table.frame["wage"].dtype

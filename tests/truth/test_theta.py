"""The study of theta, held against all rule sets of a small table, written out by hand."""

from __future__ import annotations

import itertools
import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from everybody_written_out import answers
from few_people import TRAITS, small_population

from testsgd.auditing import run_audit
from testsgd.auditing.text import run_text_audit
from testsgd.cli.bench import _print_tables
from testsgd.data import check_texts, load_terms, specification_from_mapping
from testsgd.errors import TestSGDError
from testsgd.models import load_text_model
from testsgd.truth.theta import (
    THETAS,
    FirstGroup,
    ThetaRow,
    ThetaSearch,
    study,
    study_data_set,
    study_own_data,
    theta_document,
    theta_tables,
)

ROWS = 400
PEOPLE = small_population(20)
FRAME = PEOPLE.people(ROWS, seed=4)


def by_hand(theta: float, *, bound_outside: bool) -> list[float]:
    """Return the scores of all rule sets that are large enough."""
    asked = answers(PEOPLE, FRAME, "neighbourhood")
    rules = []
    for trait in TRAITS:
        values = FRAME[trait.name].to_numpy()
        rules.append(
            [np.ones(ROWS, dtype=bool)]
            + [
                np.isin(values, some)
                for size in range(1, len(trait.values))
                for some in itertools.combinations(trait.values, size)
            ]
        )
    scores = []
    for inside in itertools.product(*rules):
        member = np.all(inside, axis=0)
        least_outside = theta * ROWS if bound_outside else 1
        if member.sum() >= theta * ROWS and (~member).sum() >= least_outside:
            scores.append(abs(asked[member].mean() - asked[~member].mean()))
    return scores


@pytest.mark.parametrize("theta", [0.01, 0.1, 0.2, 0.3, 0.5])
def test_rule_sets_and_best_scores_are_those_by_hand(theta: float) -> None:
    table = PEOPLE.table(ROWS, seed=4)
    model = PEOPLE.model()
    (row,) = study("small", [theta], partial(run_audit, model, table))
    assert row.inside_only is not None
    for search, bound in ((row.both_sides, True), (row.inside_only, False)):
        scores = by_hand(theta, bound_outside=bound)
        assert search.rule_sets == len(scores)
        if not scores:
            assert (search.first_by_score, search.first_by_lower_bound) == (None, None)
            continue
        assert search.first_by_score is not None
        assert search.first_by_score.size == pytest.approx(max(scores))
        if search.first_by_lower_bound is not None:
            assert min(abs(search.first_by_lower_bound.size - np.array(scores))) < 1e-12
        assert search.seconds > 0


def test_no_group_is_first_by_lower_bounds_that_are_all_0(tmp_path: Path) -> None:
    # A fair coin decides, and hardly anybody is outside of the largest group.
    generator = np.random.default_rng(2)
    frame = pd.DataFrame({"region": ["A"] * 60 + ["B"] * 58 + ["C"] * 2})
    frame["granted"] = generator.permutation(["yes", "no"] * 60)
    file = tmp_path / "past.csv"
    frame.to_csv(file, index=False)
    rows = study_own_data(
        str(file), [0.3], predictions="granted", sensitive_features=["region"], favourable="yes"
    )
    for search in (rows[0].both_sides, rows[0].inside_only):
        assert search is not None
        assert search.first_by_score is not None
        assert search.first_by_lower_bound is None
    (table,) = theta_tables(rows)
    place = table.headings.index("first by lower bound")
    assert "%" not in table.cells[0][place]
    assert table.cells[0][place] not in ("", "0")


def test_a_data_set_of_the_catalogue() -> None:
    rows = study_data_set("demo", [0.05, 0.5])
    assert rows[0].both_sides.first_by_lower_bound is not None
    assert [(row.data_set, row.theta) for row in rows] == [("demo", 0.05), ("demo", 0.5)]
    assert rows[0].both_sides.rule_sets > rows[1].both_sides.rule_sets
    document = json.loads(json.dumps(theta_document(rows)))
    assert document["schema"] == "testsgd.theta/1"
    assert document["rows"][0]["both_sides"]["rule_sets"] == rows[0].both_sides.rule_sets
    (table,) = theta_tables(rows)
    # A row for each search.
    assert [cells[:2] for cells in table.cells[::2]] == [["demo", "5%"], ["demo", "50%"]]
    assert [cells[:2] for cells in table.cells[1::2]] == [["demo", "5%"], ["demo", "50%"]]
    assert all(len(cells) == len(table.headings) for cells in table.cells)


def test_texts_have_one_search() -> None:
    specification = specification_from_mapping(
        {
            "dataset": {"name": "reviews"},
            "text": {},
            "label": {"column": "y", "favourable": "good", "values": ["bad", "good"]},
        }
    )
    reviews = [
        f"{who} {what} number {index}."
        for index in range(20)
        for who, what in (("An old", "film"), ("A young", "cast"), ("A fine", "day"))
    ]
    model = load_text_model(
        lambda texts: ["bad" if " old" in text else "good" for text in texts], specification
    )
    texts, terms = check_texts(reviews, specification), load_terms(None)
    audit = partial(run_text_audit, model, texts, terms)
    small, large = study("reviews", [0.1, 0.9], audit, has_inside=False)
    assert small.inside_only is large.inside_only is None
    assert small.both_sides.first_by_lower_bound is not None
    assert small.both_sides.first_by_lower_bound.group == "“old”"
    assert small.both_sides.first_by_lower_bound.size > 0.5
    assert (large.both_sides.rule_sets, large.both_sides.first_by_score) == (0, None)


def test_the_papers_thetas() -> None:
    assert THETAS == (0.01, 0.05, 0.1, 0.2, 0.5)


def test_what_is_not_there_is_an_error_of_the_family() -> None:
    with pytest.raises(TestSGDError):
        study_data_set("no-such-data-set", [0.5])


def test_the_printed_table_is_whole_at_80_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    group = FirstGroup("sex = f", 0.123)
    search = ThetaSearch(123_456, group, None, 1234.5)
    _print_tables(theta_tables([ThetaRow("wikitalk", 0.05, search, search)]))
    printed = capsys.readouterr().out
    assert "\N{HORIZONTAL ELLIPSIS}" not in printed
    assert max(map(len, printed.splitlines())) <= 80
    assert printed.count("123,456") == 2
